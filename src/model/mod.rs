//! What every format is decoded into. Nothing here knows a format, and nothing here imports from the rest of the crate.
//!
//! * [`heap`]: a graph of objects, in columns; [`builder`] fills it; [`addresses`], [`columns`], [`label`],
//!   [`names`] and [`root`] are its parts, and [`sum`] adds up objects;
//! * [`profile`]: threads, stacks and what was measured of them; [`stacks`]: what profiles and dominator trees have in common;
//! * [`sample`]: a profile as a stream of samples in file order;
//! * [`fields`]: a record as a list of named fields, for commands that show records.

pub mod addresses;
pub mod builder;
pub mod columns;
pub mod fields;
pub mod heap;
mod index;
pub mod label;
pub mod names;
pub mod profile;
pub mod root;
pub mod sample;
pub mod stacks;
pub mod sum;
