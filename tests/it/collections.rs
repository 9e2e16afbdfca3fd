//! Collections as what they mean: those of a real JVM, of the shapes of other libraries, and
//! damaged ones.

use crate::support::instances::{Id, Instances, Int, Long};
use dumptool::analysis::collections::{CollectionEntry, CollectionKind, Collections};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::heap::{FieldValue, Heap, ObjectId, Value};
use std::ops::ControlFlow;

fn loaded(file: &[u8]) -> Heap<'_> {
    input::load(Format::Hprof, file, LoadOptions::default()).unwrap().heap
}

/// A value as Java would print it.
fn text(heap: &Heap<'_>, value: FieldValue<'_>) -> String {
    match value {
        FieldValue::Object(object) => match heap.value(object) {
            Value::Text { text, .. } => text.into_owned(),
            Value::Integer(number) => number.to_string(),
            _ => ["n", "name"]
                .iter()
                .find_map(|name| heap.field(object, name))
                .map_or("?".to_owned(), |name| text(heap, name)),
        },
        FieldValue::Integer(number) => number.to_string(),
        FieldValue::Null => "null".to_owned(),
        other => format!("{other:?}"),
    }
}

fn entries(collections: &Collections<'_, '_>, heap: &Heap<'_>, object: ObjectId) -> Vec<String> {
    let mut all = Vec::new();
    collections.entries(object, |CollectionEntry { key, value }| {
        all.push(match key {
            Some(key) => format!("{}={}", text(heap, key), text(heap, value)),
            None => text(heap, value),
        });
        ControlFlow::Continue(())
    });
    all
}

/// The class object of a class.
fn class(heap: &Heap<'_>, name: &str) -> ObjectId {
    heap.objects()
        .find(|object| matches!(heap.value(*object), Value::Name(of) if of == name))
        .unwrap()
}

#[test]
fn the_collections_of_the_jdk_have_their_entries() {
    let file = crate::support::read(&crate::support::fixture("hprof/collections_java17.hprof.zst"));
    let heap = loaded(&file);
    let (collections, class) = (Collections::of(&heap), class(&heap, "Collections"));
    let pairs: Vec<String> = (0..5).map(|i| format!("key{i}={}", 1000 + i)).collect();
    let numbers: Vec<String> = (1000..1005).map(|i| i.to_string()).collect();
    let properties: Vec<String> = (0..5).map(|i| format!("key{i}=value{i}")).collect();
    let trees = |count: i32| (0..count).map(|i| format!("{i}={}", 1000 + i)).collect::<Vec<_>>();
    let turned: Vec<String> = (10..20).map(|i| i.to_string()).collect();
    let maps = "hashMap linkedHashMap concurrentHashMap hashtable identityHashMap treeMap skipListMap subclass mapOf \
                unmodifiableMap synchronizedMap";
    let lists = "arrayList linkedList vector priorityQueue copyOnWriteArrayList asList listOf unmodifiableList \
                 concurrentLinkedQueue linkedBlockingQueue arrayBlockingQueue";
    let sets = "hashSet linkedHashSet treeSet setOf keySet copyOnWriteArraySet skipListSet";
    let mut expected: Vec<(&str, CollectionKind, Vec<String>)> = Vec::new();
    expected.extend(maps.split_whitespace().map(|name| (name, CollectionKind::Map, pairs.clone())));
    expected
        .extend(lists.split_whitespace().map(|name| (name, CollectionKind::List, numbers.clone())));
    expected
        .extend(sets.split_whitespace().map(|name| (name, CollectionKind::Set, numbers.clone())));
    expected.push(("properties", CollectionKind::Map, properties));
    expected.push(("enumMap", CollectionKind::Map, vec!["RED=1".to_owned(), "BLUE=3".to_owned()]));
    expected.push(("treeBin", CollectionKind::Map, trees(30)));
    expected.push(("concurrentTreeBin", CollectionKind::Map, trees(100)));
    expected.push(("arrayDeque", CollectionKind::List, turned));
    expected.push(("listOfOne", CollectionKind::List, vec!["1000".to_owned()]));
    expected.push(("empty", CollectionKind::List, Vec::new()));
    // The keys have been collected, and the map has not been used since.
    expected.push((
        "weakHashMap",
        CollectionKind::Map,
        numbers.iter().map(|number| format!("null={number}")).collect(),
    ));
    for (name, kind, mut expected) in expected {
        let object = heap.field(class, name).and_then(FieldValue::object).unwrap();
        let mut found = entries(&collections, &heap, object);
        let is_sorted = ["linked", "tree", "array", "List", "vector", "copy", "skip"]
            .iter()
            .any(|order| name.contains(order));
        if !is_sorted || name.ends_with("Bin") {
            [&mut found, &mut expected].iter_mut().for_each(|all| all.sort());
        }
        assert_eq!(found, expected, "{name}");
        assert_eq!(collections.kind(object), Some(kind), "{name}");
        if let Some(size) = collections.size(object) {
            assert_eq!(size, found.len() as u64, "{name}");
        }
    }
}

