//! The contents of objects: fields, elements, and values of whole objects such as text.
//!
//! Contents are not kept in columns. A reader implements [`ObjectValues`] and decodes them from the
//! mapped file on request; it passes fields and elements one by one, so no object costs an
//! allocation. The entry points are [`Heap::fields`], [`Heap::each_field`], [`Heap::field`], [`Heap::array`] and
//! [`Heap::elements`].

use super::heap::{Heap, ObjectId};
use super::label::{Label, LabelKind};
use super::references::Reference;
use rustc_hash::FxHasher;
use std::borrow::Cow;
use std::fmt;
use std::hash::Hasher;
use std::ops::{ControlFlow, Range};

/// The value of an object, other than its references.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value, or an unknown one.
    None,
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// Text, of which the file may hold only the beginning.
    Text {
        /// The text, or its beginning.
        text: Cow<'a, str>,
        /// Length of the whole text in code units. [`Value::UNKNOWN_LENGTH`] if the file may
        /// contain only the beginning, without a length.
        length: u64,
    },
    /// A number of elements.
    Length(u64),
    /// The name of the object in its runtime, such as the name of a class.
    Name(Cow<'a, str>),
    /// The object's memory, in the byte order of the dumped process.
    Bytes(Cow<'a, [u8]>),
}

/// Formats the value as text. Nothing for no value, and for bytes.
impl fmt::Display for Value<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None | Self::Bytes(_) => Ok(()),
            Self::Boolean(value) => value.fmt(out),
            Self::Integer(value) => value.fmt(out),
            Self::Float(value) => write!(out, "{value:?}"),
            Self::Length(value) => value.fmt(out),
            Self::Text { text, .. } | Self::Name(text) => text.fmt(out),
        }
    }
}

impl Value<'_> {
    /// The length of a text that the file may have cut.
    pub const UNKNOWN_LENGTH: u64 = u64::MAX;
}

/// A field of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'f> {
    /// The class that declares the field. Empty if the file does not state it.
    pub class: &'f str,
    /// The field's name. Empty if the file has none.
    pub name: &'f str,
    /// The declared type: `int`, or `object` for any reference of Java. Empty if the file does not
    /// state it.
    pub type_name: &'f str,
    /// The value.
    pub value: FieldValue<'f>,
}

/// The value of a field or of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldValue<'f> {
    /// A reference to nothing.
    Null,
    /// A reference to an object.
    Object(ObjectId),
    /// A reference to an address at which the dump has no object.
    Address(u64),
    /// A boolean.
    Boolean(bool),
    /// A signed integer.
    Integer(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A floating-point number.
    Float(f64),
    /// A UTF-16 code unit.
    Character(u16),
    /// Text that is part of the object.
    Text(&'f str),
    /// The file has the field but not its value, such as small integers in dumps of Dart 2.
    Omitted,
}

/// The elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// The number of elements.
    pub length: u64,
    /// The declared type of the elements: `int`, `object`. Empty if the file does not state it.
    pub element: &'static str,
}

/// Receives fields one by one, until it breaks.
pub type EachField<'e> = dyn FnMut(Field<'_>) -> ControlFlow<()> + 'e;

/// Receives elements with their index one by one, until it breaks.
pub type EachElement<'e> = dyn FnMut(u64, FieldValue<'_>) -> ControlFlow<()> + 'e;

/// Receives labels of references one by one.
pub type EachLabel<'e> = dyn FnMut(Label) + 'e;

/// The kinds of contents that a file has. Contents of a `false` kind are unknown for all objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Text of strings.
    pub texts: bool,
    /// Bytes of number arrays and of untyped memory.
    pub bytes: bool,
    /// Lengths of arrays and sizes of collections.
    pub lengths: bool,
    /// Whether the elements without a reference are null. Elsewhere they may be numbers, or symbols.
    pub nulls: bool,
    /// Numbers stored as objects.
    pub numbers: bool,
    /// Whether [`ObjectValues::room`] returns the fill of some objects.
    pub rooms: bool,
    /// Whether [`ObjectValues::slots_save`] returns estimates.
    pub slots: bool,
}

