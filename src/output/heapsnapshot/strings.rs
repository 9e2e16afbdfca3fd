//! The strings, in sections, so that the number of each is known before it is written.

use super::json::Out;
use super::labels::Labels;
use super::plan::Plan;
use super::report::HeapSnapshotReport;
use crate::model::heap::{ObjectId, TypeKind, Value};
use std::io::{self, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    /// The heap's names by their numbers; the first one is empty.
    Names,
    /// [`FIXED`].
    Fixed,
    /// The names for objects of each type.
    Types,
    /// Groups of roots.
    Groups,
    /// Objects that are texts.
    Texts,
    /// Composed names of edges. Their number is known only at the end.
    Labels,
}

/// Strings that every snapshot has.
const FIXED: [&str; 3] = ["(GC roots)", "(unreachable)", "ephemeron value"];
pub(super) const GC_ROOTS: u64 = 0;
pub(super) const UNREACHABLE: u64 = 1;
pub(super) const EPHEMERON: u64 = 2;

/// The maximum number of bytes of a text.
const LONGEST: usize = 1024;

impl Section {
    /// The number of the section's first string.
    pub(super) fn at(self, plan: &Plan<'_, '_>) -> u64 {
        let sizes = [
            (Self::Names, plan.heap.names.len() as u64),
            (Self::Fixed, FIXED.len() as u64),
            (Self::Types, plan.types.texts.len() as u64),
            (Self::Groups, plan.groups.len() as u64),
            (Self::Texts, plan.texts),
        ];
        sizes.iter().filter(|(section, _)| *section < self).map(|(_, size)| size).sum()
    }
}

pub(super) fn write<W: Write>(
    plan: &Plan<'_, '_>,
    labels: &Labels,
    out: &mut Out<W>,
    report: &mut HeapSnapshotReport,
) -> io::Result<()> {
    let heap = plan.heap;
    let mut strings = Strings { out, first: true };
    (0..heap.names.len() as u32)
        .try_for_each(|name| strings.add(heap.names.text(crate::model::names::NameId(name))))?;
    FIXED.iter().try_for_each(|text| strings.add(text))?;
    plan.types.texts.iter().try_for_each(|name| strings.add(name))?;
    plan.groups.names(heap).try_for_each(|name| strings.add(&name))?;
    for object in
        plan.numbering.objects().filter(|object| heap.type_of(*object).kind == TypeKind::Text)
    {
        strings.add_text_of(object, plan, report)?;
    }
    labels.names(heap).try_for_each(|name| strings.add(&name))
}

struct Strings<'s, W: Write> {
    out: &'s mut Out<W>,
    first: bool,
}

impl<W: Write> Strings<'_, W> {
    fn add(&mut self, text: &str) -> io::Result<()> {
        self.out.text(if std::mem::take(&mut self.first) { "" } else { ",\n" })?;
        self.out.string(text)
    }

    /// The text of an object, as far as the file contains it; otherwise the name of its type.
    fn add_text_of(
        &mut self,
        object: ObjectId,
        plan: &Plan<'_, '_>,
        report: &mut HeapSnapshotReport,
    ) -> io::Result<()> {
        match plan.heap.value(object) {
            Value::Text { text, .. } if text.len() <= LONGEST => self.add(&text),
            Value::Text { text, .. } => {
                report.cut_texts += 1;
                let end = text.floor_char_boundary(LONGEST);
                self.add(&format!("{}…", &text[..end]))
            }
            _ => self.add(plan.types.text(plan.heap.type_id(object))),
        }
    }
}
