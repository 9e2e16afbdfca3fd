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
    /// Length of the chunk in nanoseconds.
    pub(super) duration: u64,
    /// Ticks of the recording's clock at the start of the chunk.
    pub(super) start_ticks: u64,
    pub(super) ticks_per_second: u64,
    /// Whether the recorder did not finish the chunk: it was killed, or still runs.
    is_open: bool,
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
            // Each flush counts the first byte up; the end of the chunk makes it 0.
            is_open: flags >> 24 != 0,
        })
    }

    /// The time of a number of ticks, in nanoseconds since 1970.
    pub(super) fn time(&self, ticks: u64) -> i128 {
        let since = i128::from(ticks).wrapping_sub(i128::from(self.start_ticks));
        i128::from(self.start).wrapping_add(self.scaled(since))
    }

    pub(super) fn nanoseconds(&self, ticks: u64) -> i64 {
        i64::try_from(self.scaled((ticks as i64).into())).unwrap_or(i64::MAX)
    }

    fn scaled(&self, ticks: i128) -> i128 {
        // Most clocks have this rate, and a division takes longer than the rest of an event.
        if self.ticks_per_second == 1_000_000_000 {
            return ticks;
        }
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
    /// Whether the recording ended before the chunk did: the program crashed, or the file is cut.
    pub(super) is_unfinished: bool,
}

impl<'a> Chunk<'a> {
    /// The events in the order of the file, up to the first that is damaged.
    pub(super) fn events(&self) -> Events<'a> {
        let mut cursor = Cursor::new(self.bytes, self.offset);
        cursor.skip_to_remaining(self.bytes.len().saturating_sub(HEADER));
        Events { cursor, is_unfinished: self.is_unfinished, damage: None }
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
        let metadata = event(self.header.metadata).filter(|event| event.type_id == METADATA)?;
        let (mut checkpoints, mut offset) = (Vec::new(), self.header.checkpoint);
        let mut end = u64::MAX;
        loop {
            let checkpoint = event(offset).filter(|event| event.type_id == CHECKPOINT)?;
            let length = checkpoint.fields.remaining() as u64;
            // No event may lie inside another one, so that no byte is read twice.
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
        let mut cursor = self.at(usize::try_from(offset).ok()?);
        Event::read_short(&mut cursor).or_else(|| Event::read(&mut cursor).ok())
    }

    /// A cursor at an offset from the start of the chunk.
    pub(super) fn at(&self, offset: usize) -> Cursor<'a> {
        let rest = self.bytes.get(offset..).unwrap_or_default();
        Cursor::new(rest, self.offset.saturating_add(offset as u64))
    }

    pub(super) fn damage(&self) -> Option<Error> {
        let end = self.offset.saturating_add(self.bytes.len() as u64);
        self.is_unfinished.then(|| {
            Error::truncated(end, "the last chunk is unfinished")
                .expected("a chunk with a size and metadata, in the state 0")
                .hint("the program was killed or still runs; its last events are missing")
        })
    }
}

pub(super) struct Events<'a> {
    cursor: Cursor<'a>,
    is_unfinished: bool,
    damage: Option<Error>,
}

impl<'a> Events<'a> {
    /// The error that ended the events before the end of the chunk.
    pub(super) fn damage(self) -> Option<Error> {
        self.damage
    }

