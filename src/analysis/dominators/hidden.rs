//! Dominators that a graph without owned objects cannot show.

use super::Core;
use crate::analysis::graph::Graph;
use crate::analysis::object_set::{ObjectSet, Ranked};
use crate::analysis::owned::Owned;
use crate::model::heap::ObjectId;
use crate::parallel::{self, PART};
use rustc_hash::FxHashMap;

/// Whether no owned object dominates an object that is not owned, so that dominators are right.
///
/// Where an owned object dominates others that are not owned, it dominates one of the hubs to which
/// it leads, and the object that owns it is what the search takes for that hub's dominator. So it is
/// enough to look at what the dominators of hubs own.
pub(super) fn hide_nothing(
    graph: &Graph<'_>,
    owned: &Owned,
    Core { numbers, dominator }: &Core,
) -> bool {
    let others = Ranked::of(ObjectSet { bits: owned.other_words(graph.len()).collect() });
    let dominator = |hub| dominator[numbers[others.place(hub) as usize] as usize];
    let mut dominated: FxHashMap<u32, Vec<ObjectId>> = FxHashMap::default();
    for hub in owned.hubs().set().objects() {
        dominated.entry(dominator(hub)).or_default().push(hub);
    }
    // The set of roots owns nothing.
    dominated.remove(&0);
    if dominated.is_empty() {
        return true;
    }
    let mut is_wanted = ObjectSet::none(numbers.len() + 1);
    dominated.keys().for_each(|number| _ = is_wanted.insert(ObjectId(*number)));
    let found = parallel::map(numbers.chunks(PART).enumerate(), |(part, numbers)| {
        let wanted = |(_, number): &(usize, &u32)| is_wanted.contains(ObjectId(**number));
        let found = numbers.iter().enumerate().filter(wanted);
        found.map(|(at, number)| (part * PART + at, *number)).collect::<Vec<_>>()
    });
    found.into_iter().flatten().all(|(place, number)| {
        let object = others.object(place as u32);
        is_immediate(graph, owned, object, dominated.get(&number).map_or(&[], Vec::as_slice))
    })
}

/// Whether nothing that an object owns dominates one of the hubs that the object dominates.
fn is_immediate(graph: &Graph<'_>, owned: &Owned, object: ObjectId, hubs: &[ObjectId]) -> bool {
    let targets: Vec<ObjectId> = graph.targets(object).collect();
    let through = parallel::map(targets.chunks(PART / 8), |targets| {
        let mut through = vec![Through::Nothing; hubs.len()];
        let mut add = |hub: ObjectId, way: Through| {
            if let Ok(at) = hubs.binary_search(&hub) {
                through[at] = through[at].and(way);
            }
        };
        for target in targets {
            if owned.contains(*target) {
                let way = Through::Owned(*target);
                owned.for_each_hub_below(graph, *target, &mut |hub| add(hub, way));
            } else {
                add(*target, Through::Several);
            }
        }
        through
    });
    (0..hubs.len()).all(|hub| {
        let all = through.iter().map(|through| through[hub]);
        !matches!(all.fold(Through::Nothing, Through::and), Through::Owned(_))
    })
}

/// How an object leads to a hub that it dominates, itself or through what it owns.
#[derive(Clone, Copy, PartialEq)]
enum Through {
    Nothing,
    /// Only through this object, which it owns, and what that one owns. So that one may dominate the hub.
    Owned(ObjectId),
    /// In several ways that have no object in common, or itself.
    Several,
}

impl Through {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, one) | (one, Self::Nothing) => one,
            (one, other) if one == other => one,
            _ => Self::Several,
        }
    }
}
