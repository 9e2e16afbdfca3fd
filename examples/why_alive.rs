//! Why an object is alive: `cargo run --example why_alive -- FILE 0xc000012345`.

use dumptool::analysis::{Origin, shortest_path};
use std::error::Error;
use std::io::Write;

/// Prints a shortest path from a root to an object.
pub fn run(path: &str, id: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let loaded = dumptool::open(path)?.load()?;
    if let Some(damage) = loaded.damage() {
        writeln!(out, "the file is damaged: {damage}")?;
    }
    let heap = loaded.heap();
    let object = heap.find(id).ok_or("there is no such object")?;
    let path = shortest_path(heap, object).ok_or("the object is unreachable")?;
    match path.origin {
        Origin::Root(row) => writeln!(out, "root {}", heap.roots()[row].text(heap.names()))?,
        Origin::Synthetic(object) => writeln!(out, "root {}", heap.id(object))?,
        Origin::Cycle => writeln!(out, "no root")?,
    }
    for step in &path.steps {
        let type_name = heap.type_name(step.object);
        writeln!(out, "  {:<12} {type_name} {}", step.by.text(heap), heap.id(step.object))?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [path, id] => run(path, id, &mut std::io::stdout()),
        _ => Err("usage: why_alive FILE ID".into()),
    }
}
