//! A heap snapshot of Node 20: sessions of an application, each of which is held by a table and
//! has objects that refer to each other, to hidden classes and to strings.

use super::{Out, Random};
use std::io::{self, Write};

/// Node 0 holds the table of sessions, and that holds each session.
const SYNTHETIC: u64 = 2;
/// Hidden classes that many objects share.
const CLASSES: u64 = 1_000;
/// Nodes of a session.
const SESSION: u64 = 25;
/// The names of properties. Texts of nodes follow.
const NAMES: u64 = 500;
/// Fields of a node.
const FIELDS: u64 = 7;

const META: &str = r#"{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],"node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic","concatenated string","sliced string","symbol","bigint","object shape","wasm object"],"string","number","number","number","number","number"],"edge_fields":["type","name_or_index","to_node"],"edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],"trace_node_fields":["id","function_info_index","count","size","children"],"sample_fields":["timestamp_us","last_assigned_id"],"location_fields":["object_index","script_id","line","column"]}"#;

/// Types of nodes and edges, by their number in the head.
const ARRAY: u64 = 1;
const STRING: u64 = 2;
const OBJECT: u64 = 3;
const SYNTHETIC_NODE: u64 = 9;
const SHAPE: u64 = 14;
const ELEMENT: u64 = 1;
const PROPERTY: u64 = 2;
const INTERNAL: u64 = 3;
const WEAK: u64 = 6;

/// Writes a snapshot of that many nodes.
pub(crate) fn write(nodes: u64, file: &mut dyn Write) -> io::Result<()> {
    let heap = Heap { nodes };
    let mut out = Out::new(file);
    let edges: u64 = (0..nodes).map(|node| heap.edge_count(node)).sum();
    write!(
        out.bytes,
        r#"{{"snapshot":{{"meta":{META},"node_count":{nodes},"edge_count":{edges},"trace_function_count":0}},
"nodes":["#
    )?;
    for node in 0..nodes {
        let (kind, name, size) = heap.node(node);
        let comma = if node == 0 { "" } else { "," };
        let (id, edges) = (2 * node + 1, heap.edge_count(node));
        writeln!(out.bytes, "{comma}{kind},{name},{id},{size},{edges},0,0")?;
        out.spill()?;
    }
    write!(out.bytes, "],\n\"edges\":[")?;
    let mut comma = "";
    for node in 0..nodes {
        for edge in 0..heap.edge_count(node) {
            let (kind, name, target) = heap.edge(node, edge);
            writeln!(out.bytes, "{comma}{kind},{name},{}", FIELDS * target)?;
            comma = ",";
        }
        out.spill()?;
    }
    write!(
        out.bytes,
        "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n\"strings\":[\"<dummy>\""
    )?;
    for name in 1..NAMES {
        write!(out.bytes, ",\n\"property{name}\"")?;
    }
    for text in 0..heap.texts() {
        write!(out.bytes, ",\n\"session {text} of customer {}\"", text * 7919 % 1_000_003)?;
        out.spill()?;
    }
    out.bytes.extend_from_slice(b"]}\n");
    out.flush()
}

/// The graph, which is computed from the numbers of nodes, because nodes and edges are apart.
struct Heap {
    nodes: u64,
}

impl Heap {
    /// One text for each session.
    fn texts(&self) -> u64 {
        self.nodes / SESSION + 1
    }

    fn sessions(&self) -> u64 {
        self.nodes.saturating_sub(SYNTHETIC + CLASSES).div_ceil(SESSION)
    }

    /// The place of a node in its session, and the first node of the session.
    fn session(&self, node: u64) -> Option<(u64, u64)> {
        let row = node.checked_sub(SYNTHETIC + CLASSES)?;
        Some((row % SESSION, node - row % SESSION))
    }

    fn node(&self, node: u64) -> (u64, u64, u64) {
        match self.session(node) {
            None if node < SYNTHETIC => (SYNTHETIC_NODE, node + 1, 0),
            None => (SHAPE, node % NAMES, 40),
            Some((0 | 5 | 10 | 15, _)) => (OBJECT, 1 + Random(node).skewed(NAMES - 1), 56),
            Some((at, first)) if at % 3 == 0 => (STRING, NAMES + first / SESSION, 32 + at),
            Some((at, _)) if at % 3 == 1 => (ARRAY, 0, 16 + 8 * at),
            Some(_) => (OBJECT, 1 + Random(node).skewed(NAMES - 1), 32),
        }
    }

    fn edge_count(&self, node: u64) -> u64 {
        match self.session(node) {
            None if node == 0 => 1,
            None if node == 1 => self.sessions(),
            None => 0,
            Some(_) => 2 + Random(node).below(3),
        }
    }

    /// The type, name and target of an edge: of a session's nodes the first holds the next one, the
    /// second the hidden class, and the others lead to any before.
    fn edge(&self, node: u64, edge: u64) -> (u64, u64, u64) {
        let Some((at, first)) = self.session(node) else {
            let first = SYNTHETIC + CLASSES;
            return if node == 0 {
                (ELEMENT, 1, 1)
            } else {
                (ELEMENT, edge, first + edge * SESSION)
            };
        };
        let mut random = Random(node * 8 + edge);
        let name = 1 + random.skewed(NAMES - 1);
        match edge {
            0 if at + 1 < SESSION && node + 1 < self.nodes => (PROPERTY, name, node + 1),
            1 => (INTERNAL, name, SYNTHETIC + random.skewed(CLASSES)),
            _ if random.chance(2) => (WEAK, name, SYNTHETIC + random.below(node - SYNTHETIC)),
            _ => (PROPERTY, name, first + random.below(at + 1)),
        }
    }
}
