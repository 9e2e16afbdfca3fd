//! `check`: sums and counts (against the writer's own), ranges of indices and targets, positions.
//!
//! Known not to hold, and therefore not reported: the first index of rows without references
//! (version 3), the order of reference ranges, the padding of highscores, type or frame indices of
//! roots.

use super::blocks::{BlockName, Body, toc_entries};
use super::dump::{COLLECTABLES, Dump, REFERENCES, Snapshot};
use super::highscores::{self, Board};
use super::ranges::RangeCheck;
use super::rows::{Chunk, ReferenceChunk, ReferenceReader, RowReader};
use super::scan::Blocks;
use super::tally::{
    CALL_STACK_ROOTS, FRAME, KINDS, OBJECT, PERMANENT_ROOTS, ROOT, STABLE, Share, TYPE_OBJECT,
    Tally,
};
use super::toc::Hints;
use super::{Version, tables::TableSizes};
use crate::error::{Error, Result};
use crate::input::check::{Findings, faults};
use crate::input::read::ReadOptions;
use crate::parallel;
use std::num::Saturating;

/// Checks every invariant; decompresses everything. Snapshots that are not complete are left out.
pub fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let dump = Dump::read(bytes)?;
    let mut findings = Findings::default();
    if dump.version == Version::V3 {
        check_positions(bytes, &mut findings);
    }
    check_tables(&dump, &mut findings);
    let parts = parallel::map(dump.snapshots.iter().enumerate(), |(i, snapshot)| {
        check_snapshot(&dump, i, snapshot, options)
    });
    (options.progress)(bytes.len() as u64);
    findings.set_damage(dump.damage);
    for part in parts {
        findings.findings.extend(part.findings);
        if let Some(damage) = part.damage {
            findings.set_damage(Some(damage.error));
        }
    }
    Ok(findings)
}

/// Compares the positions in the tables of contents with the blocks that a walk finds.
fn check_positions(bytes: &[u8], findings: &mut Findings) {
    let mut found = Vec::new();
    let (mut own_starts, mut sizes, mut hostile_ends) =
        (Saturating(0u64), Saturating(0u64), Saturating(0u64));
    // A scan ends at damage, or at a block whose name is not known. Positions after that cannot be
    // compared.
    let mut reached = 16;
    for block in Blocks::scan(bytes).map_while(Result::ok) {
        reached = block.end;
        match block.body {
            Body::Toc { entries, own_start } => {
                own_starts += u64::from(own_start != block.start);
                // A table never lists blocks after itself.
                hostile_ends +=
                    toc_entries(entries).filter(|entry| entry.end > block.start).count() as u64;
            }
            Body::Column { size, frame, .. } | Body::Strings { size, frame } => {
                sizes += u64::from(size != 0 && size != frame.len() as u64);
                found.push((block.start, block.end, block.name));
            }
            Body::Meta { .. } | Body::Unknown { .. } => {
                found.push((block.start, block.end, block.name))
            }
        }
    }
    findings.none(
        "toc.own_start",
        own_starts.0,
        "tables of contents with a wrong position of their own",
    );
    findings.none(
        "toc.order",
        hostile_ends.0,
        "entries of tables of contents that end after the table begins",
    );
    findings.none(
        "block.size",
        sizes.0,
        "blocks whose size field is neither 0 nor the compressed size",
    );
    compare_tables(bytes, &found, reached, findings);
}

/// Compares the entries of the tables of contents up to offset `reached` with the `found` blocks.
fn compare_tables(
    bytes: &[u8],
    found: &[(u64, u64, BlockName)],
    reached: u64,
    findings: &mut Findings,
) {
    let hints = Hints::read(bytes);
    let Some(last) = hints.outer else { return };
    let wrong = hints
        .entries()
        .iter()
        .filter(|entry| {
            entry.start < reached
                && found.binary_search(&(entry.start, entry.end, entry.name)).is_err()
        })
        .count();
    findings.none(
        "toc.positions",
        wrong as u64,
        "entries of tables of contents that match no block",
    );
    let listed = found.iter().filter(|(start, ..)| hints.at_offset(*start).is_some()).count();
    let before = found.iter().filter(|(start, ..)| *start < last).count();
    findings.equal(
        "toc.blocks",
        before as u64,
        listed as u64,
        "blocks that the tables of contents list",
    );
}

