//! Records and their parts: tags, big-endian numbers, segments.

use crate::java::FieldType;
use std::io::{self, Write};

pub(super) mod tag {
    pub(crate) const UTF8: u8 = 0x01;
    pub(crate) const LOAD_CLASS: u8 = 0x02;
    pub(crate) const FRAME: u8 = 0x04;
    pub(crate) const TRACE: u8 = 0x05;
    pub(crate) const ALLOC_SITES: u8 = 0x06;
    pub(crate) const START_THREAD: u8 = 0x0a;
    pub(crate) const CPU_SAMPLES: u8 = 0x0d;
    pub(crate) const HEAP_DUMP_SEGMENT: u8 = 0x1c;
    pub(crate) const HEAP_DUMP_END: u8 = 0x2c;
}

pub(super) mod sub {
    pub(crate) const ROOT_JAVA_FRAME: u8 = 0x03;
    pub(crate) const ROOT_STICKY_CLASS: u8 = 0x05;
    pub(crate) const ROOT_THREAD_OBJECT: u8 = 0x08;
    pub(crate) const CLASS_DUMP: u8 = 0x20;
    pub(crate) const INSTANCE_DUMP: u8 = 0x21;
    pub(crate) const OBJECT_ARRAY: u8 = 0x22;
    pub(crate) const PRIM_ARRAY: u8 = 0x23;
    pub(crate) const ROOT_UNKNOWN: u8 = 0xff;
}

/// The bytes of a number; 0 for references, which are as wide as ids.
pub(super) fn width(kind: FieldType) -> u32 {
    kind.width().map_or(0, |width| width as u32)
}

/// The trace of all objects without a trace of their own.
pub(super) const TRACE: u32 = 1;

/// The largest size of the sub-records in a segment. A larger sub-record has a segment of its own.
const SEGMENT: usize = 1 << 20;

/// A block of the zeros that pad objects to their sizes.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Bytes of a record before its body: tag, time, length.
const ENVELOPE: usize = 9;

/// Writes records and collects sub-records into segments, in one buffer that is reused.
///
/// The buffer begins with space for the envelope, so that a segment is written in one piece of
/// about 1 MiB, which buffered writers pass on without copying it.
pub(super) struct Out<W> {
    out: W,
    wide: bool,
    buffer: Vec<u8>,
    /// Whether a large sub-record, whose envelope is already filled in, streams through the buffer.
    streaming: bool,
}

impl<W: Write> Out<W> {
    /// `wide`: ids take 8 bytes, not 4.
    pub(super) fn new(out: W, wide: bool) -> Self {
        let mut buffer = Vec::with_capacity(ENVELOPE + SEGMENT + 4096);
        buffer.resize(ENVELOPE, 0);
        Self { out, wide, buffer, streaming: false }
    }

    /// Writes a record outside segments. Its body is the data collected since the last record.
    pub(super) fn record(&mut self, tag: u8) -> io::Result<()> {
        self.envelope(tag, (self.buffer.len() - ENVELOPE) as u64);
        self.out.write_all(&self.buffer)?;
        self.buffer.truncate(ENVELOPE);
        Ok(())
    }

    /// Begins a sub-record of `length` bytes, the tag included. It becomes part of the present
    /// segment if that has enough space.
    #[inline]
    pub(super) fn begin(&mut self, tag: u8, length: u64) -> io::Result<()> {
        self.make_room(length)?;
        self.buffer.push(tag);
        Ok(())
    }

    #[inline]
    fn make_room(&mut self, length: u64) -> io::Result<()> {
        if self.streaming || self.buffer.len() as u64 + length > (ENVELOPE + SEGMENT) as u64 {
            self.end_segment()?;
            if length > SEGMENT as u64 {
                self.envelope(tag::HEAP_DUMP_SEGMENT, length);
                self.streaming = true;
            }
        }
        Ok(())
    }

    /// Writes the header of an instance and returns its fields, all zeros, to fill in.
    #[inline]
    pub(super) fn instance(&mut self, id: u64, class: u64, length: usize) -> io::Result<&mut [u8]> {
        let header = if self.wide { 24 } else { 16 };
        self.make_room((1 + header + length) as u64)?;
        let start = self.buffer.len();
        self.buffer.resize(start + 1 + header + length, 0);
        self.buffer[start] = sub::INSTANCE_DUMP;
        let (header, fields) = self.buffer[start + 1..].split_at_mut(header);
        if self.wide {
            header[..8].copy_from_slice(&id.to_be_bytes());
            header[8..12].copy_from_slice(&TRACE.to_be_bytes());
            header[12..20].copy_from_slice(&class.to_be_bytes());
            header[20..].copy_from_slice(&(length as u32).to_be_bytes());
        } else {
            header[..4].copy_from_slice(&(id as u32).to_be_bytes());
            header[4..8].copy_from_slice(&TRACE.to_be_bytes());
            header[8..12].copy_from_slice(&(class as u32).to_be_bytes());
            header[12..].copy_from_slice(&(length as u32).to_be_bytes());
        }
        Ok(fields)
    }

