//! Leaks that were planted, and a heap without any.

use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::suspects::{self, Suspect};
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{
    Heap, Ids, Known, Label, ObjectId, ObjectValues, Root, RootKind, TypeId, TypeKind, Value,
};
use std::collections::HashMap;

/// A heap under construction: a tree of owners, filled from the top.
#[derive(Default)]
struct Planted {
    /// Type, size, owner and the name of the reference.
    objects: Vec<(usize, u64, Option<usize>, &'static str)>,
    types: Vec<(&'static str, &'static str, TypeKind)>,
    values: HashMap<ObjectId, Held>,
}

#[derive(Clone)]
enum Held {
    Text(&'static str, u64),
    Bytes(&'static [u8]),
    Length(u64),
}

struct Contents(HashMap<ObjectId, Held>);

impl ObjectValues for Contents {
    fn known(&self) -> Known {
        Known { texts: true, bytes: true, lengths: true, numbers: true, rooms: false }
    }

    fn value<'v>(&'v self, _: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        match self.0.get(&object) {
            None => Value::None,
            Some(Held::Text(text, length)) => Value::Text { text: (*text).into(), length: *length },
            Some(Held::Bytes(bytes)) => Value::Bytes((*bytes).into()),
            Some(Held::Length(length)) => Value::Length(*length),
        }
    }
}

impl Planted {
    fn of(&mut self, name: &'static str, namespace: &'static str, kind: TypeKind) -> usize {
        self.types.push((name, namespace, kind));
        self.types.len() - 1
    }

    /// An object that another one holds, or a root.
    fn add(&mut self, of: usize, size: u64, owner: Option<usize>, label: &'static str) -> usize {
        self.objects.push((of, size, owner, label));
        self.objects.len() - 1
    }

    fn value(&mut self, object: usize, value: Held) {
        self.values.insert(ObjectId(object as u32), value);
    }

