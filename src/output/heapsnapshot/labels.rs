//! Names of types and edges.

use crate::model::distinct::Distinct;
use crate::model::heap::{Heap, Label, Type, TypeId, TypeKind};
use crate::model::names::NameId;
use rustc_hash::FxHashMap;

/// A composed name of edges: `+0x10`, `[3]`, `main.worker buf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// The function of a call frame.
    pub(super) function: Option<NameId>,
    pub(super) label: Label,
}

/// Composed names by the numbers under which edges refer to them, in the order of first use.
#[derive(Debug, Default)]
pub(super) struct Labels {
    places: Distinct<Place>,
    last: Option<(Place, u32)>,
}

impl Labels {
    /// The number of a name.
    #[inline]
    pub(super) fn number(&mut self, place: Place) -> u64 {
        if let Some((last, number)) = self.last
            && last == place
        {
            return number.into();
        }
        let number = self.places.number(place);
        self.last = Some((place, number));
        number.into()
    }

    /// All names, in the order of their numbers.
    pub(super) fn names<'s>(&'s self, heap: &'s Heap<'_>) -> impl Iterator<Item = String> + 's {
        self.places.all.iter().map(|place| {
            let label = place.label.text(&heap.names);
            match place.function.map(|function| heap.names.text(function)) {
                Some(function) if label.is_empty() => function.to_owned(),
                Some(function) => format!("{function} {label}"),
                None => label.into_owned(),
            }
        })
    }
}

/// The names for objects of types. Each name is stored once, because readers take strings of
/// different numbers for different types.
pub(super) struct TypeNames {
    pub(super) texts: Vec<String>,
    of: Vec<u32>,
    nodes: Vec<u64>,
}

impl TypeNames {
    pub(super) fn of(heap: &Heap<'_>) -> Self {
        let mut texts = Distinct::default();
        let classes = heap.classes.iter().map(|class| heap.names.text(class.name).to_owned());
        let of =
            type_names(heap).into_iter().chain(classes).map(|name| texts.number(name)).collect();
        let nodes = heap.types.iter().map(|type_| node_type(heap, type_)).collect();
        Self { texts: texts.all, of, nodes }
    }

    /// The node type of a type's objects, as its position in [`NODE_TYPES`].
    #[inline]
    pub(super) fn node(&self, type_id: TypeId) -> u64 {
        self.nodes[type_id.0 as usize]
    }

    /// Whether the objects of a type can be parts of JavaScript objects: shapes, which are hidden
    /// objects in older versions, and properties and elements, which are arrays or, where compiled code
    /// refers to them, code.
    #[inline]
    pub(super) fn is_part(&self, type_id: TypeId) -> bool {
        matches!(self.node(type_id), HIDDEN | ARRAY | CODE | SHAPE)
    }

    /// The number of a type's name, or of that of a class object.
    #[inline]
    pub(super) fn number(&self, type_id: TypeId) -> usize {
        self.of[type_id.0 as usize] as usize
    }

    pub(super) fn text(&self, type_id: TypeId) -> &str {
        &self.texts[self.number(type_id)]
    }
}

/// The node types that snapshots declare.
pub(super) const NODE_TYPES: [&str; 16] = [
    "hidden",
    "array",
    "string",
    "object",
    "code",
    "closure",
    "regexp",
    "number",
    "native",
    "synthetic",
    "concatenated string",
    "sliced string",
    "symbol",
    "bigint",
    "object shape",
    "wasm object",
];
const HIDDEN: u64 = 0;
const ARRAY: u64 = 1;
const STRING: u64 = 2;
const OBJECT: u64 = 3;
const CODE: u64 = 4;
pub(super) const SYNTHETIC: u64 = 9;
pub(super) const NUMBERS: [u64; 2] = [7, 13];
const SHAPE: u64 = 14;

/// The node type of the objects of a type: in heaps of V8 that of the original, which is the type's
/// namespace; elsewhere `string` for texts and `object`.
fn node_type(heap: &Heap<'_>, type_: &Type) -> u64 {
    let (name, namespace) = (heap.names.text(type_.name), heap.names.text(type_.namespace));
    let is_of_v8 = match namespace {
        "hidden" => name == "(system)",
        "code" => name == "(compiled code)",
        "closure" => name == "Function",
        "regexp" => name == "RegExp",
        "native" => type_.kind == TypeKind::Instance,
        _ => name.strip_prefix('(').and_then(|name| name.strip_suffix(')')) == Some(namespace),
    };
    let of_v8 = NODE_TYPES.iter().position(|known| is_of_v8 && *known == namespace);
    match (type_.kind, of_v8) {
        (TypeKind::Synthetic | TypeKind::Root, _) => SYNTHETIC,
        (TypeKind::Text, None) => STRING,
        (_, None) => OBJECT,
        (_, Some(of_v8)) => of_v8 as u64,
    }
}

/// Whether a type is one of those into which readers divide the plain objects of V8.
fn is_plain(heap: &Heap<'_>, type_: &Type) -> bool {
    heap.names.text(type_.namespace) == "object" && heap.names.text(type_.name).starts_with('{')
}

/// The names for objects of each type: the type's name; with its namespace if several types have
/// the name, because readers put objects of equal names together; in parentheses if the objects
/// represent roots, as V8 writes those.
fn type_names(heap: &Heap<'_>) -> Vec<String> {
    let mut namespaces = FxHashMap::<NameId, Option<NameId>>::default();
    for Type { name, namespace, .. } in &heap.types {
        let known = namespaces.entry(*name).or_insert(Some(*namespace));
        if *known != Some(*namespace) {
            *known = None;
        }
    }
    let name = |type_: &Type| {
        let (name, namespace) = (heap.names.text(type_.name), heap.names.text(type_.namespace));
        match (type_.kind, name, namespaces.get(&type_.name)) {
            (_, "", _) => "<unnamed>".to_owned(),
            _ if is_plain(heap, type_) => "Object".to_owned(),
            (TypeKind::Synthetic | TypeKind::Root, ..) if !name.starts_with('(') => {
                format!("({name})")
            }
            (_, _, Some(None)) if !namespace.is_empty() && !NODE_TYPES.contains(&namespace) => {
                format!("{name} ({namespace})")
            }
            _ => name.to_owned(),
        }
    };
    heap.types.iter().map(name).collect()
}
