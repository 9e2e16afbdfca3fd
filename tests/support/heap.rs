//! Heaps as short lists, to ask the analysis about, and what can be found out about them without
//! any cleverness.

use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Ephemeron, Heap, Ids, Label, ObjectId, Root, RootKind, TypeKind};

/// A heap as lists.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    /// Shallow bytes of each object.
    pub sizes: Vec<u64>,
    /// From, to, and whether the reference is weak.
    pub references: Vec<(u32, u32, bool)>,
    /// What the roots hold.
    pub roots: Vec<u32>,
    /// Holder, key and value.
    pub ephemerons: Vec<(u32, u32, u32)>,
    /// Objects and bytes outside of the heap.
    pub external: Vec<(u32, u64)>,
    /// The first root's object stands for the whole set of roots.
    pub root_object: bool,
}

impl Sketch {
    /// Objects of one byte each, and strong references.
    pub fn of(objects: usize, references: &[(u32, u32)], roots: &[u32]) -> Self {
        Self {
            sizes: vec![1; objects],
            references: references.iter().map(|&(from, to)| (from, to, false)).collect(),
            roots: roots.to_vec(),
            ..Self::default()
        }
    }

    /// The heap.
    pub fn heap(&self) -> Heap<'static> {
        let mut builder = HeapBuilder::with_capacity(self.sizes.len(), self.references.len());
        let plain = builder.add_type("Plain", "", TypeKind::Instance);
        let synthetic = builder.add_type("Roots", "", TypeKind::Root);
        let mut references = self.references.clone();
        references.sort_by_key(|(from, ..)| *from);
        let mut rest = references.as_slice();
        for (object, size) in (0..).zip(&self.sizes) {
            let stands_for_roots = self.root_object && self.roots.first() == Some(&object);
            builder.add_object(if stands_for_roots { synthetic } else { plain }, *size);
            let count = rest.partition_point(|(from, ..)| *from == object);
            rest[..count]
                .iter()
                .for_each(|&(_, to, weak)| builder.add_reference(ObjectId(to), Label::NONE, weak));
            rest = &rest[count..];
        }
        let group = builder.names().intern("test");
        for &root in &self.roots {
            builder.add_root(Root::new(ObjectId(root), RootKind::Other, group));
        }
        for &(holder, key, value) in &self.ephemerons {
            builder.add_ephemeron(Ephemeron {
                holder: ObjectId(holder),
                key: ObjectId(key),
                value: ObjectId(value),
            });
        }
        self.external
            .iter()
            .for_each(|&(object, bytes)| builder.add_external(ObjectId(object), bytes));
        let heap = builder.finish(Ids::Rows(0), None);
        assert_eq!(heap.check(), Ok(()));
        heap
    }

    /// Shallow and external bytes of an object.
    pub fn bytes(&self, object: usize) -> u64 {
        let external = self
            .external
            .iter()
            .filter(|(owner, _)| *owner as usize == object)
            .map(|(_, bytes)| bytes);
        self.sizes[object] + external.sum::<u64>()
    }

    /// What is alive when one object is taken away: everything is looked at again until nothing
    /// changes.
    pub fn live_without(&self, gone: Option<usize>) -> Vec<bool> {
        self.live_if(|object| gone != Some(object))
    }

    /// What the roots reach over objects that are kept.
    pub fn live_if(&self, kept: impl Fn(usize) -> bool) -> Vec<bool> {
        let roots =
            if self.root_object { &self.roots[..self.roots.len().min(1)] } else { &self.roots };
        let mut live = vec![false; self.sizes.len()];
        roots.iter().for_each(|root| live[*root as usize] = kept(*root as usize));
        loop {
            let before = live.clone();
            for &(from, to, weak) in &self.references {
                live[to as usize] |= live[from as usize] && !weak && kept(to as usize);
            }
            for &(holder, key, value) in &self.ephemerons {
                live[value as usize] |=
                    live[holder as usize] && live[key as usize] && kept(value as usize);
            }
            if live == before {
                return live;
            }
        }
    }

    /// The same heap with a strong reference from holder to value instead of each ephemeron that is
    /// in effect.
    pub fn without_ephemerons(&self) -> Self {
        let live = self.live_without(None);
        let mut plain = self.clone();
        for (holder, key, value) in std::mem::take(&mut plain.ephemerons) {
            if live[holder as usize] && live[key as usize] {
                plain.references.push((holder, value, false));
            }
        }
        plain
    }
}
