//! A heap: objects, their types and sizes, references, roots, in columns.
//!
//! ```text
//! object o:  type_of[o]  shallow(o)  external(o)   references first[o]..first[o + 1]
//! reference: target[r]  label(r)  weak(r)
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

mod check;
mod labels;
mod roles;

use super::addresses::Addresses;
use super::names::{NameId, Names};
use super::roles::Roles;
use super::site::AllocationSites;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::OnceLock;

pub use super::columns::{Offsets, Sizes, TypeIds};
pub use super::label::{Label, LabelKind};
pub use super::object::{MAX_OBJECTS, ObjectId};
pub use super::references::{Ephemeron, Reference, References};
pub use super::roles::Role;
pub use super::root::{Creation, Root, RootKind, StackFrame, Thread, ThreadKind};
pub use super::types::{ClassObject, Type, TypeId, TypeKind, TypeSource};
pub use super::values::{
    Array, EachElement, EachField, EachLabel, Field, FieldValue, Known, ObjectValues, Room,
    SourceLocation, Value,
};
pub use super::warning::{LoadWarning, WarningKind};

/// The way in which the file identifies objects.
#[derive(Clone, Debug)]
pub enum Ids {
    /// `#` and the row plus this number.
    Rows(u64),
    /// `#` and the number of each object in the file, in random order.
    Numbers(Sizes),
    /// By address. Rows are in the order of addresses.
    Addresses(Addresses),
}

impl Ids {
    /// The numbers in the ids of an object and all later ones. Cheaper than looking up each.
    pub(crate) fn numbers_from(&self, object: ObjectId) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            Self::Rows(first) => Box::new(u64::from(object.0) + first..),
            Self::Numbers(numbers) => {
                Box::new((object.index()..numbers.len()).map(|row| numbers.get(row)))
            }
            Self::Addresses(addresses) => addresses.iter_from(object),
        }
    }

    fn number(&self, object: ObjectId) -> u64 {
        match self {
            Self::Rows(first) => u64::from(object.0) + first,
            Self::Numbers(numbers) => numbers.get(object.index()),
            Self::Addresses(addresses) => addresses.address(object).unwrap_or(0),
        }
    }

    /// Appends the id with a number: `0xc000012345`, in a fraction of the time of `write!`.
    pub(crate) fn append(&self, number: u64, text: &mut String) {
        if !matches!(self, Self::Addresses(_)) {
            text.push('#');
            text.push_str(itoa::Buffer::new().format(number));
            return;
        }
        let digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(1);
        text.push_str("0x");
        for digit in (0..digits).rev() {
            let value = (number >> (4 * digit)) as u32 & 0xf;
            text.push(char::from_digit(value, 16).unwrap_or('0'));
        }
    }
}

/// A heap.
pub struct Heap<'a> {
    /// The strings that all other columns refer to.
    pub(crate) names: Names,
    pub(crate) types: Vec<Type>,
    pub(crate) type_sources: Vec<TypeSource>,
    /// Types whose objects are DOM nodes that are not attached to a document (V8).
    pub(crate) detached_types: Vec<TypeId>,
    /// Types whose objects are collections, although no table of roles has their names, with the word for such
    /// a collection (Ruby).
    pub(crate) collection_types: Vec<(TypeId, &'static str)>,
    /// The generated names of types that have other names in their source.
    pub(crate) generated_types: FxHashMap<TypeId, String>,
    /// The types of `generated_types` by name and namespace, computed on first use.
    pub(crate) generated_by_name: OnceLock<FxHashMap<(NameId, NameId), TypeId>>,
    /// The representation of the objects of each type, if the runtime has representations (MoarVM).
    /// Otherwise empty.
    pub(crate) representations: Vec<NameId>,
    pub(crate) type_of: TypeIds,
    pub(crate) shallow: Sizes,
    pub(crate) external: Vec<(ObjectId, u64)>,
    pub(crate) ids: Ids,
    pub(crate) references: References,
    /// Which objects have a reference to their class, as their first reference.
    pub(crate) class_references: ClassReferences,
    pub(crate) classes: Vec<ClassObject>,
    pub(crate) ephemerons: Vec<Ephemeron>,
    pub(crate) roots: Vec<Root>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) frames: Vec<StackFrame>,
    /// Names of references that may come from the program's data, not from its source code, sorted.
    /// [`Heap::redact`] replaces them.
    pub(crate) keys: Vec<KeyName>,
    /// Types whose names may have data after the first word. [`Heap::redact`] cuts them.
    pub(crate) quoting_types: Vec<TypeId>,
    /// The roles of types that the reader knows by name.
    pub(crate) roles: Roles,
    pub(crate) sites: AllocationSites,
    /// The meaning of objects that no root reaches.
    pub(crate) unreached: Unreached,
    pub(crate) pointer_size: u8,
    pub(crate) big_endian: bool,
    pub(crate) values: Option<Box<dyn ObjectValues + 'a>>,
    pub(crate) warnings: Vec<LoadWarning>,
}

