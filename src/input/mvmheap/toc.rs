//! The tables of contents, as hints for the starts and ends of blocks.

use super::blocks::{Block, Body, TocEntry, read_block, toc_entries};
use crate::bytes::Cursor;
use byteorder::{ByteOrder, LE};

/// The most bytes at the end of a file that are searched for a table if the last one is not valid.
const SEARCHED: usize = 64 << 20;

/// The blocks that the last usable outer table and its inner tables list, in the order of the file.
///
/// Tables of contents themselves are not listed: they are short, have their own length, and none of
/// the outer tables but the last is listed anywhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Hints {
    entries: Vec<TocEntry>,
    /// The offsets at which reading can continue after damage: the starts of all listed blocks, of
    /// the inner tables and of the outer table.
    stops: Vec<u64>,
    /// Position of the outer table that was used.
    pub(super) outer: Option<u64>,
}

impl Hints {
    /// Reads the table that the last eight bytes point to, or else the last one that is consistent
    /// in itself.
    ///
    /// A truncated file ends in arbitrary bytes, so everything is checked before use. A table that
    /// contradicts itself or the blocks it lists is not used at all.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let last = bytes.last_chunk::<8>().map(|end| LE::read_u64(end));
        last.and_then(|start| Self::at(bytes, start).filter(|(_, end)| *end == bytes.len() as u64))
            .map(|(hints, _)| hints)
            .or_else(|| Self::search(bytes))
            .unwrap_or_default()
    }

    /// The listed block that begins exactly at an offset.
    pub(super) fn at_offset(&self, offset: u64) -> Option<TocEntry> {
        let next = self.entries.partition_point(|entry| entry.start < offset);
        self.entries.get(next).copied().filter(|entry| entry.start == offset)
    }

    /// The start of the first block or table after an offset.
    pub(super) fn next_stop(&self, offset: u64) -> Option<u64> {
        let next = self.stops.partition_point(|stop| *stop <= offset);
        self.stops.get(next).copied()
    }

    pub(super) fn entries(&self) -> &[TocEntry] {
        &self.entries
    }

    fn search(bytes: &[u8]) -> Option<Self> {
        let from = bytes.len().saturating_sub(SEARCHED);
        let mut searched = bytes.get(from..)?;
        // Columns are compressed, so the name hardly occurs by chance. The limit is for hostile
        // files.
        for _ in 0..100 {
            let found = memchr::memmem::rfind(searched, b"toc\0\0\0\0\0")?;
            if let Some((hints, _)) = Self::at(bytes, from.saturating_add(found) as u64) {
                return Some(hints);
            }
            searched = searched.get(..found)?;
        }
        None
    }

    /// The hints of the outer table at `start`, and where that table ends.
    fn at(bytes: &[u8], start: u64) -> Option<(Self, u64)> {
        let outer = toc_at(bytes, start)?;
        let Body::Toc { entries, .. } = outer.body else { return None };
        if !outer.is_outer_toc() {
            return None;
        }
        let mut hints = Self { entries: Vec::new(), stops: Vec::new(), outer: Some(start) };
        // Each block must begin after the end of the one before, so that blocks do not overlap and
        // the work is bounded by the size of the file.
        let mut reached = 16;
        for entry in toc_entries(entries) {
            if entry.start < reached || entry.end > start {
                return None;
            }
            if entry.name.is("toc") {
                let inner = toc_at(bytes, entry.start)
                    .filter(|inner| inner.end == entry.end.saturating_add(8))?;
                let Body::Toc { entries, .. } = inner.body else { return None };
                for listed in toc_entries(entries) {
                    if listed.end > entry.start {
                        return None;
                    }
                    hints.push(listed, &mut reached)?;
                }
                reached = inner.end;
                hints.stops.push(entry.start);
            } else {
                hints.push(entry, &mut reached)?;
            }
        }
        hints.stops.push(start);
        Some((hints, outer.end))
    }

    fn push(&mut self, entry: TocEntry, reached: &mut u64) -> Option<()> {
        if entry.name.is("toc")
            || entry.start < *reached
            || entry.end < entry.start.saturating_add(8)
        {
            return None;
        }
        *reached = entry.end;
        self.stops.push(entry.start);
        self.entries.push(entry);
        Some(())
    }
}

/// The table at an offset, if a table there states the same offset.
fn toc_at(bytes: &[u8], start: u64) -> Option<Block<'_>> {
    let mut cursor = Cursor::at(bytes, start);
    if !cursor.rest().starts_with(b"toc\0\0\0\0\0") {
        return None;
    }
    let block = read_block(&mut cursor).ok()?;
    matches!(block.body, Body::Toc { own_start, .. } if own_start == start).then_some(block)
}
