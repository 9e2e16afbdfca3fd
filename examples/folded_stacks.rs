//! The hottest functions of a profile, and its stacks for flame graphs:
//! `cargo run --example folded_stacks -- profile.pb.gz profile.folded`.

use std::error::Error;
use std::io::Write;

/// Prints the five functions with the largest own values, and writes a line for each stack.
pub fn run(path: &str, to: impl Write, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let dump = dumptool::open(path)?;
    for row in dump.functions(5)? {
        writeln!(out, "{row}")?;
    }
    for loss in dump.convert("folded", to)? {
        writeln!(out, "not in the output: {loss}")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [from, to] => run(from, std::fs::File::create(to)?, &mut std::io::stdout()),
        _ => Err("usage: folded_stacks PROFILE OUTPUT".into()),
    }
}
