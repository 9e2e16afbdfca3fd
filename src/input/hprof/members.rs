//! The fields and elements of objects, decoded from the file on demand.

use super::classes::ClassDump;
use super::labels::Labels;
use super::layout::{Class, ClassTable};
use super::naming::Strings;
use super::objects::{Instance, Object};
use super::primitives::Value as Stored;
use super::records::HeapRec;
use super::values::Contents;
use crate::java::FieldType;
use crate::model::addresses::Addresses;
use crate::model::heap::{
    Array, EachElement, EachField, EachLabel, Field, FieldValue, Heap, Ids, Known, ObjectId,
    ObjectValues, TypeId, Value,
};
use std::ops::Range;

/// The contents of objects, with the classes that describe the bytes.
pub(super) struct Members<'a> {
    contents: Contents<'a>,
    labels: Labels,
    classes: ClassTable<'a>,
    strings: Strings<'a>,
    /// The type of each class, in the order of the table.
    types: Vec<TypeId>,
    /// Whether class records list the fields of a class from the last to the first.
    is_reversed: bool,
}

/// A field of an instance: its class as a position in the table, its name, and its value.
struct Slot<'a> {
    class: usize,
    name: &'a [u8],
    kind: FieldType,
    bytes: &'a [u8],
}

impl<'a> Members<'a> {
    pub(super) fn new(
        (contents, labels): (Contents<'a>, Labels),
        classes: ClassTable<'a>,
        strings: Strings<'a>,
        types: Vec<TypeId>,
    ) -> Self {
        let is_reversed = is_reversed(&classes, &strings);
        Self { contents, labels, classes, strings, types, is_reversed }
    }

    /// Like [`Self::slots`], with the fields of each class in the order of the source.
    fn declared<'s>(&'s self, instance: &Instance<'s>) -> Vec<Slot<'s>> {
        let mut slots: Vec<Slot<'s>> = self.slots(instance).collect();
        if self.is_reversed {
            slots.chunk_by_mut(|a, b| a.class == b.class).for_each(<[_]>::reverse);
        }
        slots
    }

    /// The fields of an instance as far as its data reaches: its class first, then the superclass,
    /// and so on.
    fn slots<'s>(
        &'s self,
        instance: &Instance<'s>,
    ) -> impl Iterator<Item = Slot<'s>> + use<'s, 'a> {
        let ids = self.contents.ids;
        let mut rest = instance.values;
        let parent = |&class: &usize| self.classes.get(class).and_then(|class| class.parent);
        let chain = std::iter::successors(self.classes.index(instance.class), parent);
        let fields = chain.flat_map(|class| {
            let fields = self.classes.get(class).map(|class| class.dump.fields.iter());
            fields.into_iter().flatten().map(move |field| (class, field))
        });
        fields.map_while(move |(class, field)| {
            let (bytes, after) = rest.split_at_checked(field.kind.size(ids))?;
            rest = after;
            let id = self.classes.get(class).map_or(0, |class| class.dump.id);
            Some(Slot { class, name: self.strings.field(id, field.name), kind: field.kind, bytes })
        })
    }

    fn statics(
        &self,
        dump: &ClassDump<'_>,
        class: &str,
        addresses: &Addresses,
        each: &mut EachField<'_>,
    ) {
        for field in dump.statics.iter() {
            let name = String::from_utf8_lossy(self.strings.field(dump.id, field.name));
            let value = value(field.value, field.kind, addresses);
            if each(Field { class, name: &name, type_name: field.kind.name(), value }).is_break() {
                return;
            }
        }
    }

    fn class_name<'h>(&self, heap: &'h Heap<'a>, class: usize) -> &'h str {
        let known = self.types.get(class).and_then(|known| heap.types.get(known.0 as usize));
        known.map_or("", |known| heap.names.text(known.name))
    }

    fn class_of(&self, id: u64) -> Option<(usize, &Class<'a>)> {
        let index = self.classes.index(id)?;
        Some((index, self.classes.get(index)?))
    }

    fn stored(&self, slot: &Slot<'_>, addresses: &Addresses) -> FieldValue<'static> {
        slot.kind
            .value(slot.bytes)
            .map_or(FieldValue::Omitted, |stored| value(stored, slot.kind, addresses))
    }
}

/// Whether class records have the last field first, as those of HotSpot have in JDK 17 and earlier.
/// The JDK declares `value` of java.lang.String before `hash`.
fn is_reversed(classes: &ClassTable<'_>, strings: &Strings<'_>) -> bool {
    let class = classes.named("java.lang.String", strings);
    let field = |name: &[u8]| {
        class.and_then(|class| {
            class.dump.fields.iter().position(|own| strings.text(own.name) == name)
        })
    };
    matches!((field(b"value"), field(b"hash")), (Some(value), Some(hash)) if value > hash)
}

