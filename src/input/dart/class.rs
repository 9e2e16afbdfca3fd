//! Classes, their fields, and the table that objects refer to.

use super::read_string;
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::{FieldSink, Record};

/// A class. A hole in the VM's class table is written as a class without any name.
#[derive(Clone, Copy, Debug)]
pub struct Class<'a> {
    /// From 1, in the order of the file.
    pub id: u64,
    /// 0 in every file seen.
    pub flags: u64,
    /// Name without library privacy key. Not unique; not even together with the library.
    pub name: &'a [u8],
    /// Name of the library, often empty.
    pub library_name: &'a [u8],
    /// URI of the library; empty for classes of the VM itself.
    pub library_uri: &'a [u8],
    /// Empty in every file seen.
    pub reserved: &'a [u8],
    /// The named slots of its objects.
    pub fields: Fields<'a>,
}

/// The fields of a class, decoded when they are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    count: u64,
    cursor: Cursor<'a>,
}

/// A named slot. Slots need neither be sorted nor dense nor distinct, and may lie beyond an object's references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// 1: the slot is strong. The only value seen.
    pub flags: u64,
    /// Position in the list of references, from 0.
    pub index: u64,
    /// May be empty: an unknown static field.
    pub name: &'a [u8],
    /// Empty in every file seen.
    pub reserved: &'a [u8],
}

impl<'a> Field<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        Ok(Self {
            flags: cursor.uleb128("the flags of a field")?,
            index: cursor.uleb128("the index of a field")?,
            name: read_string(cursor, "the name of a field")?,
            reserved: read_string(cursor, "the reserved string of a field")?,
        })
    }
}

impl<'a> Fields<'a> {
    /// How many there are.
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
}

impl<'a> Class<'a> {
    /// Reads the class with the given id.
    pub(super) fn read(cursor: &mut Cursor<'a>, id: u64) -> Result<Self> {
        Ok(Self {
            id,
            flags: cursor.uleb128("the flags of a class")?,
            name: read_string(cursor, "the name of a class")?,
            library_name: read_string(cursor, "the library name of a class")?,
            library_uri: read_string(cursor, "the library URI of a class")?,
            reserved: read_string(cursor, "the reserved string of a class")?,
            fields: Fields::read(cursor)?,
        })
    }

    /// Whether it stands for a class id that the VM does not use. No object has such a class.
    pub fn is_hole(&self) -> bool {
        self.name.is_empty() && self.library_name.is_empty() && self.library_uri.is_empty() && self.fields.count == 0
    }
}

impl Record for Class<'_> {
    fn name(&self) -> &'static str {
        "class"
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("id", self.id);
        sink.unsigned("flags", self.flags);
        sink.text("name", self.name);
        sink.text("library_name", self.library_name);
        sink.text("library_uri", self.library_uri);
        sink.text("reserved", self.reserved);
        sink.unsigned("field_count", self.fields.count);
        if sink.wants_contents() {
            sink.list("fields", self.fields.iter(), |field, sink| {
                sink.unsigned("flags", field.flags);
                sink.unsigned("index", field.index);
                sink.text("name", field.name);
                sink.text("reserved", field.reserved);
            });
        }
    }
}

/// What a reader of objects must know of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// No class of the cases below.
    Other,
    /// An unused class id.
    Hole,
    /// `_Mint` of dart:core: its int is signed.
    Mint,
    /// `_Smi` of dart:core: its int has the word size of the VM.
    Smi,
    /// `_OneByteString`, `_TwoByteString` of dart:core: a name in place of a string tells an export of DevTools.
    String,
    /// `_GrowableList` of dart:core: its size tells the word size.
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

/// What is kept of a class: 40 bytes, names borrowed from the input.
#[derive(Clone, Copy, Debug)]
pub struct ClassEntry<'a> {
    /// [`Class::name`].
    pub name: &'a [u8],
    /// [`Class::library_uri`].
    pub library_uri: &'a [u8],
    /// The case that it is, for the reader.
    pub kind: ClassKind,
}

/// The classes by id. It grows with the classes that were read, not with what the header announces.
#[derive(Clone, Debug, Default)]
pub struct ClassTable<'a>(Vec<ClassEntry<'a>>);

impl<'a> ClassTable<'a> {
    /// The class with an id; None for 0, which old files give the root, and for ids out of range.
    #[inline]
    pub fn get(&self, id: u64) -> Option<&ClassEntry<'a>> {
        self.0.get(usize::try_from(id.wrapping_sub(1)).ok()?)
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The classes, from id 1.
    pub fn iter(&self) -> impl Iterator<Item = &ClassEntry<'a>> {
        self.0.iter()
    }

    pub(super) fn push(&mut self, class: &Class<'a>) {
        self.0.push(ClassEntry { name: class.name, library_uri: class.library_uri, kind: ClassKind::of(class) });
    }
}
