//! The objects of a file as rows, in the order of their ids.
//!
//! The data that all objects need is collected first: types, classes, the fields of each class, and
//! the position of each row's record. Then parts of the rows are decoded in parallel.

use super::class_cache::ClassCache;
use super::labels::Labels;
use super::objects::Object;
use super::records::{HeapRec, Rec, Records, read_heap_record};
use super::scan::{OfClass, Scan};
use super::segments::{read_part, side_by_side};
use super::shapes::{ClassRow, Classes, Shape};
use super::sizes::{Rule, positive_int};
use super::types::Types;
use crate::bytes::Cursor;
use crate::input::load::LoadOptions;
use crate::input::read::Progress;
use crate::input::waves::in_waves;
use crate::java::CLASS;
use crate::model::addresses::Addresses;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Label, ObjectId, Offsets, WarningKind};
use std::num::Saturating;
use std::ops::Range;

/// Data that could not be loaded as it is in the file.
#[derive(Default)]
struct Faults {
    dangling: Saturating<u64>,
    /// Array elements with a dangling id, in files of HotSpot: an array of its shared archive
    /// refers to class objects that are not written.
    dangling_elements: Saturating<u64>,
    classless: Saturating<u64>,
    short: Saturating<u64>,
    broken: Saturating<u64>,
}

impl Faults {
    fn append(&mut self, part: Self) {
        self.dangling += part.dangling;
        self.dangling_elements += part.dangling_elements;
        self.classless += part.classless;
        self.short += part.short;
        self.broken += part.broken;
    }
}

/// The data that all objects are decoded with.
pub(super) struct Rows<'s, 'a> {
    bytes: &'a [u8],
    scan: &'s Scan<'a>,
    addresses: &'s Addresses,
    types: &'s Types,
    /// The class that the objects of each class hold besides their fields. `None` if a root holds
    /// it.
    held_classes: Vec<Option<ObjectId>>,
    class_label: Label,
    /// Whether the labels of references are stored.
    labels: bool,
    classes: Classes,
}

/// Rows that are decoded by one thread.
const PART: usize = 1 << 16;

impl<'s, 'a> Rows<'s, 'a> {
    /// Adds the rows and the classes of a file to a heap that already has the types. Returns the
    /// position of the record of each row, and what decodes labels.
    pub(super) fn add(
        bytes: &'a [u8],
        scan: &'s mut Scan<'a>,
        (addresses, types): (&'s Addresses, &'s Types),
        builder: &mut HeapBuilder<'a>,
        options: LoadOptions<'_>,
    ) -> (Offsets, Labels) {
        let class_label = Label::field(builder.names().intern(CLASS));
        let held = |id| addresses.at(id).filter(|_| id != 0);
        let held_classes: Vec<_> = scan.held_classes().into_iter().map(held).collect();
        if !options.bare && held_classes.iter().any(Option::is_some) {
            builder.heap().class_references = types.class_references(&held_classes, class_label);
        }
        let mut classes = Classes { shapes: vec![None; scan.classes.len()], ..Classes::default() };
        // In the order of rows, so that labels are numbered in it.
        for (_, what) in in_order(scan, addresses) {
            match what {
                What::Class(index, object) => {
                    classes.add(object, index, scan, (addresses, types), builder)
                }
                What::Objects(objects) => {
                    classes.shape(objects, scan, types, &held_classes, builder.names())
                }
            }
        }
        let known = scan.positions.take();
        let scan = &*scan;
        let positions = known
            .and_then(|known| with_classes(known, scan, addresses, &classes.rows))
            .unwrap_or_else(|| find_rows(bytes, scan, addresses, options.progress));
        let dangling = classes.dangling;
        let labels = options.stored_labels && !options.bare;
        let rows =
            Self { bytes, scan, addresses, types, held_classes, class_label, labels, classes };
        let mut faults = rows.decode(&positions, builder, options.progress);
        faults.dangling += dangling;
        builder.warn(WarningKind::DanglingReferences, faults.dangling.0);
        builder.warn(WarningKind::OmittedElements, faults.dangling_elements.0);
        builder.warn(WarningKind::UnknownClasses, faults.classless.0);
        builder.warn(WarningKind::ShortObjects, faults.short.0);
        builder.warn(WarningKind::UnknownSuperclasses, faults.broken.0);
        let has_class = rows.held_classes.iter().map(Option::is_some).collect();
        (positions, Labels::new(rows.classes, class_label, has_class, types.of_class.clone()))
    }

