//! `info`: what is in a dump.

mod heap;
mod profile;
mod view;

use super::args::{Common, InfoArgs, OutputFormat, Snapshot};
use super::open::Input;
use super::progress::Progress;
use super::status::{self, Status, UsageError};
use super::terminal::Terminal;
use crate::input::info::Info;
use crate::input::load::snapshots;
use crate::input::{self, ReadOptions};
use serde::Serialize;
use view::View;

/// One document of the JSON contract.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    /// Of the decompressed input.
    bytes: u64,
    #[serde(flatten)]
    info: Info,
    /// The compression that was undone.
    compression: Option<&'static str>,
    /// Of the input as stored.
    stored_bytes: u64,
    /// Frames of a Dart VM service that were joined.
    vm_service_frames: u64,
}

pub(super) fn run(args: &InfoArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    let mut documents = Vec::new();
    for (i, path) in args.files.iter().enumerate() {
        let document = match read(path, args, common, terminal) {
            Ok(document) => document,
            // One unreadable file does not keep the others from being shown.
            Err(error) => {
                status = status.max(status::report(&error, terminal));
                continue;
            }
        };
        if document.info.damage.is_some() {
            status = status.max(Status::Damaged);
        }
        match common.format {
            OutputFormat::Table => {
                let separator = if i > 0 { "\n" } else { "" };
                let text = View::of(&document, common).render(args.records, terminal);
                super::print_text(&(separator.to_owned() + &text), common)?;
            }
            OutputFormat::Jsonl => {
                super::print((serde_json::to_string(&document)? + "\n").as_bytes())?;
            }
            OutputFormat::Json | OutputFormat::Csv => documents.push(document),
        }
    }
    match common.format {
        OutputFormat::Json if args.files.len() > 1 => super::print((serde_json::to_string_pretty(&documents)? + "\n").as_bytes())?,
        OutputFormat::Json => match documents.first() {
            Some(document) => super::print((serde_json::to_string_pretty(document)? + "\n").as_bytes())?,
            None => Status::Done,
        },
        OutputFormat::Csv => super::print(&csv(&documents)?)?,
        OutputFormat::Table | OutputFormat::Jsonl => Status::Done,
    };
    Ok(status)
}

fn read(path: &std::path::Path, args: &InfoArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Document> {
    let input = Input::open(path, common)?;
    let bytes = input.bytes().len() as u64;
    let progress = Progress::new(bytes, terminal);
    let options = ReadOptions { quick: args.quick, progress: &|offset| progress.reached(offset) };
    let mut info = input::info(input.format, input.bytes(), options).map_err(|error| input.error(error))?;
    drop(progress);
    let source = input.source;
    let (compression, stored_bytes) = (source.compression().map(|compression| compression.name()), source.stored_bytes());
    let vm_service_frames = source.vm_service_frames();
    if let Some(error) = source.into_damage() {
        info.complete = false;
        info.damage = Some(input::info::Damage { error });
    }
    select_snapshot(&mut info, args.snapshot)?;
    if let Some(damage) = &info.damage {
        status::report_damage(path, &damage.error, terminal);
    }
    if common.format != OutputFormat::Table {
        info.warnings.iter().for_each(|warning| terminal.warn(path, warning));
    }
    let file = path.display().to_string();
    Ok(Document { schema: "dumptool/info/1", file, bytes, info, compression, stored_bytes, vm_service_frames })
}

/// Leaves only the snapshot that was asked for.
fn select_snapshot(info: &mut Info, wanted: Option<Snapshot>) -> Result<(), UsageError> {
    let (Some(wanted), Some(heap)) = (wanted, &mut info.heap) else { return Ok(()) };
    let index = match wanted {
        Snapshot::Number(number) => Some(number),
        Snapshot::Last => heap.snapshots.iter().rev().find(|snapshot| snapshot.complete).map(|snapshot| snapshot.index),
    };
    let count = heap.snapshots.len() as u64;
    if index.is_none_or(|index| index >= count) {
        let what = index.map_or("no complete snapshot".to_owned(), |index| format!("no snapshot {index}"));
        return Err(UsageError::new(format!("{what}; {}", snapshots(count))));
    }
    heap.snapshots.retain(|snapshot| Some(snapshot.index) == index);
    Ok(())
}

/// A line for each heap snapshot or profile.
#[derive(Serialize)]
struct CsvRow<'a> {
    file: &'a str,
    bytes: u64,
    format: &'static str,
    format_version: &'a str,
    complete: bool,
    snapshot: Option<u64>,
    objects: Option<u64>,
    references: Option<u64>,
    roots: Option<u64>,
    types: Option<u64>,
    shallow_bytes: Option<u64>,
    external_bytes: Option<u64>,
    samples: Option<u64>,
    threads: Option<u64>,
    time_us: Option<u64>,
    memory_bytes: Option<i64>,
}

fn csv(documents: &[Document]) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for document in documents {
        let info = &document.info;
        let mut row = CsvRow {
            file: &document.file,
            bytes: document.bytes,
            format: info.format.name(),
            format_version: &info.format_version,
            complete: info.complete,
            snapshot: None,
            objects: None,
            references: None,
            roots: None,
            types: None,
            shallow_bytes: None,
            external_bytes: None,
            samples: None,
            threads: None,
            time_us: None,
            memory_bytes: None,
        };
        if let Some(profile) = &info.profile {
            row.samples = Some(profile.samples);
            row.threads = Some(profile.threads);
            row.time_us = Some(profile.time_us);
            row.memory_bytes = profile.memory_bytes;
            writer.serialize(&row)?;
        }
        for snapshot in info.heap.iter().flat_map(|heap| &heap.snapshots) {
            row.snapshot = Some(snapshot.index);
            row.complete = snapshot.complete;
            row.objects = snapshot.objects;
            row.references = snapshot.references;
            row.roots = snapshot.roots;
            row.types = snapshot.types;
            row.shallow_bytes = snapshot.shallow_bytes;
            row.external_bytes = snapshot.external_bytes;
            row.time_us = snapshot.time_us;
            writer.serialize(&row)?;
        }
    }
    Ok(writer.into_inner()?)
}
