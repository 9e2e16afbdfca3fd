//! Reads the heap dumps and profiles of several runtimes.
//!
//! Data flows in one direction: a [`source`] gives bytes, [`detect`] tells the format, a reader in [`input`] decodes
//! records with their offsets into what [`model`] describes, and [`output`] writes it. The command line, which is the
//! feature `cli`, wires these together.
//!
//! ```no_run
//! use dumptool::{detect, input, source::Source};
//!
//! let source = Source::open("app.heapdump".as_ref())?;
//! let format = detect::detect(source.bytes())?;
//! let info = input::info(format, source.bytes(), input::Options::default())?;
//! println!("{} records", info.records.total());
//! # Ok::<(), dumptool::error::Error>(())
//! ```

pub mod analysis;
pub mod bytes;
#[cfg(feature = "cli")]
pub mod cli;
pub mod detect;
pub mod error;
pub mod input;
pub mod model;
pub mod output;
pub mod pages;
pub mod source;
mod vm_service;
