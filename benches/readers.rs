//! How much CPU time the readers take, next to the least that could be done with the same file.
//!
//! ```text
//! cargo bench --bench readers                      all but those on request
//! cargo bench --bench readers -- mojo go-info      those whose names contain one of these
//! DUMPTOOL_BENCH_SCALE=0.1 cargo bench ...         with a tenth of the records
//! ```
//!
//! Without `--bench`, which is how `cargo test --benches` calls this, everything is run once on
//! small inputs.

mod generate;
mod support;

use std::path::Path;
use support::benches::{BENCHES, Bench};
use support::inputs::remove_converted;
use support::measure::{child, measure};
use support::table::Table;

#[path = "../src/pages.rs"]
mod pages;

/// The program's.
#[global_allocator]
static ALLOCATOR: pages::HugePages = pages::HugePages;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [flag, name, path] if flag == "--child" => {
            let bench = BENCHES
                .iter()
                .find(|bench| bench.name == name)
                .expect("a parent knows its benchmarks");
            child(bench, Path::new(path));
        }
        arguments if arguments.iter().any(|argument| argument == "--bench") => run(arguments),
        _ => try_all(),
    }
}

fn run(arguments: &[String]) {
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let scale = match std::env::var("DUMPTOOL_BENCH_SCALE") {
        Ok(scale) => scale.parse().expect("DUMPTOOL_BENCH_SCALE is a number"),
        Err(_) => 1.0,
    };
    let wanted = |bench: &&Bench| match (filters.is_empty(), bench.on_request) {
        (true, on_request) => !on_request,
        (false, true) => filters.iter().any(|filter| *filter == bench.name),
        (false, false) => filters.iter().any(|filter| bench.name.contains(filter.as_str())),
    };
    let mut table = Table::default();
    for bench in BENCHES.iter().filter(wanted) {
        let (path, items) = bench.input.file(scale).expect("inputs can be written");
        let bytes = path.metadata().expect("the input is there").len();
        eprintln!("{} ...", bench.name);
        table.add(bench, bytes, items, &measure(bench, &path));
    }
    table.print();
}

fn try_all() {
    for bench in BENCHES {
        let (path, _) = bench.input.file(0.0).expect("inputs can be written");
        (bench.run)(&std::fs::read(&path).expect("the input is read"));
        bench.floors.iter().for_each(|floor| (floor.run)(&path));
    }
    remove_converted();
}
