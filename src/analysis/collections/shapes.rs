//! The shapes of known collections: which fields hold the number of entries, the table, keys and
//! values.
//!
//! Names of fields are paths: `head.node` is the field `node` of the object in the field `head`,
//! and `val|value` is whichever of the two exists. Underscores at either end are ignored, because
//! Dart added and removed them over time, and so are the prefixes that Scala's compiler puts before
//! private fields (`scala$collection$mutable$HashMap$$table`).

mod known;
mod libraries;

use crate::model::named::named;
use CollectionKind::{Buffer, List, Map, Set};
use known::RUNTIMES;
use libraries::LIBRARIES;

/// All known shapes. The first one that names a class counts.
pub(super) fn known_shapes() -> impl Iterator<Item = &'static Shape> {
    RUNTIMES.iter().chain(LIBRARIES)
}

named! {
    /// The kind of a collection, as its users see it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectionKind {
        /// Elements in an order: lists, queues, stacks.
        List = "list",
        /// Elements that differ.
        Set = "set",
        /// Keys with values.
        Map = "map",
        /// Text or bytes under construction.
        Buffer = "buffer",
    }
    /// The name in JSON.
    pub fn name
}

/// The fields of a collection.
#[derive(Debug)]
pub(super) struct Shape {
    /// Classes with this shape. Subclasses also have it, if the file states which class declares a
    /// field.
    pub names: &'static [&'static str],
    /// Beginning of the namespace.
    pub namespace: &'static str,
    pub kind: CollectionKind,
    pub size: Size,
    pub layout: Layout,
    /// The field of the array that grows with the collection. Empty if there is none.
    pub storage: &'static str,
    /// The maximum fill of that array.
    pub fill: Fill,
}