#[test]
fn the_array_of_a_collection_says_its_room() {
    let file = crate::support::read(&crate::support::fixture("hprof/collections_java17.hprof.zst"));
    let heap = loaded(&file);
    let (collections, class) = (Collections::of(&heap), class(&heap, "Collections"));
    let storage = |name: &str| {
        let field = heap.field(class, name).and_then(FieldValue::object).unwrap();
        let mut first = None;
        heap.elements(field, 0, |_, value| {
            first = value.object();
            ControlFlow::Break(())
        });
        let storage = collections.storage(first.unwrap_or(field)).unwrap();
        (storage.capacity, storage.used, storage.spare)
    };
    assert_eq!(storage("roomy"), (100, 1, 99));
    assert_eq!(storage("emptied"), (256, 0, 240));
    assert_eq!(storage("hashMap"), (16, 5, 0));
    assert_eq!(storage("buffer"), (6000, 3, 5997));
    assert_eq!(storage("builder"), (5000, 3, 4997));
}

/// Entries of the object with an id.
fn entries_of(file: &[u8], id: u64) -> Vec<String> {
    let heap = loaded(file);
    let object = heap.find(&format!("{id:#x}")).unwrap();
    entries(&Collections::of(&heap), &heap, object)
}

/// Entries of the class and of an inner one are in one table.
#[test]
fn maps_of_guava_caffeine_and_commons_collections_have_their_entries() {
    let mut lab = Instances::default();
    let numbers: Vec<u64> = (0..6).map(|i| lab.number(i)).collect();
    let entry = "com.google.common.collect.ImmutableMapEntry";
    let last = lab.object(entry, &[("key", Id(numbers[2])), ("value", Id(numbers[3]))]);
    let first = lab.object(
        "com.google.common.collect.ImmutableMapEntry$NonTerminalImmutableMapEntry",
        &[("key", Id(numbers[0])), ("value", Id(numbers[1])), ("nextInKeyBucket", Id(last))],
    );
    let other = lab.object(entry, &[("key", Id(numbers[4])), ("value", Id(numbers[5]))]);
    let table = lab.array(&[first, 0, other, 0]);
    let immutable =
        lab.object("com.google.common.collect.RegularImmutableMap", &[("table", Id(table))]);
    let multimap =
        lab.object("com.google.common.collect.AbstractMapBasedMultimap", &[("map", Id(immutable))]);
    let entry = "org.apache.commons.collections4.map.AbstractLinkedMap$LinkEntry";
    let entry =
        lab.object(entry, &[("key", Id(numbers[0])), ("value", Id(numbers[1])), ("next", Id(0))]);
    let data = lab.array(&[0, entry]);
    let hashed = [("data", Id(data)), ("size", Int(1))];
    let hashed = lab.object("org.apache.commons.collections4.map.AbstractHashedMap", &hashed);
    let bounded = "com.github.benmanes.caffeine.cache.BoundedLocalCache";
    let node = "com.github.benmanes.caffeine.cache.PS";
    let node = lab.object(node, &[("key", Id(numbers[2])), ("value", Id(numbers[3]))]);
    let entry = "org.apache.commons.collections4.map.AbstractHashedMap$HashEntry";
    let entry = lab.object(entry, &[("key", Id(numbers[2])), ("value", Id(node)), ("next", Id(0))]);
    let data = lab.array(&[entry]);
    let nodes = [("data", Id(data)), ("size", Int(1))];
    let nodes = lab.object("org.apache.commons.collections4.map.AbstractHashedMap", &nodes);
    let cache = lab.object(bounded, &[("data", Id(nodes))]);
    let manual = lab.object(&format!("{bounded}$BoundedLocalManualCache"), &[("cache", Id(cache))]);
    let local = "com.google.common.cache.LocalCache";
    let strong =
        lab.object(&format!("{local}$StrongValueReference"), &[("referent", Id(numbers[5]))]);
    let strong = [("key", Id(numbers[4])), ("valueReference", Id(strong)), ("next", Id(0))];
    let strong = lab.object(&format!("{local}$StrongEntry"), &strong);
    let chains = lab.array(&[0, strong]);
    let table = "java.util.concurrent.atomic.AtomicReferenceArray";
    let table = lab.object(table, &[("array", Id(chains))]);
    let segment = lab.object(&format!("{local}$Segment"), &[("table", Id(table))]);
    // A damaged file may repeat a segment.
    let segments = lab.array(&[segment, segment]);
    let segments = lab.object(local, &[("segments", Id(segments))]);
    let guava = lab.object(&format!("{local}$LocalManualCache"), &[("localCache", Id(segments))]);
    let file = lab.finish();
    assert_eq!(entries_of(&file, immutable), ["0=1", "2=3", "4=5"]);
    assert_eq!(entries_of(&file, multimap), ["0=1", "2=3", "4=5"]);
    assert_eq!(entries_of(&file, hashed), ["0=1"]);
    assert_eq!(entries_of(&file, manual), ["2=3"]);
    assert_eq!(entries_of(&file, guava), ["4=5"]);
}

