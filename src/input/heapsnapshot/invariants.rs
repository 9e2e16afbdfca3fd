//! `check` of a snapshot.

use super::document::Document;
use super::meta::{EdgeType, MAX_FIELDS};
use super::rows::Rows;
use crate::error::Result;
use crate::input::check::{CheckWarning, Findings, faults};
use crate::input::json::Numbers;
use crate::input::read::ReadOptions;

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let mut document = Document::read(bytes)?;
    let mut findings = Findings::default();
    findings.set_damage(document.damage.take());
    let mut checker = Checker {
        document: &document,
        options,
        faults: Faults::default(),
        ids: Vec::new(),
        edges: 0,
        nodes: 0,
    };
    // A truncated part is reported as damage; its counts are not compared.
    let is_whole = !document.is_incomplete();
    let outcome = checker.nodes().and_then(|()| checker.edges()).and_then(|()| checker.locations());
    findings.set_damage(outcome.err());
    let is_whole = is_whole && findings.damage.is_none();
    checker.report(&mut findings, is_whole);
    Ok(findings)
}

struct Checker<'c, 'a> {
    document: &'c Document<'a>,
    options: ReadOptions<'c>,
    faults: Faults,
    ids: Vec<u64>,
    /// The sum of the edge counts of all nodes.
    edges: u64,
    nodes: u64,
}

faults! {
    struct Faults(has_strings: bool) {
        node_types: "node.type" "nodes of a type that is not in meta",
        node_names: "node.name" "nodes whose name is not a string of the file" if has_strings,
        detachedness: "node.detachedness" "nodes with a detachedness other than 0, 1 and 2",
        edge_types: "edge.type" "edges of a type that is not in meta",
        edge_names: "edge.name" "edges whose name is not a string of the file" if has_strings,
        targets: "edge.to_node" "edges to positions where no node begins",
        locations: "location.object_index" "locations of positions where no node begins",
    }
}

impl<'a> Checker<'_, 'a> {
    fn nodes(&mut self) -> Result<()> {
        let (document, fields) = (self.document, self.document.meta.node);
        self.rows(&document.nodes, fields.count, "in nodes", |checker, row| {
            let field = |at: usize| row.get(at).copied().unwrap_or(0);
            checker.nodes = checker.nodes.wrapping_add(1);
            checker.faults.node_types +=
                u64::from(field(fields.kind) >= document.meta.node_types.len() as u64);
            checker.faults.node_names +=
                u64::from(field(fields.name) >= document.strings.len() as u64);
            checker.faults.detachedness +=
                u64::from(fields.detachedness.is_some_and(|at| field(at) > 2));
            checker.edges = checker.edges.saturating_add(field(fields.edge_count));
            checker.ids.push(field(fields.id));
        })
    }

    fn edges(&mut self) -> Result<()> {
        let (document, fields) = (self.document, self.document.meta.edge);
        let (meta, end) = (&document.meta, self.positions());
        self.rows(&document.edges, fields.count, "in edges", |checker, row| {
            let field = |at: usize| row.get(at).copied().unwrap_or(0);
            let kind = field(fields.kind);
            let is_indexed = matches!(meta.edge_type(kind), EdgeType::Element | EdgeType::Hidden);
            checker.faults.edge_types += u64::from(kind >= meta.edge_types.len() as u64);
            checker.faults.edge_names += u64::from(
                !is_indexed && field(fields.name_or_index) >= document.strings.len() as u64,
            );
            checker.faults.targets +=
                u64::from(!is_position(field(fields.to_node), meta.node.count, end));
        })
    }

    fn locations(&mut self) -> Result<()> {
        let (document, fields) = (self.document, &self.document.meta.names.location_fields);
        let Some(at) = fields.iter().position(|field| field == "object_index") else {
            return Ok(());
        };
        let (count, end) = (document.meta.node.count, self.positions());
        self.rows(&document.locations, fields.len(), "in locations", |checker, row| {
            checker.faults.locations +=
                u64::from(!is_position(row.get(at).copied().unwrap_or(0), count, end));
        })
    }

    /// Positions in `nodes` are below this.
    fn positions(&self) -> u64 {
        self.nodes.saturating_mul(self.document.meta.node.count as u64)
    }

    fn rows(
        &mut self,
        numbers: &Option<Numbers<'a>>,
        fields: usize,
        place: &'static str,
        mut each: impl FnMut(&mut Self, &[u64; MAX_FIELDS]),
    ) -> Result<()> {
        if !(1..=MAX_FIELDS).contains(&fields) {
            return Ok(());
        }
        for part in &Rows::of(numbers.as_ref(), fields).parts {
            (self.options.progress)(part.offset());
            part.read(fields, |_, row| each(self, row)).map_err(|error| error.context(place))?;
        }
        Ok(())
    }

    fn report(mut self, findings: &mut Findings, is_whole: bool) {
        let meta = &self.document.meta;
        let edges = Rows::of(self.document.edges.as_ref(), meta.edge.count);
        if is_whole {
            let nodes = Rows::of(self.document.nodes.as_ref(), meta.node.count);
            if let Some(count) = meta.node_count {
                findings.equal(
                    "snapshot.node_count",
                    count,
                    self.nodes,
                    "nodes against node_count",
                );
            }
            if let Some(count) = meta.edge_count {
                findings.equal(
                    "snapshot.edge_count",
                    count,
                    edges.count as u64,
                    "edges against edge_count",
                );
            }
            findings.equal(
                "node.edge_count",
                self.edges,
                edges.count as u64,
                "edges against the sum of the nodes' edge_count",
            );
            findings.none("nodes.rows", nodes.left_over as u64, "numbers after the last node");
            findings.none("edges.rows", edges.left_over as u64, "numbers after the last edge");
        }
        self.faults.report(findings, !self.document.strings.is_empty());
        self.ids.sort_unstable();
        let repeated =
            self.ids.windows(2).filter(|pair| matches!(pair, [a, b] if a == b)).count() as u64;
        findings.none("node.id", repeated, "nodes with the id of another node");
        if let (Some(count), Some(infos)) =
            (meta.trace_function_count, &self.document.trace_function_infos)
        {
            let functions =
                Rows::of(Some(infos), meta.names.trace_function_info_fields.len().max(1)).count
                    as u64;
            // A process that records itself allocates further functions while it writes the file.
            findings.tolerate(functions.saturating_sub(count), CheckWarning::LateFunctions);
        }
    }
}

fn is_position(position: u64, fields: usize, end: u64) -> bool {
    position < end && position.checked_rem(fields as u64) == Some(0)
}
