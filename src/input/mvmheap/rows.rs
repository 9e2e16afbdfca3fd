//! The rows of a snapshot in chunks, for both versions of the format.

use super::column::{Column, Decoders};
use super::dump::{COLLECTABLES, Data, REFERENCES, Snapshot};
use super::sections::{Reference, references};
use crate::error::{Error, Result};
use byteorder::{ByteOrder, LE};

/// Rows that are decoded at a time. With all columns this is 192 KiB of numbers, which stay in the
/// second-level cache.
const CHUNK: usize = 4096;
/// Bytes of a row of version 2.
const ROW: usize = 28;

/// Some consecutive rows of collectables. Columns that were not requested are zeros.
#[derive(Default)]
pub(super) struct Chunk {
    /// Kind, size, type or frame, reference count, first reference and unmanaged size:
    /// `COLLECTABLES`, all equally long.
    pub(super) columns: [Vec<u64>; 6],
}

/// Decodes the rows of collectables of one snapshot.
pub(super) enum RowReader<'a> {
    Columns(Box<[Option<Column<'a>>; 6]>),
    Rows(std::slice::Chunks<'a, u8>),
}

/// The error of a column that could not be decoded.
pub(super) struct ColumnError {
    /// Index into `COLLECTABLES`.
    pub(super) column: usize,
    pub(super) error: Error,
}

impl<'a> RowReader<'a> {
    /// Reads the wanted columns, as far as they are in the file.
    pub(super) fn new(
        snapshot: &Snapshot<'a>,
        wanted: [bool; 6],
        decoders: &Decoders,
    ) -> Result<Self, ColumnError> {
        if let Data::Sections { coll, .. } = &snapshot.data {
            let payload = coll.map_or(&[][..], |section| section.payload);
            return Ok(Self::Rows(payload.chunks(CHUNK * ROW)));
        }
        let mut columns = [const { None }; 6];
        let weight = snapshot.stored_bytes();
        for (i, ((column, name), wanted)) in
            columns.iter_mut().zip(COLLECTABLES).zip(wanted).enumerate()
        {
            if let Some(block) = snapshot.block(name).filter(|_| wanted) {
                *column = Some(
                    Column::new(block, weight, decoders)
                        .map_err(|error| ColumnError { column: i, error })?,
                );
            }
        }
        Ok(Self::Columns(Box::new(columns)))
    }

    /// Replaces the chunk with the next rows. Returns `false` if there are no more. Fails when a
    /// column is damaged, or does not end together with the first column.
    pub(super) fn next(&mut self, chunk: &mut Chunk) -> Result<bool, ColumnError> {
        match self {
            Self::Columns(columns) => next_of_columns(columns, chunk),
            Self::Rows(rows) => Ok(match rows.next() {
                Some(rows) => {
                    split_rows(rows, chunk);
                    true
                }
                None => false,
            }),
        }
    }

    /// Bytes of the file that were read so far.
    pub(super) fn consumed(&self) -> u64 {
        match self {
            Self::Columns(columns) => columns
                .iter()
                .flatten()
                .fold(0, |sum: u64, column| sum.saturating_add(column.consumed())),
            Self::Rows(_) => 0,
        }
    }
}

fn next_of_columns(
    columns: &mut [Option<Column<'_>>; 6],
    chunk: &mut Chunk,
) -> Result<bool, ColumnError> {
    let mut rows = None;
    for (i, (column, values)) in columns.iter_mut().zip(&mut chunk.columns).enumerate() {
        let Some(column) = column else { continue };
        column.read(CHUNK, values).map_err(|error| ColumnError { column: i, error })?;
        if *rows.get_or_insert(values.len()) != values.len() {
            let what = format!(
                "column \"{}\" has a different number of rows than the columns before it",
                COLLECTABLES.get(i).unwrap_or(&"")
            );
            return Err(ColumnError { column: i, error: Error::corrupt(column.position(), what) });
        }
    }
    let rows = rows.unwrap_or(0);
    for (_, values) in columns.iter().zip(&mut chunk.columns).filter(|(column, _)| column.is_none())
    {
        values.resize(rows, 0);
    }
    Ok(rows > 0)
}

fn split_rows(rows: &[u8], chunk: &mut Chunk) {
    chunk.columns.iter_mut().for_each(Vec::clear);
    let [kind, size, tofi, rfcnt, rfstr, unmanaged] = &mut chunk.columns;
    for row in rows.as_chunks::<ROW>().0 {
        let (head, tail) = row.split_at(8);
        let (head, tail) = (LE::read_u64(head), tail.as_chunks::<4>().0);
        let long = |i: usize| match tail.get(i..) {
            Some([low, high, ..]) => {
                u64::from(u32::from_le_bytes(*low)) | u64::from(u32::from_le_bytes(*high)) << 32
            }
            _ => 0,
        };
        kind.push(head & 0xffff);
        tofi.push(head >> 16 & 0xffff_ffff);
        size.push(head >> 48);
        unmanaged.push(long(0));
        rfstr.push(long(2));
        rfcnt.push(tail.get(4).map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes))));
    }
}

#[derive(Default)]
pub(super) struct ReferenceChunk {
    descriptions: Vec<u64>,
    targets: Vec<u64>,
    pub(super) references: Vec<Reference>,
}

/// Decodes the references of one snapshot.
pub(super) enum ReferenceReader<'a> {
    Columns(Box<[Column<'a>; 2]>),
    Rows(Box<dyn Iterator<Item = Reference> + 'a>),
}

impl<'a> ReferenceReader<'a> {
    /// Begins to read the references. `None` if they are not in the file.
    pub(super) fn new(snapshot: &Snapshot<'a>, decoders: &Decoders) -> Option<Result<Self>> {
        if let Data::Sections { refs, .. } = &snapshot.data {
            return refs.map(|refs| Ok(Self::Rows(Box::new(references(refs.payload)))));
        }
        let [descriptions, targets] = REFERENCES.map(|name| snapshot.block(name));
        let weight = snapshot.stored_bytes();
        let descriptions = Column::new(descriptions?, weight, decoders);
        let targets = Column::new(targets?, weight, decoders);
        Some(
            descriptions
                .and_then(|descriptions| Ok(Self::Columns(Box::new([descriptions, targets?])))),
        )
    }

    /// Replaces the chunk with the next references. Returns `false` if there are no more. Fails
    /// when a column is damaged, or one is longer than the other.
    pub(super) fn next(&mut self, chunk: &mut ReferenceChunk) -> Result<bool> {
        chunk.references.clear();
        match self {
            Self::Rows(rows) => chunk.references.extend(rows.take(CHUNK)),
            Self::Columns(columns) => {
                let [descriptions, targets] = &mut **columns;
                descriptions.read(CHUNK, &mut chunk.descriptions)?;
                targets.read(CHUNK, &mut chunk.targets)?;
                if chunk.descriptions.len() != chunk.targets.len() {
                    return Err(Error::corrupt(
                        targets.position(),
                        "columns \"refdescr\" and \"reftrget\" differ in length",
                    ));
                }
                let pairs = chunk.descriptions.iter().zip(&chunk.targets);
                chunk.references.extend(pairs.map(|(d, target)| Reference {
                    kind: d & 3,
                    value: d >> 2,
                    target: *target,
                }));
            }
        }
        Ok(!chunk.references.is_empty())
    }
}
