//! Folded stacks: `frame;frame;frame number`, outermost first, as flamegraph.pl, inferno,
//! speedscope and grep take them.
//!
//! Lines of one function are one frame here. The process and the thread are the first two frames.
//! Lines follow a walk over the tree, whose branches are sorted by name, so that two files can be
//! compared. Only in parts of a profile whose stacks rarely repeat, lines are in the order of the
//! recording.

use super::lines::{Counts, Labels, track_frames};
use super::written::Written;
use crate::model::profile::{FrameId, StackId, StackIndex, StackTree};
use crate::model::stacks::WeightedStacks;
use std::io::{self, Write};

/// Writes the sums of one value.
///
/// # Errors
/// When the output cannot be written.
pub fn write(stacks: &WeightedStacks, value: usize, out: &mut impl Write) -> io::Result<Written> {
    let mut writer = FoldedWriter::new(stacks, value);
    writer.part(stacks, out)?;
    Ok(writer.finish(stacks))
}

/// Writes stacks that come in parts. Each part has the values of the first part, and the names,
/// frames and tracks of all previous parts. In each part, lines are sorted and stacks are unique,
/// except if the part [may repeat](StackTree::may_repeat) stacks.
pub struct FoldedWriter {
    lines: Lines,
    line: Vec<u8>,
}

impl FoldedWriter {
    /// For the sums of one value in all parts, of which these stacks are the first.
    pub fn new(stacks: &WeightedStacks, value: usize) -> Self {
        Self { lines: Lines::new(stacks, value), line: Vec::new() }
    }

    /// Writes the lines of a part.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn part(&mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<()> {
        let line = &mut self.line;
        self.lines.part(stacks, |prefix, frames, number| {
            line.clear();
            line.extend_from_slice(prefix.as_bytes());
            for frame in frames.iter().rev() {
                line.extend_from_slice(frame.as_bytes());
            }
            if prefix.is_empty() && !line.is_empty() {
                // There is no thread before the first frame.
                line.remove(0);
            }
            line.push(b' ');
            line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            line.push(b'\n');
            out.write_all(line)
        })
    }

    /// The written data; the stacks are those of the last part.
    pub fn finish(self, stacks: &WeightedStacks) -> Written {
        self.lines.finish(stacks)
    }
}

/// The lines of stacks, and their losses.
pub(super) struct Lines {
    value: usize,
    labels: Labels,
    counts: Counts,
}

impl Lines {
    pub(super) fn new(stacks: &WeightedStacks, value: usize) -> Self {
        Self { value, labels: Labels::default(), counts: Counts::new(stacks, value) }
    }

    /// Gives each line of a part: the frames of the track; `;` and name of the other frames,
    /// innermost first; and the sum.
    pub(super) fn part(
        &mut self,
        stacks: &WeightedStacks,
        mut each: impl FnMut(&str, &[&str], i64) -> io::Result<()>,
    ) -> io::Result<()> {
        self.counts.begin_part(stacks);
        self.labels.extend(stacks);
        let tracks: Vec<String> = stacks.tracks.iter().map(track_frames).collect();
        match stacks.stacks.may_repeat() {
            true => self.as_they_come(stacks, &tracks, &mut each),
            false => self.in_order(stacks, &tracks, &mut each),
        }
    }

    fn as_they_come(
        &mut self,
        stacks: &WeightedStacks,
        tracks: &[String],
        each: &mut impl FnMut(&str, &[&str], i64) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut frames = Vec::new();
        for entry in stacks.iter() {
            let sum = entry.values[self.value];
            if self.counts.is_line(sum) {
                frames.clear();
                frames.extend(
                    stacks.stacks.frames(entry.stack).map(|frame| self.labels.of_frame(frame)),
                );
                each(&tracks[entry.track], &frames, sum)?;
            }
        }
        Ok(())
    }

