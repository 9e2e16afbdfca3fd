//! A profile as Austin's text.

use super::super::args::{Common, ConvertArgs, DialectArg, Target};
use super::super::destination::Destination;
use super::super::open::Input;
use super::super::progress::Progress;
use super::super::size::count;
use super::super::status::{self, OutputError, Status};
use super::super::terminal::Terminal;
use super::Report;
use crate::input::Options;
use crate::input::mojo::samples::{Stop, for_each_sample};
use crate::input::mojo::symbols::Lookup;
use crate::output::austin::{AustinWriter, Dialect, Written};
use crate::output::loss::Loss;
use serde::Serialize;

#[derive(Serialize)]
struct WrittenSamples {
    samples: u64,
}

pub(super) fn run(args: &ConvertArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let (dialect, lookup) = match args.dialect {
        DialectArg::Full => (Dialect::Full, Lookup::Robust),
        DialectArg::Peer => (Dialect::Peer, Lookup::Strict),
    };
    let progress = Progress::new(input.bytes().len() as u64, terminal);
    let options = Options { progress: &|offset| progress.reached(offset), ..Options::default() };
    let mut writer = AustinWriter::new(Destination::create(&args.output, &args.input, false)?, dialect);
    let fail = |error| OutputError::new(&args.output, error);
    let (streamed, stop) = for_each_sample(input.bytes(), lookup, options, &mut writer);
    drop(progress);
    let damage = match stop {
        None => None,
        Some(Stop::Damage(error)) => Some(error),
        Some(Stop::Sink(error)) => return Err(fail(error).into()),
    };
    let (destination, written) = writer.finish().map_err(fail)?;
    let bytes = destination.commit()?;
    let lost = losses(&written, streamed.ranges, streamed.task_events);
    let damage = input.source.damage().or(damage.as_ref());
    let samples = written.samples;
    let report = Report {
        args,
        to: Target::Austin,
        bytes,
        objects: None,
        samples: Some(samples),
        written: &WrittenSamples { samples },
        summary: format!("{} samples as Austin's text", count(samples)),
        lost,
    };
    report.print(common)?;
    if streamed.unresolved > 0 {
        terminal.warn(&args.input, &format!("{} keys are defined nowhere and shown as <unresolved>", streamed.unresolved));
    }
    if let Some(damage) = damage {
        status::report_input(&input.path, damage, terminal);
        return Ok(Status::Damaged);
    }
    Ok(Status::Done)
}

fn losses(written: &Written, ranges: u64, task_events: u64) -> Vec<Loss> {
    let losses = [
        ("columns and last lines of frames", ranges),
        ("asyncio task events", task_events),
        ("invalid, kernel and GC frames", written.left_out_frames),
        ("memory and idle of the mode full", written.left_out_metrics),
        ("samples without a metric", written.without_metric),
        ("names that are not UTF-8, written with U+FFFD", written.replaced),
    ];
    losses.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| Loss { what, count, bytes: None }).collect()
}
