//! Paths from roots: against naive searches on random graphs, and one known path in a file of each
//! format.

use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live;
use dumptool::analysis::paths::cycle;
use dumptool::analysis::paths::merged::{
    BYTES_PER_KIND, MergedLabel, MergedStep, MergedSteps, Repeats, merged,
};
use dumptool::analysis::paths::several::several;
use dumptool::analysis::paths::shortest::Shortest;
use dumptool::analysis::paths::{Origin, Path, ReachedBy};
use dumptool::analysis::referrers::Referrers;
use dumptool::detect::detect;
use dumptool::input::{self, load::LoadOptions};
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Ephemeron, Heap, Ids, Label, ObjectId, Root, RootKind, TypeKind};
use dumptool::source::Source;
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// A heap as a test writes it down.
#[derive(Clone, Debug, Default)]
struct Sketch {
    /// Sizes; an object of size 0 is an immediate.
    sizes: Vec<u64>,
    /// From, to, weak.
    references: Vec<(usize, usize, bool)>,
    roots: Vec<(usize, RootKind)>,
    /// Holder, key, value.
    ephemerons: Vec<(usize, usize, usize)>,
    /// The first objects stand for roots.
    synthetic: usize,
}

impl Sketch {
    fn heap(&self) -> Heap<'static> {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let node = builder.add_type("Node", "app", TypeKind::Instance);
        let made_up = builder.add_type("Roots", "", TypeKind::Root);
        for (object, size) in self.sizes.iter().enumerate() {
            let (of, size) = if object < self.synthetic { (made_up, 0) } else { (node, *size) };
            builder.add_object(of, size);
            for (number, (_, to, weak)) in
                (0..).zip(self.references.iter().filter(|(from, ..)| *from == object))
            {
                builder.add_reference(id(*to), Label::offset(number * 8), *weak);
            }
            for (_, key, value) in self.ephemerons.iter().filter(|(holder, ..)| *holder == object) {
                builder.add_reference(id(*key), Label::NONE, true);
                builder.add_reference(id(*value), Label::NONE, true);
                builder.add_ephemeron(Ephemeron {
                    holder: id(object),
                    key: id(*key),
                    value: id(*value),
                });
            }
        }
        for (number, (object, kind)) in self.roots.iter().enumerate() {
            let group = builder.names().intern(&format!("root {number}"));
            builder.add_root(Root::new(id(*object), *kind, group));
        }
        let heap = builder.finish(Ids::Rows(0), None);
        assert_eq!(heap.check(), Ok(()));
        heap
    }
}

fn id(object: usize) -> ObjectId {
    ObjectId(object as u32)
}

fn is_immediate(heap: &Heap<'_>, object: ObjectId) -> bool {
    heap.shallow_bytes(object) == 0 && !is_synthetic(heap, object)
}

fn is_synthetic(heap: &Heap<'_>, object: ObjectId) -> bool {
    heap.type_of(object).kind.is_made_up()
}

/// Objects on a shortest path to each object that passes no immediate, by one queue. Synthetic
/// objects count nothing.
fn distances(heap: &Heap<'_>, graph: &Graph<'_>) -> Vec<Option<usize>> {
    let mut distances = vec![None; heap.len()];
    let mut queue = VecDeque::new();
    for &object in graph.starts() {
        distances[object.index()] = Some(usize::from(!is_synthetic(heap, object)));
        queue.push_back(object);
    }
    while let Some(object) = queue.pop_front() {
        if is_immediate(heap, object) {
            continue;
        }
        for target in graph.targets(object) {
            let next =
                distances[object.index()].unwrap() + usize::from(!is_synthetic(heap, target));
            if distances[target.index()].is_none_or(|known| next < known) {
                distances[target.index()] = Some(next);
                queue.push_back(target);
            }
        }
    }
    distances
}

