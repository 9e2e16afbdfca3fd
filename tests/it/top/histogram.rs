//! Counts and retained bytes by type and by root, against what is found by taking objects away.

use super::sketches::{GROUPS, TYPES, Typed, typed};
use crate::support::heap::Sketch;
use dumptool::analysis::core_tree::CoreTree;
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::dominators::SearchLimits;
use dumptool::analysis::glob::{Glob, TypeFilter};
use dumptool::analysis::graph::Graph;
use dumptool::analysis::histogram::{GroupBy, Histogram, Scope};
use dumptool::analysis::root_groups::RootGroups;
use dumptool::analysis::together::Together;
use dumptool::model::builder::HeapBuilder;
use dumptool::model::sum::Sum;

const CASES: u64 = 3000;

/// Bytes that go when an object goes.
fn retained(of: &Typed, object: usize) -> u64 {
    let (before, after) = (of.sketch.live_without(None), of.sketch.live_without(Some(object)));
    let goes = (0..before.len()).filter(|other| before[*other] && !after[*other]);
    goes.map(|other| of.sketch.bytes(other)).sum()
}

/// Whether another object of the type takes this one along when it goes.
fn is_below_its_type(of: &Typed, object: usize) -> bool {
    let same = (0..of.types.len())
        .filter(|other| *other != object && of.types[*other] == of.types[object]);
    let live = of.sketch.live_without(None);
    same.filter(|other| live[*other]).any(|other| !of.sketch.live_without(Some(other))[object])
}

#[test]
fn types_have_the_numbers_of_naive_counting() {
    for seed in 0..CASES {
        let of = typed(seed);
        let live = of.sketch.live_without(None);
        let tree = DominatorTree::new(&of.heap);
        let histogram = |scope| Histogram::of(&of.heap, Some(&tree), GroupBy::Type, scope);
        let (alive, all, dead) =
            (histogram(Scope::Live), histogram(Scope::All), histogram(Scope::Unreachable));
        for number in 0..TYPES - 1 {
            let objects = || (0..live.len()).filter(|object| of.types[*object] == Some(number));
            let count = |of: &Histogram| {
                let row = of.rows.iter().find(|row| row.name == format!("T{number}"));
                row.map_or((0, 0, Some(0)), |row| {
                    (row.sum.count, row.sum.bytes(), row.retained_bytes)
                })
            };
            let expected = |objects: Vec<usize>, retained: u64| {
                (
                    objects.len() as u64,
                    objects.iter().map(|object| of.sketch.bytes(*object)).sum(),
                    Some(retained),
                )
            };
            let top = objects().filter(|object| live[*object] && !is_below_its_type(&of, *object));
            let retained: u64 = top.map(|object| retained(&of, object)).sum();
            assert_eq!(
                count(&alive),
                expected(objects().filter(|object| live[*object]).collect(), retained),
                "seed {seed}"
            );
            assert_eq!(
                count(&dead),
                expected(objects().filter(|object| !live[*object]).collect(), 0),
                "seed {seed}"
            );
            // A row without live objects may still be there when all count.
            assert_eq!(count(&all), expected(objects().collect(), retained), "seed {seed}");
        }
        assert_eq!(alive.unreachable, Some(dead.total), "seed {seed}");
        let mut sum = alive.total;
        sum.add_sum(&dead.total);
        assert_eq!(sum, all.total, "seed {seed}");
    }
}

#[test]
fn the_tree_without_owned_objects_counts_the_same() {
    for seed in 0..CASES {
        let of = typed(seed);
        let graph = Graph::of(&of.heap);
        let tree = DominatorTree::of_graph(&of.heap, &graph);
        // Every object is a hub, or few or none are.
        let limits =
            SearchLimits { least_of_hub: [1, 3, 99][seed as usize % 3], ..SearchLimits::default() };
        let core = CoreTree::with_limits(&of.heap, &graph, limits);
        let all = TypeFilter::default();
        for by in [GroupBy::Type, GroupBy::Namespace, GroupBy::SizeClass] {
            for scope in [Scope::Live, Scope::All, Scope::Unreachable] {
                assert_eq!(
                    Histogram::of_types(&of.heap, Some(&core), by, scope, &all),
                    Histogram::of_types(&of.heap, Some(&tree), by, scope, &all),
                    "seed {seed} {by:?} {scope:?}"
                );
            }
        }
    }
}

