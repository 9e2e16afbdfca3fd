//! The types of a heap that hold the most memory: `cargo run --example biggest_types -- FILE`.

use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::histogram::{GroupBy, Histogram, Scope};
use std::error::Error;
use std::io::Write;

/// Prints the five largest types of a dump.
pub fn run(path: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let dump = dumptool::open(path)?;
    let heap = dump.heap()?;
    // Without roots, live objects cannot be distinguished from garbage: all objects count, and
    // nothing is retained.
    let tree = DominatorTree::new(&heap);
    let histogram = Histogram::of(&heap, Some(&tree), GroupBy::Type, Scope::Live);
    for row in histogram.rows.iter().take(5) {
        let retained = row.retained_bytes.unwrap_or(0);
        writeln!(out, "{retained:>9} {:>9} {:>6}  {}", row.sum.bytes(), row.sum.count, row.name)?;
    }
    if let Some(garbage) = histogram.unreachable {
        writeln!(out, "unreachable: {} objects, {} bytes", garbage.count, garbage.bytes())?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: biggest_types FILE")?;
    run(&path, &mut std::io::stdout())
}
