//! The pages of a column in a row group.

use super::packed::hybrid;
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::column::page::{CompressedPage, Page, PageWriter};
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::errors::Result;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::statistics::Statistics;
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::ColumnDescPtr;
use bytes::Bytes;
use std::io;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

const LEVEL: i32 = 3;

/// A column of a row group as it comes into the file.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// Compresses pages, and keeps them until the whole column is there: the dictionary precedes them.
pub(super) struct Pages {
    compressor: Compressor<'static>,
    data: Vec<u8>,
    rows: u64,
    uncompressed: usize,
    encodings: Vec<Encoding>,
    levels: Vec<u32>,
}

impl Pages {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            compressor: Compressor::new(LEVEL)?,
            data: Vec::new(),
            rows: 0,
            uncompressed: 0,
            encodings: Vec::new(),
            levels: Vec::new(),
        })
    }

    /// Adds a page of as many rows. `present` says which of them have a value; it is empty if all
    /// do.
    pub(super) fn add(
        &mut self,
        rows: usize,
        present: &[bool],
        values: &[u8],
        encoding: Encoding,
    ) -> Result<()> {
        let mut page = Vec::new();
        if !present.is_empty() {
            self.levels.clear();
            self.levels.extend(present.iter().map(|present| u32::from(*present)));
            hybrid(&self.levels, 1, &mut page);
        }
        let levels = page.len();
        let compressed = self.compress(values)?;
        let is_compressed = compressed.len() < values.len();
        page.extend_from_slice(if is_compressed { &compressed } else { values });
        let page = Page::DataPageV2 {
            buf: page.into(),
            num_values: rows as u32,
            encoding,
            num_nulls: present.iter().filter(|present| !**present).count() as u32,
            num_rows: rows as u32,
            def_levels_byte_len: levels as u32,
            rep_levels_byte_len: 0,
            is_compressed,
            statistics: None,
        };
        let data = std::mem::take(&mut self.data);
        self.data = self.append(data, page, levels + values.len())?;
        self.rows += rows as u64;
        self.note(encoding);
        Ok(())
    }

    /// The column, after which the next one can begin.
    pub(super) fn finish(
        &mut self,
        descriptor: &ColumnDescPtr,
        dictionary: Option<(usize, &[u8])>,
        statistics: Statistics,
    ) -> Result<Chunk> {
        let mut bytes = Vec::new();
        if let Some((entries, values)) = dictionary {
            let page = Page::DictionaryPage {
                buf: self.compress(values)?.into(),
                num_values: entries as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            bytes = self.append(bytes, page, values.len())?;
            self.note(Encoding::PLAIN);
        }
        // Of the levels.
        self.note(Encoding::RLE);
        let data_offset = bytes.len() as i64;
        bytes.append(&mut self.data);
        let metadata = ColumnChunkMetaData::builder(descriptor.clone())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
            .set_encodings(std::mem::take(&mut self.encodings))
            .set_num_values(self.rows as i64)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(std::mem::take(&mut self.uncompressed) as i64)
            .set_data_page_offset(data_offset)
            .set_dictionary_page_offset(dictionary.map(|_| 0))
            .set_statistics(statistics)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: std::mem::take(&mut self.rows),
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok(Chunk { bytes: bytes.into(), close })
    }

    fn compress(&mut self, values: &[u8]) -> Result<Vec<u8>> {
        let mut compressed = Vec::with_capacity(compress_bound(values.len()));
        self.compressor.compress_to_buffer(values, &mut compressed)?;
        Ok(compressed)
    }

    /// Appends a page with its header.
    fn append(&mut self, bytes: Vec<u8>, page: Page, uncompressed: usize) -> Result<Vec<u8>> {
        let mut out = TrackedWrite::new(bytes);
        let page = CompressedPage::new(page, uncompressed);
        let written = SerializedPageWriter::new(&mut out).write_page(page)?;
        self.uncompressed += written.uncompressed_size;
        out.into_inner()
    }

    fn note(&mut self, encoding: Encoding) {
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
    }
}
