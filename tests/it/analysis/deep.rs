//! Large graphs: as deep as they are large, on a small stack; those for which naive algorithms take
//! quadratic time; and one that several threads look at.

use super::properties::others_dominators;
use crate::support::heap::Sketch;
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live::live;
use dumptool::analysis::retained::Retained;
use dumptool::model::heap::{Heap, ObjectId};
use std::time::{Duration, Instant};

/// The benchmark `analysis` does the same with ten million.
const LENGTH: u32 = 500_000;

/// Runs something where recursion over the data would end the process.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(test).unwrap().join().unwrap();
}

fn list(length: u32) -> Vec<(u32, u32)> {
    (1..length).map(|object| (object - 1, object)).collect()
}

fn found(heap: &Heap<'_>) -> (usize, Dominators, Retained) {
    let graph = Graph::of(heap);
    let dominators = Dominators::of(&graph);
    let retained = Retained::of(heap, &dominators);
    (live(&graph).len(), dominators, retained)
}

#[test]
fn a_long_list() {
    on_a_small_stack(|| {
        let heap = Sketch::of(LENGTH as usize, &list(LENGTH), &[0]).heap();
        let (live, dominators, retained) = found(&heap);
        assert_eq!(live, LENGTH as usize);
        for row in (1..LENGTH).step_by(997) {
            assert_eq!(dominators.dominator(ObjectId(row)), Some(ObjectId(row - 1)));
            assert_eq!(retained.get(&dominators, ObjectId(row)), u64::from(LENGTH - row));
        }
    });
}

/// Algorithms that go over the graph until nothing changes need as many rounds as there are
/// objects.
#[test]
fn a_list_linked_both_ways_and_held_at_both_ends() {
    on_a_small_stack(|| {
        let mut references = list(LENGTH);
        references.extend((1..LENGTH).map(|object| (object, object - 1)));
        let heap = Sketch::of(LENGTH as usize, &references, &[0, LENGTH - 1]).heap();
        let (live, dominators, retained) = found(&heap);
        assert_eq!((live, retained.total()), (LENGTH as usize, LENGTH.into()));
        assert!(heap.objects().all(|object| dominators.dominator(object).is_none()));
    });
}

/// A list whose last object holds many that the first one holds as well. From each of those it is a
/// long way up.
#[test]
fn a_broom_does_not_take_quadratic_time() {
    let (handle, all) = (LENGTH / 2, LENGTH);
    let mut references = list(handle);
    references.extend((handle..all).flat_map(|object| [(handle - 1, object), (0, object)]));
    let heap = Sketch::of(all as usize, &references, &[0]).heap();
    let start = Instant::now();
    let (_, dominators, retained) = found(&heap);
    // A step takes a nanosecond or more, and there would be 62 billion.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(
        (handle..all)
            .step_by(97)
            .all(|row| dominators.dominator(ObjectId(row)) == Some(ObjectId(0)))
    );
    assert_eq!(retained.get(&dominators, ObjectId(1)), u64::from(handle - 1));
}

/// Most objects of such a graph have no dominator but the root, which is found level by level, and a few
/// thousand are dominated by others.
#[test]
fn a_graph_in_no_order_is_the_same_for_any_number_of_threads() {
    const OBJECTS: u32 = 100_000;
    let target =
        |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let references: Vec<(u32, u32)> = (0..3 * OBJECTS)
        .map(|number| (number / 3, (target(number) ^ target(number / 3)) as u32 % OBJECTS))
        .collect();
    for roots in [vec![0], (0..9).collect()] {
        let heap = Sketch::of(OBJECTS as usize, &references, &roots).heap();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Dominators::of(&Graph::of(&heap)))
        };
        let (one, four) = (with(1), with(4));
        assert_eq!(one.order(), four.order());
        let expected = others_dominators(&Sketch::of(OBJECTS as usize, &references, &roots));
        let mut held = 0;
        for (object, expected) in heap.objects().zip(expected) {
            assert_eq!(one.dominator(object).map(ObjectId::index), expected);
            assert_eq!(four.dominator(object).map(ObjectId::index), expected);
            held += usize::from(expected.is_some_and(|above| above != 0));
        }
        assert!(one.len() > 80_000 && (1000..30_000).contains(&held), "{} {held}", one.len());
    }
}

/// So many objects that several threads look at parts of them. Each holder has two objects, which
/// share one, which owns another.
#[test]
fn many_holders_dominate_what_their_objects_share_and_own() {
    const HOLDERS: u32 = 100_000;
    let [left, right, shared, owned] = [1, 2, 3, 4].map(|kind| kind * HOLDERS);
    let references = (0..HOLDERS).flat_map(|at| {
        [
            (at, left + at),
            (at, right + at),
            (left + at, shared + at),
            (right + at, shared + at),
            (shared + at, owned + at),
        ]
    });
    let holders: Vec<u32> = (0..HOLDERS).collect();
    let sketch = Sketch::of(5 * HOLDERS as usize, &references.collect::<Vec<_>>(), &holders);
    let heap = sketch.heap();
    let dominators = Dominators::of(&Graph::of(&heap));
    let retained = Retained::of(&heap, &dominators);
    for (kind, above, bytes) in [
        (0, None, 5),
        (left, Some(0), 1),
        (right, Some(0), 1),
        (shared, Some(0), 2),
        (owned, Some(shared), 1),
    ] {
        for at in 0..HOLDERS {
            let object = ObjectId(kind + at);
            let number = dominators.number(object).unwrap();
            assert_eq!(dominators.object(number), Some(object));
            assert_eq!(dominators.dominator(object), above.map(|kind| ObjectId(kind + at)));
            assert_eq!(retained.get(&dominators, object), bytes);
            assert_eq!(u64::from(dominators.end(number) - number), bytes);
        }
    }
}