    pub(super) fn object_array(&mut self, id: u64, class: u64, length: u64) -> io::Result<()> {
        let width = if self.wide { 8 } else { 4 };
        self.begin(sub::OBJECT_ARRAY, 9 + (2 + length) * width)?;
        self.id(id);
        self.u4(TRACE);
        self.u4(length as u32);
        self.id(class);
        Ok(())
    }

    /// Writes the header of an array of numbers, and returns the bytes that they take.
    pub(super) fn number_array(
        &mut self,
        id: u64,
        kind: FieldType,
        length: u64,
    ) -> io::Result<u64> {
        let bytes = length * u64::from(width(kind));
        self.begin(sub::PRIM_ARRAY, if self.wide { 18 } else { 14 } + bytes)?;
        self.id(id);
        self.u4(TRACE);
        self.u4(length as u32);
        self.u1(kind as u8);
        Ok(bytes)
    }

    /// Appends zeros and returns them to fill in, unless a large sub-record is under way.
    #[inline]
    pub(super) fn area(&mut self, length: u64) -> Option<&mut [u8]> {
        if self.streaming {
            return None;
        }
        let start = self.buffer.len();
        self.buffer.resize(start + length as usize, 0);
        self.buffer.get_mut(start..)
    }

    /// Flushes the buffered part of a large sub-record. Called repeatedly while one is written.
    pub(super) fn relieve(&mut self) -> io::Result<()> {
        if self.streaming && self.buffer.len() >= SEGMENT {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Flushes the output at the end of a file without a heap.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.end_segment()?;
        self.record(tag::HEAP_DUMP_END)?;
        self.out.flush()
    }

    fn end_segment(&mut self) -> io::Result<()> {
        if self.streaming {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
            self.buffer.resize(ENVELOPE, 0);
            self.streaming = false;
            return Ok(());
        }
        match self.buffer.len() {
            ENVELOPE => Ok(()),
            _ => self.record(tag::HEAP_DUMP_SEGMENT),
        }
    }

    /// Fills in the envelope that the buffer begins with.
    fn envelope(&mut self, tag: u8, length: u64) {
        self.buffer[0] = tag;
        self.buffer[5..ENVELOPE].copy_from_slice(&(length as u32).to_be_bytes());
    }

    #[inline]
    pub(super) fn u1(&mut self, value: u8) {
        self.buffer.push(value);
    }

    #[inline]
    pub(super) fn u2(&mut self, value: u16) {
        self.buffer.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    pub(super) fn u4(&mut self, value: u32) {
        self.buffer.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    pub(super) fn u8(&mut self, value: u64) {
        self.buffer.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    pub(super) fn id(&mut self, id: u64) {
        if self.wide { self.u8(id) } else { self.u4(id as u32) }
    }

    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Writes bytes of a large sub-record.
    pub(super) fn stream(&mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.chunks(SEGMENT) {
            self.buffer.extend_from_slice(chunk);
            self.relieve()?;
        }
        Ok(())
    }

    /// Writes zeros of a sub-record of any size.
    pub(super) fn zeros(&mut self, count: u64) -> io::Result<()> {
        let mut left = count;
        while left > 0 {
            let step = left.min(ZEROS.len() as u64);
            self.buffer.extend_from_slice(&ZEROS[..step as usize]);
            left -= step;
            self.relieve()?;
        }
        Ok(())
    }
}

/// Writes an id into the bytes of fields or elements.
#[inline]
pub(super) fn put_id(fields: &mut [u8], place: usize, id: u64, wide: bool) {
    if wide {
        fields[place..place + 8].copy_from_slice(&id.to_be_bytes())
    } else {
        fields[place..place + 4].copy_from_slice(&(id as u32).to_be_bytes())
    }
}

/// Writes the header. The time is 0, so that the same heap always produces the same bytes.
pub(super) fn header<W: Write>(out: &mut Out<W>) -> io::Result<()> {
    out.out.write_all(b"JAVA PROFILE 1.0.2\0")?;
    out.out.write_all(&if out.wide { 8u32 } else { 4 }.to_be_bytes())?;
    out.out.write_all(&0u64.to_be_bytes())
}
