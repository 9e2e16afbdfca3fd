//! Reading of records, and the trait of their receivers.

use super::load::NameCode;
use super::options::{LayoutChoice, MemoryLimit, options};
use crate::error::Result;
use crate::model::fields::Record;
use crate::names::{JavaMapping, SourceMaps};
use std::ops::ControlFlow;

/// Called now and then with the offset that has been reached, for a progress bar.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

options! {
    /// Options for reading.
    pub struct ReadOptions<'a> {
        /// Use summaries in the file instead of reading the data (mvmheap; no effect on other
        /// formats).
        quick: bool = false,
        /// The memory that the tables and sums of a profile may take.
        memory: MemoryLimit = MemoryLimit::NONE,
        /// Looks up the functions of frames of which a profile has only addresses.
        symbols: Option<&'a dyn NameCode> = None,
        /// The source maps of scripts, for the names of their functions (V8, pprof).
        source_maps: Option<&'a SourceMaps> = None,
        /// The layout of objects (hprof; no effect on other formats).
        layout: LayoutChoice = LayoutChoice::default(),
        /// The names that classes had before the program was minified (hprof).
        mapping: Option<&'a JavaMapping> = None,
        /// Receives the offset that the reader has reached.
        progress: Progress<'a> = &|_| {},
    }
}

/// Receives the records of a dump one by one.
pub trait Visitor {
    /// Takes one record, whose first byte is at `offset`. `Break` ends the reading.
    fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()>;
}

/// Passes the records of an iterator to the visitor. Fails with the first damage, unless the
/// visitor ends the reading before.
pub(super) fn visit<R: Record>(
    records: impl Iterator<Item = Result<(u64, R)>>,
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    for (i, record) in records.enumerate() {
        let (offset, record) = record?;
        if i % 65536 == 0 {
            (options.progress)(offset);
        }
        if visitor.record(offset, &record).is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// Adds one to a counter in a public structure, up to the maximum.
#[inline]
pub(super) fn count_one(counter: &mut u64) {
    *counter = counter.saturating_add(1);
}