/// The place where the number of entries is stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Size {
    /// In a field.
    Field(&'static str),
    /// The collection's own length, in elements of its array: `each` per entry, including deleted
    /// entries, which the field `deleted` counts.
    Length { each: u64, deleted: &'static str },
    /// All elements of the array.
    Array,
    /// From one index to another in a ring.
    Ring { head: &'static str, tail: &'static str },
    /// A number in a field, plus those in cells beside it.
    Cells { base: &'static str, cells: &'static str, cell: &'static str },
    /// The size of the collection in this field.
    Of(&'static str),
    /// Not stored: entries are counted.
    Counted,
}

/// The place where the entries are stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// Elements of the array in a field, from number `start` on. Without a size, nulls are not
    /// elements.
    Array { array: &'static str, start: &'static str },
    /// Elements of an array, from `head` on, around its end.
    Ring { array: &'static str, head: &'static str },
    /// An array whose elements that are not null are elements of a set, in any order.
    Open { table: &'static str },
    /// Keys and values in turn in one array.
    Pairs { table: &'static str },
    /// Keys and values in separate arrays.
    Parallel { keys: &'static str, values: &'static str },
    /// An array of chains of nodes. A set has no value.
    Chains { table: &'static str, next: &'static str, key: &'static str, value: &'static str },
    /// One chain of nodes, which begins in a field (empty: with the collection itself).
    Linked { first: &'static str, next: &'static str, key: &'static str, value: &'static str },
    /// A binary tree.
    Tree {
        root: &'static str,
        left: &'static str,
        right: &'static str,
        key: &'static str,
        value: &'static str,
    },
    /// Fields for each key and value; the value is empty in lists and sets.
    Fields(&'static [(&'static str, &'static str)]),
    /// Arrays in fields, nested to a depth, one after the other.
    Nested(&'static [(&'static str, u8)]),
    /// Elements of one array, of which a number, or an array of them, has a bit for each.
    Bits { universe: &'static str, bits: &'static str },
    /// Nodes below nodes, from the roots on, recognized by the prefix of their type's name. A node
    /// has an array of nodes and entries in any mixture; an entry may be a key and a value in turn
    /// (`pairs`), or a leaf with fields for both. Several roots in one text are alternatives.
    Nodes {
        roots: &'static [&'static str],
        node: &'static str,
        children: &'static str,
        leaf: [&'static str; 2],
        pairs: bool,
    },
    /// Scala's compressed hash trie: a node has elements, then nodes in reverse. `each` is the
    /// number of elements for each entry.
    Trie { root: &'static str, each: u64 },
    /// An array of segments, each with an array of chains of nodes.
    Segments {
        segments: &'static str,
        table: &'static str,
        next: &'static str,
        key: &'static str,
        value: &'static str,
    },
    /// The collection in a field.
    Of(&'static str),
    /// The map that [`Size::Of`] names, whose values are objects with the values in a field.
    Within { value: &'static str },
}

/// The maximum fill of a collection's array before it grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Full, with this many elements per entry.
    Full(u64),
    /// A hash table whose length is a power of two and which grows when more than three quarters
    /// are in use, with this many elements per entry.
    Hashed(u64),
}

const LIST: Shape = Shape {
    names: &[],
    namespace: "",
    kind: List,
    size: Size::Array,
    layout: Layout::Of(""),
    storage: "",
    fill: Fill::Full(1),
};

/// A list in the first elements of an array.
const fn list(names: &'static [&'static str], array: &'static str, size: &'static str) -> Shape {
    Shape {
        names,
        size: Size::Field(size),
        layout: Layout::Array { array, start: "" },
        storage: array,
        ..LIST
    }
}

/// A list that is exactly its array.
const fn exact(names: &'static [&'static str], array: &'static str) -> Shape {
    Shape { names, layout: Layout::Array { array, start: "" }, ..LIST }
}

/// A text or bytes under construction.
const fn buffer(names: &'static [&'static str], array: &'static str, size: &'static str) -> Shape {
    Shape { kind: Buffer, ..list(names, array, size) }
}

/// A wrapper around another collection.
const fn of(names: &'static [&'static str], kind: CollectionKind, field: &'static str) -> Shape {
    Shape { names, kind, size: Size::Of(field), layout: Layout::Of(field), ..LIST }
}

/// A hash table of chains.
const fn chains(
    names: &'static [&'static str],
    table: &'static str,
    size: &'static str,
    node: [&'static str; 3],
) -> Shape {
    let [key, value, next] = node;
    let kind = if value.is_empty() { Set } else { Map };
    let layout = Layout::Chains { table, next, key, value };
    Shape {
        names,
        kind,
        size: Size::Field(size),
        layout,
        storage: table,
        fill: Fill::Hashed(1),
        ..LIST
    }
}

/// A hash table whose entries are chained as well.
const fn linked(
    names: &'static [&'static str],
    first: &'static str,
    size: Size,
    node: [&'static str; 3],
) -> Shape {
    let [key, value, next] = node;
    let kind = if value.is_empty() { List } else { Map };
    Shape { names, kind, size, layout: Layout::Linked { first, next, key, value }, ..LIST }
}

const fn tree(
    names: &'static [&'static str],
    root: &'static str,
    size: Size,
    node: [&'static str; 4],
) -> Shape {
    let [left, right, key, value] = node;
    let kind = if value.is_empty() { Set } else { Map };
    Shape { names, kind, size, layout: Layout::Tree { root, left, right, key, value }, ..LIST }
}

const fn fields(
    names: &'static [&'static str],
    kind: CollectionKind,
    all: &'static [(&'static str, &'static str)],
) -> Shape {
    Shape { names, kind, size: Size::Counted, layout: Layout::Fields(all), ..LIST }
}

/// A hash table in one array, without nodes.
const fn open(
    names: &'static [&'static str],
    table: &'static str,
    size: &'static str,
    each: u64,
) -> Shape {
    let (kind, layout) =
        if each == 2 { (Map, Layout::Pairs { table }) } else { (Set, Layout::Open { table }) };
    Shape {
        names,
        kind,
        size: Size::Field(size),
        layout,
        storage: table,
        fill: Fill::Hashed(each),
        ..LIST
    }
}

/// A hash table of Dart: keys (and values) in the order of insertion, with an index beside them.
const fn dart(names: &'static [&'static str], each: u64) -> Shape {
    let (kind, layout) = if each == 2 {
        (Map, Layout::Pairs { table: "data" })
    } else {
        (Set, Layout::Open { table: "data" })
    };
    let size = Size::Length { each, deleted: "deleted_keys|deletedKeys" };
    Shape { names, namespace: "dart:", kind, size, layout, storage: "data", fill: Fill::Full(each) }
}

impl Shape {
    /// The same shape in an array that can be completely full.
    const fn full(self) -> Self {
        let fill = match self.fill {
            Fill::Full(each) | Fill::Hashed(each) => Fill::Full(each),
        };
        Self { fill, ..self }
    }
}
