//! The tables of a profile.

mod functions;
mod samples;
mod stacks;

#[cfg(feature = "query")]
pub(crate) use samples::sample_metrics;

use super::{Table, TableRows};
use crate::model::profile::{Metric, Profile};
use crate::model::stacks::Selection;

/// The part of a profile that its tables show.
#[derive(Clone, Debug, Default)]
pub struct TableSelection {
    /// The threads whose samples are shown.
    pub selection: Selection,
    /// The metric of the table `functions`. `None`: all metrics, one after the other.
    pub metric: Option<Metric>,
}

/// The rows of a table of a profile. `None` for tables of heaps, and for `dump`, whose facts are not
/// in the profile.
///
/// `samples` has a row for each sample if the profile [has samples](Profile::samples), otherwise for
/// each sum. `stacks` and `frames` have all that the profile has, whatever is selected.
pub fn of_profile<'p>(
    profile: &'p Profile,
    selected: &'p TableSelection,
    table: Table,
) -> Option<Box<dyn TableRows + 'p>> {
    Some(match table {
        Table::Samples => Box::new(samples::SampleRows::new(profile, &selected.selection)),
        Table::Stacks => Box::new(stacks::StackRows::new(&profile.stacks)),
        Table::Frames => Box::new(stacks::FrameRows::new(profile)),
        Table::Functions => Box::new(functions::FunctionRows::new(profile, selected)),
        Table::Objects
        | Table::References
        | Table::Roots
        | Table::Types
        | Table::Strings
        | Table::Dump => return None,
    })
}
