//! The lines of a document of `tree`, as a tree.

use super::doc::Doc;
use serde_json::Value;

/// A line of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) depth: usize,
    /// The index of the parent line.
    pub(super) parent: Option<usize>,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) label: String,
    pub(super) object: Option<String>,
    pub(super) count: u64,
    pub(super) own: u64,
    pub(super) total: u64,
    pub(super) share: f64,
    pub(super) omitted: u64,
    pub(super) omitted_bytes: u64,
}

impl Node {
    /// A line for roots of this name, of which only the key matters.
    pub(super) fn root(name: &str) -> Self {
        Self { kind: "root".to_owned(), name: name.to_owned(), ..Self::default() }
    }

    /// A key that identifies the line among its siblings.
    pub(super) fn key(&self) -> String {
        [&*self.kind, &*self.label, &*self.name, self.object.as_deref().unwrap_or_default()]
            .join("\u{1}")
    }

    /// The name of the line, with the number of objects for a group.
    pub(super) fn title(&self) -> String {
        match self.count {
            count if self.kind == "group" && count > 1 => {
                format!("{} ×{}", self.name, crate::cli::size::count(count))
            }
            _ => self.name.clone(),
        }
    }
}

/// The lines of a list in a document, depth first.
pub(super) fn nodes(lines: &[Value]) -> Vec<Node> {
    let mut open: Vec<usize> = Vec::new();
    let node = |(index, line): (usize, &Value)| {
        let depth = line.number("depth") as usize;
        open.truncate(depth);
        let parent = open.last().copied();
        open.push(index);
        let own_name = line["own_name"].as_str();
        Node {
            depth,
            parent,
            kind: line.text("kind").to_owned(),
            name: own_name.unwrap_or_else(|| line.text("name")).to_owned(),
            namespace: line["namespace"].as_str().map(str::to_owned),
            label: line.text("label").to_owned(),
            object: line["object"].as_str().map(str::to_owned),
            count: line.number("count"),
            own: line.number("self"),
            total: line.number("total"),
            share: line["share"].as_f64().unwrap_or_default(),
            omitted: line.number("omitted"),
            omitted_bytes: line.number("omitted_bytes"),
        }
    };
    lines.iter().enumerate().map(node).collect()
}

/// The lines directly below one.
pub(super) fn children(nodes: &[Node], parent: usize) -> impl Iterator<Item = (usize, &Node)> {
    let depth = nodes.get(parent).map_or(0, |node| node.depth);
    let below = nodes.iter().enumerate().skip(parent + 1);
    below
        .take_while(move |(_, node)| node.depth > depth)
        .filter(move |(_, node)| node.depth == depth + 1)
}

/// The index of the line that the keys lead to. Skips keys that no child has.
pub(super) fn find(nodes: &[Node], inside: &[String]) -> usize {
    inside.iter().fold(0, |at, key| {
        children(nodes, at).find(|(_, node)| node.key() == *key).map_or(at, |(index, _)| index)
    })
}