/// Whether each step follows from the one before.
fn assert_valid(heap: &Heap<'_>, graph: &Graph<'_>, path: &Path, to: ObjectId) {
    assert_eq!(path.object(), Some(to));
    let mut before = match path.origin {
        Origin::Root(row) => {
            assert_eq!(
                (path.steps[0].object, path.steps[0].by),
                (heap.roots()[row].object, ReachedBy::Root)
            );
            None
        }
        Origin::Synthetic(object) => {
            assert!(is_synthetic(heap, object));
            Some(object)
        }
        Origin::Cycle => panic!("live objects have a root"),
    };
    for step in &path.steps {
        match step.by {
            ReachedBy::Root => assert_eq!(before, None),
            ReachedBy::Reference(row) => {
                assert!(heap.references().range(before.unwrap()).contains(&row));
                assert_eq!(heap.references().target(row), step.object);
                assert!(!heap.references().is_weak(row));
            }
            ReachedBy::Ephemeron => {
                assert!(graph.targets(before.unwrap()).any(|target| target == step.object))
            }
        }
        before = Some(step.object);
    }
    let objects: BTreeSet<ObjectId> = path.steps.iter().map(|step| step.object).collect();
    assert_eq!(objects.len(), path.steps.len(), "a cycle");
}

fn check_shortest(heap: &Heap<'_>) {
    let graph = Graph::of(heap);
    let shortest = Shortest::of(heap, &graph);
    let (live, distances) = (live::live(&graph), distances(heap, &graph));
    for object in heap.objects() {
        let path = shortest.path(object);
        assert_eq!(path.is_some(), live.contains(object), "{object:?}");
        let Some(path) = path.filter(|_| !is_synthetic(heap, object)) else { continue };
        assert_valid(heap, &graph, &path, object);
        match distances[object.index()] {
            Some(distance) => {
                assert_eq!(path.steps.len(), distance, "{object:?}");
                let (_, way) = path.steps.split_last().unwrap();
                assert!(way.iter().all(|step| !is_immediate(heap, step.object)));
            }
            // There is no way but over immediates.
            None => assert!(path.steps.iter().any(|step| is_immediate(heap, step.object))),
        }
        assert!(path.steps.iter().all(|step| !is_synthetic(heap, step.object)));
    }
    let dominators = Dominators::of(&graph);
    for (at, object) in heap.objects().step_by(heap.len() / 16 + 1).enumerate() {
        let dominators = Some(&dominators).filter(|_| at % 2 == 0);
        let to_one = Shortest::of_objects(heap, &graph, dominators, vec![object]);
        assert_eq!(to_one.path(object), shortest.path(object), "{object:?}");
    }
}

/// The objects at which paths begin, once for each origin: those that roots name, and others that
/// synthetic objects hold.
fn origins(heap: &Heap<'_>, graph: &Graph<'_>) -> Vec<ObjectId> {
    let mut origins: Vec<ObjectId> = heap.roots().iter().map(|root| root.object).collect();
    let named: BTreeSet<ObjectId> = origins.iter().copied().collect();
    let live = live::live(graph);
    for object in heap.objects().filter(|object| is_synthetic(heap, *object)) {
        let held: BTreeSet<ObjectId> = graph.targets(object).collect();
        let is_live = live.contains(object);
        origins.extend(held.into_iter().filter(|held| is_live && !named.contains(held)));
    }
    origins.retain(|object| !is_synthetic(heap, *object));
    origins
}

/// The lengths of all paths without cycles, shortest first, by walking all of them.
fn all_lengths(heap: &Heap<'_>, graph: &Graph<'_>, to: ObjectId) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut open: Vec<Vec<ObjectId>> =
        origins(heap, graph).into_iter().map(|object| vec![object]).collect();
    while let Some(path) = open.pop() {
        let last = *path.last().unwrap();
        if last == to {
            lengths.push(path.len());
        } else if !is_immediate(heap, last) {
            let targets: BTreeSet<ObjectId> = graph.targets(last).collect();
            open.extend(
                targets
                    .into_iter()
                    .filter(|target| !path.contains(target))
                    .map(|target| [&path[..], &[target]].concat()),
            );
        }
    }
    lengths.sort_unstable();
    lengths
}

