//! Graphs small enough to be drawn.

use crate::support::heap::Sketch;
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live::live;
use dumptool::analysis::retained::Retained;
use dumptool::model::heap::ObjectId;

fn dominators(sketch: &Sketch) -> Vec<Option<u32>> {
    let heap = sketch.heap();
    let dominators = Dominators::of(&Graph::of(&heap));
    heap.objects().map(|object| dominators.dominator(object).map(|dominator| dominator.0)).collect()
}

#[test]
fn a_heap_without_objects_or_roots_has_nothing_alive() {
    for sketch in [Sketch::default(), Sketch::of(3, &[(0, 1), (1, 2)], &[])] {
        let heap = sketch.heap();
        let graph = Graph::of(&heap);
        let dominators = Dominators::of(&graph);
        assert!(dominators.len() == 0 && live(&graph).is_empty());
        assert_eq!(Retained::of(&heap, &dominators).total(), 0);
    }
}

/// The example of Lengauer and Tarjan's paper (1979, figures 1 to 3), R being 0 and A to L being 1
/// to 12.
#[test]
fn the_example_of_the_paper() {
    let references = [
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 4),
        (2, 1),
        (2, 4),
        (2, 5),
        (3, 6),
        (3, 7),
        (4, 12),
        (5, 8),
        (6, 9),
        (7, 9),
        (7, 10),
        (8, 5),
        (8, 11),
        (9, 11),
        (10, 9),
        (11, 9),
        (11, 0),
        (12, 8),
    ];
    let expected = [0, 0, 0, 0, 0, 3, 3, 0, 0, 7, 0, 4].map(Some);
    assert_eq!(dominators(&Sketch::of(13, &references, &[0]))[1..], expected);
}

#[test]
fn who_is_held_by_two_roots_has_no_dominator() {
    // 0 -> 1 -> 2, and a root holds 2 as well.
    assert_eq!(dominators(&Sketch::of(3, &[(0, 1), (1, 2)], &[0, 2])), [None, Some(0), None]);
    // In another order of the roots, when 2 has been found already.
    assert_eq!(dominators(&Sketch::of(3, &[(0, 1), (1, 2)], &[2, 0])), [None, Some(0), None]);
}

#[test]
fn the_value_of_an_ephemeron_goes_with_its_holder() {
    // 0 holds the holder 1 and the key 2; the value 3 holds 4.
    let mut sketch = Sketch::of(5, &[(0, 1), (0, 2), (3, 4)], &[0]);
    sketch.ephemerons = vec![(1, 2, 3)];
    assert_eq!(dominators(&sketch), [None, Some(0), Some(0), Some(1), Some(3)]);
    // A value that is its own key's only holder is dead, as is its key.
    let mut sketch = Sketch::of(4, &[(0, 1), (3, 2)], &[0]);
    sketch.ephemerons = vec![(1, 2, 3)];
    assert_eq!(live(&Graph::of(&sketch.heap())).len(), 2);
}

/// Every value is the key of the next one, and the next one comes before it: who looks at all of
/// them in rounds needs as many rounds as there are ephemerons.
#[test]
fn a_chain_of_ephemerons_is_followed_in_one_go() {
    const LENGTH: u32 = 200_000;
    let mut sketch = Sketch::of(LENGTH as usize + 1, &[], &[LENGTH]);
    sketch.ephemerons = (0..LENGTH).map(|value| (value + 1, value + 1, value)).collect();
    let heap = sketch.heap();
    let graph = Graph::of(&heap);
    assert_eq!(live(&graph).len(), LENGTH as usize + 1);
    assert_eq!(Dominators::of(&graph).dominator(ObjectId(0)), Some(ObjectId(1)));
}
