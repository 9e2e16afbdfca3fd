//! A table as Parquet.
//!
//! zstd, statistics of each column of each row group, no page index. Numbers are signed, texts are
//! UTF-8 strings. Readers can rely on the key-value metadata of the file, whose keys begin with
//! `dumptool.`.
//!
//! The crate `parquet` encodes and compresses the pages.

use super::{Absent, CellBlock, CellKind, Column, ColumnEncoding, Relation};
use ::bytes::Bytes;
use ::parquet::basic::{
    Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel,
};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{ColumnPath, Type, TypePtr};
use rustc_hash::FxHashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

const GROUP: usize = 1 << 20;

/// The number of rows whose cells are in memory at a time.
const BLOCK: usize = 1 << 14;

/// Writes a table and returns its number of rows.
///
/// `metadata` becomes the key-value metadata of the file, after `dumptool.schema` and
/// `dumptool.version`. Memory: a compressed row group. Fails when the output cannot be written.
pub fn write_parquet(
    relation: &dyn Relation,
    metadata: &[(&str, String)],
    mut out: impl Write,
) -> io::Result<u64> {
    let columns = relation.columns();
    let schema = schema(relation.name(), &columns).map_err(failed)?;
    let properties = Arc::new(properties(relation.name(), &columns, metadata).map_err(failed)?);
    // The bytes are passed on after each row group, because the crate requires an output that can be
    // sent to other threads.
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).map_err(failed)?;
    for start in (0..relation.len()).step_by(GROUP) {
        let rows = start..(start + GROUP).min(relation.len());
        let mut group = file.next_row_group().map_err(failed)?;
        for column in 0..columns.len() {
            let Some(mut writer) = group.next_column().map_err(failed)? else { break };
            write_column(relation, column, rows.clone(), writer.untyped()).map_err(failed)?;
            writer.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        file.flush()?;
        out.write_all(file.inner())?;
        file.inner_mut().clear();
    }
    file.finish().map_err(failed)?;
    file.flush()?;
    out.write_all(file.inner())?;
    out.flush()?;
    Ok(relation.len() as u64)
}

/// Writes the cells of a column in these rows. The crate takes the values of present cells, and for
/// each row whether its cell is present.
fn write_column(
    relation: &dyn Relation,
    column: usize,
    rows: Range<usize>,
    writer: &mut ColumnWriter<'_>,
) -> Result<()> {
    let is_optional = relation.columns()[column].absent == Absent::Null;
    let (mut cells, mut levels) = (CellBlock::default(), Vec::new());
    let mut known = FxHashMap::<u32, ByteArray>::default();
    for start in rows.clone().step_by(BLOCK) {
        let block = start..(start + BLOCK).min(rows.end);
        relation.fill(column, block.clone(), &mut cells);
        levels.clear();
        levels.extend(cells.present.iter().map(|present| i16::from(*present)));
        levels.resize(block.len(), 1);
        let levels = is_optional.then_some(&levels[..]);
        match writer {
            ColumnWriter::Int64ColumnWriter(out) => {
                keep_present(&mut cells.integers, &cells.present);
                out.write_batch(&cells.integers, levels, None)?
            }
            ColumnWriter::Int32ColumnWriter(out) => {
                keep_present(&mut cells.integers, &cells.present);
                let small: Vec<i32> = cells.integers.iter().map(|number| small(*number)).collect();
                out.write_batch(&small, levels, None)?
            }
            ColumnWriter::BoolColumnWriter(out) => {
                keep_present(&mut cells.booleans, &cells.present);
                out.write_batch(&cells.booleans, levels, None)?
            }
            ColumnWriter::ByteArrayColumnWriter(out) => {
                let mut texts = texts(relation, column, &mut cells, &mut known);
                keep_present(&mut texts, &cells.present);
                out.write_batch(&texts, levels, None)?
            }
            _ => return Err(ParquetError::NYI(format!("column {column}"))),
        };
    }
    Ok(())
}

/// Removes the values of absent cells.
fn keep_present<T>(values: &mut Vec<T>, present: &[bool]) {
    let mut present = present.iter();
    values.retain(|_| present.next() != Some(&false));
}