#[test]
fn scala_lists_vectors_and_maps_have_their_entries() {
    let mut lab = Instances::default();
    let numbers: Vec<u64> = (0..8).map(|i| lab.number(i)).collect();
    let nil = lab.object("scala.collection.immutable.Nil$", &[]);
    let list = numbers[..3].iter().rev().fold(nil, |next, head| {
        lab.object(
            "scala.collection.immutable.$colon$colon",
            &[("head", Id(*head)), ("next", Id(next))],
        )
    });
    let [first, middle, last] =
        [&numbers[..2], &numbers[2..4], &numbers[4..5]].map(|part| lab.array(part));
    let data = lab.array(&[middle]);
    let vector =
        [("prefix1", Id(first)), ("data2", Id(data)), ("suffix1", Id(last)), ("length0", Int(5))];
    let vector = lab.object("scala.collection.immutable.Vector2", &vector);
    // A node with one pair and one node below, which has two pairs.
    let node = "scala.collection.immutable.BitmapIndexedMapNode";
    let below = lab.array(&numbers[2..6]);
    let below = lab.object(
        node,
        &[("dataMap", Int(3)), ("nodeMap", Int(0)), ("content", Id(below)), ("size", Int(2))],
    );
    let content = lab.array(&[numbers[0], numbers[1], below]);
    let root = lab.object(
        node,
        &[("dataMap", Int(1)), ("nodeMap", Int(2)), ("content", Id(content)), ("size", Int(3))],
    );
    let map = lab.object("scala.collection.immutable.HashMap", &[("rootNode", Id(root))]);
    let entry = "scala.collection.mutable.HashMap$Node";
    let second = lab
        .object(entry, &[("_key", Id(numbers[2])), ("_value", Id(numbers[3])), ("_next", Id(0))]);
    let chain = lab.object(
        entry,
        &[("_key", Id(numbers[0])), ("_value", Id(numbers[1])), ("_next", Id(second))],
    );
    let table = lab.array(&[0, chain, 0, 0]);
    let fields = [("scala$collection$mutable$HashMap$$table", Id(table)), ("contentSize", Int(2))];
    let mutable = lab.object("scala.collection.mutable.HashMap", &fields);
    let file = lab.finish();
    assert_eq!(entries_of(&file, list), ["0", "1", "2"]);
    assert_eq!(entries_of(&file, vector), ["0", "1", "2", "3", "4"]);
    assert_eq!(entries_of(&file, map), ["0=1", "2=3", "4=5"]);
    assert_eq!(entries_of(&file, mutable), ["0=1", "2=3"]);
}