impl ObjectValues for Members<'_> {
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        self.contents.value(heap, object)
    }

    fn labels(
        &self,
        heap: &Heap<'_>,
        object: ObjectId,
        places: Range<usize>,
        each: &mut EachLabel<'_>,
    ) {
        self.labels.pass((heap, object), (&self.classes, &self.contents), places, each);
    }

    fn known(&self) -> Known {
        Known {
            texts: true,
            bytes: true,
            lengths: true,
            nulls: true,
            numbers: true,
            ..Known::default()
        }
    }

    fn fields(&self, heap: &Heap<'_>, object: ObjectId, each: &mut EachField<'_>) {
        let Ids::Addresses(addresses) = &heap.ids else { return };
        match self.contents.record(object) {
            Some(HeapRec::Object(Object::Instance(instance))) => {
                for slot in self.declared(&instance) {
                    let (name, value) =
                        (String::from_utf8_lossy(slot.name), self.stored(&slot, addresses));
                    let class = self.class_name(heap, slot.class);
                    if each(Field { class, name: &name, type_name: slot.kind.name(), value })
                        .is_break()
                    {
                        return;
                    }
                }
            }
            Some(HeapRec::ClassDump(dump)) => {
                // The first record of a class counts, as it does for its references.
                let Some((index, class)) = self.class_of(dump.id) else { return };
                self.statics(&class.dump, self.class_name(heap, index), addresses, each);
            }
            _ => {}
        }
    }

    fn field<'v>(
        &'v self,
        heap: &'v Heap<'_>,
        object: ObjectId,
        name: &str,
    ) -> Option<FieldValue<'v>> {
        let Ids::Addresses(addresses) = &heap.ids else { return None };
        match self.contents.record(object)? {
            HeapRec::Object(Object::Instance(instance)) => {
                let slot = self.slots(&instance).find(|slot| slot.name == name.as_bytes())?;
                Some(self.stored(&slot, addresses))
            }
            HeapRec::ClassDump(dump) => {
                let mut statics = self.class_of(dump.id)?.1.dump.statics.iter();
                let field = statics
                    .find(|field| self.strings.field(dump.id, field.name) == name.as_bytes())?;
                Some(value(field.value, field.kind, addresses))
            }
            _ => None,
        }
    }

    fn array(&self, _: &Heap<'_>, object: ObjectId) -> Option<Array> {
        let (length, element) = match self.contents.record(object)? {
            HeapRec::Object(Object::ObjectArray(array)) => (array.count, FieldType::Object),
            HeapRec::Object(Object::PrimitiveArray(array)) => (array.count, array.element),
            _ => return None,
        };
        Some(Array { length: length.into(), element: element.name() })
    }

    fn elements(&self, heap: &Heap<'_>, object: ObjectId, start: u64, each: &mut EachElement<'_>) {
        let Ids::Addresses(addresses) = &heap.ids else { return };
        let (bytes, kind) = match self.contents.record(object) {
            Some(HeapRec::Object(Object::ObjectArray(array))) => {
                (array.elements, FieldType::Object)
            }
            Some(HeapRec::Object(Object::PrimitiveArray(array))) => {
                (array.contents.unwrap_or_default(), array.element)
            }
            _ => return,
        };
        let width = kind.size(self.contents.ids);
        let skipped = usize::try_from(start).ok().and_then(|start| start.checked_mul(width));
        let rest = skipped.and_then(|skipped| bytes.get(skipped..)).unwrap_or_default();
        for (element, index) in rest.chunks_exact(width).zip(start..) {
            let Some(stored) = kind.value(element) else { return };
            if each(index, value(stored, kind, addresses)).is_break() {
                return;
            }
        }
    }
}

/// Converts a value to the form of the model.
fn value(stored: Stored, kind: FieldType, addresses: &Addresses) -> FieldValue<'static> {
    match stored {
        Stored::Object(0) => FieldValue::Null,
        Stored::Object(id) => addresses.at(id).map_or(FieldValue::Address(id), FieldValue::Object),
        Stored::Boolean(value) => FieldValue::Boolean(value),
        // A char is read as an unsigned number of two bytes.
        Stored::Integer(unit) if kind == FieldType::Char => FieldValue::Character(unit as u16),
        Stored::Integer(value) => FieldValue::Integer(value),
        Stored::Float(value) => FieldValue::Float(value),
    }
}