fn check_several(heap: &Heap<'_>, k: usize) {
    let graph = Graph::of(heap);
    for object in heap.objects().filter(|object| !is_synthetic(heap, *object)) {
        let paths = several(heap, &graph, object, k);
        paths.iter().for_each(|path| assert_valid(heap, &graph, path, object));
        for (number, path) in paths.iter().enumerate() {
            let objects =
                |path: &Path| path.steps.iter().map(|step| step.object).collect::<Vec<_>>();
            assert!(
                paths[..number]
                    .iter()
                    .all(|other| other.origin != path.origin || objects(other) != objects(path))
            );
        }
        let mut expected = all_lengths(heap, &graph, object);
        expected.truncate(k);
        let lengths: Vec<usize> = paths.iter().map(|path| path.steps.len()).collect();
        if expected.is_empty() {
            assert!(lengths.len() <= 1, "over immediates, or not at all")
        } else {
            assert_eq!(lengths, expected, "to {object:?}")
        }
    }
}

fn sketch(most: usize, immediates: bool) -> impl Strategy<Value = Sketch> {
    let kinds = prop::sample::select(vec![RootKind::Global, RootKind::Frame, RootKind::Runtime]);
    (1..=most, 0..3_usize).prop_flat_map(move |(objects, synthetic)| {
        let size = if immediates { 0..4_u64 } else { 1..4 };
        let object = 0..objects;
        (
            prop::collection::vec(size, objects),
            prop::collection::vec(
                (object.clone(), object.clone(), prop::bool::weighted(0.1)),
                0..objects * 3,
            ),
            prop::collection::vec((object.clone(), kinds.clone()), 0..4),
            prop::collection::vec((object.clone(), object.clone(), object), 0..3),
            Just(synthetic),
        )
            .prop_map(move |(sizes, references, roots, ephemerons, synthetic)| Sketch {
                sizes,
                references,
                roots,
                ephemerons,
                synthetic: synthetic.min(objects - 1),
            })
            .prop_map(with_root_object)
    })
}

/// Where there are synthetic objects, the first of them stands for all roots, and is the first root.
/// No object of a program refers to one of them.
fn with_root_object(mut sketch: Sketch) -> Sketch {
    let made_up = sketch.synthetic;
    sketch.references.retain(|(from, to, _)| *from < made_up || *to >= made_up);
    sketch.ephemerons.retain(|(_, _, value)| *value >= made_up);
    if made_up > 0 {
        let held: Vec<_> = sketch.roots.iter().map(|(object, _)| (0, *object, false)).collect();
        sketch.references.extend(held);
        sketch.roots.insert(0, (0, RootKind::Runtime));
    }
    sketch
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn paths_are_shortest(sketch in sketch(40, true)) {
        check_shortest(&sketch.heap());
    }

    #[test]
    fn several_paths_are_the_shortest_ones(sketch in sketch(7, false), k in 1..6_usize) {
        check_several(&sketch.heap(), k);
    }
}

#[test]
fn a_list_of_a_million_is_one_merged_path() {
    let objects = 1_000_000;
    let mut builder = HeapBuilder::with_capacity(objects, objects);
    let node = builder.add_type("Node", "", TypeKind::Instance);
    let next = Label::field(builder.names().intern("next"));
    for object in 0..objects {
        builder.add_object(node, 16);
        if object + 1 < objects {
            builder.add_reference(id(object + 1), next, false);
        }
        if object > 0 {
            builder.add_reference(id(object - 1), Label::offset(8), false);
        }
    }
    let group = builder.names().intern("list");
    builder.add_root(Root::new(id(0), RootKind::Global, group));
    let heap = builder.finish(Ids::Rows(0), None);
    let graph = Graph::of(&heap);
    let shortest = Shortest::of(&heap, &graph);
    assert_eq!(shortest.path(id(objects - 1)).unwrap().steps.len(), objects);
    let merged = merged(&shortest, heap.objects(), u64::MAX).unwrap();
    assert_eq!(merged.rows.len(), 2);
    let list = &merged.rows[0];
    let steps = merged.steps(list).first;
    assert_eq!((list.count, list.bytes, steps.len()), (999_999, 999_999 * 16, 2));
    assert_eq!(steps[1].label, MergedLabel::One(next));
    assert_eq!(steps[1].repeats, Some(Repeats { steps: 1, most: Some(999_999) }));
    // Both ways lead to the same list: one path only, and it is found in a moment.
    assert_eq!(several(&heap, &graph, id(objects - 1), 3).len(), 1);
}

