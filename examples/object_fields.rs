//! The fields of an object: `cargo run --example object_fields -- app.hprof 0xfd5de2e0`.

use std::error::Error;
use std::io::Write;

/// Prints the fields of an object, which is named as in the dump: an address, or `#` and a number.
pub fn run(path: &str, id: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let dump = dumptool::open(path)?;
    let heap = dump.heap()?;
    let object = heap.find(id).ok_or("there is no such object")?;
    writeln!(out, "{} {id}", heap.type_name(object))?;
    for field in heap.fields(object) {
        writeln!(out, "  {field}")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [path, id] => run(path, id, &mut std::io::stdout()),
        _ => Err("usage: object_fields FILE ID".into()),
    }
}
