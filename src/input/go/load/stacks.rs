//! Selects the words of call frames that count as pointers.
//!
//! The dump lists the pointers of a frame's plain variables. Variables whose address is taken
//! ("stack objects", since Go 1.12) are not listed; the collector finds them by pointers into the
//! frame.
//!
//! * With the executable, the same is done here: the words of the stack objects that live pointers
//!   lead to are live too ([`exact`]).
//! * Without it, a frame into which a live word points is scanned as a whole, and its words are
//!   live too ([`Marking`]).

use super::exe::{StackObject, Symbols};
use super::pointers::{Faults, Reader};
use super::words::Words;
use crate::input::go::goroutine::StackFrame;
use crate::input::load::RootScan;

/// The words of a frame that count as pointers.
pub(super) struct Live {
    /// Whether the words that the dump lists are live.
    pub(super) is_listed: bool,
    /// The offsets of other live words.
    pub(super) others: Vec<u64>,
}

/// Selects the words that count as pointers in each frame of a goroutine. `pointers` are the
/// runtime's pointers into its stack.
pub(super) fn live(
    reader: &Reader<'_, '_>,
    frames: &[StackFrame<'_>],
    pointers: &[u64],
    scan: RootScan,
    symbols: Option<&mut Symbols<'_>>,
) -> Vec<Live> {
    let of_frames = |is_whole: &dyn Fn(usize) -> bool| {
        let live = |(number, frame)| Live {
            is_listed: true,
            others: if is_whole(number) { all(reader.words, frame) } else { Vec::new() },
        };
        frames.iter().enumerate().map(live).collect()
    };
    match (scan, symbols) {
        (RootScan::Conservative, _) => of_frames(&|_| true),
        (_, Some(symbols)) if symbols.has_frames() => {
            exact(reader.words, frames, pointers, symbols)
        }
        (RootScan::Precise, _) => of_frames(&|_| false),
        (RootScan::Default, _) => {
            let marked = Marking::new(reader, frames).run();
            of_frames(&|number| marked.get(number).is_some_and(|marked| *marked))
        }
    }
}

/// Offsets of all aligned words of a frame.
fn all(words: Words, frame: &StackFrame<'_>) -> Vec<u64> {
    words_of(words, frame).map(|(offset, _)| offset).collect()
}

/// All aligned words of a frame that are not zero, with their offsets.
fn words_of<'f>(
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

/// Selects the words that the collector treats as pointers. In frames of functions that the
/// executable does not have, all words count.
fn exact(
    words: Words,
    frames: &[StackFrame<'_>],
    pointers: &[u64],
    symbols: &mut Symbols<'_>,
) -> Vec<Live> {
    // The dump lists the pointers at the current instruction of a function. A function that panics
    // continues elsewhere or never.
    let is_listed = frames.iter().all(|frame| frame.contpc.is_none_or(|contpc| contpc == frame.pc));
    let mut stack = Stack::new(words, frames, symbols);
    let mut is_interrupted = false;
    for frame in frames {
        // The frame of a function that the runtime injected contains the registers of the
        // interrupted function. All words of both frames may be pointers.
        let is_injected = matches!(frame.name, b"runtime.asyncPreempt" | b"runtime.debugCallV2");
        let known = if is_listed && symbols.is_known(frame) {
            let listed = frame.fields.iter().map(|field| frame.sp.wrapping_add(field.offset));
            Some(listed.collect())
        } else {
            symbols.live(frame)
        };
        let is_whole = is_injected || is_interrupted;
        let whole = || all(words, frame).into_iter().map(|at| frame.sp.wrapping_add(at)).collect();
        let live: Vec<u64> = known.filter(|_| !is_whole).unwrap_or_else(whole);
        is_interrupted = is_injected;
        live.into_iter().for_each(|address| stack.add(address));
    }
    pointers.iter().for_each(|pointer| stack.reach(*pointer));
    stack.follow(symbols);
    let live = |others: Vec<u64>| Live { is_listed, others };
    stack.live.into_iter().map(live).collect()
}

/// The stack of a goroutine with the live words that have been found.
struct Stack<'s, 'a> {
    words: Words,
    frames: &'s [StackFrame<'a>],
    sorted: Vec<usize>,
    /// Stack objects by address, and whether a pointer to them has been found.
    objects: Vec<(StackObject, bool)>,
    /// Offsets of live words by frame.
    live: Vec<Vec<u64>>,
    /// Stack objects whose pointers have not been followed yet.
    open: Vec<StackObject>,
    /// Words that may still be followed. In a hostile file, all stack objects could overlap.
    room: u64,
}

impl<'s, 'a> Stack<'s, 'a> {
    fn new(words: Words, frames: &'s [StackFrame<'a>], symbols: &Symbols<'_>) -> Self {
        let objects = frames.iter().flat_map(|frame| symbols.stack_objects(frame));
        let mut objects: Vec<_> = objects.map(|object| (object, false)).collect();
        objects.sort_by_key(|(object, _)| object.address);
        let room = frames.iter().map(|frame| frame.contents.len() as u64).sum();
        let live = vec![Vec::new(); frames.len()];
        Self { words, frames, sorted: by_address(frames), objects, live, open: Vec::new(), room }
    }

    /// Adds a live word, and the stack object that it points to.
    fn add(&mut self, address: u64) {
        let Some((number, frame)) = frame_at(self.frames, &self.sorted, address) else { return };
        let offset = address.wrapping_sub(frame.sp);
        if let Some(live) = self.live.get_mut(number) {
            live.push(offset);
        }
        if let Some(pointer) = self.words.at(frame.contents, offset) {
            self.reach(pointer);
        }
    }

    fn reach(&mut self, address: u64) {
        let after = self.objects.partition_point(|(object, _)| object.address <= address);
        let object = after.checked_sub(1).and_then(|before| self.objects.get_mut(before));
        let Some((object, is_found)) = object else { return };
        if !*is_found && address.wrapping_sub(object.address) < object.size {
            *is_found = true;
            self.open.push(*object);
        }
    }

    fn follow(&mut self, symbols: &Symbols<'_>) {
        while let Some(object) = self.open.pop() {
            let pointers = symbols.pointers(&object, self.room);
            self.room = self.room.saturating_sub(pointers.len() as u64);
            pointers.into_iter().for_each(|address| self.add(address));
        }
    }
}

