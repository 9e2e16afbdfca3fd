//! Builds [`WeightedStacks`].

use super::{Entries, MAX_DEPTH, Moment, Track, ValueType, WeightedStacks};
use crate::model::names::NameId;
use crate::model::profile::{FrameId, FrameKind, ProfileFrame, StackId, StackIndex, add_all};
use rustc_hash::FxHashMap;

/// Builds [`WeightedStacks`] from stacks of any depth that are added one by one.
///
/// ```
/// use dumptool::model::profile::{StackId, Unit};
/// use dumptool::model::stacks::{ValueType, WeightedStacksBuilder};
///
/// let mut builder = WeightedStacksBuilder::new("app.heapdump", vec![ValueType { name: "inuse_space".into(), unit: Unit::Bytes }]);
/// let heap = builder.track("heap");
/// let cache = builder.function("main.Cache", "main");
/// let stack = builder.push(StackId::EMPTY, cache);
/// builder.add(heap, stack, &[16]);
/// assert_eq!(builder.finish().totals(), [16]);
/// ```
#[derive(Debug)]
pub struct WeightedStacksBuilder {
    stacks: WeightedStacks,
    frames: FxHashMap<ProfileFrame, FrameId>,
    children: StackIndex,
}

impl WeightedStacksBuilder {
    /// Creates stacks without entries.
    pub fn new(title: &str, values: Vec<ValueType>) -> Self {
        Self::with(WeightedStacks { title: title.to_owned(), values, ..WeightedStacks::default() })
    }

    /// Continues with existing frames and stacks.
    pub(super) fn with(stacks: WeightedStacks) -> Self {
        Self { stacks, frames: FxHashMap::default(), children: StackIndex::default() }
    }

    /// The number of a name.
    pub fn name(&mut self, text: &str) -> NameId {
        self.stacks.names.intern(text)
    }

    /// Returns the number of a frame, and adds the frame if it is new.
    pub fn frame(&mut self, frame: ProfileFrame) -> FrameId {
        let frames = &mut self.stacks.frames;
        *self.frames.entry(frame).or_insert_with(|| {
            frames.push(frame);
            FrameId(frames.len() as u32 - 1)
        })
    }

    /// A frame for a function and its file, or for a type and its namespace.
    pub fn function(&mut self, function: &str, file: &str) -> FrameId {
        let (function, file) = (self.name(function), self.name(file));
        self.frame(ProfileFrame { function, file, line: 0, kind: FrameKind::Code })
    }

    /// Returns the stack of a frame on top of another stack. Equal stacks are stored once.
    pub fn push(&mut self, stack: StackId, frame: FrameId) -> StackId {
        self.stacks.stacks.child(&mut self.children, stack, frame).0
    }

    /// Adds a track that is not a thread.
    pub fn track(&mut self, name: &str) -> usize {
        self.thread_track(Track {
            name: name.to_owned(),
            pid: None,
            thread: None,
            interpreter: None,
            labels: Vec::new(),
        })
    }

    /// Adds the track of a thread.
    pub fn thread_track(&mut self, track: Track) -> usize {
        self.stacks.tracks.push(track);
        self.stacks.tracks.len() - 1
    }

    /// Adds an entry with a number for each value type. Each pair of a track and a stack may be
    /// added at most once, unless entries are in the order of time.
    #[inline]
    pub fn add(&mut self, track: usize, stack: StackId, values: &[i64]) {
        debug_assert_eq!(values.len(), self.stacks.values.len());
        let entries = &mut self.stacks.entries;
        entries.track.push(track as u32);
        entries.stack.push(stack);
        entries.values.extend_from_slice(values);
    }

    /// Like [`WeightedStacksBuilder::add`], in the order of time.
    pub fn add_at(&mut self, track: usize, stack: StackId, values: &[i64], moment: Moment) {
        self.add(track, stack, values);
        self.stacks.in_order = true;
        self.stacks.entries.moments.push(moment);
    }

    /// Returns the finished stacks, none of which has more than [`MAX_DEPTH`] frames.
    pub fn finish(mut self) -> WeightedStacks {
        self.bound_depth();
        self.stacks
    }

