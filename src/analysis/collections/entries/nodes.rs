//! Entries that are stored in nodes: chains, trees and tries.

use super::{CollectionEntry, NONE, Walk};
use crate::analysis::collections::get;
use crate::analysis::collections::shapes::Layout;
use crate::model::heap::{FieldValue, ObjectId};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

impl Walk<'_, '_, '_> {
    pub(super) fn chains(
        &mut self,
        table: ObjectId,
        next: &str,
        key: &str,
        value: &str,
    ) -> ControlFlow<()> {
        self.each_of(table, 0..u64::MAX, |walk, _, bucket| {
            let FieldValue::Object(node) = bucket else { return NONE };
            // A bin of java.util.concurrent.ConcurrentHashMap that is a tree has its nodes in a
            // chain as well.
            let first = get(walk.heap, node, "first").and_then(FieldValue::object);
            walk.chain(first.unwrap_or(node), next, key, value)
        })
    }

    /// The chains of all segments. Each table counts once, or a small file could repeat a large empty
    /// table any number of times.
    pub(super) fn segments(
        &mut self,
        segments: ObjectId,
        table: &str,
        [next, key, value]: [&str; 3],
    ) -> ControlFlow<()> {
        let mut seen = FxHashSet::default();
        self.each_of(segments, 0..u64::MAX, |walk, _, segment| {
            let table = segment.object().and_then(|segment| get(walk.heap, segment, table));
            let table = table.and_then(FieldValue::object).filter(|table| seen.insert(*table));
            table.map_or(NONE, |table| walk.chains(table, next, key, value))
        })
    }

    pub(super) fn chain(
        &mut self,
        first: ObjectId,
        next: &str,
        key: &str,
        value: &str,
    ) -> ControlFlow<()> {
        let mut node = Some(first);
        while let Some(object) = node {
            self.visit()?;
            self.node(object, key, value)?;
            node = get(self.heap, object, next)
                .and_then(FieldValue::object)
                .filter(|next| *next != object);
        }
        NONE
    }

    /// The entry in a node. Dead nodes and nodes without a key, such as those that begin a queue,
    /// are not entries.
    pub(super) fn node(&mut self, object: ObjectId, key: &str, value: &str) -> ControlFlow<()> {
        let Some(found) = get(self.heap, object, key) else { return NONE };
        if value.is_empty() {
            // In a list with one element, the field of the second one contains a marker.
            if key == "e1" && (found == FieldValue::Null || self.is_plain(found)) {
                return NONE;
            }
            // Only nodes of queues have no element; lists may hold null.
            let is_mark = found == FieldValue::Null
                && self.heap.type_name(object).starts_with("java.util.concurrent.");
            return if is_mark { NONE } else { self.element(found) };
        }
        match get(self.heap, object, value) {
            Some(value) => self.pair(found, value),
            None => NONE,
        }
    }

    fn is_plain(&self, value: FieldValue<'_>) -> bool {
        value.object().is_some_and(|object| self.heap.type_name(object) == "java.lang.Object")
    }

    /// A tree from its smallest key to its largest.
    pub(super) fn tree(
        &mut self,
        root: ObjectId,
        [left, right]: [&str; 2],
        key: &str,
        value: &str,
    ) -> ControlFlow<()> {
        let mut above = Vec::new();
        let mut node = Some(root);
        loop {
            while let Some(object) = node {
                self.visit()?;
                above.push(object);
                node = get(self.heap, object, left).and_then(FieldValue::object);
            }
            let Some(object) = above.pop() else { return NONE };
            self.node(object, key, value)?;
            node = get(self.heap, object, right).and_then(FieldValue::object);
        }
    }

    /// Arrays of arrays, nested to this depth.
    pub(super) fn nested(&mut self, array: ObjectId, depth: u8) -> ControlFlow<()> {
        let mut open = vec![(array, depth)];
        while let Some((array, depth)) = open.pop() {
            self.visit()?;
            if depth <= 1 {
                self.range(array, 0, u64::MAX)?;
                continue;
            }
            let at = open.len();
            self.heap.elements(array, 0, |_, inner| {
                open.extend(inner.object().map(|inner| (inner, depth - 1)));
                NONE
            });
            open[at..].reverse();
        }
        NONE
    }

    /// Nodes of any depth, in order.
    pub(super) fn nodes(
        &mut self,
        mut open: Vec<ObjectId>,
        prefix: &str,
        children: &str,
        [key, value]: [&str; 2],
        pairs: bool,
    ) -> ControlFlow<()> {
        let heap = self.heap;
        let node = |value: FieldValue<'_>| {
            value.object().filter(|object| heap.type_name(*object).starts_with(prefix))
        };
        while let Some(object) = open.pop() {
            self.visit()?;
            if !key.is_empty() && get(heap, object, key).is_some() {
                self.node(object, key, value)?;
                continue;
            }
            let inner = || get(heap, object, children).and_then(FieldValue::object);
            let Some(array) = heap.array(object).map(|_| object).or_else(inner) else { continue };
            // Clojure's maps have nodes without keys as well.
            let pairs = pairs && !heap.type_name(object).ends_with("$ArrayNode");
            let (at, mut last) = (open.len(), FieldValue::Null);
            self.each_of(array, 0..u64::MAX, |walk, index, value| {
                if pairs && index % 2 == 0 {
                    last = value.owned().unwrap_or(FieldValue::Omitted);
                } else if let Some(node) = node(value).filter(|_| last == FieldValue::Null) {
                    open.push(node);
                } else if pairs && (last, value) != (FieldValue::Null, FieldValue::Null) {
                    return walk.pair(last, value);
                } else if !pairs && value != FieldValue::Null {
                    return walk.element(value);
                }
                NONE
            })?;
            open[at..].reverse();
        }
        NONE
    }

    /// Nodes with a bitmap of entries and one of nodes below, which stand at the end of `content`
    /// in reverse. Nodes for equal hashes have a vector of entries instead.
    pub(super) fn trie(&mut self, root: ObjectId, each: u64) -> ControlFlow<()> {
        let heap = self.heap;
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            self.visit()?;
            let Some(content) = get(heap, node, "content").and_then(FieldValue::object) else {
                continue;
            };
            let Some(FieldValue::Integer(entries)) = get(heap, node, "dataMap") else {
                self.collisions(content, each)?;
                continue;
            };
            let entries = u64::from((entries as u32).count_ones()) * each;
            let below = match get(heap, node, "nodeMap") {
                Some(FieldValue::Integer(below)) => u64::from((below as u32).count_ones()),
                _ => 0,
            };
            let mut last = FieldValue::Null;
            self.each_of(content, 0..entries + below, |walk, index, value| {
                match (index < entries, each) {
                    (false, _) => open.extend(value.object()),
                    (true, 1) => return walk.element(value),
                    (true, _) if index % 2 == 0 => {
                        last = value.owned().unwrap_or(FieldValue::Omitted)
                    }
                    (true, _) => return walk.pair(last, value),
                }
                NONE
            })?;
        }
        NONE
    }

    /// The vector of a node for equal hashes: elements, or pairs of them.
    fn collisions(&mut self, vector: ObjectId, each: u64) -> ControlFlow<()> {
        let Some(shape) = self.collections.shape(vector) else { return NONE };
        let Layout::Nested(_) = shape.layout else { return NONE };
        let mut found = Vec::new();
        let mut collect = |entry: CollectionEntry<'_>| {
            found.extend(entry.value.object());
            NONE
        };
        let mut inner = Walk {
            collections: self.collections,
            heap: self.heap,
            left: self.left,
            each: &mut collect,
        };
        let _ = inner.entries(vector, shape);
        self.left = inner.left;
        for object in found {
            match each {
                1 => self.element(FieldValue::Object(object))?,
                _ => self.node(object, "_1", "_2")?,
            }
        }
        NONE
    }
}
