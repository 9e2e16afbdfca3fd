//! Replaces the frames of a profile, for example after functions have been looked up.

use super::{
    Code, CodePlace, FrameId, Profile, ProfileFrame, StackId, StackIndex, StackTree, TaskChange,
};
use crate::model::names::Names;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// New frames in groups. Each frame of a profile has one group, in the order of frame numbers.
#[derive(Debug, Default)]
pub(crate) struct FrameGroups {
    /// The frames of all groups; within a group, the outermost first.
    frames: Vec<ProfileFrame>,
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    frames: Range<usize>,
    /// Whether the frames come from an address whose functions were looked up.
    is_new: bool,
}

/// The maximum number of new stacks, for each old stack and in any case: a few bytes of debug
/// information can inline thousands of functions into each frame.
const MOST_STACKS: (usize, usize) = (16, 1 << 20);

impl FrameGroups {
    /// Appends a group of one frame, which replaces the next frame of the profile.
    pub(crate) fn keep(&mut self, frame: ProfileFrame) {
        self.push([frame], false);
    }

    /// Appends a group of the functions at the next frame's address, the outermost first.
    pub(crate) fn name(&mut self, frames: impl IntoIterator<Item = ProfileFrame>) {
        self.push(frames, true);
    }

    fn push(&mut self, frames: impl IntoIterator<Item = ProfileFrame>, is_new: bool) {
        let start = self.frames.len();
        self.frames.extend(frames);
        self.groups.push(Group { frames: start..self.frames.len(), is_new });
    }
}

impl Profile {
    /// Replaces every frame by its group. Without `keep_code`, the places of frames are dropped,
    /// and frames that are equal without them become one.
    pub(crate) fn replace_frames(&mut self, new: &FrameGroups, keep_code: bool) {
        let code = self.code.take();
        let ids: Vec<FrameId> = match code.filter(|_| keep_code) {
            Some(code) => {
                self.frames.clone_from(&new.frames);
                self.code = Some(code_of(&code, new));
                (0..new.frames.len() as u32).map(FrameId).collect()
            }
            None => {
                let mut known = FxHashMap::default();
                self.frames.clear();
                let frames = &mut self.frames;
                let intern = |frame: &ProfileFrame| {
                    *known.entry(*frame).or_insert_with(|| {
                        frames.push(*frame);
                        FrameId(frames.len() as u32 - 1)
                    })
                };
                new.frames.iter().map(intern).collect()
            }
        };
        let moved = self.move_stacks(new, &ids);
        self.move_sums(&moved);
    }

    /// Rebuilds the tree of stacks, and returns the new stack of each old one.
    fn move_stacks(&mut self, new: &FrameGroups, ids: &[FrameId]) -> Vec<StackId> {
        let old = std::mem::take(&mut self.stacks);
        let most = old.len().saturating_mul(MOST_STACKS.0).saturating_add(MOST_STACKS.1);
        let mut index = StackIndex::default();
        let mut depths = vec![0u32];
        let mut moved = vec![StackId::EMPTY; old.len()];
        for stack in old.ids() {
            let mut at = moved[old.parent(stack).index()];
            let group = old.leaf(stack).and_then(|frame| new.groups.get(frame.index()));
            let mut frames = group.map_or(&[][..], |group| &ids[group.frames.clone()]);
            if depths.len() > most {
                frames = &frames[..frames.len().min(1)];
            }
            for &frame in frames {
                let depth = depths[at.index()] + 1;
                if depth > StackTree::DEEPEST {
                    self.notes.deep += 1;
                    break;
                }
                at = self.stacks.child(&mut index, at, frame).0;
                if at.index() == depths.len() {
                    depths.push(depth);
                }
            }
            moved[stack.index()] = at;
        }
        moved
    }

    fn move_sums(&mut self, moved: &[StackId]) {
        self.aggregate = self.aggregate.moved(moved);
        if let Some(samples) = &mut self.samples {
            samples.move_stacks(|stack| moved[stack.index()]);
        }
        for event in &mut self.events {
            event.stack = moved[event.stack.index()];
        }
        for task in &mut self.tasks {
            if let TaskChange::Stack { stack, .. } = &mut task.change {
                *stack = moved[stack.index()];
            }
        }
    }
}

/// The places of the new frames.
fn code_of(old: &Code, new: &FrameGroups) -> Code {
    let first = |frame: FrameId| FrameId(new.groups[frame.index()].frames.start as u32);
    let mut code = Code { mappings: old.mappings.clone(), places: vec![None; new.frames.len()] };
    for (number, group) in new.groups.iter().enumerate() {
        let Some(place) = old.place(FrameId(number as u32)) else { continue };
        let outermost = FrameId(group.frames.start as u32);
        for row in group.frames.clone() {
            code.places[row] = Some(if group.is_new {
                CodePlace {
                    outermost,
                    lines: group.frames.len() as u32,
                    system_name: Names::EMPTY,
                    line: new.frames[row].line.into(),
                    column: 0,
                    start_line: 0,
                    ..place
                }
            } else {
                CodePlace { outermost: first(place.outermost), ..place }
            });
        }
        let mapping = place.mapping.filter(|_| group.is_new);
        if let Some(mapping) = mapping.and_then(|row| code.mappings.get_mut(row as usize)) {
            mapping.is_symbolized = [true; 4];
        }
    }
    code
}