    fn in_order(
        &mut self,
        stacks: &WeightedStacks,
        tracks: &[String],
        each: &mut impl FnMut(&str, &[&str], i64) -> io::Result<()>,
    ) -> io::Result<()> {
        let tree = Tree::new(stacks, &self.labels);
        let mut track_order: Vec<usize> = (0..tracks.len()).collect();
        track_order.sort_by(|a, b| tracks[*a].cmp(&tracks[*b]));
        let mut track_rank = vec![0u32; tracks.len()];
        track_order.iter().enumerate().for_each(|(rank, track)| track_rank[*track] = rank as u32);

        let mut sums: Vec<(u32, u32, i64)> = Vec::with_capacity(stacks.len());
        for entry in stacks.iter() {
            let node = tree.node[entry.stack.index()];
            sums.push((track_rank[entry.track], tree.rank[node.index()], entry.values[self.value]));
        }
        sums.sort_unstable_by_key(|(track, rank, _)| (*track, *rank));
        let mut frames = Vec::new();
        for sums in sums.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let sum = sums.iter().fold(0i64, |sum, (.., value)| sum.saturating_add(*value));
            if self.counts.is_line(sum) {
                frames.clear();
                let node = tree.by_rank[sums[0].1 as usize];
                frames.extend(
                    tree.nodes.frames(node).map(|label| self.labels.texts[label.index()].as_str()),
                );
                each(&tracks[track_order[sums[0].0 as usize]], &frames, sum)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self, stacks: &WeightedStacks) -> Written {
        self.counts.finish(&self.labels, stacks)
    }
}

/// Stacks by the functions' names: lines of one function are one.
struct Tree<'a> {
    labels: &'a Labels,
    /// Stacks whose frames are numbers of labels.
    nodes: StackTree,
    /// The place of each node in a walk whose branches are sorted by name, and the node of each
    /// place.
    rank: Vec<u32>,
    by_rank: Vec<StackId>,
    /// The node of each stack.
    node: Vec<StackId>,
}

impl<'a> Tree<'a> {
    fn new(stacks: &WeightedStacks, labels: &'a Labels) -> Self {
        let (mut nodes, mut index) = (StackTree::default(), StackIndex::default());
        let mut node = vec![StackId::EMPTY; stacks.stacks.len()];
        for stack in stacks.stacks.ids() {
            let Some(frame) = stacks.stacks.leaf(stack) else { continue };
            let parent = node[stacks.stacks.parent(stack).index()];
            node[stack.index()] =
                nodes.child(&mut index, parent, FrameId(labels.of_frame[frame.index()])).0;
        }
        let mut tree = Self { labels, nodes, rank: Vec::new(), by_rank: Vec::new(), node };
        tree.walk();
        tree
    }

    fn walk(&mut self) {
        let labels = &self.labels.texts;
        let mut order: Vec<u32> = (0..labels.len() as u32).collect();
        order.sort_by(|a, b| labels[*a as usize].cmp(&labels[*b as usize]));
        // The last by name comes first, as a stack gives branches back in reverse.
        let mut label_rank = vec![0; order.len()];
        order.iter().rev().enumerate().for_each(|(rank, label)| label_rank[*label as usize] = rank);
        let rank_of =
            |node: StackId| self.nodes.leaf(node).map_or(0, |label| label_rank[label.index()]);
        let all: Vec<StackId> = self.nodes.ids().collect();
        let (by_name, _) = in_buckets(&all, order.len(), rank_of);
        let (nodes, first) =
            in_buckets(&by_name, self.nodes.len(), |node| self.nodes.parent(node).index());
        self.rank = vec![0; self.nodes.len()];
        let mut open = vec![StackId::EMPTY];
        while let Some(node) = open.pop() {
            self.rank[node.index()] = self.by_rank.len() as u32;
            self.by_rank.push(node);
            open.extend(&nodes[first[node.index()] as usize..first[node.index() + 1] as usize]);
        }
    }
}

/// Nodes by their keys, which are below `count`, those with the same key in the order that they
/// had; and where those of each key begin.
fn in_buckets(
    nodes: &[StackId],
    count: usize,
    key: impl Fn(StackId) -> usize,
) -> (Vec<StackId>, Vec<u32>) {
    let mut first = vec![0u32; count + 1];
    nodes.iter().for_each(|&node| first[key(node) + 1] += 1);
    (0..count).for_each(|key| first[key + 1] += first[key]);
    let (mut next, mut sorted) = (first.clone(), vec![StackId::EMPTY; nodes.len()]);
    for &node in nodes {
        let place = &mut next[key(node)];
        sorted[*place as usize] = node;
        *place += 1;
    }
    (sorted, first)
}
