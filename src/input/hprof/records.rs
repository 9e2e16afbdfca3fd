//! The records of a file, one by one, those inside heap dumps included.

use super::classes::ClassDump;
use super::header::Header;
use super::objects::Object;
use super::primitives::{IdSize, read_id, u4};
use super::roots::Root;
use super::statistics::{AllocSites, ControlSettings, CpuSamples, HeapSummary};
use super::symbols::{Frame, LoadClass, StartThread, Trace, Utf8};
use crate::bytes::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::input::record::records;
use crate::model::fields::{FieldSink, Record};
use std::num::Saturating;

/// A record of the file, or one inside a heap dump or segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rec<'a> {
    /// A top-level record, which has a time and a length. A heap dump or segment comes before the
    /// records inside it.
    Top {
        /// Microseconds since the time in the header; it wraps.
        time: u32,
        length: u32,
        body: Body<'a>,
    },
    Heap(HeapRec<'a>),
}

records! {
    /// The contents of a top-level record.
    pub enum Body<'a>(ids: IdSize) {
        0x01 "utf8" Utf8(Utf8<'a>) = read(ids),
        0x02 "load_class" LoadClass(LoadClass) = read(ids),
        0x03 "unload_class" UnloadClass { serial: u32 = u4("a class serial") => unsigned },
        0x04 "frame" Frame(Frame) = read(ids),
        0x05 "trace" Trace(Trace<'a>) = read(ids),
        0x06 "alloc_sites" AllocSites(AllocSites<'a>) = read(),
        0x07 "heap_summary" HeapSummary(HeapSummary) = read(),
        0x0a "start_thread" StartThread(StartThread) = read(ids),
        0x0b "end_thread" EndThread { serial: u32 = u4("a thread serial") => unsigned },
        0x0c "heap_dump" HeapDump,
        0x0d "cpu_samples" CpuSamples(CpuSamples<'a>) = read(),
        0x0e "control_settings" ControlSettings(ControlSettings) = read(),
        0x1c "heap_dump_segment" HeapDumpSegment,
        0x2c "heap_dump_end" HeapDumpEnd,
    }
}

records! {
    /// A record inside a heap dump.
    pub enum HeapRec<'a>(ids: IdSize) {
        0x20 "class_dump" ClassDump(ClassDump<'a>) = read(ids),
        0xfe "heap_info" HeapInfo {
            heap: u32 = u4("a heap") => unsigned,
            name: u64 = read_id("the name of a heap", ids) => address,
        },
    } else {
        Object(Object<'a>),
        Root(Root)
    }
}

impl Record for Rec<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Heap(record) => record.name(),
            Self::Top { body, .. } => body.name(),
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match self {
            Self::Heap(record) => record.fields(sink),
            Self::Top { time, length, body } => {
                sink.unsigned("time", (*time).into());
                sink.unsigned("length", (*length).into());
                body.fields(sink);
            }
        }
    }
}

/// Reads a record inside a heap dump.
#[inline]
pub(super) fn read_heap_record<'a>(cursor: &mut Cursor<'a>, ids: IdSize) -> Result<HeapRec<'a>> {
    let offset = cursor.offset();
    let tag = cursor.u8("the tag of a heap record")?;
    if let Some(object) = Object::read(tag, cursor, ids)? {
        return Ok(HeapRec::Object(object));
    }
    if let Some(record) = HeapRec::read(tag.into(), cursor, ids)? {
        return Ok(record);
    }
    match Root::read(tag, cursor, ids)? {
        Some(root) => Ok(HeapRec::Root(root)),
        None => Err(Error::corrupt(offset, format!("unknown tag {tag:#04x} of a heap record"))
            .expected("0x01 to 0x08, 0x20 to 0x23, 0xff, or one of Android's")
            .hint("heap records have no length field, so nothing after this can be read")),
    }
}

/// The records of a file with their offsets. The iterator ends after an error.
///
/// If a file ends after a segment without the record that ends the dump, the iterator returns an
/// error at the end: a file truncated between two records has no other sign of it.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    /// The cursor after the current segment.
    cursor: Cursor<'a>,
    header: Header,
    /// The rest of the current segment or heap dump.
    heap: Cursor<'a>,
    /// Whether the input ends inside the current segment.
    cut: bool,
    /// Whether there were segments, but not yet the record that ends the dump.
    open: bool,
    ended: bool,
    surplus: u64,
    objects: Saturating<u64>,
    /// The offset up to which segments are read one after the other, not in parallel.
    tried: u64,
}

