//! The blocks of version 3, in file order.

use super::frame::{FRAME_MAGIC, swapped_u64, take_frame};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use byteorder::{ByteOrder, LE};

/// The eight bytes that a block begins with: ASCII, padded with NULs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockName(pub [u8; 8]);

impl BlockName {
    /// The name without its padding.
    pub fn text(&self) -> &[u8] {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        self.0.get(..length).unwrap_or_default()
    }

    /// The name as a string. `None` if it is unknown.
    pub fn known(&self) -> Option<&'static str> {
        KNOWN.iter().map(|(name, _)| *name).find(|name| self.is(name))
    }

    /// Whether this is the name of a block, which is padded with zeros.
    pub fn is(&self, name: &str) -> bool {
        let (text, padding) = self.0.split_at_checked(name.len()).unwrap_or_default();
        text == name.as_bytes() && padding.iter().all(|byte| *byte == 0)
    }

    fn layout(self) -> Option<Layout> {
        KNOWN.iter().find(|(name, _)| self.is(name)).map(|(_, layout)| *layout)
    }

    fn shown(self) -> String {
        format!("\"{}\"", self.text().escape_ascii())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Meta,
    Column,
    Strings,
    Toc,
}

const KNOWN: [(&str, Layout); 20] = [
    ("filemeta", Layout::Meta),
    ("snapmeta", Layout::Meta),
    ("colkind", Layout::Column),
    ("colsize", Layout::Column),
    ("coltofi", Layout::Column),
    ("colrfcnt", Layout::Column),
    ("colrfstr", Layout::Column),
    ("colusize", Layout::Column),
    ("refdescr", Layout::Column),
    ("reftrget", Layout::Column),
    ("strings", Layout::Strings),
    ("reprname", Layout::Column),
    ("typename", Layout::Column),
    ("sfname", Layout::Column),
    ("sfcuid", Layout::Column),
    ("sfline", Layout::Column),
    ("sffile", Layout::Column),
    ("topIDs", Layout::Column),
    ("topscore", Layout::Column),
    ("toc", Layout::Toc),
];

/// The data that follows the name of a block.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// JSON with its terminating NUL, not compressed.
    Meta {
        /// Everything after the size field.
        payload: &'a [u8],
    },
    /// A zstd frame of numbers of `entry_size` bytes each.
    Column {
        /// Bytes of one number.
        entry_size: u16,
        /// The size field: 0 in every release of MoarVM.
        size: u64,
        frame: &'a [u8],
    },
    /// A zstd frame of strings, each a `u32` length and its bytes.
    Strings {
        /// The size field: 0 in every release of MoarVM.
        size: u64,
        frame: &'a [u8],
    },
    Toc {
        /// 24 bytes for each entry; see [`toc_entries`].
        entries: &'a [u8],
        /// The position of the table as its last field states it.
        own_start: u64,
    },
    /// A block with an unknown name, skipped because a table of contents gives its end.
    Unknown {
        /// Everything after the name.
        payload: &'a [u8],
    },
}

/// One block. `start` and `end` are absolute file offsets; `end` is exclusive.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    pub name: BlockName,
    /// Offset of the first byte of the name.
    pub start: u64,
    /// Offset of the first byte after the block. Unlike in the file's tables this includes the last
    /// field of a `toc`.
    pub end: u64,
    pub body: Body<'a>,
}

impl<'a> Block<'a> {
    /// The zstd frame with its absolute offset, if the block has one.
    pub(super) fn frame(&self) -> Option<(&'a [u8], u64)> {
        match self.body {
            Body::Column { frame, .. } | Body::Strings { frame, .. } => {
                Some((frame, self.end.saturating_sub(frame.len() as u64)))
            }
            Body::Meta { .. } | Body::Toc { .. } | Body::Unknown { .. } => None,
        }
    }

    /// Whether this is a table of contents of the whole file: of `filemeta` and other tables.
    pub fn is_outer_toc(&self) -> bool {
        let Body::Toc { entries, .. } = self.body else { return false };
        toc_entries(entries)
            .next()
            .is_some_and(|entry| entry.name.is("filemeta") || entry.name.is("toc"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TocEntry {
    pub name: BlockName,
    /// Offset of its first byte.
    pub start: u64,
    /// Offset after its last byte; for a `toc` after its last entry, so that 8 bytes more belong to
    /// it.
    pub end: u64,
}

/// Decodes the entries of a [`Body::Toc`].
pub(super) fn toc_entries(entries: &[u8]) -> impl Iterator<Item = TocEntry> + '_ {
    let (rows, _) = entries.as_chunks::<24>();
    rows.iter().map(|row| {
        let (name, positions) = row.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        let (start, end) = positions.split_at_checked(8).unwrap_or((&[0; 8], &[0; 8]));
        TocEntry { name: BlockName(*name), start: LE::read_u64(start), end: LE::read_u64(end) }
    })
}

/// Reads the block at the cursor by the layout that its name implies.
///
/// An unknown name is accepted if a zstd frame follows where a column or strings would have one.
pub(super) fn read_block<'a>(cursor: &mut Cursor<'a>) -> Result<Block<'a>> {
    let start = cursor.offset();
    let name = read_name(cursor)?;
    let layout =
        name.layout().or_else(|| guess_layout(cursor)).ok_or_else(|| unknown_block(start, name))?;
    let frame = |cursor: &mut Cursor<'a>| {
        take_frame(cursor).map_err(|error| error.context(format!("in block {}", name.shown())))
    };
    let body = match layout {
        Layout::Toc => read_toc(cursor)?,
        layout => read_body(cursor, layout, frame)?,
    };
    Ok(Block { name, start, end: cursor.offset(), body })
}

