//! The known collections of runtimes.
//!
//! Sources: OpenJDK 8 to 25, Android's `ArrayMap.java` and `SparseArray.java`, and
//! `sdk/lib/_internal/vm` of Dart 2.17 to 3.7.

use super::{
    CollectionKind, LIST, Layout, Shape, Size, buffer, chains, dart, exact, fields, linked, list,
    of, open, tree,
};
use CollectionKind::{List, Map, Set};

const NODE: [&str; 3] = ["key", "value|val", "next"];

/// The shapes of runtimes. The first one that names a class counts.
pub(super) static RUNTIMES: &[Shape] = &[
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
    Shape {
        names: &[
            "java.util.ArrayList$SubList",
            "java.util.ImmutableCollections$SubList",
            "java.util.AbstractList$SubList",
            "java.util.AbstractList$RandomAccessSubList",
        ],
        size: Size::Field("size"),
        layout: Layout::Array {
            array: "root|this$0|parent.elementData|elements|a",
            start: "offset",
        },
        ..LIST
    },
    of(
        &["java.util.Collections$UnmodifiableList", "java.util.Collections$SynchronizedList"],
        List,
        "list",
    ),
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
    Shape {
        names: &["java.util.RegularEnumSet", "java.util.JumboEnumSet"],
        kind: Set,
        size: Size::Counted,
        layout: Layout::Bits { universe: "universe", bits: "elements" },
        ..LIST
    },
    // The JDK's views of maps.
    of(
        &[
            "java.util.EnumMap$KeySet",
            "java.util.HashMap$KeySet",
            "java.util.Hashtable$KeySet",
            "java.util.IdentityHashMap$KeySet",
            "java.util.LinkedHashMap$LinkedKeySet",
            "java.util.WeakHashMap$KeySet",
        ],
        Set,
        "this$0",
    ),
    of(
        &["java.util.TreeMap$KeySet", "java.util.concurrent.ConcurrentSkipListMap$KeySet"],
        Set,
        "m",
    ),
    of(
        &[
            "java.util.EnumMap$Values",
            "java.util.HashMap$Values",
            "java.util.Hashtable$ValueCollection",
            "java.util.IdentityHashMap$Values",
            "java.util.LinkedHashMap$LinkedValues",
            "java.util.TreeMap$Values",
            "java.util.WeakHashMap$Values",
        ],
        List,
        "this$0",
    ),
    of(&["java.util.concurrent.ConcurrentSkipListMap$Values"], List, "m"),
    of(&["java.util.concurrent.ConcurrentHashMap$ValuesView"], List, "map"),
    of(
        &[
            "java.util.EnumMap$EntrySet",
            "java.util.HashMap$EntrySet",
            "java.util.Hashtable$EntrySet",
            "java.util.IdentityHashMap$EntrySet",
            "java.util.LinkedHashMap$LinkedEntrySet",
            "java.util.TreeMap$EntrySet",
            "java.util.WeakHashMap$EntrySet",
        ],
        Map,
        "this$0",
    ),
    of(&["java.util.concurrent.ConcurrentSkipListMap$EntrySet"], Map, "m"),
    of(&["java.util.concurrent.ConcurrentHashMap$EntrySetView"], Map, "map"),
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
    // V8.
    Shape {
        names: &["Map"],
        namespace: "object",
        kind: Map,
        size: Size::Counted,
        layout: Layout::Pairs { table: "table" },
        ..LIST
    },
    Shape {
        names: &["Set"],
        namespace: "object",
        kind: Set,
        size: Size::Counted,
        layout: Layout::Array { array: "table", start: "" },
        ..LIST
    },
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
