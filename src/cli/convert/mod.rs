//! `convert`: one format in, another one out.

mod austin;
mod converted;
mod difference;
mod dominators;
mod heap;
mod options;
mod parts;
mod profile;
mod stacks;
mod tables;

use super::args::{ConvertArgs, OutputFormat, RedactArg, Target};
use super::destination::{Destination, OutOfProportion, format_extension, is_stdout};
use super::heap::load_for;
use super::memory::Work;
use super::open::Input;
use super::print::print_json;
use super::session::Session;
use super::size::{count, plural};
use super::status::{OutputError, Status, UsageError};
use super::terminal::{show_path, tell};
use crate::input::load::Loaded;
use crate::input::{Format, Kind};
use crate::model::Redaction;
use crate::open::output_formats;
use crate::output::flamegraph::FlamegraphOptions;
use crate::output::loss::Loss;
use serde::Serialize;
use std::ffi::OsStr;
use std::fmt;
use std::io;
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

pub(super) fn run(args: &ConvertArgs, session: &Session) -> anyhow::Result<Status> {
    let to_stdout = is_stdout(&args.output);
    session.only(
        &[OutputFormat::Table, OutputFormat::Json],
        "convert supports only --format table and json",
    )?;
    if to_stdout && session.common.format == OutputFormat::Json {
        let error = UsageError::new("the report and the output cannot both go to standard output");
        return Err(error.hint("name a file for OUT").into());
    }
    let input = session.open(&args.input)?;
    let target = target(args, input.format, input.kind)?;
    options::refuse_foreign(args, target, &input)?;
    let conversion = Conversion { target, args, input: &input, session };
    if let Some(old) = &args.base {
        return difference::run(&conversion, old);
    }
    match target {
        // A recording streams, if all of it is wanted; a text is a profile like others.
        Target::Austin if input.format == Format::Mojo && !args.profile.selects() => {
            austin::run(&conversion)
        }
        Target::Hprof if input.kind == Kind::Heap => heap::to_hprof(&conversion),
        Target::Heapsnapshot => heap::to_heapsnapshot(&conversion),
        _ if tables::are_meant(args, target, &input) => tables::run(&conversion),
        _ if input.kind == Kind::Heap => dominators::run(&conversion),
        _ => profile::run(&conversion),
    }
}

/// The format to write: --to, or the extension of OUT, if it can be made from this input.
fn target(args: &ConvertArgs, from: Format, kind: Kind) -> Result<Target, UsageError> {
    let possible: Vec<_> = output_formats(from, kind).collect();
    let names: Vec<_> = possible.iter().map(|target| target.name()).collect();
    let hint = match names.is_empty() {
        true => format!("dumptool cannot convert {} yet", from.title()),
        false => format!("{} can be converted to {}", from.title(), names.join(", ")),
    };
    let extension = format_extension(&args.output);
    let known =
        args.output.file_name().and_then(|name| name.to_str()).and_then(Target::from_file_name);
    match (args.to.or(known), extension) {
        (Some(target), _) if possible.contains(&target) => match target {
            Target::Parquet | Target::Csv | Target::Jsonl => Ok(target),
            _ if !tables::is_folder(args) => Ok(target),
            _ => Err(UsageError::new(format!(
                "{} is one file; only tables can be written to a folder",
                target.name()
            ))
            .hint("--to parquet, csv or jsonl writes tables")),
        },
        (Some(target), _) => Err(UsageError::new(format!(
            "{} cannot be converted to {}",
            from.title(),
            target.name()
        ))
        .hint(hint)),
        (None, Some(extension)) => {
            Err(UsageError::new(format!("unknown output extension .{extension}"))
                .hint(hint + "; select one with --to"))
        }
        (None, None) => Err(UsageError::new("cannot determine the output format from OUT")
            .hint(hint + "; select one with --to")),
    }
}

/// One input on its way to one output.
#[derive(Clone, Copy)]
struct Conversion<'a> {
    target: Target,
    args: &'a ConvertArgs,
    input: &'a Input,
    session: &'a Session,
}

