//! The shapes of known collections: which fields hold the number of entries, the table, keys and
//! values.
//!
//! Names of fields are paths: `head.node` is the field `node` of the object in the field `head`,
//! and `val|value` is whichever of the two exists. Underscores at either end do not count, as those
//! of Dart have come and gone, nor do the prefixes that Scala's compiler puts before private fields
//! (`scala$collection$mutable$HashMap$$table`).
//!
//! Sources: OpenJDK 8 to 25, Android's `ArrayMap.java` and `SparseArray.java`, Kotlin 2.1's
//! `collections/builders`, Scala 2.12 and 2.13, Eclipse Collections 11, and `sdk/lib/_internal/vm`
//! of Dart 2.17 to 3.7.

/// What a collection is to its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionKind {
    /// Elements in an order: lists, queues, stacks.
    List,
    /// Elements that differ.
    Set,
    /// Keys with values.
    Map,
    /// Text or bytes under construction.
    Buffer,
}

impl CollectionKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Set => "set",
            Self::Map => "map",
            Self::Buffer => "buffer",
        }
    }
}

/// The fields of a collection.
#[derive(Debug)]
pub(super) struct Shape {
    /// Classes with this shape. Subclasses have it too, where the file says which class declares a
    /// field.
    pub names: &'static [&'static str],
    /// Beginning of the namespace.
    pub namespace: &'static str,
    pub kind: CollectionKind,
    pub size: Size,
    pub layout: Layout,
    /// The array that grows with the collection. Empty: there is none.
    pub storage: &'static str,
    /// How full that array can be.
    pub fill: Fill,
}

