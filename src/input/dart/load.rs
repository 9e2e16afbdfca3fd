//! Loading a snapshot into the model: one pass, in the order of the file.
//!
//! Object id n becomes row n - 1. The VM's synthetic objects (the root, the read-only pages, the
//! isolates) stay in the graph as objects of size 0 with all their references. Object 1 is the
//! first root: objects reached from it are alive, and dominators are those of the VM's own graph.
//! Each target of these objects is also listed as a root, with the name of its static field, so
//! that a path can begin at `isolate main: cache`.

mod classes;
mod histogram;
mod roots;
mod values;

use super::class::ClassKind;
use super::data::Data;
use super::object::{Head, References as SlotReferences};
use super::records::{ExternalProperty, Rec, Records};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::load::{LoadOptions, Loaded, only_snapshot};
use crate::input::read::ReadOptions;
use crate::model::builder::HeapBuilder;
use crate::model::heap::WarningKind;
use crate::model::heap::{
    ClassObject, Ephemeron, Heap, Ids, Label, MAX_OBJECTS, ObjectId, Offsets, References, Sizes,
    TypeId, TypeIds, TypeKind,
};
use classes::{Class, Classes};
pub use histogram::histogram;
use roots::Isolate;
use std::num::Saturating;
use values::DartValues;

/// The fewest bytes that an object takes in the file: class, size, tag and number of references.
const SMALLEST_OBJECT: u64 = 4;

/// Loads the heap. Fails if nothing can be read; later damage ends the objects and is returned with
/// them.
pub fn load<'a>(bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    let mut records = Records::new(bytes)?;
    only_snapshot(options.snapshot)?;
    let mut loader = Loader {
        builder: HeapBuilder::with_capacity(0, 0),
        classes: Classes::default(),
        positions: Offsets::with_capacity(0, 0),
        isolates: Vec::new(),
        classless: Saturating(0),
        ownerless: Saturating(0),
    };
    let damage = loader.read(&mut records, bytes.len() as u64, options).err();
    // If objects are missing, live objects may look unreachable. After the last object only
    // external sizes and hash codes follow, so damage there leaves the graph complete.
    let incomplete =
        damage.is_some() && records.counts().objects != Some(loader.positions.len() as u64);
    Ok(Loaded { damage, incomplete, ..Loaded::of(loader.finish(&records, bytes)) })
}

/// The row of the object from which everything is reached.
const ROOT: ObjectId = ObjectId(0);

struct Loader<'a> {
    builder: HeapBuilder<'a>,
    classes: Classes,
    /// The offset of each object in the file.
    positions: Offsets,
    isolates: Vec<Isolate>,
    /// Objects whose class is not in the file.
    classless: Saturating<u64>,
    /// External properties whose object is not in the file.
    ownerless: Saturating<u64>,
}

impl<'a> Loader<'a> {
    fn read(
        &mut self,
        records: &mut Records<'a>,
        length: u64,
        options: LoadOptions<'_>,
    ) -> Result<()> {
        loop {
            records.for_each_object(|records, offset, head, cursor| {
                let row = self.positions.len() as u64;
                if row.is_multiple_of(65536) {
                    (options.progress)(offset);
                    if row == 0 {
                        self.reserve(records, offset, length);
                    }
                }
                if row == MAX_OBJECTS {
                    return Err(Error::limit(
                        offset,
                        "there are more objects than can be numbered",
                    )
                    .expected(format!("at most {MAX_OBJECTS}")));
                }
                self.add_object(offset, head, cursor)
            })?;
            match records.next().transpose()? {
                Some((_, Rec::Class(class))) => self.classes.add(&class, &mut self.builder),
                Some((_, Rec::ExternalProperty(property))) => self.add_external(&property),
                // Objects were all read before.
                Some((_, Rec::Object(_))) => {}
                None => break,
            }
        }
        records.tail(ReadOptions::default().progress(options.progress)).map(drop)
    }

