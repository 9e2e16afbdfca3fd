//! Dumps with a JSON value a line (Ruby, Python), whose lines are read in parallel.

use crate::error::{Error, ErrorKind, Result};
use crate::input::info::{Info, InfoWarning, SnapshotInfo};
use crate::input::json::Scanner;
use crate::input::read::{ReadOptions, Visitor};
use crate::model::addresses::Addresses;
use crate::model::fields::Record;
use crate::model::heap::{LoadWarning, WarningKind};
use crate::parallel;
use std::marker::PhantomData;

pub(super) trait JsonLine<'a>: Sized {
    /// Reads a line in the form in which most lines are written. `None` leaves it to
    /// [`JsonLine::read`].
    fn read_plain(_line: &'a [u8]) -> Option<Self> {
        None
    }

    /// Reads a line, which may end before the end of the value. Fails when the line is not JSON, or
    /// a member is not of its type.
    fn read(json: &mut Scanner<'a>) -> Result<Self>;

    /// Whether the line states its type.
    fn is_known(&self) -> bool;
}

/// The size of a part of the file in bytes.
const PART: usize = 4 << 20;

/// The lines of a part that could not be read.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    pub(super) count: u64,
    /// The error of the first skipped line.
    pub(super) first: Option<Error>,
    /// The error of the last line of the file if that line is cut off.
    pub(super) cut: Option<Error>,
}

impl Skipped {
    /// Adds the heap of the file to the summary, with the damage and a warning about skipped lines.
    pub(super) fn summarize(self, info: &mut Info, heap: SnapshotInfo) {
        let (kind, count) = (WarningKind::MalformedLines, self.count);
        let warning = InfoWarning::Load(LoadWarning { kind, count });
        info.warnings.extend((count > 0).then_some(warning));
        info.set_heap(heap, self.cut);
        info.set_damage(self.first);
    }

    /// The damage of the file: where it is cut off, or else its first line that is not JSON.
    pub(super) fn damage(self) -> Option<Error> {
        self.cut.or(self.first)
    }

    /// Adds the skipped lines of the next part.
    pub(super) fn add(&mut self, next: Self) {
        self.count = self.count.saturating_add(next.count);
        self.first = self.first.take().or(next.first);
        self.cut = next.cut;
    }
}

/// Reads all lines: `each` gets the state of a part, the offset of a line, and the line. Returns
/// the states in order, and the skipped lines.
pub(super) fn read_all<'a, L: JsonLine<'a>, S: Default + Send>(
    bytes: &'a [u8],
    progress: crate::input::read::Progress<'_>,
    each: impl Fn(&mut S, u64, &L) + Sync,
) -> (Vec<S>, Skipped) {
    let parts = parts(bytes);
    let outcomes = parallel::map(parts, |(start, end)| {
        progress(start as u64);
        let (mut state, mut skipped) = (S::default(), Skipped::default());
        read_part(bytes, start, end, &mut skipped, |offset, line| each(&mut state, offset, line));
        (state, skipped)
    });
    let mut all = Skipped::default();
    let mut states = Vec::with_capacity(outcomes.len());
    for (state, skipped) in outcomes {
        states.push(state);
        all.add(skipped);
    }
    (states, all)
}

/// Passes every line to the visitor, as a record. Lines that are not JSON are left out. Fails with
/// the first line that was left out, or the end of the input inside a line.
pub(super) fn for_each_line<'a, L: JsonLine<'a>, R: Record>(
    bytes: &'a [u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
    record: impl Fn(L) -> R,
) -> Result<()> {
    let mut damage = None;
    for (count, (offset, line)) in Lines::<L>::new(bytes, 0).enumerate() {
        if count.is_multiple_of(65536) {
            (options.progress)(offset);
        }
        match line.map(&record) {
            Ok(record) if visitor.record(offset, &record).is_break() => return Ok(()),
            Ok(_) => {}
            Err(error) => _ = damage.get_or_insert(error),
        }
    }
    damage.map_or(Ok(()), Err)
}

/// The number of a part, and the number of an object within the part.
pub(super) type Place = (u32, u32);

