//! The file that is converted, and the row about it in the table `dump`.

use crate::analyses::Analyses;
use crate::analysis::dominator_tree::DominatorTree;
use crate::error::{Error, Result};
use crate::input::{self, Format, Kind, ReadOptions};
use crate::model::heap::{Heap, TypeKind};
use crate::names::JavaMapping;
use crate::tables::{DumpCounts, DumpRow};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

/// The file that is converted.
#[derive(Clone, Copy, Debug)]
pub struct DumpFile<'a> {
    /// The path, as it was given.
    pub path: &'a Path,
    /// The format.
    pub format: Format,
    /// The bytes, decompressed.
    pub bytes: &'a [u8],
    /// The damage that ended the decompression early.
    pub damage: Option<&'a Error>,
    /// The names of a minified Java program, for the table `events`.
    pub mapping: Option<&'a JavaMapping>,
}

impl<'a> DumpFile<'a> {
    /// The title that viewers show for outputs: the name of the file.
    pub fn title(&self) -> &'a str {
        self.path.file_name().and_then(OsStr::to_str).unwrap_or("standard input")
    }

    /// Returns the part of the row that is known without reading the file.
    pub fn known(&self, damage: Option<String>) -> DumpRow {
        let is_heap = input::kind(self.format, self.bytes) == Kind::Heap;
        DumpRow {
            file: self.path.display().to_string(),
            format: self.format.name().to_owned(),
            kind: if is_heap { "heap" } else { "profile" }.to_owned(),
            damage,
            ..DumpRow::default()
        }
    }

    /// Returns the whole row, of a heap with its totals. Reads the file twice: for its digest, and
    /// for what `info` shows.
    ///
    /// # Errors
    /// The errors of [`input::info()`].
    pub fn row(&self, damage: Option<String>, heap: Option<&Analyses<'_>>) -> Result<DumpRow> {
        let info = input::info(self.format, self.bytes, ReadOptions::default())?;
        let mut row = DumpRow {
            digest: digest(self.bytes),
            format_version: info.format_version,
            warnings: info.warnings.len() as u64,
            ..self.known(damage)
        };
        if let Some(loaded) = heap {
            let snapshots = info.heap.iter().flat_map(|heap| &heap.snapshots);
            row.snapshot = Some(loaded.snapshot);
            row.time_us = snapshots
                .filter(|snapshot| snapshot.index == loaded.snapshot)
                .find_map(|snapshot| snapshot.time_us);
            row.warnings = loaded.heap.warnings().len() as u64;
            row.counts = Some(counts(&loaded.heap, loaded.tree()));
        }
        Ok(row)
    }
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
        let (count, sum) = if tree.is_live(object) {
            (&mut counts.live_count, &mut counts.live_shallow_bytes)
        } else {
            (&mut counts.unreachable_count, &mut counts.unreachable_bytes)
        };
        *count += 1;
        *sum = sum.saturating_add(bytes);
    }
    for &(object, bytes) in heap.externals() {
        let sum = if tree.is_live(object) {
            &mut counts.live_external_bytes
        } else {
            &mut counts.unreachable_bytes
        };
        *sum = sum.saturating_add(bytes);
    }
    counts
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
