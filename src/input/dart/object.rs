//! Objects and their references.

use super::class::{ClassEntry, ClassKind, ClassTable};
use super::data::Data;
use super::word_size::WordSize;
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::FieldSink;
use crate::model::names::Names;
use std::borrow::Cow;

/// The id of the object from which everything alive is reached.
pub const ROOT: u64 = 1;

/// An object of the snapshot, with what it refers to.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// From 1, in the order of the file. Not stable from one snapshot to the next.
    pub id: u64,
    /// The class; 0 for the root in files of Dart 2.12 and before.
    pub class_id: u64,
    /// The name of the class. `None` if the class is unknown.
    pub class_name: Option<&'a [u8]>,
    pub class_kind: ClassKind,
    /// Bytes on the heap with header and padding. 0 for objects shared between isolates, for Smis
    /// and synthetic objects.
    pub shallow_size: u64,
    pub data: Data<'a>,
    /// Slots in order: the named ones, then elements. Not deduplicated.
    pub references: References<'a>,
}

/// The references of an object, decoded when they are requested.
#[derive(Clone, Copy, Debug)]
pub struct References<'a> {
    count: u64,
    zeros: u64,
    cursor: Cursor<'a>,
}

impl<'a> References<'a> {
    /// Returns the references at a cursor that is after their count.
    pub(super) fn at(count: u64, cursor: Cursor<'a>) -> Self {
        Self { count, zeros: 0, cursor }
    }

    /// The number of references, as the file states it.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of slots that are 0: not an object, or a Smi in files before Dart 2.19.
    #[inline]
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// The ids of the objects, slot by slot.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a> {
        let mut cursor = self.cursor;
        // They were passed once when the object was read, so none fails now.
        (0..self.count).map_while(move |_| cursor.uleb128("a reference").ok())
    }

    #[inline]
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let count = cursor.uleb128("the reference count of an object")?;
        let start = *cursor;
        let zeros = cursor.skip_uleb128s(count, "the references of an object")?;
        Ok(Self { count, zeros, cursor: start })
    }
}

/// An object up to its references.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) class_id: u64,
    class_name: Option<&'a [u8]>,
    pub(super) class_kind: ClassKind,
    pub(super) shallow_size: u64,
    pub(super) data: Data<'a>,
}

impl<'a> Head<'a> {
    /// Reads an object up to its references, and leaves the cursor at their number.
    #[inline(always)]
    pub(super) fn read(
        cursor: &mut Cursor<'a>,
        classes: &ClassTable<'a>,
        vm: &mut Vm,
    ) -> Result<Self> {
        let class_id = cursor.uleb128("the class of an object")?;
        let shallow_size = cursor.uleb128("the size of an object")?;
        let class: Option<&ClassEntry<'a>> = classes.get(class_id);
        let kind = class.map_or(ClassKind::Other, |class| class.kind);
        vm.word_size.see_size(shallow_size, kind);
        let data = Data::read(cursor, kind, &mut vm.word_size, vm.exported)?;
        if let (Data::Name(_), ClassKind::String) = (&data, kind) {
            vm.exported = true;
        }
        Ok(Self {
            class_id,
            class_name: class.map(|class| class.name),
            class_kind: kind,
            shallow_size,
            data,
        })
    }
}

impl<'a> Object<'a> {
    /// Reads the object with the given id.
    #[inline]
    pub(super) fn read(
        cursor: &mut Cursor<'a>,
        id: u64,
        classes: &ClassTable<'a>,
        vm: &mut Vm,
    ) -> Result<Self> {
        let Head { class_id, class_name, class_kind, shallow_size, data } =
            Head::read(cursor, classes, vm)?;
        let references = References::read(cursor)?;
        Ok(Self { id, class_id, class_name, class_kind, shallow_size, data, references })
    }
}

/// Facts so far about the writer of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Vm {
    pub(super) word_size: WordSize,
    /// Whether DevTools re-encoded the file.
    pub(super) exported: bool,
}

impl Object<'_> {
    pub(super) fn pass_to<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("id", self.id);
        sink.unsigned("class_id", self.class_id);
        if let Some(name) = self.class_name {
            sink.text("class", &shortened(name));
        }
        sink.unsigned("shallow_size", self.shallow_size);
        self.data.fields(sink);
        sink.unsigned("reference_count", self.references.count);
        if sink.wants_contents() {
            sink.list("references", self.references.iter(), |id, sink| sink.unsigned("id", id));
        }
    }
}

/// Truncates the name of a class, for display with each of its objects, to the length that the
/// model keeps. The class record shows the full name.
fn shortened(name: &[u8]) -> Cow<'_, [u8]> {
    if name.len() <= Names::LONGEST {
        return name.into();
    }
    let begins_character = |end: &usize| name.get(*end).is_some_and(|byte| byte & 0xc0 != 0x80);
    let end = (0..=Names::LONGEST).rev().find(begins_character).unwrap_or(0);
    let kept = name.get(..end).unwrap_or_default();
    [kept, format!("… ({} bytes)", name.len()).as_bytes()].concat().into()
}
