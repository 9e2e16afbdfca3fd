//! The sections of version 2, in file order.

use crate::bytes::Cursor;
use crate::error::{Error, Result};
use byteorder::{ByteOrder, LE};
use std::num::Saturating;

/// One section. `start` and `end` are absolute file offsets; `end` is exclusive.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// The tag: `coll`, `refs`, `strs`, `type`, `fram`; `index` for the tail, which has no tag.
    pub name: &'static str,
    /// Offset of the first byte of the tag.
    pub start: u64,
    /// Offset after the last row.
    pub end: u64,
    /// The first number of the header: rows, but in some dialects of `strs` the index of the first
    /// string.
    pub count: u64,
    /// The second number of the header: nominal bytes of a row. `None` in `strs` and in the index.
    pub entry_size: Option<u64>,
    /// The number of rows in the section. For `strs`, counted while reading.
    pub rows: u64,
    pub payload: &'a [u8],
}

/// The sections of a file in order. After an error the iterator has ended.
#[derive(Clone, Debug)]
pub(super) struct Sections<'a> {
    cursor: Cursor<'a>,
    count: Saturating<u64>,
    snapshots: Saturating<u64>,
    last: &'static str,
    ended: bool,
}

impl<'a> Sections<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            cursor: Cursor::at(bytes, 16),
            count: Saturating(0),
            snapshots: Saturating(0),
            last: "",
            ended: false,
        }
    }

    fn section(&mut self) -> Result<Section<'a>> {
        if self.last == "fram"
            && let Some(index) = read_index(&mut self.cursor, self.snapshots.0)
        {
            return Ok(index);
        }
        let cursor = &mut self.cursor;
        let start = cursor.offset();
        match cursor.take(4, "the tag of a section")? {
            b"coll" => fixed_rows(cursor, "coll", start, 28),
            b"type" => fixed_rows(cursor, "type", start, 16),
            b"fram" => fixed_rows(cursor, "fram", start, 32),
            b"refs" => reference_rows(cursor, start),
            b"strs" => string_rows(cursor, start),
            _ if self.last == "fram"
                && (cursor.remaining() as u64)
                    < self.snapshots.0.saturating_mul(32).saturating_add(28) =>
            {
                Err(cursor.truncated("the index"))
            }
            tag => Err(Error::corrupt(
                start,
                format!("unknown section \"{}\"", tag.escape_ascii()),
            )
            .expected("coll, refs, strs, type, fram or the index at the end")
            .hint(
                "sections do not store their length in bytes, so nothing after this can be read",
            )),
        }
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = Result<Section<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if self.cursor.is_empty() {
            self.ended = true;
            let error = Error::truncated(self.cursor.offset(), "the input ends before the index")
                .hint("the profiled process was probably killed, or the file was copied while it was written");
            return (self.last != "index").then_some(Err(error));
        }
        let count = self.count;
        let section =
            self.section().map_err(|error| error.context(format!("after {count} sections")));
        match &section {
            Ok(section) => {
                self.last = section.name;
                self.count += 1;
                self.snapshots += u64::from(section.name == "coll");
            }
            Err(_) => self.ended = true,
        }
        Some(section)
    }
}

/// Reads the rest as the index: four numbers for each snapshot, then four more, of which the last
/// counts snapshots.
fn read_index<'a>(cursor: &mut Cursor<'a>, snapshots: u64) -> Option<Section<'a>> {
    let start = cursor.offset();
    let count = LE::read_u64(cursor.rest().last_chunk::<8>()?);
    let length = count.checked_mul(32)?.checked_add(32)?;
    if count != snapshots || length != cursor.remaining() as u64 {
        return None;
    }
    let payload = cursor.take(length, "the index").ok()?;
    let end = cursor.offset();
    Some(Section { name: "index", start, end, count, entry_size: None, rows: count, payload })
}

fn fixed_rows<'a>(
    cursor: &mut Cursor<'a>,
    name: &'static str,
    start: u64,
    width: u64,
) -> Result<Section<'a>> {
    let (count, entry_size) = header(cursor)?;
    if entry_size != width {
        let at = cursor.offset().saturating_sub(8);
        return Err(Error::corrupt(
            at,
            format!("the rows of section {name} have an unexpected size"),
        )
        .expected(format!("{width} bytes"))
        .found(entry_size.to_string()));
    }
    let payload = cursor.take(count.saturating_mul(width), "the rows of a section")?;
    let (end, entry_size) = (cursor.offset(), Some(entry_size));
    Ok(Section { name, start, end, count, entry_size, rows: count, payload })
}

