//! Fails a build whose heap holds more of some type than the last one did:
//! `cargo run --example memory_gate -- before.hprof after.hprof 1000000`.

use dumptool::analysis::{DominatorTree, Histogram, compare_histograms};
use std::error::Error;
use std::io::Write;

/// Prints the types whose live objects have grown by more than `most` bytes. Such a type is an
/// error.
pub fn run(
    before: &str,
    after: &str,
    most: i64,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let (before, after) = (histogram(before)?, histogram(after)?);
    let mut grown = 0;
    for change in compare_histograms(&before, &after) {
        let bytes = change.delta().bytes();
        if bytes > most {
            writeln!(out, "{} has grown by {bytes} bytes", change.name)?;
            grown += 1;
        }
    }
    if grown > 0 { Err(format!("{grown} types have grown too much").into()) } else { Ok(()) }
}

fn histogram(path: &str) -> dumptool::Result<Histogram> {
    let dump = dumptool::open(path)?;
    let heap = dump.heap()?;
    Ok(Histogram::by_type(&heap, &DominatorTree::new(&heap)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [before, after, most] => run(before, after, most.parse()?, &mut std::io::stdout()),
        _ => Err("usage: memory_gate BEFORE AFTER BYTES".into()),
    }
}