/// The fill of a collection or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Whether the object is a collection, which could be left out if it is empty, and not only the
    /// array of one.
    pub is_collection: bool,
    /// Number of slots.
    pub capacity: u64,
    /// Number of slots in use.
    pub used: u64,
    /// Bytes of the unused slots.
    pub spare_bytes: u64,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file. Empty if it is not known.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
}

/// Decodes the contents of objects on demand, from the mapped file.
///
/// Only [`ObjectValues::value`] must be implemented. By default fields are the references with
/// names and elements those with indexes.
pub trait ObjectValues: Send + Sync {
    /// The value of an object.
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v>;

    /// A number that equal texts share, where `text` is the value of the object.
    ///
    /// Replaced values, as in a redacted heap, return the identity of the originals: blank texts
    /// are equal, and a writer that limits repetition would cut them.
    fn text_identity(&self, _heap: &Heap<'_>, _object: ObjectId, text: &str) -> u64 {
        hash(text.as_bytes())
    }

    /// The runtime's hash of a whole text of which the file may have only the beginning. Texts with
    /// the same beginning, length and hash are equal.
    fn whole_text_hash(&self, _heap: &Heap<'_>, _object: ObjectId) -> Option<u64> {
        None
    }

    /// The number of a whole text that the file may store once for many objects. Objects with the same
    /// number have the same text. Others may have it, too. `None` if the file has no such numbers, or only
    /// a part of the text.
    fn stored_text(&self, _heap: &Heap<'_>, _object: ObjectId) -> Option<u64> {
        None
    }

    /// The number of a long text that the file stores once for many objects, so that callers can
    /// process it once. Objects with the same number have the same text. `None` for all other
    /// objects.
    fn long_text(&self, _heap: &Heap<'_>, _object: ObjectId) -> Option<usize> {
        None
    }

    /// The number of long texts. Results of [`ObjectValues::long_text`] are below it.
    fn long_texts(&self) -> usize {
        0
    }

    /// Passes the labels of some references of an object, given by their places among its
    /// references, if the reader decodes labels on request. The default is none.
    fn labels(
        &self,
        _heap: &Heap<'_>,
        _object: ObjectId,
        _places: Range<usize>,
        _each: &mut EachLabel<'_>,
    ) {
    }

    /// The name of a reference, given by its row, if the contents of other objects are more precise
    /// than its label: `['sid-3']` for the value of an entry with this key.
    fn reference_name(&self, _heap: &Heap<'_>, _row: usize) -> Option<String> {
        None
    }

    /// Returns the kinds of contents that the file contains. The default is none.
    fn known(&self) -> Known {
        Known::default()
    }

    /// Passes the fields of an object in the order of their declaration, those of its own class
    /// first. For a class object, passes its static fields.
    fn fields(&self, heap: &Heap<'_>, object: ObjectId, each: &mut EachField<'_>) {
        fields_by_references(heap, object, |_| "", |reference| self.held(heap, reference), each);
    }

