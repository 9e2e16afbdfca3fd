//! The known collections of libraries and languages of the JVM.
//!
//! Sources: Kotlin 2.1's `collections/builders`, Scala 2.12 and 2.13, Clojure 1.11, Eclipse
//! Collections 11, Guava 31, Caffeine 2.6 and Commons Collections 3.2 and 4.2.

use super::{
    CollectionKind, LIST, Layout, Shape, Size, chains, exact, fields, linked, list, of, open, tree,
};
use CollectionKind::{List, Map, Set};

/// The shapes of libraries. The first one that names a class counts.
pub(super) static LIBRARIES: &[Shape] = &[
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
    // Scala 2.12.
    Shape {
        names: &["scala.collection.immutable.Vector"],
        size: Size::Counted,
        layout: Layout::Nodes {
            roots: &["display5|display4|display3|display2|display1|display0"],
            node: "java.lang.Object[]",
            children: "",
            leaf: ["", ""],
            pairs: false,
        },
        ..LIST
    },
    Shape {
        names: &["scala.collection.immutable.HashMap$HashTrieMap"],
        kind: Map,
        size: Size::Field("size0"),
        layout: Layout::Nodes {
            roots: &["elems"],
            node: "scala.collection.immutable.HashMap$",
            children: "elems",
            leaf: ["key", "value"],
            pairs: false,
        },
        ..LIST
    },
    Shape {
        names: &["scala.collection.immutable.HashSet$HashTrieSet"],
        kind: Set,
        size: Size::Field("size0"),
        layout: Layout::Nodes {
            roots: &["elems"],
            node: "scala.collection.immutable.HashSet$",
            children: "elems",
            leaf: ["key", ""],
            pairs: false,
        },
        ..LIST
    },
    // Clojure.
    Shape {
        names: &["clojure.lang.PersistentVector"],
        size: Size::Field("cnt"),
        layout: Layout::Nodes {
            roots: &["root", "tail"],
            node: "clojure.lang.PersistentVector$Node",
            children: "array",
            leaf: ["", ""],
            pairs: false,
        },
        ..LIST
    },
    Shape {
        names: &["clojure.lang.PersistentHashMap"],
        kind: Map,
        size: Size::Field("count"),
        layout: Layout::Nodes {
            roots: &["root"],
            node: "clojure.lang.PersistentHashMap$",
            children: "array",
            leaf: ["", ""],
            pairs: true,
        },
        ..LIST
    },
    Shape {
        names: &["clojure.lang.PersistentArrayMap"],
        kind: Map,
        size: Size::Counted,
        layout: Layout::Pairs { table: "array" },
        ..LIST
    },
    of(&["clojure.lang.APersistentSet"], Set, "impl"),
    linked(&["clojure.lang.PersistentList"], "", Size::Field("_count"), ["_first", "", "_rest"]),
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
    // Guava.
    exact(&["com.google.common.collect.RegularImmutableList"], "array"),
    Shape { kind: Set, ..exact(&["com.google.common.collect.RegularImmutableSet"], "elements") },
    Shape {
        size: Size::Counted,
        storage: "",
        ..chains(
            &["com.google.common.collect.RegularImmutableMap"],
            "table",
            "",
            ["key", "value", "nextInKeyBucket"],
        )
    },
    chains(
        &["com.google.common.collect.HashBiMap"],
        "hashTableKToV",
        "size",
        ["key", "value", "nextInKToVBucket"],
    ),
    linked(
        &["com.google.common.collect.LinkedListMultimap"],
        "head",
        Size::Field("size"),
        ["key", "value", "next"],
    ),
    of(
        &[
            "com.google.common.collect.AbstractMapBasedMultimap",
            "com.google.common.collect.ImmutableMultimap",
        ],
        Map,
        "map",
    ),
    of(&["com.google.common.collect.StandardTable"], Map, "backingMap"),
    of(&["com.google.common.collect.EvictingQueue"], List, "delegate"),
    Shape {
        names: &["com.google.common.cache.LocalCache"],
        kind: Map,
        size: Size::Counted,
        layout: Layout::Segments {
            segments: "segments",
            table: "table.array",
            next: "next",
            key: "key",
            value: "valueReference.referent",
        },
        ..LIST
    },
    of(&["com.google.common.cache.LocalCache$LocalManualCache"], Map, "localCache"),
    // Caffeine.
    Shape {
        layout: Layout::Within { value: "value" },
        ..of(&["com.github.benmanes.caffeine.cache.BoundedLocalCache"], Map, "data")
    },
    of(&["com.github.benmanes.caffeine.cache.UnboundedLocalCache"], Map, "data"),
    of(
        &[
            "com.github.benmanes.caffeine.cache.BoundedLocalCache$BoundedLocalManualCache",
            "com.github.benmanes.caffeine.cache.UnboundedLocalCache$UnboundedLocalManualCache",
        ],
        Map,
        "cache",
    ),
    // Apache Commons Collections.
    chains(
        &[
            "org.apache.commons.collections4.map.AbstractHashedMap",
            "org.apache.commons.collections.map.AbstractHashedMap",
        ],
        "data",
        "size",
        ["key", "value", "next"],
    ),
];
