//! What every format is decoded into. Nothing here knows a format, and nothing here imports from the rest of the crate.
//!
//! * [`heap`]: a graph of objects, in columns; [`builder`] fills it, [`addresses`] and [`names`] are parts of it;
//! * [`sample`]: a profile as a stream of samples in file order;
//! * [`fields`]: a record as a list of named fields, for commands that show records.

pub mod addresses;
pub mod builder;
pub mod fields;
pub mod heap;
pub mod names;
pub mod sample;
