//! `info`: what is in a dump.

mod heap;
mod profile;
mod verdict;
mod view;

use super::args::{InfoArgs, LoadArgs, OutputFormat, Snapshot};
use super::heap::load;
use super::memory::reading_limit;
use super::open::Input;
use super::print::{self, Columns, Shown, print, print_json, print_text, to_output};
use super::profile::{refused, warn_of_symbols};
use super::session::Session;
use super::size::{count, duration, plural, signed_size};
use super::status::{self, Status, UsageError};
use crate::analysis::live;
use crate::input::info::{
    FormatDetails, Info, InfoWarning, ProfileInfo, SnapshotInfo, TypesFromExecutable,
};
use crate::input::load::snapshots;
use crate::input::{self, Format, ReadOptions};
use crate::output::json;
use serde::Serialize;
use std::path::Path;
use verdict::Verdict;
use view::View;

/// One document of the JSON contract.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    /// Size of the decompressed input.
    bytes: u64,
    #[serde(flatten)]
    info: Info,
    /// The compression that was removed. `None` if the file was not compressed.
    compression: Option<&'static str>,
    stored_bytes: u64,
    /// Number of frames of a Dart VM service that were joined.
    vm_service_frames: u64,
    #[serde(flatten)]
    verdict: Option<Verdict>,
}

pub(super) fn run(args: &InfoArgs, session: &Session) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    let mut documents = Vec::new();
    for (i, path) in args.files.iter().enumerate() {
        let document = match read(path, args, session) {
            Ok(document) => document,
            // One unreadable file does not keep the others from being shown.
            Err(error) => {
                status = status.max(status::report(&error, &session.terminal));
                continue;
            }
        };
        if !document.info.complete {
            status = status.max(Status::Damaged);
        }
        match session.common.format {
            OutputFormat::Table => {
                let separator = if i > 0 { "\n" } else { "" };
                print_text(
                    session,
                    &(separator.to_owned()
                        + &view(&document, session).render(args.records, session)),
                )?;
            }
            OutputFormat::Jsonl => to_output(session, &mut |out| {
                json::line(&mut *out, &document)?;
                writeln!(out)
            })?,
            _ => documents.push(document),
        }
    }
    match (session.common.format, documents.as_slice()) {
        (OutputFormat::Table | OutputFormat::Jsonl, _) => {}
        (OutputFormat::Json, []) if args.files.len() == 1 => {}
        (OutputFormat::Json, [document]) if args.files.len() == 1 => print_json(session, document)?,
        (OutputFormat::Json, documents) => print_json(session, &documents)?,
        (_, documents) => print_rows(documents, session)?,
    }
    Ok(status)
}

/// The warnings that people see, without data that every HotSpot dump omits.
fn shown_warnings<'i>(info: &'i Info, session: &Session) -> impl Iterator<Item = &'i InfoWarning> {
    let verbose = session.common.verbose;
    info.warnings.iter().filter(move |warning| verbose || !warning.is_usual())
}

/// The text for a terminal.
fn view(document: &Document, session: &Session) -> View {
    let info = &document.info;
    let mut view = View {
        file: document.file.clone(),
        warnings: shown_warnings(info, session).map(ToString::to_string).collect(),
        ..View::default()
    };
    let version = info.format_version.iter().map(String::as_str);
    view.headline
        .push([info.format.title()].into_iter().chain(version).collect::<Vec<_>>().join(" "));
    if let Some(profile) = &info.profile {
        profile::show(info, profile, &mut view, session);
    }
    if let Some(heap) = &info.heap {
        heap::show(info, heap, &mut view, session);
    }
    if document.vm_service_frames > 0 {
        view.headline.push(format!(
            "joined from {}",
            plural(document.vm_service_frames, "VM-service frame", "VM-service frames")
        ));
    }
    let stored = match document.compression {
        Some(name) => format!(" ({} as {name})", session.size(document.stored_bytes)),
        None => String::new(),
    };
    view.headline.push(session.size(document.bytes) + &stored);
    view.notes.extend(document.verdict.iter().flat_map(Verdict::lines));
    view.records = info.records.iter().collect();
    view.damage = info.damage.as_ref().map(|damage| {
        let kind = match damage.error.kind() {
            crate::error::ErrorKind::Truncated => "cut short",
            crate::error::ErrorKind::Unsupported => "not fully understood",
            _ => "damaged",
        };
        let whole = info.heap.as_ref().map(|heap| {
            (heap.snapshots.iter().filter(|s| s.complete).count(), heap.snapshots.len())
        });
        let rest = match whole {
            Some((complete, all)) if all > 1 => {
                format!(": {complete} of {all} snapshots are complete")
            }
            _ => String::new(),
        };
        match damage.error.offset() {
            Some(offset) => format!("{kind} at {offset:#x} ({}){rest}", count(offset)),
            None => format!("{kind}{rest}"),
        }
    });
    view
}

