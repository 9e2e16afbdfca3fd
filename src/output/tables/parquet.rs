//! A table as Parquet.
//!
//! zstd, statistics of each column of each row group, no page index. Numbers are signed, texts are
//! UTF-8 strings. Readers can rely on the key-value metadata of the file, whose keys begin with
//! `dumptool.`.

use super::{Absent, CellKind, ColumnEncoding, TableCells, TableColumn, TableRows};
use ::parquet::basic::{
    Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel,
};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::{ColumnPath, Type, TypePtr};
use rustc_hash::FxHashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// Rows of a row group.
const GROUP: usize = 1 << 20;
/// Rows whose cells are in memory at a time.
const BLOCK: usize = 1 << 16;
const LEVEL: i32 = 3;

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
    let properties = Arc::new(properties(name, &columns, metadata).map_err(failed)?);
    // What has been written is handed on after each row group: the crate wants an output that can
    // be sent to other threads.
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).map_err(failed)?;
    let mut writer = GroupWriter::default();
    for start in (0..rows.len()).step_by(GROUP) {
        let range = start..(start + GROUP).min(rows.len());
        let mut group = file.next_row_group().map_err(failed)?;
        for column in columns.iter() {
            let Some(mut out) = group.next_column().map_err(failed)? else { break };
            writer.column(rows, column, range.clone(), &mut out).map_err(failed)?;
            out.close().map_err(failed)?;
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

fn properties(
    name: &str,
    columns: &[TableColumn],
    metadata: &[(&str, String)],
) -> Result<WriterProperties> {
    let own = [
        ("dumptool.schema", format!("dumptool/{name}/1")),
        ("dumptool.version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let pairs = own.iter().chain(metadata);
    let pairs = pairs.map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(GROUP))
        .set_data_page_row_count_limit(GROUP)
        .set_write_batch_size(1 << 13)
        .set_created_by(concat!("dumptool version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(pairs.collect()));
    for column in columns {
        let path = ColumnPath::from(&*column.name);
        // In a column with a dictionary: for what comes when the dictionary is full.
        let encoding = match (column.encoding, column.kind) {
            (ColumnEncoding::Bits, _) => Encoding::RLE,
            (ColumnEncoding::DeltaText, _) | (_, CellKind::Text) => Encoding::DELTA_BYTE_ARRAY,
            _ => Encoding::DELTA_BINARY_PACKED,
        };
        builder = builder
            .set_column_encoding(path.clone(), encoding)
            .set_column_dictionary_enabled(path, column.encoding == ColumnEncoding::Dictionary);
    }
    Ok(builder.build())
}

/// Writes the columns of row groups, and keeps its buffers from one to the next.
#[derive(Default)]
struct GroupWriter {
    cells: TableCells,
    small: Vec<i32>,
    texts: Vec<ByteArray>,
}

impl GroupWriter {
    fn column(
        &mut self,
        rows: &mut dyn TableRows,
        column: &TableColumn,
        range: Range<usize>,
        out: &mut SerializedColumnWriter<'_>,
    ) -> Result<()> {
        let mut names = Dictionary::default();
        let is_optional = column.absent == Absent::Null;
        for start in range.clone().step_by(BLOCK) {
            let Self { cells, small, texts } = self;
            cells.clear();
            rows.fill(&column.name, start..(start + BLOCK).min(range.end), cells);
            let present = is_optional.then_some(&*cells.present);
            match column.kind {
                CellKind::Integer => {
                    out.typed::<Int64Type>().write_batch(&cells.integers, present, None)?;
                }
                CellKind::SmallInteger => {
                    let narrow = |number: &i64| i32::try_from(*number).unwrap_or(i32::MAX);
                    small.clear();
                    small.extend(cells.integers.iter().map(narrow));
                    out.typed::<Int32Type>().write_batch(small, present, None)?;
                }
                CellKind::Boolean => {
                    out.typed::<BoolType>().write_batch(&cells.booleans, present, None)?;
                }
                CellKind::Text if !cells.codes.is_empty() => {
                    texts.clear();
                    let codes = cells.codes.iter();
                    texts.extend(codes.map(|code| names.text(*code, rows, &column.name)));
                    let (min, max) = (names.min.as_ref(), names.max.as_ref());
                    out.typed::<ByteArrayType>()
                        .write_batch_with_statistics(texts, present, None, min, max, None)?;
                }
                CellKind::Text => {
                    let all = ByteArray::from(std::mem::take(&mut cells.texts).into_bytes());
                    texts.clear();
                    let mut start = 0;
                    for end in cells.ends.drain(..) {
                        texts.push(all.slice(start, end - start));
                        start = end;
                    }
                    out.typed::<ByteArrayType>().write_batch(texts, present, None)?;
                }
            }
        }
        self.texts.clear();
        Ok(())
    }
}

/// The texts of codes, and the first and the last of them in the order of bytes.
#[derive(Default)]
struct Dictionary {
    texts: FxHashMap<u32, ByteArray>,
    min: Option<ByteArray>,
    max: Option<ByteArray>,
}

impl Dictionary {
    #[inline]
    fn text(&mut self, code: u32, rows: &dyn TableRows, column: &str) -> ByteArray {
        if let Some(text) = self.texts.get(&code) {
            return text.clone();
        }
        let text = ByteArray::from(rows.text(column, code).as_bytes().to_vec());
        if self.min.as_ref().is_none_or(|min| text.data() < min.data()) {
            self.min = Some(text.clone());
        }
        if self.max.as_ref().is_none_or(|max| text.data() > max.data()) {
            self.max = Some(text.clone());
        }
        self.texts.insert(code, text.clone());
        text
    }
}
