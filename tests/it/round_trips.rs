//! Heaps that are written and read again in the formats that are both inputs and outputs: hprof and
//! heapsnapshot. Profiles have the same tests beside those of their readers (`pprof`, `speedscope`,
//! `folded`).
//!
//! A random heap keeps its objects, types, sizes, labels, live objects and retained sizes. What a
//! format cannot hold is left out of the heap, and named here:
//!
//! * hprof: sizes that are no multiple of 8 or smaller than what the references take; weak
//!   references, of which an object has one at most; kinds of roots and types;
//! * heapsnapshot: namespaces; sizes of 4 GiB and more; garbage, unless it is asked for; references without
//!   labels, which get numbers.

use dumptool::analysis::{DominatorTree, Graph, live::live};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Heap, Ids, Label, ObjectId, Root, RootKind, TypeKind};
use dumptool::output::heapsnapshot::{self, HeapSnapshotOptions};
use dumptool::output::hprof::{self, HprofOptions};
use proptest::prelude::*;
use std::collections::BTreeSet;

const TYPES: [(&str, &str); 4] =
    [("Node", "app.tree"), ("Leaf", "app.tree"), ("Node2", ""), ("Größe", "app")];
const FIELDS: [&str; 5] = ["next", "left", "right", "value", "ümlaut"];

/// An object: the number of its type, words beyond those that its references need, the numbers of
/// what its fields refer to, and what it refers to weakly.
type Sketched = (usize, u64, Vec<prop::sample::Index>, Option<prop::sample::Index>);

fn objects() -> impl Strategy<Value = Vec<Sketched>> {
    let fields = prop::collection::vec(any::<prop::sample::Index>(), 0..=FIELDS.len());
    let object = (
        0..TYPES.len(),
        0u64..20,
        fields,
        prop::option::weighted(0.2, any::<prop::sample::Index>()),
    );
    prop::collection::vec(object, 1..40)
}

fn roots() -> impl Strategy<Value = Vec<(prop::sample::Index, usize)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..3usize), 1..5)
}

/// The heap of a sketch.
fn heap(objects: &[Sketched], roots: &[(prop::sample::Index, usize)], weak: bool) -> Heap<'static> {
    let mut builder = HeapBuilder::with_capacity(objects.len(), 0);
    let types =
        TYPES.map(|(name, namespace)| builder.add_type(name, namespace, TypeKind::Instance));
    let labels = FIELDS.map(|name| Label::field(builder.names().intern(name)));
    let watched = Label::field(builder.names().intern("watched"));
    let id = |index: &prop::sample::Index| ObjectId(index.index(objects.len()) as u32);
    for (of, words, fields, watches) in objects {
        // A header and a weak reference fit into the first 24 bytes.
        builder.add_object(types[*of], 24 + 8 * (words + fields.len() as u64));
        for (target, label) in fields.iter().zip(labels) {
            builder.add_reference(id(target), label, false);
        }
        if let Some(target) = watches.as_ref().filter(|_| weak) {
            builder.add_reference(id(target), watched, true);
        }
    }
    for (object, group) in roots {
        let group = builder.names().intern(["stack", "globals", "other: \"handles\""][*group]);
        builder.add_root(Root::new(id(object), RootKind::Other, group));
    }
    builder.finish(Ids::Rows(0), None)
}

/// What a round trip must keep of an object.
#[derive(Debug, PartialEq)]
struct Facts {
    name: String,
    shallow: u64,
    /// None: no root reaches it.
    retained: Option<u64>,
    /// Labels, the numbers of targets, and whether references are weak.
    references: BTreeSet<(String, usize, bool)>,
}

/// The facts of objects, which `number` numbers as they were before the round trip. References to
/// what a format adds have no number.
fn facts(
    heap: &Heap<'_>,
    objects: &[ObjectId],
    name: impl Fn(ObjectId) -> String,
    number: impl Fn(ObjectId) -> Option<usize>,
) -> Vec<Facts> {
    let tree = DominatorTree::new(heap);
    let of = |&object: &ObjectId| Facts {
        name: name(object),
        shallow: heap.shallow_bytes(object),
        retained: tree.is_live(object).then(|| tree.retained(object)),
        references: heap
            .references_of(object)
            .filter_map(|link| {
                let label = link.label.text(heap.names()).into_owned();
                Some((label, number(link.target)?, link.weak))
            })
            .collect(),
    };
    objects.iter().map(of).collect()
}