fn reference_rows<'a>(cursor: &mut Cursor<'a>, start: u64) -> Result<Section<'a>> {
    let (count, entry_size) = header(cursor)?;
    if count > cursor.remaining() as u64 / 4 {
        return Err(cursor
            .truncated("the rows of section refs")
            .expected(format!("{count} rows of at least 4 bytes"))
            .found(format!("{} bytes left", cursor.remaining())));
    }
    let rest = cursor.rest();
    let mut walk = *cursor;
    for _ in 0..count {
        let at = walk.offset();
        let width = walk.u8("a reference")?;
        let Some(number) = number_bytes(width) else { return Err(unknown_width(at, width)) };
        walk.take(number.saturating_mul(2).saturating_add(1), "a reference")?;
    }
    let length = walk.offset().saturating_sub(cursor.offset());
    *cursor = walk;
    let payload = rest.get(..usize::try_from(length).unwrap_or(usize::MAX)).unwrap_or_default();
    let (end, entry_size) = (cursor.offset(), Some(entry_size));
    Ok(Section { name: "refs", start, end, count, entry_size, rows: count, payload })
}

/// Reads strings up to the next `type` section, because the number in the header is not a count in
/// every dialect.
fn string_rows<'a>(cursor: &mut Cursor<'a>, start: u64) -> Result<Section<'a>> {
    let count = cursor.u64::<LE>("the header of section strs")?;
    let rest = cursor.rest();
    let begin = cursor.offset();
    let mut rows = 0u64;
    while !cursor.rest().starts_with(b"type") {
        let length = cursor.u64::<LE>("the length of a string")?;
        cursor.take(length, "a string")?;
        rows = rows.saturating_add(1);
    }
    let length = usize::try_from(cursor.offset().saturating_sub(begin)).unwrap_or(usize::MAX);
    let payload = rest.get(..length).unwrap_or_default();
    let end = cursor.offset();
    Ok(Section { name: "strs", start, end, count, entry_size: None, rows, payload })
}

fn header(cursor: &mut Cursor<'_>) -> Result<(u64, u64)> {
    Ok((
        cursor.u64::<LE>("the row count of a section")?,
        cursor.u64::<LE>("the row size of a section")?,
    ))
}

fn number_bytes(width: u8) -> Option<u64> {
    match width {
        b'0' => Some(1),
        b'1' => Some(2),
        b'3' => Some(4),
        b'6' => Some(8),
        _ => None,
    }
}

#[cold]
fn unknown_width(offset: u64, width: u8) -> Error {
    Error::corrupt(offset, "a reference has an unknown width")
        .expected("'0', '1', '3' or '6'")
        .found(format!("byte {width:#04x}"))
}

/// One row of `refs`: its kind, value and target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) kind: u64,
    pub(super) value: u64,
    pub(super) target: u64,
}

/// Decodes the rows of a `refs` section, whose widths were checked when the section was read.
pub(super) fn references(payload: &[u8]) -> impl Iterator<Item = Reference> {
    let mut cursor = Cursor::new(payload, 0);
    std::iter::from_fn(move || {
        let width = cursor.u8("a reference").ok()?;
        let kind = u64::from(cursor.u8("a reference").ok()?);
        let mut number = || match width {
            b'0' => cursor.u8("a reference").ok().map(u64::from),
            b'1' => cursor.u16::<LE>("a reference").ok().map(u64::from),
            b'3' => cursor.u32::<LE>("a reference").ok().map(u64::from),
            _ => cursor.u64::<LE>("a reference").ok(),
        };
        Some(Reference { kind, value: number()?, target: number()? })
    })
}

/// Decodes the rows of a `strs` section.
pub(super) fn strings(payload: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut cursor = Cursor::new(payload, 0);
    std::iter::from_fn(move || {
        let length = cursor.u64::<LE>("a string").ok()?;
        cursor.take(length, "a string").ok()
    })
}

/// Decodes the rows of a `type` (N = 2) or `fram` (N = 4) section.
///
/// Discards the upper half of each 64-bit field: writers since 2019.11 fill the fields from 32-bit
/// ones, so that it belongs to the neighbouring field. No real index or line needs it.
pub(super) fn table_rows<const N: usize>(payload: &[u8]) -> impl Iterator<Item = [u64; N]> + '_ {
    payload.chunks_exact(const { N * 8 }).map(|row| {
        let mut fields = [0; N];
        for (field, bytes) in fields.iter_mut().zip(row.as_chunks::<8>().0) {
            *field = u64::from_le_bytes(*bytes) & 0xffff_ffff;
        }
        fields
    })
}
