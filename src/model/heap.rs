//! A heap: objects, their types and sizes, references, roots, in columns.
//!
//! ```text
//! object o:  type_of[o]  shallow(o)  external(o)   references first[o]..first[o + 1]
//! reference: target[r]  label[r]  weak(r)
//! ```
//!
//! Columns are parallel vectors; there is no allocation per object. An [`ObjectId`] is the row of
//! an object in the columns. [`Heap::ids`] maps it to the name of the object in the file (an
//! address or an id).
//!
//! Invariants, which [`Heap::check`] verifies and which hold for every heap that a loader returns:
//! * all columns of objects have the same length, and all columns of references too;
//! * `first` begins with 0, never falls, and ends with the number of references;
//! * every target, every root's object and every external size's object exists, as do all types and
//!   names;
//! * external sizes and ephemerons are sorted by object.

use super::addresses::Addresses;
use super::names::{NameId, Names};
use super::site::AllocationSites;
use std::fmt::Write;
use std::ops::Range;

pub use super::columns::{Offsets, Sizes, TypeIds};
pub use super::label::{Label, LabelKind};
pub use super::root::{Root, RootKind, StackFrame, Thread, ThreadKind};
pub use super::values::{
    Array, EachElement, EachField, Field, FieldValue, Known, ObjectValues, Room, SourceLocation,
    Value,
};
pub use super::warning::{LoadWarning, WarningKind};

/// An object of a [`Heap`]: its row number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// A type: its row in [`Heap::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

impl ObjectId {
    /// The row as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The largest number of objects: ids are 32 bits wide, and the last two values are kept for "none"
/// and a super root.
pub const MAX_OBJECTS: u64 = u32::MAX as u64 - 1;

/// A type of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// The type's name, as users of the runtime know it, including the package:
    /// `java.util.HashMap`.
    pub name: NameId,
    /// Its package or library: `java.util`, `dart:core`, `net/http`; empty if there is none.
    pub namespace: NameId,
    /// The kind of its objects.
    pub kind: TypeKind,
}

/// The way in which the type of an object was found, where the file does not state it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TypeSource {
    /// Not found: the name consists of size and layout, or comes from the file.
    #[default]
    None,
    /// Nothing leads to the object, but only this type fits.
    Guess,
    /// The type agrees with the beginning of the object.
    Partial,
    /// The object is an array of the type.
    Array,
    /// Size and pointers are those of the type.
    Exact,
}

impl TypeSource {
    /// The ways in which a type can be found, the least certain one first.
    pub const NAMED: [Self; 4] = [Self::Guess, Self::Partial, Self::Array, Self::Exact];

    /// The name in JSON; `None` if the type was not found.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Guess => Some("guess"),
            Self::Partial => Some("partial"),
            Self::Array => Some("array"),
            Self::Exact => Some("exact"),
        }
    }
}

/// The kind of objects of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypeKind {
    /// Objects with fields.
    Instance,
    /// Objects with elements, and possibly fields before them.
    Array,
    /// Blocks of bytes without references.
    Bytes,
    /// Text.
    Text,
    /// A number, a boolean or a similar value.
    Number,
    /// A class or type as an object.
    Class,
    /// A call frame or a context of variables.
    Frame,
    /// A synthetic object that the runtime adds to the dump, such as Dart's `Root`.
    Synthetic,
    /// A row of the graph that represents roots and is not an object (MoarVM).
    Root,
}

/// An object that represents a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassObject {
    /// The object.
    pub object: ObjectId,
    /// The display name: `class java.util.HashMap`.
    pub name: NameId,
    /// The type of the instances of the class. `None` if the file does not state it.
    pub instances: Option<TypeId>,
}

/// The references of all objects, in compressed rows: those of object o are `first[o]..first[o +
/// 1]`, in the order of the file.
#[derive(Clone, Debug)]
pub struct References {
    /// One more than there are objects.
    pub(crate) first: Offsets,
    /// The object that the reference points to.
    pub(crate) target: Vec<ObjectId>,
    /// The name of the reference. Empty: no reference has a name.
    pub(crate) label: Vec<Label>,
    /// One bit for each reference that does not keep its target alive. Empty: there is none.
    pub(crate) weak: Vec<u64>,
}

