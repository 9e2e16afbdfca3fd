//! Weighted stacks, which profiles and dominator trees are, in every format for them.

use super::Conversion;
use crate::cli::args::Target;
use crate::cli::destination::Destination;
use crate::model::stacks::WeightedStacks;
use crate::output;
use crate::output::written::Written;
use crate::output::{Syntax, stack_rows};
use std::io;

/// Writes stacks; the first value only where there is room for one.
///
/// # Errors
/// When the output cannot be written, or the target is not one of stacks.
pub(super) fn write(
    conversion: &Conversion<'_>,
    stacks: &WeightedStacks,
    out: &mut Destination,
) -> io::Result<Written> {
    match conversion.target {
        Target::Folded => output::folded::write(stacks, 0, out),
        Target::Svg => output::flamegraph::write(stacks, 0, &conversion.picture(), out),
        Target::Speedscope => output::speedscope::write(stacks, out),
        Target::Firefox => output::firefox::write(stacks, out),
        Target::Jsonl => stack_rows::write(stacks, Syntax::Jsonl, out),
        Target::Csv => stack_rows::write(stacks, Syntax::Csv, out),
        Target::Pprof => output::pprof::write(stacks, out),
        Target::Austin | Target::Mojo | Target::Hprof | Target::Heapsnapshot | Target::Parquet => {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}