    /// Moves entries of deeper stacks to a stack of their first frames plus one frame, so that sums
    /// do not change.
    fn bound_depth(&mut self) {
        let depths = self.stacks.stacks.depths();
        if depths.iter().all(|depth| *depth as usize <= MAX_DEPTH) {
            return;
        }
        // The last frame is replaced by a frame with the number of cut frames.
        let kept = MAX_DEPTH as u32 - 1;
        let old = std::mem::take(&mut self.stacks.stacks);
        let mut deepest = vec![0u32; old.len()];
        let mut base: Vec<StackId> = (0..old.len() as u32).map(StackId).collect();
        for stack in old.ids() {
            if depths[stack.index()] > kept {
                base[stack.index()] = base[old.parent(stack).index()];
            }
            let base = base[stack.index()];
            deepest[base.index()] = deepest[base.index()].max(depths[stack.index()]);
        }
        // Stacks of exactly the maximum depth are cut only if deeper ones share their place.
        let cut: Vec<bool> = (0..old.len())
            .map(|stack| depths[stack] > kept && deepest[base[stack].index()] as usize > MAX_DEPTH)
            .collect();
        let mut replaced = vec![StackId::EMPTY; old.len()];
        let mut cut_frames = FxHashMap::<StackId, StackId>::default();
        for stack in old.ids() {
            let parent = replaced[old.parent(stack).index()];
            let Some(frame) = old.leaf(stack) else { continue };
            replaced[stack.index()] = if cut[stack.index()] {
                let base = base[stack.index()];
                match cut_frames.get(&base) {
                    Some(&known) => known,
                    None => {
                        let name =
                            format!("(up to {} deeper frames, cut)", deepest[base.index()] - kept);
                        let frame = self.function(&name, "");
                        let stack = self.stacks.stacks.add(replaced[base.index()], frame);
                        cut_frames.insert(base, stack);
                        stack
                    }
                }
            } else {
                self.stacks.stacks.add(parent, frame)
            };
        }
        for stack in &mut self.stacks.entries.stack {
            self.stacks.cut_entries += u64::from(cut[stack.index()]);
            *stack = replaced[stack.index()];
        }
        self.merge_entries();
    }

    /// Merges entries with the same track and stack, unless entries are in the order of time.
    pub(super) fn merge_entries(&mut self) {
        if self.stacks.in_order {
            return;
        }
        let width = self.stacks.values.len();
        let entries = std::mem::take(&mut self.stacks.entries);
        let merged = &mut self.stacks.entries;
        let mut rows = FxHashMap::<(u32, StackId), usize>::default();
        for (row, (&track, &stack)) in entries.track.iter().zip(&entries.stack).enumerate() {
            let values = &entries.values[row * width..(row + 1) * width];
            match rows.get(&(track, stack)) {
                Some(&row) => add_all(&mut merged.values[row * width..], values),
                None => {
                    rows.insert((track, stack), merged.stack.len());
                    let Entries { track: tracks, stack: stacks, values: all, .. } = &mut *merged;
                    tracks.push(track);
                    stacks.push(stack);
                    all.extend_from_slice(values);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::Unit;

    fn chain(depth: usize) -> WeightedStacks {
        let mut builder = WeightedStacksBuilder::new(
            "chain",
            vec![ValueType { name: "n".into(), unit: Unit::Count }],
        );
        let track = builder.track("heap");
        let mut stack = StackId::EMPTY;
        for level in 0..depth {
            let frame = builder.function(&format!("f{level}"), "");
            stack = builder.push(stack, frame);
            builder.add(track, stack, &[1]);
        }
        builder.finish()
    }

    #[test]
    fn stacks_within_the_bound_stay() {
        let stacks = chain(MAX_DEPTH);
        assert_eq!((stacks.len(), stacks.cut_entries, stacks.totals()), (MAX_DEPTH, 0, vec![500]));
        assert!(stacks.iter().all(|entry| stacks.stacks.frames(entry.stack).count() <= MAX_DEPTH));
    }

    #[test]
    fn deeper_stacks_are_cut_and_sums_stay() {
        let stacks = chain(700_000);
        assert_eq!(
            (stacks.len(), stacks.cut_entries, stacks.totals()),
            (MAX_DEPTH, 700_000 - 499, vec![700_000])
        );
        let last = stacks.entry(MAX_DEPTH - 1);
        assert_eq!(
            (last.values, stacks.stacks.frames(last.stack).count()),
            (&[700_000 - 499][..], MAX_DEPTH)
        );
        let leaf = stacks.stacks.leaf(last.stack).unwrap();
        assert_eq!(stacks.function_name(leaf), "(up to 699501 deeper frames, cut)");
    }
}