fn read(path: &Path, args: &InfoArgs, session: &Session) -> anyhow::Result<Document> {
    let input = session.open(path)?;
    let bytes = input.bytes().len() as u64;
    let progress = session.progress(&input);
    let options = ReadOptions {
        quick: args.quick,
        memory: reading_limit(&input, &session.common),
        symbols: session.symbols.names(),
        mapping: input.mapping.as_deref(),
        source_maps: session.source_maps(),
        progress: &|offset| progress.passed(offset, &input.source),
        ..ReadOptions::default()
    };
    let mut info = input::info(input.format, input.bytes(), options)
        .map_err(|error| refused(error, &input, &session.common))?;
    if input.format == Format::Heapsnapshot && info.damage.is_none() && !args.quick {
        info.warnings.extend(input::short_names(input.format, input.bytes(), options));
    }
    drop(progress);
    warn_of_symbols(&input, session);
    args.known.only_with("--verdict", args.verdict)?;
    let verdict = if args.verdict { verdict::of(&input, args, &mut info, session)? } else { None };
    if let Some(exe) = &args.exe {
        add_program(&mut info, &input, exe, args.no_guess, session)?;
    }
    let source = input.source;
    if let Some(error) = source.damage().cloned() {
        info.complete = false;
        info.damage = Some(input::info::Damage { error });
    }
    select_snapshot(&mut info, args.snapshot)?;
    let is_flawed = |warning: &&InfoWarning| warning.is_damage() && info.damage.is_none();
    for flaw in info.warnings.iter().filter(is_flawed) {
        status::report_flaw(path, &flaw.to_string(), &session.terminal);
    }
    if let Some(damage) = &info.damage {
        status::report_damage(path, &damage.error, &session.terminal);
    }
    if session.common.format != OutputFormat::Table {
        shown_warnings(&info, session)
            .filter(|warning| !is_flawed(warning))
            .for_each(|warning| session.terminal.warn(path, &warning.to_string()));
    }
    info.complete &= !info.warnings.iter().any(InfoWarning::is_damage);
    Ok(Document {
        schema: "dumptool/info/1",
        file: path.display().to_string(),
        bytes,
        info,
        compression: source.compression().map(|compression| compression.name()),
        stored_bytes: source.stored_bytes(),
        vm_service_frames: source.vm_service_frames(),
        verdict,
    })
}

/// Leaves only the snapshot that was requested.
fn select_snapshot(info: &mut Info, wanted: Option<Snapshot>) -> Result<(), UsageError> {
    let (Some(wanted), Some(heap)) = (wanted, &mut info.heap) else { return Ok(()) };
    let index = match wanted {
        Snapshot::Number(number) => Some(number),
        Snapshot::Last => heap
            .snapshots
            .iter()
            .rev()
            .find(|snapshot| snapshot.complete)
            .map(|snapshot| snapshot.index),
    };
    let count = heap.snapshots.len() as u64;
    if index.is_none_or(|index| index >= count) {
        let what =
            index.map_or("no complete snapshot".to_owned(), |index| format!("no snapshot {index}"));
        return Err(UsageError::new(format!("{what}; {}", snapshots(count))));
    }
    heap.snapshots.retain(|snapshot| Some(snapshot.index) == index);
    Ok(())
}

/// A heap snapshot or profile of a file.
struct Row<'a> {
    document: &'a Document,
    snapshot: Option<&'a SnapshotInfo>,
    profile: Option<&'a ProfileInfo>,
}

