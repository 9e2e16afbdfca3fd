//! Thousands of small graphs: self loops, parallel references, parts that nothing reaches, several
//! roots, weak references and ephemerons.

use crate::support::heap::Sketch;
use dumptool::analysis::dominators::{Dominators, SearchLimits};
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live::live;
use dumptool::analysis::referrers::Referrers;
use dumptool::analysis::retained::Retained;
use dumptool::analysis::root_groups::RootGroups;
use dumptool::analysis::threads::Threads;
use dumptool::model::heap::{Heap, ObjectId};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::DiGraph;
use proptest::collection::vec;
use proptest::prelude::*;

const CASES: u32 = 4000;

/// Graphs of up to this many objects: large enough for every shape that a proof distinguishes.
const MOST: u32 = 20;

fn sketches() -> impl Strategy<Value = Sketch> {
    (1..=MOST).prop_flat_map(|objects| {
        let object = 0..objects;
        let reference = (object.clone(), object.clone(), prop::bool::weighted(0.15));
        (
            vec(0..1000u64, objects as usize),
            vec(reference, 0..=3 * objects as usize),
            vec(object.clone(), 0..4),
            prop_oneof![2 => Just(Vec::new()).boxed(), 1 => vec((object.clone(), object.clone(), object.clone()), 1..6).boxed()],
            vec((object, 1..1000u64), 0..3),
            prop::bool::weighted(0.2),
        )
            .prop_map(|(sizes, references, roots, ephemerons, external, root_object)| Sketch {
                sizes,
                references,
                roots,
                ephemerons,
                external,
                root_object,
            })
    })
}

fn objects(heap: &Heap<'_>) -> impl Iterator<Item = (usize, ObjectId)> + use<> {
    heap.objects().map(|object| (object.index(), object))
}

/// For each object, its dominator if it has one, by taking away each object in turn: `dies[d][v]`
/// if v is alive only as long as d is. The immediate dominator is the one that all other dominators
/// dominate.
fn naive_dominators(dies: &[Vec<bool>], object: usize) -> Option<usize> {
    let above = |object: usize| {
        (0..dies.len()).filter(move |other| *other != object && dies[*other][object])
    };
    above(object).max_by_key(|dominator| above(*dominator).count())
}

fn dies(sketch: &Sketch) -> Vec<Vec<bool>> {
    let live = sketch.live_without(None);
    let die = |gone| {
        live.iter()
            .zip(sketch.live_without(Some(gone)))
            .map(|(before, after)| *before && !after)
            .collect()
    };
    (0..sketch.sizes.len()).map(die).collect()
}

/// Dominators by another library, which has no ephemerons and one root.
pub(crate) fn others_dominators(sketch: &Sketch) -> Vec<Option<usize>> {
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<_> = (0..=sketch.sizes.len()).map(|_| graph.add_node(())).collect();
    let roots = *nodes.last().unwrap();
    let starts = if sketch.root_object { 1 } else { usize::MAX };
    sketch
        .roots
        .iter()
        .take(starts)
        .for_each(|root| _ = graph.add_edge(roots, nodes[*root as usize], ()));
    for (from, to, _) in sketch.references.iter().filter(|(_, _, weak)| !weak) {
        graph.add_edge(nodes[*from as usize], nodes[*to as usize], ());
    }
    let dominators = simple_fast(&graph, roots);
    let dominator =
        |node| dominators.immediate_dominator(node).filter(|dominator| *dominator != roots);
    nodes[..sketch.sizes.len()]
        .iter()
        .map(|node| dominator(*node).map(|dominator| dominator.index()))
        .collect()
}

