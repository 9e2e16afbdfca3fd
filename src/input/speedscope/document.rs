//! The positions and contents of the lists of a file.

use super::lists::{self, Event};
use crate::error::{Error, Result};
use crate::input::json::{Scanner, Text, ValueKind};
use crate::input::load::damage;
use crate::input::read::{ReadOptions, Visitor, visit};
use crate::model::fields::{FieldSink, Record};
use crate::model::profile::Unit;

pub(super) const RECORD_NAMES: &[&str] = &["frame", "profile"];

/// Bytes of memory for a profile, including the list's spare room, its name and its place in the
/// model.
const BYTES_PER_PROFILE: usize = 1000;

/// A file up to its first damage.
#[derive(Default)]
pub(super) struct Document<'a> {
    pub(super) name: Option<Text<'a>>,
    pub(super) exporter: Option<Text<'a>>,
    /// The text from the beginning of the list of frames.
    pub(super) frames: Option<&'a [u8]>,
    pub(super) frame_count: u64,
    frames_offset: u64,
    pub(super) profiles: Vec<OneProfile<'a>>,
}

/// A profile of the file: one value of one thread.
#[derive(Clone, Default)]
pub(super) struct OneProfile<'a> {
    pub(super) offset: u64,
    pub(super) name: Option<Text<'a>>,
    unit: Option<Text<'a>>,
    /// Start of the profile, in billionths of the unit.
    pub(super) start: Option<i128>,
    pub(super) end: Option<i128>,
    /// The lists, from their bracket on.
    pub(super) samples: Option<&'a [u8]>,
    pub(super) weights: Option<&'a [u8]>,
    pub(super) events: Option<&'a [u8]>,
    /// Stacks or events.
    pub(super) count: u64,
    pub(super) weight_count: u64,
    /// The greatest common divisor of weights and times, in billionths of the unit; 0 if all are 0.
    pub(super) grain: i128,
    /// The sum of the weights and the least of them, in billionths of the unit.
    pub(super) sum: i128,
    pub(super) least: i128,
    /// Events at an earlier time than the one before.
    pub(super) backwards: u64,
    /// Events that close another frame than the last one that is open, and frames that stay open.
    pub(super) unbalanced: u64,
}

impl<'a> Document<'a> {
    /// Reads a file up to its first damage. Fails when the list of profiles takes more memory than
    /// it may.
    pub(super) fn read(bytes: &'a [u8], options: ReadOptions<'_>) -> Result<(Self, Option<Error>)> {
        let mut document = Self::default();
        let damage = damage(document.read_all(&mut Scanner::new(bytes, 0), bytes, options))?;
        Ok((document, damage))
    }

    fn read_all(
        &mut self,
        scanner: &mut Scanner<'a>,
        bytes: &'a [u8],
        options: ReadOptions<'_>,
    ) -> Result<()> {
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            (options.progress)(scanner.offset() / 2);
            match (key.raw(), scanner.peek()?) {
                (b"name", ValueKind::String) => self.name = Some(scanner.text()?),
                (b"exporter", ValueKind::String) => self.exporter = Some(scanner.text()?),
                (b"shared", ValueKind::Object) => {
                    scanner.begin_object()?;
                    while let Some(key) = scanner.key()? {
                        match (key.raw(), scanner.peek()?) {
                            (b"frames", ValueKind::Array) => self.read_frames(scanner, bytes)?,
                            _ => scanner.skip()?,
                        }
                    }
                }
                (b"profiles", ValueKind::Array) => {
                    scanner.items_of(ValueKind::Object, |scanner| {
                        let mut profile =
                            OneProfile { offset: scanner.offset(), ..OneProfile::default() };
                        let read = profile.read(scanner, bytes);
                        if profile.samples.is_some() || profile.events.is_some() {
                            self.profiles.push(profile);
                        }
                        read?;
                        let needed = self.profiles.len().saturating_mul(BYTES_PER_PROFILE) as u64;
                        options.memory.check_bytes(scanner.offset(), needed)?;
                        (options.progress)(scanner.offset() / 2);
                        Ok(())
                    })?;
                }
                _ => scanner.skip()?,
            }
        }
        Ok(())
    }

    fn read_frames(&mut self, scanner: &mut Scanner<'a>, bytes: &'a [u8]) -> Result<()> {
        self.frames = Some(rest(bytes, scanner));
        self.frames_offset = scanner.offset();
        self.frame_count = each(scanner, |scanner| Frame::read(scanner).map(drop))?;
        Ok(())
    }

    /// Whether nothing of a profile was read.
    pub(super) fn is_empty(&self) -> bool {
        self.profiles.is_empty() && self.frames.is_none()
    }
}

