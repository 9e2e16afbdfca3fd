//! Labels as the outermost frames of stacks.

use super::{
    FrameId, FrameKind, Profile, ProfileFrame, ProfileThread, StackId, StackIndex, StackTree,
};
use crate::model::names::Names;
use rustc_hash::FxHashMap;

impl Profile {
    /// The key of a label that all samples of known threads have: the thread's name or id.
    pub(crate) const THREAD_KEY: &'static str = "thread";

    /// The value of a label of a thread's samples, or `<no KEY>`. Several values are joined.
    pub fn label_value(&self, thread: &ProfileThread, key: &str) -> String {
        let values = self.label_values(thread, key);
        if values.is_empty() { format!("<no {key}>") } else { values.join(", ") }
    }

    /// The values of a label of a thread's samples.
    pub(crate) fn label_values(&self, thread: &ProfileThread, key: &str) -> Vec<String> {
        let labels = self.labels_of(thread).iter();
        let values: Vec<String> = labels
            .filter(|label| self.names.text(label.key) == key)
            .map(|label| label.value.show(&self.names))
            .collect();
        let is_thread = values.is_empty() && key == Self::THREAD_KEY && !thread.is_unknown();
        if is_thread { vec![thread.id(&self.names).to_owned()] } else { values }
    }

    /// Puts a frame with the value of a label around every stack, like `go tool pprof -tagroot`.
    /// Stacks of a thread whose name equals the value, and is shown in the output (`is_shown`), do
    /// not change. Single samples are dropped, because formats with labels have only sums.
    pub fn root_stacks_by_label(&mut self, key: &str, is_shown: impl Fn(&ProfileThread) -> bool) {
        let (mut stacks, mut index) = (StackTree::default(), StackIndex::default());
        let mut frames: FxHashMap<ProfileFrame, FrameId> =
            self.frames.iter().enumerate().map(|(row, it)| (*it, FrameId(row as u32))).collect();
        let mut roots = Vec::with_capacity(self.threads.len());
        for thread in 0..self.threads.len() {
            let known = &self.threads[thread];
            let value = self.label_value(known, key);
            if is_shown(known) && !known.is_unknown() && known.id(&self.names) == value {
                roots.push(StackId::EMPTY);
                continue;
            }
            let (function, kind) = (self.names.intern(&value), FrameKind::Native);
            let frame = ProfileFrame { function, file: Names::EMPTY, line: 0, kind };
            let all = &mut self.frames;
            let id = *frames.entry(frame).or_insert_with(|| {
                all.push(frame);
                FrameId(all.len() as u32 - 1)
            });
            roots.push(stacks.child(&mut index, StackId::EMPTY, id).0);
        }
        let mut moved = FxHashMap::<(StackId, StackId), StackId>::default();
        let (old, mut way) = (&self.stacks, Vec::new());
        self.aggregate.move_stacks(|thread, stack| {
            let root = roots[thread.index()];
            // Up to a stack that has been moved, and down again.
            let (mut at, mut above) = (stack, root);
            while let Some(frame) = old.leaf(at) {
                if let Some(known) = moved.get(&(root, at)) {
                    above = *known;
                    break;
                }
                way.push((at, frame));
                at = old.parent(at);
            }
            while let Some((at, frame)) = way.pop() {
                above = stacks.child(&mut index, above, frame).0;
                moved.insert((root, at), above);
            }
            above
        });
        self.stacks = stacks;
        self.samples = None;
        self.events.clear();
    }
}
