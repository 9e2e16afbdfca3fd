//! A flame graph as one SVG file.
//!
//! The drawing is our own: inferno, the usual crate, has a licence (CDDL) that keeps it out of the
//! default build, and no colours by package. A script of 5 KB zooms and searches.

mod boxes;
mod captions;
mod svg;

#[cfg(feature = "cli")]
pub(crate) use captions::package;

use super::loss::LossKind;
use super::report::{Report, ReportTree};
use super::written::Written;
use crate::model::profile::{FrameId, StackId, StackIndex, StackTree, Unit};
use crate::model::stacks::{Track, WeightedStacks};
use boxes::{Boxes, Cut};
use captions::{Caption, Captions};
use rustc_hash::FxHashSet;
use std::io::{self, Write};
use svg::Words;

/// The inverse of the smallest share of the base that is drawn.
const VISIBLE: u64 = 10_000;

/// Options for drawing.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FlamegraphOptions {
    /// The title; by default that of the stacks.
    pub title: Option<String>,
    /// Begin with the innermost functions, each followed by its callers; all threads together.
    pub inverted: bool,
    /// Draw one box for each line of a function.
    pub lines: bool,
    /// Draw all threads together, for a comparison: processes and threads of two runs have
    /// different ids.
    pub merge_threads: bool,
}

impl FlamegraphOptions {
    /// Whether boxes for processes and threads are left out.
    fn without_threads(&self) -> bool {
        self.inverted || self.merge_threads
    }
}

/// Returns the picture of the sums of one value.
pub fn picture(stacks: &WeightedStacks, value: usize, options: &FlamegraphOptions) -> Picture {
    let mut written = Written::new(stacks);
    written.sums = vec![written.sums.swap_remove(value)];
    let tracks: Vec<_> = stacks
        .tracks
        .iter()
        .map(|track| if options.without_threads() { Vec::new() } else { bases(track) })
        .collect();
    let captions = Captions::of(stacks, options.lines);
    let sums = CaptionSums::of(stacks, value, options, &captions);
    let mut boxes = Boxes::new(&Caption::narrow(1.0 / VISIBLE as f64));
    sums.for_each(|track, names, sum| {
        count(&mut written, sum);
        if let Ok(sum @ 1..) = u64::try_from(sum) {
            let path = names.iter().rev().map(|name| &captions.all[name.index()]);
            boxes.add(tracks[track].iter().chain(path), sum, 0);
        }
    });
    if !options.lines {
        let lines = stacks.frames.iter().filter(|frame| frame.line > 0).count();
        written.lose(LossKind::LineNumbers, lines as u64);
    }
    let kind = &stacks.values[value];
    let is_heap = stacks.tracks.iter().all(|track| track.thread.is_none());
    Picture {
        words: Words {
            title: options.title.clone().unwrap_or_else(|| stacks.title.clone()),
            value: if is_heap && kind.unit == Unit::Bytes {
                "retained size".to_owned()
            } else {
                kind.name.to_string()
            },
            unit: kind.unit.clone(),
            inverted: options.inverted,
            compares: false,
        },
        boxes,
        bases: tracks
            .iter()
            .flat_map(|base| [&base[..], base.get(..1).unwrap_or_default()])
            .map(texts)
            .collect(),
        written,
    }
}

/// The sum of each stack of captions. Lines of one function share a caption.
struct CaptionSums {
    /// Stacks of numbers of captions, on top of the number of the track.
    nodes: StackTree,
    /// By node: the sum of the stacks that end in it, if there are any.
    own: Vec<Option<i64>>,
}

impl CaptionSums {
    fn of(
        stacks: &WeightedStacks,
        value: usize,
        options: &FlamegraphOptions,
        captions: &Captions,
    ) -> Self {
        let (mut nodes, mut index) = (StackTree::default(), StackIndex::default());
        let (mut own, mut path) = (Vec::new(), Vec::new());
        for entry in stacks.iter() {
            path.clear();
            let frames = stacks.stacks.frames(entry.stack);
            path.extend(frames.map(|frame| FrameId(captions.of_frame[frame.index()])));
            if !options.inverted {
                path.reverse();
            }
            let track = if options.without_threads() { 0 } else { entry.track };
            let node = std::iter::once(FrameId(track as u32))
                .chain(path.iter().copied())
                .fold(StackId::EMPTY, |node, name| nodes.child(&mut index, node, name).0);
            own.resize(nodes.len(), None);
            let sum = own[node.index()].get_or_insert(0i64);
            *sum = sum.saturating_add(entry.values[value]);
        }
        Self { nodes, own }
    }

