//! Reading of records, and the trait for those who take them.

use super::layout_choice::LayoutChoice;
use super::load::NameCode;
use super::memory_limit::MemoryLimit;
use crate::error::Result;
use crate::model::fields::Record;
use crate::names::{JavaMapping, SourceMaps};
use std::ops::ControlFlow;

/// Called now and then with the offset that has been reached, for a progress bar.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// Options for reading.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ReadOptions<'a> {
    /// Use summaries in the file instead of reading the data (mvmheap; no effect on other
    /// formats).
    pub quick: bool,
    /// The memory that the tables and sums of a profile may take.
    pub memory: MemoryLimit,
    /// Looks up the functions of frames of which a profile has only addresses.
    pub symbols: Option<&'a dyn NameCode>,
    /// The source maps of scripts, for the names of their functions (V8, pprof).
    pub source_maps: Option<&'a SourceMaps>,
    /// The layout of objects (hprof; no effect on other formats).
    pub layout: LayoutChoice,
    /// The names that classes had before the program was minified (hprof).
    pub mapping: Option<&'a JavaMapping>,
    /// Told how far the reader is.
    pub progress: Progress<'a>,
}

impl<'a> ReadOptions<'a> {
    /// Sets whether summaries in the file are taken instead of reading the data.
    #[must_use]
    pub fn quick(self, quick: bool) -> Self {
        Self { quick, ..self }
    }

    /// Sets what looks up the functions of frames of which a profile has only addresses.
    #[must_use]
    pub fn symbols(self, symbols: Option<&'a dyn NameCode>) -> Self {
        Self { symbols, ..self }
    }

    /// Sets the source maps of scripts.
    #[must_use]
    pub fn source_maps(self, source_maps: Option<&'a SourceMaps>) -> Self {
        Self { source_maps, ..self }
    }

    /// Sets the layout of objects.
    #[must_use]
    pub fn layout(self, layout: LayoutChoice) -> Self {
        Self { layout, ..self }
    }

    /// Sets the names that classes had before the program was minified.
    #[must_use]
    pub fn mapping(self, mapping: Option<&'a JavaMapping>) -> Self {
        Self { mapping, ..self }
    }

    /// Sets the function that is told how far the reader is.
    #[must_use]
    pub fn progress(self, progress: Progress<'a>) -> Self {
        Self { progress, ..self }
    }
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self {
            quick: false,
            memory: MemoryLimit::NONE,
            symbols: None,
            source_maps: None,
            layout: LayoutChoice::default(),
            mapping: None,
            progress: &|_| {},
        }
    }
}

/// Receives the records of a dump one by one.
pub trait Visitor {
    /// Takes one record, whose first byte is at `offset`. `Break` ends the reading.
    fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()>;
}

/// Gives the records of an iterator to the visitor, up to the first damage.
pub(super) fn visit<R: Record>(
    records: impl Iterator<Item = Result<(u64, R)>>,
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<ControlFlow<()>> {
    for (i, record) in records.enumerate() {
        let (offset, record) = record?;
        if i % 65536 == 0 {
            (options.progress)(offset);
        }
        if visitor.record(offset, &record).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
