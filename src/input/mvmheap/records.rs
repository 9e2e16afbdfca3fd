//! The blocks or sections of a file as records, one by one, in file order.

use super::Version;
use super::blocks::{Block, Body, toc_entries};
use super::column::{measure, split_strings};
use super::meta::{Meta, value_text};
use super::scan::Blocks;
use super::sections::{Section, Sections, references, strings, table_rows};
use crate::error::{Error, Result};
use crate::input::read::{ReadOptions, Visitor};
use crate::model::fields::{FieldSink, Record};
use serde_json::Value;
use std::cell::OnceCell;
use std::num::Saturating;
use std::ops::ControlFlow;

/// The most decompressed bytes of a column that are shown if contents are requested.
const SHOWN: usize = 1 << 20;
/// The most decompressed bytes of strings that are shown, as text, if contents are requested.
const SHOWN_STRINGS: usize = 16 << 20;

/// A block of version 3 or a section of version 2.
#[derive(Debug)]
pub struct Rec<'a> {
    /// The snapshot that it belongs to, from 0. `None` for `filemeta`, outer tables of contents and
    /// the tail of version 2.
    pub snapshot: Option<u64>,
    pub part: Part<'a>,
    /// The damage of the compressed data. Set when the data is decompressed.
    damage: OnceCell<Option<Error>>,
}

/// A part of the file after its header.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Version 3.
    Block(Block<'a>),
    /// Version 2.
    Section(Section<'a>),
}

impl Record for Rec<'_> {
    fn name(&self) -> &'static str {
        match &self.part {
            Part::Block(block) => block.name.known().unwrap_or("unknown"),
            Part::Section(section) => section.name,
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        if let Some(snapshot) = self.snapshot {
            sink.unsigned("snapshot", snapshot);
        }
        match &self.part {
            Part::Section(section) => section_fields(section, sink),
            Part::Block(block) => {
                if block.name.known().is_none() {
                    sink.text("block_name", block.name.text());
                }
                match block.body {
                    Body::Meta { payload } => meta_fields(payload, sink),
                    Body::Column { entry_size, size, .. } => {
                        sink.unsigned("entry_size", u64::from(entry_size));
                        sink.unsigned("size", size);
                        self.frame_fields(block, u64::from(entry_size), sink);
                    }
                    Body::Strings { size, .. } => {
                        sink.unsigned("size", size);
                        self.string_fields(block, sink);
                    }
                    Body::Toc { entries, own_start } => toc_fields(entries, own_start, sink),
                    Body::Unknown { payload } => {
                        sink.unsigned("bytes", payload.len() as u64);
                        sink.contents(
                            "payload",
                            payload.get(..SHOWN.min(payload.len())).unwrap_or_default(),
                        );
                    }
                }
            }
        }
    }
}

impl Rec<'_> {
    /// Returns the damage of the compressed data. Decompresses the data, unless the fields were
    /// passed to a sink before.
    pub fn damage(&self) -> Option<&Error> {
        let damage = self.damage.get_or_init(|| match &self.part {
            Part::Block(block) if block.frame().is_some() => measure(block, 0).2,
            _ => None,
        });
        damage.as_ref()
    }

    /// Passes the sizes of a column to the sink, and its first decompressed bytes if the sink wants
    /// contents.
    fn frame_fields<S: FieldSink>(&self, block: &Block<'_>, entry_size: u64, sink: &mut S) {
        let (kept, bytes, error) = measure(block, if sink.wants_contents() { SHOWN } else { 0 });
        sink.unsigned("count", bytes.checked_div(entry_size).unwrap_or(0));
        self.size_fields(block, bytes, error, sink);
        if sink.wants_contents() {
            sink.boolean("payload_is_complete", kept.len() as u64 == bytes);
            sink.contents("payload", &kept);
        }
    }

    fn string_fields<S: FieldSink>(&self, block: &Block<'_>, sink: &mut S) {
        let (kept, bytes, error) = measure(block, SHOWN_STRINGS);
        let (rows, _) = split_strings(&kept);
        let is_complete = kept.len() as u64 == bytes;
        if is_complete {
            sink.unsigned("count", rows.len() as u64);
        }
        self.size_fields(block, bytes, error, sink);
        if sink.wants_contents() {
            sink.boolean("strings_are_complete", is_complete);
            sink.list("strings", rows.into_iter(), |string, sink| sink.text("string", string));
        }
    }

    fn size_fields<S: FieldSink>(
        &self,
        block: &Block<'_>,
        bytes: u64,
        error: Option<Error>,
        sink: &mut S,
    ) {
        sink.unsigned("compressed_bytes", block.frame().map_or(0, |(frame, _)| frame.len() as u64));
        sink.unsigned("uncompressed_bytes", bytes);
        if let Some(error) = error {
            sink.text("damage", error.message().as_bytes());
            let _ = self.damage.set(Some(error)); // Known already, if it was asked for.
        }
    }
}

/// Keys that MoarVM writes, under the names that they have in flattened form.
const META_KEYS: [(&str, &str); 13] = [
    ("subversion", "subversion"),
    ("start_time", "start_time"),
    ("pid", "pid"),
    ("highscore_structure.entry_count", "entry_count"),
    ("highscore_structure.data_order", "data_order"),
    ("snap_time", "snap_time"),
    ("gc_seq_num", "gc_seq_num"),
    ("total_heap_size", "total_heap_size"),
    ("total_objects", "total_objects"),
    ("total_typeobjects", "total_typeobjects"),
    ("total_stables", "total_stables"),
    ("total_frames", "total_frames"),
    ("total_refs", "total_refs"),
];

