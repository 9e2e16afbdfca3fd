//! The entries of collections.

use super::shapes::{Layout, Shape};
use super::{CollectionKind, Collections, get, number};
use crate::model::heap::{FieldValue, Heap, ObjectId, Value};
use std::ops::ControlFlow;

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
        let is_map = self.kind(object) == Some(CollectionKind::Map);
        let object = self.unwrapped(object);
        let Some(shape) = self.shape(object) else { return };
        // A set around a map has its keys.
        let mut each = |entry: CollectionEntry<'_>| match entry.key.filter(|_| !is_map) {
            Some(key) => each(CollectionEntry { key: None, value: key }),
            None => each(entry),
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
    /// Nodes that may still be visited. Each node is an object, so there are at most as many as
    /// objects, unless nodes form a cycle.
    left: u64,
    each: &'w mut Each<'w>,
}

impl Walk<'_, '_, '_> {
    fn entries(&mut self, object: ObjectId, shape: &Shape) -> ControlFlow<()> {
        let heap = self.heap;
        let array = |path| get(heap, object, path).and_then(FieldValue::object);
        match shape.layout {
            Layout::Array { array: path, start } => {
                let Some(array) = array(path) else { return ControlFlow::Continue(()) };
                let size = self.collections.size(object).unwrap_or(u64::MAX);
                let start = if start.is_empty() { 0 } else { self.number(object, start) };
                self.range(array, start, size)
            }
            Layout::Ring { array: path, head } => {
                let Some(array) = array(path) else { return ControlFlow::Continue(()) };
                let (size, head) =
                    (self.collections.size(object).unwrap_or(0), self.number(object, head));
                let capacity = heap.array(array).map_or(0, |array| array.length);
                let behind = size.min(capacity.saturating_sub(head));
                self.range(array, head, behind)?;
                self.range(array, 0, size.saturating_sub(behind).min(head))
            }
            Layout::Open { table } => {
                array(table).map_or(ControlFlow::Continue(()), |table| self.open(object, table))
            }
            Layout::Pairs { table } => {
                array(table).map_or(ControlFlow::Continue(()), |table| self.pairs(object, table))
            }
            Layout::Parallel { keys, values } => match (array(keys), array(values)) {
                (Some(keys), Some(values)) => self.parallel(object, keys, values),
                _ => ControlFlow::Continue(()),
            },
            Layout::Chains { table, next, key, value } => array(table)
                .map_or(ControlFlow::Continue(()), |table| self.chains(table, next, key, value)),
            Layout::Linked { first, next, key, value } => {
                let first = if first.is_empty() { Some(object) } else { array(first) };
                first.map_or(ControlFlow::Continue(()), |first| self.chain(first, next, key, value))
            }
            Layout::Tree { root, left, right, key, value } => array(root)
                .map_or(ControlFlow::Continue(()), |root| {
                    self.tree(root, [left, right], key, value)
                }),
            Layout::Fields(fields) => {
                fields.iter().try_for_each(|(key, value)| self.node(object, key, value))
            }
            Layout::Nested(fields) => {
                fields.iter().try_for_each(|(path, depth)| match array(path) {
                    Some(array) => self.nested(array, *depth),
                    None => ControlFlow::Continue(()),
                })
            }
            Layout::Trie { root, each } => {
                array(root).map_or(ControlFlow::Continue(()), |root| self.trie(root, each))
            }
            Layout::Of(path) => {
                match array(path).and_then(|inner| Some((inner, self.collections.shape(inner)?))) {
                    // Wrappers of known collections were taken off; this is a shape with a size of
                    // its own.
                    Some((inner, shape)) if !matches!(shape.layout, Layout::Of(_)) => {
                        self.entries(inner, shape)
                    }
                    _ => ControlFlow::Continue(()),
                }
            }
        }
    }

    fn number(&self, object: ObjectId, path: &str) -> u64 {
        get(self.heap, object, path).and_then(|value| number(self.heap, value)).unwrap_or(0)
    }

    fn element(&mut self, value: FieldValue<'_>) -> ControlFlow<()> {
        (self.each)(CollectionEntry { key: None, value })
    }

    fn pair(&mut self, key: FieldValue<'_>, value: FieldValue<'_>) -> ControlFlow<()> {
        (self.each)(CollectionEntry { key: Some(key), value })
    }

    /// One more node is visited. Breaks when there cannot be as many.
    fn visit(&mut self) -> ControlFlow<()> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    }

    /// Elements of an array.
    fn range(&mut self, array: ObjectId, start: u64, count: u64) -> ControlFlow<()> {
        let end = start.saturating_add(count);
        let mut ended = ControlFlow::Continue(());
        self.heap.elements(array, start, |index, value| {
            if index >= end {
                return ControlFlow::Break(());
            }
            ended = self.element(value);
            ended
        });
        ended
    }

    /// Elements of an array that are not null, up to the collection's own length.
    fn open(&mut self, object: ObjectId, table: ObjectId) -> ControlFlow<()> {
        let (heap, end) = (self.heap, length(self.heap, object));
        let mut ended = ControlFlow::Continue(());
        heap.elements(table, 0, |index, value| {
            if index >= end {
                return ControlFlow::Break(());
            }
            // In Dart, the array itself represents a deleted entry.
            if value != FieldValue::Null && value != FieldValue::Object(table) {
                ended = self.bucket(value);
            }
            ended
        });
        ended
    }

    /// An element, or a bucket of Eclipse Collections with several: `zero`, `one`, `two`, `three`,
    /// of which the last may be a bucket again.
    fn bucket(&mut self, value: FieldValue<'_>) -> ControlFlow<()> {
        let mut next = value.object();
        if !next.is_some_and(|object| self.heap.type_name(object).ends_with("$ChainedBucket")) {
            return self.element(value);
        }
        while let Some(bucket) = next.take() {
            self.visit()?;
            for name in ["zero", "one", "two", "three"] {
                match self.heap.field(bucket, name) {
                    None | Some(FieldValue::Null) => {}
                    Some(FieldValue::Object(object))
                        if self.heap.type_id(object) == self.heap.type_id(bucket) =>
                    {
                        next = Some(object);
                    }
                    Some(value) => self.element(value)?,
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Keys and values in turn.
    fn pairs(&mut self, object: ObjectId, table: ObjectId) -> ControlFlow<()> {
        let (heap, end) = (self.heap, length(self.heap, object));
        let mut ended = ControlFlow::Continue(());
        let mut last = None;
        heap.elements(table, 0, |index, value| {
            if index >= end {
                return ControlFlow::Break(());
            }
            if index % 2 == 0 {
                last = value.owned().map(|key| (index, key));
                return ControlFlow::Continue(());
            }
            // Without the key, which dumps may omit, the value is an entry all the same.
            let key = last
                .take()
                .filter(|(at, _)| at + 1 == index)
                .map_or(FieldValue::Omitted, |(_, key)| key);
            if key != FieldValue::Null && key != FieldValue::Object(table) {
                ended = self.pair_or_chain(key, value);
            }
            ended
        });
        ended
    }

    /// A pair. Where keys collide, Eclipse Collections has an array of pairs instead, and a special
    /// object for null.
    fn pair_or_chain(&mut self, key: FieldValue<'_>, value: FieldValue<'_>) -> ControlFlow<()> {
        let is_mark = key.object().is_some_and(|key| {
            let name = self.heap.type_name(key);
            name.starts_with("org.eclipse.collections.")
                && name.contains("UnifiedMap")
                && name.contains('$')
        });
        let chain = value.object().filter(|value| is_mark && self.heap.array(*value).is_some());
        let Some(chain) = chain else {
            return self.pair(if is_mark { FieldValue::Null } else { key }, value);
        };
        let (heap, mut ended, mut last) = (self.heap, ControlFlow::Continue(()), FieldValue::Null);
        heap.elements(chain, 0, |index, value| {
            if index % 2 == 0 {
                last = value.owned().unwrap_or(FieldValue::Omitted);
            } else if last != FieldValue::Null {
                ended = self.pair(last, value);
            }
            ended
        });
        ended
    }

    /// Keys and values in separate arrays. Null keys or values are not entries.
    fn parallel(&mut self, object: ObjectId, keys: ObjectId, values: ObjectId) -> ControlFlow<()> {
        let heap = self.heap;
        let length = heap.array(values).map_or(0, |array| array.length);
        // What lies behind the size of a sorted map is old; a map by ordinals has holes instead.
        let holes =
            heap.array(keys).is_some_and(|keys| keys.element != "int" && keys.element != "long");
        let end = if holes {
            length
        } else {
            length.min(self.collections.size(object).unwrap_or(length))
        };
        let mut ended = ControlFlow::Continue(());
        heap.elements(keys, 0, |index, key| {
            if index >= end {
                return ControlFlow::Break(());
            }
            let mut value = FieldValue::Null;
            heap.elements(values, index, |at, found| {
                if at == index {
                    value = found.owned().unwrap_or(FieldValue::Omitted);
                }
                ControlFlow::Break(())
            });
            if key != FieldValue::Null && value != FieldValue::Null {
                ended = self.pair(key, value);
            }
            ended
        });
        ended
    }

    fn chains(&mut self, table: ObjectId, next: &str, key: &str, value: &str) -> ControlFlow<()> {
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

    fn chain(&mut self, first: ObjectId, next: &str, key: &str, value: &str) -> ControlFlow<()> {
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
    fn node(&mut self, object: ObjectId, key: &str, value: &str) -> ControlFlow<()> {
        let Some(found) = get(self.heap, object, key) else { return ControlFlow::Continue(()) };
        if value.is_empty() {
            // The second element of a list that has only one is a mark.
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
    fn tree(
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
    fn nested(&mut self, array: ObjectId, depth: u8) -> ControlFlow<()> {
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

    /// Nodes with a bitmap of entries and one of nodes below, which stand at the end of `content`
    /// in reverse. Nodes for equal hashes have a vector of entries instead.
    fn trie(&mut self, root: ObjectId, each: u64) -> ControlFlow<()> {
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

/// The number of elements in use, if the collection itself stores it, as in Dart.
fn length(heap: &Heap<'_>, object: ObjectId) -> u64 {
    match heap.value(object) {
        Value::Length(length) => length,
        _ => u64::MAX,
    }
}