    /// The value that a reference of an object leads to: for the default of [`ObjectValues::fields`]
    /// and [`ObjectValues::elements`].
    fn held(&self, _heap: &Heap<'_>, reference: Reference) -> FieldValue<'static> {
        FieldValue::Object(reference.target)
    }

    /// The value of the first field with a name.
    ///
    /// Implement this if a field can be found without visiting all fields before it: analyses call
    /// this for millions of objects.
    fn field<'v>(
        &'v self,
        heap: &'v Heap<'_>,
        object: ObjectId,
        name: &str,
    ) -> Option<FieldValue<'v>> {
        let mut found = None;
        self.fields(heap, object, &mut |field| {
            if field.name != name {
                return ControlFlow::Continue(());
            }
            found = field.value.owned();
            ControlFlow::Break(())
        });
        found
    }

    /// The elements that an object has. `None` if it is not an array.
    fn array(&self, heap: &Heap<'_>, object: ObjectId) -> Option<Array> {
        match self.value(heap, object) {
            Value::Length(length) => Some(Array { length, element: "" }),
            _ => None,
        }
    }

    /// Returns the fill of an object, if the reader knows more than the names of types and fields
    /// show.
    ///
    /// The analysis of waste calls this if [`Known::rooms`] is set, before it identifies
    /// collections by their names.
    fn room(&self, _heap: &Heap<'_>, _object: ObjectId) -> Option<Room> {
        None
    }

    /// Estimates the bytes that an instance would not need if its class declared its attributes
    /// (Python: `__slots__`).
    fn slots_save(&self, _heap: &Heap<'_>, _object: ObjectId) -> Option<u64> {
        None
    }

    /// The location of the code of a function, or of the constructor of an object.
    fn location(&self, _heap: &Heap<'_>, _object: ObjectId) -> Option<SourceLocation> {
        None
    }

    /// Passes the elements of an array from number `start` on. Elements that the file does not have
    /// are skipped.
    fn elements(&self, heap: &Heap<'_>, object: ObjectId, start: u64, each: &mut EachElement<'_>) {
        let held = |reference| self.held(heap, reference);
        elements_by_references((heap, object), start, held, each);
    }
}

impl FieldValue<'_> {
    /// The object that a reference leads to.
    pub fn object(self) -> Option<ObjectId> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The value as a non-negative integer, such as a size or an index.
    pub fn count(self) -> Option<u64> {
        match self {
            Self::Integer(number) => u64::try_from(number).ok(),
            Self::Unsigned(number) => Some(number),
            _ => None,
        }
    }

    /// The value without a borrow. `None` if it borrows text.
    pub fn owned(self) -> Option<FieldValue<'static>> {
        Some(match self {
            Self::Text(_) => return None,
            Self::Null => FieldValue::Null,
            Self::Object(object) => FieldValue::Object(object),
            Self::Address(address) => FieldValue::Address(address),
            Self::Boolean(value) => FieldValue::Boolean(value),
            Self::Integer(value) => FieldValue::Integer(value),
            Self::Unsigned(value) => FieldValue::Unsigned(value),
            Self::Float(value) => FieldValue::Float(value),
            Self::Character(value) => FieldValue::Character(value),
            Self::Omitted => FieldValue::Omitted,
        })
    }
}

