//! The row of the table `dump`, for the commands that have it.

use super::open::Input;
use crate::analysis::dominator_tree::DominatorTree;
use crate::input::load::Loaded;
use crate::input::{self, Kind, ReadOptions};
use crate::model::heap::{Heap, TypeKind};
use crate::output::tables::{DumpCounts, DumpRow};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The part of the row that is known without reading the file.
pub(super) fn known(input: &Input, damage: Option<String>) -> DumpRow {
    DumpRow {
        file: input.path.display().to_string(),
        format: input.format.name().to_owned(),
        kind: if input.kind == Kind::Heap { "heap" } else { "profile" }.to_owned(),
        damage,
        ..DumpRow::default()
    }
}

/// The whole row, of a heap with its totals. Reads the file twice: for its digest, and for what
/// `info` shows.
///
/// # Errors
/// Those of `info`.
pub(super) fn read(
    input: &Input,
    damage: Option<String>,
    heap: Option<(&Loaded<'_>, &DominatorTree)>,
) -> anyhow::Result<DumpRow> {
    let info = input::info(input.format, input.bytes(), ReadOptions::default())
        .map_err(|error| input.error(error))?;
    let mut row = DumpRow {
        digest: digest(input.bytes()),
        format_version: info.format_version,
        warnings: info.warnings.len() as u64,
        ..known(input, damage)
    };
    if let Some((loaded, tree)) = heap {
        let snapshots = info.heap.iter().flat_map(|heap| &heap.snapshots);
        row.snapshot = Some(loaded.snapshot);
        row.time_us = snapshots
            .filter(|snapshot| snapshot.index == loaded.snapshot)
            .find_map(|snapshot| snapshot.time_us);
        row.warnings = loaded.heap.warnings().len() as u64;
        row.counts = Some(counts(&loaded.heap, tree));
    }
    Ok(row)
}

/// The totals of a heap, without rows that only represent roots.
fn counts(heap: &Heap<'_>, tree: &DominatorTree) -> DumpCounts {
    let mut counts = DumpCounts {
        objects: heap.object_count(),
        references: heap.references().len() as u64,
        ..DumpCounts::default()
    };
    let stands_for_root = |object| heap.type_of(object).kind == TypeKind::Root;
    for object in heap.objects().filter(|object| !stands_for_root(*object)) {
        let bytes = heap.shallow_bytes(object);
        let (count, sum) = match tree.is_live(object) {
            true => (&mut counts.live_count, &mut counts.live_shallow_bytes),
            false => (&mut counts.unreachable_count, &mut counts.unreachable_bytes),
        };
        *count += 1;
        *sum = sum.saturating_add(bytes);
    }
    for &(object, bytes) in heap.externals() {
        let sum = match tree.is_live(object) {
            true => &mut counts.live_external_bytes,
            false => &mut counts.unreachable_bytes,
        };
        *sum = sum.saturating_add(bytes);
    }
    counts
}

/// SHA-256 in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
