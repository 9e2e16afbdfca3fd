//! Why an object is alive: `cargo run --example path_to_object -- FILE 0xc000012345`.

use dumptool::analysis::graph::Graph;
use dumptool::analysis::paths::{Origin, several::several};
use std::error::Error;
use std::io::Write;

/// Prints a shortest path from a root to an object, which is named as in the dump: an address, or
/// `#` and a number.
pub fn run(path: &str, id: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let dump = dumptool::open(path)?;
    let heap = dump.heap()?;
    let object = heap.find(id).ok_or("there is no such object")?;
    let paths = several(&heap, &Graph::of(&heap), object, 1);
    let path = paths.first().ok_or("the object is unreachable")?;
    match path.origin {
        Origin::Root(row) => writeln!(out, "root {}", heap.roots()[row].text(heap.names()))?,
        Origin::Synthetic(object) => writeln!(out, "root {}", heap.id(object))?,
    }
    for step in &path.steps {
        let type_name = heap.names().text(heap.type_of(step.object).name);
        writeln!(out, "  {:<12} {type_name} {}", step.by.text(&heap), heap.id(step.object))?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [path, id] => run(path, id, &mut std::io::stdout()),
        _ => Err("usage: path_to_object FILE ID".into()),
    }
}
