//! Many objects of one type that one object holds: a cache without a limit, listeners that nobody
//! removes.

use super::holders::Holder;
use super::{LEAST_BYTES, SuspectGroup, Tree, part};
use crate::model::heap::ObjectId;

/// Fewer are not many.
pub const LEAST_COUNT: usize = 100;

/// Their share of the live heap is at least this, in percent.
pub const LEAST_SHARE: u64 = 5;

/// Many objects of one type below one holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Siblings {
    /// The object that holds them.
    pub owner: ObjectId,
    /// The type of the objects, with their count and bytes.
    pub group: SuspectGroup,
}

/// All that nobody has named yet as a holder.
pub(super) fn find(tree: &Tree<'_, '_>, holders: &[Holder]) -> Vec<Siblings> {
    let least = part(tree.bytes(0), LEAST_SHARE).max(LEAST_BYTES);
    let owners = (1..=tree.dominators.len() as u32).filter(|number| {
        tree.bytes(*number) >= least
            && tree.children(*number).nth(LEAST_COUNT - 1).is_some()
            && !tree.is_made_up(*number)
    });
    let mut found = Vec::new();
    for number in owners {
        let Some(owner) = tree.dominators.object(number) else { continue };
        if holders.iter().any(|holder| holder.object == owner) {
            continue;
        }
        let groups = tree.groups(number).into_iter();
        let many = groups.filter(|group| group.bytes >= least && group.count >= LEAST_COUNT as u64);
        found.extend(many.map(|group| Siblings { owner, group }));
    }
    found
}
