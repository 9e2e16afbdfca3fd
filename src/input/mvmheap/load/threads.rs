//! Threads and their calls, from the rows that represent the roots of a thread.
//!
//! MoarVM writes the rows of each thread in the order of its list of threads: C stack roots, thread
//! roots, inter-generational roots, call stack roots. So the n-th row of each kind belongs to the
//! n-th thread. The references of a row of call stack roots are the frames, innermost first.

use crate::input::mvmheap::dump::Dump;
use crate::input::mvmheap::tally::{CALL_STACK_ROOTS, FRAME};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{ObjectId, References, StackFrame};
use rustc_hash::FxHashMap;

const C_STACK_ROOTS: u64 = 7;
const THREAD_ROOTS: u64 = 8;

/// The rows that represent the roots of threads.
pub(super) struct Threads {
    /// The thread of each row.
    thread: FxHashMap<u32, u32>,
    /// The calls of each thread, as rows of the table of frames. `None` if the target of a
    /// reference is not a frame.
    calls: Vec<Vec<Option<u32>>>,
}

impl Threads {
    /// Collects the calls, while the table row of each frame is still known.
    pub(super) fn of(kinds: &[u8], tofi: &[u32], references: &References) -> Self {
        let mut threads = Self { thread: FxHashMap::default(), calls: Vec::new() };
        let mut seen = [0u32; 3];
        for (row, &kind) in (0u32..).zip(kinds) {
            let place = match u64::from(kind) {
                C_STACK_ROOTS => 0,
                THREAD_ROOTS => 1,
                CALL_STACK_ROOTS => 2,
                _ => continue,
            };
            let Some(count) = seen.get_mut(place) else { continue };
            threads.thread.insert(row, *count);
            *count = count.saturating_add(1);
            if place == 2 {
                let frame = |target: ObjectId| {
                    let is_frame =
                        kinds.get(target.index()).is_some_and(|&kind| u64::from(kind) == FRAME);
                    tofi.get(target.index()).copied().filter(|_| is_frame)
                };
                threads.calls.push(
                    references
                        .stored(ObjectId(row))
                        .map(|reference| frame(reference.target))
                        .collect(),
                );
            }
        }
        threads.calls.resize_with(seen.into_iter().max().unwrap_or(0) as usize, Vec::new);
        threads
    }

    /// Adds the threads to the heap. Roots refer to threads by their position there.
    pub(super) fn add(&self, dump: &Dump<'_>, builder: &mut HeapBuilder<'_>) {
        for (number, calls) in (1u64..).zip(&self.calls) {
            let frames: Vec<StackFrame> =
                calls.iter().map(|frame| stack_frame(dump, *frame, builder)).collect();
            builder.add_thread(&number.to_string(), number, None, &frames);
        }
    }

    /// The thread that a row belongs to, and the first of its frames if the row is that of its
    /// calls.
    pub(super) fn of_row(
        &self,
        row: u32,
        kind: u8,
        builder: &mut HeapBuilder<'_>,
    ) -> Option<(u32, Option<u32>)> {
        let thread = *self.thread.get(&row)?;
        let first = builder.heap().threads.get(thread as usize)?.frames.start;
        Some((thread, (u64::from(kind) == CALL_STACK_ROOTS).then_some(first)))
    }
}

fn stack_frame(dump: &Dump<'_>, frame: Option<u32>, builder: &mut HeapBuilder<'_>) -> StackFrame {
    let row = frame.and_then(|frame| usize::try_from(frame).ok()).unwrap_or(usize::MAX);
    let [name, _, file] = dump.tables.frames.get(row).copied().unwrap_or([u64::MAX; 3]);
    let text = |string| dump.tables.string(string).unwrap_or_default();
    let name = Some(text(name)).filter(|name| !name.is_empty());
    StackFrame {
        function: builder.names().intern(name.as_deref().unwrap_or("<anon>")),
        file: builder.names().intern(&text(file)),
        line: dump.tables.lines.get(row).and_then(|line| u32::try_from(*line).ok()).unwrap_or(0),
    }
}
