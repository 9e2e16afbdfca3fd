//! A flame graph as one SVG file, drawn by inferno.

use super::flame_tree::{FlameTree, MOST, NamedStacks};
use super::folded::Lines;
use super::lines::{Counts, Labels, track_frames};
use super::written::Written;
use crate::model::profile::Unit;
use crate::model::stacks::WeightedStacks;
use crate::output::loss::LossKind;
use inferno::flamegraph::{Options, TextTruncateDirection, from_lines};
use std::io::{self, Write};

/// Draws the sums of one value.
///
/// # Errors
/// When the output cannot be written. Where there is nothing to draw the picture says so.
pub fn write(stacks: &WeightedStacks, value: usize, out: &mut impl Write) -> io::Result<Written> {
    let mut lines = Vec::new();
    let mut all = Lines::new(stacks, value);
    all.part(stacks, |track, frames, number| {
        lines.push(line(track, frames.iter().rev().copied(), number));
        Ok(())
    })?;
    let written = all.finish(stacks);
    draw(stacks, value, lines, out)?;
    Ok(written)
}

/// Draws stacks that come in parts: each has the values of the first, and all that the ones before it had of names, frames and
/// tracks. Memory is bounded: where there are more stacks than fit, those that are far too narrow to be seen are put into their
/// callers, which is said of them, with the sum of what was put there. No width lacks more than that sum, that of a process or a
/// thread nothing, and nearly always those that are drawn are exact. Stacks that fit give what [`write()`] gives of them all.
pub struct FlamegraphWriter {
    value: usize,
    labels: Labels,
    counts: Counts,
    tree: FlameTree,
}

impl FlamegraphWriter {
    /// For the sums of one value in all parts, of which these stacks are the first.
    pub fn new(stacks: &WeightedStacks, value: usize) -> Self {
        Self::with_room(stacks, value, MOST)
    }

    /// As [`FlamegraphWriter::new`], with room for this many stacks of names.
    pub fn with_room(stacks: &WeightedStacks, value: usize, room: usize) -> Self {
        Self { value, labels: Labels::default(), counts: Counts::new(stacks, value), tree: FlameTree::new(room) }
    }

    /// Adds a part.
    pub fn part(&mut self, stacks: &WeightedStacks) {
        self.counts.begin_part(stacks);
        self.labels.extend(stacks);
        let mut some = NamedStacks::default();
        for entry in stacks.iter() {
            let names = stacks.stacks.frames(entry.stack).map(|frame| self.labels.of_frame[frame.index()]);
            some.push(entry.track, names, entry.values[self.value]);
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
    pub fn finish(mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
        self.tree.for_each(|_, _, sum| _ = self.counts.is_line(sum));
        let folded = self.tree.folded();
        let mut written = self.counts.finish(&self.labels, stacks);
        written.lose(LossKind::NarrowStacks, folded.stacks);
        written.lose(in_callers(stacks.values[self.value].unit), folded.value);
        self.tree.keep_visible();
        let tracks: Vec<String> = stacks.tracks.iter().map(track_frames).collect();
        let mut lines = Vec::new();
        self.tree.for_each(|track, names, sum| {
            if sum > 0 {
                lines.push(line(&tracks[track], names.iter().rev().map(|&name| self.labels.texts[name as usize].as_str()), sum));
            }
        });
        drop(self.tree);
        draw(stacks, self.value, lines, out)?;
        Ok(written)
    }
}

/// How much of a unit was put into callers, as something that was lost.
fn in_callers(unit: Unit) -> LossKind {
    match unit {
        Unit::Microseconds => LossKind::NarrowMicroseconds,
        Unit::Bytes => LossKind::NarrowBytes,
        Unit::Count => LossKind::NarrowSamples,
    }
}

fn line<'a>(track: &str, names: impl Iterator<Item = &'a str>, number: i64) -> String {
    let mut line = track.to_owned();
    names.for_each(|name| line.push_str(name));
    line.push(' ');
    line.push_str(itoa::Buffer::new().format(number));
    xml(line)
}

/// Without characters that XML 1.0 has no place for, not even as references: there is U+FFFD instead.
fn xml(text: String) -> String {
    let is_forbidden = |c: char| matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}');
    match text.contains(is_forbidden) {
        true => text.replace(is_forbidden, "\u{fffd}"),
        false => text,
    }
}

fn draw(stacks: &WeightedStacks, value: usize, lines: Vec<String>, out: &mut impl Write) -> io::Result<()> {
    if lines.is_empty() {
        // inferno takes no input for an error; a viewer wants a picture.
        return out.write_all(EMPTY.as_bytes());
    }
    let kind = &stacks.values[value];
    let mut options = Options::default();
    options.deterministic = true;
    // Where there is no room for all of a name, its beginning says most.
    options.text_truncate_direction = TextTruncateDirection::Right;
    options.title = xml(stacks.title.clone());
    options.subtitle = Some(xml(kind.name.clone()));
    options.count_name = match kind.unit {
        Unit::Microseconds => "µs".to_owned(),
        Unit::Bytes => "bytes".to_owned(),
        Unit::Count => xml(kind.name.clone()),
    };
    let mut out = Failing { out, error: None };
    from_lines(&mut options, lines.iter().map(String::as_str), &mut out)
        .map_err(|error| out.error.unwrap_or_else(|| io::Error::other(error)))
}

/// Keeps the error of the output, which inferno wraps in one of its own: a closed pipe must be known as such.
struct Failing<W> {
    out: W,
    error: Option<io::Error>,
}

impl<W: Write> Write for Failing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        if let Err(error) = &written
            && error.kind() != io::ErrorKind::Interrupted
        {
            let copy = error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
            self.error.get_or_insert(copy);
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

const EMPTY: &str = "<?xml version=\"1.0\"?>\n<svg version=\"1.1\" width=\"600\" height=\"40\" xmlns=\"http://www.w3.org/2000/svg\">\
<text x=\"10\" y=\"25\">There is nothing to draw.</text></svg>\n";
