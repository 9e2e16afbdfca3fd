//! speedscope's own JSON (`https://www.speedscope.app/file-format-schema.json`): one profile for
//! each thread and value.

use super::json;
use super::spool::Spool;
use super::written::{Written, empty_entries, rows_by_track};
use crate::model::profile::{FrameId, FrameKind, Unit};
use crate::model::stacks::WeightedStacks;
use crate::output::loss::LossKind;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Frame<'a> {
    name: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    line: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(line: &u32) -> bool {
    *line == 0
}

/// Writes all values. Equal neighbours in time become one.
///
/// # Errors
/// When the output cannot be written.
pub fn write(stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
    let mut written = Written::new(stacks);
    let empty = empty_entries(stacks);
    head(stacks, (empty > 0).then_some(stacks.frames.len() as u32), out)?;
    let rows = rows_by_track(stacks);
    let mut profiles = Vec::new();
    let mut negative = 0;
    for (track, rows) in rows.iter().enumerate() {
        for value in 0..stacks.values.len() {
            let numbers = || rows.iter().map(|&row| stacks.entry(row as usize).values[value]);
            negative += numbers().filter(|number| *number < 0).count() as u64;
            // Every thread has its main value; others where there is something of them.
            if value == 0 || numbers().any(|number| number > 0) {
                profiles.push((track, value));
            }
        }
    }
    json::array(out, "", profiles, |out, (track, value)| {
        profile(stacks, track, value, &rows[track], out, &mut written)
    })?;
    out.write_all(b"}\n")?;
    written.lose(LossKind::NegativeNumbers, negative);
    written.lose(LossKind::EmptyStacks, empty);
    Ok(written)
}

fn profile(
    stacks: &WeightedStacks,
    track: usize,
    value: usize,
    rows: &[u32],
    out: &mut impl Write,
    written: &mut Written,
) -> io::Result<()> {
    // Neighbours with the same stack in one, from the first row.
    let mut samples: Vec<(u32, i64)> = Vec::new();
    for &row in rows {
        let entry = stacks.entry(row as usize);
        let number = entry.values[value];
        if number <= 0 {
            continue;
        }
        match samples.last_mut() {
            Some((last, sum)) if stacks.entry(*last as usize).stack == entry.stack => {
                *sum = sum.saturating_add(number)
            }
            _ => samples.push((row, number)),
        }
    }
    let total = samples.iter().fold(0i64, |total, (_, number)| total.saturating_add(*number));
    profile_head(stacks, track, value, total, out)?;
    let mut frames = Vec::new();
    json::array(out, ",\"samples\":", &samples, |out, (row, _)| {
        stacks.stacks.outermost_first(stacks.entry(*row as usize).stack, &mut frames);
        if frames.is_empty() {
            frames.push(FrameId(stacks.frames.len() as u32));
        }
        json::array(out, "", &frames, |out, frame| json::integer(out, frame.0.into()))
    })?;
    json::array(out, ",\"weights\":", &samples, |out, (_, number)| json::integer(out, *number))?;
    written.stacks += samples.len() as u64;
    written.add_one(value, total);
    out.write_all(b"}")
}

/// Writes all up to the array of profiles. `no_frames` is the number of the frame that represents
/// empty stacks, if there is one; it takes its place among the others.
fn head(stacks: &WeightedStacks, no_frames: Option<u32>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"")?;
    json::value(out, ",\"exporter\":", &concat!("dumptool@", env!("CARGO_PKG_VERSION")))?;
    json::value(out, ",\"name\":", &stacks.title)?;
    out.write_all(b",\"activeProfileIndex\":0")?;
    let count = stacks.frames.len() as u32 + u32::from(no_frames.is_some());
    json::array(out, ",\"shared\":{\"frames\":", 0..count, |out, number| {
        // speedscope takes what has no frames for idle and leaves it out of its sums, so an empty
        // stack has one more frame.
        if Some(number) == no_frames {
            return json::value(out, "", &Frame { name: "<no frames>".into(), file: "", line: 0 });
        }
        let id = FrameId(number - u32::from(no_frames.is_some_and(|no_frames| no_frames < number)));
        let frame = stacks.frame(id);
        let name = stacks.function_name(id);
        let name = if frame.kind == FrameKind::Kernel {
            format!("{name} [kernel]").into()
        } else {
            name.into()
        };
        json::value(out, "", &Frame { name, file: stacks.text(frame.file), line: frame.line })
    })?;
    out.write_all(b"},\"profiles\":")
}

/// Writes a profile up to its samples.
fn profile_head(
    stacks: &WeightedStacks,
    track: usize,
    value: usize,
    total: i64,
    out: &mut impl Write,
) -> io::Result<()> {
    let kind = &stacks.values[value];
    let unit = match &kind.unit {
        Unit::Count | Unit::Other(_) => "none",
        known => known.name(),
    };
    json::value(
        out,
        "{\"type\":\"sampled\",\"name\":",
        &format!("{} ({})", stacks.tracks[track].name, kind.name),
    )?;
    json::value(out, ",\"unit\":", &unit)?;
    json::value(out, ",\"startValue\":0,\"endValue\":", &total)
}

/// Writes sums of stacks that come in parts: each has the values of the first, and all that the
/// ones before it had of names, frames and tracks, with the same numbers. One part gives what
/// [`write()`] gives.
pub struct SpeedscopeWriter {
    written: Written,
    values: usize,
    /// For each track the stacks that have any number, and for each of its values the weights, and
    /// those stacks that are not the first ones of the track.
    spool: Spool,
    /// By track and value.
    profiles: Vec<Sums>,
    /// By frame: its number with a comma before it, in so many of the bytes.
    numbers: Vec<([u8; NUMBER], u8)>,
    /// The number of the frame of empty stacks. Frames that were not known when it was chosen come
    /// after it.
    no_frames: Option<u32>,
    empty: u64,
    negative: u64,
}