    /// Decodes the rows whose records stand at these positions.
    fn decode(
        &self,
        positions: &Offsets,
        builder: &mut HeapBuilder<'a>,
        progress: Progress<'_>,
    ) -> Faults {
        let count = positions.len();
        let parts: Vec<_> =
            (0..count).step_by(PART).map(|row| row..count.min(row.saturating_add(PART))).collect();
        let mut faults = Faults::default();
        let third = self.bytes.len() as u64 / 3;
        let step = third.checked_div(parts.len() as u64).unwrap_or(0);
        let mut done = third.saturating_mul(2);
        let decode = |part: &Range<usize>| Part::decode(self, part.clone(), positions);
        in_waves(&parts, decode, |(part, of_part)| {
            builder.append(part);
            faults.append(of_part);
            done = done.saturating_add(step);
            progress(done);
            true
        });
        faults
    }
}

/// A range of rows, decoded by one thread.
struct Part<'r, 'a> {
    rows: &'r Rows<'r, 'a>,
    builder: HeapBuilder<'a>,
    /// Positions of classes; `u32::MAX` for those that are not in the file.
    cache: ClassCache,
    faults: Faults,
}

impl<'a> Part<'_, 'a> {
    /// Decodes the rows whose records stand at these positions.
    fn decode(
        rows: &Rows<'_, 'a>,
        range: Range<usize>,
        positions: &Offsets,
    ) -> (HeapBuilder<'a>, Faults) {
        let mut builder = HeapBuilder::with_capacity(range.len(), range.len());
        if !rows.labels {
            builder = builder.without_labels();
        }
        let mut part =
            Part { rows, builder, cache: ClassCache::default(), faults: Faults::default() };
        let first = rows.classes.rows.partition_point(|class| class.object.index() < range.start);
        let mut classes = rows.classes.rows.get(first..).unwrap_or_default();
        for row in range {
            if let [class, rest @ ..] = classes
                && class.object.index() == row
            {
                classes = rest;
                part.add_class(class);
                continue;
            }
            let mut cursor = Cursor::at(rows.bytes, positions.get(row));
            match Object::at_start(cursor.rest(), rows.scan.ids) {
                Some((object, _)) => part.add_object(row, &object),
                None => match read_heap_record(&mut cursor, rows.scan.ids) {
                    Ok(HeapRec::Object(object)) => part.add_object(row, &object),
                    // Every row has a record that was read before.
                    Ok(_) | Err(_) => _ = part.builder.add_object(rows.types.unknown, 0),
                },
            }
        }
        (part.builder, part.faults)
    }

    #[inline]
    fn class(&mut self, id: u64) -> Option<usize> {
        let table = &self.rows.scan.classes;
        let find =
            || table.index(id).and_then(|index| u32::try_from(index).ok()).unwrap_or(u32::MAX);
        let index = self.cache.get_or_find(id, find);
        (index != u32::MAX).then_some(index as usize)
    }

    fn add_object(&mut self, row: usize, object: &Object<'_>) {
        let (rows, rule) = (self.rows, &self.rows.scan.sizes.rule);
        let ids = rows.scan.ids;
        match object {
            Object::Instance(instance) => {
                let index = self.class(instance.class);
                let Some(Some(shape)) = index.and_then(|index| rows.classes.shapes.get(index))
                else {
                    self.faults.classless += 1;
                    let size = rule.base().saturating_add(instance.values.len() as u64);
                    self.builder.add_object(rows.types.unknown, size);
                    return;
                };
                self.add_instance(row, shape, instance.values);
            }
            Object::ObjectArray(array) => {
                let index = self.class(array.class);
                let type_id = index.and_then(|index| rows.types.of_class.get(index));
                self.faults.classless += u64::from(type_id.is_none());
                let type_id = type_id.copied().unwrap_or(rows.types.unknown_array);
                self.builder.add_object(type_id, rule.object_array(array.count, ids));
                // The reference to the class comes before all others.
                if let Some(Some(class)) = index.and_then(|index| rows.held_classes.get(index)) {
                    self.builder.add_reference(*class, rows.class_label, false);
                }
                let before = self.faults.dangling;
                for (index, id) in (0..).zip(ids.all(array.elements)) {
                    self.reference(id, Label::index(index), false);
                }
                if let Rule::HotSpot { .. } = rule {
                    self.faults.dangling_elements += self.faults.dangling - before;
                    self.faults.dangling = before;
                }
            }
            Object::PrimitiveArray(array) => {
                let size = rule.primitive_array(array, ids);
                self.builder.add_object(rows.types.primitive_array(array.element), size);
            }
        }
    }

    fn add_instance(&mut self, row: usize, shape: &Shape, values: &[u8]) {
        let Scan { classes, ids, sizes, .. } = self.rows.scan;
        let stack = shape.words.map_or(0, |at| sizes.rule.stack(positive_int(values, at)));
        self.builder.add_object(shape.type_id, shape.size.saturating_add(stack));
        match shape.direct.map_or(0, |direct| direct.bytes(values, *ids)) {
            0 => {}
            bytes => self.builder.add_external(ObjectId(row as u32), bytes),
        }
        if let Some(class) = shape.held {
            self.builder.add_reference(class, self.rows.class_label, false);
        }
        self.faults.broken += u64::from(shape.broken);
        if (values.len() as u64) < shape.data {
            self.faults.short += 1;
            return;
        }
        for field in classes.fields(&shape.fields) {
            self.reference(ids.at(values, field.offset), field.label, field.weak);
        }
    }

    fn add_class(&mut self, class: &ClassRow) {
        self.builder.add_object(self.rows.types.class, class.size);
        let references = self.rows.classes.references.get(class.references.clone());
        for (target, label) in references.unwrap_or_default() {
            self.builder.add_reference(*target, *label, false);
        }
    }

    /// Adds a reference to the object with an id. If there is none, counts a dangling reference.
    #[inline]
    fn reference(&mut self, id: u64, label: Label, weak: bool) {
        if id == 0 {
            return;
        }
        match self.rows.addresses.at(id) {
            Some(target) => self.builder.add_reference(target, label, weak),
            None => self.faults.dangling += 1,
        }
    }
}

