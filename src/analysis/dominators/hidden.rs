//! Dominators that a graph without owned objects cannot show.

use super::Core;
use crate::analysis::graph::Graph;
use crate::analysis::object_set::{ObjectSet, Ranked};
use crate::analysis::owned::Owned;
use crate::model::heap::ObjectId;
use crate::parallel::{self, PART};
use rustc_hash::{FxHashMap, FxHashSet};

/// The hubs that owned objects may dominate. If there are none, all dominators are right.
///
/// Where an owned object dominates others that are not owned, it dominates one of the hubs to which
/// it leads, and the object that owns it is what the search takes for that hub's dominator. So it is
/// enough to look at what the dominators of hubs own.
pub(super) fn hidden(graph: &Graph<'_>, owned: &Owned, core: &Core) -> Vec<ObjectId> {
    let others = Ranked::of(ObjectSet { bits: owned.other_words(graph.len()).collect() });
    let mut dominated: FxHashMap<u32, Vec<ObjectId>> = FxHashMap::default();
    let numbered = Numbered { graph, owned, core, others };
    for hub in owned.hubs().set().objects() {
        dominated.entry(core.dominator[numbered.number(hub) as usize]).or_default().push(hub);
    }
    // The set of roots owns nothing.
    dominated.remove(&0);
    if dominated.is_empty() {
        return Vec::new();
    }
    let mut is_wanted = ObjectSet::none(core.dominator.len());
    dominated.keys().for_each(|number| _ = is_wanted.insert(ObjectId(*number)));
    let parts = core.numbers.chunks(PART).enumerate();
    let found = parallel::map(parts, |(part, numbers)| {
        let wanted = |(_, number): &(usize, &u32)| is_wanted.contains(ObjectId(**number));
        let found = numbers.iter().enumerate().filter(wanted);
        found.map(|(at, number)| (part * PART + at, *number)).collect::<Vec<_>>()
    });
    // Ways up the tree are short, except from the ends of long lists.
    let mut steps = core.dominator.len();
    let mut hidden = Vec::new();
    for (place, number) in found.into_iter().flatten() {
        let object = numbered.others.object(place as u32);
        let hubs = dominated.get(&number).map(Vec::as_slice).unwrap_or_default();
        hidden.extend(numbered.hidden_by(object, hubs, &mut steps));
    }
    hidden
}

/// The graph with the numbers of objects that are not owned.
struct Numbered<'n, 'h> {
    graph: &'n Graph<'h>,
    owned: &'n Owned,
    core: &'n Core,
    others: Ranked,
}

impl Numbered<'_, '_> {
    /// The number of an object that is not owned; 0 if no root reaches it.
    fn number(&self, object: ObjectId) -> u32 {
        self.core.numbers[self.others.place(object) as usize]
    }

    /// Those of the hubs that an object dominates which may have a nearer dominator: an object that it
    /// owns. Takes at most as many steps up the dominator tree as are left.
    fn hidden_by(&self, object: ObjectId, hubs: &[ObjectId], steps: &mut usize) -> Vec<ObjectId> {
        let through = self.through(object, hubs).into_iter().zip(hubs);
        let only = through.filter(|(through, _)| matches!(through, Through::Owned(_)));
        let mut hidden: Vec<ObjectId> = only.map(|(_, hub)| *hub).collect();
        if hidden.is_empty() {
            return hidden;
        }
        let targets = self.graph.targets(object).filter(|target| !self.owned.contains(*target));
        let direct: FxHashSet<u32> = targets.map(|target| self.number(target)).collect();
        let above = self.number(object);
        hidden.retain(|hub| !self.is_reached_otherwise(*hub, above, &direct, steps));
        hidden
    }

    /// How an object leads to each of these hubs.
    fn through(&self, object: ObjectId, hubs: &[ObjectId]) -> Vec<Through> {
        let Self { graph, owned, .. } = self;
        let targets: Vec<ObjectId> = graph.targets(object).collect();
        let parts = parallel::map(targets.chunks(PART), |targets| {
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
        let all =
            |hub: usize| parts.iter().map(|part| part[hub]).fold(Through::Nothing, Through::and);
        (0..hubs.len()).map(all).collect()
    }

    /// Whether one of the objects to which the dominator of a hub refers itself dominates a referrer of
    /// the hub. The way through these two passes no object that the dominator owns.
    fn is_reached_otherwise(
        &self,
        hub: ObjectId,
        dominator: u32,
        direct: &FxHashSet<u32>,
        steps: &mut usize,
    ) -> bool {
        let others = self.owned.hubs().referrers(hub).filter(|from| !self.owned.contains(*from));
        others.map(|referrer| self.number(referrer)).any(|mut number| {
            while number != 0 && self.core.dominator[number as usize] != dominator {
                let Some(rest) = steps.checked_sub(1) else { return false };
                *steps = rest;
                number = self.core.dominator[number as usize];
            }
            number != 0 && number != self.number(hub) && direct.contains(&number)
        })
    }
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
