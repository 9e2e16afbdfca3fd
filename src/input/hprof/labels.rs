//! The labels of references, decoded from the file on request.

use super::layout::ClassTable;
use super::objects::{Instance, Object};
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
    /// The blocks of large objects that labels were requested of.
    blocks: RwLock<FxHashMap<ObjectId, Arc<Blocks>>>,
}

/// The elements or fields of an object per block. Without blocks, an object with very many that is asked
/// for the label of each would take time in proportion to the square of their number.
const BLOCK: usize = 512;

/// The positions of the references of an object among its elements or fields, of which some are null.
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

/// An object, and the number of its references but that to its class.
#[derive(Clone, Copy)]
struct Own<'h> {
    object: ObjectId,
    references: usize,
    addresses: &'h Addresses,
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
        let (ids, own) = (contents.ids, Own { object, references, addresses });
        match record {
            Object::ObjectArray(array) => {
                let id = |at: usize| ids.at(array.elements, at.saturating_mul(ids.bytes()));
                let label = |at: usize| Label::index(at as u64);
                self.pass_set(own, array.count as usize, (id, label), places, each);
            }
            Object::Instance(Instance { values, .. }) => {
                let id = |at: usize| fields.get(at).map_or(0, |field| ids.at(values, field.offset));
                let label = |at: usize| fields.get(at).map_or(Label::NONE, |field| field.label);
                self.pass_set(own, fields.len(), (id, label), places, each);
            }
            Object::PrimitiveArray(_) => {}
        }
    }

    /// Passes labels of the elements or fields that are references, given the number of all, and the
    /// id and the label of each.
    fn pass_set(
        &self,
        own: Own<'_>,
        count: usize,
        (id, label): (impl Fn(usize) -> u64, impl Fn(usize) -> Label),
        places: Range<usize>,
        each: &mut EachLabel<'_>,
    ) {
        if own.references == count {
            return places.for_each(|place| each(label(place)));
        }
        let (first, before, exists) = self.block(own, count, &id, places.start);
        let set = (first..count).filter(|at| exists.has(id(*at), own.addresses));
        let set = set.skip(places.start.saturating_sub(before)).take(places.len());
        set.for_each(|at| each(label(at)));
    }

    /// Returns the last block that begins at or before a place: its first element or field, the number
    /// of references before that, and which ids are references. Objects of one block are searched each
    /// time.
    fn block(
        &self,
        Own { object, references, addresses }: Own<'_>,
        count: usize,
        id: &impl Fn(usize) -> u64,
        place: usize,
    ) -> (usize, usize, Exists) {
        let exists = || Exists::of((0..count).map(id), references);
        if count <= BLOCK {
            return (0, 0, exists());
        }
        let known =
            self.blocks.read().unwrap_or_else(PoisonError::into_inner).get(&object).cloned();
        let blocks = known.unwrap_or_else(|| {
            let exists = exists();
            let before = (0..count).step_by(BLOCK).scan(0u32, |sum, first| {
                let block = first..first.saturating_add(BLOCK).min(count);
                let own = block.filter(|at| exists.has(id(*at), addresses)).count() as u32;
                Some(std::mem::replace(sum, sum.saturating_add(own)))
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
