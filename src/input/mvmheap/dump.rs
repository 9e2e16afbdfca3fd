//! A file as a whole: its snapshots, found by grouping blocks or sections, and the tables that they
//! share.

use super::Version;
use super::blocks::{Block, Body, toc_entries};
use super::column::Decoders;
use super::meta::Meta;
use super::scan::Blocks;
use super::sections::{Section, Sections};
use super::tables::{TableSizes, Tables};
use crate::error::{Error, Result};
use crate::input::info::RecordCounts;

/// The columns of collectables, in the order of the file; also the order of the fields of a row
/// chunk.
pub(super) const COLLECTABLES: [&str; 6] =
    ["colkind", "colsize", "coltofi", "colrfcnt", "colrfstr", "colusize"];
pub(super) const REFERENCES: [&str; 2] = ["refdescr", "reftrget"];

/// The parts of a file, without the contents of its large columns.
#[derive(Debug)]
pub(super) struct Dump<'a> {
    pub(super) version: Version,
    pub(super) filemeta: Option<Meta>,
    pub(super) snapshots: Vec<Snapshot<'a>>,
    pub(super) tables: Tables,
    pub(super) records: RecordCounts,
    pub(super) damage: Option<Error>,
    /// Whether blocks were found through a table of contents.
    pub(super) has_toc: bool,
    /// Whether the file has the closing group, which an orderly end of the profiled process writes.
    pub(super) closed: bool,
    /// Decompression contexts, shared by all readers of this file's columns.
    pub(super) decoders: Decoders,
}

/// One snapshot. `start` and `end` are absolute file offsets.
#[derive(Debug)]
pub(super) struct Snapshot<'a> {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Whether all parts of the snapshot are in the file. They may still fail to decompress.
    pub(super) complete: bool,
    pub(super) meta: Option<Meta>,
    pub(super) data: Data<'a>,
    /// Sizes of the tables after this snapshot.
    pub(super) sizes: TableSizes,
}

impl<'a> Snapshot<'a> {
    /// The block of a name, in version 3.
    pub(super) fn block(&self, name: &str) -> Option<&Block<'a>> {
        match &self.data {
            Data::Blocks(blocks) => blocks.iter().find(|block| block.name.is(name)),
            Data::Sections { .. } => None,
        }
    }

    /// Bytes that the snapshot takes in the file.
    pub(super) fn stored_bytes(&self) -> u64 {
        match &self.data {
            Data::Blocks(blocks) => blocks.iter().fold(0, |sum: u64, block| {
                sum.saturating_add(block.end.saturating_sub(block.start))
            }),
            Data::Sections { .. } => self.end.saturating_sub(self.start),
        }
    }
}

/// The positions of the rows of a snapshot.
#[derive(Debug)]
pub(super) enum Data<'a> {
    /// Version 3: columns.
    Blocks(Vec<Block<'a>>),
    /// Version 2: rows.
    Sections { coll: Option<Section<'a>>, refs: Option<Section<'a>> },
}

impl<'a> Dump<'a> {
    /// Groups the blocks or sections of a file. Fails when the magic is not one of the two that are
    /// read.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let version = Version::read(bytes)?;
        let mut dump = Self {
            version,
            filemeta: None,
            snapshots: Vec::new(),
            tables: Tables::default(),
            records: RecordCounts::default(),
            damage: None,
            has_toc: false,
            closed: false,
            decoders: Decoders::default(),
        };
        let mut counts = RecordCounts::default();
        match version {
            Version::V2 => read_sections(&mut dump, bytes, &mut counts),
            Version::V3 => read_blocks(&mut dump, bytes, &mut counts),
        }
        // In the declared order.
        dump.records.add_all(super::RECORD_NAMES.iter().map(|name| (*name, counts.count(name))));
        dump.decoders = Decoders::for_snapshots(dump.snapshots.len());
        Ok(dump)
    }

    /// The version for display: `2`, `3` without a subversion, `3.1` with subversion 1.
    pub(super) fn format_version(&self) -> String {
        match (self.version, self.filemeta.as_ref().and_then(|meta| meta.unsigned("subversion"))) {
            (Version::V2, _) => "2".into(),
            (Version::V3, None) => "3".into(),
            (Version::V3, Some(subversion)) => format!("3.{subversion}"),
        }
    }

    /// Records damage. Keeps only the first one.
    pub(super) fn note(&mut self, error: Option<Error>) {
        if let Some(error) = error {
            self.damage.get_or_insert(error);
        }
    }
}

