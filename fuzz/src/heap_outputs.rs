//! Everything that a heap is written as can be read again, and says what the heap says.

use super::{in_proportion, stacks};
use dumptool::Analyses;
use dumptool::analysis::dominator_stacks::{self, Counted};
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live;
use dumptool::input::load::{LoadOptions, Loaded};
use dumptool::input::{self, Format, ReadOptions};
use dumptool::model::heap::Heap;
use dumptool::output::Syntax;
use dumptool::output::heapsnapshot::{self, HeapSnapshotObjects};
use dumptool::output::hprof;
use dumptool::tables::{self, Table, TextLimit};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Writes a heap in every form.
pub(crate) fn all(loaded: &Loaded<'_>, bytes: &[u8]) {
    let heap = &loaded.heap;
    // Objects and memory outside of the heap are written as large as they are: sound, but too much
    // for a check in memory.
    if heap
        .externals()
        .iter()
        .map(|(_, bytes)| *bytes)
        .chain(heap.objects().map(|object| heap.shallow_bytes(object)))
        .fold(0, u64::saturating_add)
        <= 4 << 20
    {
        hprof(heap, bytes);
    }
    let graph = Graph::of(heap);
    heapsnapshot(heap, &graph, bytes);
    let tree = DominatorTree::of_graph(heap, &graph);
    drop(graph);
    tables(loaded, bytes);
    dominator_stacks(heap, &tree, bytes);
}

/// Sound, and with as many objects as the report says.
fn hprof(heap: &Heap<'_>, bytes: &[u8]) {
    for (ids, root_unreachable) in [(hprof::IdKind::Compact, true), (hprof::IdKind::Address, false)]
    {
        let mut out = Vec::new();
        let options = hprof::HprofOptions::default().ids(ids).root_unreachable(root_unreachable);
        let report = hprof::write(heap, &options, &mut out).expect("memory takes everything");
        in_proportion(&out, bytes);
        let info = input::info(Format::Hprof, &out, ReadOptions::default())
            .expect("our own output is known");
        assert!(info.damage.is_none(), "{:?}", info.damage);
        let again = input::load(Format::Hprof, &out, LoadOptions::default())
            .expect("our own output is loaded");
        assert!(
            again.damage.is_none()
                && again.heap.warnings().iter().all(|warning| !warning.is_damage()),
            "{:?}",
            again.heap.warnings()
        );
        assert!(again.heap.len() as u64 >= report.instances);
    }
}

#[derive(Deserialize)]
struct HeapSnapshot {
    snapshot: Counts,
    nodes: Vec<u64>,
    edges: Vec<u64>,
    strings: Vec<String>,
}

#[derive(Deserialize)]
struct Counts {
    node_count: u64,
    edge_count: u64,
}

/// All indices lie inside, and the counts are those of the arrays.
fn heapsnapshot(heap: &Heap<'_>, graph: &Graph<'_>, bytes: &[u8]) {
    let live = live::live(graph);
    for objects in [HeapSnapshotObjects::Live, HeapSnapshotObjects::All] {
        let mut out = Vec::new();
        let report = heapsnapshot::write(
            heap,
            graph,
            &live,
            &heapsnapshot::HeapSnapshotOptions::default().objects(objects),
            &mut out,
        )
        .expect("it is small");
        in_proportion(&out, bytes);
        let read: HeapSnapshot = serde_json::from_slice(&out).expect("our own output is JSON");
        assert_eq!(
            (read.snapshot.node_count, read.snapshot.edge_count),
            (report.nodes, report.edges)
        );
        // type, name, id, self_size, edge_count, trace_node_id, detachedness; type, name_or_index,
        // to_node
        let (nodes, edges) = (read.nodes.chunks_exact(7), read.edges.chunks_exact(3));
        assert!(nodes.remainder().is_empty() && edges.remainder().is_empty());
        assert_eq!((nodes.len() as u64, edges.len() as u64), (report.nodes, report.edges));
        assert!(
            nodes.clone().all(|node| (node[1] as usize) < read.strings.len()),
            "names are there"
        );
        assert_eq!(nodes.clone().map(|node| node[4]).sum::<u64>(), report.edges);
        assert_eq!(nodes.clone().map(|node| node[3]).sum::<u64>(), report.bytes);
        let mut ids: Vec<u64> = nodes.map(|node| node[2]).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "an id is one node's");
        assert!(
            read.edges
                .chunks_exact(3)
                .all(|edge| edge[2] % 7 == 0 && (edge[2] as usize) < read.nodes.len()),
            "ends are there"
        );
    }
}

/// Every row can be read, and there are as many as were counted.
fn tables(loaded: &Loaded<'_>, bytes: &[u8]) {
    let analyses = Analyses::of(loaded);
    for table in [Table::Objects, Table::References, Table::Roots, Table::Types, Table::Strings] {
        let write = |syntax| {
            let relation = tables::of_heap(&analyses, table, TextLimit::default())
                .expect("it is a table of heaps");
            let mut out = Vec::new();
            let rows =
                tables::write(&*relation, syntax, &mut out).expect("memory takes everything");
            in_proportion(&out, bytes);
            (rows, out)
        };
        let (rows, out) = write(Syntax::Jsonl);
        let lines = serde_json::Deserializer::from_slice(&out).into_iter::<IgnoredAny>();
        assert_eq!(
            lines.inspect(|line| assert!(line.is_ok(), "our own output is JSON")).count() as u64,
            rows
        );
        let (rows, out) = write(Syntax::Csv);
        stacks::csv(&out, rows);
    }
}

/// The stacks have all live objects and bytes, however much is pruned.
fn dominator_stacks(heap: &Heap<'_>, tree: &DominatorTree, input: &[u8]) {
    let dominators = Dominators::of(&Graph::of(heap));
    for (min_share, counted) in
        [(0.0, Counted::ObjectsAndBytes), (0.02, Counted::ObjectsAndBytes), (0.001, Counted::Bytes)]
    {
        let stacks = dominator_stacks::of(heap, &dominators, "heap", min_share, counted);
        let totals = stacks.stacks.totals();
        let bytes = i64::try_from(tree.live_bytes()).unwrap_or(i64::MAX);
        assert_eq!(*totals.last().expect("bytes are counted"), bytes);
        if counted == Counted::ObjectsAndBytes {
            let live = heap.objects().filter(|object| tree.counts(heap, *object));
            assert_eq!(totals[0], live.count() as i64);
        }
        stacks::all(&stacks.stacks, input);
    }
}