/// What roots hold does not depend on how it is found out.
#[track_caller]
pub(crate) fn assert_same_holders(heap: &Heap<'_>) {
    let graph = Graph::of(heap);
    let dominators = Dominators::of(&graph);
    let plain = RootGroups::of(heap, &graph);
    let held = RootGroups::of_dominators(heap, &graph, &dominators);
    assert_eq!((&held.groups, &held.kinds), (&plain.groups, &plain.kinds));
    for (row, object) in objects(heap) {
        assert_eq!(held.holder(&dominators, object), plain.holder(&dominators, object), "{row}");
    }
    for each in [false, true] {
        let plain = Threads::of(heap, &graph, each);
        let held = Threads::of_dominators(heap, &graph, &dominators, each);
        assert_eq!((held.groups, held.retained), (plain.groups, plain.retained));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_living_are_those_that_roots_reach(sketch in sketches()) {
        let heap = sketch.heap();
        let graph = Graph::of(&heap);
        let (found, dominators) = (live(&graph), Dominators::of(&graph));
        let expected = sketch.live_without(None);
        for (row, object) in objects(&heap) {
            prop_assert_eq!(found.contains(object), expected[row], "{}", row);
            prop_assert_eq!(dominators.is_live(object), expected[row], "{}", row);
            prop_assert_eq!(dominators.number(object).and_then(|number| dominators.object(number)), expected[row].then_some(object));
        }
        let count = expected.iter().filter(|live| **live).count();
        prop_assert_eq!((found.len(), dominators.len(), dominators.order().len()), (count, count, count));
    }

    #[test]
    fn dominators_are_those_without_which_an_object_dies(sketch in sketches()) {
        let heap = sketch.heap();
        let graph = Graph::of(&heap);
        let plain = sketch.without_ephemerons();
        let (dies, others) = (dies(&plain), others_dominators(&plain));
        // Both ways from semidominators to dominators, and changing from one to the other; narrow
        // words and wide ones; many hubs, few and none.
        for (steps, most_narrow, least_of_hub) in [(64, u64::MAX, 99), (0, u64::MAX, 2), (1, 0, 1), (64, u64::MAX, 3)] {
            let dominators = Dominators::with_limits(&graph, SearchLimits { steps_per_object: steps, most_narrow, least_of_hub });
            for (row, object) in objects(&heap) {
                let found = dominators.dominator(object).map(ObjectId::index);
                prop_assert_eq!(found, naive_dominators(&dies, row), "{} by taking away, {} steps", row, steps);
                prop_assert_eq!(found, others[row], "{} by petgraph, {} steps", row, steps);
            }
            // Preorder: what an object dominates follows it without a gap.
            for number in 0..=dominators.len() as u32 {
                let dominated = |other: &u32| {
                    let above = std::iter::successors(Some(*other), |at| (*at > 0).then(|| dominators.dominator_of_number(*at)));
                    above.into_iter().any(|at| at == number)
                };
                let all: Vec<u32> = (0..=dominators.len() as u32).filter(dominated).collect();
                prop_assert_eq!(&all, &(number..dominators.end(number)).collect::<Vec<_>>());
                let children: Vec<u32> = all.into_iter().skip(1).filter(|at| dominators.dominator_of_number(*at) == number).collect();
                prop_assert_eq!(dominators.children(number).collect::<Vec<_>>(), children);
            }
        }
    }

    #[test]
    fn roots_hold_the_same_with_dominators_and_without(sketch in sketches()) {
        assert_same_holders(&sketch.heap());
    }

    #[test]
    fn retained_bytes_are_those_that_go(sketch in sketches()) {
        let heap = sketch.heap();
        let dominators = Dominators::of(&Graph::of(&heap));
        let retained = Retained::of(&heap, &dominators);
        let sum = |dies: &[bool]| (0..dies.len()).filter(|row| dies[*row]).map(|row| sketch.bytes(row)).sum::<u64>();
        let (plain, exact) = (dies(&sketch.without_ephemerons()), dies(&sketch));
        for (row, object) in objects(&heap) {
            let found = retained.get(&dominators, object);
            prop_assert_eq!(found, sum(&plain[row]), "{}", row);
            prop_assert!(found <= sum(&exact[row]), "{} retains {} at most", row, sum(&exact[row]));
        }
        prop_assert_eq!(retained.total(), sum(&sketch.live_without(None)));
    }

    #[test]
    fn referrers_are_references_backwards(sketch in sketches()) {
        let heap = sketch.heap();
        let referrers = Referrers::of(heap.references());
        for object in heap.objects() {
            let to_it = sketch.references.iter().filter(|(_, to, _)| *to == object.0).map(|(from, ..)| ObjectId(*from));
            let mut expected: Vec<_> = to_it.collect();
            expected.sort_unstable();
            prop_assert_eq!(referrers.of_object(object).collect::<Vec<_>>(), expected);
        }
    }
}
