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

/// The tag of a frame.
const STACK_FRAME: u64 = 5;

/// The records of a file with their offsets. After the eof record or an error the iterator has
/// ended.
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
    /// Whether frames have a `contpc`; `None` while that is open.
    has_contpc: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    Eof,
    Ended,
}

impl<'a> Records<'a> {
    /// Reads the magic.
    ///
    /// # Errors
    /// When the magic is another one.
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

    /// Takes all objects up to the next record of another kind. Nearly all records are objects, and
    /// a pass over them takes half as long if no more than they is passed on.
    ///
    /// # Errors
    /// The first damage, after which the iterator has ended.
    #[inline]
    pub(super) fn take_objects(&mut self, take: impl FnMut(u64, &Object<'a>)) -> Result<()> {
        self.take_some_objects(u64::MAX, take)
    }

    /// Like [`Self::take_objects`], but takes at most `most` objects.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::take_objects`].
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

    // Inlined, the seldom records would take registers from the objects.
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

    /// Whether the following frame has a `contpc`. In 1.3 the first frame decides: the layout
    /// without it applies only if the frame can be read in that layout and a tag follows, and if it
    /// cannot be read with a `contpc`, or that would really be the length of a name and not an
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

    /// The damage when the input ends before an eof record, or an eof record comes before the
    /// statistics, which every released version writes first. The tag of an eof is 0, so that zeros
    /// in a damaged file look like one.
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
