//! `convert`: one format in, another one out.

use super::args::{Common, ConvertArgs, DialectArg, OutputFormat, Target};
use super::destination::{Destination, format_extension};
use super::open::Input;
use super::progress::Progress;
use super::size::{count, size};
use super::status::{self, OutputError, Status, UsageError, show_path};
use super::terminal::Terminal;
use crate::input::mojo::samples::{Stop, for_each_sample};
use crate::input::mojo::symbols::Lookup;
use crate::input::{Format, Options};
use crate::output::austin::{AustinWriter, Dialect, Written};
use clap::ValueEnum;
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    output: String,
    to: &'static str,
    /// Of the output file; None for standard output and devices.
    bytes: Option<u64>,
    /// For heaps.
    objects: Option<u64>,
    /// For profiles.
    samples: Option<u64>,
    written: WrittenSamples,
    lost: &'a [Loss],
}

#[derive(Serialize)]
struct WrittenSamples {
    samples: u64,
}

/// Something that the target cannot say.
#[derive(Serialize)]
struct Loss {
    what: &'static str,
    count: u64,
    bytes: Option<u64>,
}

pub(super) fn run(args: &ConvertArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let to_stdout = args.output == Path::new("-");
    match common.format {
        OutputFormat::Table => {}
        OutputFormat::Json if to_stdout => {
            return Err(UsageError::new("the report and the output cannot both go to standard output")
                .hint("name a file for OUT")
                .into());
        }
        OutputFormat::Json => {}
        OutputFormat::Jsonl | OutputFormat::Csv => return Err(UsageError::new("convert reports as text or --format json").into()),
    }
    let input = Input::open(&args.input, common)?;
    let target = target(args, input.format)?;
    match target {
        Target::Austin => austin(args, &input, common, terminal),
    }
}

/// What to write: --to, or the extension of OUT, if it can be made of this input.
fn target(args: &ConvertArgs, from: Format) -> Result<Target, UsageError> {
    let possible = Target::of(from);
    let names: Vec<_> = possible.iter().map(|target| target.extension()).collect();
    let hint = match names.is_empty() {
        true => format!("this version only reads it: {} has no target yet", from.title()),
        false => format!("{} can be converted to {}", from.title(), names.join(", ")),
    };
    let extension = format_extension(&args.output);
    let known = Target::value_variants().iter().copied().find(|target| Some(target.extension()) == extension);
    match (args.to.or(known), extension) {
        (Some(target), _) if possible.contains(&target) => Ok(target),
        (Some(target), _) => {
            Err(UsageError::new(format!("{} cannot be converted to {}", from.title(), target.extension())).hint(hint))
        }
        (None, Some(extension)) => {
            Err(UsageError::new(format!("no format is written as .{extension}")).hint(hint + "; --to names it"))
        }
        (None, None) => Err(UsageError::new("OUT does not say which format to write").hint(hint + "; --to names it")),
    }
}

fn austin(args: &ConvertArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
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
    report(&Report { args, bytes, written, lost, unresolved: streamed.unresolved }, common, terminal)?;
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

/// What a conversion did.
struct Report<'a> {
    args: &'a ConvertArgs,
    bytes: Option<u64>,
    written: Written,
    lost: Vec<Loss>,
    unresolved: u64,
}

/// The document on standard output when asked for, otherwise one line on standard error and one for each loss.
fn report(report: &Report<'_>, common: &Common, terminal: &Terminal) -> anyhow::Result<()> {
    let samples = report.written.samples;
    if common.format == OutputFormat::Json {
        let document = Document {
            schema: "dumptool/convert/1",
            file: report.args.input.display().to_string(),
            output: report.args.output.display().to_string(),
            to: Target::Austin.extension(),
            bytes: report.bytes,
            objects: None,
            samples: Some(samples),
            written: WrittenSamples { samples },
            lost: &report.lost,
        };
        super::print((serde_json::to_string_pretty(&document)? + "\n").as_bytes())?;
    } else if !common.quiet {
        let size = report.bytes.map(|bytes| format!(", {}", size(bytes, common.bytes))).unwrap_or_default();
        let output = match report.args.output.to_str() {
            Some("-") => "standard output".to_owned(),
            _ => report.args.output.display().to_string(),
        };
        eprintln!("{} -> {output}: {} samples as Austin's text{size}", show_path(&report.args.input), count(samples));
        for loss in &report.lost {
            eprintln!("  not in the output: {} ({})", loss.what, count(loss.count));
        }
    }
    if report.unresolved > 0 {
        terminal.warn(&report.args.input, &format!("{} keys are defined nowhere and shown as <unresolved>", report.unresolved));
    }
    Ok(())
}
