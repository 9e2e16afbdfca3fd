//! Spans of time, of which a thread may have several that are open.

use super::event::Event;
use crate::input::json::Text;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// A span of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<'a> {
    pub(super) pid: i64,
    pub(super) tid: i64,
    /// Start in nanoseconds.
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) name: Text<'a>,
}

/// The spans of all threads.
#[derive(Default)]
pub(super) struct Spans<'a> {
    all: Vec<Span<'a>>,
    /// The positions in `all` of the open spans, by process and thread.
    open: FxHashMap<(i64, i64), Vec<usize>>,
    /// Ends without a beginning.
    pub(super) strays: u64,
}

impl<'a> Spans<'a> {
    /// Adds an event, if it is a span, the beginning of one or its end.
    pub(super) fn add(&mut self, event: &Event<'a>) {
        let &Event { pid, tid, start, name, .. } = event;
        match event.phase.raw() {
            b"X" => {
                let end = start.saturating_add(event.length.max(0));
                self.all.push(Span { pid, tid, start, end, name });
            }
            b"B" => {
                self.open.entry((pid, tid)).or_default().push(self.all.len());
                // It lasts until its end is found.
                self.all.push(Span { pid, tid, start, end: i64::MAX, name });
            }
            b"E" => {
                let last = self.open.get_mut(&(pid, tid)).and_then(Vec::pop);
                match last.and_then(|last| self.all.get_mut(last)) {
                    Some(span) => span.end = start.max(span.start),
                    None => self.strays = self.strays.saturating_add(1),
                }
            }
            _ => {}
        }
    }

    /// Bytes of memory, with the copy that is sorted.
    pub(super) fn bytes(&self) -> u64 {
        let spans = self.all.len().saturating_mul(size_of::<Span<'_>>());
        spans.saturating_mul(3) as u64
    }

    /// The spans by thread, in the order of their beginning, outer ones first. Those without an end last as long as the
    /// last event of their thread.
    pub(super) fn sorted(&self) -> Vec<Span<'a>> {
        let mut last = FxHashMap::<(i64, i64), i64>::default();
        for span in &self.all {
            let known = last.entry((span.pid, span.tid)).or_insert(span.start);
            *known = (*known).max(if span.end == i64::MAX { span.start } else { span.end });
        }
        let mut sorted = self.all.clone();
        for span in sorted.iter_mut().filter(|span| span.end == i64::MAX) {
            span.end = last.get(&(span.pid, span.tid)).copied().unwrap_or(span.start);
        }
        // Equal spans keep the order of the file, in which outer ones begin first.
        sorted.sort_by_key(|span| (span.pid, span.tid, span.start, Reverse(span.end)));
        sorted
    }
}