#[test]
fn eclipse_and_kotlin_and_android_collections_have_their_entries() {
    let mut lab = Instances::default();
    let numbers: Vec<u64> = (0..10).map(|i| lab.number(i)).collect();
    let map = "org.eclipse.collections.impl.map.mutable.UnifiedMap";
    let [null, chained] = ["1", "2"].map(|number| lab.object(&format!("{map}${number}"), &[]));
    let chain = lab.array(&[numbers[2], numbers[3], numbers[4], numbers[5], 0, 0]);
    let table = lab.array(&[0, 0, numbers[0], numbers[1], chained, chain, null, numbers[6]]);
    let map = lab.object(map, &[("table", Id(table)), ("occupied", Int(4))]);
    let set = "org.eclipse.collections.impl.set.mutable.UnifiedSet";
    let bucket =
        [("zero", Id(numbers[1])), ("one", Id(numbers[2])), ("two", Id(0)), ("three", Id(0))];
    let bucket = lab.object(&format!("{set}$ChainedBucket"), &bucket);
    let table = lab.array(&[numbers[0], bucket, 0]);
    let set = lab.object(set, &[("table", Id(table)), ("occupied", Int(3))]);
    let items = lab.array(&[numbers[0], numbers[1], 0, 0]);
    let list = lab.object(
        "org.eclipse.collections.impl.list.mutable.FastList",
        &[("items", Id(items)), ("size", Int(2))],
    );
    let ring = lab.array(&[numbers[2], 0, numbers[0], numbers[1]]);
    let fields = [("head", Int(2)), ("elementData", Id(ring)), ("size", Int(3))];
    let deque = lab.object("kotlin.collections.ArrayDeque", &fields);
    let pairs = lab.array(&[numbers[0], numbers[1], numbers[2], 0, 0, 0]);
    let android = lab.object("android.util.ArrayMap", &[("mArray", Id(pairs)), ("mSize", Int(2))]);
    let file = lab.finish();
    assert_eq!(entries_of(&file, map), ["0=1", "2=3", "4=5", "null=6"]);
    assert_eq!(entries_of(&file, set), ["0", "1", "2"]);
    assert_eq!(entries_of(&file, list), ["0", "1"]);
    assert_eq!(entries_of(&file, deque), ["0", "1", "2"]);
    assert_eq!(entries_of(&file, android), ["0=1", "2=null"]);
}

#[test]
fn circles_and_wrong_pointers_end() {
    let mut lab = Instances::default();
    let number = lab.number(7);
    // A chain that leads back to itself, in a table that names it twice.
    let [first, second] = [lab.next(), lab.next()];
    for (id, next) in [(first, second), (second, first)] {
        let fields = [("key", Id(number)), ("value", Id(number)), ("next", Id(next))];
        lab.object_at(id, "java.util.HashMap$Node", &fields);
    }
    let table = lab.array(&[first, 0xdead, second, number]);
    let map = lab.object("java.util.HashMap", &[("table", Id(table)), ("size", Int(i32::MAX))]);
    // A tree that is a circle, lists whose array is missing, is no array, and a wrapper of itself.
    let node = lab.next();
    let fields =
        [("key", Id(number)), ("value", Id(number)), ("left", Id(node)), ("right", Id(node))];
    lab.object_at(node, "java.util.TreeMap$Entry", &fields);
    let tree = lab.object("java.util.TreeMap", &[("root", Id(node)), ("size", Int(-1))]);
    let lost = lab.object("java.util.ArrayList", &[("elementData", Id(0xdead)), ("size", Int(3))]);
    let wrong =
        lab.object("java.util.Vector", &[("elementData", Id(number)), ("elementCount", Int(3))]);
    let wrapper = lab.next();
    lab.object_at(wrapper, "java.util.HashSet", &[("map", Id(wrapper))]);
    let deque = lab.object(
        "java.util.ArrayDeque",
        &[("elements", Id(table)), ("head", Int(100)), ("tail", Int(-5))],
    );
    let vector = lab.next();
    lab.array_at(vector, &[vector, vector]);
    let nested = lab.object(
        "scala.collection.immutable.Vector6",
        &[("data6", Id(vector)), ("length0", Int(2))],
    );
    let file = lab.finish();
    let heap = loaded(&file);
    let collections = Collections::of(&heap);
    for id in [map, tree, lost, wrong, wrapper, deque, nested] {
        let object = heap.find(&format!("{id:#x}")).unwrap();
        let found = collections.count(object, u64::MAX);
        assert!(found <= 2 * heap.len() as u64, "{id:#x}: {found}");
        let _ = (collections.size(object), collections.storage(object));
    }
    let [tree, map] = [tree, map].map(|id| heap.find(&format!("{id:#x}")).unwrap());
    assert_eq!(collections.size(tree), None);
    assert_eq!(
        collections.storage(map).map(|storage| (storage.capacity, storage.used, storage.spare)),
        Some((4, 4, 0))
    );
}

/// The entries of an object that `build` makes.
fn built(build: impl FnOnce(&mut Instances) -> u64) -> Vec<String> {
    let mut file = Instances::default();
    let id = build(&mut file);
    entries_of(&file.finish(), id)
}

