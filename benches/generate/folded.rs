//! Folded stacks of 20 frames, of which each line has another one.

use super::{Out, Random};
use std::io::{self, Write};

/// Writes that many lines.
pub(crate) fn write(lines: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut random = Random(1);
    let mut out = Out::new(file);
    for _ in 0..lines {
        for depth in 0..20 {
            let function = depth * 50 + random.skewed(50);
            write!(out.bytes, "{}package::module{depth}::function{function}", separator(depth))?;
        }
        writeln!(out.bytes, " {}", 1 + random.below(100))?;
        out.spill()?;
    }
    out.flush()
}

fn separator(depth: u64) -> &'static str {
    if depth == 0 { "" } else { ";" }
}
