//! A table as Parquet.
//!
//! zstd, statistics of each column of each row group, no page index. Numbers are signed, texts are
//! UTF-8 strings. Readers can rely on the key-value metadata of the file, whose keys begin with
//! `dumptool.`.
//!
//! The crate writes headers, schema and footer. The pages are encoded here, from the cells of a
//! column: the crate's encoders look up every name by its text, which takes longer than all the
//! rest.

mod chunk;
mod column;
mod delta;
mod dictionary;
mod packed;
mod statistics;

use super::{Absent, CellKind, TableColumn, TableRows};
use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{Type, TypePtr};
use column::ColumnWriter;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group.
const GROUP: usize = 1 << 20;

/// Writes a table and returns its number of rows.
///
/// `metadata` becomes the key-value metadata of the file, after `dumptool.schema` and
/// `dumptool.version`. Memory: a compressed row group of [`GROUP`] rows.
///
/// # Errors
/// When the output cannot be written.
pub fn write_parquet(
    rows: &mut dyn TableRows,
    metadata: &[(&str, String)],
    mut out: impl Write,
) -> io::Result<u64> {
    let columns = rows.columns();
    let name = rows.table().name();
    let schema = schema(name, &columns).map_err(failed)?;
    let properties = Arc::new(properties(name, metadata));
    // What has been written is handed on after each row group: the crate wants an output that can
    // be sent to other threads.
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).map_err(failed)?;
    let descriptors = file.schema_descr().columns().to_vec();
    let mut writer = ColumnWriter::new()?;
    for start in (0..rows.len()).step_by(GROUP) {
        let range = start..(start + GROUP).min(rows.len());
        let mut group = file.next_row_group().map_err(failed)?;
        for (column, descriptor) in columns.iter().zip(&descriptors) {
            let chunk = writer.chunk(rows, column, range.clone(), descriptor).map_err(failed)?;
            group.append_column(&chunk.bytes, chunk.close).map_err(failed)?;
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
    Ok(rows.len() as u64)
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn schema(name: &str, columns: &[TableColumn]) -> Result<TypePtr> {
    let field = |column: &TableColumn| {
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

fn properties(name: &str, metadata: &[(&str, String)]) -> WriterProperties {
    let own = [
        ("dumptool.schema", format!("dumptool/{name}/1")),
        ("dumptool.version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let pairs = own.iter().chain(metadata);
    let pairs = pairs.map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_offset_index_disabled(true)
        .set_created_by(concat!("dumptool version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(pairs.collect()))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tables::{ColumnEncoding, Table, TableCells};
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;
    use std::borrow::Cow;
    use std::ops::Range;

    /// Rows with numbers of all sizes, and with absent cells as a pattern says.
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

        fn cell(&self, column: &TableColumn, row: usize) -> Option<Field> {
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
    }

    fn text(code: u32) -> String {
        "é".repeat(code as usize % 9) + &code.to_string()
    }

    impl TableRows for Rows {
        fn table(&self) -> Table {
            Table::Objects
        }

        fn columns(&self) -> Cow<'static, [TableColumn]> {
            use CellKind::{Boolean, Integer, SmallInteger, Text};
            use ColumnEncoding::{Bits, Delta, DeltaText, Dictionary};
            let kinds = [
                (Integer, Delta),
                (Integer, Dictionary),
                (SmallInteger, Delta),
                (SmallInteger, Dictionary),
                (Boolean, Bits),
                (Text, DeltaText),
                (Text, Dictionary),
            ];
            let absent = [Absent::Never, Absent::Null];
            let all = absent.iter().flat_map(|absent| kinds.map(|kind| (kind, *absent)));
            let column = |(number, ((kind, encoding), absent)): (usize, _)| {
                let name = format!("{number} {encoding:?}").into();
                TableColumn { name, kind, absent, encoding }
            };
            all.enumerate().map(column).collect()
        }

        fn len(&self) -> usize {
            self.len
        }

        fn fill(&mut self, name: &str, rows: Range<usize>, cells: &mut TableCells) {
            let columns = self.columns();
            let column = columns.iter().find(|column| column.name == name).unwrap();
            for row in rows {
                let cell = self.cell(column, row);
                if column.absent == Absent::Null {
                    cells.present.push(cell.is_some());
                }
                match cell {
                    None => {}
                    Some(Field::Long(number)) => cells.integers.push(number),
                    Some(Field::Int(number)) => cells.integers.push(number.into()),
                    Some(Field::Bool(value)) => cells.booleans.push(value),
                    _ if column.encoding == ColumnEncoding::Dictionary => {
                        cells.codes.push(Self::number(row, 32) as u32);
                    }
                    Some(Field::Str(text)) => cells.text(&text),
                    Some(other) => panic!("{other}"),
                }
            }
        }

        fn text(&self, _: &str, code: u32) -> Cow<'_, str> {
            text(code).into()
        }
    }

    /// All kinds of columns, with dictionaries that become full, over several pages.
    #[test]
    fn cells_come_back() {
        let patterns: [fn(usize) -> bool; 4] =
            [|_| true, |_| false, |row| row % 3 > 0, |row| row / 70_000 == 1];
        for (is_present, len) in patterns.into_iter().zip([0, 1, 1000, 150_000]) {
            let mut file = Vec::new();
            let mut rows = Rows { len, is_present };
            write_parquet(&mut rows, &[], &mut file).unwrap();
            let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
            let columns = rows.columns();
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
        let mut rows = Rows { len: 1000, is_present: |row| row % 4 > 0 };
        write_parquet(&mut rows, &[], &mut file).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
        for (number, column) in rows.columns().iter().enumerate() {
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
