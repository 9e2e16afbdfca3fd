//! Loading a snapshot into the model.
//!
//! Node k becomes object k. The synthetic nodes stay in the graph as
//! [`TypeKind::Root`](crate::model::heap::TypeKind::Root), and node 0 is the first root. Nodes
//! reached from node 0, or from nodes that nothing holds (see `essential`), are alive. Retained
//! sizes and dominators of live nodes are those that Chrome DevTools shows. Nodes that only hold
//! each other in a cycle are unreachable; DevTools shows each of these by itself.

mod bits;
mod edges;
mod entries;
mod essential;
mod generations;
mod locations;
mod nodes;
mod originals;
mod owners;
mod plain;
mod roots;
mod sites;
mod types;
mod values;

use super::document::Document;
use super::meta::{Meta, NodeType};
use super::rows::Rows;
use super::strings::Strings;
use crate::error::Result;
use crate::input::histogram::{TypeCounts, TypeSums};
use crate::input::info::InfoWarning;
use crate::input::load::{LoadOptions, Loaded, NodeSizes, PlainObjectTypes, only_snapshot};
use crate::input::read::ReadOptions;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Heap, Ids, ObjectId, Offsets, References, TypeIds, WarningKind};
use crate::model::sum::Sum;
use crate::parallel;
use bits::Bits;
use edges::{Edges, HIDDEN, WEAK};
use entries::Tables;
use essential::Graph;
use locations::Locations;
use nodes::Nodes;
use originals::{Finder, Originals, short_names_by_script};
use plain::PlainObjects;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;
use types::Types;
use values::{Labels, NodeNames};

/// In snapshots of V8, fewer than one node in this many has no referrer, or fewer than about a
/// hundred nodes in all.
const FEW_ORPHANS: u64 = 20;

pub(super) fn load<'a>(bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    let mut document = Document::read(bytes)?;
    only_snapshot(options.snapshot)?;
    let (nodes, bad_node) = Nodes::read(&document, options.progress)?;
    let named = !options.bare
        || options.plain_objects == PlainObjectTypes::ByProperties
        || options.source_maps.is_some();
    let (edges, bad_edge) = Edges::read(&document, named, options.progress);
    let incomplete = document.is_incomplete() || bad_node.is_some() || bad_edge.is_some();
    let damage = bad_node.or(bad_edge).or(document.damage.take());
    let heap = build(bytes, document, nodes, edges, options);
    Ok(Loaded { damage, incomplete, ..Loaded::of(heap) })
}

fn build<'a>(
    bytes: &'a [u8],
    document: Document<'a>,
    mut nodes: Nodes,
    mut edges: Edges,
    options: LoadOptions<'_>,
) -> Heap<'a> {
    let mut builder = HeapBuilder::with_capacity(0, 0);
    if options.bare {
        builder = builder.without_labels();
    }
    let traces = std::mem::take(&mut nodes.traces);
    let sites = sites::read(bytes, &document, traces, options.source_maps, builder.names());
    builder.heap().sites = generations::add(sites, &document, &nodes);
    let locations = Locations::of(&document);
    let Document { meta, strings, .. } = document;
    let (first, missing, surplus) = first_edges(&nodes, edges.len());
    let graph = Graph { nodes: &nodes, edges: &edges, first: &first, dom_trees: None };
    let dom_trees = dom_trees(&graph, &meta, &strings);
    let graph = Graph { dom_trees, ..graph };
    let held = || {
        let weak = graph.weak();
        let orphans = graph.orphans(&weak);
        (weak, orphans)
    };
    let originals = options.source_maps.map_or_else(Originals::default, |maps| {
        let (meta, strings, locations) = (&meta, &strings, &locations);
        Finder { graph: &graph, meta, strings, locations, maps: Some(maps) }.find()
    });
    let types = || types_of_nodes(&graph, &meta, &strings, options, &originals, &mut builder);
    let ((weak, orphans), types) = parallel::join(held, types);
    builder.heap().type_of = types;
    if options.bare {
        edges.label = Vec::new();
    }
    edges.name(&strings, &mut builder);
    let tables = Tables::number(&nodes, &mut edges, &first, builder.names());
    let labels = Labels::of(builder.names());
    let graph = Graph { nodes: &nodes, edges: &edges, first: &first, dom_trees };
    roots::add(&mut builder, &graph, &weak, &meta, &strings, &orphans);
    let sizes = match options.sizes {
        NodeSizes::File => std::mem::take(&mut nodes.size),
        NodeSizes::Devtools => owners::moved_sizes(&graph, &meta, &strings),
    };
    let heap = builder.heap();
    let repeated = || nodes.repeated_ids();
    let (sizes, repeated) = parallel::join(|| sizes.narrow(), repeated);
    heap.shallow = sizes;
    let partial = [nodes.left_over, edges.left_over].into_iter().filter(|left| *left > 0).count();
    heap.references = references(first, edges, surplus, weak);
    let unheld = many_unheld(orphans.len() as u64, nodes.len() as u64).unwrap_or(0);
    builder.warn(WarningKind::MissingReferences, missing);
    builder.warn(WarningKind::SurplusReferences, surplus as u64);
    builder.warn(WarningKind::PartialRows, partial as u64);
    builder.warn(WarningKind::UnheldObjects, unheld);
    builder.warn(WarningKind::RepeatedIds, repeated);
    if options.bare {
        return builder.finish(Ids::Rows(0), None);
    }
    let Nodes { id, name, .. } = nodes;
    let ids = if repeated == 0 { Ids::Numbers(id) } else { Ids::Rows(0) };
    let most_units = OnceLock::new();
    let values = NodeNames { strings, name, originals, locations, labels, tables, most_units };
    builder.finish(ids, Some(Box::new(values)))
}

