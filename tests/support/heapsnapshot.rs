//! Builds V8 heap snapshots from nodes and edges.

use std::fmt::Write;

/// Types of nodes, by their numbers.
pub const NODE_TYPES: [&str; 14] = [
    "hidden",
    "array",
    "string",
    "object",
    "code",
    "closure",
    "regexp",
    "number",
    "native",
    "synthetic",
    "concatenated string",
    "sliced string",
    "symbol",
    "bigint",
];

/// Types of edges, by their numbers.
pub const EDGE_TYPES: [&str; 7] =
    ["context", "element", "property", "internal", "hidden", "shortcut", "weak"];

/// A snapshot. Node k has the id 2k + 1.
#[derive(Default)]
pub struct Snapshot {
    nodes: Vec<(usize, String, u64, u64)>,
    /// From, type, name or index, to.
    edges: Vec<(usize, usize, String, usize)>,
    /// Detachedness is written for all nodes, and the other fields stand in another order.
    pub modern: bool,
    /// `trace_node_id` of nodes whose allocation was recorded.
    traces: Vec<(usize, u64)>,
    /// Name, script, number of the script and line of functions that allocate.
    functions: Vec<(&'static str, &'static str, u64, u64)>,
    /// The value of `trace_tree`.
    tree: String,
    /// Node, number of the script, line and column, which are 0-based.
    locations: Vec<[usize; 4]>,
}

impl Snapshot {
    /// Node 0, and `(GC roots)` below it.
    pub fn new() -> Self {
        let mut snapshot = Self::default();
        snapshot.node("synthetic", "", 0);
        snapshot.node("synthetic", "(GC roots)", 0);
        snapshot.edge(0, "element", "1", 1);
        snapshot
    }

    /// Adds a node, and returns its row.
    pub fn node(&mut self, node_type: &str, name: &str, size: u64) -> usize {
        let node_type = NODE_TYPES.iter().position(|other| *other == node_type).unwrap();
        self.nodes.push((node_type, name.to_owned(), size, 0));
        self.nodes.len() - 1
    }

    /// Adds an object.
    pub fn object(&mut self, name: &str, size: u64) -> usize {
        self.node("object", name, size)
    }

    /// Says whether a node is attached (1) or detached (2).
    pub fn detachedness(&mut self, node: usize, state: u64) {
        self.nodes[node].3 = state;
        self.modern = true;
    }

    /// Records allocations: the functions, and the tree of their calls.
    pub fn record(&mut self, functions: &[(&'static str, &'static str, u64, u64)], tree: &str) {
        self.functions = functions.to_vec();
        self.tree = tree.to_owned();
    }

    /// Says which stack of the tree allocated a node.
    pub fn trace(&mut self, node: usize, trace: u64) {
        self.traces.push((node, trace));
    }

    /// Says where the code of a node begins: script, line and column, which are 0-based.
    pub fn location(&mut self, node: usize, [script, line, column]: [usize; 3]) {
        self.locations.push([node, script, line, column]);
    }

