//! The report of a conversion: counts and losses.

use super::plan::Plan;
use crate::model::heap::Value;
use crate::output::loss::{Loss, LossKind};
use serde::Serialize;

/// Counts of written data, as readers count it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HeapSnapshotReport {
    /// Nodes, those that are not objects included.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// The sum of all nodes' own sizes.
    pub bytes: u64,
    /// Data that the format cannot store, and omitted data.
    #[serde(skip)]
    pub lost: Vec<Loss>,
    #[serde(skip)]
    pub(super) clamped: (u64, u64),
    #[serde(skip)]
    pub(super) external: (u64, u64),
    #[serde(skip)]
    pub(super) cut_texts: u64,
    #[serde(skip)]
    pub(super) values: u64,
    #[serde(skip)]
    pub(super) contents: (u64, u64),
    #[serde(skip)]
    pub(super) weakened: u64,
}

impl HeapSnapshotReport {
    /// Counts a size, and returns the part of it that fits in the 32 bits of readers.
    #[inline]
    pub(super) fn size(&mut self, shallow: u64, external: u64) -> u64 {
        if external > 0 {
            self.external = (self.external.0 + 1, self.external.1.saturating_add(external));
        }
        let size = shallow.saturating_add(external);
        let written = size.min(u32::MAX.into());
        if size > written {
            self.clamped = (self.clamped.0 + 1, self.clamped.1.saturating_add(size - written));
        }
        self.bytes = self.bytes.saturating_add(written);
        written
    }

    /// Counts the value of an object that is not a text. Its length is the number of its edges.
    #[inline]
    pub(super) fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::None | Value::Length(_) | Value::Text { .. } => {}
            Value::Bytes(bytes) => {
                self.contents.0 += 1;
                self.contents.1 = self.contents.1.saturating_add(bytes.len() as u64);
            }
            Value::Boolean(_) | Value::Integer(_) | Value::Float(_) | Value::Name(_) => {
                self.values += 1;
            }
        }
    }

    pub(super) fn note_what_is_left_out(&mut self, plan: &Plan<'_, '_>) {
        let (heap, written) = (plan.heap, &plan.numbering);
        let mut add = |what, count, bytes| self.lost.extend(Loss::of(what, count, bytes));
        let unreachable = heap.len() as u64 - written.count;
        if unreachable > 0 {
            let left_out = heap.objects().filter(|object| !written.has(*object));
            let shallow = left_out
                .fold(0u64, |sum, object| sum.saturating_add(heap.shallow.get(object.index())));
            let external = heap.external.iter().filter(|(object, _)| !written.has(*object));
            let bytes = external.fold(shallow, |sum, (_, bytes)| sum.saturating_add(*bytes));
            add(LossKind::UnreachableOptional, unreachable, Some(bytes));
        }
        if unreachable > 0 && !heap.references.weak.is_empty() {
            let references = &heap.references;
            let rows =
                written.objects().chain(plan.root).flat_map(|object| references.range(object));
            let weak = rows
                .filter(|row| references.is_weak(*row) && !written.has(references.target[*row]))
                .count();
            add(LossKind::UnreachableWeak, weak as u64, None);
        }
        add(LossKind::WeakenedReferences, self.weakened, None);
        add(LossKind::Size32, self.clamped.0, Some(self.clamped.1));
        add(LossKind::ExternalInOwn, self.external.0, Some(self.external.1));
        add(LossKind::Values, self.values, None);
        add(LossKind::Bytes, self.contents.0, Some(self.contents.1));
        add(LossKind::CutText1K, self.cut_texts, None);
    }
}
