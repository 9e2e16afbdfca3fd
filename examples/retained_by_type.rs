//! What the objects of a type retain in a Go dump, whose executable knows the types' names:
//! `cargo run --example retained_by_type -- app.heapdump app main.Node`.

use std::error::Error;
use std::io::Write;

/// Prints objects, own bytes and retained bytes of a type.
pub fn run(
    dump: &str,
    executable: &str,
    name: &str,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let dump = dumptool::open(dump)?.executable(executable);
    let rows = dump.top(usize::MAX)?;
    let row = rows.iter().find(|row| row.name == name).ok_or("there is no such type")?;
    let retained = row.retained_bytes.ok_or("the dump has no roots")?;
    let (objects, bytes) = (row.sum.count, row.sum.bytes());
    writeln!(out, "{objects} objects of {bytes} bytes retain {retained} bytes")?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [dump, executable, name] => run(dump, executable, name, &mut std::io::stdout()),
        _ => Err("usage: retained_by_type DUMP EXECUTABLE TYPE".into()),
    }
}
