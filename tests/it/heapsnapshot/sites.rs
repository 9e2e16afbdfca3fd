//! Who allocated what is live, and where the code of objects begins.

use crate::support::broken;
use crate::support::heapsnapshot::Snapshot;
use dumptool::analysis::DominatorTree;
use dumptool::analysis::glob::TypeFilter;
use dumptool::analysis::histogram::{Histogram, Scope};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::heap::{Heap, SourceLocation};
use serde_json::Value;
use std::collections::BTreeMap;

fn load(bytes: &[u8]) -> Heap<'_> {
    let loaded = input::load(Format::Heapsnapshot, bytes, LoadOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.heap
}

/// Function, place, number of objects and bytes.
type Row = (String, String, u64, u64);

fn rows(heap: &Heap<'_>, scope: Scope) -> Vec<Row> {
    let tree = DominatorTree::new(heap);
    let rows = Histogram::by_site(heap, Some(&tree), scope, &TypeFilter::default()).rows;
    let row = |row: dumptool::analysis::histogram::HistogramRow| {
        (row.name, row.namespace, row.sum.count, row.sum.shallow_bytes)
    };
    let mut rows: Vec<Row> = rows.into_iter().map(row).collect();
    rows.sort();
    rows
}

/// Tickets that two functions sell, an array that `push` of the engine grew, a node that nothing
/// holds, and one that a function allocated which the file does not have.
fn shop() -> Snapshot {
    let mut shop = Snapshot::new();
    let tickets: Vec<usize> = (0..5).map(|_| shop.object("Ticket", 40)).collect();
    let array = shop.node("array", "", 1000);
    let [before, dead] = [shop.object("Cart", 70), shop.object("Cart", 7)];
    let other = shop.object("Cart", 7);
    for held in tickets.iter().chain([&array, &before]) {
        shop.edge(1, "element", "1", *held);
    }
    shop.edge(dead, "property", "other", other).edge(other, "property", "other", dead);
    let functions = [
        ("(root)", "", 0, 0),
        ("sell", "/app/shop.js", 7, 3),
        ("keep", "/app/shop.js", 7, 5),
        ("push", "", 0, 0),
        ("emit", "node:events", 2, 120),
        ("", "/app/shop.js", 7, 1),
    ];
    // The root calls the whole script, which calls `keep` and `emit`.
    let tree =
        "[1,0,0,0,[2,5,0,0,[3,2,0,0,[4,1,0,0,[],5,3,0,0,[]]],6,4,0,0,[7,1,0,0,[]],9,77,0,0,[]]]";
    shop.record(&functions, tree);
    for (node, trace) in tickets.iter().zip([4, 4, 7, 9, 2]) {
        shop.trace(*node, trace);
    }
    shop.trace(array, 5);
    shop.trace(dead, 4);
    shop
}

fn row(name: &str, place: &str, count: u64, bytes: u64) -> Row {
    (name.to_owned(), place.to_owned(), count, bytes)
}

#[test]
fn objects_count_for_the_innermost_function_of_the_program() {
    let bytes = shop().bytes();
    let heap = load(&bytes);
    let all = |sold| {
        vec![
            row("(anonymous)", "/app/shop.js:1", 1, 40),
            // The function is not in the file: its caller counts.
            row("(root)", "(native)", 1, 40),
            // What `push` allocates is allocated for `keep`.
            row("keep", "/app/shop.js:5", 1, 1000),
            row("sell", "/app/shop.js:3", sold, 40 * 3 + 7 * (sold - 3)),
        ]
    };
    assert_eq!(rows(&heap, Scope::Live), all(3));
    assert_eq!(rows(&heap, Scope::All), all(4));
    let tree = DominatorTree::new(&heap);
    let histogram = Histogram::by_site(&heap, Some(&tree), Scope::Live, &TypeFilter::default());
    assert_eq!((histogram.total.shallow_bytes, histogram.whole.shallow_bytes), (1200, 1270));
    let retained: u64 = histogram.rows.iter().filter_map(|row| row.retained_bytes).sum();
    assert_eq!(retained, 1200);
    let stack = |object: &str| {
        let site = heap.sites().site_of(heap.find(object).unwrap());
        let frames = site.into_iter().flat_map(|site| heap.sites().stack(site));
        frames.map(|frame| heap.names().text(frame.function)).collect::<Vec<_>>().join(" < ")
    };
    assert_eq!(stack("#5"), "sell < keep < (anonymous) < (root)");
    assert_eq!(stack("#9"), "sell < emit < (root)");
    assert_eq!(stack("#17"), "", "its allocation was not recorded");
}