#[test]
fn elements_merge_whatever_their_index() {
    assert_elements_merge(|_, index| Label::index(index as u64));
}

/// V8 calls the places of a `Map`'s table `3`, `6` and so on.
#[test]
fn places_with_numbers_for_names_merge_as_elements_do() {
    assert_elements_merge(|builder, index| {
        Label::field(builder.names().intern(&(3 * index).to_string()))
    });
}

fn assert_elements_merge(label: impl Fn(&mut HeapBuilder<'_>, usize) -> Label) {
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let list = builder.add_type("List", "", TypeKind::Array);
    let item = builder.add_type("Item", "", TypeKind::Instance);
    builder.add_object(list, 64);
    for index in 0..5 {
        let label = label(&mut builder, index);
        builder.add_reference(id(index + 1), label, false);
    }
    (0..5).for_each(|size| _ = builder.add_object(item, 8 + size));
    let group = builder.names().intern("cache");
    builder.add_root(Root::new(id(0), RootKind::Static, group));
    let heap = builder.finish(Ids::Rows(0), None);
    let graph = Graph::of(&heap);
    let shortest = Shortest::of(&heap, &graph);
    let merged = merged(&shortest, heap.objects().skip(1), u64::MAX).unwrap();
    assert_eq!((merged.rows.len(), merged.rows[0].count, merged.rows[0].bytes), (1, 5, 50));
    assert_eq!(merged.steps(&merged.rows[0]).first[1].label, MergedLabel::Element);
}

/// A chain of objects of these types, each held by the one before over the same label; the first
/// one by a root.
fn chain(types: impl Iterator<Item = usize> + Clone) -> Heap<'static> {
    let count = types.clone().count();
    let mut builder = HeapBuilder::with_capacity(count, count);
    let most = types.clone().max().unwrap_or(0);
    let ids: Vec<_> = (0..=most)
        .map(|number| builder.add_type(&format!("T{number}"), "", TypeKind::Instance))
        .collect();
    let next = Label::field(builder.names().intern("next"));
    for (object, of) in types.enumerate() {
        builder.add_object(ids[of], 16);
        if object + 1 < count {
            builder.add_reference(id(object + 1), next, false);
        }
    }
    let group = builder.names().intern("chain");
    builder.add_root(Root::new(id(0), RootKind::Global, group));
    builder.finish(Ids::Rows(0), None)
}

/// Each kind of path in words: `T0 (T1 T0)x1-9`, in order of length.
fn kinds(heap: &Heap<'_>) -> Vec<String> {
    let graph = Graph::of(heap);
    let shortest = Shortest::of(heap, &graph);
    let merged = merged(&shortest, heap.objects(), u64::MAX).unwrap();
    let kind = |row| {
        let steps = merged.steps(row);
        assert_eq!((steps.omitted, steps.last.len()), (0, 0), "the paths of this test are short");
        let mut words: Vec<String> = Vec::new();
        for step in &steps.first {
            words.push(heap.names().text(heap.shown(step.of).name).to_owned());
            if let Some(Repeats { steps, most }) = step.repeats {
                let group = words.split_off(words.len() - steps).join(" ");
                words.push(format!(
                    "({group})x{}",
                    most.map_or("?".to_owned(), |most| most.to_string())
                ));
            }
        }
        words.join(" ")
    };
    let mut kinds: Vec<_> = merged.rows.iter().map(kind).collect();
    kinds.sort_by_key(|kind| (kind.len(), kind.clone()));
    kinds
}

