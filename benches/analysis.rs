//! How much CPU time and memory the analysis takes, next to Lengauer and Tarjan's simple algorithm
//! on the same graph.
//!
//! ```text
//! cargo bench --bench analysis                     all but those on request
//! cargo bench --bench analysis -- random list      those whose names contain one of these
//! DUMPTOOL_BENCH_SCALE=0.1 cargo bench ...         with a tenth of the objects
//! ```
//!
//! Without `--bench`, which is how `cargo test --benches` calls this, everything is run once on
//! small graphs.

#[path = "analysis/allocator.rs"]
mod allocator;
#[path = "generate/generation.rs"]
mod generation;
#[path = "analysis/graphs.rs"]
mod graphs;
#[path = "analysis/lengauer_tarjan.rs"]
mod lengauer_tarjan;
#[path = "analysis/measure.rs"]
mod measure;
#[path = "../src/pages.rs"]
mod pages;
#[path = "analysis/table.rs"]
mod table;

use graphs::{GRAPHS, Kind};
use table::Table;

/// The program's, with counting.
#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let bench = arguments.iter().any(|argument| argument == "--bench");
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let scale = match std::env::var("DUMPTOOL_BENCH_SCALE") {
        Ok(scale) => scale.parse().expect("DUMPTOOL_BENCH_SCALE is a number"),
        Err(_) if bench => 1.0,
        Err(_) => 0.0005,
    };
    let mut table = Table::default();
    for graph in GRAPHS {
        let wanted = filters.iter().any(|filter| graph.name.contains(filter.as_str()));
        let skipped = graph.on_request || matches!(graph.kind, Kind::Dart) && !bench;
        if wanted || filters.is_empty() && !skipped {
            eprintln!("{} ...", graph.name);
            graph.with(scale, &mut |heap| {
                table.add(graph, heap, &measure::measure(heap, if bench { 3 } else { 1 }))
            });
        }
    }
    table.print();
}