fn meta_fields<S: FieldSink>(payload: &[u8], sink: &mut S) {
    sink.unsigned("size", payload.len() as u64);
    let Some(meta) = Meta::parse(payload) else { return sink.text("text", payload) };
    let (known, other): (Vec<_>, Vec<_>) = meta
        .0
        .iter()
        .map(|(key, value)| (META_KEYS.iter().find(|(known, _)| known == key), key, value))
        .partition(|(known, ..)| known.is_some());
    for (names, _, value) in known {
        let name = names.map_or("", |(_, name)| *name);
        match value {
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => sink.unsigned(name, number),
                (None, Some(number)) => sink.signed(name, i128::from(number)),
                (None, None) => sink.float(name, number.as_f64().unwrap_or(f64::NAN)),
            },
            other => sink.text(name, value_text(other).as_bytes()),
        }
    }
    if !other.is_empty() {
        sink.list("other", other.into_iter(), |(_, key, value), sink| {
            sink.text("key", key.as_bytes());
            sink.text("value", value_text(value).as_bytes());
        });
    }
}

fn toc_fields<S: FieldSink>(entries: &[u8], own_start: u64, sink: &mut S) {
    sink.unsigned("count", entries.len() as u64 / 24);
    sink.unsigned("own_start", own_start);
    if sink.wants_contents() {
        sink.list("entries", toc_entries(entries), |entry, sink| {
            sink.text("name", entry.name.text());
            sink.unsigned("start", entry.start);
            sink.unsigned("end", entry.end);
        });
    }
}

fn section_fields<S: FieldSink>(section: &Section<'_>, sink: &mut S) {
    sink.unsigned("count", section.count);
    if let Some(entry_size) = section.entry_size {
        sink.unsigned("entry_size", entry_size);
    }
    if section.name == "strs" {
        sink.unsigned("rows", section.rows);
    }
    sink.unsigned("bytes", section.end.saturating_sub(section.start));
    if !sink.wants_contents() {
        return;
    }
    match section.name {
        "strs" => sink
            .list("strings", strings(section.payload), |string, sink| sink.text("string", string)),
        "refs" => sink.list("references", references(section.payload), |reference, sink| {
            sink.unsigned("kind", reference.kind);
            sink.unsigned("value", reference.value);
            sink.unsigned("target", reference.target);
        }),
        "type" => sink.list("types", table_rows(section.payload), |[repr, name], sink| {
            sink.unsigned("repr", repr);
            sink.unsigned("name", name);
        }),
        "fram" => {
            sink.list("frames", table_rows(section.payload), |[name, cuid, line, file], sink| {
                sink.unsigned("name", name);
                sink.unsigned("cuid", cuid);
                sink.unsigned("line", line);
                sink.unsigned("file", file);
            })
        }
        _ => sink.contents("payload", section.payload),
    }
}

/// The records of a file with their offsets.
///
/// After damage, version 3 continues at the next block in a table of contents, so that several
/// errors are possible. Version 2 ends at the first error.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    walk: Walk<'a>,
    snapshot: Saturating<u64>,
}

#[derive(Clone, Debug)]
enum Walk<'a> {
    Blocks(Blocks<'a>),
    /// The second value is whether a snapshot has begun.
    Sections(Sections<'a>, bool),
}

impl<'a> Records<'a> {
    /// Reads the magic. Fails when it is neither that of version 2 nor that of version 3.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let walk = match Version::read(bytes)? {
            Version::V2 => Walk::Sections(Sections::new(bytes), false),
            Version::V3 => Walk::Blocks(Blocks::new(bytes)),
        };
        Ok(Self { walk, snapshot: Saturating(0) })
    }

    /// Like [`Records::new`], but without the help of tables of contents: ends at the first damage.
    pub fn scan(bytes: &'a [u8]) -> Result<Self> {
        match Version::read(bytes)? {
            Version::V2 => Self::new(bytes),
            Version::V3 => {
                Ok(Self { walk: Walk::Blocks(Blocks::scan(bytes)), snapshot: Saturating(0) })
            }
        }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u64, Rec<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (offset, snapshot, part) = match &mut self.walk {
            Walk::Blocks(blocks) => {
                let block = match blocks.next()? {
                    Ok(block) => block,
                    Err(error) => return Some(Err(error)),
                };
                let of_file = block.name.is("filemeta") || block.is_outer_toc();
                let snapshot = (!of_file).then_some(self.snapshot);
                self.snapshot += u64::from(block.name.is("toc") && !of_file);
                (block.start, snapshot, Part::Block(block))
            }
            Walk::Sections(sections, begun) => {
                let section = match sections.next()? {
                    Ok(section) => section,
                    Err(error) => return Some(Err(error)),
                };
                self.snapshot += u64::from(*begun && section.name == "coll");
                *begun |= section.name == "coll";
                let of_file = section.name == "index";
                (section.start, (!of_file).then_some(self.snapshot), Part::Section(section))
            }
        };
        Some(Ok((
            offset,
            Rec { snapshot: snapshot.map(|snapshot| snapshot.0), part, damage: OnceCell::new() },
        )))
    }
}

/// Passes every record to the visitor, also records after damage if a table of contents leads to
/// them. Fails with the first damage, after all readable records.
pub fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let mut damage = None;
    for record in Records::new(bytes)? {
        match record {
            Ok((offset, record)) => {
                (options.progress)(offset);
                if visitor.record(offset, &record) == ControlFlow::Break(()) {
                    return Ok(());
                }
                // Columns that the visitor did not look at are not decompressed.
                damage = damage.or(record.damage.into_inner().flatten());
            }
            Err(error) => damage = damage.or(Some(error)),
        }
    }
    damage.map_or(Ok(()), Err)
}
