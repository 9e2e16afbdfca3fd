//! Entries that are stored in nodes: chains, trees and tries.

use super::{CollectionEntry, Walk};
use crate::analysis::collections::get;
use crate::analysis::collections::shapes::Layout;
use crate::model::heap::{FieldValue, ObjectId};
use std::ops::ControlFlow;

impl Walk<'_, '_, '_> {
    pub(super) fn chains(
        &mut self,
        table: ObjectId,
        next: &str,
        key: &str,
        value: &str,
    ) -> ControlFlow<()> {
        let mut ended = ControlFlow::Continue(());
        self.heap.elements(table, 0, |_, bucket| {
            if let FieldValue::Object(node) = bucket {
                // A bin of java.util.concurrent.ConcurrentHashMap that is a tree has its nodes in a
                // chain as well.
                let first = get(self.heap, node, "first").and_then(FieldValue::object);
                ended = self.chain(first.unwrap_or(node), next, key, value);
            }
            ended
        });
        ended
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
        ControlFlow::Continue(())
    }

    /// The entry in a node. Dead nodes and nodes without a key, such as those that begin a queue,
    /// are not entries.
    pub(super) fn node(&mut self, object: ObjectId, key: &str, value: &str) -> ControlFlow<()> {
        let Some(found) = get(self.heap, object, key) else { return ControlFlow::Continue(()) };
        if value.is_empty() {
            // In a list with one element, the field of the second one contains a marker.
            if key == "e1" && (found == FieldValue::Null || self.is_plain(found)) {
                return ControlFlow::Continue(());
            }
            // Only nodes of queues have no element; lists may hold null.
            let is_mark = found == FieldValue::Null
                && self.heap.type_name(object).starts_with("java.util.concurrent.");
            return if is_mark { ControlFlow::Continue(()) } else { self.element(found) };
        }
        match get(self.heap, object, value) {
            Some(value) => self.pair(found, value),
            None => ControlFlow::Continue(()),
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
            let Some(object) = above.pop() else { return ControlFlow::Continue(()) };
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
                ControlFlow::Continue(())
            });
            open[at..].reverse();
        }
        ControlFlow::Continue(())
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
            let (at, mut last, mut ended) =
                (open.len(), FieldValue::Null, ControlFlow::Continue(()));
            heap.elements(array, 0, |index, value| {
                if pairs && index % 2 == 0 {
                    last = value.owned().unwrap_or(FieldValue::Omitted);
                } else if let Some(node) = node(value).filter(|_| last == FieldValue::Null) {
                    open.push(node);
                } else if pairs && (last, value) != (FieldValue::Null, FieldValue::Null) {
                    ended = self.pair(last, value);
                } else if !pairs && value != FieldValue::Null {
                    ended = self.element(value);
                }
                ended
            });
            ended?;
            open[at..].reverse();
        }
        ControlFlow::Continue(())
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
            let (mut ended, mut last) = (ControlFlow::Continue(()), FieldValue::Null);
            heap.elements(content, 0, |index, value| {
                if index >= entries + below {
                    return ControlFlow::Break(());
                }
                match (index < entries, each) {
                    (false, _) => open.extend(value.object()),
                    (true, 1) => ended = self.element(value),
                    (true, _) if index % 2 == 0 => {
                        last = value.owned().unwrap_or(FieldValue::Omitted)
                    }
                    (true, _) => ended = self.pair(last, value),
                }
                ended
            });
            ended?;
        }
        ControlFlow::Continue(())
    }

    /// The vector of a node for equal hashes: elements, or pairs of them.
    fn collisions(&mut self, vector: ObjectId, each: u64) -> ControlFlow<()> {
        let Some(shape) = self.collections.shape(vector) else { return ControlFlow::Continue(()) };
        let Layout::Nested(_) = shape.layout else { return ControlFlow::Continue(()) };
        let mut found = Vec::new();
        let mut collect = |entry: CollectionEntry<'_>| {
            found.extend(entry.value.object());
            ControlFlow::Continue(())
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
        ControlFlow::Continue(())
    }
}
