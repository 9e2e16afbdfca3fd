//! The labels of references, decoded from the file on request.

use super::layout::{ClassTable, ReferenceField};
use super::objects::{Instance, Object, ObjectArray};
use super::primitives::IdSize;
use super::records::HeapRec;
use super::shapes::Classes;
use super::values::Contents;
use crate::model::addresses::Addresses;
use crate::model::heap::{EachLabel, Heap, Ids, Label, ObjectId, TypeId, TypeKind};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// The properties of classes that labels are decoded with.
pub(super) struct Labels {
    classes: Classes,
    /// The label of references from objects to their classes.
    class: Label,
    /// For each class in the order of the table, whether its objects have such a reference.
    has_class: Vec<bool>,
    /// The type of each class, in the order of the table.
    types: Vec<TypeId>,
    /// The blocks of long arrays that labels were requested of.
    blocks: RwLock<FxHashMap<ObjectId, Arc<Blocks>>>,
}

/// The elements of an array per block.
const BLOCK: usize = 512;

/// The positions of the references of an array among its elements, of which some are null.
struct Blocks {
    /// The number of references before each block.
    before: Vec<u32>,
    exists: Exists,
}

/// How ids that are references are told from those that are not.
#[derive(Clone, Copy, PartialEq)]
enum Exists {
    /// All ids but 0 are in the file.
    NotNull,
    /// Some are not in the file.
    InFile,
}

impl Exists {
    /// For an object with this number of references.
    fn of(ids: impl Iterator<Item = u64>, references: usize) -> Self {
        if ids.filter(|id| *id != 0).count() == references { Self::NotNull } else { Self::InFile }
    }

    #[inline]
    fn has(self, id: u64, addresses: &Addresses) -> bool {
        id != 0 && (self == Self::NotNull || addresses.at(id).is_some())
    }
}

impl Labels {
    pub(super) fn new(
        classes: Classes,
        class: Label,
        has_class: Vec<bool>,
        types: Vec<TypeId>,
    ) -> Self {
        Self { classes, class, has_class, types, blocks: RwLock::default() }
    }

    /// Passes the labels of the references of an object at these places. See
    /// [`ObjectValues::labels`](crate::model::heap::ObjectValues::labels).
    pub(super) fn pass(
        &self,
        (heap, object): (&Heap<'_>, ObjectId),
        (table, contents): (&ClassTable<'_>, &Contents<'_>),
        mut places: Range<usize>,
        each: &mut EachLabel<'_>,
    ) {
        if heap.type_of(object).kind == TypeKind::Class
            && let Some(of_class) = self.classes.references_of(object)
        {
            let own = of_class.get(places).unwrap_or_default();
            own.iter().for_each(|(_, label)| each(*label));
            return;
        }
        // Types are in the order of classes, and each class has its own.
        let class = self.types.binary_search(&heap.type_id(object)).ok();
        let mut references = heap.references.range(object).len();
        if class.and_then(|class| self.has_class.get(class)) == Some(&true) {
            // The reference to the class comes before all others.
            if places.start == 0 && places.end > 0 {
                each(self.class);
            }
            places = places.start.saturating_sub(1)..places.end.saturating_sub(1);
            references = references.saturating_sub(1);
        }
        let fields = class.map_or(&[][..], |class| self.classes.fields_of(class, table));
        if let Some(all) = fields.get(places.clone()).filter(|_| fields.len() == references) {
            all.iter().for_each(|field| each(field.label));
            return;
        }
        let (Ids::Addresses(addresses), Some(HeapRec::Object(record))) =
            (&heap.ids, contents.record(object))
        else {
            return;
        };
        match record {
            Object::ObjectArray(array) if array.count as usize == references => {
                places.for_each(|place| each(Label::index(place as u64)));
            }
            Object::ObjectArray(array) => {
                let (first, before, exists) =
                    self.block(object, &array, contents.ids, references, (addresses, places.start));
                let rest = array.elements.get(first.saturating_mul(contents.ids.bytes())..);
                let elements = (first as u64..).zip(contents.ids.all(rest.unwrap_or_default()));
                let elements = elements.filter(|(_, id)| exists.has(*id, addresses));
                let elements =
                    elements.skip(places.start.saturating_sub(before)).take(places.len());
                elements.for_each(|(index, _)| each(Label::index(index)));
            }
            Object::Instance(Instance { values, .. }) => {
                let id = |field: &ReferenceField| contents.ids.at(values, field.offset);
                let exists = Exists::of(fields.iter().map(id), references);
                let fields = fields.iter().filter(|field| exists.has(id(field), addresses));
                let fields = fields.skip(places.start).take(places.len());
                fields.for_each(|field| each(field.label));
            }
            Object::PrimitiveArray(_) => {}
        }
    }

    /// Returns the last block of an array that begins at or before a place: its first element, the
    /// number of references before that, and which ids are references. Arrays of one block are
    /// searched each time.
    fn block(
        &self,
        object: ObjectId,
        array: &ObjectArray<'_>,
        ids: IdSize,
        references: usize,
        (addresses, place): (&Addresses, usize),
    ) -> (usize, usize, Exists) {
        let all = || ids.all(array.elements);
        if array.count as usize <= BLOCK {
            return (0, 0, Exists::of(all(), references));
        }
        let known =
            self.blocks.read().unwrap_or_else(PoisonError::into_inner).get(&object).cloned();
        let blocks = known.unwrap_or_else(|| {
            let exists = Exists::of(all(), references);
            let blocks = array.elements.chunks(BLOCK.saturating_mul(ids.bytes()));
            let before = blocks.scan(0u32, |count, block| {
                let own = ids.all(block).filter(|id| exists.has(*id, addresses)).count() as u32;
                Some(std::mem::replace(count, count.saturating_add(own)))
            });
            let blocks = Arc::new(Blocks { before: before.collect(), exists });
            let mut all = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
            all.insert(object, Arc::clone(&blocks));
            blocks
        });
        let later = blocks.before.partition_point(|before| *before as usize <= place);
        let block = later.saturating_sub(1);
        let before = blocks.before.get(block).copied().unwrap_or(0);
        (block.saturating_mul(BLOCK), before as usize, blocks.exists)
    }
}
