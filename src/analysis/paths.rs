//! Paths from roots to objects over strong references.
//!
//! * [`shortest`]: one shortest path to every object, from one breadth-first search;
//! * [`several`]: the shortest paths to one object;
//! * [`merged`]: the paths to many objects, with similar ones merged;
//! * [`cycle`](cycle()): what keeps an object that no root reaches;
//! * [`distances`]: the length of the shortest path to every object.
//!
//! A synthetic object that represents roots is the origin of a path, not a step. Paths avoid
//! immediates (objects of size 0, such as Dart's numbers, null and booleans) unless there is no
//! other way: everything refers to them, so paths through them explain nothing.

pub mod distances;
mod down;
pub mod merged;
mod search;
pub mod several;
pub mod shortest;

use super::graph::Graph;
use crate::analysis::referrers::Referrers;
use crate::model::heap::{Heap, ObjectId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A path from a root to an object, which is the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The root at which the path begins.
    pub origin: Origin,
    /// The objects on the path, at least one.
    pub steps: Vec<Step>,
}

/// The beginning of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A root: an index into [`Heap::roots`].
    Root(usize),
    /// A synthetic object whose references are not listed as roots.
    Synthetic(ObjectId),
    /// A cycle that no root reaches: the first object of the path occurs again in it.
    Cycle,
}

/// One object of a path, and the reference that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The link from the step before to the object.
    pub by: ReachedBy,
    /// The object that the step reaches.
    pub object: ObjectId,
}

/// Returns a shortest path from a root to an object, or `None` if no root reaches it.
///
/// Searches the whole heap. For the paths to many objects, search once with [`shortest::Shortest`].
pub fn shortest_path(heap: &Heap<'_>, object: ObjectId) -> Option<Path> {
    shortest::Shortest::of(heap, &Graph::of(heap)).path(object)
}

/// The link by which a path reaches an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedBy {
    /// A root holds the object.
    Root,
    /// Over a reference: a row of [`Heap::references`].
    Reference(usize),
    /// The object is the value of an ephemeron with a live key; its holder is the step before.
    Ephemeron,
}

/// The name of [`Origin::Cycle`].
pub const CYCLE: &str = "a cycle that no root reaches";

/// The label of a step from an ephemeron's holder to its value.
pub const VALUE_OF_KEY: &str = "<value while its key lives>";

impl ReachedBy {
    /// The display text of the label. Empty if there is none.
    pub fn text<'h>(self, heap: &'h Heap<'_>) -> Cow<'h, str> {
        match self {
            Self::Root => "".into(),
            Self::Reference(row) => heap.reference_text(row),
            Self::Ephemeron => VALUE_OF_KEY.into(),
        }
    }
}

impl Path {
    /// The path as one line of text: `data +0x1c0 → main.Cache 0xc000010000 → table []main.Entry
    /// 0xc000020000`.
    pub fn text(&self, heap: &Heap<'_>) -> String {
        let mut text = match self.origin {
            Origin::Root(row) => heap.roots[row].text(&heap.names),
            Origin::Synthetic(object) => heap.type_name(object).to_owned(),
            Origin::Cycle => CYCLE.to_owned(),
        };
        for step in &self.steps {
            let label = step.by.text(heap);
            let space = if label.is_empty() { "" } else { " " };
            text.push_str(&format!(
                " → {label}{space}{} {}",
                heap.type_name(step.object),
                heap.id(step.object)
            ));
        }
        text
    }

    /// The object to which the path leads.
    pub fn object(&self) -> Option<ObjectId> {
        self.steps.last().map(|step| step.object)
    }
}

/// Whether paths should not pass an object.
#[inline]
fn is_immediate(heap: &Heap<'_>, object: ObjectId) -> bool {
    heap.shallow.get(object.index()) == 0 && !heap.is_made_up(object)
}

/// Returns a path from an object of a cycle around it and on to `object`, over strong references of
/// objects that are not live. `None` if no cycle leads to the object. Where objects live as long as
/// something refers to them, as in Perl, such a cycle is a leak.
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
