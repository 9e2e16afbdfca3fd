//! Converts a profile to formats that are not streamed.

use super::converted::{ConvertedProfile, Freed, metrics, selection};
use super::{Conversion, Converted, Report, parts, stacks};
use crate::cli::args::{ConvertArgs, DialectArg, Target};
use crate::cli::destination::Destination;
use crate::cli::memory::profile_limit;
use crate::cli::print::CsvSafe;
use crate::cli::profile::{refused, require_thread};
use crate::cli::size::{count, plural};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::show_path;
use crate::input;
use crate::input::load::{LoadedProfile, ProfileOptions};
use crate::model::profile::{Profile, ProfileNotes, ProfileThread};
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

/// Whether samples are written one by one.
fn keeps_samples(target: Target, args: &ConvertArgs) -> bool {
    match target {
        Target::Mojo | Target::Austin => true,
        Target::Speedscope | Target::Firefox | Target::Jsonl | Target::Csv => !args.aggregate,
        _ => false,
    }
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
