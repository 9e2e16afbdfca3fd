//! `info` of a snapshot.

use super::document::Document;
use super::meta::{EdgeType, MAX_FIELDS};
use super::rows::{Part, Rows};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::info::{
    CountsByName, FormatDetails, HeapsnapshotDetails, Info, InfoWarning, SnapshotInfo,
};
use crate::input::json::{Numbers, Scanner, Token};
use crate::input::read::ReadOptions;
use crate::model::heap::{LoadWarning, WarningKind};
use crate::parallel;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let mut document = Document::read(bytes)?;
    let nodes = Sums::of_nodes(&document, options);
    let held = Held::none(nodes.count);
    let edges = Sums::of_edges(&document, options, nodes.count, &held);
    let mut info = super::SPEC.summary("");
    let meta = &document.meta;
    for (key, count) in [
        ("node_count", meta.node_count),
        ("edge_count", meta.edge_count),
        ("trace_function_count", meta.trace_function_count),
        ("extra_native_bytes", meta.extra_native_bytes),
    ] {
        count.into_iter().for_each(|count| info.add_metadata(key, count));
    }
    count_records(&mut info, bytes, &document, (nodes.count, edges.count));
    let kinds = meta.kinds.list.iter().zip(nodes.by_type);
    let synthetic = kinds.filter(|((_, name), _)| name == "synthetic").map(|(_, count)| count);
    let objects = nodes.count.saturating_sub(synthetic.sum());
    let details = HeapsnapshotDetails {
        nodes: nodes.count,
        edges: edges.count,
        strings: document.strings.len() as u64,
        detached: nodes.detached,
        extra_native_bytes: meta.extra_native_bytes,
        by_node_type: by_name(meta.kinds.list.iter().map(|(_, name)| name), &nodes.by_type),
        by_edge_type: by_name(meta.edge_types.iter().map(|(_, name)| name), &edges.by_type),
    };
    let damage = nodes.damage.or(edges.damage).or(document.damage.take());
    let heap = SnapshotInfo {
        objects: Some(objects),
        references: Some(edges.count),
        roots: nodes.roots,
        shallow_bytes: Some(nodes.bytes),
        external_bytes: Some(0),
        ..SnapshotInfo::new(FormatDetails::Heapsnapshot(Box::new(details)))
    };
    // The references of a damaged file are incomplete anyway.
    if damage.is_none() {
        let unheld = super::load::many_unheld(held.unheld(nodes.count), nodes.count);
        for (kind, count) in [
            (WarningKind::DanglingReferences, edges.dangling),
            (WarningKind::UnheldObjects, unheld.unwrap_or(0)),
        ] {
            let warning = InfoWarning::Load(LoadWarning { kind, count });
            info.warnings.extend((count > 0).then_some(warning));
        }
    }
    info.set_heap(heap, damage);
    Ok(info)
}

/// Counts the rows of all arrays. The counts of nodes and edges are passed in.
fn count_records(
    info: &mut Info,
    bytes: &[u8],
    document: &Document<'_>,
    (nodes, edges): (u64, u64),
) {
    let meta = &document.meta;
    let rows = |numbers: &Option<Numbers<'_>>, fields: &[String]| {
        Rows::of(numbers.as_ref(), fields.len().max(1)).count as u64
    };
    let functions = rows(&document.trace_function_infos, &meta.names.trace_function_info_fields);
    info.records.add_all([
        ("snapshot", 1),
        ("node", nodes),
        ("edge", edges),
        ("trace_function_info", functions),
        ("trace_node", trace_nodes(bytes, document)),
        ("sample", rows(&document.samples, &meta.names.sample_fields)),
        ("location", rows(&document.locations, &meta.names.location_fields)),
        ("string", document.strings.len() as u64),
    ]);
}

/// The counts that are not 0, with the names of their types.
fn by_name<'n>(types: impl Iterator<Item = &'n String>, counts: &[u64; 256]) -> CountsByName {
    let counted = types.zip(counts).filter(|(_, count)| **count > 0);
    CountsByName(counted.map(|(name, count)| (name.clone(), *count)).collect())
}

/// Sums over nodes or edges.
struct Sums {
    count: u64,
    by_type: [u64; 256],
    /// Bytes of nodes.
    bytes: u64,
    detached: u64,
    /// Edges of node 0.
    roots: Option<u64>,
    /// Edges that lead outside the nodes.
    dangling: u64,
    damage: Option<Error>,
}

impl Sums {
    const NONE: Self = Self {
        count: 0,
        by_type: [0; 256],
        bytes: 0,
        detached: 0,
        roots: None,
        dangling: 0,
        damage: None,
    };

