//! The highest owners of a heap: what stands below the roots when all objects are opened that hold
//! much but mean little to a person.

use super::descent::Descent;
use super::scene::{Group, Scene};
use crate::analysis::object_set::ObjectSet;
use crate::model::heap::{ObjectId, Role};

/// Rounds in which objects are opened. Each goes down by a fan-out.
const MOST_ROUNDS: usize = 16;

/// Fewer class loaders of one type are opened, so that their classes show.
const MANY_LOADERS: usize = 3;

/// The highest owners.
pub(super) struct Partition {
    /// Numbers of objects whose contents are divided, as a set.
    opened: ObjectSet,
    /// Numbers, ascending.
    pub(super) tops: Vec<u32>,
}

impl Partition {
    /// Divides a heap into owners. Single objects with more than `least` bytes are opened down to
    /// the collection in which their memory accumulates.
    pub(super) fn of(scene: &Scene<'_, '_>, least: u64) -> Self {
        let (mut all, mut open) = Self::closed(scene);
        let mut tops = Vec::new();
        for round in 0..=MOST_ROUNDS {
            all.open(scene, &mut open, &mut tops);
            if round == MOST_ROUNDS {
                break;
            }
            for group in scene.groups(tops.iter().copied()) {
                if group.bytes < least {
                    break;
                }
                open.extend(alone(scene, &group, least).flat_map(|single| opened(scene, single)));
            }
            open.retain(|number| all.opened.insert(ObjectId(*number)));
            if open.is_empty() {
                break;
            }
            tops.retain(|number| !all.opened.contains(ObjectId(*number)));
        }
        all.tops = tops;
        all.tops.sort_unstable();
        all
    }

    /// Divides a heap so that these objects are owners.
    pub(super) fn around(scene: &Scene<'_, '_>, owners: &[u32]) -> Self {
        let (mut all, mut open) = Self::closed(scene);
        for &owner in owners {
            let mut above = scene.dominator(owner);
            while all.opened.insert(ObjectId(above)) {
                open.push(above);
                above = scene.dominator(above);
            }
        }
        let mut tops = Vec::new();
        all.open(scene, &mut open, &mut tops);
        all.tops = tops;
        all.tops.sort_unstable();
        all
    }

    /// Everything below the roots, which are to be opened.
    fn closed(scene: &Scene<'_, '_>) -> (Self, Vec<u32>) {
        let mut opened = ObjectSet::none(scene.of.tree.dominators.len() + 1);
        opened.insert(ObjectId(0));
        (Self { opened, tops: Vec::new() }, vec![0])
    }

    /// Moves the children of opened objects to the tops, and opens those that are passages.
    fn open(&mut self, scene: &Scene<'_, '_>, open: &mut Vec<u32>, tops: &mut Vec<u32>) {
        while let Some(number) = open.pop() {
            for child in scene.children(number) {
                if self.is_open(child) {
                    continue;
                }
                if is_passage(scene, child) {
                    self.opened.insert(ObjectId(child));
                    open.push(child);
                } else {
                    tops.push(child);
                }
            }
        }
    }

    /// Whether the contents of an object are divided.
    pub(super) fn is_open(&self, number: u32) -> bool {
        self.opened.contains(ObjectId(number))
    }
}

fn is_passage(scene: &Scene<'_, '_>, number: u32) -> bool {
    match scene.role(number) {
        Role::Passage => true,
        Role::Loader => scene.loaders_of(scene.kin(number)) < MANY_LOADERS,
        _ => false,
    }
}

/// The members of a group that hold so much that each is looked at by itself.
pub(super) fn alone<'g>(
    scene: &'g Scene<'_, '_>,
    group: &'g Group,
    least: u64,
) -> impl Iterator<Item = u32> + 'g {
    let outweighs = move |number: &u32| {
        let bytes = scene.bytes(*number);
        bytes >= least && bytes > group.bytes / 2
    };
    group.heads.iter().copied().filter(outweighs)
}

/// The objects on the way from an owner to what it is the owner of: all but the last.
fn opened(scene: &Scene<'_, '_>, single: u32) -> Vec<u32> {
    let descent = Descent::of(scene, scene.single(single));
    let singles: Vec<u32> = descent.steps.iter().map_while(Group::single).collect();
    let stays = match singles.len() < descent.steps.len() {
        // Several large groups, of which none is nearly all: the object is opened too.
        false if splits(scene, &descent) => singles.len(),
        _ => descent.container(scene, descent.element(scene)).unwrap_or(0),
    };
    singles.into_iter().take(stays).collect()
}

/// Whether the object at the end of the way holds large groups and not only small pieces.
fn splits(scene: &Scene<'_, '_>, descent: &Descent) -> bool {
    let Some(last) = descent.steps.last() else { return false };
    let large = descent.rest.iter().filter(|group| group.bytes >= super::least(scene.live()));
    let large = large.fold(0_u64, |sum, group| sum.saturating_add(group.bytes));
    large > 0 && large >= last.bytes / 2
}
