//! Converts a profile to formats that are not streamed.

use super::{Conversion, Converted, Report, parts, stacks};
use crate::cli::args::{ConvertArgs, DialectArg, Target};
use crate::cli::destination::Destination;
use crate::cli::memory::profile_limit;
use crate::cli::print::CsvSafe;
use crate::cli::profile::{self, named, refused, require_thread};
use crate::cli::size::{count, plural};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::show_path;
use crate::error::Error;
use crate::input;
use crate::input::load::{LoadedProfile, ProfileOptions};
use crate::model::profile::{Metric, Profile, ProfileNotes, ProfileThread};
use crate::model::stacks::{Selection, of_profile};
use crate::output::austin::Dialect;
use crate::output::loss::Loss;
use crate::output::loss::LossKind;
use crate::output::written::Written;
use crate::output::{self, Syntax, stack_rows};
use std::io;

pub(super) fn run(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { target, args, input, session, .. } = *conversion;
    let progress = session.progress(input);
    let memory = profile_limit(input, &conversion.session.common);
    let options = ProfileOptions {
        keep_samples: keeps_samples(target, args),
        memory,
        progress: &|offset| progress.reached(offset),
    };
    let ConvertedProfile { notes, samples, damage, parts, freed, mut written, bytes } = match target
    {
        Target::Folded | Target::Pprof | Target::Speedscope | Target::Svg
            if !options.keep_samples && args.profile.tag.is_none() =>
        {
            parts::convert(conversion, options)?
        }
        _ => whole(conversion, options)?,
    };
    drop(progress);
    if parts > 1 && target != Target::Svg {
        written.lose(LossKind::PartSums, parts);
    }
    lost_in_model(target, &notes).into_iter().for_each(|(what, count)| written.lose(what, count));
    let mut lost = std::mem::take(&mut written.lost);
    lost.extend(Loss::of(LossKind::FreedMemory, freed.sums, Some(freed.bytes)));
    conversion.report(&Report {
        converted: Converted::Samples(samples),
        bytes,
        written: &written,
        summary: format!("{} of {}", plural(written.stacks, "stack", "stacks"), target.name()),
        lost,
    })?;
    if notes.unresolved > 0 {
        let unresolved = count(notes.unresolved);
        session
            .terminal
            .warn(&args.input, &format!("{unresolved} undefined keys are shown as <unresolved>"));
    }
    Ok(input.report_if_damaged(damage.as_ref(), &session.terminal))
}

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
    sums: u64,
    bytes: u64,
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

fn whole(
    conversion: &Conversion<'_>,
    options: ProfileOptions<'_>,
) -> anyhow::Result<ConvertedProfile> {
    let Conversion { input, .. } = *conversion;
    let LoadedProfile { mut profile, damage, .. } =
        input::load_profile(input.format, input.bytes(), options)
            .map_err(|error| refused(error, input, &conversion.session.common))?;
    if matches!(conversion.target, Target::Mojo | Target::Austin) && profile.samples.is_none() {
        input.report_if_damaged(damage.as_ref(), &conversion.session.terminal);
        return Err(without_samples(conversion).into());
    }
    let selection = selection(conversion, metrics(conversion, &profile)?, options.keep_samples);
    require_thread(&profile, &selection, input)?;
    if let Some(key) = &selection.tag {
        profile.root_stacks_by_label(key, |thread| names_thread(conversion, thread));
    }
    let (notes, samples) = (profile.notes, profile.total.samples());
    let mut freed = Freed::default();
    freed.add(conversion, &profile, &selection);
    let (written, bytes) = conversion.write(|out| write(conversion, profile, &selection, out))?;
    Ok(ConvertedProfile { notes, samples, damage, parts: 1, freed, written, bytes })
}

/// Whether the output shows the name of a thread beside its stacks.
fn names_thread(conversion: &Conversion<'_>, thread: &ProfileThread) -> bool {
    match conversion.target {
        Target::Folded | Target::Speedscope | Target::Firefox => true,
        Target::Svg => !conversion.args.inverted && thread.process().is_some(),
        _ => false,
    }
}

/// The error for a target that is made of samples, where the input has only sums.
fn without_samples(conversion: &Conversion<'_>) -> UsageError {
    let file = show_path(&conversion.input.path);
    let target = conversion.target.name();
    UsageError::new(format!("{file} has only sums and no samples, which {target} needs"))
        .hint("--to folded writes the sums")
}

pub(super) fn selection(
    conversion: &Conversion<'_>,
    metrics: Vec<Metric>,
    in_order: bool,
) -> Selection {
    let keep_labels = conversion.target == Target::Pprof;
    Selection { metrics, in_order, keep_labels, ..profile::selection(&conversion.args.profile) }
}

/// Whether samples are written one by one.
fn keeps_samples(target: Target, args: &ConvertArgs) -> bool {
    match target {
        Target::Mojo | Target::Austin => true,
        Target::Speedscope | Target::Firefox | Target::Jsonl | Target::Csv => !args.aggregate,
        _ => false,
    }
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

fn write(
    conversion: &Conversion<'_>,
    profile: Profile,
    selection: &Selection,
    out: &mut Destination,
) -> io::Result<Written> {
    let Conversion { target, args, .. } = *conversion;
    let wanted = |thread: usize| selection.has(&profile, &profile.threads[thread]);
    match target {
        Target::Mojo => return output::mojo::write(&profile, &wanted, args.merge, out),
        Target::Austin => {
            let dialect =
                if args.dialect == Some(DialectArg::Peer) { Dialect::Peer } else { Dialect::Full };
            return output::austin::write_profile(&profile, &wanted, dialect, out);
        }
        Target::Hprof => {
            let metric = args.profile.metric.as_ref().and_then(|name| profile.metric(name));
            return output::hprof::write_profile(&profile, &wanted, metric, out);
        }
        _ => {}
    }
    let stacks = of_profile(profile, conversion.title(), selection);
    match target {
        Target::Csv if conversion.session.common.csv_safe => {
            stack_rows::write(&stacks, Syntax::Csv, &mut CsvSafe::new(out))
        }
        _ => stacks::write(conversion, &stacks, out),
    }
}

/// The losses that the model already has.
fn lost_in_model(target: Target, notes: &ProfileNotes) -> [(LossKind, u64); 7] {
    let says_itself = target == Target::Mojo;
    [
        (LossKind::FrameRanges, if says_itself { 0 } else { notes.ranges }),
        (LossKind::TaskEvents, if says_itself { 0 } else { notes.task_events }),
        (LossKind::WithoutMetric, notes.without_metric),
        (LossKind::Strays, notes.strays),
        (LossKind::NotUtf8, notes.replaced),
        (LossKind::DeepStacks, notes.deep),
        (LossKind::Clamped, notes.clamped),
    ]
}