/// The texts of a block. Texts with codes are produced once per code.
fn texts(
    relation: &dyn Relation,
    column: usize,
    cells: &mut CellBlock,
    known: &mut FxHashMap<u32, ByteArray>,
) -> Vec<ByteArray> {
    let of_code = |code: &u32| {
        let text = || relation.text(column, *code, &mut String::new()).as_bytes().to_vec();
        known.entry(*code).or_insert_with(|| text().into()).clone()
    };
    if !cells.codes.is_empty() {
        return cells.codes.iter().map(of_code).collect();
    }
    let all = Bytes::from(std::mem::take(&mut cells.texts));
    let starts = std::iter::once(&0).chain(&cells.ends);
    starts.zip(&cells.ends).map(|(start, end)| all.slice(*start..*end).into()).collect()
}

/// The number, or the nearest `i32` if it does not fit.
fn small(number: i64) -> i32 {
    number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn schema(name: &str, columns: &[&Column]) -> Result<TypePtr> {
    let field = |column: &&Column| {
        let (physical, logical) = match column.kind {
            CellKind::Integer => (Physical::INT64, None),
            CellKind::SmallInteger => (Physical::INT32, None),
            CellKind::Boolean => (Physical::BOOLEAN, None),
            CellKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = match column.absent {
            Absent::Null => Repetition::OPTIONAL,
            Absent::Never | Absent::Empty => Repetition::REQUIRED,
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    };
    let fields = columns.iter().map(field).collect::<Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?))
}

fn properties(
    name: &str,
    columns: &[&Column],
    metadata: &[(&str, String)],
) -> Result<WriterProperties> {
    let own = [
        ("dumptool.schema", format!("dumptool/{name}/1")),
        ("dumptool.version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let pairs = own.iter().chain(metadata);
    let pairs = pairs.map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
    let all = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(concat!("dumptool version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(pairs.collect()));
    let with_encodings = columns.iter().fold(all, |all, column| {
        let path = ColumnPath::from(&*column.name);
        let encoding = match column.encoding {
            ColumnEncoding::Dictionary => return all,
            ColumnEncoding::Delta => Encoding::DELTA_BINARY_PACKED,
            ColumnEncoding::DeltaText => Encoding::DELTA_BYTE_ARRAY,
            ColumnEncoding::Bits => Encoding::RLE,
        };
        all.set_column_dictionary_enabled(path.clone(), false).set_column_encoding(path, encoding)
    });
    Ok(with_encodings.build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::column::ColumnOf;
    use crate::tables::relation::{Rows as Declaration, relation};
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;

    /// Rows with numbers of all sizes, and a pattern of absent cells.
    struct Rows {
        len: usize,
        is_present: fn(usize) -> bool,
    }

    impl Rows {
        /// Few and many different values, of all widths.
        fn number(row: usize, bits: u32) -> i64 {
            let mixed = (row as u64 / 3).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let number = (mixed >> (row as u32 / 40 % bits)) as i64;
            if bits == 32 { (number as i32).into() } else { number }
        }

        fn cell(&self, column: &Column, row: usize) -> Option<Field> {
            use CellKind::{Boolean, Integer, SmallInteger, Text};
            if column.absent == Absent::Null && !(self.is_present)(row) {
                return None;
            }
            Some(match column.kind {
                Integer => Field::Long(Self::number(row, 64)),
                SmallInteger => Field::Int(Self::number(row, 32) as i32),
                Boolean => Field::Bool(row % 100 > 60),
                Text => Field::Str(text(Self::number(row, 32) as u32)),
            })
        }

        fn push(&self, column: &Column, row: usize, cells: &mut CellBlock) {
            let cell = self.cell(column, row);
            if column.absent == Absent::Null {
                cells.present.push(cell.is_some());
            }
            let number = Self::number(row, if column.kind == CellKind::Integer { 64 } else { 32 });
            match column.kind {
                CellKind::Integer | CellKind::SmallInteger => cells.integers.push(number),
                CellKind::Boolean => cells.booleans.push(cell == Some(Field::Bool(true))),
                CellKind::Text if column.encoding == ColumnEncoding::Dictionary => {
                    cells.codes.push(number as u32);
                }
                CellKind::Text => cells.text(&text(number as u32)),
            }
        }
    }

    fn text(code: u32) -> String {
        "é".repeat(code as usize % 9) + &code.to_string()
    }

    impl Declaration for Rows {
        fn columns() -> Vec<ColumnOf<Self>> {
            let all = || {
                [
                    Column::number("number", ""),
                    Column::size("size", ""),
                    Column { encoding: ColumnEncoding::Delta, ..Column::small("delta", "") },
                    Column::small("small", ""),
                    Column::boolean("boolean", ""),
                    Column::text("text", ""),
                    Column::name("name", ""),
                ]
            };
            let optional = |column: Column| {
                let name = format!("optional_{}", column.name).into();
                Column { name, ..column.or_null() }
            };
            let declare = |column: Column| {
                let declared = column.clone();
                let fill = move |rows: &Self, range: Range<usize>, cells: &mut CellBlock| {
                    range.for_each(|row| rows.push(&declared, row, cells));
                };
                column.of(fill).text(|_, code, buffer| {
                    buffer.push_str(&text(code));
                    buffer
                })
            };
            all().into_iter().chain(all().map(optional)).map(declare).collect()
        }

        fn len(&self) -> usize {
            self.len
        }
    }

    /// All kinds of columns, with dictionaries that become full, over several pages.
    #[test]
    fn cells_come_back() {
        let patterns: [fn(usize) -> bool; 4] =
            [|_| true, |_| false, |row| row % 3 > 0, |row| row / 70_000 == 1];
        for (is_present, len) in patterns.into_iter().zip([0, 1, 1000, 150_000]) {
            let mut file = Vec::new();
            let rows = Rows { len, is_present };
            let table = relation("objects", Rows { len, is_present });
            write_parquet(&*table, &[], &mut file).unwrap();
            let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
            let columns = table.columns();
            let mut read = 0;
            for (number, row) in reader.get_row_iter(None).unwrap().enumerate() {
                let row = row.unwrap();
                for (column, (name, field)) in columns.iter().zip(row.get_column_iter()) {
                    let expected = rows.cell(column, number).unwrap_or(Field::Null);
                    assert_eq!(*field, expected, "{name} in row {number} of {len}");
                }
                read += 1;
            }
            assert_eq!(read, len);
        }
    }

    #[test]
    fn row_groups_have_statistics() {
        let mut file = Vec::new();
        let rows = || Rows { len: 1000, is_present: |row| row % 4 > 0 };
        let (table, rows) = (relation("objects", rows()), rows());
        write_parquet(&*table, &[], &mut file).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
        for (number, column) in table.columns().into_iter().enumerate() {
            let statistics = reader.metadata().row_group(0).column(number).statistics().unwrap();
            let nulls = if column.absent == Absent::Null { 250 } else { 0 };
            assert_eq!(statistics.null_count_opt(), Some(nulls));
            let mut cells: Vec<_> = (0..1000).filter_map(|row| rows.cell(column, row)).collect();
            let key = |cell: &Field| match cell {
                Field::Long(number) => number.to_le_bytes().to_vec(),
                Field::Int(number) => number.to_le_bytes().to_vec(),
                Field::Bool(value) => vec![u8::from(*value)],
                Field::Str(text) => text.as_bytes().to_vec(),
                other => panic!("{other}"),
            };
            cells.sort_by_key(|cell| match cell {
                Field::Long(number) => (*number, String::new()),
                Field::Int(number) => ((*number).into(), String::new()),
                Field::Bool(value) => ((*value).into(), String::new()),
                other => (0, other.to_string()),
            });
            let ends = cells.first().map(key).zip(cells.last().map(key)).unwrap();
            assert_eq!(statistics.min_bytes_opt(), Some(&*ends.0), "{}", column.name);
            assert_eq!(statistics.max_bytes_opt(), Some(&*ends.1), "{}", column.name);
        }
    }
}
