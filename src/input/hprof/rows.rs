//! The objects of a file as rows, in the order of their ids.

use super::class_cache::ClassCache;
use super::direct::DirectBuffer;
use super::objects::Object;
use super::primitives::Value;
use super::records::{HeapRec, Records, read_heap_record};
use super::scan::Scan;
use super::sizes::{Rule, positive_int};
use super::types::Types;
use crate::bytes::Cursor;
use crate::input::read::Progress;
use crate::model::addresses::Addresses;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{ClassObject, Label, ObjectId, Offsets, TypeId, WarningKind};
use std::num::Saturating;
use std::ops::Range;

/// Data that could not be loaded as it is in the file.
#[derive(Default)]
pub(super) struct Faults {
    dangling: Saturating<u64>,
    /// Elements of arrays in files of HotSpot: its shared archive has an array that names class
    /// objects it does not write.
    dangling_elements: Saturating<u64>,
    classless: Saturating<u64>,
    short: Saturating<u64>,
    broken: Saturating<u64>,
}

/// Properties that all instances of a class share.
#[derive(Clone)]
pub(super) struct Shape {
    type_id: TypeId,
    /// The class, unless a root holds it.
    held: Option<ObjectId>,
    size: u64,
    /// The position of the words of a StackChunk's stack among the values.
    words: Option<usize>,
    direct: Option<DirectBuffer>,
    /// Bytes of all fields.
    data: u64,
    broken: bool,
    /// Their references. `None` until the first instance with all fields.
    fields: Option<Range<usize>>,
}

pub(super) struct Rows<'s, 'a> {
    pub(super) scan: &'s mut Scan<'a>,
    pub(super) addresses: &'s Addresses,
    pub(super) types: &'s Types,
    /// The class that the objects of each class hold besides their fields. `None` if a root holds
    /// it.
    pub(super) held_classes: Vec<Option<ObjectId>>,
    pub(super) class_label: Label,
    pub(super) builder: &'s mut HeapBuilder<'a>,
    /// Positions of classes; `u32::MAX` for those that are not in the file.
    pub(super) classes: ClassCache,
    /// By position of the class; `None` until the first instance.
    pub(super) shapes: Vec<Option<Shape>>,
    pub(super) faults: Faults,
}

