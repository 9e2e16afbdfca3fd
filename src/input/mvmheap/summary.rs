//! `info` of MoarVM heap snapshots.

use super::Version;
use super::dump::{COLLECTABLES, Data, Dump, Snapshot};
use super::meta::{Meta, value_text};
use super::rows::{Chunk, ColumnError, RowReader};
use super::sums::sum_columns;
use super::tables::Tables;
use super::tally::{CALL_STACK_ROOTS, KINDS, PERMANENT_ROOTS, Tally};
use crate::error::{Error, Result};
use crate::input::info::{
    BiggestType, ByKind, FormatDetails, HeapInfo, Info, InfoWarning, MvmheapDetails, SnapshotInfo,
};
use crate::input::read::ReadOptions;
use crate::parallel;
use std::sync::atomic::{AtomicU64, Ordering};

/// Summarizes a file: one pass over the columns of collectables, several snapshots at a time;
/// references are not read.
///
/// With [`ReadOptions::quick`] only the metadata, the tables and the highscores are read.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let mut dump = Dump::read(bytes)?;
    let mut info = super::SPEC.summary(dump.format_version());
    let done = AtomicU64::new(16);
    let summaries =
        parallel::map(&dump.snapshots, |snapshot| summarize(&dump, snapshot, options, &done));
    (options.progress)(bytes.len() as u64);
    let mut snapshots = Vec::new();
    for (index, (mut summary, error)) in (0..).zip(summaries) {
        summary.index = index;
        dump.note(error);
        snapshots.push(summary);
    }
    add_metadata(&mut info, dump.filemeta.as_ref());
    info.warnings = warnings(&dump);
    info.records = dump.records;
    info.heap = Some(HeapInfo { snapshots });
    info.set_damage(dump.damage);
    Ok(info)
}

fn add_metadata(info: &mut Info, filemeta: Option<&Meta>) {
    for (key, value) in filemeta.iter().flat_map(|meta| &meta.0) {
        info.add_metadata(key.as_str(), value_text(value));
    }
}

fn warnings(dump: &Dump<'_>) -> Vec<InfoWarning> {
    let version_3 = dump.version == Version::V3;
    let known = [
        (version_3 && dump.filemeta.is_none(), InfoWarning::NoFilemeta),
        (version_3 && !dump.has_toc, InfoWarning::NoTableOfContents),
        (version_3 && dump.damage.is_none() && !dump.closed, InfoWarning::NotClosed),
        (dump.tables.lost.any(), InfoWarning::LostNames),
        (!version_3 && dump.tables.types.is_empty(), InfoWarning::NoNames),
    ];
    known.into_iter().filter(|(holds, _)| *holds).map(|(_, warning)| warning).collect()
}

/// Summarizes one snapshot. A damaged column affects only the numbers that depend on it.
fn summarize(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    options: ReadOptions<'_>,
    done: &AtomicU64,
) -> (SnapshotInfo, Option<Error>) {
    let mut summary = empty_summary(dump, snapshot);
    if options.quick {
        let biggest = quick_biggest_type(dump, snapshot);
        return (with_details(summary, |details| details.biggest_type = biggest), None);
    }
    // The writer's own list, which `check` verifies, names the biggest type. Summing up the types
    // here would need another column and take most of the time.
    let listed = quick_biggest_type(dump, snapshot);
    let needed = |name: &str| name != "colrfstr" && (name != "coltofi" || listed.is_none());
    let mut wanted = COLLECTABLES.map(|name| needed(name) && has_column(snapshot, name));
    let mut damage = None;
    loop {
        match tally(dump, snapshot, wanted, options, done) {
            Ok(tally) => {
                let [kind, size, tofi, rfcnt, _, unmanaged] = wanted;
                summary.references = rfcnt.then(|| tally.references(0..=KINDS as u64));
                summary.shallow_bytes = size.then_some(tally.managed);
                summary.external_bytes = unmanaged.then_some(tally.unmanaged);
                if kind {
                    let by_kind = by_kind(&tally);
                    summary.objects = Some(
                        [by_kind.object, by_kind.type_object, by_kind.stable, by_kind.frame]
                            .into_iter()
                            .fold(0, u64::saturating_add),
                    );
                    summary.roots =
                        rfcnt.then(|| tally.references(PERMANENT_ROOTS..=CALL_STACK_ROOTS));
                    let added_up = || {
                        (size && tofi && unmanaged)
                            .then(|| biggest_type(&dump.tables, &tally))
                            .flatten()
                    };
                    let biggest = listed.or_else(added_up);
                    summary = with_details(summary, |details| {
                        details.by_kind = Some(by_kind);
                        details.biggest_type = biggest;
                    });
                }
                summary.complete &= damage.is_none();
                return (summary, damage);
            }
            Err(failed) => {
                // Each round drops one more column, so the loop ends.
                if let Some(wanted) = wanted.get_mut(failed.column) {
                    *wanted = false;
                }
                damage.get_or_insert(failed.error);
            }
        }
    }
}