/// Which objects have a reference to their class, as their first reference.
#[derive(Clone, Debug, Default)]
pub(crate) enum ClassReferences {
    /// None.
    #[default]
    None,
    /// Those whose first reference has this label.
    Labelled(Label),
    /// Those of some types that have references and are not class objects themselves.
    OfTypes {
        /// For each type, whether its objects have such a reference. May end before the last type.
        types: Vec<bool>,
        /// The label of the references.
        label: Label,
    },
}

impl ClassReferences {
    /// The label of references from objects to their classes. `None` if there are none.
    pub(crate) fn label(&self) -> Option<Label> {
        match self {
            Self::None => None,
            Self::Labelled(label) | Self::OfTypes { label, .. } => Some(*label),
        }
    }
}

/// A name of references that may be data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyName {
    pub(crate) name: NameId,
    /// Whether the name could also be an identifier in source code.
    pub(crate) is_like_code: bool,
}

/// The meaning of objects that no root reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unreached {
    /// Garbage that waits for the next collection.
    #[default]
    Garbage,
    /// Leaks: the runtime frees an object as soon as nothing refers to it (Perl).
    Leaked,
    /// Cycles: the runtime frees all else at once, and cycles when its collector runs, if that is
    /// not turned off (Python).
    Cycles,
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

    /// The generated name of the types with a name and a namespace, if it differs from that name.
    pub fn generated_name(&self, name: &str, namespace: &str) -> Option<&str> {
        let by_name = self.generated_by_name.get_or_init(|| {
            // Several types share one generated name only if that name stands for several classes.
            // The first type counts.
            let mut types: Vec<TypeId> = self.generated_types.keys().copied().collect();
            types.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
            let names = |id: TypeId| &self.types[id.0 as usize];
            types.into_iter().map(|id| ((names(id).name, names(id).namespace), id)).collect()
        });
        let id = by_name.get(&(self.names.find(name)?, self.names.find(namespace)?))?;
        self.generated_types.get(id).map(String::as_str)
    }

    /// Returns `true` if the heap has no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All objects.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        (0..self.type_of.len() as u32).map(ObjectId)
    }

    /// The objects of the types with this name.
    pub fn objects_of_type(&self, name: &str) -> impl Iterator<Item = ObjectId> + use<'_> {
        let types = self.types.iter();
        let wanted: Vec<bool> = types.map(|type_| self.names.text(type_.name) == name).collect();
        self.objects()
            .filter(move |object| wanted.get(self.type_id(*object).0 as usize) == Some(&true))
    }

    /// The number of objects, without rows that only represent roots.
    pub fn object_count(&self) -> u64 {
        if self.types.iter().all(|type_| type_.kind != TypeKind::Root) {
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

    /// Returns how the reader found the types of the objects of a type, if the file does not state
    /// them.
    pub fn type_source(&self, type_id: TypeId) -> TypeSource {
        self.type_sources.get(type_id.0 as usize).copied().unwrap_or_default()
    }

    /// Returns the namespace of a type if the name of the type does not contain it, otherwise an
    /// empty text.
    pub fn qualifier(&self, type_: &Type) -> &str {
        let (name, namespace) = (self.names.text(type_.name), self.names.text(type_.namespace));
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

    /// The type under which objects are merged: that of [`Heap::shown_type`] if instances of the
    /// class are known, because then the object has the static fields of its class. Otherwise its
    /// own type.
    #[inline]
    pub fn merged_type(&self, object: ObjectId) -> TypeId {
        match self.class_row(object).filter(|row| self.classes[*row].instances.is_some()) {
            Some(row) => TypeId((self.types.len() + row) as u32),
            None => self.type_id(object),
        }
    }

    /// The type that [`Heap::shown_type`] gave: `class java.util.HashMap` for a class object.
    pub fn shown(&self, id: TypeId) -> Type {
        match self.types.get(id.0 as usize) {
            Some(type_) => *type_,
            None => {
                let name = self
                    .classes
                    .get(id.0 as usize - self.types.len())
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
    #[inline]
    pub fn external_bytes(&self, object: ObjectId) -> u64 {
        self.external
            .binary_search_by_key(&object, |(object, _)| *object)
            .map_or(0, |index| self.external[index].1)
    }

    /// The bytes of an object in and outside of the managed heap.
    #[inline]
    pub fn own_bytes(&self, object: ObjectId) -> u64 {
        self.shallow_bytes(object).saturating_add(self.external_bytes(object))
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

    /// The references between objects, without labels: those are in [`Heap::references_of`].
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

    /// The places where objects were allocated, if the file states them.
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

    /// Warnings about data that could not be loaded as it is in the file.
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
        let has_class = match &self.class_references {
            _ if rows.is_empty() => false,
            ClassReferences::None => false,
            ClassReferences::Labelled(label) => {
                self.references.label.get(rows.start) == Some(label)
            }
            ClassReferences::OfTypes { types, .. } => {
                types.get(self.type_id(object).0 as usize) == Some(&true)
                    && self.class_row(object).is_none()
            }
        };
        rows.start += usize::from(has_class);
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
        self.ids.append(self.ids.number(object), text);
    }

    /// Finds an object by its id in the file, or by an address inside the object. `@12`, the
    /// notation of Chrome DevTools, and `12` mean `#12`.
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
}