/// Checks that types and frames refer to strings that exist.
fn check_tables(dump: &Dump<'_>, findings: &mut Findings) {
    let TableSizes { strings, types, frames } = dump.tables.sizes();
    let Some(strings) = strings else { return };
    if types.is_some() {
        let bad = dump.tables.types.iter().filter(|row| row.repr.max(row.name) >= strings).count();
        findings.none("types.strings", bad as u64, "types that refer to strings that do not exist");
    }
    if frames.is_some() {
        let bad = dump
            .tables
            .frames
            .iter()
            .filter(|row| row.iter().any(|index| *index >= strings))
            .count();
        findings.none(
            "frames.strings",
            bad as u64,
            "frames that refer to strings that do not exist",
        );
    }
}

fn check_snapshot(
    dump: &Dump<'_>,
    index: usize,
    snapshot: &Snapshot<'_>,
    options: ReadOptions<'_>,
) -> Findings {
    let mut findings = Findings::of_part(&format!("snapshot {index}"));
    if !snapshot.complete {
        return findings;
    }
    let outcome = check_rows(dump, snapshot, &mut findings);
    findings.set_damage(outcome.err());
    (options.progress)(snapshot.end);
    findings
}

fn check_rows(dump: &Dump<'_>, snapshot: &Snapshot<'_>, findings: &mut Findings) -> Result<()> {
    let rows = read_rows(dump, snapshot)?;
    let tally = &rows.tally;
    findings.none("rows.kinds", tally.kind(0), "rows of a kind that is not 1 to 11");
    findings.equal("rows.root", 1, tally.kind(ROOT), "rows of kind root");
    findings.equal("rows.first", ROOT, rows.first_kind.unwrap_or(0), "the kind of row 0");
    rows.faults.report(findings, snapshot.sizes);
    let references = check_references(dump, snapshot, tally, findings)?;
    findings.equal(
        "references.count",
        tally.references(0..=KINDS as u64),
        references,
        "references against the sum of colrfcnt",
    );
    let gaps = u64::from(!rows.ranges.is_partition(references));
    findings.none(
        "references.ranges",
        gaps,
        "gaps or overlaps between the reference ranges of rows (counted as one)",
    );
    check_totals(snapshot, tally, references, findings);
    check_highscores(dump, snapshot, tally, findings)
}

/// The results of one pass over the collectables.
struct Rows {
    tally: Tally,
    ranges: RangeCheck,
    first_kind: Option<u64>,
    faults: RowFaults,
}

faults! {
    struct RowFaults(sizes: TableSizes) {
        sized_roots: "rows.root_sizes" "parts of the root set with a size of their own",
        bad_types: "rows.types" "rows of types that are not in the table" if sizes.types.is_some(),
        bad_frames: "rows.frames" "rows of frames that are not in the table" if sizes.frames.is_some(),
    }
}

faults! {
    struct ReferenceFaults {
        targets: "references.targets" "references to rows that do not exist",
        kinds: "references.kinds" "references whose description has an unknown kind",
        values: "references.unknown" "references with a value but no description",
        strings: "references.strings" "references described by strings that do not exist",
    }
}

fn read_rows(dump: &Dump<'_>, snapshot: &Snapshot<'_>) -> Result<Rows> {
    let [types, frames] =
        [snapshot.sizes.types, snapshot.sizes.frames].map(|size| size.unwrap_or(0));
    let tally =
        Tally::new(usize::try_from(types).unwrap_or(0), usize::try_from(frames).unwrap_or(0));
    let mut rows = Rows {
        tally,
        ranges: RangeCheck::default(),
        first_kind: None,
        faults: RowFaults::default(),
    };
    let mut reader = RowReader::new(snapshot, [true; COLLECTABLES.len()], &dump.decoders)
        .map_err(|failed| failed.error)?;
    let mut chunk = Chunk::default();
    while reader.next(&mut chunk).map_err(|failed| failed.error)? {
        rows.tally.add(&chunk);
        let [kind, size, tofi, rfcnt, rfstr, unmanaged] = &chunk.columns;
        rows.first_kind = rows.first_kind.or(kind.first().copied());
        for (count, start) in rfcnt.iter().zip(rfstr) {
            rows.ranges.add(*start, *count);
        }
        for (((kind, tofi), size), unmanaged) in kind.iter().zip(tofi).zip(size).zip(unmanaged) {
            match *kind {
                OBJECT..=STABLE => rows.faults.bad_types += u64::from(*tofi >= types),
                FRAME => rows.faults.bad_frames += u64::from(*tofi >= frames),
                PERMANENT_ROOTS..=CALL_STACK_ROOTS => {
                    rows.faults.sized_roots += u64::from(size | unmanaged != 0)
                }
                _ => {}
            }
        }
    }
    Ok(rows)
}

