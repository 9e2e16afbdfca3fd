//! `convert`: one format in, another one out.

mod austin;
mod dominators;
mod heapsnapshot;
mod hprof;
mod profile;
mod stacks;
mod tables;

use super::args::{Common, ConvertArgs, OutputFormat, Target};
use super::destination::format_extension;
use super::open::Input;
use super::size::{count, size};
use super::status::{Status, UsageError, show_path};
use super::terminal::Terminal;
use crate::input::{Format, Kind};
use crate::output::loss::Loss;
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Document<'a, W> {
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
    /// As readers of the target count.
    written: &'a W,
    lost: &'a [Loss],
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
    let target = target(args, input.format, input.kind)?;
    match target {
        // A recording streams; a text is a profile like others.
        Target::Austin if input.format == Format::Mojo => austin::run(args, &input, common, terminal),
        Target::Hprof if input.kind == Kind::Heap => hprof::run(args, &input, common, terminal),
        Target::Heapsnapshot => heapsnapshot::run(args, &input, common, terminal),
        Target::Jsonl | Target::Csv if input.kind == Kind::Heap => tables::run(target, args, &input, common, terminal),
        target if input.kind == Kind::Heap => dominators::run(target, args, &input, common, terminal),
        target => profile::run(target, args, &input, common, terminal),
    }
}

/// What to write: --to, or the extension of OUT, if it can be made of this input.
fn target(args: &ConvertArgs, from: Format, kind: Kind) -> Result<Target, UsageError> {
    let possible = Target::of(from, kind);
    let names: Vec<_> = possible.iter().map(|target| target.name()).collect();
    let hint = match names.is_empty() {
        true => format!("this version only reads it: {} has no target yet", from.title()),
        false => format!("{} can be converted to {}", from.title(), names.join(", ")),
    };
    let extension = format_extension(&args.output);
    let known = args.output.file_name().and_then(|name| name.to_str()).and_then(Target::of_name);
    match (args.to.or(known), extension) {
        (Some(Target::Svg), _) if !cfg!(feature = "flamegraph") => {
            let error = UsageError::new("this dumptool was built without flame graphs");
            Err(error.hint("cargo install dumptool --features flamegraph builds one with them; inferno-flamegraph draws .folded"))
        }
        (Some(target), _) if possible.contains(&target) => Ok(target),
        (Some(target), _) => Err(UsageError::new(format!("{} cannot be converted to {}", from.title(), target.name())).hint(hint)),
        (None, Some(extension)) => {
            Err(UsageError::new(format!("no format is written as .{extension}")).hint(hint + "; --to names it"))
        }
        (None, None) => Err(UsageError::new("OUT does not say which format to write").hint(hint + "; --to names it")),
    }
}

/// What a conversion did.
struct Report<'a, W> {
    args: &'a ConvertArgs,
    to: Target,
    bytes: Option<u64>,
    objects: Option<u64>,
    samples: Option<u64>,
    written: &'a W,
    /// The same for people: `4 samples as Austin's text`.
    summary: String,
    lost: Vec<Loss>,
}

impl<W: Serialize> Report<'_, W> {
    /// The document on standard output when asked for, otherwise one line on standard error and one for each loss.
    fn print(&self, common: &Common) -> anyhow::Result<()> {
        if common.format == OutputFormat::Json {
            let document = Document {
                schema: "dumptool/convert/1",
                file: self.args.input.display().to_string(),
                output: self.args.output.display().to_string(),
                to: self.to.name(),
                bytes: self.bytes,
                objects: self.objects,
                samples: self.samples,
                written: self.written,
                lost: &self.lost,
            };
            super::print((serde_json::to_string_pretty(&document)? + "\n").as_bytes())?;
            return Ok(());
        }
        if common.quiet {
            return Ok(());
        }
        let bytes = self.bytes.map(|bytes| format!(", {}", size(bytes, common.bytes))).unwrap_or_default();
        let output = match self.args.output.to_str() {
            Some("-") => "standard output".to_owned(),
            _ => self.args.output.display().to_string(),
        };
        eprintln!("{} -> {output}: {}{bytes}", show_path(&self.args.input), self.summary);
        for loss in &self.lost {
            let bytes = loss.bytes.map(|bytes| format!(", {}", size(bytes, common.bytes))).unwrap_or_default();
            eprintln!("  not in the output: {} ({}{bytes})", loss.what, count(loss.count));
        }
        Ok(())
    }
}