/// The input from the next byte of the scanner on.
fn rest<'a>(bytes: &'a [u8], scanner: &Scanner<'a>) -> &'a [u8] {
    usize::try_from(scanner.offset()).ok().and_then(|at| bytes.get(at..)).unwrap_or_default()
}

impl<'a> OneProfile<'a> {
    fn read(&mut self, scanner: &mut Scanner<'a>, bytes: &'a [u8]) -> Result<()> {
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            match (key.raw(), scanner.peek()?) {
                (b"name", ValueKind::String) => self.name = Some(scanner.text()?),
                (b"unit", ValueKind::String) => self.unit = Some(scanner.text()?),
                (b"startValue", ValueKind::Number) => self.start = Some(self.bound(scanner)?),
                (b"endValue", ValueKind::Number) => self.end = Some(self.bound(scanner)?),
                (b"samples", ValueKind::Array) => {
                    let list = rest(bytes, scanner);
                    self.samples = Some(list);
                    let mut stack = Vec::new();
                    self.count = each(scanner, |scanner| lists::stack(scanner, &mut stack))?;
                    let left = rest(bytes, scanner).len();
                    self.samples = list.get(..list.len().saturating_sub(left));
                }
                (b"weights", ValueKind::Array) => {
                    (self.weights, self.least) = (Some(rest(bytes, scanner)), i128::MAX);
                    self.weight_count = each(scanner, |scanner| {
                        let weight = lists::weight(scanner)?;
                        self.sum = self.sum.saturating_add(weight);
                        self.least = self.least.min(weight);
                        self.see(weight);
                        Ok(())
                    })?;
                }
                (b"events", ValueKind::Array) => {
                    self.events = Some(rest(bytes, scanner));
                    let (mut open, mut last) = (Vec::new(), None);
                    self.count = each(scanner, |scanner| {
                        let Event { opens, frame, at } = lists::event(scanner)?;
                        self.see(at);
                        let is_earlier = last.replace(at).is_some_and(|last| at < last);
                        self.backwards = self.backwards.saturating_add(is_earlier.into());
                        match opens {
                            true => open.push(frame),
                            false if open.pop() == Some(frame) => {}
                            false => self.unbalanced = self.unbalanced.saturating_add(1),
                        }
                        Ok(())
                    })?;
                    self.unbalanced = self.unbalanced.saturating_add(open.len() as u64);
                }
                _ => scanner.skip()?,
            }
        }
        Ok(())
    }

    pub(super) fn unit(&self) -> Unit {
        match self.unit.map(|unit| unit.decode()).as_deref() {
            None | Some("none") => Unit::Count,
            Some(name) => Unit::named(name),
        }
    }

    fn bound(&mut self, scanner: &mut Scanner<'a>) -> Result<i128> {
        let bound = lists::weight(scanner)?;
        self.see(bound);
        Ok(bound)
    }

    /// Includes a number, in billionths of the unit, in the grain.
    fn see(&mut self, number: i128) {
        // The greatest common divisor, by Euclid.
        let mut rest = number.checked_rem(self.grain).unwrap_or(number).saturating_abs();
        while rest != 0 {
            (self.grain, rest) = (rest, self.grain.checked_rem(rest).unwrap_or(0));
        }
    }
}

/// Reads the items of a list. Returns their number.
fn each<'a>(
    scanner: &mut Scanner<'a>,
    mut read: impl FnMut(&mut Scanner<'a>) -> Result<()>,
) -> Result<u64> {
    let mut count = 0u64;
    scanner.begin_array()?;
    while scanner.item()? {
        read(scanner)?;
        count = count.saturating_add(1);
    }
    Ok(count)
}

/// A frame of the list.
#[derive(Clone, Copy, Default)]
pub(super) struct Frame<'a> {
    pub(super) name: Option<Text<'a>>,
    pub(super) file: Option<Text<'a>>,
    pub(super) line: u64,
    col: u64,
}