/// Something that labels are made for.
enum What {
    /// The object of the class at this position.
    Class(usize, ObjectId),
    Objects(OfClass),
}

/// The class objects, and for each class with objects its first object, sorted by id.
fn in_order(scan: &mut Scan<'_>, addresses: &Addresses) -> Vec<(u64, What)> {
    let with_objects = std::mem::take(&mut scan.tally.classes);
    let with_objects =
        with_objects.into_iter().map(|objects| (objects.least_id, What::Objects(objects)));
    let classes = scan.classes.iter().enumerate().filter_map(|(index, class)| {
        Some((class.dump.id, What::Class(index, addresses.at(class.dump.id)?)))
    });
    let mut order: Vec<_> = classes.chain(with_objects).collect();
    order.sort_by_key(|(id, _)| *id);
    order
}

/// Returns the position of the record of each row, given those of all objects but classes, in
/// order. `None` if several records have the same id.
fn with_classes(
    known: Offsets,
    scan: &Scan<'_>,
    addresses: &Addresses,
    classes: &[ClassRow],
) -> Option<Offsets> {
    let mut positions = known;
    let rows: Vec<usize> = classes.iter().map(|class| class.object.index()).collect();
    positions.insert_zeros(&rows);
    for class in scan.classes.iter() {
        positions.set(addresses.at(class.dump.id)?.index(), class.offset);
    }
    (positions.len() == addresses.len()).then_some(positions)
}

/// Finds the position of the record of each row, for files in another order. If several records
/// have the same id, the first one counts. 0, the offset of the header, stands for no record.
fn find_rows(
    bytes: &[u8],
    scan: &Scan<'_>,
    addresses: &Addresses,
    progress: Progress<'_>,
) -> Offsets {
    let mut positions = Offsets::zeros(addresses.len(), bytes.len() as u64);
    let mut add = |row: Option<ObjectId>, offset| {
        if let Some(row) = row
            && positions.get(row.index()) == 0
        {
            positions.set(row.index(), offset);
        }
    };
    for class in scan.classes.iter() {
        add(addresses.at(class.dump.id), class.offset);
    }
    let Ok(mut records) = Records::new(bytes) else { return positions };
    let third = bytes.len() as u64 / 3;
    let read = |range: &Range<u64>| {
        let mut found = Vec::new();
        let object = |offset, object: &Object<'_>| {
            found.push((addresses.at(object.id()), offset));
        };
        read_part(bytes, range, scan.ids, object, |_| {})?;
        Some((found, range.end))
    };
    loop {
        while side_by_side(&mut records, read, |(found, end)| {
            let objects = found.len();
            found.into_iter().for_each(|(row, offset)| add(row, offset));
            progress(third.saturating_add(end / 3));
            objects as u64
        }) {}
        while let Some((offset, object)) = records.next_object() {
            add(addresses.at(object.id()), offset);
        }
        match records.next() {
            Some(Ok((offset, Rec::Heap(HeapRec::Object(object))))) => {
                add(addresses.at(object.id()), offset)
            }
            Some(Ok((offset, Rec::Top { .. }))) => progress(third.saturating_add(offset / 3)),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => break,
        }
    }
    positions
}