/// The blocks since the last inner table of contents.
#[derive(Default)]
struct Group<'a> {
    blocks: Vec<Block<'a>>,
    damaged: bool,
}

impl<'a> Group<'a> {
    fn has(&self, name: &str) -> bool {
        self.blocks.iter().any(|block| block.name.is(name))
    }

    /// Whether this block cannot belong to the group, because the table that ended the group was
    /// lost.
    fn is_over_before(&self, block: &Block<'_>) -> bool {
        !self.blocks.is_empty()
            && (block.name.is("snapmeta")
                || (block.name.known().is_some()
                    && self.blocks.iter().any(|own| own.name == block.name)))
    }

    fn is_snapshot(&self) -> bool {
        self.has("snapmeta") || COLLECTABLES.iter().chain(&REFERENCES).any(|name| self.has(name))
    }

    /// Ends the group at the inner table that lists it, if that table could be read.
    fn finish(self, dump: &mut Dump<'a>, toc: Option<&Block<'a>>) {
        let listed: Vec<_> = match toc.map(|toc| toc.body) {
            Some(Body::Toc { entries, .. }) => toc_entries(entries).collect(),
            _ => Vec::new(),
        };
        for entry in listed.iter().filter(|entry| {
            self.blocks.binary_search_by_key(&entry.start, |block| block.start).is_err()
        }) {
            dump.tables.lost.note(entry.name.known().unwrap_or_default());
        }
        if self.damaged && toc.is_none() {
            ["strings", "typename", "sfname"].iter().for_each(|name| dump.tables.lost.note(name));
        }
        let error = dump.tables.append_blocks(&self.blocks);
        dump.note(error);
        if !self.is_snapshot() {
            dump.closed |= toc.is_some();
            return;
        }
        let complete = !self.damaged
            && toc.is_some()
            && COLLECTABLES.iter().chain(&REFERENCES).all(|name| self.has(name));
        let meta = self.blocks.iter().find(|block| block.name.is("snapmeta"));
        dump.snapshots.push(Snapshot {
            start: self.blocks.first().map_or(0, |block| block.start),
            end: self.blocks.last().map_or(0, |block| block.end),
            complete,
            meta: meta.and_then(parse_meta),
            sizes: dump.tables.sizes(),
            data: Data::Blocks(self.blocks),
        });
    }
}

fn read_blocks<'a>(dump: &mut Dump<'a>, bytes: &'a [u8], counts: &mut RecordCounts) {
    let blocks = Blocks::new(bytes);
    dump.has_toc = blocks.has_toc();
    let mut group = Group::default();
    for block in blocks {
        let block = match block {
            Ok(block) => block,
            Err(error) => {
                group.damaged = true;
                dump.note(Some(error));
                continue;
            }
        };
        counts.add(block.name.known().unwrap_or("unknown"), 1);
        if block.is_outer_toc() {
            continue;
        }
        if block.name.is("filemeta") {
            dump.filemeta = parse_meta(&block);
            continue;
        }
        if block.name.is("toc") {
            std::mem::take(&mut group).finish(dump, Some(&block));
            continue;
        }
        if group.is_over_before(&block) {
            group.damaged = true;
            std::mem::take(&mut group).finish(dump, None);
        }
        // Damage before the first block of a snapshot does not belong to the snapshot.
        group.damaged &= !block.name.is("snapmeta");
        group.blocks.push(block);
    }
    if !group.blocks.is_empty() {
        group.damaged = true;
        group.finish(dump, None);
    }
}