/// The facts of the heap of a sketch, whose objects are numbered by row.
fn original(
    heap: &Heap<'_>,
    objects: &[ObjectId],
    name: impl Fn(ObjectId) -> String,
) -> Vec<Facts> {
    facts(heap, objects, name, |object| Some(object.index()))
}

/// `app.tree.Node`, as Java has it.
fn full_name(heap: &Heap<'_>, object: ObjectId) -> String {
    let namespace = heap.names().text(heap.type_of(object).namespace);
    let name = heap.type_name(object);
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}.{name}") }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_heap_as_hprof_is_the_same_heap(objects in objects(), roots in roots()) {
        let heap = heap(&objects, &roots, false);
        let mut bytes = Vec::new();
        let report = hprof::write(&heap, &HprofOptions::default(), &mut bytes).unwrap();
        prop_assert!(report.lost.is_empty(), "{:?}", report.lost);
        let again = input::load(Format::Hprof, &bytes, LoadOptions::default()).unwrap();
        prop_assert!(again.damage.is_none() && again.heap.warnings().is_empty());
        let again = again.heap;
        // The id of an object is the number of its row, from 1, times 8.
        let all: Vec<_> = heap.objects().collect();
        let here: Vec<_> = all
            .iter()
            .map(|object| again.find(&format!("{:#x}", 8 * (object.index() + 1))).unwrap())
            .collect();
        let number = |object| here.iter().position(|other| *other == object);
        let found = facts(&again, &here, |object| again.type_name(object).to_owned(), number);
        prop_assert_eq!(found, original(&heap, &all, |object| full_name(&heap, object)));
        prop_assert_eq!(again.roots().is_empty(), heap.roots().is_empty());
    }

    /// Weak references become `referent` of a subclass of WeakReference: they retain as little.
    #[test]
    fn weak_references_retain_nothing_in_hprof(objects in objects(), roots in roots()) {
        let heap = heap(&objects, &roots, true);
        let mut bytes = Vec::new();
        hprof::write(&heap, &HprofOptions::default(), &mut bytes).unwrap();
        let again = input::load(Format::Hprof, &bytes, LoadOptions::default()).unwrap().heap;
        let (before, after) = (DominatorTree::new(&heap), DominatorTree::new(&again));
        for object in heap.objects() {
            let here = again.find(&format!("{:#x}", 8 * (object.index() + 1))).unwrap();
            prop_assert_eq!(after.is_live(here), before.is_live(object));
            if before.is_live(object) {
                prop_assert_eq!(after.retained(here), before.retained(object));
            }
            let weak = |heap: &Heap<'_>, object| heap.references_of(object).filter(|link| link.weak).count();
            prop_assert_eq!(weak(&again, here), weak(&heap, object));
        }
    }

    #[test]
    fn a_heap_as_heapsnapshot_is_the_same_heap(objects in objects(), roots in roots()) {
        let heap = heap(&objects, &roots, true);
        let (mut bytes, graph) = (Vec::new(), Graph::of(&heap));
        let live = live(&graph);
        heapsnapshot::write(&heap, &graph, &live, &HeapSnapshotOptions::default(), &mut bytes).unwrap();
        let again = input::load(Format::Heapsnapshot, &bytes, LoadOptions::default()).unwrap();
        prop_assert!(again.damage.is_none() && again.heap.warnings().is_empty());
        let again = again.heap;
        let tree = DominatorTree::new(&heap);
        let kept: Vec<_> = heap.objects().filter(|object| tree.is_live(*object)).collect();
        // The id of an object is twice its row, and 1.
        let here: Vec<_> = kept
            .iter()
            .map(|object| again.find(&format!("#{}", 2 * object.index() + 1)).unwrap())
            .collect();
        let number = |object| {
            let row = here.iter().position(|other| *other == object)?;
            Some(kept[row].index())
        };
        let found = facts(&again, &here, |object| again.type_name(object).to_owned(), number);
        let mut expected = original(&heap, &kept, |object| heap.type_name(object).to_owned());
        // Garbage is not there any more.
        for facts in &mut expected {
            facts.references.retain(|(_, target, _)| tree.is_live(ObjectId(*target as u32)));
        }
        prop_assert_eq!(found, expected);
        // V8 has groups in parentheses, and a group of the root itself.
        let groups = |heap: &Heap<'_>| -> BTreeSet<String> {
            let groups = heap.roots().iter().map(|root| heap.names().text(root.group));
            groups.map(|group| group.trim_matches(['(', ')']).to_owned()).collect()
        };
        let mut expected = groups(&heap);
        expected.insert("root".to_owned());
        prop_assert_eq!(groups(&again), expected);
    }
}