/// The references of the heap. Drops the last `surplus` edges, which belong to no node.
fn references(first: Offsets, edges: Edges, surplus: usize, weak: Bits) -> References {
    let Edges { mut target, mut label, .. } = edges;
    let Bits(mut weak) = weak;
    target.truncate(target.len().saturating_sub(surplus));
    label.truncate(target.len());
    weak.truncate(target.len().div_ceil(64));
    References { first, target, label, weak }
}

/// Adds the types, and returns the type of each node.
fn types_of_nodes(
    graph: &Graph<'_>,
    meta: &Meta,
    strings: &Strings<'_>,
    options: LoadOptions<'_>,
    originals: &Originals,
    builder: &mut HeapBuilder<'_>,
) -> TypeIds {
    let detached = detached(graph, meta);
    let plain = match options.plain_objects {
        PlainObjectTypes::ByProperties => PlainObjects::of(graph, meta, strings),
        PlainObjectTypes::One => PlainObjects::default(),
    };
    Types::new(meta, strings).of_all(graph.nodes, &detached, &plain, originals, builder)
}

/// The child of node 0 that holds the DOM trees of the documents.
fn dom_trees(graph: &Graph<'_>, meta: &Meta, strings: &Strings<'_>) -> Option<ObjectId> {
    let nodes = graph.nodes;
    let is_dom_trees = |object: &ObjectId| {
        let name = nodes.name.get(object.index()).and_then(|&name| strings.raw(name.into()));
        let kind = nodes.kind.get(object.index()).map(|&kind| meta.node_type(kind));
        kind == Some(NodeType::Synthetic)
            && name.is_some_and(|name| name.raw() == b"(Document DOM trees)")
    };
    graph.of(0).map(|(_, target)| target).find(is_dom_trees)
}

/// Returns the number of nodes without a referrer, if there are so many that retained sizes mean
/// little.
pub(super) fn many_unheld(unheld: u64, nodes: u64) -> Option<u64> {
    (unheld > (nodes / FEW_ORPHANS).max(100)).then_some(unheld)
}

/// Returns the position of the first edge of each node, the number of edges missing at the end, and
/// the number that belong to no node.
fn first_edges(nodes: &Nodes, edges: usize) -> (Offsets, u64, usize) {
    let (first, sum) = Offsets::of_counts(&nodes.edges, edges as u64);
    let used = usize::try_from(sum).unwrap_or(usize::MAX).min(edges);
    (first, sum.saturating_sub(edges as u64), edges.saturating_sub(used))
}

