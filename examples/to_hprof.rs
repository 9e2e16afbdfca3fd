//! A Go heap, or any other, for VisualVM and Eclipse MAT: `cargo run --example to_hprof --
//! app.heapdump app.hprof`.

use dumptool::output::hprof;
use std::error::Error;
use std::io::Write;

/// Converts a heap and tells what hprof cannot say of it.
pub fn run(from: &str, to: impl Write, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let dump = dumptool::open(from)?;
    let report = hprof::write(&dump.heap()?, &hprof::HprofOptions::default(), to)?;
    writeln!(out, "{} instances in {} classes", report.instances, report.classes)?;
    for loss in &report.lost {
        writeln!(out, "not in the output: {} ({})", loss.what, loss.count)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [from, to] => run(from, std::fs::File::create(to)?, &mut std::io::stdout()),
        _ => Err("usage: to_hprof FROM TO".into()),
    }
}
