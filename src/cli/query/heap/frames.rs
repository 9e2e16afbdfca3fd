//! `frames` of a heap: the call frames of its threads.

use crate::cli::heap::HeldHeap;
use crate::cli::query::relation::{At, Cell, Key, Kind, Lookup, Relation, Rows};
use std::sync::Arc;

pub(super) struct HeapFrames {
    held: Arc<HeldHeap>,
    /// Thread and depth, by frame.
    owner: Vec<Option<(u32, u32)>>,
}

/// `thread` is a row of `threads`, `depth` 0 the innermost frame.
pub(super) const COLUMNS: [(&str, Kind); 6] = [
    ("frame", Kind::Integer),
    ("thread", Kind::Integer),
    ("depth", Kind::Integer),
    ("function", Kind::Text),
    ("file", Kind::Text),
    ("line", Kind::Integer),
];

impl HeapFrames {
    pub(super) fn of(held: &Arc<HeldHeap>) -> Self {
        let heap = &held.get().heap;
        let mut owner = vec![None; heap.frames.len()];
        for (thread, of) in (0..).zip(&heap.threads) {
            let frames = owner.get_mut(of.frames.start as usize..of.frames.end as usize);
            for (depth, frame) in (0..).zip(frames.into_iter().flatten()) {
                *frame = Some((thread, depth));
            }
        }
        Self { held: Arc::clone(held), owner }
    }
}

impl Relation for HeapFrames {
    fn len(&self) -> u64 {
        self.owner.len() as u64
    }

    fn cell<'c>(&'c self, at: At<'_>, column: usize, _: &'c mut String) -> Cell<'c> {
        let heap = &self.held.get().heap;
        let Some(frame) = heap.frames.get(at.index()) else { return Cell::Null };
        let owner = self.owner.get(at.index()).copied().flatten();
        match COLUMNS[column].0 {
            "frame" => at.row.into(),
            "thread" => owner.map(|(thread, _)| thread).into(),
            "depth" => owner.map(|(_, depth)| depth).into(),
            "function" => heap.names.text(frame.function).into(),
            "file" => heap.names.text(frame.file).into(),
            "line" => Some(frame.line).filter(|line| *line > 0).into(),
            _ => Cell::Null,
        }
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![
            Lookup { column: 0, rows: 1 },
            Lookup {
                column: 1,
                rows: self.len() / self.held.get().heap.threads.len().max(1) as u64 + 2,
            },
        ]
    }

    fn find(&self, column: usize, key: Key<'_>) -> Rows {
        let heap = &self.held.get().heap;
        let Some(number) = key.number() else { return Rows::none() };
        if column == 0 {
            return self.row(key);
        }
        let frames = heap.threads.get(number as usize).map(|thread| &thread.frames);
        frames.map_or_else(Rows::none, |frames| Rows::Range(frames.start.into()..frames.end.into()))
    }
}
