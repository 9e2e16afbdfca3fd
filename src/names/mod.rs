//! The names that a program had before it was minified.
//!
//! Readers ask while they load, before types and functions are told apart by their names, so that
//! every answer agrees.

mod mapping;
mod short;
mod source_maps;

pub use mapping::{JavaMapping, MappedFrame};
pub use short::{ShortNames, looks_short, looks_short_in_java};
pub use source_maps::{MapProblem, Original, SourceMaps};