#[test]
fn an_enum_set_has_the_constants_whose_bits_are_set() {
    let found = built(|file| {
        let all: Vec<u64> = (0..40).map(|number| file.number(number)).collect();
        let universe = file.array(&all);
        let fields = [("universe", Id(universe)), ("elements", Long(1 << 2 | 1 << 39))];
        file.object("java.util.RegularEnumSet", &fields)
    });
    assert_eq!(found, ["2", "39"]);
}

#[test]
fn views_of_maps_and_lists_have_the_entries_of_their_part() {
    let view = |class: &'static str| {
        built(|file| {
            let [key, value] = [1, 2].map(|number| file.number(number));
            let node = [("key", Id(key)), ("value", Id(value)), ("next", Id(0))];
            let node = file.object("java.util.HashMap$Node", &node);
            let table = file.array(&[0, node]);
            let map = file.object("java.util.HashMap", &[("table", Id(table)), ("size", Int(1))]);
            file.object(class, &[("this$0", Id(map))])
        })
    };
    assert_eq!(view("java.util.HashMap$KeySet"), ["1"]);
    assert_eq!(view("java.util.HashMap$Values"), ["2"]);
    assert_eq!(view("java.util.HashMap$EntrySet"), ["1=2"]);
    let part = built(|file| {
        let all: Vec<u64> = (0..4).map(|number| file.number(number)).collect();
        let array = file.array(&all);
        let list =
            file.object("java.util.ArrayList", &[("elementData", Id(array)), ("size", Int(4))]);
        let fields = [("root", Id(list)), ("offset", Int(1)), ("size", Int(2))];
        file.object("java.util.ArrayList$SubList", &fields)
    });
    assert_eq!(part, ["1", "2"]);
}

#[test]
fn collections_of_clojure_and_scala_2_12_are_nodes_below_nodes() {
    let map = built(|file| {
        let [a, b, c, d] = [1, 2, 3, 4].map(|number| file.number(number));
        let inner = file.array(&[c, d]);
        let inner = file
            .object("clojure.lang.PersistentHashMap$BitmapIndexedNode", &[("array", Id(inner))]);
        let array = file.array(&[a, b, 0, inner, 0, 0]);
        let node = file
            .object("clojure.lang.PersistentHashMap$BitmapIndexedNode", &[("array", Id(array))]);
        let nodes = file.array(&[0, node]);
        let root = file.object("clojure.lang.PersistentHashMap$ArrayNode", &[("array", Id(nodes))]);
        file.object("clojure.lang.PersistentHashMap", &[("count", Int(2)), ("root", Id(root))])
    });
    assert_eq!(map, ["1=2", "3=4"]);
    let vector = built(|file| {
        let [a, b, c] = [1, 2, 3].map(|number| file.number(number));
        let leaf = file.array(&[a, b]);
        let leaf = file.object("clojure.lang.PersistentVector$Node", &[("array", Id(leaf))]);
        let nodes = file.array(&[leaf, 0]);
        let root = file.object("clojure.lang.PersistentVector$Node", &[("array", Id(nodes))]);
        let tail = file.array(&[c]);
        let fields = [("cnt", Int(3)), ("root", Id(root)), ("tail", Id(tail))];
        file.object("clojure.lang.PersistentVector", &fields)
    });
    assert_eq!(vector, ["1", "2", "3"]);
    let trie = built(|file| {
        let leaves: Vec<u64> = (0..3)
            .map(|number| {
                let [key, value] = [number, number + 10].map(|number| file.number(number));
                let fields = [("key", Id(key)), ("value", Id(value))];
                file.object("scala.collection.immutable.HashMap$HashMap1", &fields)
            })
            .collect();
        let class = "scala.collection.immutable.HashMap$HashTrieMap";
        let inner = file.array(&leaves[1..]);
        let inner = file.object(class, &[("elems", Id(inner)), ("size0", Int(2))]);
        let elements = file.array(&[leaves[0], inner]);
        file.object(class, &[("elems", Id(elements)), ("size0", Int(3))])
    });
    assert_eq!(trie, ["0=10", "1=11", "2=12"]);
    let vector = built(|file| {
        let all: Vec<u64> = (0..3).map(|number| file.number(number)).collect();
        let [first, second] = [file.array(&[0, all[0], all[1]]), file.array(&[all[2], 0])];
        let both = file.array(&[first, second]);
        let fields = [("display1", Id(both)), ("display0", Id(first))];
        file.object("scala.collection.immutable.Vector", &fields)
    });
    assert_eq!(vector, ["0", "1", "2"]);
}
