//! The names that a program had before it was minified.
//!
//! Readers look names up while they load, before types and functions are distinguished by name, so
//! that all outputs agree.

mod mapping;
mod short;
mod source_maps;

pub use mapping::{JavaMapping, MappedFrame};
pub use short::{ShortNames, looks_short, looks_short_in_java};
pub use source_maps::{MapProblem, Original, SourceMaps};