    fn suspects(&self) -> Vec<Suspect> {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let types: Vec<TypeId> = self
            .types
            .iter()
            .map(|(name, namespace, kind)| builder.add_type(name, namespace, *kind))
            .collect();
        let mut owned: HashMap<usize, Vec<(usize, &str)>> = HashMap::new();
        for (object, (.., owner, label)) in self.objects.iter().enumerate() {
            owner.iter().for_each(|owner| owned.entry(*owner).or_default().push((object, label)));
        }
        for (object, (of, size, owner, _)) in self.objects.iter().enumerate() {
            builder.add_object(types[*of], *size);
            for (target, label) in owned.remove(&object).unwrap_or_default() {
                let label = Label::field(builder.names().intern(label));
                builder.add_reference(ObjectId(target as u32), label, false);
            }
            if owner.is_none() {
                let group = builder.names().intern("data");
                let object = ObjectId(object as u32);
                builder.add_root(Root {
                    object,
                    kind: RootKind::Global,
                    group,
                    label: Label::NONE,
                    frame: None,
                    thread: None,
                });
            }
        }
        let heap = builder.finish(Ids::Rows(0), Some(Box::new(Contents(self.values.clone()))));
        assert_eq!(heap.check(), Ok(()));
        let graph = Graph::of(&heap);
        suspects::find(&heap, &DominatorTree::of_graph(&heap, &graph))
    }
}

/// Objects that hold two others each, down to `depth` levels.
fn balanced(planted: &mut Planted, depth: usize) {
    let node = planted.of("Tree", "", TypeKind::Instance);
    let mut level = vec![planted.add(node, 64, None, "")];
    for _ in 0..depth {
        level = level
            .iter()
            .flat_map(|&owner| [owner, owner])
            .map(|owner| planted.add(node, 64, Some(owner), "child"))
            .collect();
    }
}

#[test]
fn nothing_stands_out_in_a_balanced_heap() {
    for depth in [0, 1, 3, 10] {
        let mut planted = Planted::default();
        balanced(&mut planted, depth);
        assert_eq!(planted.suspects(), [], "depth {depth}");
    }
    assert_eq!(Planted::default().suspects(), []);
}

#[test]
fn a_cache_is_found_behind_its_wrappers() {
    let mut planted = Planted::default();
    balanced(&mut planted, 7);
    let [cache, table, item] =
        ["Cache", "Table", "Item"].map(|name| planted.of(name, "", TypeKind::Instance));
    let cache = planted.add(cache, 16, None, "");
    let table = planted.add(table, 4096, Some(cache), "table");
    (0..1000).for_each(|_| _ = planted.add(item, 48, Some(table), "entry"));
    let found = planted.suspects();
    let [Suspect::Holder(holder)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (holder.object, holder.retained, holder.own, holder.chain),
        (ObjectId(table as u32), 52_096, 4096, 1)
    );
    let inside = holder.inside.unwrap();
    assert_eq!((inside.count, inside.bytes), (1000, 48_000));
}

#[test]
fn a_list_is_named_by_its_first_object() {
    let mut planted = Planted::default();
    balanced(&mut planted, 7);
    let [queue, node] = ["Queue", "Node"].map(|name| planted.of(name, "", TypeKind::Instance));
    let mut last = planted.add(queue, 16, None, "");
    let first = last + 1;
    (0..1000).for_each(|_| last = planted.add(node, 32, Some(last), "next"));
    let found = planted.suspects();
    let [Suspect::Holder(holder)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (holder.object, holder.chain, holder.retained),
        (ObjectId(first as u32), 1000, 32_000)
    );
}

#[test]
fn two_caches_below_one_owner_are_told_apart() {
    let mut planted = Planted::default();
    let [app, cache, item] =
        ["App", "Cache", "Item"].map(|name| planted.of(name, "", TypeKind::Instance));
    let app = planted.add(app, 16, None, "");
    let caches = [600, 400].map(|items| {
        let cache = planted.add(cache, 16, Some(app), "cache");
        (0..items).for_each(|_| _ = planted.add(item, 48, Some(cache), "item"));
        ObjectId(cache as u32)
    });
    let found: Vec<_> = planted
        .suspects()
        .iter()
        .map(|suspect| (suspect.object().unwrap(), suspect.bytes()))
        .collect();
    assert_eq!(found, [(caches[0], 16 + 600 * 48), (caches[1], 16 + 400 * 48)]);
}

#[test]
fn many_siblings_of_one_owner_are_found() {
    let mut planted = Planted::default();
    balanced(&mut planted, 12);
    let [bus, big, listener] =
        ["Bus", "Big", "Listener"].map(|name| planted.of(name, "", TypeKind::Instance));
    let bus = planted.add(bus, 16, None, "");
    // A large object beside them: the share does not drop sharply here, so the bus is no holder.
    planted.add(big, 30_000, Some(bus), "buffer");
    (0..500).for_each(|_| _ = planted.add(listener, 120, Some(bus), "listener"));
    let found = planted.suspects();
    let [Suspect::Siblings(siblings)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (siblings.owner, siblings.group.count, siblings.group.bytes),
        (ObjectId(bus as u32), 500, 60_000)
    );
}

#[test]
fn equal_values_are_counted_and_others_are_not() {
    let mut planted = Planted::default();
    balanced(&mut planted, 10);
    let [text, bytes] = [("String", TypeKind::Text), ("Bytes", TypeKind::Bytes)]
        .map(|(name, kind)| planted.of(name, "", kind));
    let mut plant = |of, value: Held, times: usize, size| {
        (0..times).for_each(|_| {
            let object = planted.add(of, size, None, "");
            planted.value(object, value.clone());
        });
    };
    plant(text, Held::Text("again", 5), 101, 48);
    plant(text, Held::Text("twice", 5), 2, 48);
    plant(text, Held::Text("once", 4), 1, 48);
    // Cut texts are not known to be equal, and short blocks are equal by chance.
    plant(text, Held::Text("begin", 500), 100, 512);
    plant(bytes, Held::Bytes(b"12345678"), 1000, 8);
    plant(bytes, Held::Bytes(b"0123456789abcdef"), 301, 16);
    let found = planted.suspects();
    let duplicates: Vec<_> = found
        .iter()
        .map(|suspect| match suspect {
            Suspect::Duplicates(duplicates) => {
                (duplicates.texts, duplicates.values, duplicates.objects, duplicates.wasted)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(duplicates, [(true, 2, 103, 101 * 48), (false, 1, 301, 300 * 16)]);
}

#[test]
fn empty_lists_are_found() {
    let mut planted = Planted::default();
    balanced(&mut planted, 10);
    let list = planted.of("_GrowableList", "dart:core", TypeKind::Instance);
    let array = planted.of("_List", "dart:core", TypeKind::Array);
    for length in [0, 1, 2, 3, 4, 16].repeat(50) {
        let object = planted.add(list, 32, None, "");
        planted.value(object, Held::Length(length));
        let data = planted.add(array, 16 * 8, Some(object), "data_");
        planted.value(data, Held::Length(16));
    }
    let found = planted.suspects();
    let [Suspect::Sparse(sparse)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((sparse.count, sparse.all, sparse.capacity, sparse.used), (250, 300, 250 * 16, 500));
    assert_eq!(sparse.wasted, 50 * 8 * (16 + 15 + 14 + 13 + 12));
}
