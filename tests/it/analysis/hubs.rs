//! Objects to which most others refer, as in V8 to hidden classes.

use super::properties::others_dominators;
use crate::support::heap::Sketch;
use dumptool::analysis::dominators::{Dominators, SearchLimits};
use dumptool::analysis::graph::Graph;
use dumptool::model::heap::ObjectId;

/// The dominators of the objects, and those that are found.
fn assert_right(objects: u32, references: &[(u32, u32)], expected: impl Fn(u32) -> Option<u32>) {
    let sketch = Sketch::of(objects as usize, references, &[0]);
    let heap = sketch.heap();
    let graph = Graph::of(&heap);
    for least_of_hub in [SearchLimits::default().least_of_hub, 1, usize::MAX] {
        let limits = SearchLimits { least_of_hub, ..SearchLimits::default() };
        let dominators = Dominators::with_limits(&graph, limits);
        for object in 0..objects {
            let found = dominators.dominator(ObjectId(object)).map(|object| object.0);
            assert_eq!(found, expected(object), "{object}, hubs have {least_of_hub} references");
        }
    }
    let others = others_dominators(&sketch).into_iter();
    let others: Vec<_> = others.map(|object| object.map(|object| object as u32)).collect();
    assert_eq!(others, (0..objects).map(expected).collect::<Vec<_>>());
}

#[test]
fn a_table_dominates_its_entries_and_their_hidden_classes() {
    const ENTRIES: u32 = 100;
    let (table, class, text_class) = (1, 2, 3);
    let mut references = vec![(0, table), (class, text_class)];
    for entry in (4..).step_by(2).take(ENTRIES as usize) {
        let text = entry + 1;
        references.extend([(table, entry), (entry, class), (entry, text), (text, text_class)]);
    }
    assert_right(4 + 2 * ENTRIES, &references, |object| match object {
        0 => None,
        1 => Some(0),
        text if text > 4 && text % 2 == 1 => Some(text - 1),
        _ => Some(table),
    });
}

/// What owned objects dominate is not to be seen in a graph without them.
#[test]
fn an_owned_object_may_dominate_a_hub_and_what_that_leads_to() {
    let (owned, hub, below) = (1, 2, 3);
    let mut references = vec![(0, owned), (hub, below), (hub, below)];
    references.extend([(owned, hub); 20]);
    assert_right(4, &references, |object| object.checked_sub(1));
    // A second way from the object that owns it.
    for way in [vec![(0, hub)], vec![(0, 4), (4, hub)], vec![(0, 4), (4, below), (below, hub)]] {
        let ways = [references.as_slice(), &way].concat();
        assert_right(5, &ways, |object| match object {
            0 => None,
            3 if way.last() != Some(&(below, hub)) => Some(hub),
            4 if way.len() == 1 => None,
            _ => Some(0),
        });
    }
}