/// Reads the frames of a list, each with its offset, up to the first damage.
pub(super) fn frames<'a>(list: &'a [u8], offset: u64) -> impl Iterator<Item = (u64, Frame<'a>)> {
    let mut scanner = Scanner::new(list, offset);
    let mut is_open = scanner.begin_array().is_ok();
    std::iter::from_fn(move || {
        is_open = is_open && scanner.item().unwrap_or(false);
        let offset = scanner.offset();
        let frame = is_open.then(|| Frame::read(&mut scanner))?.ok()?;
        Some((offset, frame))
    })
}

impl<'a> Frame<'a> {
    fn read(scanner: &mut Scanner<'a>) -> Result<Self> {
        let mut frame = Self::default();
        if scanner.peek()? != ValueKind::Object {
            scanner.skip()?;
            return Ok(frame);
        }
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            match (key.raw(), scanner.peek()?) {
                (b"name", ValueKind::String) => frame.name = Some(scanner.text()?),
                (b"file", ValueKind::String) => frame.file = Some(scanner.text()?),
                // An invalid line counts as no line.
                (b"line", ValueKind::Number) => {
                    frame.line = scanner.number()?.unsigned().unwrap_or(0)
                }
                (b"col", ValueKind::Number) => {
                    frame.col = scanner.number()?.unsigned().unwrap_or(0)
                }
                _ => scanner.skip()?,
            }
        }
        Ok(frame)
    }
}

enum SpeedscopeRecord<'d, 'a> {
    Frame(Frame<'a>),
    Profile(&'d OneProfile<'a>),
}

impl Record for SpeedscopeRecord<'_, '_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Frame(_) => "frame",
            Self::Profile(_) => "profile",
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        let mut text = |name, text: Option<Text<'_>>| {
            sink.text(name, text.map(|text| text.decode()).unwrap_or_default().as_bytes());
        };
        match self {
            Self::Frame(frame) => {
                text("name", frame.name);
                text("file", frame.file);
                sink.unsigned("line", frame.line);
                sink.unsigned("col", frame.col);
            }
            Self::Profile(profile) => {
                text("name", profile.name);
                text("unit", profile.unit);
                for (name, number) in [("start_value", profile.start), ("end_value", profile.end)] {
                    sink.float(name, number.unwrap_or(0) as f64 / 1e9);
                }
                let of_events = profile.events.is_some();
                sink.unsigned("samples", if of_events { 0 } else { profile.count });
                sink.unsigned("weights", profile.weight_count);
                sink.unsigned("events", if of_events { profile.count } else { 0 });
            }
        }
    }
}

/// Passes every frame and every profile to the visitor.
pub fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let (document, damage) = Document::read(bytes, options)?;
    let frames = frames(document.frames.unwrap_or_default(), document.frames_offset)
        .map(|(offset, frame)| Ok((offset, SpeedscopeRecord::Frame(frame))));
    let is_after = |profile: &&OneProfile<'_>| profile.offset > document.frames_offset;
    let before = document.profiles.iter().filter(|profile| !is_after(profile)).map(record);
    let after = document.profiles.iter().filter(is_after).map(record);
    visit(before.chain(frames).chain(after).chain(damage.map(Err)), options, visitor)
}

fn record<'d, 'a>(profile: &'d OneProfile<'a>) -> Result<(u64, SpeedscopeRecord<'d, 'a>)> {
    Ok((profile.offset, SpeedscopeRecord::Profile(profile)))
}

/// Whether a file begins as speedscope's do: with the address of the schema, or with a list of
/// frames or of profiles.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    let head = bytes.get(..64 << 10).unwrap_or(bytes);
    let mut scanner = Scanner::new(head, 0);
    if scanner.begin_object().is_err() {
        return false;
    }
    let has = |word: &[u8], within: usize| {
        memchr::memmem::find(head.get(..within).unwrap_or(head), word).is_some()
    };
    if has(b"https://www.speedscope.app/", 1 << 10) {
        return true;
    }
    for _ in 0..8 {
        let Ok(Some(key)) = scanner.key() else { return false };
        match (key.raw(), scanner.peek()) {
            (b"shared", Ok(ValueKind::Object)) => return has(b"\"frames\"", head.len()),
            (b"profiles", Ok(ValueKind::Array)) => {
                let has = |word: &[u8]| has(word, head.len());
                return has(b"\"sampled\"") && has(b"\"samples\"")
                    || has(b"\"evented\"") && has(b"\"events\"");
            }
            _ if scanner.skip().is_err() => return false,
            _ => {}
        }
    }
    false
}