#[test]
fn stacks_of_any_depth_take_no_more_than_the_file() {
    const DEPTH: usize = 200_000;
    let mut snapshot = Snapshot::new();
    let deep = snapshot.object("Deep", 8);
    snapshot.edge(1, "element", "1", deep);
    let open: String = (1..=DEPTH).map(|id| format!("[{id},{},1,8,", u8::from(id > 1))).collect();
    let tree = format!("{open}[]{}", "]".repeat(DEPTH));
    snapshot.record(&[("main", "a.js", 1, 1), ("push", "", 0, 0)], &tree);
    snapshot.trace(deep, DEPTH as u64);
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    // One more says in which sample of the recording the object was allocated.
    assert_eq!((heap.sites().sites.len(), heap.sites().frames.len()), (DEPTH + 1, 2));
    assert_eq!(rows(&heap, Scope::Live), [row("main", "a.js:1", 1, 8)]);
}

#[test]
fn a_function_begins_at_its_line_of_its_script() {
    for edge in ["script", "script_or_debug_info"] {
        let mut snapshot = Snapshot::new();
        let closure = snapshot.node("closure", "sell", 56);
        let shared = snapshot.node("code", "sell", 64);
        let script = snapshot.node("code", "/app/shop.js", 32);
        let name = snapshot.node("string", "/app/shop.js", 24);
        let ticket = snapshot.object("Ticket", 40);
        snapshot.edge(1, "element", "1", closure).edge(1, "element", "2", ticket);
        snapshot.edge(closure, "internal", "shared", shared);
        snapshot.edge(shared, "internal", edge, script).edge(script, "internal", "name", name);
        snapshot.location(ticket, [8, 11, 26]);
        snapshot.location(closure, [8, 2, 13]);
        snapshot.location(script, [9, 0, 0]);
        let bytes = snapshot.bytes();
        assert_eq!(broken(Format::Heapsnapshot, &bytes), [""; 0]);
        let heap = load(&bytes);
        let at = |node: usize| {
            let location = heap.location(heap.find(&format!("#{}", 2 * node + 1)).unwrap());
            location.map(|SourceLocation { file, line, column }| format!("{file}:{line}:{column}"))
        };
        assert_eq!(at(closure).unwrap(), "/app/shop.js:3:14");
        assert_eq!(at(ticket).unwrap(), "/app/shop.js:12:27", "of its constructor");
        assert_eq!(at(script).unwrap(), "script 9:1:1", "no function has its name");
        assert_eq!(at(shared), None);
    }
}

/// The file as serde reads it.
struct Oracle {
    json: Value,
}

impl Oracle {
    fn text(&self, number: &Value) -> String {
        self.json["strings"][number.as_u64().unwrap() as usize].as_str().unwrap().to_owned()
    }

    /// Puts function and place of the nodes of a list of the tree into `sites`.
    fn walk(
        &self,
        list: &Value,
        caller: &(String, String),
        sites: &mut BTreeMap<u64, (String, String)>,
    ) {
        for node in list.as_array().unwrap().chunks(5) {
            let row = node[1].as_u64().unwrap() as usize * 6;
            let info = &self.json["trace_function_infos"].as_array().unwrap()[row..row + 6];
            let (name, file) = (self.text(&info[1]), self.text(&info[2]));
            let is_program = info[3] != 0 && !file.starts_with("node:");
            let name = if name.is_empty() { "(anonymous)".to_owned() } else { name };
            let site = match (is_program, &*caller.1) {
                (true, _) => (name, format!("{file}:{}", info[4])),
                (false, "" | "(native)") => (name, "(native)".to_owned()),
                (false, _) => caller.clone(),
            };
            self.walk(&node[4], &site, sites);
            sites.insert(node[0].as_u64().unwrap(), site);
        }
    }
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn sites_of_a_timeline_are_those_that_serde_finds_in_the_corpus() {
    let folder = crate::support::corpus_folder("heapsnapshot");
    let bytes = crate::support::read(&folder.join("timeline-node24.heaptimeline.zst"));
    let truth = crate::support::json(&folder.join("timeline-node24.truth.json"));
    let oracle = Oracle { json: serde_json::from_slice(&bytes).unwrap() };
    let mut sites = BTreeMap::new();
    oracle.walk(&oracle.json["trace_tree"], &Default::default(), &mut sites);
    let mut sums = BTreeMap::<(String, String), [u64; 2]>::new();
    // type, name, id, self_size, edge_count, trace_node_id, detachedness
    for node in oracle.json["nodes"].as_array().unwrap().chunks(7) {
        if let Some(site) = sites.get(&node[5].as_u64().unwrap()) {
            let sum = sums.entry(site.clone()).or_default();
            sum[0] += 1;
            sum[1] += node[3].as_u64().unwrap();
        }
    }
    let expected: Vec<Row> = sums
        .into_iter()
        .map(|((name, place), [count, bytes])| (name, place, count, bytes))
        .collect();
    let heap = load(&bytes);
    let rows = rows(&heap, Scope::All);
    assert_eq!(rows, expected);
    assert_eq!(rows.iter().map(|row| row.2).sum::<u64>(), truth["file"]["nodes_with_trace"]);
    let ticket = heap.objects().find(|object| heap.type_name(*object) == "Ticket").unwrap();
    let location = heap.location(ticket).unwrap();
    assert_eq!((&*location.file, location.line, location.column), ("/data/app/target.js", 1, 27));
}