/// Where the number of entries is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Size {
    /// In a field.
    Field(&'static str),
    /// The collection's own length, in elements of its array: so many for each entry, of which so
    /// many are deleted.
    Length { each: u64, deleted: &'static str },
    /// All elements of the array.
    Array,
    /// From one index to another in a ring.
    Ring { head: &'static str, tail: &'static str },
    /// A number, and those of cells beside it.
    Cells { base: &'static str, cells: &'static str, cell: &'static str },
    /// That of the collection in this field.
    Of(&'static str),
    /// Nowhere: entries are counted.
    Counted,
}

/// Where the entries are.
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
    /// Keys and values in arrays of their own.
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
    /// Arrays in fields, nested so many levels deep, one after the other.
    Nested(&'static [(&'static str, u8)]),
    /// Scala's compressed hash trie: a node has elements, then nodes in reverse. So many elements
    /// for each entry.
    Trie { root: &'static str, each: u64 },
    /// The collection in a field.
    Of(&'static str),
}

/// How full the array of a collection can be before it grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Full, with so many elements for each entry.
    Full(u64),
    /// A hash table, whose length is a power of two and which grows when more than three quarters
    /// are taken, with so many elements for each entry.
    Hashed(u64),
}

use CollectionKind::{Buffer, List, Map, Set};

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

const NODE: [&str; 3] = ["key", "value|val", "next"];

/// All known shapes. The first one that names a class counts.
pub(super) static SHAPES: &[Shape] = &[
    // The JDK's lists and queues.
    list(&["java.util.ArrayList"], "elementData", "size"),
    list(&["java.util.Vector"], "elementData", "elementCount"),
    list(
        &["java.util.PriorityQueue", "java.util.concurrent.PriorityBlockingQueue"],
        "queue",
        "size",
    ),
    exact(&["java.util.concurrent.CopyOnWriteArrayList"], "array|elements"),
    exact(&["java.util.Arrays$ArrayList"], "a"),
    exact(&["java.util.ImmutableCollections$ListN"], "elements"),
    linked(&["java.util.LinkedList"], "first", Size::Field("size"), ["item", "", "next"]),
    linked(
        &[
            "java.util.concurrent.ConcurrentLinkedQueue",
            "java.util.concurrent.ConcurrentLinkedDeque",
        ],
        "head",
        Size::Counted,
        ["item", "", "next"],
    ),
    linked(
        &["java.util.concurrent.LinkedBlockingQueue"],
        "head.next",
        Size::Field("count.value"),
        ["item", "", "next"],
    ),
    linked(
        &["java.util.concurrent.LinkedBlockingDeque"],
        "first",
        Size::Field("count"),
        ["item", "", "next"],
    ),
    Shape {
        names: &["java.util.ArrayDeque"],
        size: Size::Ring { head: "head", tail: "tail" },
        layout: Layout::Ring { array: "elements", head: "head" },
        storage: "elements",
        ..LIST
    },
    Shape {
        names: &["java.util.concurrent.ArrayBlockingQueue"],
        size: Size::Field("count"),
        layout: Layout::Ring { array: "items", head: "takeIndex" },
        ..LIST
    },
    fields(&["java.util.ImmutableCollections$List12"], List, &[("e0", ""), ("e1", "")]),
    fields(&["java.util.Collections$SingletonList"], List, &[("element", "")]),
    // The JDK's maps and sets.
    Shape {
        layout: Layout::Linked { first: "head", next: "after", key: "key", value: "value" },
        ..chains(&["java.util.LinkedHashMap"], "table", "size", NODE)
    },
    chains(&["java.util.HashMap"], "table", "size", NODE),
    Shape {
        size: Size::Cells { base: "baseCount", cells: "counterCells", cell: "value" },
        ..chains(&["java.util.concurrent.ConcurrentHashMap"], "table", "", NODE)
    },
    of(&["java.util.Properties"], Map, "map"),
    chains(&["java.util.Hashtable"], "table", "count", NODE),
    chains(&["java.util.WeakHashMap"], "table", "size", ["referent", "value", "next"]),
    open(&["java.util.IdentityHashMap"], "table", "size", 2),
    open(&["java.util.ImmutableCollections$MapN"], "table", "size", 2),
    open(&["java.util.ImmutableCollections$SetN"], "elements", "size", 1),
    tree(&["java.util.TreeMap"], "root", Size::Field("size"), ["left", "right", "key", "value"]),
    linked(&["java.util.concurrent.ConcurrentSkipListMap"], "head.node.next", Size::Counted, NODE),
    Shape {
        names: &["java.util.EnumMap"],
        kind: Map,
        size: Size::Field("size"),
        layout: Layout::Parallel { keys: "keyUniverse", values: "vals" },
        ..LIST
    },
    fields(&["java.util.ImmutableCollections$Map1"], Map, &[("k0", "v0")]),
    fields(&["java.util.Collections$SingletonMap"], Map, &[("k", "v")]),
    fields(&["java.util.ImmutableCollections$Set12"], Set, &[("e0", ""), ("e1", "")]),
    fields(&["java.util.Collections$SingletonSet"], Set, &[("element", "")]),
    of(&["java.util.HashSet", "java.util.concurrent.ConcurrentHashMap$CollectionView"], Set, "map"),
    of(
        &[
            "java.util.TreeSet",
            "java.util.concurrent.ConcurrentSkipListSet",
            "java.util.Collections$SetFromMap",
        ],
        Set,
        "m",
    ),
    of(&["java.util.concurrent.CopyOnWriteArraySet"], Set, "al"),
    of(
        &["java.util.Collections$UnmodifiableMap", "java.util.Collections$SynchronizedMap"],
        Map,
        "m",
    ),
    of(
        &["java.util.Collections$UnmodifiableSet", "java.util.Collections$SynchronizedSet"],
        Set,
        "c",
    ),
    of(
        &[
            "java.util.Collections$UnmodifiableCollection",
            "java.util.Collections$SynchronizedCollection",
        ],
        List,
        "c",
    ),
    // Buffers.
    buffer(
        &["java.lang.AbstractStringBuilder", "java.lang.StringBuilder", "java.lang.StringBuffer"],
        "value",
        "count",
    ),
    buffer(&["java.io.ByteArrayOutputStream", "java.io.CharArrayWriter"], "buf", "count"),
    // Android.
    open(
        &[
            "android.util.ArrayMap",
            "androidx.collection.SimpleArrayMap",
            "androidx.collection.ArrayMap",
        ],
        "mArray|array",
        "mSize|size",
        2,
    )
    .full(),
    open(
        &["android.util.ArraySet", "androidx.collection.ArraySet"],
        "mArray|array",
        "mSize|_size",
        1,
    )
    .full(),
    Shape {
        names: &[
            "android.util.SparseArray",
            "android.util.LongSparseArray",
            "android.util.SparseIntArray",
            "androidx.collection.SparseArrayCompat",
        ],
        kind: Map,
        size: Size::Field("mSize|size"),
        layout: Layout::Parallel { keys: "mKeys|keys", values: "mValues|values" },
        storage: "mValues|values",
        ..LIST
    },
    // Kotlin.
    Shape {
        names: &["kotlin.collections.ArrayDeque"],
        size: Size::Field("size"),
        layout: Layout::Ring { array: "elementData", head: "head" },
        storage: "elementData",
        ..LIST
    },
    Shape {
        layout: Layout::Array { array: "backing|array", start: "offset" },
        ..list(&["kotlin.collections.builders.ListBuilder"], "backing|array", "length")
    },
    Shape {
        names: &["kotlin.collections.builders.MapBuilder"],
        kind: Map,
        size: Size::Field("size"),
        layout: Layout::Parallel { keys: "keysArray", values: "valuesArray" },
        storage: "keysArray",
        ..LIST
    },
    of(&["kotlin.collections.builders.SetBuilder"], Set, "backing"),
    // Scala.
    linked(
        &["scala.collection.immutable.$colon$colon"],
        "",
        Size::Counted,
        ["head", "", "next|tl"],
    ),
    of(&["scala.collection.mutable.ListBuffer"], List, "first|start"),
    list(&["scala.collection.mutable.ArrayBuffer"], "array", "size0"),
    exact(&["scala.collection.immutable.ArraySeq$ofRef"], "unsafeArray"),
    exact(&["scala.collection.mutable.ArraySeq$ofRef"], "array"),
    Shape {
        names: &[
            "scala.collection.immutable.Vector0$",
            "scala.collection.immutable.Vector1",
            "scala.collection.immutable.Vector2",
            "scala.collection.immutable.Vector3",
            "scala.collection.immutable.Vector4",
            "scala.collection.immutable.Vector5",
            "scala.collection.immutable.Vector6",
        ],
        size: Size::Field("length0"),
        layout: Layout::Nested(&[
            ("prefix1", 1),
            ("prefix2", 2),
            ("prefix3", 3),
            ("prefix4", 4),
            ("prefix5", 5),
            ("data2", 2),
            ("data3", 3),
            ("data4", 4),
            ("data5", 5),
            ("data6", 6),
            ("suffix5", 5),
            ("suffix4", 4),
            ("suffix3", 3),
            ("suffix2", 2),
            ("suffix1", 1),
        ]),
        ..LIST
    },
    chains(
        &["scala.collection.mutable.HashMap"],
        "table",
        "contentSize|tableSize",
        ["_key|key", "_value|value", "_next|next"],
    ),
    chains(
        &["scala.collection.mutable.HashSet"],
        "table",
        "contentSize|tableSize",
        ["_key", "", "_next"],
    ),
    linked(
        &["scala.collection.mutable.LinkedHashMap"],
        "firstEntry",
        Size::Field("contentSize|tableSize"),
        ["_key|key", "_value|value", "_later|later"],
    ),
    Shape {
        names: &["scala.collection.immutable.HashMap"],
        kind: Map,
        size: Size::Field("rootNode.size"),
        layout: Layout::Trie { root: "rootNode", each: 2 },
        ..LIST
    },
    Shape {
        names: &["scala.collection.immutable.HashSet"],
        kind: Set,
        size: Size::Field("rootNode.size"),
        layout: Layout::Trie { root: "rootNode", each: 1 },
        ..LIST
    },
    tree(
        &["scala.collection.immutable.TreeMap"],
        "tree",
        Size::Counted,
        ["_left|left", "_right|right", "_key|key", "_value|value"],
    ),
    tree(
        &["scala.collection.immutable.TreeSet"],
        "tree",
        Size::Counted,
        ["_left|left", "_right|right", "_key|key", ""],
    ),
    tree(
        &["scala.collection.mutable.TreeMap"],
        "tree.root",
        Size::Field("tree.size"),
        ["left", "right", "key", "value"],
    ),
    tree(
        &["scala.collection.mutable.TreeSet"],
        "tree.root",
        Size::Field("tree.size"),
        ["left", "right", "key", ""],
    ),
    fields(&["scala.collection.immutable.Map$Map1"], Map, &[("key1", "value1")]),
    fields(
        &["scala.collection.immutable.Map$Map2"],
        Map,
        &[("key1", "value1"), ("key2", "value2")],
    ),
    fields(
        &["scala.collection.immutable.Map$Map3"],
        Map,
        &[("key1", "value1"), ("key2", "value2"), ("key3", "value3")],
    ),
    fields(
        &["scala.collection.immutable.Map$Map4"],
        Map,
        &[("key1", "value1"), ("key2", "value2"), ("key3", "value3"), ("key4", "value4")],
    ),
    fields(&["scala.collection.immutable.Set$Set1"], Set, &[("elem1", "")]),
    fields(&["scala.collection.immutable.Set$Set2"], Set, &[("elem1", ""), ("elem2", "")]),
    fields(
        &["scala.collection.immutable.Set$Set3"],
        Set,
        &[("elem1", ""), ("elem2", ""), ("elem3", "")],
    ),
    fields(
        &["scala.collection.immutable.Set$Set4"],
        Set,
        &[("elem1", ""), ("elem2", ""), ("elem3", ""), ("elem4", "")],
    ),
    // Eclipse Collections.
    open(
        &[
            "org.eclipse.collections.impl.map.mutable.UnifiedMap",
            "org.eclipse.collections.impl.map.mutable.AbstractUnifiedMap",
            "org.eclipse.collections.impl.map.strategy.mutable.UnifiedMapWithHashingStrategy",
        ],
        "table",
        "occupied",
        2,
    ),
    open(
        &[
            "org.eclipse.collections.impl.set.mutable.UnifiedSet",
            "org.eclipse.collections.impl.set.strategy.mutable.UnifiedSetWithHashingStrategy",
        ],
        "table",
        "occupied",
        1,
    ),
    list(&["org.eclipse.collections.impl.list.mutable.FastList"], "items", "size"),
    // Dart.
    Shape {
        namespace: "dart:core",
        size: Size::Length { each: 1, deleted: "" },
        ..list(&["_GrowableList"], "data", "")
    },
    dart(
        &[
            "_Map",
            "_InternalLinkedHashMap",
            "_CompactLinkedIdentityHashMap",
            "_CompactLinkedCustomHashMap",
            "_ConstMap",
        ],
        2,
    ),
    dart(
        &[
            "_Set",
            "_CompactLinkedHashSet",
            "_CompactLinkedIdentityHashSet",
            "_CompactLinkedCustomHashSet",
            "_ConstSet",
        ],
        1,
    ),
    Shape {
        namespace: "dart:collection",
        ..chains(&["_HashMap", "_IdentityHashMap"], "buckets", "elementCount", NODE)
    },
    Shape {
        namespace: "dart:collection",
        ..chains(&["_HashSet", "_IdentityHashSet"], "buckets", "elementCount", ["key", "", "next"])
    },
    Shape {
        namespace: "dart:collection",
        ..tree(&["SplayTreeMap"], "root", Size::Field("count"), ["left", "right", "key", "value"])
    },
    Shape {
        namespace: "dart:collection",
        ..tree(&["SplayTreeSet"], "root", Size::Field("count"), ["left", "right", "key", ""])
    },
    Shape {
        names: &["ListQueue"],
        namespace: "dart:collection",
        size: Size::Ring { head: "head", tail: "tail" },
        layout: Layout::Ring { array: "table", head: "head" },
        storage: "table",
        ..LIST
    },
];

impl Shape {
    /// The same in an array that can be full.
    const fn full(self) -> Self {
        let fill = match self.fill {
            Fill::Full(each) | Fill::Hashed(each) => Fill::Full(each),
        };
        Self { fill, ..self }
    }
}
