//! Classes, their fields, and the table that objects refer to.

use super::{str, uleb};
use crate::bytes::Cursor;
use crate::error::Result;
use crate::input::record::record;
use crate::model::fields::FieldSink;

record! {
    /// A class. A hole in the VM's class table is written as a class without any name.
    pub struct Class<'a>(number: u64) {
        /// From 1, in the order of the file.
        id: u64 = number_in_order(number) => unsigned,
        /// 0 in every file seen.
        flags: u64 = uleb("the flags of a class") => unsigned,
        /// Name without library privacy key. Not unique; not even together with the library.
        name: &'a [u8] = str("the name of a class") => text,
        /// Name of the library, often empty.
        library_name: &'a [u8] = str("the library name of a class") => text,
        /// URI of the library; empty for classes of the VM itself.
        library_uri: &'a [u8] = str("the library URI of a class") => text,
        /// Empty in every file seen.
        reserved: &'a [u8] = str("the reserved string of a class") => text,
        fields: Fields<'a> = Fields::read() => with(Fields::pass_to),
    }
}

record! {
    /// A named slot. Slots need neither be sorted nor dense nor distinct, and may lie beyond an
    /// object's references.
    pub struct Field<'a> {
        /// 1: the slot is strong. The only value seen.
        flags: u64 = uleb("the flags of a field") => unsigned,
        /// Position in the list of references, from 0.
        index: u64 = uleb("the index of a field") => unsigned,
        /// May be empty: an unknown static field.
        name: &'a [u8] = str("the name of a field") => text,
        /// Empty in every file seen.
        reserved: &'a [u8] = str("the reserved string of a field") => text,
    }
}

/// Returns the id of a class: its number in the file, which does not store ids.
fn number_in_order(_: &mut Cursor<'_>, number: u64) -> Result<u64> {
    Ok(number)
}

/// The fields of a class, decoded when they are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<'a> {
    count: u64,
    cursor: Cursor<'a>,
}

impl<'a> Fields<'a> {
    /// The number of fields, as the file states it.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The fields in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let mut cursor = self.cursor;
        // They were read once when the class was, so none fails now.
        (0..self.count).map_while(move |_| Field::read(&mut cursor).ok())
    }

    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let count = cursor.uleb128("the field count of a class")?;
        let fields = Self { count, cursor: *cursor };
        for i in 0..count {
            Field::read(cursor).map_err(|error| error.context(format!("field {i} of {count}")))?;
        }
        Ok(fields)
    }

    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.unsigned("field_count", self.count);
        if sink.wants_contents() {
            sink.list("fields", self.iter(), |field, sink| field.pass_to(sink));
        }
    }
}

impl Class<'_> {
    /// Whether this is a class id that the VM does not use. No object has such a class.
    pub fn is_hole(&self) -> bool {
        self.name.is_empty()
            && self.library_name.is_empty()
            && self.library_uri.is_empty()
            && self.fields.count == 0
    }
}

/// The facts about a class that a reader of objects needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// Any other class.
    Other,
    Hole,
    /// `_Mint` of dart:core: its int is signed.
    Mint,
    /// `_Smi` of dart:core: its int has the word size of the VM.
    Smi,
    /// `_OneByteString`, `_TwoByteString` of dart:core: in DevTools exports, these objects have
    /// names (tag 8) instead of strings.
    String,
    /// `_GrowableList` of dart:core: its size reveals the word size.
    GrowableList,
    /// The class of the isolate objects, which modern VMs put in front of their own classes.
    Isolate,
}

impl ClassKind {
    pub(super) fn of(class: &Class<'_>) -> Self {
        match (class.library_uri, class.name) {
            (b"dart:core", b"_Mint") => Self::Mint,
            (b"dart:core", b"_Smi") => Self::Smi,
            (b"dart:core", b"_OneByteString" | b"_TwoByteString") => Self::String,
            (b"dart:core", b"_GrowableList") => Self::GrowableList,
            (b"", b"Isolate") if class.id == 3 => Self::Isolate,
            _ if class.is_hole() => Self::Hole,
            _ => Self::Other,
        }
    }
}

/// An entry of [`ClassTable`]: 40 bytes, with names borrowed from the input.
#[derive(Clone, Copy, Debug)]
pub struct ClassEntry<'a> {
    /// [`Class::name`].
    pub name: &'a [u8],
    /// [`Class::library_uri`].
    pub library_uri: &'a [u8],
    /// The kind of class, for the reader of its objects.
    pub kind: ClassKind,
}

/// The classes by id. The table grows as classes are read, whatever number the header states.
#[derive(Clone, Debug, Default)]
pub struct ClassTable<'a>(Vec<ClassEntry<'a>>);

impl<'a> ClassTable<'a> {
    /// The class with an id; `None` for 0, which old files give the root, and for ids out of range.
    #[inline]
    pub fn get(&self, id: u64) -> Option<&ClassEntry<'a>> {
        self.0.get(usize::try_from(id.wrapping_sub(1)).ok()?)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The classes in the order of the file, from class id 1.
    pub fn iter(&self) -> impl Iterator<Item = &ClassEntry<'a>> {
        self.0.iter()
    }

    pub(super) fn push(&mut self, class: &Class<'a>) {
        self.0.push(ClassEntry {
            name: class.name,
            library_uri: class.library_uri,
            kind: ClassKind::of(class),
        });
    }
}
