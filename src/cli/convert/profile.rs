//! A profile as anything but what streams.

use super::super::args::{ConvertArgs, DialectArg, Target};
use super::super::destination::Destination;
use super::super::progress::Progress;
use super::super::size::{count, plural};
use super::super::status::{self, Status, UsageError};
use super::{Conversion, Converted, Report, losses, stacks};
use crate::input;
use crate::input::load::ProfileOptions;
use crate::model::profile::{Metric, Profile, ProfileNotes};
use crate::model::stacks::{Selection, of_profile};
use crate::output;
use crate::output::austin::Dialect;
use crate::output::written::Written;
use std::io;

pub(super) fn run(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { target, args, input, terminal, .. } = *conversion;
    let progress = Progress::new(input.bytes().len() as u64, terminal);
    let in_order = keeps_samples(target, args);
    let options = ProfileOptions { keep_samples: in_order, progress: &|offset| progress.reached(offset) };
    let loaded = input::load_profile(input.format, input.bytes(), options).map_err(|error| input.error(error))?;
    drop(progress);
    let profile = loaded.profile;
    let selection = Selection {
        metrics: metrics(target, args, &profile),
        pid: args.profile.pid.map(i128::from),
        thread: args.profile.thread.clone(),
        in_order,
    };
    if !profile.threads.is_empty() && !profile.threads.iter().any(|thread| selection.has(&profile, thread)) {
        return Err(UsageError::new("there is no such thread").hint(threads(&profile)).into());
    }
    let (notes, samples) = (profile.notes, profile.total.samples);
    let (written, bytes) = conversion.write(|out| write(conversion, profile, &selection, out))?;
    let lost = losses(written.lost.iter().map(|lost| (lost.what, lost.count)));
    conversion.report(&Report {
        converted: Converted::Samples(samples),
        bytes,
        written: &written,
        summary: format!("{} of {}", plural(written.stacks, "stack", "stacks"), target.name()),
        lost: lost.chain(losses(lost_in_model(target, &notes))).collect(),
    })?;
    if notes.unresolved > 0 {
        let unresolved = count(notes.unresolved);
        terminal.warn(&args.input, &format!("{unresolved} keys are defined nowhere and shown as <unresolved>"));
    }
    if let Some(damage) = input.source.damage().or(loaded.damage.as_ref()) {
        status::report_input(&input.path, damage, terminal);
        return Ok(Status::Damaged);
    }
    Ok(Status::Done)
}

/// Whether samples are written one by one.
fn keeps_samples(target: Target, args: &ConvertArgs) -> bool {
    match target {
        Target::Mojo | Target::Austin => true,
        Target::Speedscope | Target::Firefox | Target::Jsonl | Target::Csv => !args.aggregate,
        _ => false,
    }
}

/// The metric that was asked for; otherwise all, or the main one for what has one only. Widths of frames cannot be negative, so
/// that the net change of memory is written as what came into use.
fn metrics(target: Target, args: &ConvertArgs, profile: &Profile) -> Vec<Metric> {
    match args.profile.metric.map(Metric::from) {
        Some(Metric::Memory) => return vec![Metric::MemoryGained],
        Some(metric) => return vec![metric],
        None => {}
    }
    match target {
        Target::Folded | Target::Svg => vec![profile.default_metric()],
        _ => profile.metrics(),
    }
}

fn threads(profile: &Profile) -> String {
    let labels: Vec<_> = profile.threads.iter().take(10).map(|thread| thread.label(&profile.names)).collect();
    let more = profile.threads.len() - labels.len();
    format!("the threads are {}{}", labels.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
}

fn write(conversion: &Conversion<'_>, profile: Profile, selection: &Selection, out: &mut Destination) -> io::Result<Written> {
    let Conversion { target, args, .. } = *conversion;
    let wanted = |thread: usize| selection.has(&profile, &profile.threads[thread]);
    match target {
        Target::Mojo => return output::mojo::write(&profile, &wanted, args.merge, out),
        Target::Austin => {
            let dialect = if args.dialect == DialectArg::Peer { Dialect::Peer } else { Dialect::Full };
            return output::austin::write_profile(&profile, &wanted, dialect, out);
        }
        Target::Hprof => {
            return output::hprof::write_profile(&profile, &wanted, args.profile.metric.map(Metric::from), out);
        }
        _ => {}
    }
    stacks::write(target, &of_profile(profile, conversion.title(), selection), out)
}

/// What was lost by the model already.
fn lost_in_model(target: Target, notes: &ProfileNotes) -> [(&'static str, u64); 6] {
    let says_itself = target == Target::Mojo;
    [
        ("columns and last lines of frames", if says_itself { 0 } else { notes.ranges }),
        ("asyncio task events", if says_itself { 0 } else { notes.task_events }),
        ("samples without a metric", notes.without_metric),
        ("frames and metrics outside of samples", notes.strays),
        ("names that are not UTF-8, written with U+FFFD", notes.replaced),
        ("numbers of more than 64 bits, cut to the largest", notes.clamped),
    ]
}
