//! Objects at which the share of the heap drops: what holds them holds hardly more, and what they
//! hold is small pieces.

use super::{LEAST_BYTES, SuspectGroup, Tree, part};
use crate::model::heap::ObjectId;

/// A holder has at least this share of the live heap, in percent: there is room for ten of them.
pub const LEAST_SHARE: u64 = 10;

/// The walk continues as long as one object below has this share of its owner, in percent, so that
/// it passes wrappers, such as the map around its table. Several large objects that have this share
/// together are examined one by one.
pub const KEEP: u64 = 80;

/// The drop is sharp when the biggest object below has less than this share, in percent. A balanced
/// tree of objects, where two have half of it each, is nobody's leak.
pub const SHARP: u64 = 20;

/// An object that holds much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The object. If it is the first of a chain of its type, such as a list, that holds the rest.
    pub object: ObjectId,
    /// The bytes that it holds.
    pub retained: u64,
    /// Shallow and external bytes of the object itself.
    pub own: u64,
    /// Number of objects in the chain; 1 if it is not a chain.
    pub chain: u64,
    /// The largest thing that it holds directly.
    pub inside: Option<SuspectGroup>,
}

/// Walks down the dominator tree from each object that has enough.
pub(super) fn find(tree: &Tree<'_, '_>) -> Vec<Holder> {
    let least = part(tree.bytes(0), LEAST_SHARE).max(LEAST_BYTES);
    let large = |number: u32| tree.children(number).filter(|child| tree.bytes(*child) >= least);
    let mut open: Vec<u32> = large(0).collect();
    let mut holders = Vec::new();
    while let Some(number) = open.pop() {
        if tree.is_made_up(number) {
            open.extend(large(number));
            continue;
        }
        let (head, last) = walk(tree, number);
        if head != last {
            holders.extend(holder(tree, head, chain(tree, head)));
            continue;
        }
        let bytes = tree.bytes(head);
        let below = large(head).fold(0u64, |sum, child| sum.saturating_add(tree.bytes(child)));
        let biggest = tree.biggest_child(head).map_or(0, |child| tree.bytes(child));
        if below >= part(bytes, KEEP) {
            open.extend(large(head));
        } else if biggest < part(bytes, SHARP).max(1) {
            holders.extend(holder(tree, head, 1));
        }
    }
    holders.sort_by_key(|holder| (std::cmp::Reverse(holder.retained), holder.object));
    holders
}

/// Follows the biggest child while that keeps nearly everything. Gives the first and the last
/// object of the run of one type in which this ends: in a list each object keeps a little less than
/// the one before, so all of a run are compared with its first.
fn walk(tree: &Tree<'_, '_>, from: u32) -> (u32, u32) {
    let (mut head, mut last) = (from, from);
    while let Some(child) = tree.biggest_child(last) {
        let same = tree.type_of(child) == tree.type_of(last);
        let before = if same { head } else { last };
        if tree.bytes(child) < part(tree.bytes(before), KEEP) {
            break;
        }
        last = child;
        if !same {
            head = child;
        }
    }
    (head, last)
}

fn holder(tree: &Tree<'_, '_>, number: u32, chain: u64) -> Option<Holder> {
    let object = tree.dominators.object(number)?;
    let own =
        tree.heap.shallow.get(object.index()).saturating_add(tree.heap.external_bytes(object));
    let groups = tree.groups(number);
    let inside =
        groups.into_iter().find(|group| chain == 1 || Some(group.of) != tree.type_of(number));
    Some(Holder { object, retained: tree.bytes(number), own, chain, inside })
}

/// The number of objects of one type that follow each other, always the biggest one.
fn chain(tree: &Tree<'_, '_>, number: u32) -> u64 {
    let next = |number: &u32| {
        tree.biggest_child(*number).filter(|child| tree.type_of(*child) == tree.type_of(*number))
    };
    std::iter::successors(Some(number), next).count() as u64
}