/// A reference, taken out of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The object that the reference points to.
    pub target: ObjectId,
    /// The label of the reference.
    pub label: Label,
    /// Whether the reference is weak: it does not keep its target alive.
    pub weak: bool,
}

impl TypeKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Instance,
        Self::Array,
        Self::Bytes,
        Self::Text,
        Self::Number,
        Self::Class,
        Self::Frame,
        Self::Synthetic,
        Self::Root,
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instance => "instance",
            Self::Array => "array",
            Self::Bytes => "bytes",
            Self::Text => "text",
            Self::Number => "number",
            Self::Class => "class",
            Self::Frame => "frame",
            Self::Synthetic => "synthetic",
            Self::Root => "root",
        }
    }

    /// Returns `true` if the objects are synthetic: not objects of the program.
    pub fn is_made_up(self) -> bool {
        matches!(self, Self::Synthetic | Self::Root)
    }
}

impl References {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.target.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.target.is_empty()
    }

    /// The rows of an object's references.
    #[inline]
    pub fn range(&self, object: ObjectId) -> Range<usize> {
        self.first.get(object.index()) as usize..self.first.get(object.index() + 1) as usize
    }

    /// Whether the reference in this row is weak.
    #[inline]
    pub fn is_weak(&self, row: usize) -> bool {
        self.weak.get(row / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }

    /// Whether any reference in these rows is weak.
    #[inline]
    pub fn any_weak(&self, rows: Range<usize>) -> bool {
        if self.weak.is_empty() || rows.is_empty() {
            return false;
        }
        let (first, last) = (rows.start / 64, (rows.end - 1) / 64);
        let words = self.weak.get(first..).unwrap_or_default().iter().take(last - first + 1);
        // Bits of the first word before the first row do not count, nor do bits of the last word
        // after the last row.
        let before = |word: usize| if word == first { !(u64::MAX << (rows.start % 64)) } else { 0 };
        let behind =
            |word: usize| if word == last { !(u64::MAX >> (63 - (rows.end - 1) % 64)) } else { 0 };
        (first..).zip(words).any(|(word, bits)| bits & !before(word) & !behind(word) != 0)
    }

    /// The targets of the references in these rows that keep them alive.
    pub(crate) fn strong(&self, rows: Range<usize>) -> impl Iterator<Item = ObjectId> + '_ {
        let targets = self.target[rows.clone()].iter().zip(rows);
        targets.filter(|(_, row)| !self.is_weak(*row)).map(|(target, _)| *target)
    }

    /// The number that fits without another allocation.
    #[doc(hidden)]
    pub fn capacity(&self) -> usize {
        self.target.capacity()
    }

    /// The target of the reference in this row.
    #[inline]
    pub fn target(&self, row: usize) -> ObjectId {
        self.target[row]
    }

    /// The label of the reference in this row.
    #[inline]
    pub fn label(&self, row: usize) -> Label {
        self.label.get(row).copied().unwrap_or(Label::NONE)
    }

    /// The object that has the reference in this row.
    pub fn owner(&self, row: usize) -> ObjectId {
        // The last object whose references begin at or before the row: objects without references
        // have the same beginning.
        let (mut low, mut high) = (0, self.first.len().saturating_sub(1));
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.first.get(middle) <= row as u64 {
                true => low = middle,
                false => high = middle,
            }
        }
        ObjectId(low as u32)
    }

    /// The references of an object.
    pub fn of(&self, object: ObjectId) -> impl ExactSizeIterator<Item = Reference> + Clone + '_ {
        self.at(self.range(object))
    }

    /// The references in these rows.
    pub fn at(&self, rows: Range<usize>) -> impl ExactSizeIterator<Item = Reference> + Clone + '_ {
        rows.map(|row| Reference {
            target: self.target[row],
            label: self.label(row),
            weak: self.is_weak(row),
        })
    }
}

