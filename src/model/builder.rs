//! Builds a heap object by object, in the order of the file.

use super::heap::{
    ClassReferences, Ephemeron, Heap, Ids, Label, LoadWarning, ObjectId, ObjectValues, Offsets,
    References, Root, Sizes, StackFrame, Thread, ThreadKind, Type, TypeId, TypeIds, TypeKind,
};
use super::names::Names;
use super::roles::Roles;
use super::site::AllocationSites;
use crate::model::heap::{Unreached, WarningKind};
use rustc_hash::FxHashMap;

/// Collects objects and their references. Counts that are known beforehand avoid growth by
/// doubling.
///
/// For formats that are stored record by record. Loaders of formats that are stored in columns fill
/// a [`Heap`] themselves.
pub struct HeapBuilder<'a> {
    heap: Heap<'a>,
    labels: bool,
}

impl<'a> HeapBuilder<'a> {
    /// Creates a builder with capacity for this many objects and references. The caller must have
    /// checked both against the size of its input.
    pub fn with_capacity(objects: usize, references: usize) -> Self {
        let mut first = Offsets::with_capacity(objects + 1, references as u64);
        first.push(0);
        let references = References {
            first,
            target: Vec::with_capacity(references),
            label: Vec::with_capacity(references),
            weak: Vec::new(),
        };
        Self {
            heap: Heap {
                names: Names::default(),
                types: Vec::new(),
                type_sources: Vec::new(),
                detached_types: Vec::new(),
                collection_types: Vec::new(),
                generated_types: FxHashMap::default(),
                generated_by_name: std::sync::OnceLock::new(),
                representations: Vec::new(),
                type_of: TypeIds::with_capacity(objects),
                shallow: Sizes::with_capacity(objects),
                external: Vec::new(),
                ids: Ids::Rows(0),
                references,
                class_references: ClassReferences::None,
                classes: Vec::new(),
                ephemerons: Vec::new(),
                roots: Vec::new(),
                threads: Vec::new(),
                frames: Vec::new(),
                keys: Vec::new(),
                quoting_types: Vec::new(),
                roles: &[],
                sites: AllocationSites::default(),
                unreached: Unreached::default(),
                pointer_size: 0,
                big_endian: false,
                values: None,
                warnings: Vec::new(),
            },
            labels: true,
        }
    }

    /// Leaves out the labels of references.
    #[must_use]
    pub(crate) fn without_labels(mut self) -> Self {
        self.heap.references.label = Vec::new();
        self.labels = false;
        self
    }