    fn of_nodes(document: &Document<'_>, options: ReadOptions<'_>) -> Self {
        let (fields, kinds) = (document.meta.node, &document.meta.kinds);
        let rows = Rows::of(document.nodes.as_ref(), fields.count);
        Self::read(&rows, fields.count, options, |sums, row| {
            let field = |at: usize| row.get(at).copied().unwrap_or(0);
            count(&mut sums.by_type, kinds.kind(field(fields.kind)).into());
            sums.bytes = sums.bytes.saturating_add(field(fields.self_size));
            if fields.detachedness.is_some_and(|at| field(at) == 2) {
                sums.detached = sums.detached.wrapping_add(1);
            }
            sums.roots.get_or_insert(field(fields.edge_count));
        })
        .in_part("in nodes")
    }

    fn of_edges(
        document: &Document<'_>,
        options: ReadOptions<'_>,
        nodes: u64,
        held: &Held,
    ) -> Self {
        let (meta, fields) = (&document.meta, document.meta.edge);
        let node_fields = meta.node.count as u64;
        let rows = Rows::of(document.edges.as_ref(), fields.count);
        Self::read(&rows, fields.count, options, |sums, row| {
            let field = |at: usize| row.get(at).copied().unwrap_or(0);
            count(&mut sums.by_type, field(fields.kind));
            let node = field(fields.to_node).checked_div(node_fields).unwrap_or(u64::MAX);
            sums.dangling = sums.dangling.wrapping_add(u64::from(node >= nodes));
            if meta.edge_type(field(fields.kind)) != EdgeType::Weak {
                held.add(node);
            }
        })
        .in_part("in edges")
    }

    /// Reads parts in parallel, and sums them up to the first damage.
    fn read(
        rows: &Rows<'_>,
        fields: usize,
        options: ReadOptions<'_>,
        each: impl Fn(&mut Self, &[u64; MAX_FIELDS]) + Sync,
    ) -> Self {
        let read = |part: &Part<'_>| {
            (options.progress)(part.offset());
            let mut sums = Self::NONE;
            let outcome = part.read(fields, |_, row| {
                sums.count = sums.count.wrapping_add(1);
                each(&mut sums, row);
            });
            sums.damage = outcome.err();
            sums
        };
        let parts = parallel::map(&rows.parts, read);
        let mut total = Self::NONE;
        for part in parts {
            total.count = total.count.wrapping_add(part.count);
            total.bytes = total.bytes.saturating_add(part.bytes);
            total.detached = total.detached.wrapping_add(part.detached);
            total.roots = total.roots.or(part.roots);
            total.dangling = total.dangling.wrapping_add(part.dangling);
            for (total, count) in total.by_type.iter_mut().zip(part.by_type) {
                *total = total.wrapping_add(count);
            }
            total.damage = part.damage;
            if total.damage.is_some() {
                break;
            }
        }
        total
    }

    fn in_part(self, part: &'static str) -> Self {
        Self { damage: self.damage.map(|damage| damage.context(part)), ..self }
    }
}

/// The nodes that an edge refers to, one bit each.
struct Held(Vec<AtomicU64>);

impl Held {
    fn none(count: u64) -> Self {
        Self((0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    fn add(&self, node: u64) {
        let word = usize::try_from(node.wrapping_div(64)).ok().and_then(|word| self.0.get(word));
        let bit = 1u64.wrapping_shl(node as u32);
        // Most nodes have several referrers, and a read costs less than a write.
        if let Some(word) = word.filter(|word| word.load(Ordering::Relaxed) & bit == 0) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// The number of nodes, without node 0, that no edge refers to.
    fn unheld(&self, count: u64) -> u64 {
        self.add(0);
        let held = |word: &AtomicU64| u64::from(word.load(Ordering::Relaxed).count_ones());
        count.saturating_sub(self.0.iter().map(held).fold(0, u64::saturating_add))
    }
}

#[inline(always)]
fn count(counts: &mut [u64; 256], number: u64) {
    if let Some(count) = counts.get_mut(number.min(255) as usize) {
        *count = count.wrapping_add(1);
    }
}

/// The number of stacks in the allocation tree.
fn trace_nodes(bytes: &[u8], document: &Document<'_>) -> u64 {
    let (Some(start), fields) =
        (document.trace_tree, document.meta.names.trace_node_fields.len() as u64)
    else {
        return 0;
    };
    let mut json = Scanner::new(Cursor::at(bytes, start).rest(), start);
    let mut numbers = 0u64;
    while let Ok(Some(token)) = json.token() {
        numbers = numbers.saturating_add(matches!(token, Token::Number(_)).into());
    }
    // The children, a list, are the last field.
    numbers.checked_div(fields.saturating_sub(1)).unwrap_or(0)
}
