//! DHAT: profiles of valgrind's tool and of Rust's crate `dhat`, as JSON.
//!
//! ```text
//! {"dhatFileVersion":2, "mode":"heap", "verb":"Allocated", "bklt":…, "bkacc":…, "tu":"instrs", "cmd":…, "pid":…,
//!  "te":end, "tg":time of the peak,
//!  "pps":[{"tb","tbk": bytes and blocks in all; "tl": their lifetimes; "mb","mbk": this stack's own peak;
//!          "gb","gbk": at the peak of all; "eb","ebk": at the end; "rb","wb": bytes read and written;
//!          "fs":[frames, innermost first]}, …],
//!  "ftbl":["[root]", "0xADDRESS: function (file:line)", …]}
//! ```
//!
//! Without `bklt` there are no lifetimes, peaks and ends; without `bkacc` no reads and writes. The
//! mode is `heap`, `rust-heap`, `copy` or `ad-hoc`.
//!
//! Sources: `dh_main.c` of valgrind, the crate dhat, and `dh_view.js`; files of valgrind 3.19.

mod document;
mod load;

pub(super) use document::for_each_record;

use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::Info;
use crate::input::native::summary;
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use document::Document;
use load::load;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Dhat,
    name: "dhat",
    title: "DHAT profile",
    versions: "version 2, of valgrind 3.15 and later and of Rust's crate dhat",
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
    if document.points.is_empty() && document.version.is_none() {
        return Err(damage.unwrap_or_else(|| SPEC.wrong_magic()));
    }
    Ok(document)
}