/// Reads the part after the name of a block that is not a table of contents. `frame` takes its zstd
/// frame.
fn read_body<'a>(
    cursor: &mut Cursor<'a>,
    layout: Layout,
    frame: impl Fn(&mut Cursor<'a>) -> Result<&'a [u8]>,
) -> Result<Body<'a>> {
    Ok(match layout {
        Layout::Meta => read_meta(cursor)?,
        Layout::Column => {
            let entry_size = cursor.u16::<LE>("the entry size of a column")?;
            let size = cursor.u64::<LE>("the size field of a column")?;
            Body::Column { entry_size, size, frame: frame(cursor)? }
        }
        Layout::Strings => {
            let size = cursor.u64::<LE>("the size field of the strings")?;
            Body::Strings { size, frame: frame(cursor)? }
        }
        Layout::Toc => Body::Unknown { payload: cursor.rest() },
    })
}

/// Takes the block at the cursor, which a table of contents lists as `entry`.
pub(super) fn take_listed_block<'a>(cursor: &mut Cursor<'a>, entry: TocEntry) -> Result<Block<'a>> {
    let start = cursor.offset();
    let length = entry.end.saturating_sub(start);
    let mut block = Cursor::new(cursor.take(length, "a block")?, start);
    let name = read_name(&mut block)?;
    if name != entry.name {
        return Err(Error::corrupt(
            start,
            "this is not the block that the table of contents lists here",
        )
        .expected(entry.name.shown())
        .found(name.shown()));
    }
    // Tables are never listed with their full extent (see `Hints`), so their layout is free for
    // blocks with an unknown name.
    let layout = name.layout().unwrap_or(Layout::Toc);
    let body = read_body(&mut block, layout, |block| Ok(block.rest()))?;
    Ok(Block { name, start, end: entry.end, body })
}

fn read_name(cursor: &mut Cursor<'_>) -> Result<BlockName> {
    let mut name = [0; 8];
    name.copy_from_slice(cursor.take(8, "the name of a block")?);
    Ok(BlockName(name))
}

fn read_meta<'a>(cursor: &mut Cursor<'a>) -> Result<Body<'a>> {
    let at = cursor.offset();
    let swapped = swapped_u64(cursor);
    let size = cursor.u64::<LE>("the size of a metadata block")?;
    let left = cursor.remaining() as u64;
    if size > left && swapped.is_some_and(|swapped| swapped <= left.min(1 << 20)) {
        return Err(Error::unsupported(at, "the file was written by a big-endian machine")
            .found(format!("a size of {size} bytes")));
    }
    Ok(Body::Meta { payload: cursor.take(size, "a metadata block")? })
}

fn read_toc<'a>(cursor: &mut Cursor<'a>) -> Result<Body<'a>> {
    let count = cursor.u64::<LE>("the entry count of a table of contents")?;
    let entries = cursor.take(count.saturating_mul(24), "a table of contents")?;
    Ok(Body::Toc { entries, own_start: cursor.u64::<LE>("the end of a table of contents")? })
}

fn guess_layout(cursor: &Cursor<'_>) -> Option<Layout> {
    let frame_at =
        |skip: usize| cursor.rest().get(skip..).is_some_and(|rest| rest.starts_with(&FRAME_MAGIC));
    match (frame_at(10), frame_at(8)) {
        (true, _) => Some(Layout::Column),
        (_, true) => Some(Layout::Strings),
        _ => None,
    }
}

#[cold]
fn unknown_block(offset: u64, name: BlockName) -> Error {
    Error::corrupt(offset, format!("unknown block {}", name.shown()))
        .expected("the name of a block, such as \"colkind\" or \"toc\"")
        .hint(
            "blocks have no length field, so what follows can only be found through a table of contents",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_their_padding() {
        assert!(BlockName(*b"toc\0\0\0\0\0").is("toc"));
        assert!(BlockName(*b"snapmeta").is("snapmeta"));
        assert!(!BlockName(*b"tocs\0\0\0\0").is("toc"));
        assert!(!BlockName(*b"toc\0x\0\0\0").is("toc"));
        assert_eq!(BlockName(*b"topIDs\0\0").known(), Some("topIDs"));
        assert_eq!(BlockName(*b"TOPIDS\0\0").known(), None);
    }

    #[test]
    fn a_table_of_contents_larger_than_the_file_is_a_truncation() {
        let mut bytes = b"toc\0\0\0\0\0".to_vec();
        bytes.extend((1u64 << 60).to_le_bytes());
        let error = read_block(&mut Cursor::new(&bytes, 16)).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Truncated);
    }
}