#[test]
fn types_that_alternate_are_a_few_kinds_of_paths() {
    // The first step has no label, so it is not one of the group.
    let heap = chain((0..40_000).map(|at| at % 2));
    assert_eq!(kinds(&heap), ["T0", "T0 T1", "T0 (T1 T0)x19999", "T0 (T1 T0)x19999 T1"]);
    let heap = chain((0..3 * 7_000).map(|at| at % 3));
    assert_eq!(kinds(&heap).last().unwrap(), "T0 (T1 T2 T0)x6999 T1 T2");
    // A list at the end of another, and a list of lists.
    let heap = chain((0..100).map(|_| 0).chain((0..50).map(|_| 1)));
    assert_eq!(kinds(&heap), ["T0", "T0 (T0)x99", "T0 (T0)x99 (T1)x50"]);
    let heap = chain((0..100).flat_map(|_| [0, 1, 1, 1]));
    assert!(kinds(&heap).len() < 10, "{:?}", kinds(&heap));
}

#[test]
fn a_chain_of_types_takes_memory_for_each_type_and_not_for_each_pair() {
    let heap = chain(0..30_000);
    let graph = Graph::of(&heap);
    let shortest = Shortest::of(&heap, &graph);
    let all = merged(&shortest, heap.objects(), 30_001 * BYTES_PER_KIND).unwrap();
    assert_eq!(all.rows.len(), 30_000);
    let longest = all.rows.iter().find(|row| row.example == id(29_999)).unwrap();
    let steps = all.steps(longest);
    let half = MergedSteps::HALF;
    assert_eq!(
        (steps.first.len(), steps.omitted, steps.last.len()),
        (half, 30_000 - 2 * half as u64, half)
    );
    let text = |step: &MergedStep| heap.names().text(heap.shown(step.of).name).to_owned();
    assert_eq!(
        (text(&steps.first[0]), text(steps.first.last().unwrap())),
        ("T0".to_owned(), format!("T{}", half - 1))
    );
    assert_eq!(
        (text(&steps.last[0]), text(steps.last.last().unwrap())),
        (format!("T{}", 30_000 - half), "T29999".to_owned())
    );
    assert!(merged(&shortest, heap.objects(), 30_000 * BYTES_PER_KIND).is_none());
}

/// Paths with nothing folded but single steps.
fn unfolded(shortest: &Shortest<'_, '_>, heap: &Heap<'_>) -> usize {
    let mut kinds = std::collections::BTreeSet::new();
    for object in heap.objects() {
        let mut types: Vec<_> = shortest
            .path(object)
            .unwrap()
            .steps
            .iter()
            .map(|step| heap.type_id(step.object))
            .collect();
        types.dedup();
        kinds.insert(types);
    }
    kinds.len()
}

proptest! {
    #[test]
    fn folding_loses_no_object_and_makes_no_kinds(types in proptest::collection::vec(0_usize..3, 1..60)) {
        let heap = chain(types.iter().copied());
        let graph = Graph::of(&heap);
        let shortest = Shortest::of(&heap, &graph);
        let all = merged(&shortest, heap.objects(), u64::MAX).unwrap();
        prop_assert_eq!(all.rows.iter().map(|row| row.count).sum::<u64>(), types.len() as u64);
        // The first step is told from the others by its label, which may give one kind more.
        prop_assert!(all.rows.len() <= unfolded(&shortest, &heap) + 1);
        for row in &all.rows {
            let steps = all.steps(row);
            let last = steps.last.last().or(steps.first.last()).unwrap();
            prop_assert_eq!(last.of, heap.merged_type(row.example));
            for (at, repeats) in steps.first.iter().enumerate().filter_map(|(at, step)| Some((at, step.repeats?))) {
                prop_assert!(repeats.steps <= at + 1 && repeats.most.is_none_or(|most| most >= 2));
            }
        }
    }
}