impl<'a> Records<'a> {
    /// Reads the header. Fails when the magic is unknown, the header is truncated, or ids have
    /// neither 4 nor 8 bytes.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        let header = Header::read(&mut cursor)?;
        let heap = Cursor::new(&[], 0);
        Ok(Self {
            bytes,
            cursor,
            header,
            heap,
            cut: false,
            open: false,
            ended: false,
            surplus: 0,
            objects: Saturating(0),
            tried: 0,
        })
    }

    /// The header, which was read first.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number of bytes after the last field in the bodies of records, so far.
    pub fn surplus(&self) -> u64 {
        self.surplus
    }

    /// Skips the rest of a heap dump or segment, for callers that need only the records around it.
    pub(super) fn skip_heap_records(&mut self) {
        self.heap = Cursor::new(&[], 0);
    }

    /// The next record with its offset, if it is an intact object. Otherwise returns `None` and
    /// reads nothing. Nearly all records are objects.
    #[inline(always)]
    pub(super) fn next_object(&mut self) -> Option<(u64, Object<'a>)> {
        let (object, length) = Object::at_start(self.heap.rest(), self.header.id_size)?;
        let offset = self.heap.offset();
        self.heap.skip_to_remaining(self.heap.remaining().saturating_sub(length));
        self.objects += 1;
        Some((offset, object))
    }

    /// All bytes of the file.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The position of the next record, if the record is outside of segments and may begin segments
    /// to be read in parallel.
    pub(super) fn segments_ahead(&self) -> Option<Cursor<'a>> {
        (self.heap.is_empty() && self.cursor.offset() >= self.tried).then_some(self.cursor)
    }

    /// Makes segments up to this offset be read one after the other.
    pub(super) fn read_singly(&mut self, end: u64) {
        self.tried = end;
    }

    /// Skips the segments up to this offset, whose objects have been read.
    pub(super) fn skip_segments(&mut self, end: u64, objects: u64) {
        let skipped = end.saturating_sub(self.cursor.offset());
        let rest = (self.cursor.remaining() as u64).saturating_sub(skipped);
        self.cursor.skip_to_remaining(usize::try_from(rest).unwrap_or(usize::MAX));
        self.open |= skipped > 0;
        self.objects += objects;
    }

    fn top_level(&mut self) -> Result<Rec<'a>> {
        let cursor = &mut self.cursor;
        let start = cursor.offset();
        let tag = cursor.u8("the tag of a record")?;
        let time = u4(cursor, "the time of a record")?;
        let length = u4(cursor, "the length of a record")?;
        if let 0x0c | 0x1c = tag {
            let available = u64::from(length).min(cursor.remaining() as u64);
            let offset = cursor.offset();
            self.heap = Cursor::new(cursor.take(available, "a heap dump")?, offset);
            self.cut = available < u64::from(length);
            self.open |= tag == 0x1c;
            let body = if tag == 0x1c { Body::HeapDumpSegment } else { Body::HeapDump };
            return Ok(Rec::Top { time, length, body });
        }
        let unknown = || {
            Error::corrupt(start, format!("unknown record tag {tag:#04x}"))
                .expected("0x01 to 0x07, 0x0a to 0x0e, 0x1c or 0x2c")
        };
        if !Body::has_tag(tag.into()) {
            return Err(unknown());
        }
        let offset = cursor.offset();
        let mut inside = Cursor::new(cursor.take(length.into(), "the body of a record")?, offset);
        let body =
            Body::read(tag.into(), &mut inside, self.header.id_size).map_err(
                |error| match error.kind() {
                    // The body is complete, so its length is wrong.
                    ErrorKind::Truncated => Error::corrupt(
                        start,
                        format!("record {tag:#04x} is shorter than its fields"),
                    )
                    .found(format!("a length of {length}")),
                    _ => error,
                },
            )?;
        let body = body.ok_or_else(unknown)?;
        self.surplus = self.surplus.saturating_add(inside.remaining() as u64);
        self.open &= tag != 0x2c;
        Ok(Rec::Top { time, length, body })
    }

    #[cold]
    fn fail(&mut self, error: Error, start: u64) -> Error {
        self.ended = true;
        self.skip_heap_records();
        error.context(format!("in the record at {start:#x}, after {} objects", self.objects))
    }

    #[cold]
    fn fail_in_heap(&mut self, error: Error, start: u64) -> Error {
        let error = match error.kind() {
            ErrorKind::Truncated if !self.cut => {
                Error::corrupt(start, "a heap record reaches beyond the end of its segment")
                    .hint("a segment's length or a count is wrong")
            }
            _ => error,
        };
        self.fail(error, start)
    }

    /// Returns the error for an input that ends here.
    #[cold]
    fn end(&mut self) -> Option<Error> {
        if self.ended || !(self.cut || self.open) {
            return None;
        }
        self.ended = true;
        let what = if self.cut {
            "the input ends inside a heap dump"
        } else {
            "the heap dump ends without its last record"
        };
        let error = Error::truncated(self.cursor.offset(), what).expected(if self.cut {
            "more heap records"
        } else {
            "HEAP_DUMP_END"
        });
        Some(error.context(format!("after {} objects", self.objects)))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u64, Rec<'a>)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.heap.is_empty() {
            if self.ended || self.cut || self.cursor.is_empty() {
                return self.end().map(Err);
            }
            let offset = self.cursor.offset();
            return Some(
                self.top_level()
                    .map(|record| (offset, record))
                    .map_err(|error| self.fail(error, offset)),
            );
        }
        let offset = self.heap.offset();
        match read_heap_record(&mut self.heap, self.header.id_size) {
            Ok(record) => {
                self.objects += u64::from(matches!(record, HeapRec::Object(_)));
                Some(Ok((offset, Rec::Heap(record))))
            }
            Err(error) => Some(Err(self.fail_in_heap(error, offset))),
        }
    }
}