/// The longest number with a comma, and one more byte for the sake of copying.
const NUMBER: usize = 12;

#[derive(Clone, Copy, Default)]
struct Sums {
    samples: u64,
    total: i64,
    /// The number of bytes of the track's stacks that belong to this profile, if not all so far.
    shared: Option<u64>,
}

impl SpeedscopeWriter {
    /// For all parts, of which these stacks are the first. What has been read waits in the spool
    /// for what comes before it.
    pub fn new(stacks: &WeightedStacks, spool: Spool) -> Self {
        let (written, values) = (Written::of_values(stacks), stacks.values.len());
        Self {
            written,
            values,
            spool,
            profiles: Vec::new(),
            numbers: Vec::new(),
            no_frames: None,
            empty: 0,
            negative: 0,
        }
    }

    /// Takes a part, whose entries are sums and not in the order of time.
    ///
    /// # Errors
    /// When the spool cannot be written.
    pub fn part(&mut self, stacks: &WeightedStacks) -> io::Result<()> {
        self.written.lose_depth(stacks);
        let empty = empty_entries(stacks);
        if empty > 0 {
            self.no_frames.get_or_insert(stacks.frames.len() as u32);
        }
        self.empty += empty;
        for frame in self.numbers.len()..stacks.frames.len() {
            let moved = self.no_frames.is_some_and(|no_frames| no_frames <= frame as u32);
            self.numbers.push(number(frame as u32 + u32::from(moved)));
        }
        self.profiles.resize(stacks.tracks.len() * self.values, Sums::default());
        let (mut frames, mut sample, mut weight) = (Vec::new(), Vec::new(), Vec::new());
        for entry in stacks.iter() {
            self.negative += entry.values.iter().filter(|number| **number < 0).count() as u64;
            if entry.values.iter().all(|number| *number <= 0) {
                continue;
            }
            sample.clear();
            stacks.stacks.outermost_first(entry.stack, &mut frames);
            self.put_sample(&frames, &mut sample);
            let track = self.text(entry.track);
            for (value, &number) in entry.values.iter().enumerate() {
                let sums = &mut self.profiles[entry.track * self.values + value];
                if number <= 0 {
                    // Another value has this stack: from here on the two are not the same.
                    sums.shared.get_or_insert_with(|| self.spool.len(track));
                    continue;
                }
                weight.clear();
                weight.push(b',');
                weight.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
                let comma = usize::from(sums.samples == 0);
                sums.samples += 1;
                sums.total = sums.total.saturating_add(number);
                self.spool.append(track + 1 + 2 * value, &weight[comma..])?;
                if sums.shared.is_some() {
                    self.spool.append(track + 2 + 2 * value, &sample[comma..])?;
                }
            }
            let comma = usize::from(self.spool.len(track) == 0);
            self.spool.append(track, &sample[comma..])?;
        }
        Ok(())
    }

    /// Writes all; the stacks are those of the last part.
    ///
    /// # Errors
    /// When the spool cannot be read, or the output not be written.
    pub fn finish(mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
        head(stacks, self.no_frames, out)?;
        let profiles: Vec<_> = (self.profiles.iter().copied().enumerate())
            .map(|(number, sums)| (number / self.values, number % self.values, sums))
            // As in the other writer: every thread has its main value.
            .filter(|(_, value, sums)| *value == 0 || sums.samples > 0)
            .collect();
        json::array(out, "", profiles, |out, (track, value, sums)| {
            profile_head(stacks, track, value, sums.total, out)?;
            let text = self.text(track);
            out.write_all(b",\"samples\":[")?;
            self.spool.copy(text, sums.shared.unwrap_or(u64::MAX), out)?;
            self.spool.copy(text + 2 + 2 * value, u64::MAX, out)?;
            out.write_all(b"],\"weights\":[")?;
            self.spool.copy(text + 1 + 2 * value, u64::MAX, out)?;
            self.written.stacks += sums.samples;
            self.written.add_one(value, sums.total);
            out.write_all(b"]}")
        })?;
        out.write_all(b"}\n")?;
        self.written.lose(LossKind::NegativeNumbers, self.negative);
        self.written.lose(LossKind::EmptyStacks, self.empty);
        Ok(self.written)
    }

    /// The text of a track's stacks. The weights and the stacks of each of its values come after
    /// it.
    fn text(&self, track: usize) -> usize {
        track * (1 + 2 * self.values)
    }

    /// Appends a stack to a text, with a comma before it.
    fn put_sample(&self, frames: &[FrameId], text: &mut Vec<u8>) {
        text.push(b',');
        let begin = text.len();
        for frame in frames {
            let (number, length) = &self.numbers[frame.index()];
            // So many bytes as are known here are copied without a call.
            text.extend_from_slice(number);
            text.truncate(text.len() - NUMBER + usize::from(*length));
        }
        match (text.get_mut(begin), self.no_frames) {
            (Some(comma), _) => *comma = b'[',
            (None, Some(no_frames)) => {
                text.push(b'[');
                text.extend_from_slice(itoa::Buffer::new().format(no_frames).as_bytes());
            }
            (None, None) => text.push(b'['),
        }
        text.push(b']');
    }
}

/// A number with a comma before it, and how many bytes that is.
fn number(number: u32) -> ([u8; NUMBER], u8) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(number).as_bytes();
    let mut text = [b','; NUMBER];
    text[1..=digits.len()].copy_from_slice(digits);
    (text, digits.len() as u8 + 1)
}
