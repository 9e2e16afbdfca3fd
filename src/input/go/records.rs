//! The records of a dump, one by one, in file order.

use super::draft::Draft;
use super::goroutine::{Defer, Goroutine, OsThread, Panic, StackFrame};
use super::memprof::{AllocSample, Memprof};
use super::memstats::Memstats;
use super::object::Object;
use super::params::Params;
use super::plain;
use super::roots::{Finalizer, OtherRoot, Segment};
use super::types::{Itab, Type};
use super::version::{MAGIC_LENGTH, Version};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::record::records;

records! {
    /// One record.
    #[allow(missing_docs, reason = "the records are named in the table of the module above")]
    pub enum Rec<'a>(version: Version, has_contpc: bool) {
        1 "object" Object(Object<'a>) = read(version),
        2 "other_root" OtherRoot(OtherRoot<'a>) = read(),
        3 "type" Type(Type<'a>) = read(version),
        4 "goroutine" Goroutine(Goroutine<'a>) = read(),
        5 "stack_frame" StackFrame(StackFrame<'a>) = read(version, has_contpc),
        6 "params" Params(Params<'a>) = read(version),
        7 "finalizer" Finalizer(Finalizer) = read(),
        8 "itab" Itab(Itab) = read(version),
        9 "os_thread" OsThread(OsThread) = read(),
        10 "memstats" Memstats(Memstats<'a>) = read(),
        11 "queued_finalizer" QueuedFinalizer(Finalizer) = read(),
        12 "data_segment" DataSegment(Segment<'a>) = read(version),
        13 "bss_segment" BssSegment(Segment<'a>) = read(version),
        14 "defer" Defer(Defer) = read(),
        15 "panic" Panic(Panic) = read(),
        16 "memprof" Memprof(Memprof<'a>) = read(),
        17 "alloc_sample" AllocSample(AllocSample) = read(),
        0 "eof" Eof,
    } else {
        Draft(Draft<'a>)
    }
}

const STACK_FRAME: u64 = 5;

/// The records of a file with their offsets. The iterator ends after the eof record or an error.
///
/// A file that ends between two records without an eof record gives an error at its end, because
/// the writer does not notice when a disk is full. Bytes after the eof record are an error only
/// where it came too early: see [`Self::trailing`].
#[derive(Clone, Debug)]
pub struct Records<'a> {
    cursor: Cursor<'a>,
    version: Version,
    state: State,
    objects: u64,
    memstats_seen: bool,
    /// Whether frames have a `contpc`. `None` until the first frame of a 1.3 dump decides.
    has_contpc: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    Eof,
    Ended,
}

impl<'a> Records<'a> {
    /// Reads the magic. Fails when the magic is not that of a Go heap dump.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        Version::detect(bytes).map(|version| Self::with_version(bytes, version))
    }

    /// Reads by the layout of `version`, whatever the magic is.
    pub(super) fn with_version(bytes: &'a [u8], version: Version) -> Self {
        let has_contpc = if version == Version::Go13 { None } else { Some(true) };
        let cursor = Cursor::at(bytes, MAGIC_LENGTH as u64);
        Self {
            cursor,
            version,
            state: State::Reading,
            objects: 0,
            memstats_seen: false,
            has_contpc,
        }
    }

    /// The layout.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Offset of the next record.
    pub fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// Bytes after the eof record; `None` if that has not been read.
    pub fn trailing(&self) -> Option<u64> {
        (self.state == State::Eof).then(|| self.cursor.remaining() as u64)
    }

    /// Whether the frames lack their `contpc`, as in dumps made by Go 1.3 between March and May
    /// 2014.
    pub fn lacks_contpc(&self) -> bool {
        self.has_contpc == Some(false)
    }

    /// Passes all objects up to the next record of another kind to `take`. Nearly all records are
    /// objects, and a pass takes half as long if they are passed as objects rather than as records.
    /// Fails with the first damage, which also ends the iterator.
    #[inline]
    pub(super) fn take_objects(&mut self, take: impl FnMut(u64, &Object<'a>)) -> Result<()> {
        self.take_some_objects(u64::MAX, take)
    }

    /// Like [`Self::take_objects`], but takes at most `most` objects.
    #[inline]
    pub(super) fn take_some_objects(
        &mut self,
        most: u64,
        mut take: impl FnMut(u64, &Object<'a>),
    ) -> Result<()> {
        let end = self.objects.saturating_add(most);
        while self.state == State::Reading {
            let left = end.saturating_sub(self.objects);
            plain::take_objects(&mut self.cursor, self.version, left, |offset, object| {
                self.objects = self.objects.wrapping_add(1);
                take(offset, object);
            });
            let ([1, ..], true) = (self.cursor.rest(), self.objects < end) else { break };
            let offset = self.cursor.offset();
            let object = self
                .cursor
                .u8("a record tag")
                .and_then(|_| Object::read(&mut self.cursor, self.version));
            match object {
                Ok(object) => take(offset, &object),
                Err(error) => {
                    self.state = State::Ended;
                    return Err(self.explain(error, offset));
                }
            }
            self.objects = self.objects.wrapping_add(1);
        }
        Ok(())
    }

    #[inline]
    fn record(&mut self) -> Result<Rec<'a>> {
        let start = self.cursor.offset();
        let tag = self.cursor.uleb128("a record tag")?;
        if tag == 1 {
            let object = Object::read(&mut self.cursor, self.version)?;
            self.objects = self.objects.wrapping_add(1);
            return Ok(Rec::Object(object));
        }
        match self.version {
            Version::Draft13 => self.draft_record(start, tag),
            _ => self.released_record(start, tag),
        }
    }

    // Not inlined, because the rarer records would take registers from the objects.
    #[inline(never)]
    fn released_record(&mut self, start: u64, tag: u64) -> Result<Rec<'a>> {
        let has_contpc = tag != STACK_FRAME || self.has_contpc();
        let record = Rec::read(tag, &mut self.cursor, self.version, has_contpc)?;
        match record {
            Some(Rec::StackFrame(_)) => self.has_contpc = Some(has_contpc),
            Some(Rec::Memstats(_)) => self.memstats_seen = true,
            _ => {}
        }
        record.ok_or_else(|| unknown_tag(start, tag, "a Go heap dump record (0 to 17)"))
    }

    fn draft_record(&mut self, start: u64, tag: u64) -> Result<Rec<'a>> {
        match tag {
            3 => return Ok(Rec::Eof),
            10 => return Ok(Rec::Params(Params::read(&mut self.cursor, self.version)?)),
            _ => {}
        }
        if let Some(record) = Draft::read(tag, &mut self.cursor)? {
            return Ok(Rec::Draft(record));
        }
        if let 2 | 11..=19 = tag {
            return Err(Error::unsupported(
                start,
                format!("record tag {tag} belongs to a later draft of 1.3"),
            )
            .expected("a record of the first draft (1, 3 to 10)")
            .hint("dumptool does not read the drafts from March 10 to 25, 2014"));
        }
        Err(unknown_tag(start, tag, "a record of the draft of 1.3 (1, 3 to 10)"))
    }

    /// Whether the following frame has a `contpc`. In 1.3 the first frame decides. Frames lack the
    /// `contpc` only if this frame can be read without it and a tag follows, and if it cannot be
    /// read with a `contpc`, or that value is small: then it is the length of a name, not an
    /// address.
    fn has_contpc(&self) -> bool {
        self.has_contpc.unwrap_or_else(|| {
            let with = self.plausible_frame(true).and_then(|frame| frame.contpc);
            let is_address = with.is_some_and(|contpc| contpc == 0 || contpc >= 4096);
            is_address || self.plausible_frame(false).is_none()
        })
    }

    fn plausible_frame(&self, has_contpc: bool) -> Option<StackFrame<'a>> {
        let mut cursor = self.cursor;
        let frame = StackFrame::read(&mut cursor, self.version, has_contpc).ok()?;
        (cursor.is_empty() || cursor.uleb128("a record tag").is_ok_and(|tag| tag <= 17))
            .then_some(frame)
    }

    /// Returns the damage if the input ends before an eof record, or an eof record comes before the
    /// statistics, which every released version writes earlier. The tag of an eof is 0, so zeros in
    /// a damaged file look like one.
    #[cold]
    fn end(&mut self) -> Option<Error> {
        let offset = self.cursor.offset();
        let trailing = self.cursor.remaining();
        let error = match self.state {
            State::Reading => Error::truncated(offset, "the dump ends without its eof record"),
            State::Eof if !self.memstats_seen && trailing > 0 => {
                Error::corrupt(offset, "the eof record comes too early")
                    .expected("nothing after it")
                    .found(format!("{trailing} bytes"))
            }
            State::Eof | State::Ended => return None,
        };
        self.state = State::Ended;
        Some(error.context(format!("after {} objects", self.objects)))
    }

    #[cold]
    fn explain(&self, error: Error, start: u64) -> Error {
        error.context(format!("in the record at {start:#x}, after {} objects", self.objects))
    }
}

#[cold]
fn unknown_tag(offset: u64, tag: u64, expected: &'static str) -> Error {
    Error::corrupt(offset, format!("unknown record tag {tag}"))
        .expected(expected)
        .hint("records have no length field, so nothing after this can be read")
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u64, Rec<'a>)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.state != State::Reading || self.cursor.is_empty() {
            return self.end().map(Err);
        }
        let offset = self.cursor.offset();
        match self.record() {
            Ok(record) => {
                if let Rec::Eof = record {
                    self.state = State::Eof;
                }
                Some(Ok((offset, record)))
            }
            Err(error) => {
                self.state = State::Ended;
                Some(Err(self.explain(error, offset)))
            }
        }
    }
}

impl Version {
    /// The layout of a file, by its magic and, for the magic of 1.3, by the first records.
    ///
    /// A released dump always begins with its params: tag 6, a byte order of 0 or 1, a pointer size
    /// of 4 or 8. In the draft 6 is the tag of a root with an arbitrary pointer. A draft that
    /// begins with a root to address 0 or 1 followed by a stack root or thread looks the same; such
    /// a file is a draft if it can be read as one up to an eof at its very end, and not as released
    /// 1.3.
    ///
    /// Fails when the magic is not that of a Go heap dump.
    pub fn detect(bytes: &[u8]) -> Result<Self> {
        let magic = Cursor::new(bytes, 0).take(MAGIC_LENGTH as u64, "the magic")?;
        match magic {
            b"go1.3 heap dump\n" => Ok(draft_or_released(bytes)),
            b"go1.4 heap dump\n" => Ok(Self::Go14),
            b"go1.5 heap dump\n" => Ok(Self::Go15),
            b"go1.6 heap dump\n" => Ok(Self::Go16),
            b"go1.7 heap dump\n" => Ok(Self::Go17),
            _ => Err(super::SPEC.wrong_magic()),
        }
    }
}

fn draft_or_released(bytes: &[u8]) -> Version {
    match bytes.get(MAGIC_LENGTH..).unwrap_or_default() {
        [6, 0 | 1, 4 | 8, ..]
            if reaches_its_end(bytes, Version::Draft13)
                && !reaches_its_end(bytes, Version::Go13) =>
        {
            Version::Draft13
        }
        [6, 0 | 1, 4 | 8, ..] | [6, 0 | 1] | [6] | [] => Version::Go13,
        [1 | 3..=10, ..] => Version::Draft13,
        _ => Version::Go13,
    }
}

fn reaches_its_end(bytes: &[u8], version: Version) -> bool {
    let mut records = Records::with_version(bytes, version);
    records.by_ref().all(|record| record.is_ok()) && records.trailing() == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(rest: &[u8]) -> Version {
        Version::detect(&[b"go1.3 heap dump\n", rest].concat()).unwrap()
    }

    #[test]
    fn a_root_of_the_draft_that_looks_like_params_is_settled_by_reading_on() {
        // Root to address 1, stack root to 0x2000 in the frame at 0x3000, eof.
        assert_eq!(detect(&[6, 1, 4, 0x80, 0x40, 0x80, 0x60, 3]), Version::Draft13);
        // A truncated prefix of the same bytes is not a complete draft, and released dumps are far
        // more likely.
        assert_eq!(detect(&[6, 1, 4, 0x80, 0x40, 0x80, 0x60]), Version::Go13);
    }

    #[test]
    fn other_first_records_are_of_the_draft() {
        assert_eq!(detect(&[10, 0, 8, 3]), Version::Draft13);
        assert_eq!(detect(&[6, 0x80, 0x80, 0x40, 3]), Version::Draft13);
        assert_eq!(detect(&[]), Version::Go13);
    }

    #[test]
    fn a_cut_magic_is_an_error() {
        assert_eq!(Version::detect(b"go1.7 heap").unwrap_err().offset(), Some(10));
        assert!(Version::detect(b"go1.8 heap dump\n").is_err());
    }
}
