//! Heaps and profiles as tables: CSV, JSON lines, Parquet.
//!
//! [`Table`] lists the tables and their columns. [`of_heap`], [`of_profile`] and [`DumpRow`] make
//! their rows; [`write()`] writes rows as text, and `write_parquet` (with the feature `parquet`) as
//! Parquet.
//!
//! Objects are numbered from 0 in the order of the heap; `src`, `dst`, `object` and `dominator` are
//! such numbers, so that tables can be joined. `id` is what the file calls an object and what other
//! commands take and print. Absent values are null, which is an empty field in CSV.

mod cells;
mod columns;
mod dump;
mod heap;
#[cfg(feature = "parquet")]
mod parquet;
mod profile;
mod text;

pub use cells::{TableCells, TableRows};
pub use columns::{Absent, CellKind, ColumnEncoding, Table, TableColumn};
#[cfg(feature = "query")]
pub(crate) use dump::DumpValue;
pub use dump::{DumpCounts, DumpRow};
pub use heap::{TextLimit, of_heap};
#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
#[cfg(feature = "query")]
pub(crate) use profile::sample_metrics;
pub use profile::{TableSelection, of_profile};
pub use text::write;
