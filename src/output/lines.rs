//! The parts of lines of folded stacks: names of threads and frames, and counts of stacks that
//! became no line.

use super::written::{Written, label};
use crate::model::names::NameId;
use crate::model::profile::{FrameId, FrameKind};
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
    /// Of one value.
    pub(super) fn new(stacks: &WeightedStacks, value: usize) -> Self {
        let mut written = Written::of_values(stacks);
        written.sums = vec![written.sums.swap_remove(value)];
        Self { written, nothing: 0, negative: 0 }
    }

    /// The losses before the stacks of a part were written.
    pub(super) fn begin_part(&mut self, stacks: &WeightedStacks) {
        self.written.lose_depth(stacks);
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

    /// The written data; the stacks are those of the last part.
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
    numbers: FxHashMap<String, u32>,
    functions: FxHashMap<(NameId, NameId, FrameKind), u32>,
    /// By frame: which of the texts.
    pub(super) of_frame: Vec<u32>,
    /// Functions whose names had to be changed.
    replaced: u64,
}

impl Labels {
    /// Names the frames that are new in a part.
    pub(super) fn extend(&mut self, stacks: &WeightedStacks) {
        let Self { texts, numbers, functions, of_frame, replaced } = self;
        let known = of_frame.len();
        of_frame.extend(stacks.frames[known..].iter().map(|&frame| {
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
    }

    #[inline]
    pub(super) fn of_frame(&self, frame: FrameId) -> &str {
        &self.texts[self.of_frame[frame.index()] as usize]
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
