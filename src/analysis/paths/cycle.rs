//! The cycle that keeps an object which no root reaches.
//!
//! Where objects live as long as something refers to them, as in Perl, such a cycle is a leak.

use super::{Origin, Path, ReachedBy, Step};
use crate::analysis::referrers::Referrers;
use crate::model::heap::{Heap, ObjectId};
use rustc_hash::FxHashMap;

/// Returns a path from an object of a cycle around it and on to `object`, over strong references of
/// objects that are not live. `None` if no cycle leads to the object.
///
/// Follows the first referrer of each object, so it finds a cycle wherever every object has one.
pub fn cycle(
    heap: &Heap<'_>,
    referrers: &Referrers,
    is_live: impl Fn(ObjectId) -> bool,
    object: ObjectId,
) -> Option<Path> {
    let references = &heap.references;
    // The row of the reference from the first referrer.
    let before = |object: ObjectId| {
        let all = referrers.of_object(object).filter(|from| !is_live(*from));
        all.flat_map(|from| references.range(from))
            .find(|row| references.target(*row) == object && !references.is_weak(*row))
    };
    let mut rows = Vec::new();
    let mut seen: FxHashMap<ObjectId, usize> = FxHashMap::default();
    let mut at = object;
    while seen.insert(at, rows.len()).is_none() {
        let row = before(at)?;
        rows.push(row);
        at = references.owner(row);
    }
    let by_reference =
        |row: &usize| Step { by: ReachedBy::Reference(*row), object: references.target(*row) };
    let first = Step { by: ReachedBy::Root, object: at };
    let steps = std::iter::once(first).chain(rows.iter().rev().map(by_reference));
    Some(Path { origin: Origin::Cycle, steps: steps.collect() })
}
