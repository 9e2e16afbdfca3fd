//! `convert`: one format in, another one out.

mod difference;
mod options;
mod profile;
mod tables;

use super::args::{ConvertArgs, OutputFormat, Target};
use super::budget::OutOfProportion;
use super::destination::{Destination, format_extension, is_stdout};
use super::expand::expanded;
use super::heap::{load_for, report_loaded};
use super::memory::{Work, reading_limit};
use super::open::Input;
use super::print::{CsvSafe, Value, print_json};
use super::profile::{Several, not_profiles};
use super::session::Session;
use super::size::{count, plural};
use super::status::{OutputError, Status, UsageError};
use super::terminal::show_path;
use crate::convert::{self, Conversion, ConvertOptions, ConvertedCounts, output_formats};
use crate::input::load::Loaded;
use crate::input::{Format, Kind};
use crate::model::RedactedNames;
use crate::output::loss::Loss;
use serde::Serialize;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Document<'a, W> {
    schema: &'static str,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    filters: Option<Value<'static>>,
    output: String,
    to: &'static str,
    /// The size of the output file. `None` for standard output and devices.
    bytes: Option<u64>,
    objects: Option<u64>,
    samples: Option<u64>,
    /// The written data, as readers of the target count it.
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
    // Refuse a wrong target before any folder is made for it.
    if !to_stdout {
        session.allow_new(&args.output)?;
    }
    let (first, more) = expanded(&args.input, session)?;
    let input = session.open(&first)?.at(args.heap.snapshot);
    if input.kind == Kind::Heap && !more.is_empty() {
        return Err(not_profiles(&input).into());
    }
    let target = target(args, input.format, input.kind)?;
    options::refuse_foreign(args, target, &input)?;
    if session.common.csv_safe && target != Target::Csv {
        return Err(UsageError::new("--csv-safe is for CSV").into());
    }
    let memory = reading_limit(&input, &session.common);
    let options = ConvertOptions { memory, ..options::of(args) };
    let conversion = Conversion { target, options: &options, file: input.file() };
    let job = Job { conversion, args, input: &input, more: &more, session };
    if let Some(old) = &args.base {
        if !more.is_empty() {
            return Err(UsageError::new("--base compares two files").into());
        }
        return difference::run(&job, old);
    }
    match input.kind {
        _ if tables::are_meant(&job) => tables::run(&job),
        Kind::Heap => heap(&job),
        Kind::Profile
            if conversion.streams() && !args.profile.narrow.is_on() && more.is_empty() =>
        {
            profile::stream(&job)
        }
        Kind::Profile => profile::run(&job),
    }
}

fn heap(job: &Job<'_>) -> anyhow::Result<Status> {
    let loaded = job.load_heap()?;
    let (converted, bytes) = job.write(|out| job.conversion.heap(&loaded, out))?;
    job.report_converted(Converted::Objects(loaded.heap.object_count()), bytes, &converted)?;
    Ok(report_loaded(job.session, job.input, &loaded))
}

