//! Folded stacks: `frame;frame;frame number`, outermost first, as flamegraph.pl, inferno,
//! speedscope and grep read them.
//!
//! The first line is a comment that names the value and its unit, so that dumptool can read the
//! file again; plain samples have no such line. All lines of a function are one frame. The process
//! and the thread are the first two frames. Stacks are in the order of a walk over the tree, whose
//! branches are sorted by name, so that two files can be compared.

use super::loss::LossKind;
use super::written::{Written, label};
use crate::model::names::NameId;
use crate::model::profile::{FrameId, FrameKind, StackId, StackIndex, StackTree, Unit};
use crate::model::stacks::{Track, ValueType, WeightedStacks};
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// Writes the sums of one value. Fails when the output cannot be written.
pub fn write(stacks: &WeightedStacks, value: usize, out: &mut impl Write) -> io::Result<Written> {
    let (labels, mut counts) = (Labels::of(stacks), Counts::new(stacks, value));
    let tracks: Vec<String> = stacks.tracks.iter().map(track_frames).collect();
    let tree = Tree::new(stacks, &labels);
    let mut track_order: Vec<usize> = (0..tracks.len()).collect();
    track_order.sort_by(|a, b| tracks[*a].cmp(&tracks[*b]));
    let mut track_rank = vec![0u32; tracks.len()];
    track_order.iter().enumerate().for_each(|(rank, track)| track_rank[*track] = rank as u32);

    let mut sums: Vec<(u32, u32, i64)> = Vec::with_capacity(stacks.len());
    for entry in stacks.iter() {
        let node = tree.node[entry.stack.index()];
        sums.push((track_rank[entry.track], tree.rank[node.index()], entry.values[value]));
    }
    sums.sort_unstable_by_key(|(track, rank, _)| (*track, *rank));
    let ValueType { name, unit } = &stacks.values[value];
    if (&**name, unit) != ("samples", &Unit::Count) {
        let value = format!("{name} in {}", unit.name()).replace(['\r', '\n'], " ");
        out.write_all(format!("# folded: {value}\n").as_bytes())?;
    }
    let mut line = Line::default();
    for sums in sums.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let sum = sums.iter().fold(0i64, |sum, (.., value)| sum.saturating_add(*value));
        if counts.is_line(sum) {
            let (track, node) = (track_order[sums[0].0 as usize], tree.by_rank[sums[0].1 as usize]);
            let frames = tree.nodes.frames(node).map(|label| labels.texts[label.index()].as_str());
            out.write_all(line.of(&tracks[track], frames, sum))?;
        }
    }
    let mut written = counts.finish(&labels, stacks);
    written.lose(LossKind::ReplacedSeparators, line.replaced);
    Ok(written)
}

/// The bytes of a line, in a buffer that is reused.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// Lines whose first character had to be changed.
    replaced: u64,
}

impl Line {
    /// Returns the line of the frames of a track, the other frames, innermost first, each with a
    /// `;` before it, and a sum.
    fn of<'s>(&mut self, track: &str, frames: impl Iterator<Item = &'s str>, sum: i64) -> &[u8] {
        let frames: Vec<&str> = frames.collect();
        let bytes = &mut self.bytes;
        bytes.clear();
        bytes.extend_from_slice(track.as_bytes());
        frames.iter().rev().for_each(|frame| bytes.extend_from_slice(frame.as_bytes()));
        if track.is_empty() && !bytes.is_empty() {
            // There is no thread before the first frame.
            bytes.remove(0);
        }
        if bytes.first() == Some(&b'#') {
            // Readers skip lines that begin with #, as comments.
            bytes.splice(..1, "＃".bytes());
            self.replaced += 1;
        }
        bytes.push(b' ');
        bytes.extend_from_slice(itoa::Buffer::new().format(sum).as_bytes());
        bytes.push(b'\n');
        bytes
    }
}

/// Stacks by the functions' names. All lines of a function are one frame.
struct Tree<'a> {
    labels: &'a Labels,
    /// Stacks whose frames are numbers of labels.
    nodes: StackTree,
    /// The place of each node in a walk whose branches are sorted by name, and the node of each
    /// place.
    rank: Vec<u32>,
    by_rank: Vec<StackId>,
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
        // The last name comes first, because a stack returns branches in reverse order.
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

/// Sorts nodes by their keys, which are below `count`; nodes with the same key keep their order.
/// Also returns the place where the nodes of each key begin.
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

/// The number of lines and the losses.
struct Counts {
    written: Written,
    nothing: u64,
    negative: u64,
}

impl Counts {
    /// Returns the counts of one value before its stacks are written.
    fn new(stacks: &WeightedStacks, value: usize) -> Self {
        let mut written = Written::new(stacks);
        written.sums = vec![written.sums.swap_remove(value)];
        Self { written, nothing: 0, negative: 0 }
    }

    /// Counts a line, or the reason why a sum is not written as a line.
    #[inline]
    fn is_line(&mut self, sum: i64) -> bool {
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

    fn finish(self, labels: &Labels, stacks: &WeightedStacks) -> Written {
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
struct Labels {
    /// Names with the `;` before them.
    texts: Vec<String>,
    /// By frame: which of the texts.
    of_frame: Vec<u32>,
    /// Functions whose names had to be changed.
    replaced: u64,
}

impl Labels {
    fn of(stacks: &WeightedStacks) -> Self {
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
fn track_frames(track: &Track) -> String {
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
