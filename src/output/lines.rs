//! The parts of lines of folded stacks: names of threads and frames, and counts of stacks that
//! became no line.

use super::written::{Written, label};
use crate::model::names::NameId;
use crate::model::profile::FrameKind;
use crate::model::stacks::{Track, WeightedStacks};
use crate::output::loss::LossKind;
use rustc_hash::FxHashMap;

/// The number of lines and the losses.
pub(super) struct Counts {
    written: Written,
    nothing: u64,
    negative: u64,
}

impl Counts {
    /// Returns the counts of one value before its stacks are written.
    pub(super) fn new(stacks: &WeightedStacks, value: usize) -> Self {
        let mut written = Written::new(stacks);
        written.sums = vec![written.sums.swap_remove(value)];
        Self { written, nothing: 0, negative: 0 }
    }

    /// Counts a line, or the reason why a sum is not written as a line.
    #[inline]
    pub(super) fn is_line(&mut self, sum: i64) -> bool {
        match sum {
            ..0 => self.negative += 1,
            0 => self.nothing += 1,
            _ => {
                self.written.stacks += 1;
                self.written.add_one(0, sum);
            }
        }
        sum > 0
    }

    pub(super) fn finish(self, labels: &Labels, stacks: &WeightedStacks) -> Written {
        let Counts { mut written, nothing, negative } = self;
        let lines = stacks.frames.iter().filter(|frame| frame.line > 0).count();
        written.lose(LossKind::LineNumbers, lines as u64);
        written.lose(LossKind::ReplacedSeparators, labels.replaced + replaced_tracks(stacks));
        written.lose(LossKind::ZeroStacks, nothing);
        written.lose(LossKind::NegativeStacks, negative);
        written
    }
}

/// The names of frames in lines. Frames with the same name are one here.
#[derive(Default)]
pub(super) struct Labels {
    /// Names with the `;` before them.
    pub(super) texts: Vec<String>,
    /// By frame: which of the texts.
    pub(super) of_frame: Vec<u32>,
    /// Functions whose names had to be changed.
    replaced: u64,
}

impl Labels {
    pub(super) fn of(stacks: &WeightedStacks) -> Self {
        let mut labels = Self::default();
        let Self { texts, of_frame, replaced } = &mut labels;
        let mut numbers = FxHashMap::<String, u32>::default();
        let mut functions = FxHashMap::<(NameId, NameId, FrameKind), u32>::default();
        of_frame.extend(stacks.frames.iter().map(|&frame| {
            *functions.entry((frame.function, frame.file, frame.kind)).or_insert_with(|| {
                let text = label(stacks, frame);
                let name = clean(&text);
                *replaced += u64::from(name != text);
                *numbers.entry(name).or_insert_with_key(|name| {
                    texts.push(format!(";{name}"));
                    texts.len() as u32 - 1
                })
            })
        }));
        labels
    }
}

/// `P12;T0:34`, or the name of a heap.
pub(super) fn track_frames(track: &Track) -> String {
    match (&track.pid, &track.thread) {
        (Some(pid), Some(thread)) => {
            let interpreter =
                track.interpreter.map(|interpreter| format!("{interpreter}:")).unwrap_or_default();
            format!("P{pid};T{interpreter}{}", clean(thread))
        }
        _ => clean(track.thread.as_ref().unwrap_or(&track.name)),
    }
}

fn replaced_tracks(stacks: &WeightedStacks) -> u64 {
    let names = stacks.tracks.iter().map(|track| track.thread.as_ref().unwrap_or(&track.name));
    names.filter(|name| clean(name) != **name).count() as u64
}

/// Replaces the characters that would end a frame or a line.
fn clean(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            ';' => ':',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}