/// The positions of the objects of all parts, in the order of their addresses. The first of several
/// lines with one address counts.
pub(super) fn places<P, O>(
    parts: &[P],
    addresses: &Addresses,
    objects: impl Fn(&P) -> &[O],
    address: impl Fn(&O) -> u64,
) -> Vec<Place> {
    const NONE: Place = (u32::MAX, u32::MAX);
    let mut places = vec![NONE; addresses.len()];
    for (number, part) in (0u32..).zip(parts) {
        for (row, object) in (0u32..).zip(objects(part)) {
            let object = addresses.at(address(object));
            let place = object.and_then(|object| places.get_mut(object.index()));
            if let Some(place) = place.filter(|place| **place == NONE) {
                *place = (number, row);
            }
        }
    }
    places
}

/// The ranges of parts, which begin after a line feed.
fn parts(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let mut start = 0usize;
    while start < bytes.len() {
        let least = start.saturating_add(PART);
        let end = bytes.get(least..).and_then(|rest| memchr::memchr(b'\n', rest));
        let end = end.map_or(bytes.len(), |end| least.wrapping_add(end).wrapping_add(1));
        parts.push((start, end));
        start = end;
    }
    parts
}

/// Reads the lines between two offsets.
fn read_part<'a, L: JsonLine<'a>>(
    bytes: &'a [u8],
    start: usize,
    end: usize,
    skipped: &mut Skipped,
    mut each: impl FnMut(u64, &L),
) {
    let bytes = bytes.get(..end).unwrap_or_default();
    for (offset, line) in Lines::<L>::new(bytes, start) {
        match line {
            Ok(line) => each(offset, &line),
            Err(error) if error.kind() == ErrorKind::Truncated => skipped.cut = Some(error),
            Err(error) => {
                skipped.count = skipped.count.saturating_add(1);
                skipped.first.get_or_insert(error);
            }
        }
    }
}

/// The lines from an offset on, each with its offset. The error of a line that the input cuts off
/// is `Truncated`, of others `Corrupt`.
pub(super) struct Lines<'a, L> {
    bytes: &'a [u8],
    json: Scanner<'a>,
    at: usize,
    line: PhantomData<L>,
}

impl<'a, L: JsonLine<'a>> Lines<'a, L> {
    /// The lines from `start` on, which is the beginning of a line.
    pub(super) fn new(bytes: &'a [u8], start: usize) -> Self {
        Self { bytes, json: Scanner::new(bytes, 0), at: start, line: PhantomData }
    }

    #[inline]
    fn read(&mut self, start: usize, next: usize) -> Result<L> {
        self.json.restart(start);
        let is_last = next == self.bytes.len() && !self.bytes.ends_with(b"\n");
        if is_last {
            // Reading a line ends before its flags, where the input may be cut.
            self.json.skip()?;
            self.json.restart(start);
        }
        let malformed = |error: Error| match error.kind() {
            // A quote that was not escaped can make a string reach to the end of the input.
            ErrorKind::Truncated if !is_last => {
                Error::corrupt(start as u64, "a line that is not JSON")
            }
            _ => error.context("in a line that was skipped"),
        };
        let line = L::read(&mut self.json).map_err(malformed)?;
        if self.json.offset() > next as u64 || !line.is_known() {
            Err(Error::corrupt(start as u64, "a line that is not JSON, or has no type"))
        } else {
            Ok(line)
        }
    }
}

impl<'a, L: JsonLine<'a>> Iterator for Lines<'a, L> {
    type Item = (u64, Result<L>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (start, rest) =
                (self.at, self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?);
            let feed = memchr::memchr(b'\n', rest);
            self.at =
                feed.map_or(self.bytes.len(), |feed| start.wrapping_add(feed).wrapping_add(1));
            let line = rest.get(..self.at.wrapping_sub(start)).unwrap_or_default();
            if let Some(line) = L::read_plain(line) {
                return Some((start as u64, Ok(line)));
            }
            if !line.trim_ascii().is_empty() {
                return Some((start as u64, self.read(start, self.at)));
            }
        }
    }
}