    /// Reserves room for the announced counts, as far as the rest of the file can hold them.
    fn reserve(&mut self, records: &Records<'_>, offset: u64, length: u64) {
        let rest = length.saturating_sub(offset);
        let counts = records.counts();
        let objects = counts.objects.unwrap_or(0).min(rest / SMALLEST_OBJECT);
        let left = rest.saturating_sub(objects.saturating_mul(SMALLEST_OBJECT));
        let references = counts.references.unwrap_or(0).min(left);
        let [objects, room] =
            [objects, references].map(|count| usize::try_from(count).unwrap_or(0));
        let heap = self.builder.heap();
        heap.type_of = TypeIds::with_capacity(objects);
        heap.shallow = Sizes::with_capacity(objects);
        let mut first = Offsets::with_capacity(objects.saturating_add(1), references);
        first.push(0);
        let (target, label) = (Vec::with_capacity(room), Vec::with_capacity(room));
        heap.references = References { first, target, label, weak: Vec::new() };
        self.positions = Offsets::with_capacity(objects, length);
    }

    /// Adds an object, whose references are read from the cursor.
    #[inline]
    fn add_object(&mut self, offset: u64, head: &Head<'a>, cursor: &mut Cursor<'a>) -> Result<()> {
        let object = ObjectId(self.positions.len() as u32);
        let substitute;
        let class = match self.classes.get(head.class_id) {
            Some(class) => class,
            None => {
                self.classless += u64::from(object != ROOT);
                substitute = self.classes.substitute(object == ROOT, &mut self.builder);
                &substitute
            }
        };
        let heap = self.builder.heap();
        let start = heap.references.target.len();
        let read = if class.has_weak {
            add_weak_references(heap, &self.classes, class, object, cursor)
        } else {
            add_references(&mut heap.references, &self.classes, class, cursor)
        };
        if let Err(error) = read {
            heap.references.target.truncate(start);
            heap.references.label.truncate(start);
            return Err(error);
        }
        heap.type_of.push(class.type_id);
        heap.shallow.push(head.shallow_size);
        self.positions.push(offset);
        heap.references.first.push(heap.references.target.len() as u64);
        if let (ClassKind::Isolate, Data::Name(port)) = (head.class_kind, &head.data) {
            self.isolates
                .push(Isolate { object, port: String::from_utf8_lossy(port).into_owned() });
        }
        if let Data::Name(name) = &head.data {
            self.name_class(object, class.type_id, name);
        }
        Ok(())
    }

    fn name_class(&mut self, object: ObjectId, type_id: TypeId, name: &[u8]) {
        let heap = self.builder.heap();
        let is_class =
            heap.types.get(type_id.0 as usize).is_some_and(|known| known.kind == TypeKind::Class);
        if is_class && !name.is_empty() {
            let name = heap.names.intern(&format!("class {}", String::from_utf8_lossy(name)));
            heap.classes.push(ClassObject { object, name, instances: None });
        }
    }

    fn add_external(&mut self, property: &ExternalProperty<'_>) {
        let objects = self.builder.heap().len() as u64;
        match property.object_id {
            id if id == 0 || id > objects => self.ownerless += 1,
            id if property.external_size > 0 => {
                self.builder.add_external(row(id), property.external_size)
            }
            _ => {}
        }
    }

    fn finish(mut self, records: &Records<'a>, bytes: &'a [u8]) -> Heap<'a> {
        roots::add(
            &mut self.builder,
            &self.isolates,
            &String::from_utf8_lossy(records.header().name),
        );
        self.builder.warn(WarningKind::UnknownClass, self.classless.0);
        self.builder.warn(WarningKind::StrayExternalSizes, self.ownerless.0);
        self.builder.heap().pointer_size = records.word_size().bytes().unwrap_or(0);
        let values = DartValues::new(bytes, self.positions, self.classes, records);
        self.builder.finish(Ids::Rows(1), Some(Box::new(values)))
    }
}

