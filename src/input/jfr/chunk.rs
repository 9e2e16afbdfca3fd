//! Chunks, and the events in them.

use super::wire::varint;
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use byteorder::BE;

/// The bytes that each chunk begins with.
pub(super) const MAGIC: &[u8] = b"FLR\0";

/// The size of a chunk's header in bytes.
const HEADER: usize = 68;

/// The number of the type of metadata events, and of checkpoints, which contain pools.
pub(super) const METADATA: u64 = 0;
pub(super) const CHECKPOINT: u64 = 1;

/// The header of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) major: u16,
    pub(super) minor: u16,
    /// Bytes of the whole chunk; 0 while it is being written.
    pub(super) size: u64,
    /// Offset of the last checkpoint from the start of the chunk.
    pub(super) checkpoint: u64,
    /// Offset of the metadata event from the start of the chunk; 0 while the chunk is being
    /// written.
    pub(super) metadata: u64,
    /// Start of the chunk in nanoseconds since 1970.
    pub(super) start: u64,
    /// Nanoseconds.
    pub(super) duration: u64,
    /// Ticks of the recording's clock at the start of the chunk.
    pub(super) start_ticks: u64,
    pub(super) ticks_per_second: u64,
}

impl Header {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let offset = cursor.offset();
        let magic = cursor.take(4, "the magic of a chunk")?;
        if magic != MAGIC {
            return Err(Error::corrupt(offset, "no chunk begins here")
                .expected("46 4c 52 00 (FLR)")
                .found(format!("{magic:02x?}")));
        }
        let (major, minor) = (cursor.u16::<BE>("a version")?, cursor.u16::<BE>("a version")?);
        if major != 2 {
            let what = format!("version {major}.{minor} of a recording");
            return Err(Error::unsupported(offset, what)
                .expected("2.x, which JDK 11 and later write")
                .hint("record with JDK 8u262, 11 or later"));
        }
        let mut number = |what| cursor.u64::<BE>(what);
        let (size, checkpoint) = (number("the size of a chunk")?, number("an offset")?);
        let (metadata, start) = (number("an offset")?, number("a time")?);
        let (duration, start_ticks) = (number("a duration")?, number("a time")?);
        let ticks_per_second = number("the frequency of a clock")?;
        let flags = cursor.u32::<BE>("the flags of a chunk")?;
        if flags & 1 == 0 {
            return Err(Error::unsupported(offset, "a recording without compressed integers")
                .expected("bit 0 of the chunk's flags to be set"));
        }
        Ok(Self {
            major,
            minor,
            size,
            checkpoint,
            metadata,
            start,
            duration,
            start_ticks,
            ticks_per_second,
        })
    }

    /// The time of a number of ticks, in nanoseconds since 1970.
    pub(super) fn time(&self, ticks: u64) -> i128 {
        let since = i128::from(ticks).wrapping_sub(i128::from(self.start_ticks));
        i128::from(self.start).wrapping_add(self.scaled(since))
    }

    /// A number of ticks in nanoseconds.
    pub(super) fn nanoseconds(&self, ticks: u64) -> i64 {
        i64::try_from(self.scaled((ticks as i64).into())).unwrap_or(i64::MAX)
    }

    fn scaled(&self, ticks: i128) -> i128 {
        let per_second = i128::from(self.ticks_per_second.max(1));
        ticks.wrapping_mul(1_000_000_000).checked_div(per_second).unwrap_or(0)
    }
}

/// A chunk: ids, metadata and pools belong to it alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    pub(super) header: Header,
    /// Offset in the file.
    pub(super) offset: u64,
    /// The bytes of the chunk, header included, as far as the file has them.
    pub(super) bytes: &'a [u8],
    /// The recording ended before the chunk did: the program crashed, or the file is cut.
    pub(super) is_unfinished: bool,
}

impl<'a> Chunk<'a> {
    /// The events in the order of the file, up to the first that is damaged.
    pub(super) fn events(&self) -> impl Iterator<Item = Result<Event<'a>>> + use<'a> {
        let mut cursor = Cursor::new(self.bytes, self.offset);
        cursor.skip_to_remaining(self.bytes.len().saturating_sub(HEADER));
        let is_unfinished = self.is_unfinished;
        let mut ended = false;
        std::iter::from_fn(move || {
            if ended || cursor.is_empty() {
                return None;
            }
            let event = Event::read(&mut cursor);
            ended = event.is_err();
            // What an unfinished chunk ends with was not written yet.
            event.map_or_else(
                |error| (!is_unfinished).then_some(Err(error)),
                |event| Some(Ok(event)),
            )
        })
    }

