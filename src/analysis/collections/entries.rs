//! The entries of collections.

mod arrays;
mod nodes;

use super::shapes::{Layout, Shape};
use super::{CollectionKind, Collections, get, number};
use crate::model::heap::{FieldValue, Heap, ObjectId};
use std::ops::{ControlFlow, Range};

/// An entry of a collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollectionEntry<'f> {
    /// The key in a map.
    pub key: Option<FieldValue<'f>>,
    /// The value in a map, the element of a list or set.
    pub value: FieldValue<'f>,
}

type Each<'e> = dyn FnMut(CollectionEntry<'_>) -> ControlFlow<()> + 'e;

impl Collections<'_, '_> {
    /// Passes the entries of a collection, in its order if it has one, until `each` breaks.
    pub fn entries(
        &self,
        object: ObjectId,
        mut each: impl FnMut(CollectionEntry<'_>) -> ControlFlow<()>,
    ) {
        let kind = self.kind(object);
        let mut layouts =
            self.wrappers(object).filter_map(|object| Some(self.shape(object)?.layout));
        let within = layouts.find_map(|layout| match layout {
            Layout::Within { value } => Some(value),
            _ => None,
        });
        let object = self.unwrapped(object);
        let Some(shape) = self.shape(object) else { return };
        let inner = |value: FieldValue<'_>| get(self.heap, value.object()?, within?);
        // A set based on a map has the map's keys, a list its values.
        let mut each = |CollectionEntry { key, value }: CollectionEntry<'_>| match (key, kind) {
            (None, _) => each(CollectionEntry { key, value }),
            (Some(_), Some(CollectionKind::Map)) => {
                each(CollectionEntry { key, value: inner(value).unwrap_or(value) })
            }
            (Some(_), Some(CollectionKind::List)) => each(CollectionEntry { key: None, value }),
            (Some(key), _) => each(CollectionEntry { key: None, value: key }),
        };
        let mut walk = Walk {
            collections: self,
            heap: self.heap,
            left: self.heap.len() as u64,
            each: &mut each,
        };
        let _ = walk.entries(object, shape); // It does not matter who ended the walk.
    }

    /// Counts the entries of a collection, up to a number.
    pub fn count(&self, object: ObjectId, most: u64) -> u64 {
        let mut count = 0;
        self.entries(object, |_| {
            count += 1;
            if count < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        count
    }
}

struct Walk<'w, 'h, 'a> {
    collections: &'w Collections<'h, 'a>,
    heap: &'h Heap<'a>,
    /// The number of nodes that may still be visited. Each node is an object, so there are at most
    /// as many as objects, unless nodes form a cycle.
    left: u64,
    each: &'w mut Each<'w>,
}

/// The result for what has no entries.
const NONE: ControlFlow<()> = ControlFlow::Continue(());

impl Walk<'_, '_, '_> {
    pub(super) fn entries(&mut self, object: ObjectId, shape: &Shape) -> ControlFlow<()> {
        let heap = self.heap;
        let array = |path| get(heap, object, path).and_then(FieldValue::object);
        match shape.layout {
            Layout::Array { array: path, start } => array(path).map_or(NONE, |array| {
                let size = self.collections.size(object).unwrap_or(u64::MAX);
                let start = if start.is_empty() { 0 } else { self.number(object, start) };
                self.range(array, start, size)
            }),
            Layout::Ring { array: path, head } => {
                array(path).map_or(NONE, |array| self.ring(object, array, head))
            }
            Layout::Open { table } => array(table).map_or(NONE, |table| self.open(object, table)),
            Layout::Pairs { table } => array(table).map_or(NONE, |table| self.pairs(object, table)),
            Layout::Parallel { keys, values } => match (array(keys), array(values)) {
                (Some(keys), Some(values)) => self.parallel(object, keys, values),
                _ => NONE,
            },
            Layout::Chains { table, next, key, value } => {
                array(table).map_or(NONE, |table| self.chains(table, next, key, value))
            }
            Layout::Segments { segments, table, next, key, value } => {
                array(segments).map_or(NONE, |all| self.segments(all, table, [next, key, value]))
            }
            Layout::Linked { first, next, key, value } => {
                let first = if first.is_empty() { Some(object) } else { array(first) };
                first.map_or(NONE, |first| self.chain(first, next, key, value))
            }
            Layout::Tree { root, left, right, key, value } => {
                array(root).map_or(NONE, |root| self.tree(root, [left, right], key, value))
            }
            Layout::Fields(fields) => {
                fields.iter().try_for_each(|(key, value)| self.node(object, key, value))
            }
            Layout::Nested(fields) => {
                let mut fields = fields.iter();
                fields.try_for_each(|(path, depth)| {
                    array(path).map_or(NONE, |array| self.nested(array, *depth))
                })
            }
            Layout::Bits { universe, bits } => {
                array(universe).map_or(NONE, |all| self.bits(object, all, bits))
            }
            Layout::Nodes { roots, node, children, leaf, pairs } => {
                let first = roots.iter().rev().map(|names| names.split('|').find_map(array));
                let open = first.flatten().collect();
                self.nodes(open, node, children, leaf, pairs)
            }
            Layout::Trie { root, each } => array(root).map_or(NONE, |root| self.trie(root, each)),
            Layout::Of(path) => {
                match array(path).and_then(|inner| Some((inner, self.collections.shape(inner)?))) {
                    // Wrappers of known collections have been removed; this shape states its own
                    // size.
                    Some((inner, shape)) if !matches!(shape.layout, Layout::Of(_)) => {
                        self.entries(inner, shape)
                    }
                    _ => NONE,
                }
            }
            // The map is missing, or it would have been unwrapped.
            Layout::Within { .. } => NONE,
        }
    }

    /// Passes the elements of an array from `head` on, continuing at the array's beginning.
    fn ring(&mut self, object: ObjectId, array: ObjectId, head: &str) -> ControlFlow<()> {
        let size = self.collections.size(object).unwrap_or(0);
        let head = self.number(object, head);
        let capacity = self.heap.array(array).map_or(0, |array| array.length);
        let behind = size.min(capacity.saturating_sub(head));
        self.range(array, head, behind)?;
        self.range(array, 0, size.saturating_sub(behind).min(head))
    }

    pub(super) fn number(&self, object: ObjectId, path: &str) -> u64 {
        get(self.heap, object, path).and_then(|value| number(self.heap, value)).unwrap_or(0)
    }

    /// Passes the elements of an array with their indexes to `each`, until it breaks.
    pub(super) fn each_of(
        &mut self,
        array: ObjectId,
        indexes: Range<u64>,
        mut each: impl FnMut(&mut Self, u64, FieldValue<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut ended = NONE;
        self.heap.elements(array, indexes.start, |index, value| {
            if index >= indexes.end {
                return ControlFlow::Break(());
            }
            ended = each(self, index, value);
            ended
        });
        ended
    }

    pub(super) fn element(&mut self, value: FieldValue<'_>) -> ControlFlow<()> {
        (self.each)(CollectionEntry { key: None, value })
    }

    pub(super) fn pair(&mut self, key: FieldValue<'_>, value: FieldValue<'_>) -> ControlFlow<()> {
        (self.each)(CollectionEntry { key: Some(key), value })
    }

    /// Counts one more node as visited. Breaks if more nodes than possible have been visited.
    pub(super) fn visit(&mut self) -> ControlFlow<()> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    }
}
