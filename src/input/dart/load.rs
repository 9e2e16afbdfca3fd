//! Loading a snapshot into the model: one pass, in the order of the file.
//!
//! Object id n becomes row n - 1. The objects that the VM made up (the root, the read-only pages, the isolates) stay in the
//! graph as objects of size 0 with all their references, and object 1 is the first root: what is reached from it is what is
//! alive, and dominators are those of the VM's own graph. What these objects refer to is listed as roots once more, with the
//! names of static fields, so that a path can begin at `isolate main: cache`.

mod classes;
mod roots;
mod values;

use super::class::ClassKind;
use super::data::Data;
use super::external_property::ExternalProperty;
use super::object::{Object, ROOT};
use super::records::{Rec, Records};
use crate::error::{Error, Result};
use crate::input::Options;
use crate::input::load::{LoadOptions, Loaded, SnapshotChoice};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Ephemeron, Heap, Ids, MAX_OBJECTS, ObjectId, Offsets, References, Sizes};
use classes::{Class, Classes};
use roots::Isolate;
use values::DartValues;

/// Bytes that an object takes at least: class, size, tag and number of references.
const SMALLEST_OBJECT: u64 = 4;

/// Loads the graph of a snapshot.
///
/// # Errors
/// When the header cannot be read, or a snapshot other than number 0 is wanted. Damage behind the header is part of what is
/// loaded.
pub fn load<'a>(bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    let mut records = Records::new(bytes)?;
    if let SnapshotChoice::Number(number @ 1..) = options.snapshot {
        return Err(Error::unsupported(0, format!("no snapshot {number}; the file has only 0")));
    }
    let mut loader = Loader {
        builder: HeapBuilder::with_capacity(0, 0),
        classes: Classes::default(),
        positions: Offsets::with_capacity(0, 0),
        isolates: Vec::new(),
        classless: 0,
        ownerless: 0,
    };
    let damage = loader.read(&mut records, bytes.len() as u64, options).err();
    Ok(Loaded { heap: loader.finish(&records, bytes), damage, snapshot: 0 })
}

struct Loader<'a> {
    builder: HeapBuilder<'a>,
    classes: Classes,
    /// Where each object begins in the file.
    positions: Offsets,
    isolates: Vec<Isolate>,
    /// Objects whose class is not in the file.
    classless: u64,
    /// External properties whose object is not in the file.
    ownerless: u64,
}

impl<'a> Loader<'a> {
    fn read(&mut self, records: &mut Records<'a>, length: u64, options: LoadOptions<'_>) -> Result<()> {
        while let Some(record) = records.next() {
            let (offset, record) = record?;
            match record {
                Rec::Object(object) => {
                    if object.id == ROOT {
                        self.reserve(records, offset, length);
                    }
                    if object.id > MAX_OBJECTS {
                        return Err(Error::limit(offset, "there are more objects than can be numbered")
                            .expected(format!("at most {MAX_OBJECTS}")));
                    }
                    if object.id.is_multiple_of(65536) {
                        (options.progress)(offset);
                    }
                    self.add_object(offset, &object);
                }
                Rec::Class(class) => self.classes.add(&class, &mut self.builder),
                Rec::ExternalProperty(property) => self.add_external(&property),
            }
        }
        records.tail(Options { quick: false, progress: options.progress }).map(drop)
    }

    /// Makes room for what the counts announce, as far as the rest of the file can hold it.
    fn reserve(&mut self, records: &Records<'_>, offset: u64, length: u64) {
        let rest = length.saturating_sub(offset);
        let counts = records.counts();
        let objects = counts.objects.unwrap_or(0).min(rest / SMALLEST_OBJECT);
        let left = rest.saturating_sub(objects.saturating_mul(SMALLEST_OBJECT));
        let references = counts.references.unwrap_or(0).min(left);
        let [objects, room] = [objects, references].map(|count| usize::try_from(count).unwrap_or(0));
        let heap = self.builder.heap();
        heap.type_of.reserve_exact(objects);
        heap.shallow = Sizes::with_capacity(objects);
        let mut first = Offsets::with_capacity(objects.saturating_add(1), references);
        first.push(0);
        let (target, label) = (Vec::with_capacity(room), Vec::with_capacity(room));
        heap.references = References { first, target, label, weak: Vec::new() };
        self.positions = Offsets::with_capacity(objects, length);
    }