    /// The metadata and the checkpoints of a chunk that was finished, as its header and the
    /// checkpoints link them, in the order of the file. `None` if a link does not lead to what it
    /// should: then they lie somewhere between the events.
    pub(super) fn linked(&self) -> Option<(Event<'a>, Vec<Event<'a>>)> {
        if self.is_unfinished {
            return None;
        }
        let event = |offset: u64| {
            let offset = usize::try_from(offset).ok().filter(|offset| *offset >= HEADER)?;
            Event::read(&mut self.at(offset)).ok()
        };
        let metadata = event(self.header.metadata).filter(|of| of.type_id == METADATA)?;
        let (mut checkpoints, mut offset) = (Vec::new(), self.header.checkpoint);
        let mut end = u64::MAX;
        loop {
            let checkpoint = event(offset).filter(|of| of.type_id == CHECKPOINT)?;
            let length = checkpoint.fields.remaining() as u64;
            // None may lie inside another one, so that no byte is read twice.
            if checkpoint.fields.offset().checked_add(length)? > end {
                return None;
            }
            end = checkpoint.offset;
            let mut fields = checkpoint.fields;
            varint(&mut fields, "a time").and_then(|_| varint(&mut fields, "a duration")).ok()?;
            let delta = varint(&mut fields, "the offset of a checkpoint").ok()? as i64;
            checkpoints.push(checkpoint);
            match delta {
                0 => break,
                // Each lies before the one that leads to it.
                ..0 => offset = offset.checked_add_signed(delta)?,
                1.. => return None,
            }
        }
        checkpoints.reverse();
        Some((metadata, checkpoints))
    }

    /// The event at an offset from the start of the chunk.
    pub(super) fn event(&self, offset: u64) -> Option<Event<'a>> {
        Event::read(&mut self.at(usize::try_from(offset).ok()?)).ok()
    }

    /// A cursor at an offset from the start of the chunk.
    pub(super) fn at(&self, offset: usize) -> Cursor<'a> {
        let rest = self.bytes.get(offset..).unwrap_or_default();
        Cursor::new(rest, self.offset.saturating_add(offset as u64))
    }

    /// The error for a chunk that was not finished.
    pub(super) fn damage(&self) -> Option<Error> {
        let end = self.offset.saturating_add(self.bytes.len() as u64);
        self.is_unfinished.then(|| {
            Error::truncated(end, "the last chunk is unfinished")
                .expected("a chunk with a size and metadata")
                .hint("the program ended while it was recording; its last events are lost")
        })
    }
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    /// Offset in the file.
    pub(super) offset: u64,
    /// The number of its type in the chunk's metadata.
    pub(super) type_id: u64,
    /// Its fields.
    pub(super) fields: Cursor<'a>,
}

impl<'a> Event<'a> {
    #[inline]
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let (offset, before) = (cursor.offset(), cursor.remaining());
        let mut head = *cursor;
        let size = varint(&mut head, "the size of an event")?;
        let type_id = varint(&mut head, "the type of an event")?;
        let used = before.wrapping_sub(head.remaining());
        if size < used as u64 {
            return Err(Error::corrupt(offset, format!("an event of {size} bytes"))
                .expected(format!("at least the {used} bytes of its size and type")));
        }
        let whole = cursor.take(size, "an event")?;
        let fields =
            Cursor::new(whole.get(used..).unwrap_or_default(), offset.saturating_add(used as u64));
        Ok(Self { offset, type_id, fields })
    }
}

/// The chunks of a file, up to the first that is damaged.
pub(super) fn chunks(bytes: &[u8]) -> impl Iterator<Item = Result<Chunk<'_>>> {
    let mut offset = 0usize;
    let mut ended = false;
    std::iter::from_fn(move || {
        let rest = bytes.get(offset..).filter(|rest| !ended && !rest.is_empty())?;
        let mut cursor = Cursor::new(rest, offset as u64);
        let header = match Header::read(&mut cursor) {
            Ok(header) => header,
            Err(error) => {
                ended = true;
                return Some(Err(error));
            }
        };
        let size = usize::try_from(header.size).unwrap_or(usize::MAX);
        let is_unfinished = size < HEADER || header.metadata == 0 || size > rest.len();
        ended = is_unfinished;
        let of = rest.get(..size).filter(|_| !is_unfinished).unwrap_or(rest);
        let chunk = Chunk { header, offset: offset as u64, bytes: of, is_unfinished };
        offset = offset.saturating_add(of.len());
        Some(Ok(chunk))
    })
}