    /// The heap so far, for loaders that fill its columns themselves.
    pub(crate) fn into_heap(self) -> Heap<'a> {
        self.heap
    }

    /// Continues from a finished heap, to change it. New references and objects follow the existing
    /// ones.
    pub fn from_heap(mut heap: Heap<'a>) -> Self {
        // A reader can only decode the labels of the references that it has read, and types may change.
        let of_object = |object| heap.labels(object, heap.references.range(object)).into_owned();
        heap.references.label = heap.objects().flat_map(of_object).collect();
        if let Some(label) = heap.class_references.label() {
            heap.class_references = ClassReferences::Labelled(label);
        }
        let labels = heap.references.is_empty() || !heap.references.label.is_empty();
        Self { heap, labels }
    }

    /// Replaces the type of an object that has been added.
    pub fn set_type(&mut self, object: ObjectId, type_id: TypeId) {
        self.heap.type_of.set(object.index(), type_id);
    }

    /// Removes all roots.
    pub fn clear_roots(&mut self) {
        self.heap.roots.clear();
    }

    /// Removes all external sizes.
    pub fn clear_external(&mut self) {
        self.heap.external.clear();
    }

    /// The strings of the heap.
    pub fn names(&mut self) -> &mut Names {
        &mut self.heap.names
    }

    /// Adds a type.
    pub fn add_type(&mut self, name: &str, namespace: &str, kind: TypeKind) -> TypeId {
        let (name, namespace) = (self.heap.names.intern(name), self.heap.names.intern(namespace));
        self.heap.types.push(Type { name, namespace, kind });
        TypeId(self.heap.types.len() as u32 - 1)
    }

    /// Names the representation of the objects of the type that was added last.
    pub fn set_representation(&mut self, representation: &str) {
        let name = self.heap.names.intern(representation);
        self.heap.representations.resize(self.heap.types.len().saturating_sub(1), Names::EMPTY);
        self.heap.representations.push(name);
    }

    /// Adds an object. The references that are added next are its own.
    #[inline]
    pub fn add_object(&mut self, type_id: TypeId, shallow: u64) -> ObjectId {
        let heap = &mut self.heap;
        heap.type_of.push(type_id);
        heap.shallow.push(shallow);
        let references = heap.references.target.len() as u64;
        heap.references.first.push(references);
        ObjectId(heap.type_of.len() as u32 - 1)
    }

    /// Adds a reference of the last object. The target may be added later, but before the heap is
    /// finished.
    #[inline]
    pub fn add_reference(&mut self, target: ObjectId, label: Label, weak: bool) {
        let references = &mut self.heap.references;
        references.target.push(target);
        if self.labels {
            references.label.push(label);
        }
        let end = references.target.len();
        match references.first.last_small() {
            Some(last) if end <= u32::MAX as usize => *last = end as u32,
            _ => references.first.set_last(end as u64),
        }
        if weak {
            self.weaken(end - 1);
        }
    }

    /// Makes the reference in a row weak. No later row may be weak.
    #[cold]
    fn weaken(&mut self, row: usize) {
        let references = &mut self.heap.references;
        references.weak.resize(row / 64 + 1, 0);
        references.weak[row / 64] |= 1 << (row % 64);
    }

    /// Appends the objects of another builder, with their references and external bytes. Their
    /// types, names and object numbers must be those of this heap.
    pub(crate) fn append(&mut self, part: HeapBuilder<'_>) {
        let HeapBuilder { heap: part, .. } = part;
        let heap = &mut self.heap;
        let before = heap.references.target.len();
        let end = (before + part.references.target.len()) as u64;
        let ends = part.references.first.range(1..part.references.first.len());
        heap.references.first.extend(ends.map(|first| first + before as u64), end);
        heap.references.target.extend_from_slice(&part.references.target);
        heap.references.label.extend_from_slice(&part.references.label);
        heap.type_of.append(&part.type_of);
        heap.shallow.append(&part.shallow);
        heap.external.extend(part.external);
        for (word, bits) in part.references.weak.iter().enumerate().filter(|(_, bits)| **bits != 0)
        {
            let set = (0..64).filter(|bit| bits >> bit & 1 == 1);
            set.for_each(|bit| self.weaken(before + word * 64 + bit));
        }
    }

    /// Adds bytes outside the managed heap to those of an object.
    pub fn add_external(&mut self, object: ObjectId, bytes: u64) {
        self.heap.external.push((object, bytes));
    }

    /// Adds a root.
    pub fn add_root(&mut self, root: Root) {
        self.heap.roots.push(root);
    }

    /// Adds a pair of references, one of which depends on the other.
    pub fn add_ephemeron(&mut self, ephemeron: Ephemeron) {
        self.heap.ephemerons.push(ephemeron);
    }

    /// Adds a thread with its frames, innermost first. Returns the row of its first frame.
    pub fn add_thread(
        &mut self,
        name: &str,
        id: u64,
        object: Option<ObjectId>,
        frames: &[StackFrame],
    ) -> u32 {
        let first = self.heap.frames.len() as u32;
        self.heap.frames.extend_from_slice(frames);
        let name = self.heap.names.intern(name);
        let frames = first..first + frames.len() as u32;
        let (kind, state) = (ThreadKind::Thread, Names::EMPTY);
        self.heap.threads.push(Thread {
            kind,
            name,
            id,
            state,
            wait_us: None,
            object,
            frames,
            created_by: None,
        });
        first
    }

    /// Adds a warning about data that could not be loaded as it is in the file. A count of 0 adds
    /// none.
    pub fn warn(&mut self, kind: WarningKind, count: u64) {
        self.heap.warnings.extend((count > 0).then_some(LoadWarning { kind, count }));
    }

    /// Sets the roles of the runtime's types.
    pub fn set_roles(&mut self, roles: Roles) {
        self.heap.roles = roles;
    }

    /// Sets the size of a pointer in the dumped process, in bytes.
    pub fn set_pointer_size(&mut self, bytes: u8) {
        self.heap.pointer_size = bytes;
    }

    /// Returns the heap so far, to set fields for which there is no method.
    pub(crate) fn heap(&mut self) -> &mut Heap<'a> {
        &mut self.heap
    }

    /// The finished heap. References to objects that were never added are dropped and counted.
    pub fn finish(mut self, ids: Ids, values: Option<Box<dyn ObjectValues + 'a>>) -> Heap<'a> {
        self.heap.ids = ids;
        self.heap.values = values;
        self.finish_edited()
    }

    /// Returns the finished heap, with the ids and values of the heap that
    /// [`HeapBuilder::from_heap`] received.
    pub fn finish_edited(mut self) -> Heap<'a> {
        self.merge_external();
        self.drop_dangling();
        let mut heap = self.heap;
        if !heap.references.weak.is_empty() {
            heap.references.weak.resize(heap.references.target.len().div_ceil(64), 0);
        }
        heap.ephemerons.sort_by_key(|pair| pair.holder);
        debug_assert_eq!(heap.check(), Ok(()));
        heap
    }

    fn merge_external(&mut self) {
        let external = &mut self.heap.external;
        external.sort_by_key(|(object, _)| *object);
        external.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
    }

    fn drop_dangling(&mut self) {
        let objects = self.heap.type_of.len() as u32;
        self.heap.external.retain(|(object, _)| object.0 < objects);
        self.heap.ephemerons.retain(|pair| {
            pair.holder.0 < objects && pair.key.0 < objects && pair.value.0 < objects
        });
        let roots = self.heap.roots.len();
        self.heap.roots.retain(|root| root.object.0 < objects);
        self.warn(WarningKind::DanglingRoots, (roots - self.heap.roots.len()) as u64);
        let references = &mut self.heap.references;
        // Compared in groups, so that the processor compares several at once.
        let exist = |targets: &[ObjectId]| {
            targets.iter().fold(true, |exist, target| exist & (target.0 < objects))
        };
        if references.target.chunks(1024).all(exist) {
            return;
        }
        let mut kept = 0;
        let mut weak = vec![0; references.weak.len()];
        let mut first =
            Offsets::with_capacity(references.first.len(), references.target.len() as u64);
        first.push(0);
        for object in 0..objects {
            for row in references.range(ObjectId(object)) {
                if references.target[row].0 >= objects {
                    continue;
                }
                if references.is_weak(row) {
                    weak[kept / 64] |= 1 << (kept % 64);
                }
                references.target[kept] = references.target[row];
                if self.labels {
                    references.label[kept] = references.label[row];
                }
                kept += 1;
            }
            first.push(kept as u64);
        }
        let dropped = references.target.len() - kept;
        references.target.truncate(kept);
        references.label.truncate(kept);
        references.weak = weak;
        references.first = first;
        self.warn(WarningKind::DanglingReferences, dropped as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::heap::RootKind;

    #[test]
    fn a_heap_is_what_was_added() {
        let mut builder = HeapBuilder::with_capacity(2, 3);
        let node = builder.add_type("Node", "app", TypeKind::Instance);
        let next = Label::field(builder.names().intern("next"));
        let a = builder.add_object(node, 16);
        builder.add_reference(ObjectId(1), next, false);
        builder.add_reference(a, Label::index(7), true);
        let b = builder.add_object(node, u64::from(u32::MAX) + 5);
        builder.add_reference(a, Label::offset(8), false);
        builder.add_external(b, 3);
        builder.add_external(b, 4);
        let group = builder.names().intern("data");
        builder.add_root(Root {
            label: Label::offset(0x1c0),
            ..Root::new(a, RootKind::Global, group)
        });
        let heap = builder.finish(Ids::Rows(1), None);
        assert_eq!(heap.check(), Ok(()));
        assert_eq!(
            (heap.shallow.get(0), heap.shallow.get(1), heap.external_bytes(b)),
            (16, u64::from(u32::MAX) + 5, 7)
        );
        let references: Vec<_> = heap.references_of(a).collect();
        assert_eq!(
            (references[0].target, references[0].label, references[0].weak),
            (b, next, false)
        );
        assert_eq!((references[1].target, references[1].weak), (a, true));
        assert_eq!(heap.references_of(b).next().unwrap().label.text(&heap.names), "+0x8");
        assert_eq!(heap.roots[0].text(&heap.names), "data +0x1c0");
        assert_eq!(
            (heap.id(b), heap.find("#2"), heap.find("#3")),
            ("#2".to_owned(), Some(b), None)
        );
    }

    #[test]
    fn references_to_nothing_are_dropped_and_counted() {
        let mut builder = HeapBuilder::with_capacity(2, 4);
        let node = builder.add_type("Node", "", TypeKind::Instance);
        builder.add_object(node, 8);
        builder.add_reference(ObjectId(9), Label::index(0), false);
        builder.add_reference(ObjectId(1), Label::index(1), true);
        builder.add_object(node, 8);
        builder.add_reference(ObjectId(2), Label::index(2), false);
        let heap = builder.finish(Ids::Rows(0), None);
        let of = |object| heap.references_of(ObjectId(object)).collect::<Vec<_>>();
        assert_eq!(of(0).len(), 1);
        assert_eq!(
            (of(0)[0].target, of(0)[0].label, of(0)[0].weak),
            (ObjectId(1), Label::index(1), true)
        );
        assert_eq!(of(1).len(), 0);
        assert_eq!(
            heap.warnings,
            [LoadWarning { kind: WarningKind::DanglingReferences, count: 2 }]
        );
    }
}
