//! Records and their parts: tags, big-endian numbers, segments.

use std::io::{self, Write};

/// Tags of records.
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

/// Tags of the sub-records of a segment.
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

/// The type of a field or of the elements of an array. The value is its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Basic {
    Object = 2,
    Boolean = 4,
    Char = 5,
    Float = 6,
    Double = 7,
    Byte = 8,
    Short = 9,
    Int = 10,
    Long = 11,
}

impl Basic {
    /// Java's types of numbers by name.
    pub(super) const NUMBERS: [(&str, Self); 8] = [
        ("boolean", Self::Boolean),
        ("char", Self::Char),
        ("float", Self::Float),
        ("double", Self::Double),
        ("byte", Self::Byte),
        ("short", Self::Short),
        ("int", Self::Int),
        ("long", Self::Long),
    ];

    /// Bytes of a number; 0 for references, whose width is that of ids.
    pub(super) fn width(self) -> u32 {
        match self {
            Self::Object => 0,
            Self::Boolean | Self::Byte => 1,
            Self::Char | Self::Short => 2,
            Self::Float | Self::Int => 4,
            Self::Double | Self::Long => 8,
        }
    }
}

/// The trace that everything has which has none of its own.
pub(super) const TRACE: u32 = 1;

/// Bytes of sub-records in a segment, unless one of them is larger by itself.
const SEGMENT: usize = 1 << 20;

/// Writes records and collects sub-records into segments, in one buffer that is used again and again.
pub(super) struct Out<W> {
    out: W,
    wide: bool,
    buffer: Vec<u8>,
    /// The envelope of the segment is written already: one large sub-record streams through the buffer.
    streaming: bool,
}

impl<W: Write> Out<W> {
    /// `wide`: ids take 8 bytes, not 4.
    pub(super) fn new(out: W, wide: bool) -> Self {
        Self { out, wide, buffer: Vec::with_capacity(SEGMENT + 4096), streaming: false }
    }

    /// Writes a record outside of segments, of the body that was collected since the last one.
    pub(super) fn record(&mut self, tag: u8) -> io::Result<()> {
        self.envelope(tag, self.buffer.len() as u32)?;
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Begins a sub-record of `length` bytes, the tag included. It goes into the segment under way if it has room.
    #[inline]
    pub(super) fn begin(&mut self, tag: u8, length: u64) -> io::Result<()> {
        if self.streaming || self.buffer.len() as u64 + length > SEGMENT as u64 {
            self.end_segment()?;
            if length > SEGMENT as u64 {
                self.envelope(tag::HEAP_DUMP_SEGMENT, length as u32)?;
                self.streaming = true;
            }
        }
        self.buffer.push(tag);
        Ok(())
    }

    /// Begins an instance with so many bytes of fields.
    #[inline]
    pub(super) fn instance(&mut self, id: u64, class: u64, length: u32) -> io::Result<()> {
        if self.wide {
            self.begin(sub::INSTANCE_DUMP, 25 + u64::from(length))?;
            self.u8(id);
            self.u4(TRACE);
            self.u8(class);
            self.u4(length);
            return Ok(());
        }
        self.begin(sub::INSTANCE_DUMP, 17 + u64::from(length))?;
        // One copy: most of a file is made of these.
        let mut header = [0; 16];
        header[..4].copy_from_slice(&(id as u32).to_be_bytes());
        header[4..8].copy_from_slice(&TRACE.to_be_bytes());
        header[8..12].copy_from_slice(&(class as u32).to_be_bytes());
        header[12..].copy_from_slice(&length.to_be_bytes());
        self.buffer.extend_from_slice(&header);
        Ok(())
    }

    /// Lets a large sub-record flow. To be called now and then while one is written.
    pub(super) fn relieve(&mut self) -> io::Result<()> {
        if self.streaming && self.buffer.len() >= SEGMENT {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Ends a file without a heap.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the dump.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.end_segment()?;
        self.envelope(tag::HEAP_DUMP_END, 0)?;
        self.out.flush()
    }

    fn end_segment(&mut self) -> io::Result<()> {
        if !self.streaming && !self.buffer.is_empty() {
            self.envelope(tag::HEAP_DUMP_SEGMENT, self.buffer.len() as u32)?;
        }
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.streaming = false;
        Ok(())
    }

    fn envelope(&mut self, tag: u8, length: u32) -> io::Result<()> {
        let mut envelope = [0; 9];
        envelope[0] = tag;
        envelope[5..].copy_from_slice(&length.to_be_bytes());
        self.out.write_all(&envelope)
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
        match self.wide {
            true => self.u8(id),
            false => self.u4(id as u32),
        }
    }

    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Numbers of `N` bytes whose last byte is the most significant.
    #[inline]
    pub(super) fn swapped<const N: usize>(&mut self, bytes: &[u8]) {
        for number in bytes.as_chunks::<N>().0 {
            let mut number = *number;
            number.reverse();
            self.buffer.extend_from_slice(&number);
        }
    }

    /// Bytes of a large sub-record.
    pub(super) fn stream(&mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.chunks(SEGMENT) {
            self.buffer.extend_from_slice(chunk);
            self.relieve()?;
        }
        Ok(())
    }

    /// Zeros of a small sub-record.
    #[inline]
    pub(super) fn small_zeros(&mut self, count: usize) {
        self.buffer.resize(self.buffer.len() + count, 0);
    }

    /// Zeros of a sub-record of any size.
    pub(super) fn zeros(&mut self, count: u64) -> io::Result<()> {
        let mut left = count;
        while left > 0 {
            let step = left.min(SEGMENT as u64);
            self.buffer.resize(self.buffer.len() + step as usize, 0);
            left -= step;
            self.relieve()?;
        }
        Ok(())
    }
}

/// Writes the header. The time is 0, so that the same heap gives the same bytes.
pub(super) fn header<W: Write>(out: &mut Out<W>) -> io::Result<()> {
    out.out.write_all(b"JAVA PROFILE 1.0.2\0")?;
    out.out.write_all(&if out.wide { 8u32 } else { 4 }.to_be_bytes())?;
    out.out.write_all(&0u64.to_be_bytes())
}