impl<'a> Rows<'_, 'a> {
    /// Adds all rows. Returns the position of the record of each one.
    ///
    /// Most dumpers write the heap by address: then the order of the file is that of the rows,
    /// except for classes, and one pass is enough. Otherwise a first pass finds the positions of
    /// the rows.
    pub(super) fn add(mut self, bytes: &'a [u8], progress: Progress<'_>) -> Offsets {
        let positions = if self.scan.is_ordered {
            self.add_as_they_come(bytes, progress)
        } else {
            let positions = find_rows(bytes, self.scan, self.addresses, progress);
            self.add_from(bytes, &positions, progress);
            positions
        };
        let Faults { dangling, dangling_elements, classless, short, broken } = self.faults;
        self.builder.warn(WarningKind::DanglingReferences, dangling.0);
        self.builder.warn(WarningKind::OmittedElements, dangling_elements.0);
        self.builder.warn(WarningKind::UnknownClasses, classless.0);
        self.builder.warn(WarningKind::ShortObjects, short.0);
        self.builder.warn(WarningKind::UnknownSuperclasses, broken.0);
        positions
    }

    /// Adds the objects of the file one after the other, and each class where its id belongs.
    fn add_as_they_come(&mut self, bytes: &'a [u8], progress: Progress<'_>) -> Offsets {
        let end = bytes.len() as u64;
        let mut positions = Offsets::with_capacity(self.addresses.len(), end);
        let mut classes: Vec<(u64, u64)> =
            self.scan.classes.iter().map(|class| (class.dump.id, class.offset)).collect();
        classes.sort_unstable();
        let mut classes = classes.into_iter().peekable();
        let add = |offset, object: &Object<'_>| {
            let id = object.id();
            while let Some((class, offset)) = classes.next_if(|(class, _)| *class <= id) {
                self.add_class(class);
                positions.push(offset);
                if class == id {
                    return;
                }
            }
            self.add_object(object);
            positions.push(offset);
        };
        if let Ok(mut records) = Records::new(bytes) {
            records.for_each_object(add, |offset| {
                // The first pass moved the bar by a third.
                let done = (offset / 3).saturating_mul(2);
                progress((end / 3).saturating_add(done));
            });
        }
        for (class, offset) in classes {
            self.add_class(class);
            positions.push(offset);
        }
        positions
    }

    /// Adds the rows whose records stand at these positions.
    fn add_from(&mut self, bytes: &'a [u8], positions: &Offsets, progress: Progress<'_>) {
        let end = bytes.len() as u64;
        let (third, steps) = (end / 3, (positions.len() as u64 / 65536).saturating_add(1));
        for row in 0..positions.len() {
            if row % 65536 == 0 {
                let done = (third / 65536)
                    .saturating_mul((row as u64 / 65536).min(65536))
                    .checked_div(steps)
                    .unwrap_or(0);
                progress(end.saturating_sub(third).saturating_add(done));
            }
            let mut cursor = Cursor::at(bytes, positions.get(row));
            if let Some((object, _)) = Object::at_start(cursor.rest(), self.scan.ids) {
                self.add_object(&object);
                continue;
            }
            match read_heap_record(&mut cursor, self.scan.ids) {
                Ok(HeapRec::Object(object)) => self.add_object(&object),
                Ok(HeapRec::ClassDump(class)) => self.add_class(class.id),
                // Every row has a record that was read before.
                Ok(_) | Err(_) => {
                    self.builder.add_object(self.types.unknown, 0);
                }
            }
        }
    }

    #[inline]
    fn class(&mut self, id: u64) -> Option<usize> {
        let table = &self.scan.classes;
        let find =
            || table.index(id).and_then(|index| u32::try_from(index).ok()).unwrap_or(u32::MAX);
        let index = self.classes.get_or_find(id, find);
        (index != u32::MAX).then_some(index as usize)
    }

    fn add_object(&mut self, object: &Object<'_>) {
        let ids = self.scan.ids;
        match object {
            Object::Instance(instance) => {
                let Some(index) = self.class(instance.class) else {
                    self.faults.classless += 1;
                    let base = self.scan.sizes.rule.base();
                    let size = base.saturating_add(instance.values.len() as u64);
                    self.builder.add_object(self.types.unknown, size);
                    return;
                };
                self.add_instance(index, instance.values);
            }
            Object::ObjectArray(array) => {
                let index = self.class(array.class);
                let type_id = index.and_then(|index| self.types.of_class.get(index));
                self.faults.classless += u64::from(type_id.is_none());
                let type_id = type_id.copied().unwrap_or(self.types.unknown_array);
                let size = self.scan.sizes.rule.object_array(array.count, ids);
                self.builder.add_object(type_id, size);
                self.hold_class(index);
                let before = self.faults.dangling;
                for (index, id) in (0..).zip(ids.all(array.elements)) {
                    self.reference(id, Label::index(index), false);
                }
                if let Rule::HotSpot { .. } = self.scan.sizes.rule {
                    self.faults.dangling_elements += self.faults.dangling - before;
                    self.faults.dangling = before;
                }
            }
            Object::PrimitiveArray(array) => {
                let size = self.scan.sizes.rule.primitive_array(array, ids);
                self.builder.add_object(self.types.primitive_array(array.element), size);
            }
        }
    }

    fn add_instance(&mut self, index: usize, values: &[u8]) {
        if !matches!(self.shapes.get(index), Some(Some(_))) {
            self.find_shape(index);
        }
        let Some(Some(shape)) = self.shapes.get_mut(index) else { return };
        let stack =
            shape.words.map_or(0, |at| self.scan.sizes.rule.stack(positive_int(values, at)));
        let object = self.builder.add_object(shape.type_id, shape.size.saturating_add(stack));
        match shape.direct.map_or(0, |direct| direct.bytes(values, self.scan.ids)) {
            0 => {}
            bytes => self.builder.add_external(object, bytes),
        }
        if let Some(class) = shape.held {
            self.builder.add_reference(class, self.class_label, false);
        }
        self.faults.broken += u64::from(shape.broken);
        if (values.len() as u64) < shape.data {
            self.faults.short += 1;
            return;
        }
        let Scan { classes, strings, ids, .. } = &mut *self.scan;
        let fields = shape
            .fields
            .get_or_insert_with(|| classes.references(index, *ids, strings, self.builder.names()));
        for field in classes.fields(fields) {
            let id = ids.at(values, field.offset);
            let (label, weak) = (field.label, field.weak);
            reference(id, label, weak, self.addresses, self.builder, &mut self.faults);
        }
    }

    /// Collects the properties that the instances of a class share.
    #[cold]
    fn find_shape(&mut self, index: usize) {
        let Some(class) = self.scan.classes.get(index) else { return };
        let shape = Shape {
            type_id: self.types.of_class.get(index).copied().unwrap_or(self.types.unknown),
            held: self.held_classes.get(index).copied().flatten(),
            size: class.size,
            words: class.words,
            direct: self.scan.direct_buffer(class.dump.id),
            data: class.data,
            broken: class.broken,
            fields: None,
        };
        if index >= self.shapes.len() {
            self.shapes.resize(self.scan.classes.len(), None);
        }
        if let Some(place) = self.shapes.get_mut(index) {
            *place = Some(shape);
        }
    }

    /// Adds the reference of the last object to its class, which comes before all others.
    #[inline]
    fn hold_class(&mut self, class: Option<usize>) {
        if let Some(Some(class)) = class.and_then(|index| self.held_classes.get(index)) {
            self.builder.add_reference(*class, self.class_label, false);
        }
    }

    fn add_class(&mut self, id: u64) {
        let Some(class) = self
            .scan
            .classes
            .index(id)
            .and_then(|index| self.scan.classes.get(index))
            .map(|class| class.dump)
        else {
            self.builder.add_object(self.types.class, 0);
            return;
        };
        let object = self.builder.add_object(
            self.types.class,
            self.scan.sizes.rule.class(&class.statics, self.scan.ids, &self.scan.strings),
        );
        self.name_class(object, id);
        for field in class.statics.iter() {
            if let Value::Object(target) = field.value {
                let name = self.scan.strings.field(class.id, field.name);
                let name = self.builder.names().intern_bytes(name);
                self.reference(target, Label::field(name), false);
            }
        }
        for (name, target) in [
            ("<super>", class.super_class),
            ("<loader>", class.loader),
            ("<signers>", class.signers),
            ("<protection domain>", class.domain),
        ] {
            let name = self.builder.names().intern(name);
            self.reference(target, Label::field(name), false);
        }
    }

    fn name_class(&mut self, object: ObjectId, id: u64) {
        let Some(&type_id) =
            self.scan.classes.index(id).and_then(|index| self.types.of_class.get(index))
        else {
            return;
        };
        let heap = self.builder.heap();
        let Some(name) =
            heap.types.get(type_id.0 as usize).map(|named| heap.names.text(named.name))
        else {
            return;
        };
        // Classes that hold the roots in dumptool's own files are named after the roots.
        let name =
            if name.starts_with("GC roots: ") { name.to_owned() } else { format!("class {name}") };
        let name = heap.names.intern(&name);
        heap.classes.push(ClassObject { object, name, instances: Some(type_id) });
    }

    #[inline]
    fn reference(&mut self, id: u64, label: Label, weak: bool) {
        reference(id, label, weak, self.addresses, self.builder, &mut self.faults);
    }
}

