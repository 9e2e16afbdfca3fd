//! A flame graph as one SVG file.
//!
//! The drawing is our own: inferno, the usual crate, has a licence (CDDL) that keeps it out of the
//! default build, and no colours by package. `boxes` places the boxes, `captions` gives them text
//! and colour, `svg` draws them, with a script of 5 KB that zooms and searches.

mod boxes;
mod captions;
mod svg;
mod tree;

use super::loss::LossKind;
use super::report::{Report, ReportTree};
use super::written::Written;
use crate::model::profile::Unit;
use crate::model::stacks::{Track, WeightedStacks};
use boxes::Boxes;
use captions::{Caption, Captions};
use std::io::{self, Write};
use tree::{FlameTree, MOST, NamedStacks};

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

/// Draws the sums of one value.
///
/// # Errors
/// When the output cannot be written. Where there is nothing to draw the picture says so.
pub fn write(
    stacks: &WeightedStacks,
    value: usize,
    options: &FlamegraphOptions,
    out: &mut impl Write,
) -> io::Result<Written> {
    let mut writer = FlamegraphWriter::with_room(stacks, value, options.clone(), usize::MAX);
    writer.part(stacks);
    writer.finish(stacks, out)
}

/// Draws stacks that come in parts: each has the values of the first, and all names, frames and
/// tracks of the parts before it.
///
/// Memory is bounded: where there are more stacks than fit, those that are far too narrow to be
/// seen are added to their callers. The report counts them and their sum. No width lacks more than
/// that sum, that of a process or a thread nothing, and nearly always those that are drawn are
/// exact.
pub struct FlamegraphWriter {
    value: usize,
    options: FlamegraphOptions,
    captions: Captions,
    written: Written,
    tree: FlameTree,
}

impl FlamegraphWriter {
    /// For the sums of one value in all parts, of which these stacks are the first.
    pub fn new(stacks: &WeightedStacks, value: usize, options: FlamegraphOptions) -> Self {
        Self::with_room(stacks, value, options, MOST)
    }

    /// As [`FlamegraphWriter::new`], with room for this many stacks of names.
    pub fn with_room(
        stacks: &WeightedStacks,
        value: usize,
        options: FlamegraphOptions,
        room: usize,
    ) -> Self {
        let mut written = Written::of_values(stacks);
        written.sums = vec![written.sums.swap_remove(value)];
        Self { value, options, captions: Captions::default(), written, tree: FlameTree::new(room) }
    }

    /// Adds a part of a profile.
    pub fn part(&mut self, stacks: &WeightedStacks) {
        self.written.lose_depth(stacks);
        self.captions.extend(stacks, self.options.lines);
        let mut some = NamedStacks::default();
        let mut names = Vec::new();
        for entry in stacks.iter() {
            names.clear();
            names.extend(
                stacks
                    .stacks
                    .frames(entry.stack)
                    .map(|frame| self.captions.of_frame[frame.index()]),
            );
            let mut track = entry.track;
            if self.options.inverted {
                names.reverse();
            }
            if self.options.without_threads() {
                track = 0;
            }
            some.push(track, names.iter().copied(), entry.values[self.value]);
            if some.is_full() {
                self.tree.add(&mut some);
            }
        }
        self.tree.add(&mut some);
    }

    /// Draws all; the stacks are those of the last part.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
        self.picture(stacks).draw(out)
    }

    /// The picture of all; the stacks are those of the last part.
    pub fn picture(mut self, stacks: &WeightedStacks) -> Picture {
        let folded = self.tree.folded();
        let kind = &stacks.values[self.value];
        self.tree.for_each(|_, _, sum| count(&mut self.written, sum));
        self.written.lose(LossKind::NarrowStacks, folded.stacks);
        self.written.lose(in_callers(&kind.unit), folded.value);
        if !self.options.lines {
            let lines = stacks.frames.iter().filter(|frame| frame.line > 0).count();
            self.written.lose(LossKind::LineNumbers, lines as u64);
        }
        self.tree.keep_visible();
        let tracks: Vec<_> = stacks
            .tracks
            .iter()
            .map(|track| if self.options.without_threads() { Vec::new() } else { bases(track) })
            .collect();
        let mut boxes = Boxes::default();
        self.tree.for_each(|track, names, sum| {
            if let Ok(sum @ 1..) = u64::try_from(sum) {
                let path = names.iter().rev().map(|&name| &self.captions.all[name as usize]);
                boxes.add(tracks[track].iter().chain(path), sum, 0);
            }
        });
        let is_heap = stacks.tracks.iter().all(|track| track.thread.is_none());
        Picture {
            title: self.options.title.unwrap_or_else(|| stacks.title.clone()),
            value: if is_heap && kind.unit == Unit::Bytes {
                "retained size".to_owned()
            } else {
                kind.name.to_string()
            },
            unit: kind.unit.clone(),
            inverted: self.options.inverted,
            compares: false,
            boxes,
            written: self.written,
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
    title: String,
    value: String,
    unit: Unit,
    inverted: bool,
    compares: bool,
    boxes: Boxes,
    written: Written,
}

impl Picture {
    /// The difference from an older picture: what grew is red, what shrank is blue.
    #[must_use]
    pub fn compared_with(mut self, old: &Self) -> Self {
        self.compares = true;
        self.boxes.add_older(&old.boxes);
        self
    }

    /// The tree of the picture for a report, cut to its largest `lines`; and the number of all its
    /// lines.
    pub fn tree(&self, report: &mut Report, title: &str, lines: usize) -> (ReportTree, usize) {
        let (rows, all) = self.boxes.widest(lines);
        let name = |row: &boxes::Widest| {
            self.boxes.caption(row.node).map_or("all", |caption| caption.text.as_str())
        };
        let delta = |row: &boxes::Widest| {
            i64::try_from(i128::from(row.total[0]) - i128::from(row.total[1])).unwrap_or(i64::MAX)
        };
        let tree = ReportTree {
            title: title.to_owned(),
            depth: rows.iter().map(|row| row.depth).collect(),
            name: rows.iter().map(|row| report.name(name(row))).collect(),
            total: rows.iter().map(|row| row.width).collect(),
            own: rows.iter().map(|row| row.own).collect(),
            now: self.compares.then(|| rows.iter().map(|row| row.total[0]).collect()),
            delta: self.compares.then(|| rows.iter().map(delta).collect()),
            ..ReportTree::default()
        };
        (tree, all)
    }

    /// Draws the picture.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn draw(self, out: &mut impl Write) -> io::Result<Written> {
        let Self { title, value, unit, inverted, compares, .. } = &self;
        let words = svg::Words { title, value, unit, inverted: *inverted, compares: *compares };
        svg::draw(&self.boxes, &words, out)?;
        Ok(self.written)
    }
}

/// The boxes that all stacks of a thread stand on: the process and the thread. A heap has none.
fn bases(track: &Track) -> Vec<Caption> {
    let (Some(pid), Some(thread)) = (&track.pid, &track.thread) else { return Vec::new() };
    let interpreter =
        track.interpreter.map(|interpreter| format!("{interpreter}:")).unwrap_or_default();
    [format!("P{pid}"), format!("T{interpreter}{thread}")]
        .map(|text| Caption { text, hue: 200 })
        .to_vec()
}

/// The loss to report for sums that went into callers, in a unit.
fn in_callers(unit: &Unit) -> LossKind {
    match unit {
        Unit::Microseconds => LossKind::NarrowMicroseconds,
        Unit::Bytes => LossKind::NarrowBytes,
        Unit::Count => LossKind::NarrowSamples,
        _ => LossKind::NarrowOther,
    }
}
