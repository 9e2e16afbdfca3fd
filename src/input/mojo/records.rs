//! The events of a MOJO file, one by one, in file order.

use super::NEWEST;
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::read::{ReadOptions, Visitor, visit};
use crate::input::record::{record, records};
use std::num::Saturating;

/// A varint of MOJO: a magnitude of up to 64 bits and a sign.
///
/// i64 is not enough: frame keys with all 64 bits set occur in files of every Austin release since
/// 3.4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Varint {
    pub magnitude: u64,
    /// Whether the sign bit was set. `-0` occurs and is 0.
    pub negative: bool,
}

impl Varint {
    /// The number with its sign.
    pub fn value(self) -> i128 {
        if self.negative {
            i128::from(self.magnitude).wrapping_neg()
        } else {
            i128::from(self.magnitude)
        }
    }

    /// A varint is an unsigned LEB128 number in which bit 6 is the sign.
    #[inline]
    fn of_leb128(number: u64) -> Self {
        Self { magnitude: number & 0x3f | number >> 7 << 6, negative: number & 0x40 != 0 }
    }

    /// The number as a key or a count: a negative one wraps, as the writers cast to unsigned.
    #[inline]
    fn as_key(self) -> u64 {
        if self.negative { self.magnitude.wrapping_neg() } else { self.magnitude }
    }
}

impl From<Varint> for i128 {
    fn from(varint: Varint) -> Self {
        varint.value()
    }
}

records! {
    /// One event. The table of the module above lists the versions of each; events 13 to 16 belong
    /// to version 4, but austin-python reads them under any version and so does this reader.
    /// `check` reports them.
    pub enum Event<'a>(version: u64) {
        1 "metadata" Metadata {
            key: &'a [u8] = c_string("a metadata key") => text,
            value: &'a [u8] = c_string("a metadata value") => text,
        },
        2 "stack" Stack {
            pid: Varint = varint("a process id") => signed,
            interpreter: Option<Varint> = varint("an interpreter id") if version >= 3 => signed as "iid",
            thread: &'a [u8] = c_string("a thread id") => text as "tid",
        },
        3 "frame" Frame(FrameDefinition) = read(version),
        4 "invalid_frame" InvalidFrame,
        5 "frame_ref" FrameRef { key: u64 = varint_key("a frame key") => unsigned },
        6 "kernel_frame" KernelFrame { symbol: &'a [u8] = c_string("a kernel symbol") => text },
        7 "gc" Gc,
        8 "idle" Idle,
        9 "time" Time { microseconds: Varint = varint("a time") => signed as "us" },
        10 "memory" Memory { bytes: Varint = varint("a memory delta") => signed },
        11 "string" String {
            key: u64 = varint_key("a string key") => unsigned,
            value: &'a [u8] = c_string("a string") => text,
        },
        12 "string_ref" StringRef { key: u64 = varint_key("a string key") => unsigned },
        13 "stack_repeat" StackRepeat,
        14 "task_stack" TaskStack {
            task: u64 = varint_key("a task id") => unsigned as "task_id",
            name: u64 = varint_key("a task's name key") => unsigned as "name_key",
            frames: u64 = varint_key("a task's frame count") => unsigned as "frame_count",
        },
        15 "task_waiter" TaskWaiter {
            task: u64 = varint_key("a task id") => unsigned as "task_id",
            waiter: u64 = varint_key("a waiter id") => unsigned as "waiter_id",
        },
        16 "task_running" TaskRunning { task: u64 = varint_key("a task id") => unsigned as "task_id" },
    }
}

record! {
    /// The frame that a FRAME event defines. Lines and columns are 1-based; 0 is unknown.
    pub struct FrameDefinition(version: u64) {
        /// The key by which FRAME_REF refers to it.
        key: u64 = varint_key("a frame key") => unsigned,
        file: u64 = varint_key("a file key") => unsigned as "file_key",
        /// String key of the function's name.
        scope: u64 = varint_key("a scope key") => unsigned as "scope_key",
        /// First line of the instruction; the byte offset inside the function for native frames.
        line: Varint = varint("a line") => signed,
        /// Last line. This and the columns are from version 2 on, and known only for CPython 3.11
        /// and later.
        line_end: Option<Varint> = varint("a line end") if version >= 2 => signed,
        /// First column.
        column: Option<Varint> = varint("a column") if version >= 2 => signed,
        /// Last column.
        column_end: Option<Varint> = varint("a column end") if version >= 2 => signed,
    }
}

