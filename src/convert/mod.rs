//! Converts heaps and profiles to the formats of other tools.
//!
//! `Dump::convert` and the command `convert` share this code, so that both write the same bytes and
//! report the same losses. The callers load the dump and open the output.

mod file;
mod heap;
mod profile;
mod stream;
mod tables;

pub use file::DumpFile;
#[cfg(feature = "cli")]
pub(crate) use file::digest;
#[doc(hidden)]
pub use stream::Streamed;
#[doc(hidden)]
pub use tables::TableSource;
pub use tables::read_events;

use crate::input::load::MemoryLimit;
use crate::input::{Format, Kind};
use crate::model::stacks::{Selection, WeightedStacks};
use crate::output::austin::Dialect;
use crate::output::flamegraph::{self, FlamegraphOptions};
use crate::output::heapsnapshot::{HeapSnapshotOptions, HeapSnapshotReport};
use crate::output::hprof::{HprofOptions, HprofReport};
use crate::output::loss::Loss;
use crate::output::written::Written;
use crate::output::{self, OutputFormat, Syntax};
use crate::tables::{Table, TextLimit};
use serde::Serialize;
use std::io::{self, Write};

/// Returns the formats that a heap or profile of an input format can be written in.
pub fn output_formats(from: Format, kind: Kind) -> impl Iterator<Item = OutputFormat> + Clone {
    OutputFormat::ALL.into_iter().filter(move |format| match kind {
        Kind::Heap => format.takes_heaps(),
        // Some profiles have sums, but no single samples to write.
        Kind::Profile => {
            format.takes_profiles()
                && (from.has_order()
                    || !matches!(format, OutputFormat::Austin | OutputFormat::Mojo))
        }
    })
}

/// A conversion of one dump to one format.
#[derive(Clone, Copy, Debug)]
pub struct Conversion<'a> {
    /// The format to write.
    pub target: OutputFormat,
    /// The options of the conversion. Options that the target does not use have no effect.
    pub options: &'a ConvertOptions,
    /// The dump to convert.
    pub file: DumpFile<'a>,
}

/// Options of conversions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Options for heaps as hprof.
    pub hprof: HprofOptions,
    /// Options for heaps as heap snapshots.
    pub heapsnapshot: HeapSnapshotOptions,
    /// Heaps to stacks: subtrees of the dominator tree with a smaller share of the live bytes are
    /// merged.
    pub min_share: f64,
    /// Profiles: the threads to write, and the label that groups their stacks.
    pub selection: Selection,
    /// Profiles: the name of the metric to write. `None`: those that the target has room for.
    pub metric: Option<String>,
    /// Profiles: sums instead of samples.
    pub aggregate: bool,
    /// The dialect of Austin's text, for profiles.
    pub dialect: Dialect,
    /// Profiles to MOJO: merge consecutive samples of a thread that have the same stack.
    pub merge: bool,
    /// Options for flame graphs.
    pub picture: FlamegraphOptions,
    /// The table to write. `None` selects `objects` for heaps; for profiles `samples` in Parquet,
    /// and rows with whole stacks in CSV and JSON lines.
    pub table: Option<Table>,
    /// The texts in the table `strings`.
    pub texts: TextLimit,
    /// The maximum memory of the table `events`.
    pub memory: MemoryLimit,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self {
            hprof: HprofOptions::default(),
            heapsnapshot: HeapSnapshotOptions::default(),
            min_share: 0.00001,
            selection: Selection::default(),
            metric: None,
            aggregate: false,
            dialect: Dialect::default(),
            merge: false,
            picture: FlamegraphOptions::default(),
            table: None,
            texts: TextLimit::default(),
            memory: MemoryLimit::NONE,
        }
    }
}

/// The result of a conversion.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The data that was written, as readers of the target count it.
    pub written: ConvertedCounts,
    /// Data that the format cannot store.
    pub lost: Vec<Loss>,
}

/// Counts of written data.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ConvertedCounts {
    /// A heap as hprof.
    Hprof(HprofReport),
    /// A heap as a heap snapshot.
    Heapsnapshot(HeapSnapshotReport),
    /// Stacks or samples.
    Stacks(Written),
    /// Samples that were streamed.
    Samples {
        /// The number of samples.
        samples: u64,
    },
    /// A table.
    Rows {
        /// The number of rows.
        rows: u64,
    },
}

impl Conversion<'_> {
    /// Whether a dump of this kind is written as a table.
    pub fn writes_table(&self, kind: Kind) -> bool {
        match self.target {
            OutputFormat::Parquet => true,
            OutputFormat::Csv | OutputFormat::Jsonl => {
                kind == Kind::Heap || self.options.table.is_some()
            }
            _ => false,
        }
    }

    /// Writes the stacks of a profile or dominator tree. Formats with room for a single value get
    /// the first.
    fn stacks(&self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
        match self.target {
            OutputFormat::Folded => output::folded::write(stacks, 0, out),
            OutputFormat::Svg => flamegraph::picture(stacks, 0, &self.options.picture).draw(out),
            OutputFormat::Speedscope => output::speedscope::write(stacks, out),
            OutputFormat::Firefox => output::firefox::write(stacks, out),
            OutputFormat::Jsonl => output::stack_rows::write(stacks, Syntax::Jsonl, out),
            OutputFormat::Csv => output::stack_rows::write(stacks, Syntax::Csv, out),
            OutputFormat::Pprof => output::pprof::write(stacks, out),
            OutputFormat::Callgrind => output::callgrind::write(stacks, None, out),
            other => {
                let message = format!("{} holds no stacks", other.name());
                Err(io::Error::new(io::ErrorKind::Unsupported, message))
            }
        }
    }
}