/// Root, labels and types of the shortest path to an object.
fn path_in(file: &str, object: &str) -> String {
    let source = Source::open(&crate::support::fixture(file)).unwrap();
    let loaded =
        input::load(detect(source.bytes()).unwrap(), source.bytes(), LoadOptions::default())
            .unwrap();
    let heap = &loaded.heap;
    check_shortest(heap);
    let graph = Graph::of(heap);
    let path = Shortest::of(heap, &graph).path(heap.find(object).unwrap()).unwrap();
    let mut text = match path.origin {
        Origin::Root(row) => {
            format!("{}: {}", heap.roots()[row].kind.name(), heap.roots()[row].text(heap.names()))
        }
        Origin::Synthetic(object) => heap.names().text(heap.type_of(object).name).to_owned(),
        Origin::Cycle => panic!("live objects have a root"),
    };
    for step in &path.steps {
        text.push_str(&format!(
            " / {} {}",
            step.by.text(heap),
            heap.names().text(heap.type_of(step.object).name)
        ));
    }
    text
}

#[test]
fn every_format_has_labelled_paths() {
    for (file, object, expected) in [
        (
            "go/go14.heapdump",
            "0xc208001030",
            "global: data +0x8 /  32 B, 4 pointers (dc42) / +0x8 48 B, 3 pointers (905c)",
        ),
        (
            "dart/tiny_derived_3.0.5.dartheap.zst",
            "#3316",
            "runtime: Root [78] /  Class / script_ Script / kernel_program_info_ KernelProgramInfo / canonical_names_ _Uint32List",
        ),
        (
            "mvmheap/tiny-nqp.mvmheap",
            "#700",
            "thread: Thread Roots: Current static frame for watching for OSR spesh candidate /  BOOTStaticFrame / \
             Compilation Unit BOOTCompUnit / Strings heap entry VMString",
        ),
        (
            "hprof/small_java17.hprof.zst",
            "0xfd5de2e0",
            "class: system class: sun.launcher.LauncherHelper /  java.lang.Class / appClass java.lang.Class / head Small$Node",
        ),
    ] {
        assert_eq!(path_in(file, object), expected, "{file}");
    }
}

/// The program tells the addresses of its variable and of the list's first object.
#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn a_list_of_go_is_reached_from_its_global_in_the_corpus() {
    let folder = crate::support::corpus_folder("go");
    let truth = crate::support::json(&folder.join("medium_go127.truth.json"));
    let address = |name: &str| {
        u64::from_str_radix(truth["Addr"][name].as_str().unwrap().trim_start_matches("0x"), 16)
            .unwrap()
    };
    let bytes = crate::support::read(&folder.join("medium_go127.heapdump"));
    let segments = crate::support::records(input::Format::Go, &bytes).0;
    let segment = |name: &str| {
        segments.iter().find(|record| record["record"] == name).unwrap()["addr"].clone()
    };
    let loaded = input::load(input::Format::Go, &bytes, LoadOptions::default()).unwrap();
    let heap = &loaded.heap;
    let graph = Graph::of(heap);
    let head = heap.find(&format!("{:#x}", address("gList(head Node)"))).unwrap();
    // A node has its next one at 0 and the one after that at 0x20. The middle of the list is 30 000
    // nodes away.
    let next = |object: ObjectId| {
        heap.references_of(object).find(|r| r.label == Label::offset(0)).map(|r| r.target)
    };
    let middle = std::iter::successors(Some(head), |object| next(*object)).nth(30_000).unwrap();
    let path = Shortest::of(heap, &graph).path(middle).unwrap();
    assert_valid(heap, &graph, &path, middle);
    assert_eq!((path.steps[0].object, path.steps.len()), (head, 15_001));
    let Origin::Root(row) = path.origin else { panic!("no root") };
    let root = &heap.roots()[row];
    let start = segment(&format!("{}_segment", heap.names().text(root.group)));
    let start = u64::from_str_radix(start.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    let dumptool::model::heap::LabelKind::Offset(offset) = root.label.kind() else {
        panic!("no offset")
    };
    assert_eq!(start + u64::from(offset), address("&gList(global var)"));
}

