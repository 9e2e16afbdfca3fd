//! The data model that every format is decoded into.
//!
//! * [`Heap`](heap::Heap): a graph of objects in columns. [`HeapBuilder`](builder::HeapBuilder) builds
//!   one. [`ObjectValues`](values::ObjectValues) decodes what the objects contain.
//! * [`Profile`](profile::Profile): threads, stacks, and the measurements of a profiler.
//! * [`WeightedStacks`](stacks::WeightedStacks): stacks with numbers, the common form of profiles
//!   and dominator trees.
//! * [`Sample`](sample::Sample) and [`SampleSink`](sample::SampleSink): a profile as a stream of
//!   samples, in file order.
//! * [`Record`](fields::Record) and [`FieldSink`](fields::FieldSink): a record of a file as a list of
//!   named fields.
//!
//! Nothing here depends on a file format or on the rest of the crate.

pub mod addresses;
pub mod builder;
pub(crate) mod calendar;
pub mod columns;
pub(crate) mod distinct;
pub mod fields;
pub mod heap;
mod index;
pub mod label;
pub(crate) mod named;
pub mod names;
mod object;
mod object_fields;
pub mod profile;
mod redact;
mod references;
pub(crate) mod regex;
pub mod roles;
pub mod root;
pub mod sample;
pub mod site;
pub mod stacks;
pub mod sum;
mod types;
pub mod values;
mod warning;

pub use object_fields::ObjectField;
#[cfg(feature = "cli")]
pub(crate) use object_fields::StoredValue;
pub use redact::{RedactedNames, Redaction};
pub use warning::{LoadWarning, WarningKind};
