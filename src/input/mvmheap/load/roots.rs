//! Roots: row 0, and the targets of the rows that represent parts of the root set.

use super::threads::Threads;
use crate::input::mvmheap::tally::{PERMANENT_ROOTS, ROOT};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{ObjectId, Root, RootKind};

/// The parts of the root set from kind 5, named as MoarVM names them.
pub(super) const PARTS: [(&str, RootKind); 7] = [
    ("Permanent Roots", RootKind::Runtime),
    ("VM Instance Roots", RootKind::Runtime),
    ("C Stack Roots", RootKind::Native),
    ("Thread Roots", RootKind::Thread),
    ("Root", RootKind::Runtime),
    ("Inter-generational Roots", RootKind::Generation),
    ("Thread Call Stack Roots", RootKind::Frame),
];

/// The part of the root set that rows of a kind represent. `None` for other kinds.
pub(super) fn part(kind: u8) -> Option<(&'static str, RootKind)> {
    PARTS.get(usize::from(kind).checked_sub(PERMANENT_ROOTS as usize)?).copied()
}

pub(super) fn add(builder: &mut HeapBuilder<'_>, kinds: &[u8], threads: &Threads) {
    let parts = PARTS.map(|(name, kind)| (builder.names().intern(name), kind));
    let part =
        |kind: u8| parts.get(usize::from(kind).checked_sub(PERMANENT_ROOTS as usize)?).copied();
    let mut roots = Vec::new();
    if let Some((group, kind)) = kinds.first().and_then(|&kind| part(kind)) {
        roots.push(Root::new(ObjectId(0), kind, group));
    }
    for (row, &row_kind) in (0..).zip(kinds) {
        let Some((group, kind)) = part(row_kind) else { continue };
        let (thread, calls) = threads.of_row(row, row_kind, builder).unzip();
        let calls = calls.flatten();
        for (depth, reference) in (0..).zip(builder.heap().references.stored(ObjectId(row))) {
            let to_part =
                kinds.get(reference.target.index()).is_some_and(|&kind| part(kind).is_some());
            if !(to_part && u64::from(row_kind) == ROOT) {
                let frame = calls.and_then(|first: u32| first.checked_add(depth));
                roots.push(Root {
                    label: reference.label,
                    frame,
                    thread,
                    ..Root::new(reference.target, kind, group)
                });
            }
        }
    }
    builder.heap().roots = roots;
}