    /// Adds an edge, and returns the snapshot for the next one.
    pub fn edge(&mut self, from: usize, edge_type: &str, name: &str, to: usize) -> &mut Self {
        let edge_type = EDGE_TYPES.iter().position(|other| *other == edge_type).unwrap();
        self.edges.push((from, edge_type, name.to_owned(), to));
        self
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut strings: Vec<&str> = vec!["<dummy>"];
        let mut number = |text| {
            strings.iter().position(|other| *other == text).unwrap_or_else(|| {
                strings.push(text);
                strings.len() - 1
            })
        };
        let fields = if self.modern { 6 } else { 5 } + usize::from(!self.traces.is_empty());
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for (row, (node_type, name, size, detachedness)) in self.nodes.iter().enumerate() {
            let count = self.edges.iter().filter(|edge| edge.0 == row).count();
            let (name, id) = (number(name), 2 * row + 1);
            nodes.push(if self.modern {
                format!("{detachedness},{count},{size},{id},{name},{node_type}")
            } else {
                format!("{node_type},{name},{id},{size},{count}")
            });
            if !self.traces.is_empty() {
                let trace = self.traces.iter().find(|(node, _)| *node == row);
                nodes.last_mut().unwrap().push_str(&format!(",{}", trace.map_or(0, |it| it.1)));
            }
            for (_, edge_type, name, to) in self.edges.iter().filter(|edge| edge.0 == row) {
                let name = if matches!(EDGE_TYPES[*edge_type], "element" | "hidden") {
                    name.parse().unwrap()
                } else {
                    number(name)
                };
                edges.push(format!("{edge_type},{name},{}", to * fields));
            }
        }
        let node_fields = if self.modern {
            r#""detachedness","edge_count","self_size","id","name","type""#
        } else {
            r#""type","name","id","self_size","edge_count""#
        };
        let trace = if self.traces.is_empty() { "" } else { r#","trace_node_id""# };
        let mut file = String::new();
        write!(file, r#"{{"snapshot":{{"meta":{{"node_fields":[{node_fields}{trace}],"node_types":[{NODE_TYPES:?},"string","number"],"#)
            .unwrap();
        write!(
            file,
            r#""edge_fields":["type","name_or_index","to_node"],"edge_types":[{EDGE_TYPES:?},"string_or_number","node"],"#
        )
        .unwrap();
        file.push_str(r#""location_fields":["object_index","script_id","line","column"],"sample_fields":["timestamp_us","last_assigned_id"],"#);
        file.push_str(r#""trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],"#);
        file.push_str(
            r#""trace_node_fields":["id","function_info_index","count","size","children"]},"#,
        );
        write!(
            file,
            r#""node_count":{},"edge_count":{},"trace_function_count":1}},"#,
            nodes.len(),
            edges.len()
        )
        .unwrap();
        let (nodes, edges) = (nodes.join("\n,"), edges.join("\n,"));
        let place = number("shop.js");
        write!(file, "\n\"nodes\":[{nodes}],\n\"edges\":[{edges}],\n").unwrap();
        let mut functions = format!("1,{place},{place},7,3,5");
        if !self.functions.is_empty() {
            let row = |(id, of): (usize, &(&'static str, &'static str, u64, u64))| {
                format!("{id},{},{},{},{},1", number(of.0), number(of.1), of.2, of.3)
            };
            functions = self.functions.iter().enumerate().map(row).collect::<Vec<_>>().join(",\n");
        }
        let tree = if self.tree.is_empty() { "[1,0,2,64,[2,0,1,32,[]]]" } else { &self.tree };
        let mut locations = format!("{fields},7,2,4");
        for [node, script, line, column] in &self.locations {
            write!(locations, ",{},{script},{line},{column}", node * fields).unwrap();
        }
        write!(file, "\"trace_function_infos\":[{functions}],\n\"trace_tree\":{tree},\n").unwrap();
        write!(file, "\"samples\":[0,1,500000,9],\n\"locations\":[{locations}],\n").unwrap();
        let strings: Vec<String> =
            strings.iter().map(|text| serde_json::to_string(text).unwrap()).collect();
        writeln!(file, "\"strings\":[{}]}}", strings.join(",\n")).unwrap();
        file.into_bytes()
    }
}

/// Two sessions that share a list, a closure, texts, something weak, an entry of a WeakMap, a DOM
/// tree that is detached in part, an orphan, and a cycle that is not reached.
pub fn world() -> Snapshot {
    let mut world = Snapshot::new();
    let handles = world.node("synthetic", "(Global handles)", 0);
    let window = world.object("Window / https://shop.example.test", 40);
    let [first, second] = [world.object("Session", 64), world.object("Session", 64)];
    let list = world.object("Array", 16);
    let elements = world.node("array", "(object elements)", 48);
    let text = world.node("string", "größe \"42\"\n", 24);
    let closure = world.node("closure", "onClose", 56);
    let map = world.node("hidden", "system / Map", 80);
    let table = world.node("array", "(object elements)", 96);
    let value = world.object("Secret", 32);
    let attached = world.node("native", "<body>", 100);
    let detached = world.node("native", "<div id=\"a\">", 200);
    let child = world.node("native", "Text", 10);
    let orphan = world.object("Orphan", 1000);
    let handle = world.object("Handle", 8);
    let [cycle, end] = [world.object("Cycle", 5), world.object("Cycle", 7)];
    world
        .edge(0, "shortcut", "1 / window", window)
        .edge(1, "element", "1", handles)
        .edge(handles, "element", "1", handle);
    world
        .edge(window, "property", "first", first)
        .edge(window, "property", "second", second)
        .edge(window, "internal", "map", map);
    world
        .edge(first, "property", "list", list)
        .edge(second, "property", "list", list)
        .edge(first, "property", "name", text);
    world
        .edge(list, "internal", "elements", elements)
        .edge(list, "element", "0", text)
        .edge(list, "element", "1", closure);
    world
        .edge(closure, "context", "session", first)
        .edge(closure, "weak", "cache", orphan)
        .edge(map, "hidden", "3", window);
    let pair = format!(
        "1 / part of key (Session @{}) -> value (Secret @{}) pair in WeakMap (table @{})",
        9,
        23,
        2 * table + 1
    );
    world
        .edge(second, "internal", &pair, value)
        .edge(table, "internal", &pair, value)
        .edge(window, "property", "weak", table);
    world
        .edge(window, "element", "7", attached)
        .edge(first, "internal", "node", detached)
        .edge(detached, "element", "1", child);
    world
        .edge(orphan, "property", "list", list)
        .edge(cycle, "property", "next", end)
        .edge(end, "property", "next", cycle);
    world.edge(end, "property", "list", list);
    world.detachedness(attached, 1);
    world.detachedness(detached, 2);
    world
}