/// A pair of references of one object of which the second keeps its target alive if the target of
/// the first is alive. Both are weak references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ephemeron {
    /// The object that has the two references, such as a `_WeakProperty`.
    pub holder: ObjectId,
    /// The object that has to be alive.
    pub key: ObjectId,
    /// The object that the key keeps alive.
    pub value: ObjectId,
}

/// The way in which the file identifies objects.
#[derive(Clone, Debug)]
pub enum Ids {
    /// `#` and the row plus this number.
    Rows(u64),
    /// `#` and the number that the file gives each object, in random order.
    Numbers(Sizes),
    /// By address. Rows are in the order of addresses.
    Addresses(Addresses),
}

/// A heap.
pub struct Heap<'a> {
    /// The texts that everything else refers to.
    pub(crate) names: Names,
    /// The types.
    pub(crate) types: Vec<Type>,
    /// The source of each type. Empty if the file states all types.
    pub(crate) type_sources: Vec<TypeSource>,
    /// Types whose objects are DOM nodes that are not attached to a document (V8).
    pub(crate) detached_types: Vec<TypeId>,
    /// The representation of the objects of each type, where the runtime has such (MoarVM). Empty
    /// elsewhere.
    pub(crate) representations: Vec<NameId>,
    /// The type of each object.
    pub(crate) type_of: TypeIds,
    /// Bytes of each object in the managed heap.
    pub(crate) shallow: Sizes,
    /// Bytes outside it, for objects that have any, sorted by object.
    pub(crate) external: Vec<(ObjectId, u64)>,
    /// The file's own identifier of each object.
    pub(crate) ids: Ids,
    /// References between objects.
    pub(crate) references: References,
    /// The label of references from objects to their classes, each the first reference of its
    /// object. `None` if there are none.
    pub(crate) class_label: Option<Label>,
    /// The objects that represent classes, sorted by object.
    pub(crate) classes: Vec<ClassObject>,
    /// Pairs of references of which one depends on the other, sorted by holder.
    pub(crate) ephemerons: Vec<Ephemeron>,
    /// The roots, which keep objects alive.
    pub(crate) roots: Vec<Root>,
    /// Threads, in the order of the file.
    pub(crate) threads: Vec<Thread>,
    /// Call frames of all threads.
    pub(crate) frames: Vec<StackFrame>,
    /// Names of references that come from the program's data, not from its source code, as far as
    /// the reader knows, sorted. [`Heap::redact`] replaces them.
    pub(crate) keys: Vec<NameId>,
    /// Where objects were allocated.
    pub(crate) sites: AllocationSites,
    /// Bytes of a pointer in the process that was dumped; 0 if that is not known.
    pub(crate) pointer_size: u8,
    /// The byte order of [`Value::Bytes`].
    pub(crate) big_endian: bool,
    /// Decodes the contents of objects other than references.
    pub(crate) values: Option<Box<dyn ObjectValues + 'a>>,
    /// Warnings about data that could not be loaded as the file has it.
    pub(crate) warnings: Vec<LoadWarning>,
}

impl<'a> Heap<'a> {
    /// The number of rows. [`Heap::object_count`] leaves out those that only represent roots.
    pub fn len(&self) -> usize {
        self.type_of.len()
    }

    /// Returns `true` if the object is synthetic: added by the writer of the dump, not an object of
    /// the program.
    #[inline]
    pub fn is_made_up(&self, object: ObjectId) -> bool {
        self.type_of(object).kind.is_made_up()
    }

    /// Returns `true` if the heap has no objects.
    pub fn is_empty(&self) -> bool {
        self.type_of.is_empty()
    }