/// The row of an object id that is not 0. For ids beyond 32 bits, a row that no object has.
#[inline]
fn row(id: u64) -> ObjectId {
    ObjectId(u32::try_from(id.wrapping_sub(1)).unwrap_or(u32::MAX))
}

#[inline]
fn add_references(
    references: &mut References,
    classes: &Classes,
    class: &Class,
    cursor: &mut Cursor<'_>,
) -> Result<()> {
    let count = cursor.uleb128(COUNT)?;
    let named = classes.labels(class);
    match usize::try_from(count) {
        Ok(count)
            if count <= cursor.remaining()
                && add_targets(&mut references.target, count, cursor) =>
        {
            let (named, elements) = (named.get(..count).unwrap_or(named), named.len()..count);
            // Too few labels to justify a call that copies memory.
            named.iter().for_each(|&label| references.label.push(label));
            references.label.extend(elements.map(|slot| class.element_label(slot as u64)));
            Ok(())
        }
        _ => add_slots(references, named, class, count, cursor),
    }
}

/// Adds the targets of `count` slots. Returns `false` and adds nothing if a slot is 0, damaged or
/// near the end of the file.
#[inline]
fn add_targets(target: &mut Vec<ObjectId>, count: usize, cursor: &mut Cursor<'_>) -> bool {
    let (start, mut next) = (target.len(), *cursor);
    for _ in 0..count {
        // Ids of large heaps take four bytes.
        match next.uleb128_in_word() {
            Some(id @ 1..) => target.push(row(id)),
            _ => {
                target.truncate(start);
                return false;
            }
        }
    }
    *cursor = next;
    true
}

/// Reads `count` slots one by one and adds a reference for each that is not 0.
fn add_slots(
    references: &mut References,
    named: &[Label],
    class: &Class,
    count: u64,
    cursor: &mut Cursor<'_>,
) -> Result<()> {
    let mut add = |label: Label| {
        let id = cursor.uleb128_wide(REFERENCE)?;
        if id != 0 {
            references.target.push(row(id));
            references.label.push(label);
        }
        Ok(())
    };
    let few = usize::try_from(count).unwrap_or(usize::MAX);
    named.iter().take(few).try_for_each(|&label| add(label))?;
    (named.len() as u64..count).try_for_each(|slot| add(class.element_label(slot)))
}

const COUNT: &str = "the reference count of an object";
const REFERENCE: &str = "the references of an object";

/// Like [`add_references`], for an object of a class with weak slots.
fn add_weak_references<'a>(
    heap: &mut Heap<'_>,
    classes: &Classes,
    class: &Class,
    holder: ObjectId,
    cursor: &mut Cursor<'a>,
) -> Result<()> {
    let count = cursor.uleb128(COUNT)?;
    let all = SlotReferences::at(count, *cursor);
    cursor.skip_uleb128s(count, REFERENCE)?;
    let ephemeron = class.ephemeron.and_then(|(key, value)| {
        let slot = |slot| all.iter().nth(usize::try_from(slot).ok()?).filter(|&id| id != 0);
        // A key that is not an object is never collected, so the reference to the value is then an
        // ordinary one.
        Some(((key, slot(key)?), (value, slot(value)?)))
    });
    if let Some(((_, key), (_, value))) = ephemeron {
        heap.ephemerons.push(Ephemeron { holder, key: row(key), value: row(value) });
    }
    let references = &mut heap.references;
    for (slot, id) in (0..).zip(all.iter()).filter(|(_, id)| *id != 0) {
        let pair = ephemeron.is_some_and(|((key, _), (value, _))| slot == key || slot == value);
        if pair || classes.is_weak(class, slot) {
            let at = references.target.len();
            references.weak.resize((at / 64).saturating_add(1), 0);
            if let Some(bits) = references.weak.last_mut() {
                *bits |= 1 << (at % 64);
            }
        }
        references.target.push(row(id));
        references.label.push(classes.label(class, slot));
    }
    Ok(())
}