    #[inline]
    fn add_object(&mut self, offset: u64, object: &Object<'a>) {
        let class = match self.classes.get(object.class_id) {
            Some(class) => class,
            None if object.id == ROOT => self.classes.root(&mut self.builder),
            None => {
                self.classless += 1;
                self.classes.unknown(&mut self.builder)
            }
        };
        let heap = self.builder.heap();
        heap.type_of.push(class.type_id);
        heap.shallow.push(object.shallow_size);
        self.positions.push(offset);
        if class.has_weak {
            add_weak_references(heap, &self.classes, &class, object);
        } else {
            let references = &mut heap.references;
            for (slot, id) in (0..).zip(object.references.iter()) {
                if id != 0 {
                    references.target.push(row(id));
                    references.label.push(self.classes.label(&class, slot));
                }
            }
        }
        heap.references.first.push(heap.references.target.len() as u64);
        if let (ClassKind::Isolate, Data::Name(port)) = (object.class_kind, &object.data) {
            self.isolates.push(Isolate { object: row(object.id), port: String::from_utf8_lossy(port).into_owned() });
        }
    }

    fn add_external(&mut self, property: &ExternalProperty<'_>) {
        let objects = self.builder.heap().len() as u64;
        match property.object_id {
            id if id == 0 || id > objects => self.ownerless += 1,
            id if property.external_size > 0 => self.builder.add_external(row(id), property.external_size),
            _ => {}
        }
    }

    fn finish(mut self, records: &Records<'a>, bytes: &'a [u8]) -> Heap<'a> {
        roots::add(&mut self.builder, &self.isolates, &String::from_utf8_lossy(records.header().name));
        self.builder.warn("objects whose class is not in the file", self.classless);
        self.builder.warn("external sizes of objects that are not in the file", self.ownerless);
        self.builder.heap().pointer_size = records.word_size().bytes().unwrap_or(0);
        let values = DartValues::new(bytes, self.positions, self.classes.kinds(), records);
        self.builder.finish(Ids::Rows(1), Some(Box::new(values)))
    }
}

/// The row of an object id that is not 0. Ids beyond 32 bits become one that no object has.
#[inline]
fn row(id: u64) -> ObjectId {
    ObjectId(u32::try_from(id.wrapping_sub(1)).unwrap_or(u32::MAX))
}

/// As for other objects, for one of a class with weak slots.
fn add_weak_references(heap: &mut Heap<'_>, classes: &Classes, class: &Class, object: &Object<'_>) {
    let ephemeron = class.ephemeron.and_then(|(key, value)| {
        let slot = |slot| object.references.iter().nth(usize::try_from(slot).ok()?).filter(|&id| id != 0);
        // A key that is no object of its own is never collected: then the value is held as by any other reference.
        Some(((key, slot(key)?), (value, slot(value)?)))
    });
    if let Some(((_, key), (_, value))) = ephemeron {
        heap.ephemerons.push(Ephemeron { holder: row(object.id), key: row(key), value: row(value) });
    }
    let references = &mut heap.references;
    for (slot, id) in (0..).zip(object.references.iter()).filter(|(_, id)| *id != 0) {
        let pair = ephemeron.is_some_and(|((key, _), (value, _))| slot == key || slot == value);
        if pair || classes.is_weak(class, slot) {
            let at = references.target.len();
            references.weak.resize(at / 64 + 1, 0);
            if let Some(bits) = references.weak.last_mut() {
                *bits |= 1 << (at % 64);
            }
        }
        references.target.push(row(id));
        references.label.push(classes.label(class, slot));
    }
}