impl Heap<'_> {
    /// The value of an object.
    pub fn value(&self, object: ObjectId) -> Value<'_> {
        self.values.as_ref().map_or(Value::None, |values| values.value(self, object))
    }

    /// A number that equal texts share, where `text` is the value of the object.
    pub(crate) fn text_identity(&self, object: ObjectId, text: &str) -> u64 {
        match &self.values {
            Some(values) => values.text_identity(self, object, text),
            None => hash(text.as_bytes()),
        }
    }

    /// The number of a long text that many objects may share.
    pub(crate) fn long_text(&self, object: ObjectId) -> Option<usize> {
        self.values.as_ref()?.long_text(self, object)
    }

    /// The number of a whole text that the file may store once for many objects.
    pub(crate) fn stored_text(&self, object: ObjectId) -> Option<u64> {
        self.values.as_ref()?.stored_text(self, object)
    }

    /// The runtime's hash of a whole text of which the file may have only the beginning.
    pub(crate) fn whole_text_hash(&self, object: ObjectId) -> Option<u64> {
        self.values.as_ref()?.whole_text_hash(self, object)
    }

    /// The name of a reference, given by its row: its label, or the key of the entry that it
    /// belongs to.
    pub fn reference_text(&self, row: usize) -> Cow<'_, str> {
        let key = self.reference_key(row);
        key.map_or_else(|| self.label(row).text(&self.names), Cow::Owned)
    }

    /// The key of the entry that a reference belongs to, as in `['sid-3']`. `None` if it belongs to
    /// none, or the key has no text.
    pub(crate) fn reference_key(&self, row: usize) -> Option<String> {
        self.values.as_ref()?.reference_name(self, row)
    }

    /// Whether an object is an array of Java's characters, which have two bytes.
    pub(crate) fn is_array_of_chars(&self, object: ObjectId) -> bool {
        self.array(object).is_some_and(|array| array.element == "char")
    }

    /// Returns the kinds of contents that the file has.
    pub fn known(&self) -> Known {
        self.values.as_ref().map_or(Known::default(), |values| values.known())
    }

    /// Returns the position where the code of a function, or of the constructor of an object,
    /// begins, if the file states it.
    pub fn location(&self, object: ObjectId) -> Option<SourceLocation> {
        self.values.as_ref()?.location(self, object)
    }

    /// Passes the fields of an object as [`Heap::fields`] lists them, until `each` breaks, without
    /// an allocation for each.
    #[doc(hidden)]
    pub fn each_field(&self, object: ObjectId, mut each: impl FnMut(Field<'_>) -> ControlFlow<()>) {
        match &self.values {
            Some(values) => values.fields(self, object, &mut each),
            None => fields_by_references(self, object, |_| "", target, &mut each),
        }
    }

    /// The value of the first field of an object with a name.
    pub fn field(&self, object: ObjectId, name: &str) -> Option<FieldValue<'_>> {
        self.values.as_ref()?.field(self, object, name)
    }

    /// The elements that an object has. `None` if it is not an array.
    pub fn array(&self, object: ObjectId) -> Option<Array> {
        self.values.as_ref()?.array(self, object)
    }

    /// Returns the fill of an object, if the reader knows it.
    pub fn room(&self, object: ObjectId) -> Option<Room> {
        self.values.as_ref()?.room(self, object)
    }

    /// Estimates the bytes that an instance would not need if its class declared its attributes.
    pub fn slots_save(&self, object: ObjectId) -> Option<u64> {
        self.values.as_ref()?.slots_save(self, object)
    }

    /// Passes the elements of an array from number `start` on, until `each` breaks. Elements that
    /// the file does not have are skipped.
    pub fn elements(
        &self,
        object: ObjectId,
        start: u64,
        mut each: impl FnMut(u64, FieldValue<'_>) -> ControlFlow<()>,
    ) {
        match &self.values {
            Some(values) => values.elements(self, object, start, &mut each),
            None => elements_by_references((self, object), start, target, &mut each),
        }
    }
}

pub(crate) fn hash(contents: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(contents);
    hasher.finish()
}

fn target(reference: Reference) -> FieldValue<'static> {
    FieldValue::Object(reference.target)
}

/// Passes the references of an object that are fields. `class` returns the class that declares a field,
/// `held` its value.
pub(crate) fn fields_by_references<'h>(
    heap: &'h Heap<'_>,
    object: ObjectId,
    class: impl Fn(Reference) -> &'h str,
    held: impl Fn(Reference) -> FieldValue<'static>,
    each: &mut EachField<'_>,
) {
    for reference in heap.references_at(object, heap.fields_of(object)) {
        let LabelKind::Field(name) = reference.label.kind() else { continue };
        let (class, name) = (class(reference), heap.names.text(name));
        if each(Field { class, name, type_name: "", value: held(reference) }).is_break() {
            return;
        }
    }
}

fn elements_by_references(
    (heap, object): (&Heap<'_>, ObjectId),
    start: u64,
    held: impl Fn(Reference) -> FieldValue<'static>,
    each: &mut EachElement<'_>,
) {
    for reference in heap.references_of(object) {
        let LabelKind::Index(index) = reference.label.kind() else { continue };
        if u64::from(index) >= start && each(index.into(), held(reference)).is_break() {
            return;
        }
    }
}
