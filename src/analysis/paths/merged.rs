//! The shortest paths to many objects, with similar ones merged: those with the same root variable,
//! and the same types over the same labels. Elements and their fields are alike whatever their
//! index, frames of one function whatever their thread. A group of steps that repeats directly, as
//! in a list or in a chain of alternating types, counts as one however often it repeats.

mod alike;
mod signatures;

use super::shortest::Shortest;
use crate::model::heap::{Label, ObjectId, RootKind, TypeId};
use crate::model::names::NameId;
pub use alike::without_indices;
use rustc_hash::FxHashMap;
use signatures::Signatures;

/// Longer groups of steps are not recognized as repeated.
pub const LONGEST_GROUP: usize = 16;

/// The shortest paths to objects, merged; those with most bytes first.
pub struct MergedPaths<'s, 'h, 'a> {
    /// The merged paths, one row for each kind.
    pub rows: Vec<Merged>,
    signatures: Signatures<'s, 'h, 'a>,
}

/// Paths that look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The root where the paths begin.
    pub root: MergedRoot,
    /// The number of objects to which the paths lead.
    pub count: u64,
    /// The shallow and external bytes of these objects.
    pub bytes: u64,
    /// The first of these objects.
    pub example: ObjectId,
    signature: u32,
}

/// Roots that look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MergedRoot {
    /// The kind of the roots.
    pub kind: RootKind,
    /// The owner: the function if that is a frame, otherwise the root's own group.
    pub group: NameId,
    /// The label of the root within its group.
    pub label: MergedLabel,
}

/// Labels that look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MergedLabel {
    /// One specific label, or none.
    One(Label),
    /// An element, with any index.
    Element,
    /// A part of an element, such as `[3].owner`, with any index.
    OfElement(Label),
    /// The value of an ephemeron.
    Ephemeron,
}

/// A step of paths that look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedStep {
    /// The link by which it is reached.
    pub label: MergedLabel,
    /// The type of the target: a [`merged_type`](crate::model::heap::Heap::merged_type).
    pub of: TypeId,
    /// The group that ends here and repeats on some of the paths.
    pub repeats: Option<Repeats>,
}

/// A group of steps that repeats directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// The number of steps in the group, at most [`LONGEST_GROUP`]; 1 for a list.
    pub steps: usize,
    /// The maximum number of repetitions of the group among all paths through it. `None` if other
    /// groups repeat inside it.
    pub most: Option<u32>,
}

/// The steps of a row, without the middle of long paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedSteps {
    /// The steps from the root on. If no steps are omitted, the last one is the target.
    pub first: Vec<MergedStep>,
    /// Steps left out between `first` and `last`.
    pub omitted: u64,
    /// The end of the path. Empty if nothing is left out.
    pub last: Vec<MergedStep>,
}

impl MergedSteps {
    /// The maximum number of steps in each of [`first`](Self::first) and [`last`](Self::last).
    pub const HALF: usize = signatures::HEAD as usize;
}

/// Merges the shortest paths to objects. Objects that cannot be reached are left out.
///
/// Takes 12 bytes for each object of the heap and about [`BYTES_PER_KIND`] for each kind of path,
/// and no more time for long paths than for short ones, as each step is looked at once. Returns
/// `None` if the kinds take more than `most_bytes`.
pub fn merged<'s, 'h, 'a>(
    shortest: &'s Shortest<'h, 'a>,
    objects: impl Iterator<Item = ObjectId>,
    most_bytes: u64,
) -> Option<MergedPaths<'s, 'h, 'a>> {
    let heap = shortest.heap;
    let most = most_bytes / BYTES_PER_KIND;
    let mut signatures = Signatures::new(shortest);
    let mut rows: Vec<Merged> = Vec::new();
    let mut by_signature: FxHashMap<u32, usize> = FxHashMap::default();
    for object in objects {
        let Some(signature) = signatures.of(object) else { continue };
        if signatures.len() > most {
            return None;
        }
        let row = *by_signature.entry(signature).or_insert_with(|| {
            rows.push(Merged {
                root: signatures.root(signature),
                count: 0,
                bytes: 0,
                example: object,
                signature,
            });
            rows.len() - 1
        });
        rows[row].count += 1;
        rows[row].bytes = rows[row].bytes.saturating_add(heap.own_bytes(object));
    }
    rows.sort_unstable_by_key(|merged| {
        (std::cmp::Reverse((merged.bytes, merged.count)), merged.example)
    });
    Some(MergedPaths { rows, signatures })
}

/// Approximate memory of one kind of path, independent of its length.
pub const BYTES_PER_KIND: u64 = 256;

impl MergedPaths<'_, '_, '_> {
    /// The steps of a row, at least one.
    pub fn steps(&self, row: &Merged) -> MergedSteps {
        self.signatures.steps(row.signature)
    }
}
