//! The ten largest types, a path and a conversion: `cargo run --example stranger -- app.heapdump
//! app.hprof`.

use dumptool::{DominatorTree, analysis::shortest_path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [from, to] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: stranger FROM TO")?;
    let dump = dumptool::open(from)?;
    for row in dump.top(10)? {
        println!("{:>12} {:>8} {}", row.retained_bytes.unwrap_or(0), row.sum.count, row.name);
    }
    let heap = dump.heap()?;
    let tree = DominatorTree::new(&heap);
    let largest = heap
        .objects()
        .filter(|object| !heap.is_made_up(*object))
        .max_by_key(|object| tree.retained(*object));
    if let Some(path) = largest.and_then(|object| shortest_path(&heap, object)) {
        println!("{}", path.text(&heap));
    }
    dump.convert("hprof", std::fs::File::create(to)?)?;
    Ok(())
}
