//! Roots: node 0, the targets of synthetic nodes, and nodes that are only weakly held.

use super::bits::Bits;
use super::edges::SHORTCUT;
use super::essential::Graph;
use crate::input::heapsnapshot::meta::{Meta, NodeType};
use crate::input::heapsnapshot::strings::Strings;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Label, LabelKind, ObjectId, Root, RootKind};

/// Adds all roots. Node 0 is the first.
pub(super) fn add(
    builder: &mut HeapBuilder<'_>,
    graph: &Graph<'_>,
    weak: &Bits,
    meta: &Meta,
    strings: &Strings<'_>,
    orphans: &[ObjectId],
) {
    if graph.nodes.len() == 0 {
        return;
    }
    let is_synthetic = |node: usize| {
        graph.nodes.kind.get(node).is_some_and(|&kind| meta.node_type(kind) == NodeType::Synthetic)
    };
    let group = builder.names().intern("(root)");
    builder.add_root(Root::new(ObjectId(0), RootKind::Runtime, group));
    // Synthetic nodes below node 0. They are few and come first in the file.
    let mut seen = Bits::none(graph.nodes.len());
    seen.set(0);
    // If node 0 is an object, its references are those of an object and make no roots.
    let mut pending: std::collections::VecDeque<usize> =
        is_synthetic(0).then_some(0).into_iter().collect();
    while let Some(node) = pending.pop_front() {
        let name = graph.nodes.name.get(node);
        let name = name.map_or_else(Default::default, |&name| strings.text(name.into()));
        let own = builder.names().intern(if node == 0 { "(root)" } else { &name });
        let global = builder.names().intern("global object");
        let own_kind = kind(&name);
        for (row, (edge, target)) in graph.edges_of(node).zip(graph.of(node)) {
            if weak.has(row) || target.index() >= graph.nodes.len() {
                continue;
            }
            if is_synthetic(target.index()) {
                if seen.set(target.index()) {
                    pending.push_back(target.index());
                }
                continue;
            }
            let is_global = node == 0 && edge == SHORTCUT;
            let (kind, group) =
                if is_global { (RootKind::Global, global) } else { (own_kind, own) };
            // Only numbers are kept: a name for each root would put each into a group of its own.
            let is_kept =
                |label: &&Label| matches!(label.kind(), LabelKind::Index(_)) && !is_global;
            let label = graph.edges.label.get(row).filter(is_kept).copied();
            let label = label.unwrap_or(Label::NONE);
            builder.add_root(Root { label, ..Root::new(target, kind, group) });
        }
    }
    let group = builder.names().intern("(only weakly held)");
    for &object in orphans {
        builder.add_root(Root::new(object, RootKind::Unowned, group));
    }
}

/// The kind of the roots below a synthetic node.
fn kind(name: &str) -> RootKind {
    match name {
        "(Stack roots)" => RootKind::Frame,
        "(Handle scope)" | "(Global handles)" | "(Eternal handles)" | "(Traced handles)" => {
            RootKind::Native
        }
        _ if name.starts_with("C++") => RootKind::Native,
        _ => RootKind::Runtime,
    }
}
