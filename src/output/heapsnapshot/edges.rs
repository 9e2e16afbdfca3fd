//! The edges, grouped by their source node.

use super::json::Out;
use super::labels::{Labels, Place};
use super::nodes;
use super::plan::{FIRST_GROUP, Plan};
use super::report::HeapSnapshotReport;
use super::strings::{EPHEMERON, Section};
use crate::model::heap::{Label, LabelKind, ObjectId, Reference, Root, TypeKind};
use crate::model::names::NameId;
use std::io::{self, Write};

/// The number of fields of an edge: type, name or index, node.
pub(super) const FIELDS: u64 = 3;

/// Positions in the list of types in [`super::json::head`].
const ELEMENT: u64 = 1;
const PROPERTY: u64 = 2;
const INTERNAL: u64 = 3;
const HIDDEN: u64 = 4;
const WEAK: u64 = 6;

/// The references from each object of JavaScript to its parts, which are no properties. Readers name
/// plain objects after their properties.
const PARTS: [&str; 3] = ["map", "properties", "elements"];

pub(super) fn write<W: Write>(
    plan: &Plan<'_, '_>,
    labels: &mut Labels,
    out: &mut Out<W>,
    report: &mut HeapSnapshotReport,
) -> io::Result<()> {
    let late = Section::Labels.at(plan);
    let (names, keys) = (&plan.heap.names, &plan.heap.keys);
    let parts = PARTS.map(|name| names.find(name));
    let unnamed = names.find("").filter(|name| keys.iter().all(|key| key.name != *name));
    let mut edges = Edges { plan, labels, out, report, late, parts, unnamed, first: true };
    let (groups, unreachable) = (plan.groups.len(), !plan.tops.is_empty());
    edges.edge(ELEMENT, 1, 1)?;
    if unreachable {
        edges.edge(ELEMENT, 2, (FIRST_GROUP + groups) as u64)?;
    }
    for (index, object) in (2 + u64::from(unreachable)..).zip(plan.unowned) {
        edges.edge(ELEMENT, index, plan.numbering.node(*object))?;
    }
    match plan.root {
        Some(root) => edges.of_object(root)?,
        None => (0..groups as u64)
            .try_for_each(|group| edges.edge(ELEMENT, group + 1, FIRST_GROUP as u64 + group))?,
    }
    for group in 0..groups {
        for (index, root) in (0..).zip(plan.groups.roots(group, plan.heap)) {
            edges.of_root(index, root)?;
        }
    }
    for (index, object) in (1..).zip(&plan.tops) {
        edges.edge(ELEMENT, index, plan.numbering.node(*object))?;
    }
    for object in plan.numbering.objects() {
        edges.of_object(object)?;
    }
    Ok(())
}

struct Edges<'e, 'p, 'a, W: Write> {
    plan: &'e Plan<'p, 'a>,
    labels: &'e mut Labels,
    out: &'e mut Out<W>,
    report: &'e mut HeapSnapshotReport,
    /// The number of the first string of [`Labels`].
    late: u64,
    /// The names of [`PARTS`].
    parts: [Option<NameId>; 3],
    /// The name of Bun's references to parts, unless a property has no name either.
    unnamed: Option<NameId>,
    first: bool,
}

impl<W: Write> Edges<'_, '_, '_, W> {
    #[inline]
    fn edge(&mut self, edge_type: u64, name: u64, node: u64) -> io::Result<()> {
        self.out.row([edge_type, name, node * nodes::FIELDS], std::mem::take(&mut self.first))
    }

    fn of_root(&mut self, index: u64, root: &Root) -> io::Result<()> {
        let function = root
            .frame
            .and_then(|frame| self.plan.heap.frames.get(frame as usize))
            .map(|frame| frame.function);
        let (edge_type, name) = match (function, root.label.kind()) {
            (Some(function), _) => (
                PROPERTY,
                self.late
                    + self.labels.number(Place { function: Some(function), label: root.label }),
            ),
            (None, _) => self.name(root.label, false, true, index),
        };
        self.edge(edge_type, name, self.plan.numbering.node(root.object))
    }

    #[inline]
    fn of_object(&mut self, object: ObjectId) -> io::Result<()> {
        let plan = self.plan;
        let is_array = plan.heap.type_of(object).kind == TypeKind::Array;
        let is_live = plan.live.contains(object);
        for (index, Reference { target, label, weak }) in (0..).zip(plan.heap.references_of(object))
        {
            if weak && !plan.numbering.has(target) {
                continue;
            }
            let weakened = !weak && !is_live && plan.live.contains(target);
            self.report.weakened += u64::from(weakened);
            let (edge_type, name) = self.name(label, weak || weakened, is_array, index);
            let is_part = edge_type == PROPERTY && self.is_part(label, target);
            let edge_type = if is_part { INTERNAL } else { edge_type };
            self.edge(edge_type, name, plan.numbering.node(target))?;
        }
        for (_, value) in plan.graph.dependent_on(object) {
            self.edge(INTERNAL, Section::Fixed.at(plan) + EPHEMERON, plan.numbering.node(*value))?;
        }
        Ok(())
    }

    /// Whether a reference leads to a part of an object of JavaScript, and not to the value of a
    /// property.
    #[inline]
    fn is_part(&self, label: Label, target: ObjectId) -> bool {
        let LabelKind::Field(name) = label.kind() else { return false };
        self.unnamed == Some(name)
            || self.parts.contains(&Some(name))
                && self.plan.types.is_part(self.plan.heap.type_id(target))
    }

    /// The type and the name or index of an edge that is the `index`th of its node.
    #[inline]
    fn name(&mut self, label: Label, weak: bool, is_array: bool, index: u64) -> (u64, u64) {
        match (label.kind(), weak) {
            (LabelKind::Field(name), _) => (if weak { WEAK } else { PROPERTY }, name.0.into()),
            (LabelKind::Index(index), false) => (ELEMENT, index.into()),
            (LabelKind::None, false) => (if is_array { ELEMENT } else { HIDDEN }, index),
            (LabelKind::Offset(_), false) => (PROPERTY, self.late(label)),
            (LabelKind::None, true) => (WEAK, self.late(Label::index(index))),
            (LabelKind::Index(_) | LabelKind::Offset(_), true) => (WEAK, self.late(label)),
        }
    }

    #[inline]
    fn late(&mut self, label: Label) -> u64 {
        self.late + self.labels.number(Place { function: None, label })
    }
}