/// Sums of owned objects are kept in 4 bytes until they are needed.
#[test]
fn owned_objects_may_take_more_than_four_gigabytes() {
    const LARGE: [u64; 3] = [u32::MAX as u64 - 16, u32::MAX as u64, 1 << 40];
    for large in LARGE {
        let sketch = Sketch {
            sizes: vec![16, large, large, 16, large],
            references: vec![(0, 1, false), (1, 2, false), (3, 4, false)],
            roots: vec![0],
            ..Sketch::default()
        };
        let heap = sketch.heap();
        let graph = Graph::of(&heap);
        let core = CoreTree::of(&heap, &graph);
        let live = Histogram::of_types(
            &heap,
            Some(&core),
            GroupBy::Type,
            Scope::Live,
            &TypeFilter::default(),
        );
        let [row] = &live.rows[..] else { panic!("{:?}", live.rows) };
        assert_eq!((row.sum.count, row.retained_bytes), (3, Some(16 + 2 * large)));
        assert_eq!(live.unreachable.map(|dead| dead.bytes()), Some(16 + large));
    }
}

/// `check` added up what each type retains, so that the sum was above the live heap.
#[test]
fn types_together_retain_what_goes_when_all_of_them_go() {
    let mut shared = 0;
    for seed in 0..CASES / 5 {
        let of = typed(seed);
        let graph = Graph::of(&of.heap);
        let tree = DominatorTree::of_graph(&of.heap, &graph);
        let live = of.sketch.live_without(None);
        let bytes = |objects: &dyn Fn(usize) -> bool| -> u64 {
            (0..live.len())
                .filter(|object| live[*object] && objects(*object))
                .map(|object| of.sketch.bytes(object))
                .sum()
        };
        for wanted in 0..1 << (TYPES - 1) {
            let is_wanted =
                |object: usize| of.types[object].is_some_and(|number| wanted >> number & 1 == 1);
            let named = |name: &str| {
                (0..TYPES - 1)
                    .any(|number| wanted >> number & 1 == 1 && name == format!("T{number}"))
            };
            let types: Vec<bool> =
                of.heap.types().iter().map(|kind| named(of.heap.names().text(kind.name))).collect();
            let together = Together::of(&of.heap, Some((&graph, &tree)), &types);
            let left = of.sketch.live_if(|object| !is_wanted(object));
            assert_eq!(
                together.retained_bytes,
                Some(bytes(&|object| !left[object])),
                "seed {seed}, types {wanted:b}"
            );
            assert_eq!(together.sum.bytes(), bytes(&is_wanted), "seed {seed}, types {wanted:b}");
            let parts: u64 = together.parts.iter().map(|part| part.retained_bytes).sum();
            assert!(Some(parts) <= together.retained_bytes, "seed {seed}, types {wanted:b}");
            shared += u64::from(Some(parts) < together.retained_bytes);
        }
    }
    assert!(shared > 100, "{shared}");
}

#[test]
fn filters_leave_out_types_and_say_the_whole() {
    let globs = |text: &str| Some(Glob::new(text));
    for seed in 0..CASES / 10 {
        let of = typed(seed);
        let graph = Graph::of(&of.heap);
        let tree = DominatorTree::of_graph(&of.heap, &graph);
        let roots = RootGroups::of(&of.heap, &graph);
        for scope in [Scope::Live, Scope::All, Scope::Unreachable] {
            let plain = Histogram::of(&of.heap, Some(&tree), GroupBy::Type, scope);
            assert_eq!(plain.whole, plain.total, "seed {seed}");
            let only = TypeFilter { of: globs("T1"), ..TypeFilter::default() };
            let without = TypeFilter {
                exclude: globs("T1"),
                namespace: globs("app"),
                ..TypeFilter::default()
            };
            let [only, without] = [only, without].map(|filter| {
                Histogram::of_types(&of.heap, Some(&tree), GroupBy::Type, scope, &filter)
            });
            assert_eq!((only.whole, without.whole), (plain.total, plain.total), "seed {seed}");
            let (rows, others): (Vec<_>, Vec<_>) =
                plain.rows.into_iter().partition(|row| row.name == "T1");
            assert_eq!((only.rows, without.rows), (rows, others), "seed {seed}");
        }
        let by_root = Histogram::by_root(&of.heap, &tree, &roots);
        // With a filter, each object is looked at.
        let all = TypeFilter { of: globs("*"), ..TypeFilter::default() };
        let of_objects = Histogram::by_root_of_types(&of.heap, &tree, &roots, &all);
        assert_eq!(of_objects, by_root, "seed {seed}");
        let none = TypeFilter { namespace: globs("other"), ..TypeFilter::default() };
        let left = Histogram::by_root_of_types(&of.heap, &tree, &roots, &none);
        assert_eq!((left.rows.len(), left.whole), (0, by_root.total), "seed {seed}");
    }
}