/// Adds a reference to an id, if that is one of an object.
#[inline]
fn reference(
    id: u64,
    label: Label,
    weak: bool,
    addresses: &Addresses,
    builder: &mut HeapBuilder<'_>,
    faults: &mut Faults,
) {
    if id == 0 {
        return;
    }
    let target: Option<ObjectId> = addresses.at(id);
    match target {
        Some(target) => builder.add_reference(target, label, weak),
        None => faults.dangling += 1,
    }
}

/// Returns the position of the record of each row. The first object of an id counts. No record is
/// at offset 0, which means none.
fn find_rows(
    bytes: &[u8],
    scan: &Scan<'_>,
    addresses: &Addresses,
    progress: Progress<'_>,
) -> Offsets {
    let mut positions = Offsets::zeros(addresses.len(), bytes.len() as u64);
    let mut add = |id, offset| {
        if let Some(row) = addresses.at(id)
            && positions.get(row.index()) == 0
        {
            positions.set(row.index(), offset);
        }
    };
    for class in scan.classes.iter() {
        add(class.dump.id, class.offset);
    }
    let Ok(mut records) = Records::new(bytes) else { return positions };
    let third = bytes.len() as u64 / 3;
    records.for_each_object(
        |offset, object| add(object.id(), offset),
        |offset| progress(third.saturating_add(offset / 3)),
    );
    positions
}
