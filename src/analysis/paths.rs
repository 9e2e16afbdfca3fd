//! Paths from roots to objects over strong references.
//!
//! * [`shortest`]: one shortest path to every object, from one breadth-first search;
//! * [`several`]: the next shortest ones to one object;
//! * [`merged`]: the paths to many objects, merged by what they look like.
//!
//! Objects that the writer of a dump made up for its roots are no steps of a path but its origin. Immediates, which are
//! objects of size 0 (the numbers, null and booleans of Dart), are not passed unless there is no other way: everything refers
//! to them, so that paths over them say nothing.

pub mod merged;
mod search;
pub mod several;
pub mod shortest;

use super::graph::Graph;
use crate::model::heap::{Heap, Label, ObjectId};
use std::borrow::Cow;

/// A path from a root to an object, which is the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Where it begins.
    pub origin: Origin,
    /// The objects on it, at least one.
    pub steps: Vec<Step>,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A row of [`Heap::roots`].
    Root(usize),
    /// A made-up object whose references are not listed as roots.
    Synthetic(ObjectId),
}

/// An object of a path, and how it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// From the step before.
    pub by: ReachedBy,
    /// What is reached.
    pub object: ObjectId,
}

/// Returns a shortest path from a root to an object, or `None` if no root reaches it.
///
/// Searches the whole heap. For the paths to many objects, search once with [`shortest::Shortest`].
pub fn shortest_path(heap: &Heap<'_>, object: ObjectId) -> Option<Path> {
    shortest::Shortest::of(heap, &Graph::of(heap)).path(object)
}

/// What leads to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedBy {
    /// A root holds it.
    Root,
    /// A row of [`Heap::references`].
    Reference(usize),
    /// It is the value of an ephemeron whose key is alive and whose holder is the step before.
    Ephemeron,
}

/// The label of a step from an ephemeron's holder to its value.
pub const VALUE_OF_KEY: &str = "<value while its key lives>";

impl ReachedBy {
    /// The label as people see it; empty if there is none.
    pub fn text<'h>(self, heap: &'h Heap<'_>) -> Cow<'h, str> {
        match self {
            Self::Root => "".into(),
            Self::Reference(row) => label(heap, row).text(&heap.names),
            Self::Ephemeron => VALUE_OF_KEY.into(),
        }
    }
}

impl Path {
    /// The path as one line of text: `data +0x1c0 → main.Cache 0xc000010000 → table []main.Entry 0xc000020000`.
    pub fn text(&self, heap: &Heap<'_>) -> String {
        let mut text = match self.origin {
            Origin::Root(row) => heap.roots[row].text(&heap.names),
            Origin::Synthetic(object) => heap.type_name(object).to_owned(),
        };
        for step in &self.steps {
            let label = step.by.text(heap);
            let space = if label.is_empty() { "" } else { " " };
            text.push_str(&format!(" → {label}{space}{} {}", heap.type_name(step.object), heap.id(step.object)));
        }
        text
    }

    /// The object to which the path leads.
    pub fn object(&self) -> Option<ObjectId> {
        self.steps.last().map(|step| step.object)
    }
}

fn label(heap: &Heap<'_>, row: usize) -> Label {
    heap.references.label.get(row).copied().unwrap_or(Label::NONE)
}

/// Whether paths should not pass an object.
fn is_immediate(heap: &Heap<'_>, object: ObjectId) -> bool {
    heap.shallow.get(object.index()) == 0 && !heap.is_made_up(object)
}
