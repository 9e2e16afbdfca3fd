//! Profiles of the Firefox Profiler: processed ones, as the page saves them and samply, vernier and dumptool write them,
//! and raw ones, as Firefox writes them (Gecko profiles).
//!
//! ```text
//! processed  {"meta":{"interval":ms,"preprocessedProfileVersion","categories":[{"name"}, …]},
//!             "threads":[{"name","pid","tid","stringArray":[text, …],
//!                         "samples":{"stack":[row or null, …],"weight":[…],"weightType","threadCPUDelta":[…]},
//!                         "stackTable":{"prefix":[row or null, …],"frame":[…]},
//!                         "frameTable":{"func":[…],"line":[…],"category":[…]},
//!                         "funcTable":{"name":[text, …],"fileName":[text or null, …],"resource":[…]},
//!                         "resourceTable":{"name":[text, …]}, "jsAllocations", "nativeAllocations"}, …],
//!             "shared":{tables that the threads do not have}}
//! raw        {"meta", "threads":[{"stringTable":[text, …], "samples":{"schema":{"stack":0, …},"data":[[row, …], …]},
//!             "stackTable", "frameTable":{"schema":{"location":0, …}, …}}, …], "processes":[{"meta","threads"}, …]}
//! ```
//!
//! Tables of processed profiles are columns, those of raw ones are rows with a schema. Numbers refer to rows of the next
//! table, or to texts. From version 56 on, tables moved from the threads to `shared` one after the other; later
//! functions have a `source` instead of a file name, a row of `shared.sources`.
//!
//! Sources: the types and the upgraders of the Firefox Profiler (`src/types/profile.ts`,
//! `src/profile-logic/processed-profile-versioning.ts`), Firefox's `ProfileBuffer` and samply.

mod document;
mod load;
mod sources;
mod table;

pub(super) use document::for_each_record;
pub(super) use sources::source_texts;

use crate::error::{Error, Result};
use crate::input::check::Findings;
use crate::input::info::Info;
use crate::input::native::summary;
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use document::Document;
use load::load;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Firefox,
    name: "firefox",
    title: "Firefox Profiler profile",
    versions: "processed profiles of all versions, raw Gecko profiles",
    extensions: &["json"],
    detection: Detection::Contents(document::looks_right),
    origin: Origin::Several,
    record_names: &[document::RECORD_NAMES],
    info,
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};

fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let document = read(bytes, options)?;
    let version = document.version.map(|version| version.to_string()).unwrap_or_default();
    let records = document.records().map(Ok);
    summary::info(&SPEC, version, load(bytes, options.into())?, records)
}

fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    read(bytes, options)?;
    summary::check(load(bytes, options.into())?)
}

/// Reads a document of which at least the beginning is there.
fn read<'a>(bytes: &'a [u8], options: ReadOptions<'_>) -> Result<Document<'a>> {
    let (document, damage) = Document::read(bytes, options.memory)?;
    match damage {
        Some(damage) if document.threads.is_empty() => Err(damage),
        _ if !document.has_meta => Err(Error::corrupt(0, "no `meta` of a profile")),
        _ => Ok(document),
    }
}