fn print_rows(documents: &[Document], session: &Session) -> anyhow::Result<()> {
    let rows = documents.iter().flat_map(|document| {
        let row = move |snapshot, profile| Row { document, snapshot, profile };
        let profile = document.info.profile.iter().map(move |profile| row(None, Some(profile)));
        let snapshots = document.info.heap.iter().flat_map(|heap| &heap.snapshots);
        profile.chain(snapshots.map(move |snapshot| row(Some(snapshot), None)))
    });
    let rows: Vec<Row> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    let exact = session.common.bytes;
    let columns = Columns::new(session)
        .text("file", "FILE", |row: &Row| &row.document.file)
        .bytes("bytes", "BYTES", |row| row.document.bytes)
        .text("format", "FORMAT", |row| row.document.info.format.name())
        .text("format_version", "VERSION", |row| {
            row.document.info.format_version.as_deref().unwrap_or_default()
        })
        .text("complete", "COMPLETE", |row| {
            row.snapshot.map_or(row.document.info.complete, |snapshot| snapshot.complete)
        })
        .number("snapshot", "SNAPSHOT", |row| row.snapshot.map(|snapshot| snapshot.index))
        .number("objects", "OBJECTS", |row| row.snapshot?.objects)
        .number("references", "REFERENCES", |row| row.snapshot?.references)
        .number("roots", "ROOTS", |row| row.snapshot?.roots)
        .number("types", "TYPES", |row| row.snapshot?.types)
        .bytes("shallow_bytes", "SHALLOW", |row| row.snapshot?.shallow_bytes)
        .bytes("external_bytes", "EXTERNAL", |row| row.snapshot?.external_bytes)
        .number("samples", "SAMPLES", |row| row.profile.map(|profile| profile.samples))
        .number("threads", "THREADS", |row| row.profile.map(|profile| profile.threads))
        .number("time_us", "TIME", Row::time)
        .shown_as(|row| row.time().map(duration).unwrap_or_default())
        .number("memory_bytes", "MEMORY", |row| row.profile?.memory_bytes)
        .shown_as(move |row| {
            let memory = row.profile.and_then(|profile| profile.memory_bytes);
            memory.map(|bytes| signed_size(bytes, exact)).unwrap_or_default()
        });
    print(session, print::Document::default, &rows, &columns, &Shown::Table(&String::new))
}

impl Row<'_> {
    fn time(&self) -> Option<u64> {
        self.profile.map(|profile| profile.time_us).or_else(|| self.snapshot?.time_us)
    }
}

/// Loads the heap with its executable and adds what that names to the details of a Go dump. Fails
/// when the dump is not one of Go, or the executable is not the one that wrote it.
fn add_program(
    info: &mut Info,
    input: &Input,
    exe: &Path,
    no_guess: bool,
    session: &Session,
) -> anyhow::Result<()> {
    let options = LoadArgs::default().with_program(exe, no_guess);
    let held = load(session, "info --exe", input, None, &options)?;
    let loaded = held.get();
    let (heap, Some(report)) = (&loaded.heap, loaded.executable.clone()) else { return Ok(()) };
    let live = live::live(loaded.graph());
    let mut types = TypesFromExecutable {
        go_version: report.go_version,
        checks: report.checks,
        functions: report.functions,
        module_data: report.module_data,
        descriptors: report.descriptors,
        dwarf: report.has_debug,
        conflicts: report.conflicts,
        rejected: report.rejected,
        tiny_values: report.tiny_values.into_iter().collect(),
        ..TypesFromExecutable::default()
    };
    for object in heap.objects().filter(|object| live.contains(*object)) {
        let source = heap.type_source(heap.type_id(object));
        types.objects.add(source, 1);
        types.bytes.add(source, heap.shallow_bytes(object));
    }
    let snapshot = info.heap.as_mut().and_then(|heap| heap.snapshots.first_mut());
    if let Some(FormatDetails::Go(details)) = snapshot.map(|snapshot| &mut snapshot.details) {
        details.types_from_exe = Some(types);
    }
    Ok(())
}