/// The format to write: --to, or the extension of OUT, if it can be made from this input.
fn target(args: &ConvertArgs, from: Format, kind: Kind) -> Result<Target, UsageError> {
    let possible: Vec<_> = output_formats(from, kind).collect();
    let names: Vec<_> = possible.iter().map(|target| target.name()).collect();
    let hint = if names.is_empty() {
        format!("dumptool cannot convert {} yet", from.title())
    } else {
        format!("{} can be converted to {}", from.title(), names.join(", "))
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
struct Job<'a> {
    conversion: Conversion<'a>,
    args: &'a ConvertArgs,
    input: &'a Input,
    /// The profiles to add to the input.
    more: &'a [PathBuf],
    session: &'a Session,
}

impl<'a> Job<'a> {
    fn several(&self) -> Several<'a> {
        Several { input: self.input, more: self.more, tag: None }
    }

    fn load_heap(&self) -> anyhow::Result<Loaded<'a>> {
        let work = if self.conversion.target == Target::Hprof { Work::Copy } else { Work::Rows };
        let mut loaded = load_for(
            work,
            self.session,
            "convert",
            self.input,
            self.args.heap.snapshot,
            &self.args.heap.roots,
        )?;
        if let Some(how) = self.args.redact {
            let names =
                if self.args.keep_names { RedactedNames::NotLikeCode } else { RedactedNames::All };
            loaded.heap.redact_names(how, names);
        }
        Ok(loaded)
    }

    fn create_at(&self, path: &Path) -> anyhow::Result<Destination> {
        use Target::{Hprof, Mojo, Parquet, Pprof};
        let binary = matches!(self.conversion.target, Pprof | Mojo | Hprof | Parquet);
        let destination = Destination::create(path, binary, self.session)?;
        // pprof files are gzipped by definition. A higher level would take longer than the rest of
        // the work.
        let is_gzipped = self.conversion.target == Target::Pprof;
        Ok(if is_gzipped { destination.gzipped() } else { destination })
    }

    /// Writes the output, which gets its name when it is complete. Returns the report, and the
    /// bytes of a plain file.
    fn write<W>(
        &self,
        write: impl FnOnce(&mut &mut dyn Write) -> io::Result<W>,
    ) -> anyhow::Result<(W, Option<u64>)> {
        self.write_to(&self.args.output, write)
    }

    /// Writes a file at `path`, as [`Job::write`] does at the output's path.
    fn write_to<W>(
        &self,
        path: &Path,
        write: impl FnOnce(&mut &mut dyn Write) -> io::Result<W>,
    ) -> anyhow::Result<(W, Option<u64>)> {
        let mut destination = self.create_at(path)?;
        let is_safe = self.conversion.target == Target::Csv && self.session.common.csv_safe;
        let mut safe;
        let mut out: &mut dyn Write = &mut destination;
        if is_safe {
            safe = CsvSafe::new(out);
            out = &mut safe;
        }
        match write(&mut out) {
            Ok(written) => Ok((written, destination.commit()?)),
            Err(error) => Err(self.failed_at(path, error)),
        }
    }

    /// The error of an output that could not be written, or ought not to be.
    fn failed_at(&self, path: &Path, error: io::Error) -> anyhow::Error {
        if OutOfProportion::of(&error).is_some() {
            let hint = match self.conversion.target {
                Target::Folded | Target::Pprof => {
                    "the input repeats the same stacks; `dumptool top` and `tree` show their sums"
                }
                _ => "the input repeats the same stacks; --to folded adds them up",
            };
            return UsageError::new(format!("{}: {error}", show_path(&self.input.path)))
                .hint(hint)
                .into();
        }
        // The limit is that of the format, not of the disk or the shell.
        if error.kind() == io::ErrorKind::FileTooLarge && error.raw_os_error().is_none() {
            return UsageError::new(error.to_string())
                .hint("convert to hprof, which has no such limit")
                .into();
        }
        OutputError::new(path, error).into()
    }

    /// Reports what a conversion wrote and lost.
    fn report_converted(
        &self,
        converted: Converted,
        bytes: Option<u64>,
        result: &convert::Converted,
    ) -> anyhow::Result<()> {
        let of_target = |number: String| format!("{number} of {}", self.conversion.target.name());
        let summary = match &result.written {
            ConvertedCounts::Hprof(report) => {
                of_target(plural(report.instances, "instance", "instances"))
            }
            ConvertedCounts::Heapsnapshot(report) => format!(
                "{} and {}",
                plural(report.nodes, "node", "nodes"),
                plural(report.edges, "edge", "edges")
            ),
            ConvertedCounts::Stacks(written) => {
                of_target(plural(written.stacks, "stack", "stacks"))
            }
            ConvertedCounts::Samples { .. } => "Austin's text".to_owned(),
            ConvertedCounts::Rows { rows } => of_target(plural(*rows, "row", "rows")),
        };
        let (written, lost) = (&result.written, result.lost.clone());
        self.report(&Report { converted, bytes, written, summary, lost })
    }

    /// The document on standard output on request, otherwise one line on standard error and one
    /// for each loss.
    fn report<W: Serialize>(&self, report: &Report<'_, W>) -> anyhow::Result<()> {
        let Self { args, input, session, .. } = self;
        if session.common.format == OutputFormat::Json {
            let (objects, samples) = match report.converted {
                Converted::Objects(objects) => (Some(objects), None),
                Converted::Samples(samples) => (None, Some(samples)),
            };
            let document = Document {
                schema: "dumptool/convert/1",
                file: input.path.display().to_string(),
                filters: args.profile.narrow.json(),
                output: args.output.display().to_string(),
                to: self.conversion.target.name(),
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
        session.terminal.tell(
            "",
            &format!(
                "{} -> {output}: {} as {}{bytes}",
                show_path(&input.path),
                report.converted,
                report.summary
            ),
        );
        for loss in &report.lost {
            let bytes =
                loss.bytes.map(|bytes| format!(", {}", session.size(bytes))).unwrap_or_default();
            session
                .terminal
                .tell("  dropped:", &format!("{} {}{bytes}", count(loss.count), loss.what));
        }
        Ok(())
    }
}

struct Report<'a, W> {
    converted: Converted,
    bytes: Option<u64>,
    written: &'a W,
    /// The written data in words: `4 stacks of folded`.
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
