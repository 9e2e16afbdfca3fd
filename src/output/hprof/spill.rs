//! External bytes that hold references.
//!
//! MoarVM's hashes, lists and compilation units keep their references in memory outside the heap.
//! An instance with all of them would be larger than the object, so the array that represents the
//! external bytes holds them, one step further away.

use super::Writer;
use super::report::LossKind;
use crate::model::heap::{Label, LabelKind, ObjectId};
use std::io::{self, Write};

/// The place of an object's external bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum External {
    /// There are fewer than half of [`INSIDE`] external bytes, or none.
    #[default]
    None,
    /// At most [`INSIDE`] bytes, as a part of the object: no array is that small.
    Inside,
    /// In a byte array.
    Bytes,
    /// In an array of all references, except those labeled with the name of a field.
    Elements,
    /// In an array of all references.
    References,
}

/// The maximum number of external bytes that become a part of the object itself and are added to
/// its size. The smallest array takes 16 bytes.
pub(super) const INSIDE: u64 = 8;
/// The minimum number of external bytes to write: sizes are multiples of 8.
const LEAST: u64 = INSIDE / 2;

impl External {
    /// Plans an object that has `room` bytes for its references and the reference to the array, each
    /// of `width` bytes, with these labels.
    pub(super) fn of(bytes: u64, room: u64, width: u64, count: usize, labels: &[Label]) -> Self {
        let fits = |count: usize| (count as u64 + 1) * width <= room;
        match bytes {
            ..LEAST => Self::None,
            LEAST..=INSIDE => Self::Inside,
            _ if fits(count) => Self::Bytes,
            _ if fits(labels.iter().filter(|label| is_field(**label)).count()) => Self::Elements,
            _ => Self::References,
        }
    }

    pub(super) fn has_array(self) -> bool {
        !matches!(self, Self::None | Self::Inside)
    }

    /// Whether the array holds references.
    pub(super) fn holds(self) -> bool {
        matches!(self, Self::Elements | Self::References)
    }

    /// Whether the object itself keeps a reference of this label.
    pub(super) fn keeps(self, label: Label) -> bool {
        match self {
            Self::None | Self::Inside | Self::Bytes => true,
            Self::Elements => is_field(label),
            Self::References => false,
        }
    }
}

fn is_field(label: Label) -> bool {
    matches!(label.kind(), LabelKind::Field(_))
}

impl<W: Write> Writer<'_, '_, W> {
    /// Writes the array that represents `bytes` external bytes of an object, with the references
    /// that the object does not keep.
    pub(super) fn spilled(
        &mut self,
        object: ObjectId,
        id: u64,
        bytes: u64,
        external: External,
    ) -> io::Result<()> {
        let heap = self.heap;
        let width = self.layout.reference();
        let moved = || {
            heap.references_at(object, heap.fields_of(object))
                .filter(|reference| !external.keeps(reference.label))
        };
        let count = moved().count() as u64;
        let kept = count.min((1 << 30) / width * 3);
        self.losses.add(LossKind::Reference, count - kept);
        let filled = bytes.min((count * 8).saturating_add(self.filling.limit));
        let length = self
            .layout
            .array_length(filled.checked_next_multiple_of(width).unwrap_or(filled))
            .max(kept);
        self.keep_apart(id, length)?;
        self.out.object_array(id, self.ids.class(self.classes.required.object_array), length)?;
        let mut at = 0;
        for (left, reference) in (1..=kept).rev().zip(moved()) {
            match reference.label.kind() {
                // An element has its index as position if the references after it have room.
                LabelKind::Index(index)
                    if u64::from(index) >= at && u64::from(index) + left <= length =>
                {
                    self.out.zeros((u64::from(index) - at) * width)?;
                    at = index.into();
                }
                LabelKind::Index(_) => self.losses.add(LossKind::ArrayIndex, 1),
                LabelKind::Field(_) | LabelKind::Offset(_) => {
                    self.losses.add(LossKind::ArrayLabel, 1)
                }
                LabelKind::None => {}
            }
            self.element(object, &reference)?;
            at += 1;
        }
        self.out.zeros((length - at) * width)?;
        self.losses.add(LossKind::Spilled, 1);
        self.sized(length * width, kept, bytes, LossKind::CutExternal);
        Ok(())
    }
}