    #[cold]
    fn next_long(&mut self) -> Option<Event<'a>> {
        if self.cursor.is_empty() {
            return None;
        }
        match Event::read(&mut self.cursor) {
            Ok(event) => Some(event),
            Err(error) => {
                self.cursor.skip_to_remaining(0);
                // The end of an unfinished chunk was not written yet.
                self.damage = Some(error).filter(|_| !self.is_unfinished);
                None
            }
        }
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a>> {
        Event::read_short(&mut self.cursor).or_else(|| self.next_long())
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    /// Offset in the file.
    pub(super) offset: u64,
    /// The number of its type in the chunk's metadata.
    pub(super) type_id: u64,
    pub(super) fields: Cursor<'a>,
}

impl<'a> Event<'a> {
    /// Reads an event whose size has one, two or four bytes, as the JDK writes them, and whose type
    /// has one or two, without a branch for each byte. `None`, without moving, for others.
    #[inline]
    fn read_short(cursor: &mut Cursor<'a>) -> Option<Self> {
        let (rest, offset) = (cursor.rest(), cursor.offset());
        let word = u64::from_le_bytes(*rest.first_chunk()?);
        let low = word & 0x7f;
        let (size, types, used) = if word & 0x80 == 0 {
            (low, word >> 8, 1usize)
        } else if word & 0x8000 == 0 {
            (low | (word & 0x7f00) >> 1, word >> 16, 2)
        } else if word & 0x8080_0000 == 0x0080_0000 {
            let high = (word & 0x7f_0000) >> 2 | (word & 0x7f00_0000) >> 3;
            (low | (word & 0x7f00) >> 1 | high, word >> 32, 4)
        } else {
            return None;
        };
        let (type_id, used) = if types & 0x80 == 0 {
            (types & 0x7f, used.wrapping_add(1))
        } else if types & 0x8000 == 0 {
            (types & 0x7f | (types & 0x7f00) >> 1, used.wrapping_add(2))
        } else {
            return None;
        };
        let fields = rest.get(used..size as usize)?;
        cursor.skip_to_remaining(rest.len().wrapping_sub(size as usize));
        Some(Self {
            offset,
            type_id,
            fields: Cursor::new(fields, offset.wrapping_add(used as u64)),
        })
    }

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
        let is_whole = size >= HEADER && header.metadata != 0 && size <= rest.len();
        // A recorder that was killed may leave events after those that its header knows.
        let next = rest.get(size..).filter(|_| is_whole);
        let has_end = next.is_some_and(|next| !header.is_open || next.starts_with(MAGIC));
        let whole = rest.get(..size).filter(|_| has_end).unwrap_or(rest);
        let is_unfinished = !is_whole || header.is_open;
        let chunk = Chunk { header, offset: offset as u64, bytes: whole, is_unfinished };
        offset = offset.saturating_add(whole.len());
        Some(Ok(chunk))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_all_sizes_are_read_as_one_by_one() {
        let mut bytes = Vec::new();
        // Sizes of one, two, four (JDK) and three bytes, and types of two and of three bytes.
        for head in [
            &[9u8, 100][..],
            &[0x8a, 0, 0x81, 1],
            &[0x8c, 0x80, 0x80, 0, 0x83, 2],
            &[0x8c, 0x80, 0, 3],
            &[9, 0x80, 0x80, 1],
            &[0x80 | 72, 1, 5],
        ] {
            let mut after = Cursor::new(head, 0);
            let size = varint(&mut after, "a size").unwrap() as usize;
            bytes.extend(head);
            bytes.extend(vec![0x81; size - head.len()]);
        }
        let (mut fast, mut slow) = (Cursor::new(&bytes, 5), Cursor::new(&bytes, 5));
        let mut short = 0;
        while !slow.is_empty() {
            let event = Event::read(&mut slow).unwrap();
            match Event::read_short(&mut fast) {
                Some(read) => {
                    short += 1;
                    let parts =
                        |event: Event<'_>| (event.offset, event.type_id, event.fields.offset());
                    assert_eq!((parts(read), read.fields), (parts(event), event.fields));
                }
                None => drop(Event::read(&mut fast).unwrap()),
            }
            assert_eq!(fast, slow);
        }
        assert_eq!(short, 4);
        // The slow way refuses a size less than its own bytes, or beyond the end.
        for head in [[1u8, 7, 0, 0, 0, 0, 0, 0], [9, 7, 0, 0, 0, 0, 0, 0]] {
            assert!(Event::read_short(&mut Cursor::new(&head, 0)).is_none());
        }
    }
}