    /// All objects.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        (0..self.type_of.len() as u32).map(ObjectId)
    }

    /// The number of objects, without rows that only represent roots.
    pub fn object_count(&self) -> u64 {
        if self.types.iter().all(|of| of.kind != TypeKind::Root) {
            return self.len() as u64;
        }
        self.objects().filter(|object| self.type_of(*object).kind != TypeKind::Root).count() as u64
    }

    /// The type of an object.
    #[inline]
    pub fn type_of(&self, object: ObjectId) -> &Type {
        &self.types[self.type_id(object).0 as usize]
    }

    /// The row of an object's type in [`Heap::types`].
    #[inline]
    pub fn type_id(&self, object: ObjectId) -> TypeId {
        self.type_of.get(object.index()).unwrap_or(TypeId(u32::MAX))
    }

    /// Returns how the types of the objects of a type were found, where the file does not say them.
    pub fn type_source(&self, type_id: TypeId) -> TypeSource {
        self.type_sources.get(type_id.0 as usize).copied().unwrap_or_default()
    }

    /// Returns the namespace of a type if the name of the type does not contain it, otherwise an
    /// empty text.
    pub fn qualifier(&self, of: &Type) -> &str {
        let (name, namespace) = (self.names.text(of.name), self.names.text(of.namespace));
        if name.contains(namespace) { "" } else { namespace }
    }

    /// The representation of the objects of a type (MoarVM's REPR, such as `P6opaque`). Empty if
    /// the runtime has none.
    pub fn representation(&self, type_id: TypeId) -> &str {
        self.representations.get(type_id.0 as usize).map_or("", |name| self.names.text(*name))
    }

    /// The name of an object's type.
    pub fn type_name(&self, object: ObjectId) -> &str {
        self.names.text(self.type_of(object).name)
    }

    /// The objects that represent classes, sorted by object.
    pub fn classes(&self) -> &[ClassObject] {
        &self.classes
    }

    /// The class that an object represents.
    pub fn class_object(&self, object: ObjectId) -> Option<&ClassObject> {
        self.class_row(object).map(|row| &self.classes[row])
    }

    #[inline]
    fn class_row(&self, object: ObjectId) -> Option<usize> {
        if self.type_of(object).kind != TypeKind::Class {
            return None;
        }
        self.classes.binary_search_by_key(&object, |class| class.object).ok()
    }

    /// Returns the type whose name is shown for an object, for [`Heap::shown`]: its own type, or
    /// for a class object a number beyond [`Heap::types`] that represents the class.
    #[inline]
    pub fn shown_type(&self, object: ObjectId) -> TypeId {
        match self.class_row(object) {
            Some(row) => TypeId((self.types.len() + row) as u32),
            None => self.type_id(object),
        }
    }

    /// The type under which objects are merged: as [`Heap::shown_type`] if instances of the class
    /// are known, because then the object has the static fields of its class. Otherwise its own
    /// type.
    #[inline]
    pub fn merged_type(&self, object: ObjectId) -> TypeId {
        match self.class_row(object).filter(|row| self.classes[*row].instances.is_some()) {
            Some(row) => TypeId((self.types.len() + row) as u32),
            None => self.type_id(object),
        }
    }

    /// The type that [`Heap::shown_type`] gave: `class java.util.HashMap` for a class object.
    pub fn shown(&self, of: TypeId) -> Type {
        match self.types.get(of.0 as usize) {
            Some(of) => *of,
            None => {
                let name = self
                    .classes
                    .get(of.0 as usize - self.types.len())
                    .map_or(Names::EMPTY, |class| class.name);
                Type { name, namespace: Names::EMPTY, kind: TypeKind::Class }
            }
        }
    }

    /// The name by which an object is shown: that of its type, or `class java.util.HashMap`.
    pub fn shown_name(&self, object: ObjectId) -> &str {
        self.names.text(self.shown(self.shown_type(object)).name)
    }

    /// The bytes of an object in the managed heap.
    #[inline]
    pub fn shallow_bytes(&self, object: ObjectId) -> u64 {
        self.shallow.get(object.index())
    }

    /// The bytes that an object holds outside the managed heap.
    pub fn external_bytes(&self, object: ObjectId) -> u64 {
        self.external
            .binary_search_by_key(&object, |(object, _)| *object)
            .map_or(0, |index| self.external[index].1)
    }

    /// The objects that hold bytes outside the managed heap, sorted by object, with those bytes.
    pub fn externals(&self) -> &[(ObjectId, u64)] {
        &self.external
    }

    /// The strings that types, labels, roots and frames refer to.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The types. [`TypeId`] is an index into this slice.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The references between objects.
    pub fn references(&self) -> &References {
        &self.references
    }

    /// The ephemerons, sorted by holder.
    pub fn ephemerons(&self) -> &[Ephemeron] {
        &self.ephemerons
    }

    /// The roots, which keep objects alive.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The threads, in the order of the file.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The objects that represent isolates (Dart).
    pub fn isolates(&self) -> Vec<ObjectId> {
        let isolates = self.threads.iter().filter(|thread| thread.kind == ThreadKind::Isolate);
        isolates.filter_map(|thread| thread.object).collect()
    }

    /// The call frames of all threads. [`Thread::frames`] is a range of this slice.
    pub fn frames(&self) -> &[StackFrame] {
        &self.frames
    }

    /// Where objects were allocated, if the file states it.
    pub fn sites(&self) -> &AllocationSites {
        &self.sites
    }

    /// The way in which the file identifies objects.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The size of a pointer in the dumped process, in bytes. 0 if unknown.
    pub fn pointer_size(&self) -> u8 {
        self.pointer_size
    }

    /// Returns `true` if the bytes of [`Value::Bytes`] are in big-endian order.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// Warnings about data that could not be loaded as the file has it.
    pub fn warnings(&self) -> &[LoadWarning] {
        &self.warnings
    }

    /// The class of an object, if a reference names it.
    pub fn class_of(&self, object: ObjectId) -> Option<ObjectId> {
        let first = self.references.range(object).start;
        (self.fields_of(object).start > first).then(|| self.references.target[first])
    }

    /// The rows of an object's references, without the one to its class.
    #[inline]
    pub fn fields_of(&self, object: ObjectId) -> Range<usize> {
        let mut rows = self.references.range(object);
        if self.class_label.is_some()
            && !rows.is_empty()
            && self.references.label.get(rows.start).copied() == self.class_label
        {
            rows.start += 1;
        }
        rows
    }

    /// The id of an object in the file: `0xc000012345` or `#12`.
    pub fn id(&self, object: ObjectId) -> String {
        let mut id = String::new();
        self.append_id(object, &mut id);
        id
    }

    /// Appends the id of an object in the file.
    pub fn append_id(&self, object: ObjectId, text: &mut String) {
        let written = match &self.ids {
            Ids::Rows(first) => write!(text, "#{}", u64::from(object.0) + first),
            Ids::Numbers(numbers) => write!(text, "#{}", numbers.get(object.index())),
            Ids::Addresses(addresses) => {
                write!(text, "{:#x}", addresses.address(object).unwrap_or(0))
            }
        };
        // Writing to a string cannot fail.
        written.unwrap_or_default();
    }

    /// Finds an object by its id in the file, or by an address inside the object. `@12`, as Chrome
    /// DevTools writes ids, and `12` are `#12`.
    pub fn find(&self, id: &str) -> Option<ObjectId> {
        let bare = Some(id).filter(|id| id.starts_with(|c: char| c.is_ascii_digit()));
        match (&self.ids, id.strip_prefix(['#', '@']).or(bare), id.strip_prefix("0x")) {
            (Ids::Numbers(numbers), Some(number), _) => {
                let number = number.parse::<u64>().ok()?;
                let row = numbers.iter().position(|other| other == number)?;
                Some(ObjectId(row as u32))
            }
            (Ids::Rows(first), Some(number), _) => {
                let row = number.parse::<u64>().ok()?.checked_sub(*first)?;
                (row < self.len() as u64).then_some(ObjectId(row as u32))
            }
            (Ids::Addresses(addresses), _, Some(digits)) => {
                let address = u64::from_str_radix(digits, 16).ok()?;
                let object = addresses.floor(address)?;
                let inside = address - addresses.address(object)?;
                (inside == 0 || inside < self.shallow.get(object.index())).then_some(object)
            }
            _ => None,
        }
    }

    /// Returns the object that represents all roots, in formats whose graph contains one (Dart,
    /// MoarVM). It is the first root. The other roots name the targets of this and other synthetic
    /// objects, so reachability and dominators may start at this object alone.
    pub fn root_object(&self) -> Option<ObjectId> {
        let first = self.roots.first()?.object;
        let kind = self.types.get(self.type_of.get(first.index())?.0 as usize)?.kind;
        kind.is_made_up().then_some(first)
    }

    /// Verifies the invariants. The error names the invariant that is broken.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        let objects = self.len();
        let exists = |object: ObjectId| object.index() < objects;
        let named = |name: NameId| (name.0 as usize) < self.names.len();
        let references = self.references.len();
        let holds =
            |condition: bool, what: &'static str| if condition { Ok(()) } else { Err(what) };
        holds(objects as u64 <= MAX_OBJECTS, "there are too many objects")?;
        holds(self.shallow.len() == objects, "a size for each object")?;
        holds(
            self.type_of.iter().all(|type_id| (type_id.0 as usize) < self.types.len()),
            "the types of objects exist",
        )?;
        holds(
            self.types.iter().all(|kind| named(kind.name) && named(kind.namespace)),
            "the names of types exist",
        )?;
        holds(self.references.first.len() == objects + 1, "one more first reference than objects")?;
        let mut first = (0..=objects).map(|row| self.references.first.get(row));
        holds(
            first.next() == Some(0) && first.next_back().unwrap_or(0) == references as u64,
            "references begin at 0 and end at their number",
        )?;
        holds(
            (0..objects)
                .all(|row| self.references.first.get(row) <= self.references.first.get(row + 1)),
            "first references never fall",
        )?;
        holds(
            self.references.label.is_empty() || self.references.label.len() == references,
            "a label for each reference or for none",
        )?;
        holds(
            self.references.weak.is_empty()
                || self.references.weak.len() == references.div_ceil(64),
            "a bit for each reference or for none",
        )?;
        holds(self.references.target.iter().all(|target| exists(*target)), "targets exist")?;
        holds(
            self.external.is_sorted_by(|a, b| a.0 < b.0)
                && self.external.iter().all(|(object, _)| exists(*object)),
            "external sizes are sorted",
        )?;
        holds(
            self.roots.iter().all(|root| exists(root.object) && named(root.group)),
            "roots hold objects and have names",
        )?;
        holds(
            self.roots
                .iter()
                .all(|root| root.frame.is_none_or(|frame| (frame as usize) < self.frames.len())),
            "frames of roots exist",
        )?;
        holds(
            self.roots.iter().all(|root| {
                root.thread.is_none_or(|thread| (thread as usize) < self.threads.len())
            }),
            "threads of roots exist",
        )?;
        holds(
            self.threads.iter().all(|thread| thread.frames.end as usize <= self.frames.len()),
            "frames of threads exist",
        )?;
        holds(self.classes.is_sorted_by(|a, b| a.object < b.object), "class objects are sorted")?;
        holds(
            self.classes.iter().all(|class| {
                let has_type = class.instances.is_none_or(|of| (of.0 as usize) < self.types.len());
                exists(class.object) && named(class.name) && has_type
            }),
            "class objects, their names and types exist",
        )?;
        holds(self.ephemerons.is_sorted_by_key(|pair| pair.holder), "ephemerons are sorted")?;
        holds(
            self.ephemerons
                .iter()
                .all(|pair| exists(pair.holder) && exists(pair.key) && exists(pair.value)),
            "ephemerons are of objects",
        )?;
        match &self.ids {
            Ids::Rows(_) => Ok(()),
            Ids::Numbers(numbers) => holds(numbers.len() == objects, "a number for each object"),
            Ids::Addresses(addresses) => {
                holds(addresses.len() == objects, "an address for each object")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_weak_looks_at_the_bits_of_the_rows_only() {
        for weak in [0, 1, 63, 64, 100, 127, 128, 191] {
            let mut references = References {
                first: Offsets::zeros(1, 0),
                target: Vec::new(),
                label: Vec::new(),
                weak: vec![0; 3],
            };
            references.weak[weak / 64] |= 1 << (weak % 64);
            for start in 0..200 {
                for end in start..200 {
                    let expected = (start..end).any(|row| references.is_weak(row));
                    assert_eq!(
                        references.any_weak(start..end),
                        expected,
                        "{weak} in {start}..{end}"
                    );
                }
            }
        }
    }
}
