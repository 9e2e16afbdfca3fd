//! The tables of a profile.

mod functions;
mod samples;
mod stacks;

use super::Table;
use super::relation::{Relation, relation};
use crate::model::profile::{Metric, Profile};
use crate::model::stacks::Selection;

pub(super) use functions::Functions;
pub(super) use samples::Samples;
pub(super) use stacks::{Frames, Stacks};

/// The part of a profile that its tables show.
#[derive(Clone, Debug, Default)]
pub struct TableSelection {
    /// The threads whose samples are shown.
    pub selection: Selection,
    /// The metric of the table `functions`. `None` for all metrics, one after the other.
    pub metric: Option<Metric>,
}

/// The rows of a table of a profile. `None` for tables of heaps, and for `dump`, whose data is not
/// in the profile.
///
/// `samples` has a row for each sample if the profile [has samples](Profile::samples), otherwise for
/// each sum. `stacks` and `frames` have all that the profile has, whatever is selected.
pub fn of_profile<'p>(
    profile: &'p Profile,
    selected: &TableSelection,
    table: Table,
) -> Option<Box<dyn Relation + 'p>> {
    let name = table.name();
    Some(match table {
        Table::Samples => relation(name, Samples::of(profile, &selected.selection)),
        Table::Stacks => relation(name, Stacks::of(&profile.stacks)),
        Table::Frames => relation(name, Frames::of(profile)),
        Table::Functions => relation(name, Functions::of(profile, selected.clone())),
        _ => return None,
    })
}