/// Returns a warning if most functions and classes of a script without a source map look minified.
pub fn short_names(bytes: &[u8], options: ReadOptions<'_>) -> Option<InfoWarning> {
    let document = Document::read(bytes).ok()?;
    let locations = &Locations::of(&document);
    let rows = locations.rows();
    if rows.is_empty() {
        return None;
    }
    let (nodes, _) = Nodes::read(&document, options.progress).ok()?;
    let scripts = short_names_by_script(&nodes, &document.strings, rows);
    if scripts.is_empty() {
        return None;
    }
    let (edges, _) = Edges::read(&document, true, options.progress);
    let (first, ..) = first_edges(&nodes, edges.len());
    let graph = &Graph { nodes: &nodes, edges: &edges, first: &first, dom_trees: None };
    let (meta, strings, maps) = (&document.meta, &document.strings, options.source_maps);
    let (url, names) = Finder { graph, meta, strings, locations, maps }.minified(scripts)?;
    Some(InfoWarning::of_script("functions and classes", &url, names))
}

/// Counts nodes by the types that [`load`] gives them, in one pass over the nodes. Without the
/// graph, only DOM nodes that V8 itself has marked as detached count as detached.
pub(super) fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    if options.source_maps.is_some() {
        // The constructors of objects are known only from references.
        let Loaded { heap, damage, .. } = load(bytes, options.bare(true))?;
        return Ok(TypeCounts::of_heap(&heap, 0, damage));
    }
    let document = Document::read(bytes)?;
    only_snapshot(options.snapshot)?;
    let fields = document.meta.node;
    let mut sums: FxHashMap<(u8, u32, bool), Sum> = FxHashMap::default();
    let mut damage = None;
    let named = |kind: u8| {
        matches!(
            document.meta.node_type(kind),
            NodeType::Object
                | NodeType::Native
                | NodeType::Synthetic
                | NodeType::JuliaArray
                | NodeType::JuliaObject
        )
    };
    for part in &Rows::of(document.nodes.as_ref(), fields.count).parts {
        (options.progress)(part.offset());
        let outcome = part.read(fields.count, |_, row| {
            let field = |at: usize| row.get(at).copied().unwrap_or(0);
            let kind = document.meta.kinds.kind(field(fields.kind));
            let name = if named(kind) { nodes::narrow(field(fields.name)) } else { 0 };
            let native = document.meta.node_type(kind) == NodeType::Native;
            let detached = native && fields.detachedness.is_some_and(|at| field(at) == 2);
            sums.entry((kind, name, detached)).or_default().add(field(fields.self_size), 0);
        });
        if let Err(error) = outcome {
            damage = Some(error.context("in nodes"));
            break;
        }
    }
    let mut keys: Vec<_> = sums.into_iter().collect();
    keys.sort_unstable_by_key(|(key, _)| *key);
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let mut types = Types::new(&document.meta, &document.strings);
    let mut counts = TypeSums::default();
    for ((kind, name, detached), sum) in keys {
        counts.add(types.of(kind, name, detached, &mut builder), &sum);
    }
    Ok(counts.finish(builder, damage.or(document.damage)))
}

const ATTACHED: u8 = 1;
const DETACHED: u8 = 2;

/// Returns the native nodes that are detached, in ascending order.
///
/// V8 marks some nodes as attached or detached. As in DevTools, the marks spread to other native
/// nodes over all edges except `hidden` and `weak`: first from attached nodes, then from detached
/// nodes to those that are still unmarked.
fn detached(graph: &Graph<'_>, meta: &Meta) -> Vec<u32> {
    let is_native = |node: u32| {
        graph
            .nodes
            .kind
            .get(node as usize)
            .is_some_and(|&kind| meta.node_type(kind) == NodeType::Native)
    };
    let known = graph.nodes.detachedness.iter().filter(|(node, _)| is_native(*node));
    let mut states: FxHashMap<u32, u8> = known.copied().collect();
    if !states.values().any(|state| *state == DETACHED) {
        return Vec::new();
    }
    // As in DevTools, a node that V8 has marked keeps its mark, even a detached one that attached
    // nodes refer to.
    for state in [ATTACHED, DETACHED] {
        let mut pending: Vec<u32> =
            states.iter().filter(|(_, known)| **known == state).map(|(node, _)| *node).collect();
        while let Some(node) = pending.pop() {
            for (kind, target) in graph.of(node as usize) {
                if !matches!(kind, HIDDEN | WEAK)
                    && is_native(target.0)
                    && !states.contains_key(&target.0)
                {
                    states.insert(target.0, state);
                    pending.push(target.0);
                }
            }
        }
    }
    let mut detached: Vec<u32> =
        states.into_iter().filter(|(_, state)| *state == DETACHED).map(|(node, _)| node).collect();
    detached.sort_unstable();
    detached
}
