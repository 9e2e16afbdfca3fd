//! The cells of a column as pages.

use super::super::{CellKind, ColumnEncoding, TableCells, TableColumn, TableRows};
use super::chunk::{Chunk, Pages};
use super::delta::{self, DeltaTexts};
use super::dictionary::Dictionary;
use super::packed::{hybrid, width};
use super::statistics::{Summary, small};
use ::parquet::basic::Encoding;
use ::parquet::errors::Result;
use ::parquet::schema::types::ColumnDescPtr;
use std::io;
use std::ops::Range;

/// Rows of a page.
const PAGE: usize = 1 << 16;
/// Rows whose cells are asked for at a time.
const STEP: usize = 1 << 12;
/// Bytes of texts after which a page ends, and a dictionary is full.
const BYTES: usize = 1 << 20;

/// Writes the columns of row groups, and keeps its buffers from one to the next.
pub(super) struct ColumnWriter {
    pages: Pages,
    cells: TableCells,
    dictionary: Dictionary,
    /// The values of the dictionary as its page has them.
    entries: Vec<u8>,
    indices: Vec<u32>,
    texts: DeltaTexts,
    /// The encoded values of a page.
    values: Vec<u8>,
}

/// A column of a row group.
struct Column<'c> {
    of: &'c TableColumn,
    rows: &'c mut dyn TableRows,
    summary: Summary,
    /// Whether a page has indices into the dictionary.
    uses_dictionary: bool,
    is_dictionary_full: bool,
}

impl ColumnWriter {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            pages: Pages::new()?,
            cells: TableCells::default(),
            dictionary: Dictionary::new(),
            entries: Vec::new(),
            indices: Vec::new(),
            texts: DeltaTexts::default(),
            values: Vec::new(),
        })
    }

    /// Encodes a column in these rows.
    pub(super) fn chunk(
        &mut self,
        rows: &mut dyn TableRows,
        of: &TableColumn,
        range: Range<usize>,
        descriptor: &ColumnDescPtr,
    ) -> Result<Chunk> {
        let summary = Summary::default();
        let is_dictionary_full = of.encoding != ColumnEncoding::Dictionary;
        let mut column = Column { of, rows, summary, uses_dictionary: false, is_dictionary_full };
        let mut next = range.start;
        while next < range.end {
            let start = next;
            self.cells.clear();
            while next < range.end && next - start < PAGE && self.cells.texts.len() < BYTES {
                let rows = next..(next + STEP).min(range.end);
                next = rows.end;
                column.rows.fill(&of.name, rows, &mut self.cells);
            }
            column.summary.add_cells(&self.cells);
            self.page(&mut column, next - start)?;
        }
        let entries = (self.dictionary.values.len(), &*self.entries);
        let dictionary = column.uses_dictionary.then_some(entries);
        let chunk = self.pages.finish(descriptor, dictionary, column.summary.statistics(of.kind));
        self.dictionary.truncate(0);
        self.entries.clear();
        chunk
    }

    /// Adds a page with the cells of as many rows.
    fn page(&mut self, column: &mut Column<'_>, rows: usize) -> Result<()> {
        self.values.clear();
        if !column.is_dictionary_full && self.look_up(column) {
            column.uses_dictionary = true;
            let present = &self.cells.present;
            return self.pages.add(rows, present, &self.values, Encoding::RLE_DICTIONARY);
        }
        column.is_dictionary_full = true;
        let cells = &self.cells;
        let encoding = match column.of.kind {
            CellKind::Text => return self.pages_of_texts(column, rows),
            CellKind::Integer | CellKind::SmallInteger => {
                let bits = if column.of.kind == CellKind::Integer { 64 } else { 32 };
                delta::numbers(&cells.integers, bits, &mut self.values);
                Encoding::DELTA_BINARY_PACKED
            }
            CellKind::Boolean => {
                self.indices.clear();
                self.indices.extend(cells.booleans.iter().map(|value| u32::from(*value)));
                self.values.extend([0; 4]);
                hybrid(&self.indices, 1, &mut self.values);
                let length = self.values.len() as u32 - 4;
                self.values[..4].copy_from_slice(&length.to_le_bytes());
                Encoding::RLE
            }
        };
        self.pages.add(rows, &cells.present, &self.values, encoding)
    }

    /// Encodes the cells as indices into the dictionary. Returns `false` if that would become too
    /// large, or if the cells are texts without codes.
    fn look_up(&mut self, column: &mut Column<'_>) -> bool {
        let Self { cells, dictionary, entries, indices, values, .. } = self;
        if !cells.ends.is_empty() {
            return false;
        }
        let known = (dictionary.values.len(), entries.len());
        indices.clear();
        indices.extend(cells.integers.iter().map(|number| dictionary.number(*number)));
        indices.extend(cells.codes.iter().map(|code| dictionary.number((*code).into())));
        for value in &dictionary.values[known.0..] {
            column.push_entry(*value, entries);
            if entries.len() > BYTES {
                dictionary.truncate(known.0);
                entries.truncate(known.1);
                return false;
            }
        }
        let width = width(dictionary.values.len().saturating_sub(1) as u64);
        values.push(width as u8);
        hybrid(indices, width, values);
        true
    }

    /// Adds texts as pages, of which none has many more bytes than [`BYTES`].
    fn pages_of_texts(&mut self, column: &mut Column<'_>, rows: usize) -> Result<()> {
        let Self { pages, cells, texts, values, .. } = self;
        let (mut start, mut next) = (0, 0);
        for row in 0..rows {
            if cells.is_present(row) {
                let text = match cells.codes.get(next) {
                    Some(code) => column.rows.text(&column.of.name, *code),
                    None => cells.text_at(next).into(),
                };
                next += 1;
                column.summary.add_text(&text);
                texts.push(&text);
            }
            if row + 1 == rows || texts.bytes() >= BYTES {
                values.clear();
                texts.write(values);
                let present = cells.present.get(start..=row).unwrap_or_default();
                pages.add(row + 1 - start, present, values, Encoding::DELTA_BYTE_ARRAY)?;
                start = row + 1;
            }
        }
        Ok(())
    }
}

impl Column<'_> {
    /// Appends a value as the page of the dictionary has it.
    fn push_entry(&mut self, value: i64, out: &mut Vec<u8>) {
        match self.of.kind {
            CellKind::Integer | CellKind::Boolean => out.extend(value.to_le_bytes()),
            CellKind::SmallInteger => out.extend(small(value).to_le_bytes()),
            CellKind::Text => {
                let text = self.rows.text(&self.of.name, value as u32);
                self.summary.add_text(&text);
                out.extend((text.len() as u32).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
}
