//! The formats that a dump can be converted to.

use crate::input::{Format, Kind};
use crate::output::OutputFormat;

/// Returns the formats that a heap or profile of an input format can be written in.
pub fn output_formats(from: Format, kind: Kind) -> impl Iterator<Item = OutputFormat> + Clone {
    OutputFormat::ALL.into_iter().filter(move |format| match kind {
        Kind::Heap => format.takes_heaps(),
        // Some profiles have sums, but no samples that could be written one by one.
        Kind::Profile => {
            format.takes_profiles()
                && (from.has_order()
                    || !matches!(format, OutputFormat::Austin | OutputFormat::Mojo))
        }
    })
}
