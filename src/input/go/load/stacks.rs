//! Selects the call frames to scan word by word.
//!
//! The dump lists the pointers of a frame's plain variables. Variables whose address is taken
//! ("stack objects", since Go 1.12) are not listed; the collector finds them by pointers into the
//! frame. So does this: a frame into which a live word points is scanned as a whole, and its words
//! are live too.

use super::pointers::{Faults, Reader};
use super::words::Words;
use crate::input::go::goroutine::StackFrame;
use crate::input::load::RootScan;

/// For each frame of one goroutine, whether all of its words count.
pub(super) fn conservative(
    reader: &Reader<'_, '_>,
    frames: &[StackFrame<'_>],
    scan: RootScan,
) -> Vec<bool> {
    match scan {
        RootScan::Precise => vec![false; frames.len()],
        RootScan::Conservative => vec![true; frames.len()],
        RootScan::Default => Marking::new(reader, frames).run(),
    }
}

/// All aligned words of a frame that are not zero, with their offsets.
pub(super) fn words_of<'f>(
    words: Words,
    frame: &'f StackFrame<'_>,
) -> impl Iterator<Item = (u64, u64)> + use<'f> {
    let contents = frame.contents;
    let count = (contents.len() as u64).checked_div(words.size).unwrap_or(0);
    (0..count)
        .map(move |word| word.wrapping_mul(words.size))
        .filter_map(move |offset| Some((offset, words.at(contents, offset)?)))
        .filter(|(_, word)| *word != 0)
}

struct Marking<'m, 's, 'a> {
    reader: &'m Reader<'s, 'a>,
    frames: &'m [StackFrame<'a>],
    /// Frames by address.
    sorted: Vec<usize>,
    marked: Vec<bool>,
    /// Marked, but not yet scanned.
    open: Vec<usize>,
}

impl<'m, 's, 'a> Marking<'m, 's, 'a> {
    fn new(reader: &'m Reader<'s, 'a>, frames: &'m [StackFrame<'a>]) -> Self {
        let mut sorted: Vec<usize> = (0..frames.len()).collect();
        sorted.sort_by_key(|index| frames.get(*index).map(|frame| frame.sp));
        Self { reader, frames, sorted, marked: vec![false; frames.len()], open: Vec::new() }
    }

    fn run(mut self) -> Vec<bool> {
        let words = self.reader.words;
        for frame in self.frames {
            let mut faults = Faults::default();
            for field in frame.fields.iter() {
                let pointer = self.reader.pointer(frame.contents, field, &mut faults);
                if let Some(pointer) = pointer.filter(|pointer| pointer.address != 0) {
                    self.mark(pointer.address);
                }
            }
        }
        while let Some(frame) = self.open.pop().and_then(|index| self.frames.get(index)) {
            // A frame ends with the return address and the saved frame pointer, which points into
            // the caller's frame and would mark all frames up to the oldest.
            let end = (frame.contents.len() as u64).saturating_sub(words.size.saturating_mul(2));
            for (_, word) in words_of(words, frame).take_while(|(offset, _)| *offset < end) {
                self.mark(word);
            }
        }
        self.marked
    }

    fn mark(&mut self, address: u64) {
        let after = self.sorted.partition_point(|index| {
            self.frames.get(*index).is_some_and(|frame| frame.sp <= address)
        });
        let Some(&index) = after.checked_sub(1).and_then(|before| self.sorted.get(before)) else {
            return;
        };
        let inside = self
            .frames
            .get(index)
            .is_some_and(|frame| address.wrapping_sub(frame.sp) < frame.contents.len() as u64);
        if let Some(marked) = self.marked.get_mut(index).filter(|marked| inside && !**marked) {
            *marked = true;
            self.open.push(index);
        }
    }
}