impl<'a> Conversion<'a> {
    fn load_heap(&self) -> anyhow::Result<Loaded<'a>> {
        let work = if self.target == Target::Hprof { Work::Copy } else { Work::Analysis };
        let mut loaded = load_for(
            work,
            self.session,
            "convert",
            self.input,
            self.args.heap.snapshot,
            &self.args.heap.roots,
        )?;
        if let Some(how) = self.args.redact {
            loaded.heap.redact(match how {
                RedactArg::Blank => Redaction::Blank,
                RedactArg::Hash => Redaction::Hash,
            });
        }
        Ok(loaded)
    }

    /// The title of the output in its viewer.
    fn title(&self) -> &'a str {
        self.args.input.file_name().and_then(OsStr::to_str).unwrap_or("standard input")
    }

    /// Returns the options of the flame graph.
    fn picture(&self) -> FlamegraphOptions {
        let ConvertArgs { title, inverted, lines, base, .. } = self.args;
        FlamegraphOptions {
            title: title.clone(),
            inverted: *inverted,
            lines: *lines,
            merge_threads: base.is_some(),
        }
    }

    fn create(&self) -> anyhow::Result<Destination> {
        self.create_at(&self.args.output)
    }

    fn create_at(&self, path: &Path) -> anyhow::Result<Destination> {
        use Target::{Hprof, Mojo, Parquet, Pprof};
        let binary = matches!(self.target, Pprof | Mojo | Hprof | Parquet);
        let destination = Destination::create(path, &self.args.input, binary)?;
        // The hprof writer limits its padding.
        let fills = self.target == Target::Hprof && self.input.kind == Kind::Heap;
        let destination = if fills { destination } else { destination.at_most(self.most_output()) };
        // pprof files are gzipped by definition; packing harder takes longer than all the rest.
        Ok(if self.target == Target::Pprof { destination.gzipped() } else { destination })
    }

    /// Writes the output, which gets its name when it is complete. Returns the report, and the
    /// bytes of a plain file.
    fn write<W>(
        &self,
        write: impl FnOnce(&mut Destination) -> io::Result<W>,
    ) -> anyhow::Result<(W, Option<u64>)> {
        self.write_to(&self.args.output, write)
    }

    /// As [`Conversion::write`], to another path.
    fn write_to<W>(
        &self,
        path: &Path,
        write: impl FnOnce(&mut Destination) -> io::Result<W>,
    ) -> anyhow::Result<(W, Option<u64>)> {
        let mut destination = self.create_at(path)?;
        match write(&mut destination) {
            Ok(written) => Ok((written, destination.commit()?)),
            Err(error) => Err(self.failed_at(path, error)),
        }
    }

    /// The error of an output that could not be written, or ought not to be.
    fn failed(&self, error: io::Error) -> anyhow::Error {
        self.failed_at(&self.args.output, error)
    }

    fn failed_at(&self, path: &Path, error: io::Error) -> anyhow::Error {
        if error.get_ref().is_some_and(|error| error.is::<OutOfProportion>()) {
            let hint = match self.target {
                Target::Folded | Target::Pprof => {
                    "the input repeats the same stacks; `dumptool top` and `tree` show their sums"
                }
                _ => "the input repeats the same stacks; --to folded adds them up",
            };
            return UsageError::new(format!("{}: {error}", show_path(&self.args.input)))
                .hint(hint)
                .into();
        }
        // Not the disk's limit or the shell's, but the format's.
        if error.kind() == io::ErrorKind::FileTooLarge && error.raw_os_error().is_none() {
            return UsageError::new(error.to_string())
                .hint("convert to hprof, which has no such limit")
                .into();
        }
        OutputError::new(path, error).into()
    }

    /// The limit on output: 64 MiB for an input of up to 1 MiB, and 1000 times the size of the
    /// rest. A compressed one may earn 1000 times its compressed size. Real outputs are up to 15
    /// times as large as a profile, 400 times with STACK_REPEAT.
    fn most_output(&self) -> u64 {
        const FREE: u64 = 64 << 20;
        const RATIO: u64 = 1000;
        let source = &self.input.source;
        let earned =
            (source.bytes().len() as u64).saturating_sub(1 << 20).min(source.stored_bytes());
        earned.saturating_mul(RATIO).max(FREE)
    }

    /// The document on standard output on request, otherwise one line on standard error and one
    /// for each loss.
    fn report<W: Serialize>(&self, report: &Report<'_, W>) -> anyhow::Result<()> {
        let Self { args, session, .. } = self;
        if session.common.format == OutputFormat::Json {
            let (objects, samples) = match report.converted {
                Converted::Objects(objects) => (Some(objects), None),
                Converted::Samples(samples) => (None, Some(samples)),
            };
            let document = Document {
                schema: "dumptool/convert/1",
                file: args.input.display().to_string(),
                output: args.output.display().to_string(),
                to: self.target.name(),
                bytes: report.bytes,
                objects,
                samples,
                written: report.written,
                lost: &report.lost,
            };
            return print_json(session, &document);
        }
        if session.common.quiet {
            return Ok(());
        }
        let bytes =
            report.bytes.map(|bytes| format!(", {}", session.size(bytes))).unwrap_or_default();
        let output = match args.output.to_str() {
            Some("-") => "standard output".to_owned(),
            _ => show_path(&args.output),
        };
        tell(
            "",
            &format!(
                "{} -> {output}: {} as {}{bytes}",
                show_path(&args.input),
                report.converted,
                report.summary
            ),
        );
        for loss in &report.lost {
            let bytes =
                loss.bytes.map(|bytes| format!(", {}", session.size(bytes))).unwrap_or_default();
            tell("  dropped:", &format!("{} {}{bytes}", count(loss.count), loss.what));
        }
        Ok(())
    }
}

/// The report of a conversion.
struct Report<'a, W> {
    converted: Converted,
    bytes: Option<u64>,
    written: &'a W,
    /// The same for people: `4 stacks of folded`.
    summary: String,
    lost: Vec<Loss>,
}

/// The amount of converted input.
#[derive(Clone, Copy)]
enum Converted {
    Objects(u64),
    Samples(u64),
}

impl fmt::Display for Converted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match *self {
            Self::Objects(objects) => plural(objects, "object", "objects"),
            Self::Samples(samples) => plural(samples, "sample", "samples"),
        })
    }
}