    /// Calls `each` with the track, the captions, innermost first, and the sum of each stack.
    fn for_each(&self, mut each: impl FnMut(usize, &[FrameId], i64)) {
        let mut names = Vec::new();
        for node in self.nodes.ids() {
            let Some(sum) = self.own[node.index()] else { continue };
            names.clear();
            names.extend(self.nodes.frames(node));
            if let Some(track) = names.pop() {
                each(track.index(), &names, sum);
            }
        }
    }
}

/// Counts a stack, or the loss of one without a width.
fn count(written: &mut Written, sum: i64) {
    match sum {
        ..0 => written.lose(LossKind::NegativeStacks, 1),
        0 => written.lose(LossKind::ZeroStacks, 1),
        _ => {
            written.stacks += 1;
            written.add_one(0, sum);
        }
    }
}

/// A flame graph that is not drawn yet.
pub struct Picture {
    words: Words,
    boxes: Boxes,
    /// The boxes below all stacks of each thread, and those of each process.
    bases: FxHashSet<Vec<String>>,
    written: Written,
}

impl Picture {
    /// The difference from an older picture: what grew is red, what shrank is blue.
    #[must_use]
    pub fn compared_with(mut self, old: &Self) -> Self {
        self.words.compares = true;
        self.boxes.add_older(&old.boxes);
        self
    }

    /// Returns the tree of the picture for a report, cut to its largest `lines`, and the number of
    /// omitted lines, whose sums become lines of their own.
    pub fn tree(&self, report: &mut Report, title: &str, lines: usize) -> (ReportTree, usize) {
        let Cut { rows, left_out, least } = self.boxes.widest(lines);
        let narrow = Caption::narrow(least);
        let name = |row: &boxes::Widest| match row.caption {
            None => "all",
            Some(Boxes::NARROW) => &narrow.text,
            Some(caption) => &self.boxes.caption(caption).text,
        };
        let delta = |row: &boxes::Widest| {
            i64::try_from(i128::from(row.total[0]) - i128::from(row.total[1])).unwrap_or(i64::MAX)
        };
        let tree = ReportTree {
            outer: self.outer(&rows),
            title: title.to_owned(),
            depth: rows.iter().map(|row| row.depth).collect(),
            name: rows.iter().map(|row| report.name(name(row))).collect(),
            total: rows.iter().map(|row| row.width).collect(),
            own: rows.iter().map(|row| row.own).collect(),
            now: self.words.compares.then(|| rows.iter().map(|row| row.total[0]).collect()),
            delta: self.words.compares.then(|| rows.iter().map(delta).collect()),
            ..ReportTree::default()
        };
        (tree, left_out)
    }

    /// The numbers of the rows of processes and threads.
    fn outer(&self, rows: &[boxes::Widest]) -> Vec<u32> {
        let mut path = Vec::new();
        let is_outer = |(_, row): &(u32, &boxes::Widest)| {
            let depth @ 1..=2 = row.depth as usize else { return false };
            path.truncate(depth - 1);
            path.extend(row.caption.map(|caption| self.boxes.caption(caption).text.clone()));
            self.bases.contains(&path)
        };
        (0..).zip(rows).filter(is_outer).map(|(row, _)| row).collect()
    }

    /// Draws the picture. An empty picture contains a note. Fails when the output cannot be
    /// written.
    pub fn draw(self, out: &mut impl Write) -> io::Result<Written> {
        svg::draw(&self.boxes, &self.words, out)?;
        Ok(self.written)
    }
}

fn texts(captions: &[Caption]) -> Vec<String> {
    captions.iter().map(|caption| caption.text.clone()).collect()
}

/// The boxes below all stacks of a thread: its process and the thread itself. Empty for a heap.
fn bases(track: &Track) -> Vec<Caption> {
    let (Some(pid), Some(thread)) = (&track.pid, &track.thread) else { return Vec::new() };
    let interpreter =
        track.interpreter.map(|interpreter| format!("{interpreter}:")).unwrap_or_default();
    [format!("P{pid}"), format!("T{interpreter}{thread}")]
        .map(|text| Caption { text, hue: Some(200) })
        .to_vec()
}