fn has_column(snapshot: &Snapshot<'_>, name: &str) -> bool {
    match &snapshot.data {
        Data::Blocks(_) => snapshot.block(name).is_some(),
        Data::Sections { coll, .. } => coll.is_some(),
    }
}

fn tally(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    wanted: [bool; 6],
    options: ReadOptions<'_>,
    done: &AtomicU64,
) -> Result<Tally, ColumnError> {
    let stored = snapshot.end.saturating_sub(snapshot.start);
    let read = AtomicU64::new(0);
    let advance = |bytes: u64| {
        read.fetch_add(bytes, Ordering::Relaxed);
        (options.progress)(done.fetch_add(bytes, Ordering::Relaxed));
    };
    // The columns that are not read count as done, too.
    let finish = || advance(stored.saturating_sub(read.load(Ordering::Relaxed)));
    if let Some(tally) = sum_columns(snapshot, wanted, &dump.decoders, &advance) {
        finish();
        return Ok(tally);
    }
    let [_, _, by_type, ..] = wanted;
    let size = |size: Option<u64>| {
        size.filter(|_| by_type).and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
    };
    let mut tally = Tally::new(size(snapshot.sizes.types), size(snapshot.sizes.frames));
    let mut rows = RowReader::new(snapshot, wanted, &dump.decoders)?;
    let mut chunk = Chunk::default();
    let mut reported = 0;
    while rows.next(&mut chunk)? {
        tally.add(&chunk);
        let consumed = rows.consumed();
        if consumed.saturating_sub(reported) > 1 << 20 {
            advance(consumed.saturating_sub(reported));
            reported = consumed;
        }
    }
    finish();
    Ok(tally)
}

fn empty_summary(dump: &Dump<'_>, snapshot: &Snapshot<'_>) -> SnapshotInfo {
    let meta = |key: &str| snapshot.meta.as_ref().and_then(|meta| meta.unsigned(key));
    let start_time = dump.filemeta.as_ref().and_then(|meta| meta.unsigned("start_time"));
    let details = MvmheapDetails {
        gc_seq_num: meta("gc_seq_num"),
        total_heap_size: meta("total_heap_size"),
        by_kind: None,
        strings: snapshot.sizes.strings,
        frames: snapshot.sizes.frames,
        snap_time: meta("snap_time"),
        total_objects: meta("total_objects"),
        total_typeobjects: meta("total_typeobjects"),
        total_stables: meta("total_stables"),
        total_frames: meta("total_frames"),
        total_refs: meta("total_refs"),
        biggest_type: None,
        compressed_bytes: snapshot.stored_bytes(),
    };
    SnapshotInfo {
        complete: snapshot.complete,
        types: snapshot.sizes.types,
        time_us: meta("snap_time")
            .zip(start_time)
            .and_then(|(time, start)| time.checked_sub(start)),
        ..SnapshotInfo::new(FormatDetails::Mvmheap(Box::new(details)))
    }
}

fn with_details(
    mut summary: SnapshotInfo,
    change: impl FnOnce(&mut MvmheapDetails),
) -> SnapshotInfo {
    if let FormatDetails::Mvmheap(details) = &mut summary.details {
        change(details);
    }
    summary
}

fn by_kind(tally: &Tally) -> ByKind {
    let kind = |kind| tally.kind(kind);
    ByKind {
        object: kind(1),
        type_object: kind(2),
        stable: kind(3),
        frame: kind(4),
        permanent_roots: kind(5),
        instance_roots: kind(6),
        c_stack_roots: kind(7),
        thread_roots: kind(8),
        root: kind(9),
        inter_generational_roots: kind(10),
        call_stack_roots: kind(11),
    }
}

fn biggest_type(tables: &Tables, tally: &Tally) -> Option<BiggestType> {
    let (index, share) = tally.biggest_type()?;
    Some(named_type(tables, index as u64, share.bytes, Some(share.count)))
}

fn named_type(tables: &Tables, index: u64, bytes: u64, count: Option<u64>) -> BiggestType {
    let row = usize::try_from(index).ok().and_then(|index| tables.types.get(index));
    let name = |string: Option<u64>| string.and_then(|string| tables.string(string));
    BiggestType {
        name: name(row.map(|row| row.name)),
        repr: name(row.map(|row| row.repr)),
        bytes,
        count,
    }
}

/// The first type of the writer's own list by size. Its count is known only if the list by count
/// has the type, too.
fn quick_biggest_type(dump: &Dump<'_>, snapshot: &Snapshot<'_>) -> Option<BiggestType> {
    let boards = super::highscores::read(dump, snapshot)?.ok()?;
    let by_size = boards.iter().find(|board| board.name == "types_by_size")?;
    let (id, bytes) = by_size.entries.first().copied()?;
    let counts = boards.iter().find(|board| board.name == "types_by_count");
    let count = counts
        .and_then(|board| board.entries.iter().find(|(other, _)| *other == id))
        .map(|(_, count)| *count);
    Some(named_type(&dump.tables, id, bytes, count))
}
