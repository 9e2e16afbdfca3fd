//! The nodes.

use super::json::Out;
use super::labels::{NUMBERS, SYNTHETIC};
use super::plan::{FIRST_GROUP, Plan};
use super::report::HeapSnapshotReport;
use super::strings::Section;
use crate::model::heap::{ObjectId, TypeKind};
use std::io::{self, Write};

/// The number of fields of a node: type, name, id, own size, edges, trace node, detachedness.
pub(super) const FIELDS: u64 = 7;

pub(super) fn write<W: Write>(
    plan: &Plan<'_, '_>,
    out: &mut Out<W>,
    report: &mut HeapSnapshotReport,
) -> io::Result<()> {
    for node in 0..plan.synthetic() {
        let name = match node {
            0 => 0,
            1 => Section::Fixed.at(plan) + super::strings::GC_ROOTS,
            _ if node - FIRST_GROUP < plan.groups.len() => {
                Section::Groups.at(plan) + (node - FIRST_GROUP) as u64
            }
            _ => Section::Fixed.at(plan) + super::strings::UNREACHABLE,
        };
        let (id, size) = match plan.root {
            Some(root) if node == 1 => {
                (id(root), size(plan, root, plan.heap.external_bytes(root), report))
            }
            _ => (2 * (node as u64 + 1), 0),
        };
        out.row([SYNTHETIC, name, id, size, plan.edges_of_synthetic(node), 0, 0], node == 0)?;
    }
    let types = Section::Types.at(plan);
    let mut text = Section::Texts.at(plan);
    let mut external = plan.heap.external.iter().peekable();
    for object in plan.numbering.objects() {
        while external.next_if(|(other, _)| *other < object).is_some() {}
        let external =
            external.next_if(|(other, _)| *other == object).map_or(0, |(_, bytes)| *bytes);
        let size = size(plan, object, external, report);
        let type_name = plan.types.number(plan.heap.shown_type(object)) as u64;
        let node_type = plan.types.node(plan.heap.type_id(object));
        let name = match plan.heap.type_of(object).kind {
            TypeKind::Text => {
                text += 1;
                text - 1
            }
            kind => {
                if !kind.is_made_up() && plan.heap.class_object(object).is_none() {
                    report.value(&plan.heap.value(object));
                }
                // The name of a number's node is its value.
                if NUMBERS.contains(&node_type) { 0 } else { types + type_name }
            }
        };
        out.row([node_type, name, id(object), size, plan.edges_of(object), 0, 0], false)?;
    }
    out.text("],\n\"edges\":[")
}

/// The id of an object's node: odd, and independent of what else is written.
fn id(object: ObjectId) -> u64 {
    2 * u64::from(object.0) + 1
}

#[inline]
fn size(
    plan: &Plan<'_, '_>,
    object: ObjectId,
    external: u64,
    report: &mut HeapSnapshotReport,
) -> u64 {
    report.size(plan.heap.shallow.get(object.index()), external)
}