#[test]
fn size_classes_and_namespaces_add_up() {
    for seed in 0..CASES / 10 {
        let of = typed(seed);
        let tree = DominatorTree::new(&of.heap);
        let by_type = Histogram::of(&of.heap, Some(&tree), GroupBy::Type, Scope::Live);
        for by in [GroupBy::Namespace, GroupBy::SizeClass] {
            let histogram = Histogram::of(&of.heap, Some(&tree), by, Scope::Live);
            assert_eq!(
                (histogram.total, histogram.unreachable),
                (by_type.total, by_type.unreachable),
                "seed {seed} {by:?}"
            );
            assert!(
                histogram.rows.iter().all(|row| row.retained_bytes >= Some(row.sum.bytes())),
                "seed {seed} {by:?}"
            );
        }
        // All objects are of one namespace: nothing else retains anything.
        let namespaces = Histogram::of(&of.heap, Some(&tree), GroupBy::Namespace, Scope::Live);
        assert!(
            namespaces.rows.iter().all(|row| row.retained_bytes == Some(namespaces.total.bytes())),
            "seed {seed}"
        );
    }
}

#[test]
fn roots_have_what_they_alone_reach() {
    for seed in 0..CASES {
        let of = typed(seed);
        if of.sketch.root_object {
            continue;
        }
        let graph = Graph::of(&of.heap);
        let tree = DominatorTree::of_graph(&of.heap, &graph);
        let histogram = Histogram::by_root(&of.heap, &tree, &RootGroups::of(&of.heap, &graph));
        let reached_by = |wanted: &dyn Fn(u32) -> bool| {
            let mut sketch = of.sketch.clone();
            let roots = of.sketch.roots.iter().zip(&of.groups).filter(|(_, group)| wanted(**group));
            sketch.roots = roots.map(|(root, _)| *root).collect();
            sketch.live_without(None)
        };
        let mut alone = Sum::default();
        for group in 0..GROUPS {
            let (own, others) =
                (reached_by(&|other| other == group), reached_by(&|other| other != group));
            let objects: Vec<_> =
                (0..own.len()).filter(|object| own[*object] && !others[*object]).collect();
            let expected =
                (objects.len() as u64, objects.iter().map(|object| of.sketch.bytes(*object)).sum());
            let row = histogram.rows.iter().find(|row| row.name == format!("group {group}"));
            assert_eq!(
                row.map_or((0, 0), |row| (row.sum.count, row.sum.bytes())),
                expected,
                "seed {seed} group {group}"
            );
            row.iter().for_each(|row| alone.add_sum(&row.sum));
        }
        let several = histogram.rows.iter().filter(|row| row.name == "several other roots");
        several.into_iter().for_each(|row| alone.add_sum(&row.sum));
        assert_eq!(alone, histogram.total, "seed {seed}");
        assert_eq!(
            histogram.total,
            Histogram::of(&of.heap, Some(&tree), GroupBy::Type, Scope::Live).total,
            "seed {seed}"
        );
    }
}

#[test]
fn without_roots_all_objects_count_and_nothing_is_retained() {
    let mut of = typed(2);
    let mut builder = HeapBuilder::from_heap(of.heap);
    builder.clear_roots();
    of.heap = builder.finish_edited();
    assert!(DominatorTree::new(&of.heap).is_empty());
    for scope in [Scope::Live, Scope::All, Scope::Unreachable] {
        let histogram = Histogram::of(&of.heap, None, GroupBy::Type, scope);
        assert_eq!(histogram.total.count, of.heap.len() as u64);
        assert_eq!(histogram.unreachable, None);
        assert!(histogram.rows.iter().all(|row| row.retained_bytes.is_none()));
    }
}
