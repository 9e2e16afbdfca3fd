//! The types of a dump.

use super::line::Line;
use super::roots::{Roots, owned};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{TypeId, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Clone, Debug)]
pub(super) struct TypeLine {
    pub(super) number: u64,
    pub(super) address: u64,
    pub(super) module: String,
    pub(super) name: String,
    pub(super) kind: Contents,
    /// Whether objects refer to their class.
    pub(super) is_heap_type: bool,
}

/// The kind of contents that the objects of a type have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Contents {
    #[default]
    Object,
    /// Objects of a class that lets them have any attributes.
    Instance,
    Text,
    Bytes,
    Integer,
    Float,
    Dictionary,
    List,
    Tuple,
    /// Elements of a set or a deque.
    Elements,
    Class,
    Module,
    Frame,
}

impl Contents {
    /// Whether objects hold others by index.
    pub(super) fn has_elements(self) -> bool {
        matches!(self, Self::List | Self::Tuple | Self::Elements)
    }
}

impl TypeLine {
    pub(super) fn new(line: &Line<'_>) -> Self {
        let other = line.other();
        let kind = match other.type_kind {
            b"str" => Contents::Text,
            b"bytes" => Contents::Bytes,
            b"int" => Contents::Integer,
            b"float" => Contents::Float,
            b"dict" => Contents::Dictionary,
            b"list" => Contents::List,
            b"tuple" => Contents::Tuple,
            b"set" | b"deque" => Contents::Elements,
            b"class" => Contents::Class,
            b"module" => Contents::Module,
            b"frame" => Contents::Frame,
            b"object" if other.is_heap_type && other.has_dictionary => Contents::Instance,
            _ => Contents::Object,
        };
        Self {
            number: line.number,
            address: line.address,
            module: owned(other.module),
            name: owned(other.name),
            kind,
            is_heap_type: other.is_heap_type,
        }
    }

    /// The name with the module; without it for builtins: `dict`.
    pub(super) fn full_name(&self) -> String {
        match &*self.module {
            "builtins" | "" => self.name.clone(),
            module => format!("{module}.{}", self.name),
        }
    }
}

/// A type of the model, with what the loader needs of its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) id: TypeId,
    pub(super) class: Option<u64>,
    /// The address of the class, whether or not objects refer to it.
    pub(super) address: u64,
    pub(super) kind: Contents,
}

/// Adds the types to a heap. Types with one name are one: a class that a function defines is made
/// anew in each call.
pub(super) fn add_types(
    lines: Vec<TypeLine>,
    builder: &mut HeapBuilder<'_>,
) -> FxHashMap<u64, Known> {
    let mut named: FxHashMap<(String, Contents), TypeId> = FxHashMap::default();
    let mut known = FxHashMap::default();
    for line in lines {
        let id = *named.entry((line.full_name(), line.kind)).or_insert_with_key(|(name, kind)| {
            let kind = match kind {
                Contents::Text => TypeKind::Text,
                Contents::Bytes => TypeKind::Bytes,
                Contents::Integer | Contents::Float => TypeKind::Number,
                Contents::Class => TypeKind::Class,
                Contents::Frame => TypeKind::Frame,
                _ => TypeKind::Instance,
            };
            builder.add_type(name, &line.module, kind)
        });
        let class = line.is_heap_type.then_some(line.address);
        known.insert(line.number, Known { id, class, address: line.address, kind: line.kind });
    }
    known
}

/// The types of dictionaries that hold attributes. Both have the usual name, but analyses of memory
/// look through the dictionaries of modules and classes (`outer`), and take those of instances
/// (`inside`) for parts of the instances.
pub(super) struct Scopes {
    pub(super) outer: TypeId,
    pub(super) inside: TypeId,
    /// The type of the instances of each class, by its address.
    pub(super) of_classes: FxHashMap<u64, TypeId>,
    /// The names of modules of Python itself.
    libraries: FxHashSet<String>,
}

impl Scopes {
    pub(super) fn new(
        types: &FxHashMap<u64, Known>,
        roots: &Roots,
        builder: &mut HeapBuilder<'_>,
    ) -> Self {
        Self {
            outer: builder.add_type("dict", "builtins", TypeKind::Class),
            inside: builder.add_type("dict", "builtins", TypeKind::Array),
            of_classes: types.values().map(|known| (known.address, known.id)).collect(),
            libraries: roots.libraries(),
        }
    }

    /// The prefix for the name of a module or class of Python itself; empty for those of the
    /// program.
    pub(super) fn library(&self, name: &str) -> &'static str {
        let ends = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
        let mut outer = ends.filter_map(|end| name.get(..end));
        if outer.any(|module| self.libraries.contains(module)) { "library " } else { "" }
    }
}
