//! What a profile that is converted as a whole and one that is converted in parts share.

use super::Conversion;
use crate::cli::args::Target;
use crate::cli::profile::{self, named};
use crate::cli::status::UsageError;
use crate::error::Error;
use crate::model::profile::{Metric, Profile, ProfileNotes};
use crate::model::stacks::Selection;
use crate::output::written::Written;

/// A profile that was converted.
pub(super) struct ConvertedProfile {
    pub(super) notes: ProfileNotes,
    pub(super) samples: u64,
    pub(super) damage: Option<Error>,
    pub(super) parts: u64,
    pub(super) freed: Freed,
    pub(super) written: Written,
    /// Of the output, if it is a file.
    pub(super) bytes: Option<u64>,
}

/// Freed memory, which is not written because the output contains only gained memory.
#[derive(Clone, Copy, Default)]
pub(super) struct Freed {
    /// Stacks of threads in which that happened.
    pub(super) sums: u64,
    pub(super) bytes: u64,
}

impl Freed {
    /// Adds the omissions of a profile, or of a part of it.
    pub(super) fn add(
        &mut self,
        conversion: &Conversion<'_>,
        profile: &Profile,
        selection: &Selection,
    ) {
        let says_itself =
            matches!(conversion.target, Target::Mojo | Target::Austin | Target::Hprof);
        let asked = conversion
            .args
            .profile
            .metric
            .as_ref()
            .is_some_and(|name| name.replace('-', "_") == "memory_gained");
        if says_itself || asked || selection.metrics != [Metric::MEMORY_GAINED] {
            return;
        }
        let wanted: Vec<bool> =
            profile.threads.iter().map(|thread| selection.has(profile, thread)).collect();
        for sum in profile
            .aggregate
            .iter()
            .filter(|sum| wanted[sum.thread.index()] && sum.values.memory_freed() > 0)
        {
            self.sums += 1;
            self.bytes = self.bytes.saturating_add(sum.values.memory_freed());
        }
    }
}

/// The threads and metrics to write.
pub(super) fn selection(
    conversion: &Conversion<'_>,
    metrics: Vec<Metric>,
    in_order: bool,
) -> Selection {
    let keep_labels = conversion.target == Target::Pprof;
    Selection { metrics, in_order, keep_labels, ..profile::selection(&conversion.args.profile) }
}

/// Returns the requested metric, otherwise all, or the main one for targets with a single metric.
/// Widths of frames cannot be negative, so the net change of memory is written as gained memory.
///
/// # Errors
/// A [`UsageError`] if the profile has no metric of that name.
pub(super) fn metrics(
    conversion: &Conversion<'_>,
    profile: &Profile,
) -> Result<Vec<Metric>, UsageError> {
    if let Some(name) = &conversion.args.profile.metric {
        let metric = named(profile, name, &conversion.input.path)?;
        return Ok(vec![if metric == Metric::MEMORY { Metric::MEMORY_GAINED } else { metric }]);
    }
    Ok(match conversion.target {
        Target::Folded | Target::Svg => vec![profile.default_metric()],
        Target::Pprof => profile.metrics_in_order(),
        _ => profile.metrics(),
    })
}
