//! How fast heaps are written, beyond loading and the work on the graph.
//!
//! ```text
//! cargo bench --bench outputs -- app.heapdump ...     CPU time of each output, and bytes a second
//! ```
//!
//! Without a file nothing is measured.

use cpu_time::ProcessTime;
use dumptool::Analyses;
use dumptool::analysis::dominator_stacks::{self, Counted};
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live::live;
use dumptool::detect::detect;
use dumptool::input::{self, load::LoadOptions};
use dumptool::output::Syntax;
use dumptool::output::heapsnapshot::{self, HeapSnapshotObjects, HeapSnapshotOptions};
use dumptool::output::{folded, pprof};
use dumptool::source::Source;
use dumptool::tables::{self, Table, TextLimit};
use std::io::{self, Write};
use std::path::Path;

#[path = "../src/pages.rs"]
mod pages;

/// The program's.
#[global_allocator]
static ALLOCATOR: pages::HugePages = pages::HugePages;

fn main() {
    let paths = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    paths.for_each(|path| bench(Path::new(&path)));
}

/// Counts bytes and forgets them.
#[derive(Default)]
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn bench(path: &Path) {
    let source = Source::open(path).expect("the dump opens");
    let format = detect(source.bytes()).expect("the format is known");
    let (loaded, _) = timed("load", |_| {
        input::load(format, source.bytes(), LoadOptions::default()).expect("a heap")
    });
    let heap = &loaded.heap;
    let (graph, _) = timed("graph", |_| Graph::of(heap));
    let (alive, _) = timed("live", |_| live(&graph));
    let (dominators, _) = timed("dominators", |_| Dominators::of(&graph));
    timed("dominator tree", |_| DominatorTree::of_graph(heap, &graph));
    eprintln!(
        "{} objects, {} live, {} references",
        heap.len(),
        alive.len(),
        heap.references().len()
    );
    for objects in [HeapSnapshotObjects::Live, HeapSnapshotObjects::All] {
        timed(&format!("heapsnapshot, {objects:?}"), |out| {
            heapsnapshot::write(
                heap,
                &graph,
                &alive,
                &HeapSnapshotOptions::default().objects(objects),
                out,
            )
            .expect("nothing is written")
        });
    }
    let (tree, _) = timed("stacks", |_| {
        dominator_stacks::of(heap, &dominators, "", 0.0, Counted::ObjectsAndBytes)
    });
    let (pruned, _) = timed("stacks, pruned", |_| {
        dominator_stacks::of(heap, &dominators, "", 0.000_01, Counted::ObjectsAndBytes)
    });
    eprintln!("{} stacks, {} when pruned", tree.stacks.len(), pruned.stacks.len());
    timed("pprof", |out| pprof::write(&tree.stacks, out).expect("nothing is written"));
    timed("folded", |out| folded::write(&tree.stacks, 1, out).expect("nothing is written"));
    let (analyses, _) = timed("analyses", |_| Analyses::of(&loaded));
    analyses.tree();
    for syntax in [Syntax::Jsonl, Syntax::Csv] {
        for table in [Table::Objects, Table::References] {
            timed(&format!("{table:?}, {syntax:?}"), |out| {
                let relation = tables::of_heap(&analyses, table, TextLimit::default())
                    .expect("heaps have the table");
                tables::write(&*relation, syntax, io::BufWriter::with_capacity(1 << 20, out))
                    .expect("nothing is written")
            });
        }
    }
}

/// The result and the bytes that were written, after a line that says how long it took.
fn timed<R>(what: &str, work: impl FnOnce(&mut Counter) -> R) -> (R, u64) {
    let mut out = Counter::default();
    let start = ProcessTime::now();
    let result = work(&mut out);
    let seconds = start.elapsed().as_secs_f64();
    let rate = if out.0 > 0 {
        format!("  {:.1} MB, {:.0} MB/s", out.0 as f64 / 1e6, out.0 as f64 / 1e6 / seconds)
    } else {
        String::new()
    };
    eprintln!("{what:24}{seconds:8.2} CPU s{rate}");
    (result, out.0)
}