impl FrameDefinition {
    /// Whether the last line or a column is known.
    pub fn has_range(&self) -> bool {
        [self.line_end, self.column, self.column_end].iter().flatten().any(|end| end.magnitude > 0)
    }
}

const FRAME_REF: u8 = 5;

/// FRAME_REF events in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameRefs {
    pub(super) count: u64,
    /// The offset of the last one.
    pub(super) offset: u64,
    /// The frame that the last one refers to.
    pub(super) key: u64,
}

/// The events of a file with their offsets. After an error the iterator has ended.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    cursor: Cursor<'a>,
    version: u64,
    count: Saturating<u64>,
}

impl<'a> Records<'a> {
    /// Reads the header: magic and version. Fails when the magic is another one or the version is
    /// cut off. A version newer than 4 is not an error here: see [`Records::version_error`].
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        if cursor.take(3, "the magic")? != b"MOJ" {
            return Err(super::SPEC.wrong_magic());
        }
        let version = varint(&mut cursor, "the version")?.magnitude;
        Ok(Self { cursor, version, count: Saturating(0) })
    }

    /// The version of the format, which the file states.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns an error for an unknown version. Its events are read by the rules of the newest
    /// known version, which is what austin-python does, so that unchanged events are still shown.
    pub fn version_error(&self) -> Option<Error> {
        match self.version {
            1..=NEWEST => None,
            version => Some(
                Error::unsupported(3, format!("MOJO version {version} is not known"))
                    .expected("version 1 to 4")
                    .hint("it was read by the rules of version 4; the result may be wrong"),
            ),
        }
    }

    /// Skips the FRAME_REF events that follow, if any. They are nearly all of a file, and a summary
    /// needs only their count and the last one. It may stop early: unusual events are left to the
    /// iterator.
    #[inline]
    pub(super) fn frame_refs(&mut self) -> Option<FrameRefs> {
        // A copy, because the compiler keeps it in registers.
        let mut cursor = self.cursor;
        let mut count = 0u64;
        let mut last = (0, 0);
        while let Some((&FRAME_REF, after)) = cursor.rest().split_first() {
            let mut ahead = Cursor::new(after, cursor.offset().wrapping_add(1));
            let Some(number) = ahead.uleb128_in_word() else { break };
            count = count.wrapping_add(1);
            last = (cursor.offset(), number);
            cursor = ahead;
        }
        self.cursor = cursor;
        self.count += count;
        (count > 0).then(|| FrameRefs {
            count,
            offset: last.0,
            key: Varint::of_leb128(last.1).as_key(),
        })
    }

    /// Like [`Records::frame_refs`], but returns the bytes of the run, which [`keys_of_run`]
    /// splits.
    #[inline]
    pub(super) fn run(&mut self) -> &'a [u8] {
        let start = self.cursor.rest();
        match self.frame_refs() {
            Some(_) => {
                start.get(..start.len().wrapping_sub(self.cursor.remaining())).unwrap_or_default()
            }
            None => &[],
        }
    }

    fn event(&mut self) -> Result<Event<'a>> {
        let start = self.cursor.offset();
        let id = self.cursor.u8("an event id")?;
        Event::read(id.into(), &mut self.cursor, self.version)?.ok_or_else(|| {
            Error::corrupt(start, format!("unknown event id {id}"))
                .expected("a MOJO event (1 to 16)")
                .context(format!("after {} events", self.count))
                .hint("events have no length field, so nothing after this can be read")
        })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u64, Event<'a>)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.is_empty() {
            return None;
        }
        let offset = self.cursor.offset();
        let event = self.event();
        match &event {
            Ok(_) => self.count += 1,
            Err(_) => self.cursor = Cursor::new(&[], offset),
        }
        Some(event.map(|event| (offset, event)))
    }
}

/// The keys of a run of FRAME_REF events.
pub(super) fn keys_of_run(run: &[u8]) -> impl Iterator<Item = u64> {
    let mut cursor = Cursor::new(run, 0);
    std::iter::from_fn(move || {
        cursor.u8("an event id").ok()?;
        varint_key(&mut cursor, "a frame key").ok()
    })
}

/// Passes every event to the visitor. Fails with the first damage, or an unknown version after all
/// that could be read by the rules of the newest one.
pub fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let records = Records::new(bytes)?;
    let version_error = records.version_error();
    visit(records.chain(version_error.map(Err)), options, visitor)
}

