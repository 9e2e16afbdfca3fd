//! The names that a program had before it was minified.

mod mapping;

pub use mapping::{JavaMapping, MappedFrame};