/// Checks descriptions and targets. Returns the number of references.
fn check_references(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    tally: &Tally,
    findings: &mut Findings,
) -> Result<u64> {
    let Some(reader) = ReferenceReader::new(snapshot, &dump.decoders) else {
        return Err(Error::corrupt(
            snapshot.start,
            format!("column \"{}\" or \"{}\" is missing", REFERENCES[0], REFERENCES[1]),
        ));
    };
    let mut reader = reader?;
    let mut chunk = ReferenceChunk::default();
    let strings = snapshot.sizes.strings.unwrap_or(u64::MAX);
    let mut count = Saturating(0u64);
    let mut faults = ReferenceFaults::default();
    while reader.next(&mut chunk)? {
        count += chunk.references.len() as u64;
        for reference in &chunk.references {
            faults.targets += u64::from(reference.target >= tally.rows);
            faults.values += u64::from(reference.kind == 0 && reference.value != 0);
            faults.strings += u64::from(reference.kind == 2 && reference.value >= strings);
            faults.kinds += u64::from(reference.kind > 2);
        }
    }
    faults.report(findings);
    Ok(count.0)
}

fn check_totals(snapshot: &Snapshot<'_>, tally: &Tally, references: u64, findings: &mut Findings) {
    // The writer does not count frames directly under the roots of kind 11.
    let on_call_stack = tally.references(CALL_STACK_ROOTS..=CALL_STACK_ROOTS);
    let frames = tally.kind(FRAME).saturating_sub(on_call_stack);
    let totals = [
        (
            "total_heap_size",
            tally.managed.wrapping_add(tally.unmanaged),
            "bytes of all rows against total_heap_size",
        ),
        ("total_objects", tally.kind(OBJECT), "rows of kind object against total_objects"),
        (
            "total_typeobjects",
            tally.kind(TYPE_OBJECT),
            "rows of kind type object against total_typeobjects",
        ),
        ("total_stables", tally.kind(STABLE), "rows of kind STable against total_stables"),
        (
            "total_frames",
            frames,
            "rows of kind frame, minus those on the call stack, against total_frames",
        ),
        ("total_refs", references, "references against total_refs"),
    ];
    for (key, actual, message) in totals {
        if let Some(expected) = snapshot.meta.as_ref().and_then(|meta| meta.unsigned(key)) {
            findings.equal(format!("snapmeta.{key}"), expected, actual, message);
        }
    }
}

/// Recomputes the lists of largest types and frames. Equal scores may stand in any order.
fn check_highscores(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    tally: &Tally,
    findings: &mut Findings,
) -> Result<()> {
    let Some(boards) = highscores::read(dump, snapshot) else { return Ok(()) };
    for board in boards? {
        let shares = match board.name.as_str() {
            "types_by_count" | "types_by_size" => tally.types(),
            "frames_by_count" | "frames_by_size" => tally.frames(),
            _ => continue,
        };
        // Without any frame the writer shows an unfilled buffer.
        if shares.iter().all(|share| share.count == 0) {
            continue;
        }
        let wrong = wrong_entries(&board, shares);
        findings.none(
            format!("highscores.{}", board.name),
            wrong,
            &format!("wrong entries of {}", board.name),
        );
    }
    Ok(())
}

fn wrong_entries(board: &Board, shares: &[Share]) -> u64 {
    let score =
        |share: &Share| if board.name.ends_with("by_size") { share.bytes } else { share.count };
    let of_id = |id: u64| usize::try_from(id).ok().and_then(|id| shares.get(id)).map(score);
    let mut scores: Vec<u64> = shares.iter().map(score).collect();
    scores.sort_unstable_by(|a, b| b.cmp(a));
    let ranked = board
        .entries
        .iter()
        .zip(&scores)
        .filter(|((id, score), ranked)| score != *ranked || of_id(*id) != Some(*score))
        .count();
    let surplus = board.entries.len().saturating_sub(scores.len());
    ranked.saturating_add(surplus) as u64
}
