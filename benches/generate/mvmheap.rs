//! MoarVM snapshots of version 3.1 with all their columns: about four references for each
//! collectable.

#[path = "../../tests/support/mvmheap.rs"]
#[allow(unreachable_pub, dead_code, reason = "the builder belongs to the tests")]
mod builder;

use super::Random;
use builder::{Row, Snapshot, Writer, index, row, string};
use std::io::{self, Write};

/// Snapshots in the file.
pub(crate) const SNAPSHOTS: u64 = 2;
const TYPES: u64 = 2000;
const FRAMES: u64 = 3000;
const STRINGS: [&str; 9] = [
    "Permanent Roots",
    "Thread Roots",
    "$!name",
    "",
    "P6opaque",
    "Foo",
    "VMString",
    "main",
    "a.nqp",
];
/// The root and what hangs below it.
const ROOTS: [u16; 7] = [9, 5, 6, 7, 8, 10, 11];

/// Writes snapshots of that many collectables each.
pub(crate) fn write(collectables: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::new();
    for i in 0..SNAPSHOTS {
        writer = writer.snapshot(&snapshot(collectables, i));
    }
    file.write_all(&writer.close())
}

fn snapshot(collectables: u64, i: u64) -> Snapshot {
    let mut random = Random(1 + i);
    let mut snapshot = Snapshot { time: 1_000_000 * (i + 1), ..Snapshot::default() };
    snapshot.rows =
        (0..collectables).map(|id| collectable(&mut random, id, collectables)).collect();
    // The tables grow with the first snapshot only.
    if i == 0 {
        snapshot.strings = STRINGS.to_vec();
        snapshot.types = (0..TYPES as u32).map(|id| (4 + id % 3, 4 + id % 5)).collect();
        snapshot.frames = (0..FRAMES as u32).map(|id| [7, 2, id % 500, 8]).collect();
    }
    snapshot
}

fn collectable(random: &mut Random, id: u64, collectables: u64) -> Row {
    if let Some(&kind) = ROOTS.get(id as usize) {
        let references: Vec<_> = match kind {
            9 => (1..ROOTS.len() as u64).map(|target| (string(0), target)).collect(),
            11 => Vec::new(),
            _ => (0..300).map(|i| (index(i), random.below(collectables))).collect(),
        };
        return row(kind, 0, 0, 0, &references);
    }
    let kind = match random.below(100) {
        0..80 => 1,
        80..82 => 2,
        82..84 => 3,
        _ => 4,
    };
    let tofi = random.skewed(if kind == 4 { FRAMES } else { TYPES });
    let unmanaged = if random.chance(10) { 8 * (1 + random.below(100)) } else { 0 };
    let count = match random.below(1000) {
        0 => 50 + random.below(2000),
        1..40 => 8 + random.below(30),
        _ => tofi % 5 + 2 + random.below(2),
    };
    let describe = |i| {
        if count > 40 || tofi.is_multiple_of(3) {
            index(i)
        } else {
            string((tofi + i) % STRINGS.len() as u64)
        }
    };
    let references: Vec<_> =
        (0..count).map(|i| (describe(i), target(random, id, collectables))).collect();
    row(kind, 24 + 8 * (tofi % 9) as u16, tofi as u32, unmanaged, &references)
}

/// A new neighbour, an old one, something popular, or anything.
fn target(random: &mut Random, id: u64, collectables: u64) -> u64 {
    match random.below(100) {
        0..40 => (id + 1).min(collectables - 1),
        40..60 => (id + random.below(2000)).clamp(1000, collectables + 999) - 1000,
        60..90 => random.skewed(collectables),
        _ => random.below(collectables),
    }
}