#[inline]
fn varint(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Varint> {
    if let [first, ..] = *cursor.rest()
        && first < 0x80
    {
        cursor.u8(what)?;
        return Ok(Varint { magnitude: u64::from(first & 0x3f), negative: first & 0x40 != 0 });
    }
    // Most of the others are addresses of seven bytes.
    if let Some(number) = cursor.uleb128_in_word() {
        return Ok(Varint::of_leb128(number));
    }
    // The longest keys have 64 bits and a sign, more than the LEB128 reader supports, so the first
    // byte is read separately.
    let start = cursor.offset();
    let first = cursor.u8(what)?;
    let negative = first & 0x40 != 0;
    let low = u64::from(first & 0x3f);
    let high = match cursor.uleb128(what) {
        Ok(high) => high,
        Err(error) if cursor.remaining() < 10 => return Err(error),
        Err(_) => return Err(too_long(start, what)),
    };
    if high >> 58 != 0 {
        return Err(too_long(start, what));
    }
    Ok(Varint { magnitude: low | high << 6, negative })
}

/// A string: the bytes up to a NUL.
fn c_string<'a>(cursor: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8]> {
    cursor.c_string(what)
}

/// A varint that represents a key or a count.
#[inline]
fn varint_key(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
    varint(cursor, what).map(Varint::as_key)
}

#[cold]
fn too_long(offset: u64, what: &str) -> Error {
    Error::corrupt(offset, format!("{what} is a number of more than 64 bits"))
        .expected("a magnitude of at most 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(magnitude: u64, negative: bool) -> Vec<u8> {
        let mut bytes = vec![(magnitude & 0x3f) as u8 | if negative { 0x40 } else { 0 }];
        let mut rest = magnitude >> 6;
        while rest > 0 {
            *bytes.last_mut().unwrap() |= 0x80;
            bytes.push((rest & 0x7f) as u8);
            rest >>= 7;
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<i128> {
        varint(&mut Cursor::new(bytes, 0), "a number").map(Varint::value)
    }

    #[test]
    fn varints_of_the_specification() {
        for (bytes, value) in [
            (&[0xc3, 0x02][..], -131),
            (&[0x00], 0),
            (&[0x40], 0),
            (&[0x3f], 63),
            (&[0x80, 0x01], 64),
            (&[0x81, 0x80, 0x00], 1),
        ] {
            assert_eq!(decode(bytes).unwrap(), value);
        }
    }

    proptest! {
        #[test]
        fn varints_of_64_bits_and_a_sign_come_back(magnitude: u64, shift in 0u32..64, negative: bool) {
            let magnitude = magnitude >> shift;
            let value = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
            prop_assert_eq!(decode(&encode(magnitude, negative)).unwrap(), value);
        }
    }

    #[test]
    fn runs_of_frame_refs_are_those_that_the_iterator_gives() {
        let keys = [
            (5, false),
            (0x7f3b_2000_0000, false),
            (77, true),
            (u64::MAX, false),
            (1 << 40, true),
            (9, false),
            (8, false),
        ];
        let refs: Vec<u8> = keys
            .iter()
            .flat_map(|&(key, negative)| [vec![FRAME_REF], encode(key, negative)].concat())
            .collect();
        let bytes = [b"MOJ\x03", &refs[..], b"\x07"].concat();
        let one_by_one: Vec<_> =
            Records::new(&bytes).unwrap().map(|record| record.unwrap()).collect();
        let (mut records, mut count) = (Records::new(&bytes).unwrap(), 0);
        let mut runs = 0;
        while count < one_by_one.len() {
            if let Some(refs) = records.frame_refs() {
                runs += 1;
                count += refs.count as usize;
                assert_eq!((refs.offset, Event::FrameRef { key: refs.key }), one_by_one[count - 1]);
            }
            // The longest key, those too near to the end, and GC are not in a run.
            if let Some(record) = records.next() {
                assert_eq!(record.unwrap(), one_by_one[count]);
                count += 1;
            }
        }
        assert_eq!((runs, count, records.count.0), (2, 8, 8));
        assert!(records.next().is_none());
    }

    #[test]
    fn a_magnitude_beyond_64_bits_is_damage() {
        let mut bytes = encode(u64::MAX, false);
        assert_eq!(decode(&bytes).unwrap(), i128::from(u64::MAX));
        *bytes.last_mut().unwrap() = 0x1f;
        assert!(decode(&bytes).unwrap_err().message().contains("more than 64 bits"));
        assert!(decode(&[0xff; 60]).unwrap_err().message().contains("more than 64 bits"));
    }
}