fn parse_meta(block: &Block<'_>) -> Option<Meta> {
    match block.body {
        Body::Meta { payload } => Meta::parse(payload),
        _ => None,
    }
}

/// Reads the sections of version 2, all of its dialects by one rule: tables that directly follow
/// tables, without a new snapshot in between, close the file. If they are not empty, they are the
/// whole tables once more and replace the ones read before.
fn read_sections<'a>(dump: &mut Dump<'a>, bytes: &'a [u8], counts: &mut RecordCounts) {
    let mut reached = 16;
    let mut closing = ClosingTables::default();
    for section in Sections::new(bytes) {
        let section = match section {
            Ok(section) => section,
            Err(error) => {
                dump.note(Some(error));
                mark_cut_snapshot(dump, bytes, reached, &closing);
                break;
            }
        };
        counts.add(section.name, 1);
        reached = section.end;
        match section.name {
            "coll" => {
                closing = ClosingTables::default();
                dump.snapshots.push(Snapshot {
                    start: section.start,
                    end: section.end,
                    complete: false,
                    meta: None,
                    data: Data::Sections { coll: Some(section), refs: None },
                    sizes: dump.tables.sizes(),
                });
            }
            "refs" => {
                if let Some(snapshot) = dump.snapshots.last_mut() {
                    snapshot.end = section.end;
                    snapshot.complete = true;
                    if let Data::Sections { refs, .. } = &mut snapshot.data {
                        *refs = Some(section);
                    }
                }
            }
            "index" => dump.closed = true,
            _ => closing.append(dump, &section),
        }
    }
    share_tables_of_the_end(dump);
}

/// Counts the rounds of tables since the last snapshot.
#[derive(Default)]
struct ClosingTables {
    strs: u32,
    types: u32,
    frames: u32,
}

impl ClosingTables {
    fn append(&mut self, dump: &mut Dump<'_>, section: &Section<'_>) {
        let round = match section.name {
            "strs" => &mut self.strs,
            "type" => &mut self.types,
            _ => &mut self.frames,
        };
        *round = round.saturating_add(1);
        if *round > 1 && section.rows > 0 {
            dump.tables.clear(section.name);
        }
        dump.tables.append_section(section);
        let sizes = dump.tables.sizes();
        if let Some(last) = dump.snapshots.last_mut() {
            last.sizes = sizes;
        }
    }
}

/// Gives the tables at the end to every snapshot, for the dialect that has no others. If the file
/// is truncated before them, no snapshot has tables.
fn share_tables_of_the_end(dump: &mut Dump<'_>) {
    let sizes = dump.tables.sizes();
    let known = sizes.types.is_some_and(|types| types > 0);
    for snapshot in dump.snapshots.iter_mut().filter(|snapshot| snapshot.sizes.types == Some(0)) {
        snapshot.sizes = if known { sizes } else { TableSizes::default() };
    }
}

/// Marks the last snapshot as incomplete if the file is truncated before its tables. If a new
/// snapshot begins after the last whole section, the last snapshot lacks nothing.
fn mark_cut_snapshot(dump: &mut Dump<'_>, bytes: &[u8], reached: u64, closing: &ClosingTables) {
    let rest =
        usize::try_from(reached).ok().and_then(|reached| bytes.get(reached..)).unwrap_or_default();
    let next_begins =
        b"coll".starts_with(rest.get(..rest.len().min(4)).unwrap_or_default()) && !rest.is_empty();
    if closing.frames == 0
        && !next_begins
        && let Some(last) = dump.snapshots.last_mut()
    {
        last.complete = false;
        last.sizes = TableSizes::default();
    }
}
