//! Heaps and profiles as tables: CSV, JSON lines, Parquet, SQL.
//!
//! [`Table`] lists the tables and their columns. [`of_heap`], [`of_profile`] and [`of_dump`] make
//! their rows as a [`Relation`]; [`write()`] writes one as text, and `write_parquet` (with the feature
//! `parquet`) as Parquet.
//!
//! Objects are numbered from 0 in the order of the heap; `src`, `dst`, `object` and `dominator` are
//! such numbers, so that tables can be joined. `id` is what the file calls an object and what other
//! commands take and print. Absent values are null, which is an empty field in CSV.

mod cells;
mod column;
mod dump;
mod events;
mod heap;
#[cfg(feature = "parquet")]
mod parquet;
mod profile;
mod relation;
mod row_numbers;
mod table;
mod text;

pub use cells::{Cell, CellBlock};
pub use column::{Absent, CellKind, Column, ColumnEncoding};
pub use dump::{DumpCounts, DumpRow, of_dump};
pub use events::{EventRows, of_events};
#[cfg(feature = "query")]
pub(crate) use heap::of_threads;
pub use heap::{TextLimit, of_heap};
#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
pub use profile::{TableSelection, of_profile};
pub use relation::Relation;
pub use row_numbers::{Key, Order, RowNumbers};
pub use table::Table;
pub use text::write;
