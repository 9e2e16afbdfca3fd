//! The writers: one for each output format. They depend on the model, not on the inputs.

pub mod austin;
pub mod callgrind;
pub mod dot;
pub mod firefox;
pub mod flamegraph;
pub mod folded;
mod format;
pub mod heapsnapshot;
pub mod hprof;
pub mod json;
pub mod loss;
pub mod mojo;
pub mod pprof;
#[cfg_attr(
    not(feature = "cli"),
    allow(dead_code, reason = "most of it is for the tables of the command line")
)]
pub(crate) mod quantity;
pub mod records;
pub mod report;
pub mod speedscope;
pub mod stack_rows;
pub(crate) mod syntax;
pub mod written;

pub use format::OutputFormat;
pub use syntax::Syntax;

use crate::model::profile::{Profile, Samples};
use std::io;

/// Returns the I/O error inside a `csv` error, to keep its kind, such as a closed pipe.
pub(crate) fn csv_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// The samples of a profile, for formats that are made of them.
fn kept_samples(profile: &Profile) -> io::Result<&Samples> {
    let message = "the profile has only sums, no samples; set ProfileOptions::keep_samples if the format has samples";
    profile.samples.as_ref().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, message))
}
