//! The frames of goroutines, and the references from them.

use super::Collector;
use crate::input::go::goroutine::StackFrame;
use crate::input::go::load::exe::Call;
use crate::input::go::load::pointers::Faults;
use crate::input::go::load::stacks::{Live, live};
use crate::model::heap::{self, Label, Root, RootKind};
use crate::model::names::Names;
use std::rc::Rc;

/// The most inlined calls that are shown for all frames together. Further frames are shown as in
/// the dump.
pub(super) const MAX_INLINED: u32 = 1 << 22;

impl<'c, 'a> Collector<'c, '_, 'a> {
    /// Processes the frames, defers and panics of the last goroutine, after all of them were read.
    pub(super) fn end_stack(&mut self) {
        let stack = std::mem::take(&mut self.stack);
        let (defers, panics) = (std::mem::take(&mut self.defers), std::mem::take(&mut self.panics));
        if !stack.is_empty() {
            let closures = defers.iter().map(|record| record.funcval);
            let panics = panics.iter().map(|record| record.addr);
            let pointers = closures.chain(panics).chain([self.context]);
            self.frames(&stack, &pointers.collect::<Vec<_>>());
        }
        defers.iter().for_each(|record| self.defer(record));
        panics.iter().for_each(|record| self.panic(record));
    }

    fn frames(&mut self, stack: &[StackFrame<'a>], pointers: &[u64]) {
        let live = live(self.reader, stack, pointers, self.scan, self.symbols.as_mut());
        let rows = self.rows(stack);
        for ((frame, live), row) in stack.iter().zip(live).zip(&rows) {
            self.frame(frame, *row, &live);
        }
        let end = self.found.frames.len() as u32;
        match self.found.threads.last_mut().filter(|_| self.goroutine.is_some()) {
            Some(thread) => {
                thread.frames.end = end;
                self.found.rows.extend(rows);
            }
            None => self.found.faults.lost_frames += stack.len() as u64,
        }
    }

    /// Adds the calls of a stack, and returns for each frame the row of the call that its memory
    /// belongs to.
    ///
    /// With the executable, these are the calls that a traceback of the runtime shows: inlined ones
    /// too, but not the wrappers that the compiler makes, whose memory counts as that of the
    /// function they call.
    fn rows(&mut self, stack: &[StackFrame<'a>]) -> Vec<u32> {
        let first = self.found.frames.len() as u32;
        let mut rows = Vec::with_capacity(stack.len());
        let mut callee: &[u8] = b"";
        for frame in stack {
            let calls = self.calls(frame, !is_injected(callee));
            for call in calls.iter() {
                let is_shown = !call.is_wrapper || is_panic(callee);
                callee = call.function;
                if is_shown {
                    self.push(call);
                }
            }
            if calls.is_empty() {
                callee = frame.name;
                self.push(&Call::of(frame.name));
            }
            rows.push((self.found.frames.len() as u32).saturating_sub(1).max(first));
        }
        if self.found.frames.len() as u32 == first {
            self.push(&Call::of(callee));
        }
        rows
    }

    /// The calls in a frame, as far as an executable describes them.
    fn calls(&mut self, frame: &StackFrame<'a>, is_return: bool) -> Rc<[Call<'c>]> {
        let symbols = self.symbols.as_mut();
        let calls = symbols.map(|symbols| symbols.calls(frame.pc, is_return)).unwrap_or_default();
        let inlined = calls.len().saturating_sub(1) as u32;
        match self.inlined_room.checked_sub(inlined) {
            Some(room) => {
                self.inlined_room = room;
                calls
            }
            None => Rc::default(),
        }
    }

    fn push(&mut self, call: &Call<'_>) {
        let frame = self.named(call);
        self.found.frames.push(frame);
    }

    pub(super) fn named(&mut self, call: &Call<'_>) -> heap::StackFrame {
        heap::StackFrame {
            function: self.names.intern_bytes(call.function),
            file: self.names.intern_bytes(call.file),
            line: call.line,
        }
    }

    fn frame(&mut self, frame: &StackFrame<'a>, row: u32, live: &Live) {
        let mut pointers = Vec::new();
        let mut faults = Faults::default();
        for field in frame.fields.iter().filter(|_| live.is_listed) {
            // The arguments of a call are in the frame of the caller, which also lists them.
            pointers.extend(self.reader.follow(frame.contents, field, &mut faults));
        }
        pointers.extend(live.others.iter().filter_map(|offset| {
            let word = self.reader.words.at(frame.contents, *offset)?;
            Some((*offset, self.reader.object_at(word)?.0))
        }));
        if pointers.is_empty() {
            return;
        }
        // Variables and outgoing arguments may overlap.
        pointers.sort_unstable();
        pointers.dedup();
        let function = self.found.frames.get(row as usize).map_or(Names::EMPTY, |it| it.function);
        let function = self.names.text(function);
        let group = match &self.goroutine {
            Some(goroutine) => format!("{goroutine} {function}"),
            None => function.to_owned(),
        };
        let group = self.names.intern(&group);
        let thread = self.thread();
        for (offset, object) in pointers {
            let label = Label::offset(offset);
            self.found.words.push((self.found.roots.len() as u32, frame.sp.wrapping_add(offset)));
            let root = Root::new(object, RootKind::Frame, group);
            self.found.roots.push(Root { label, frame: Some(row), thread, ..root });
        }
    }
}

/// Whether the runtime injected the call of a function, so that its caller stands at the
/// instruction that was interrupted and not after a call.
fn is_injected(function: &[u8]) -> bool {
    matches!(function, b"runtime.sigpanic" | b"runtime.asyncPreempt" | b"runtime.debugCallV2")
}

/// Whether a function reports a panic of its caller, which is shown even if it is a wrapper.
fn is_panic(function: &[u8]) -> bool {
    matches!(function, b"runtime.gopanic" | b"runtime.sigpanic" | b"runtime.panicwrap")
}