/// The numbers of frames, sorted by address.
fn by_address(frames: &[StackFrame<'_>]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..frames.len()).collect();
    sorted.sort_by_key(|index| frames.get(*index).map(|frame| frame.sp));
    sorted
}

/// The frame that an address lies in, and its number.
fn frame_at<'f, 'a>(
    frames: &'f [StackFrame<'a>],
    sorted: &[usize],
    address: u64,
) -> Option<(usize, &'f StackFrame<'a>)> {
    let starts_before = |index: &usize| frames.get(*index).is_some_and(|frame| frame.sp <= address);
    let number = *sorted.get(sorted.partition_point(starts_before).checked_sub(1)?)?;
    let frame = frames.get(number)?;
    let is_inside = address.wrapping_sub(frame.sp) < frame.contents.len() as u64;
    is_inside.then_some((number, frame))
}

struct Marking<'m, 's, 'a> {
    reader: &'m Reader<'s, 'a>,
    frames: &'m [StackFrame<'a>],
    sorted: Vec<usize>,
    marked: Vec<bool>,
    /// Frames that are marked, but not yet scanned.
    open: Vec<usize>,
}

impl<'m, 's, 'a> Marking<'m, 's, 'a> {
    fn new(reader: &'m Reader<'s, 'a>, frames: &'m [StackFrame<'a>]) -> Self {
        let marked = vec![false; frames.len()];
        Self { reader, frames, sorted: by_address(frames), marked, open: Vec::new() }
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
        let Some((index, _)) = frame_at(self.frames, &self.sorted, address) else { return };
        if let Some(marked) = self.marked.get_mut(index).filter(|marked| !**marked) {
            *marked = true;
            self.open.push(index);
        }
    }
}
