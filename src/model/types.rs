//! Types of objects, and the objects that represent classes.

use super::named::named;
use super::names::NameId;
use super::object::ObjectId;

/// A type: its row in [`Heap::types`](super::heap::Heap::types).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

/// A type of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// The type's name, as users of the runtime know it, including the package:
    /// `java.util.HashMap`.
    pub name: NameId,
    /// The type's package or library: `java.util`, `dart:core`, `net/http`; empty if there is none.
    pub namespace: NameId,
    /// The kind of the type's objects.
    pub kind: TypeKind,
}

/// The way in which the type of an object was found, if the file does not state it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TypeSource {
    /// Not found: the name consists of size and layout, or comes from the file.
    #[default]
    None,
    /// No reference determines the type, but only this type fits.
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

named! {
    /// The kind of objects of a type.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum TypeKind {
        /// Objects with fields.
        Instance = "instance",
        /// Objects with elements, and possibly fields before them.
        Array = "array",
        /// Blocks of bytes without references.
        Bytes = "bytes",
        /// Text.
        Text = "text",
        /// A number, a boolean or a similar value.
        Number = "number",
        /// A class or type as an object.
        Class = "class",
        /// A call frame or a context of variables.
        Frame = "frame",
        /// A synthetic object that the runtime adds to the dump, such as Dart's `Root`.
        Synthetic = "synthetic",
        /// A row of the graph that represents roots and is not an object (MoarVM).
        Root = "root",
    }
    /// The name in JSON.
    pub fn name
}

impl TypeKind {
    /// Returns `true` if the objects are synthetic: not objects of the program.
    pub fn is_made_up(self) -> bool {
        matches!(self, Self::Synthetic | Self::Root)
    }
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
