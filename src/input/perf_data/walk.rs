//! The records of a file, those in compressed ones included.

use super::attributes::Attribute;
use super::words::Words;
use crate::error::{Error, Result};
use std::ops::ControlFlow;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

pub(super) mod kind {
    pub(in super::super) const MMAP: u32 = 1;
    pub(in super::super) const LOST: u32 = 2;
    pub(in super::super) const COMM: u32 = 3;
    pub(in super::super) const EXIT: u32 = 4;
    pub(in super::super) const FORK: u32 = 7;
    pub(in super::super) const SAMPLE: u32 = 9;
    pub(in super::super) const MMAP2: u32 = 10;
    pub(in super::super) const LOST_SAMPLES: u32 = 13;
    pub(in super::super) const HEADER_ATTR: u32 = 64;
    pub(in super::super) const TRACING_DATA: u32 = 66;
    pub(in super::super) const BUILD_ID: u32 = 67;
    pub(in super::super) const AUXTRACE: u32 = 71;
    pub(in super::super) const HEADER_FEATURE: u32 = 80;
    pub(in super::super) const COMPRESSED: u32 = 81;
    pub(in super::super) const COMPRESSED2: u32 = 83;
    /// The first type of records that perf itself writes, not the kernel.
    pub(in super::super) const FIRST_OF_USER: u32 = 64;
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'r> {
    /// The offset in the file; for a record in a compressed one, the offset of the latter.
    pub(super) offset: u64,
    pub(super) kind: u32,
    pub(super) misc: u16,
    pub(super) body: &'r [u8],
    pub(super) is_big: bool,
}

impl<'r> Record<'r> {
    #[inline]
    pub(super) fn words(&self) -> Words<'r> {
        Words::new(self.body, self.offset.saturating_add(HEADER), self.is_big)
    }

    /// The number that begins this many bytes before the record's end.
    pub(super) fn before_end(&self, bytes: usize) -> Option<u64> {
        let at = self.body.len().checked_sub(bytes)?;
        Words::new(self.body.get(at..)?, 0, self.is_big).u64("").ok()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Data<'a> {
    pub(super) bytes: &'a [u8],
    /// The offset of the first record.
    pub(super) start: u64,
    pub(super) is_big: bool,
}

const HEADER: u64 = 8;

/// The maximum number of decompressed bytes: in any case, and in addition for each byte of a file.
const MOST: (u64, u64) = (128 << 20, 250);

type Visit<'v> = dyn FnMut(&Record<'_>) -> Result<ControlFlow<()>> + 'v;

/// Passes every record to the visitor, in the order of the file. Fails with the first damage, or
/// the visitor's error.
pub(super) fn walk(data: Data<'_>, visit: &mut Visit<'_>) -> Result<()> {
    let mut walker = Walker { is_big: data.is_big, decoder: None, pending: Vec::new(), left: 0 };
    walker.left = MOST.0.saturating_add((data.bytes.len() as u64).saturating_mul(MOST.1));
    let mut words = Words::new(data.bytes, data.start, data.is_big);
    while !words.cursor.is_empty() {
        let record = read(&mut words)?;
        let skipped = match record.kind {
            kind::AUXTRACE => record.words().u64("the size of a trace")?,
            kind::TRACING_DATA => {
                u64::from(record.words().u32("the size of tracing data")?).next_multiple_of(8)
            }
            _ => 0,
        };
        words.take(skipped, "data after a record")?;
        let flow = match record.kind {
            kind::COMPRESSED => walker.compressed(&record, record.body, visit)?,
            kind::COMPRESSED2 => {
                let mut body = record.words();
                let size = body.u64("the size of compressed data")?;
                let data = body.take(size, "compressed data")?;
                walker.compressed(&record, data, visit)?
            }
            _ => visit(&record)?,
        };
        if flow.is_break() {
            return Ok(());
        }
    }
    if walker.pending.is_empty() {
        Ok(())
    } else {
        let end = data.start.saturating_add(data.bytes.len() as u64);
        Err(Error::truncated(end, "a record in compressed ones"))
    }
}

#[inline]
fn read<'r>(words: &mut Words<'r>) -> Result<Record<'r>> {
    let offset = words.cursor.offset();
    let (kind, misc) = (words.u32("the type of a record")?, words.u16("a record")?);
    let size = u64::from(words.u16("the size of a record")?);
    let Some(length) = size.checked_sub(HEADER) else {
        return Err(Error::corrupt(offset, "the size of a record")
            .expected("at least 8")
            .found(size.to_string()));
    };
    let body = words.take(length, "a record")?;
    Ok(Record { offset, kind, misc, body, is_big: words.is_big })
}

struct Walker {
    is_big: bool,
    decoder: Option<Decoder<'static>>,
    /// The beginning of a record whose rest is in the next compressed one.
    pending: Vec<u8>,
    /// Bytes that may still be decompressed.
    left: u64,
}

impl Walker {
    fn compressed(
        &mut self,
        record: &Record<'_>,
        data: &[u8],
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        self.decompress(record.offset, data)?;
        let bytes = std::mem::take(&mut self.pending);
        let mut words = Words::new(&bytes, record.offset, self.is_big);
        loop {
            let before = words;
            match read(&mut words) {
                Ok(inner) => {
                    if visit(&Record { offset: record.offset, ..inner })?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Err(error) if error.kind() == crate::error::ErrorKind::Truncated => {
                    self.pending = before.cursor.rest().to_vec();
                    return Ok(ControlFlow::Continue(()));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Appends decompressed data to what is pending: all records are one stream.
    fn decompress(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        let failed = |_| Error::corrupt(offset, "compressed records").expected("zstd data");
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            none => none.insert(Decoder::new().map_err(failed)?),
        };
        let mut chunk = [0u8; 1 << 14];
        let mut input = InBuffer::around(data);
        loop {
            let before = input.pos();
            let mut output = OutBuffer::around(&mut chunk[..]);
            decoder.run(&mut input, &mut output).map_err(failed)?;
            let written = output.as_slice();
            let is_stuck = input.pos() == before && written.is_empty();
            let is_done = is_stuck || input.pos() == data.len() && written.len() < 1 << 14;
            self.left = self
                .left
                .checked_sub(written.len() as u64)
                .ok_or_else(|| Error::limit(offset, "the records decompress to too much"))?;
            self.pending.extend_from_slice(written);
            if is_done {
                return Ok(());
            }
        }
    }
}

/// Identifies events by the ids in records.
#[derive(Debug)]
pub(super) struct Events {
    /// The event of each id. Empty if there is only one event.
    by_id: rustc_hash::FxHashMap<u64, usize>,
    in_sample: Option<usize>,
    pub(super) time_before_end: Option<usize>,
}

impl Events {
    pub(super) fn of(attributes: &[Attribute]) -> Self {
        let first = attributes.first();
        let rows =
            attributes.iter().enumerate().take(if attributes.len() > 1 { usize::MAX } else { 0 });
        let ids = rows.flat_map(|(row, event)| event.ids.iter().map(move |id| (*id, row)));
        Self {
            by_id: ids.collect(),
            in_sample: first.and_then(|event| event.id_place().0),
            time_before_end: first.and_then(Attribute::time_before_end),
        }
    }

    #[inline]
    pub(super) fn of_sample(&self, record: &Record<'_>) -> usize {
        if self.by_id.is_empty() {
            return 0;
        }
        let id = self
            .in_sample
            .and_then(|at| Words::new(record.body.get(at..)?, 0, record.is_big).u64("").ok());
        id.and_then(|id| self.by_id.get(&id)).copied().unwrap_or(0)
    }
}
