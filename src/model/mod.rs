//! What every format is decoded into. Nothing here knows a format, and nothing here imports from the rest of the crate.
//!
//! * [`fields`]: a record as a list of named fields, for commands that show records;
//! * [`sample`]: a profile as a stream of samples in file order.

pub mod fields;
pub mod sample;
