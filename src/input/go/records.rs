//! The records of a dump, one by one, as they stand there.

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
use crate::input::{ReadOptions, Visitor, visit};
use crate::model::fields::{FieldSink, Record};

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the records are named in the table of the module above")]
pub enum Rec<'a> {
    Eof,
    Object(Object<'a>),
    OtherRoot(OtherRoot<'a>),
    Type(Type<'a>),
    Goroutine(Goroutine<'a>),
    StackFrame(StackFrame<'a>),
    Params(Params<'a>),
    Finalizer(Finalizer),
    Itab(Itab),
    OsThread(OsThread),
    Memstats(Memstats<'a>),
    QueuedFinalizer(Finalizer),
    DataSegment(Segment<'a>),
    BssSegment(Segment<'a>),
    Defer(Defer),
    Panic(Panic),
    Memprof(Memprof<'a>),
    AllocSample(AllocSample),
    Draft(Draft<'a>),
}

impl Record for Rec<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Eof => "eof",
            Self::Object(_) => "object",
            Self::OtherRoot(_) => "other_root",
            Self::Type(_) => "type",
            Self::Goroutine(_) => "goroutine",
            Self::StackFrame(_) => "stack_frame",
            Self::Params(_) => "params",
            Self::Finalizer(_) => "finalizer",
            Self::Itab(_) => "itab",
            Self::OsThread(_) => "os_thread",
            Self::Memstats(_) => "memstats",
            Self::QueuedFinalizer(_) => "queued_finalizer",
            Self::DataSegment(_) => "data_segment",
            Self::BssSegment(_) => "bss_segment",
            Self::Defer(_) => "defer",
            Self::Panic(_) => "panic",
            Self::Memprof(_) => "memprof",
            Self::AllocSample(_) => "alloc_sample",
            Self::Draft(record) => record.name(),
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match self {
            Self::Eof => {}
            Self::Object(record) => record.say(sink),
            Self::OtherRoot(record) => record.say(sink),
            Self::Type(record) => record.say(sink),
            Self::Goroutine(record) => record.say(sink),
            Self::StackFrame(record) => record.say(sink),
            Self::Params(record) => record.say(sink),
            Self::Finalizer(record) | Self::QueuedFinalizer(record) => record.say(sink),
            Self::Itab(record) => record.say(sink),
            Self::OsThread(record) => record.say(sink),
            Self::Memstats(record) => record.say(sink),
            Self::DataSegment(record) | Self::BssSegment(record) => record.say(sink),
            Self::Defer(record) => record.say(sink),
            Self::Panic(record) => record.say(sink),
            Self::Memprof(record) => record.say(sink),
            Self::AllocSample(record) => record.say(sink),
            Self::Draft(record) => record.say(sink),
        }
    }
}

/// The records of a file with their offsets. After the eof record or an error the iterator has ended.
///
/// A file that ends between two records without an eof record gives an error at its end, because the writer does not
/// notice when a disk is full. Bytes after the eof record are an error only where it came too early: see [`Self::trailing`].
#[derive(Clone, Debug)]
pub struct Records<'a> {
    cursor: Cursor<'a>,
    version: Version,
    state: State,
    objects: u64,
    memstats_seen: bool,
    /// Whether frames have a `contpc`; None while that is open.
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

    /// Reads by the layout of `version`, whatever the magic says.
    pub(super) fn with_version(bytes: &'a [u8], version: Version) -> Self {
        let has_contpc = if version == Version::Go13 { None } else { Some(true) };
        let cursor = Cursor::at(bytes, MAGIC_LENGTH as u64);
        Self { cursor, version, state: State::Reading, objects: 0, memstats_seen: false, has_contpc }
    }

    /// The layout.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Offset of the next record.
    pub fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// Bytes after the eof record; None if that has not been read.
    pub fn trailing(&self) -> Option<u64> {
        (self.state == State::Eof).then(|| self.cursor.remaining() as u64)
    }

    /// Whether the frames lack their `contpc`, as in dumps made by Go 1.3 between March and May 2014.
    pub fn lacks_contpc(&self) -> bool {
        self.has_contpc == Some(false)
    }

    /// Takes all objects up to the next record of another kind. Nearly all records are objects, and a pass over them takes
    /// half as long if no more than they is passed on.
    ///
    /// # Errors
    /// The first damage, after which the iterator has ended.
    #[inline]
    pub(super) fn take_objects(&mut self, take: impl FnMut(u64, &Object<'a>)) -> Result<()> {
        self.take_some_objects(u64::MAX, take)
    }

    /// As [`Self::take_objects`], but at most `most` of them.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub(super) fn take_some_objects(&mut self, most: u64, mut take: impl FnMut(u64, &Object<'a>)) -> Result<()> {
        let end = self.objects.saturating_add(most);
        while self.state == State::Reading {
            let left = end.saturating_sub(self.objects);
            plain::take_objects(&mut self.cursor, self.version, left, |offset, object| {
                self.objects = self.objects.wrapping_add(1);
                take(offset, object);
            });
            let ([1, ..], true) = (self.cursor.rest(), self.objects < end) else { break };
            let offset = self.cursor.offset();
            let object = self.cursor.u8("a record tag").and_then(|_| Object::read(&mut self.cursor, self.version));
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

    fn released_record(&mut self, start: u64, tag: u64) -> Result<Rec<'a>> {
        let version = self.version;
        let cursor = &mut self.cursor;
        Ok(match tag {
            0 => Rec::Eof,
            2 => Rec::OtherRoot(OtherRoot::read(cursor)?),
            3 => Rec::Type(Type::read(cursor, version)?),
            4 => Rec::Goroutine(Goroutine::read(cursor)?),
            5 => Rec::StackFrame(self.stack_frame()?),
            6 => Rec::Params(Params::read(cursor, version)?),
            7 => Rec::Finalizer(Finalizer::read(cursor)?),
            8 => Rec::Itab(Itab::read(cursor, version)?),
            9 => Rec::OsThread(OsThread::read(cursor)?),
            10 => {
                self.memstats_seen = true;
                Rec::Memstats(Memstats::read(cursor)?)
            }
            11 => Rec::QueuedFinalizer(Finalizer::read(cursor)?),
            12 => Rec::DataSegment(Segment::read(cursor, version)?),
            13 => Rec::BssSegment(Segment::read(cursor, version)?),
            14 => Rec::Defer(Defer::read(cursor)?),
            15 => Rec::Panic(Panic::read(cursor)?),
            16 => Rec::Memprof(Memprof::read(cursor)?),
            17 => Rec::AllocSample(AllocSample::read(cursor)?),
            _ => return Err(unknown_tag(start, tag, "a Go heap dump record (0 to 17)")),
        })
    }

    fn draft_record(&mut self, start: u64, tag: u64) -> Result<Rec<'a>> {
        match tag {
            3 => return Ok(Rec::Eof),
            10 => return Ok(Rec::Params(Params::read(&mut self.cursor, self.version)?)),
            _ => {}
        }
        if let Some(record) = Draft::read(&mut self.cursor, tag)? {
            return Ok(Rec::Draft(record));
        }
        if let 2 | 11..=19 = tag {
            return Err(Error::unsupported(start, format!("record tag {tag} belongs to a later draft of 1.3"))
                .expected("a record of the first draft (1, 3 to 10)")
                .hint("drafts between March 10 and 25, 2014 are not read"));
        }
        Err(unknown_tag(start, tag, "a record of the draft of 1.3 (1, 3 to 10)"))
    }

    /// Reads a frame. Whether frames of 1.3 have a `contpc` is decided at the first one: the layout without it counts
    /// only if the frame can be read so and is followed by a tag, and if it cannot be read with it or its `contpc`, which
    /// would really be the length of a name, is no address.
    fn stack_frame(&mut self) -> Result<StackFrame<'a>> {
        let has_contpc = match self.has_contpc {
            Some(has_contpc) => has_contpc,
            None => {
                let with = self.plausible_frame(true).and_then(|frame| frame.contpc);
                let is_address = with.is_some_and(|contpc| contpc == 0 || contpc >= 4096);
                is_address || self.plausible_frame(false).is_none()
            }
        };
        let frame = StackFrame::read(&mut self.cursor, self.version, has_contpc)?;
        self.has_contpc = Some(has_contpc);
        Ok(frame)
    }

    fn plausible_frame(&self, has_contpc: bool) -> Option<StackFrame<'a>> {
        let mut cursor = self.cursor;
        let frame = StackFrame::read(&mut cursor, self.version, has_contpc).ok()?;
        (cursor.is_empty() || cursor.uleb128("a record tag").is_ok_and(|tag| tag <= 17)).then_some(frame)
    }

    /// What is wrong when the input ends before an eof record, or an eof record comes before the statistics, which every
    /// released version writes first. The tag of an eof is 0, so that zeros in a damaged file look like one.
    #[cold]
    fn end(&mut self) -> Option<Error> {
        let offset = self.cursor.offset();
        let trailing = self.cursor.remaining();
        let error = match self.state {
            State::Reading => Error::truncated(offset, "the dump ends without its eof record"),
            State::Eof if !self.memstats_seen && trailing > 0 => Error::corrupt(offset, "the eof record comes too early")
                .expected("nothing after it")
                .found(format!("{trailing} bytes")),
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
        .hint("records carry no length, so nothing after this can be read")
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

/// Gives every record to the visitor.
///
/// # Errors
/// The first damage.
pub fn for_each_record(bytes: &[u8], options: ReadOptions<'_>, visitor: &mut impl Visitor) -> Result<()> {
    visit(Records::new(bytes)?, options, visitor).map(|_| ())
}