/// Run with `cargo test --release --test it paths:: -- --ignored --nocapture`: at most 30 ns for each
/// reference, on a heap in the order of allocation with some references that go far.
#[test]
#[ignore = "measures time"]
fn the_search_takes_little_time_for_each_reference() {
    let (objects, each) = (5_000_000, 3);
    let mut random = crate::support::Random(7);
    let mut builder = HeapBuilder::with_capacity(objects, objects * each);
    let node = builder.add_type("Node", "", TypeKind::Instance);
    for object in 0..objects {
        builder.add_object(node, 32);
        for _ in 0..each {
            let near = (object + 1 + random.below(1000)) % objects;
            let target = if random.below(10) == 0 { random.below(objects) } else { near };
            builder.add_reference(id(target), Label::NONE, false);
        }
    }
    let group = builder.names().intern("root");
    builder.add_root(Root::new(id(0), RootKind::Global, group));
    let heap = builder.finish(Ids::Rows(0), None);
    let graph = Graph::of(&heap);
    let started = cpu_time::ProcessTime::now();
    let shortest = Shortest::of(&heap, &graph);
    let took = started.elapsed().as_nanos() as f64 / (objects * each) as f64;
    eprintln!("{took:.1} ns for each reference");
    assert!(shortest.by(id(objects - 1)).is_some() && took < 30.0, "{took} ns");
}

/// In Perl, objects that only hold each other have leaked.
#[test]
fn what_no_root_reaches_is_held_by_a_cycle() {
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let of = builder.add_type("HASH", "", TypeKind::Instance);
    let [a, b, c, d, e] = [1, 2, 3, 4, 5].map(ObjectId);
    // 0 counts as live and is passed over; a → b → a, b → c, and d → e without a cycle.
    for targets in [&[a][..], &[b], &[a, c], &[], &[e], &[]] {
        builder.add_object(of, 8);
        targets.iter().for_each(|target| builder.add_reference(*target, Label::NONE, false));
    }
    let heap = builder.finish(Ids::Rows(0), None);
    let referrers = Referrers::of(heap.references());
    let steps = |object| {
        let path = cycle(&heap, &referrers, |object| object.0 == 0, object)?;
        assert_eq!(path.origin, Origin::Cycle);
        Some(path.steps.iter().map(|step| step.object).collect::<Vec<_>>())
    };
    assert_eq!(steps(c), Some(vec![b, a, b, c]));
    assert_eq!(steps(a), Some(vec![a, b, a]));
    assert_eq!((steps(d), steps(e)), (None, None));
}

/// `path` and a click on the global object of a program searched for other paths to it in all that it
/// holds, which took minutes.
#[test]
fn other_paths_to_an_object_do_not_lead_through_what_it_keeps_alive() {
    const OBJECTS: usize = 50_000;
    let mut builder = HeapBuilder::with_capacity(OBJECTS, OBJECTS * 10);
    let node = builder.add_type("Node", "", TypeKind::Instance);
    let next = Label::field(builder.names().intern("next"));
    builder.add_object(node, 16);
    (1..OBJECTS).for_each(|object| builder.add_reference(id(object), next, false));
    for object in 1..OBJECTS {
        builder.add_object(node, 16);
        builder.add_reference(id(0), next, false);
        for step in [1, 7, 49, 343, 2401, 16807] {
            builder.add_reference(id(1 + (object + step) % (OBJECTS - 1)), next, false);
        }
    }
    let global = builder.names().intern("global");
    builder.add_root(Root::new(id(0), RootKind::Global, global));
    let heap = builder.finish(Ids::Rows(0), None);
    let start = Instant::now();
    assert_eq!(several(&heap, &Graph::of(&heap), id(0), 3).len(), 1);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
