//! The heap of a file.
//!
//! Objects are all instances, arrays and classes; rows are in the order of ids, which are
//! addresses. Three passes: `scan` collects ids and classes, the second one says where in the file
//! each row is, the third one decodes the rows in order.
//!
//! * Types are the classes of the file, in its order; several of one name stay apart, as those of
//!   several loaders. The type of a class object is java.lang.Class. The namespace of a class is
//!   its package.
//! * References of an object are its fields, those of its class first, then those of the
//!   superclass, and so on; of an array its elements; of a class its static fields and `<super>`,
//!   `<loader>`, `<signers>`, `<protection domain>`.
//! * An object keeps its class alive, and so the loader and the static fields of that class. The
//!   file has no such reference, so instances and arrays of references get one, `<class>`, before
//!   all others, unless a root holds the class anyway. Roots hold all classes of the boot loader,
//!   hidden ones apart.
//! * The `referent` of a java.lang.ref.Reference is weak, except that of a soft reference, which
//!   the JVM keeps until memory is short, and that of a java.lang.ref.Finalizer, which the JVM
//!   keeps until `finalize` has run. Eclipse MAT takes both for strong as well.

use super::class_cache::ClassCache;
use super::members::Members;
use super::naming::class_name;
use super::objects::Object;
use super::primitives::Value;
use super::records::{HeapRec, Rec, Records, read_heap_record};
use super::scan::Scan;
use super::sizes::Rule;
use super::values::{Contents, kind};
use super::{sites, threads};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::load::{LoadOptions, Loaded, only_snapshot};
use crate::input::read::Progress;
use crate::java::{CLASS, FieldType, PRIMITIVES, package_of};
use crate::model::addresses::Addresses;
use crate::model::builder::HeapBuilder;
use crate::model::heap::WarningKind;
use crate::model::heap::{
    ClassObject, Ids, Label, MAX_OBJECTS, ObjectId, Offsets, TypeId, TypeKind,
};
use std::num::Saturating;

/// Loads the heap of a file. All of its heap dumps, should there be several, are taken for one.
///
/// # Errors
/// When the header cannot be read, or another snapshot than the first is asked for, or there are
/// too many objects.
pub fn load<'a>(bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    only_snapshot(options.snapshot)?;
    let mut scan = Scan::new(bytes, options.layout, options.progress)?;
    if scan.objects.0 > MAX_OBJECTS {
        return Err(Error::limit(0, format!("there are {} objects", scan.objects))
            .expected(format!("at most {MAX_OBJECTS}")));
    }
    let addresses = std::mem::take(&mut scan.addresses).finish();
    let repeated = (scan.objects - Saturating(addresses.len() as u64) + scan.repeated_classes).0;
    let (positions, fields) = find_rows(bytes, &scan, &addresses, options.progress);
    let references =
        usize::try_from(scan.elements.0.saturating_add(fields)).unwrap_or(0).min(bytes.len() / 4);
    let mut builder = HeapBuilder::with_capacity(addresses.len(), references);
    if options.bare {
        builder = builder.without_labels();
    }
    let types = Types::new(&scan, &mut builder);
    let class_label = Label::field(builder.names().intern(CLASS));
    let held = |id| addresses.at(id).filter(|_| id != 0);
    let held_classes: Vec<_> = scan.held_classes().into_iter().map(held).collect();
    let has_label = !options.bare && held_classes.iter().any(Option::is_some);
    builder.heap().class_label = has_label.then_some(class_label);
    Rows {
        class_label,
        scan: &mut scan,
        addresses: &addresses,
        types: &types,
        held_classes,
        builder: &mut builder,
        classes: ClassCache::default(),
        faults: Faults::default(),
    }
    .add(bytes, &positions, options.progress);
    if scan.virtual_threads.lack_stacks(&scan.roots) {
        builder.warn(WarningKind::OmittedStacks, 1);
    }
    builder.warn(WarningKind::RepeatedIds, repeated);
    let contents = Contents::new(bytes, &scan, positions, &types.of_class);
    threads::add(&scan, &addresses, &contents, &mut builder);
    builder.heap().sites = sites::of(&scan, builder.names());
    builder.heap().pointer_size = scan.ids.bytes() as u8;
    builder.heap().big_endian = true;
    let remarks = scan.remarks();
    let ids = Ids::Addresses(addresses);
    let heap = if options.bare {
        drop(contents);
        builder.finish(ids, None)
    } else {
        let members = Members::new(contents, scan.classes, scan.strings, types.of_class);
        builder.finish(ids, Some(Box::new(members)))
    };
    // Roots and objects stand in any order, so that both may follow.
    Ok(Loaded {
        heap,
        incomplete: scan.damage.is_some(),
        snapshot: 0,
        remarks,
        executable: None,
        damage: scan.damage,
    })
}

/// The second pass: where the record of each row stands, and how many fields with references there
/// are at most. The first object of an id counts. No record stands at offset 0, which is none.
fn find_rows(
    bytes: &[u8],
    scan: &Scan<'_>,
    addresses: &Addresses,
    progress: Progress<'_>,
) -> (Offsets, u64) {
    let mut positions = Offsets::zeros(addresses.len(), bytes.len() as u64);
    let (mut fields, mut values) = (0u64, 0u64);
    let mut add = |id, offset| {
        if let Some(row) = addresses.at(id)
            && positions.get(row.index()) == 0
        {
            positions.set(row.index(), offset);
        }
    };
    for class in scan.classes.iter() {
        add(class.dump.id, class.offset);
        fields = fields.saturating_add(u64::from(class.dump.statics.count).saturating_add(4));
    }
    let Ok(mut records) = Records::new(bytes) else { return (positions, fields) };
    let third = bytes.len() as u64 / 3;
    loop {
        while let Some((offset, object)) = records.next_object() {
            if let Object::Instance(instance) = &object {
                values = values.saturating_add(instance.values.len() as u64);
            }
            // One more for the class.
            fields = fields.saturating_add(1);
            add(object.id(), offset);
        }
        match records.next() {
            Some(Ok((offset, Rec::Heap(HeapRec::Object(object))))) => add(object.id(), offset),
            Some(Ok((offset, Rec::Top { .. }))) => progress(third.saturating_add(offset / 3)),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => break,
        }
    }
    let width = scan.ids.bytes() as u64;
    (positions, fields.saturating_add(values.checked_div(width).unwrap_or(0)))
}

/// The types of the heap.
pub(super) struct Types {
    /// Those of classes, in the order of their table.
    pub(super) of_class: Vec<TypeId>,
    /// Those of primitive arrays, in the order of [`PRIMITIVES`].
    of_array: Vec<TypeId>,
    pub(super) class: TypeId,
    /// Of objects whose class is not in the file.
    pub(super) unknown: TypeId,
    pub(super) unknown_array: TypeId,
}

impl Types {
    pub(super) fn new(scan: &Scan<'_>, builder: &mut HeapBuilder<'_>) -> Self {
        let mut of_class = Vec::with_capacity(scan.classes.len());
        let mut of_array = [None; PRIMITIVES.len()];
        let mut class_type = None;
        for class in scan.classes.iter() {
            let text = scan.strings.text(class.name);
            let name = if text.is_empty() {
                format!("class {:#x}", class.dump.id).into()
            } else {
                class_name(text, scan.ours)
            };
            let element = PRIMITIVES
                .iter()
                .position(|element| name.strip_suffix("[]") == Some(element.name()));
            let kind = match kind(text) {
                TypeKind::Instance if element.is_some() => TypeKind::Bytes,
                TypeKind::Instance if text.starts_with(b"[") || text.ends_with(b"[]") => {
                    TypeKind::Array
                }
                kind => kind,
            };
            let type_id = builder.add_type(&name, package_of(&name), kind);
            if let Some(place) = element.and_then(|element| of_array.get_mut(element)) {
                place.get_or_insert(type_id);
            }
            if kind == TypeKind::Class {
                class_type.get_or_insert(type_id);
            }
            of_class.push(type_id);
        }
        let mut array = |(element, known): (FieldType, Option<TypeId>)| {
            known.unwrap_or_else(|| {
                builder.add_type(&format!("{}[]", element.name()), "", TypeKind::Bytes)
            })
        };
        let of_array = PRIMITIVES.into_iter().zip(of_array).map(&mut array).collect();
        Self {
            of_class,
            of_array,
            class: class_type.unwrap_or_else(|| {
                builder.add_type("java.lang.Class", "java.lang", TypeKind::Class)
            }),
            unknown: builder.add_type("(unknown class)", "", TypeKind::Instance),
            unknown_array: builder.add_type("(unknown class)[]", "", TypeKind::Array),
        }
    }

    pub(super) fn primitive_array(&self, element: FieldType) -> TypeId {
        self.of_array.get(element.index()).copied().unwrap_or(self.unknown)
    }
}

/// Data that could not be loaded as it is in the file.
#[derive(Default)]
struct Faults {
    dangling: Saturating<u64>,
    /// Elements of arrays in files of HotSpot: its shared archive has an array that names class
    /// objects it does not write.
    dangling_elements: Saturating<u64>,
    classless: Saturating<u64>,
    short: Saturating<u64>,
    broken: Saturating<u64>,
}

/// The third pass: all rows in order.
struct Rows<'s, 'a> {
    scan: &'s mut Scan<'a>,
    addresses: &'s Addresses,
    types: &'s Types,
    /// The class that the objects of each class hold besides their fields. `None` if a root holds
    /// it.
    held_classes: Vec<Option<ObjectId>>,
    class_label: Label,
    builder: &'s mut HeapBuilder<'a>,
    /// Positions of classes; `u32::MAX` for those that are not in the file.
    classes: ClassCache,
    faults: Faults,
}

impl<'a> Rows<'_, 'a> {
    fn add(mut self, bytes: &'a [u8], positions: &Offsets, progress: Progress<'_>) {
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
            match read_heap_record(&mut cursor, self.scan.ids) {
                Ok(HeapRec::Object(object)) => self.add_object(&object),
                Ok(HeapRec::ClassDump(class)) => self.add_class(class.id),
                // Every row has a record that was read before.
                Ok(_) | Err(_) => {
                    self.builder.add_object(self.types.unknown, 0);
                }
            }
        }
        let Faults { dangling, dangling_elements, classless, short, broken } = self.faults;
        self.builder.warn(WarningKind::DanglingReferences, dangling.0);
        self.builder.warn(WarningKind::OmittedElements, dangling_elements.0);
        self.builder.warn(WarningKind::UnknownClasses, classless.0);
        self.builder.warn(WarningKind::ShortObjects, short.0);
        self.builder.warn(WarningKind::UnknownSuperclasses, broken.0);
    }

    /// The position of a class.
    #[inline]
    fn class(&mut self, id: u64) -> Option<usize> {
        let table = &self.scan.classes;
        let find =
            || table.index(id).and_then(|index| u32::try_from(index).ok()).unwrap_or(u32::MAX);
        let index = self.classes.get_or_find(id, find);
        (index != u32::MAX).then_some(index as usize)
    }

    fn add_object(&mut self, object: &Object<'_>) {
        let (ids, rule) = (self.scan.ids, self.scan.sizes.rule);
        match object {
            Object::Instance(instance) => {
                let Some(index) = self.class(instance.class) else {
                    self.faults.classless += 1;
                    self.builder.add_object(
                        self.types.unknown,
                        rule.base().saturating_add(instance.values.len() as u64),
                    );
                    return;
                };
                self.add_instance(index, instance.values);
            }
            Object::ObjectArray(array) => {
                let index = self.class(array.class);
                let type_id = index.and_then(|index| self.types.of_class.get(index));
                self.faults.classless += u64::from(type_id.is_none());
                let type_id = type_id.copied().unwrap_or(self.types.unknown_array);
                self.builder.add_object(type_id, rule.object_array(array.count, ids));
                self.hold_class(index);
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
                self.builder.add_object(
                    self.types.primitive_array(array.element),
                    rule.primitive_array(array, ids),
                );
            }
        }
    }

    fn add_instance(&mut self, index: usize, values: &[u8]) {
        let Some(class) = self.scan.classes.get(index) else { return };
        let (is_short, size) =
            ((values.len() as u64) < class.data, self.scan.sizes.rule.instance(class, values));
        self.faults.broken += u64::from(class.broken);
        self.builder.add_object(
            self.types.of_class.get(index).copied().unwrap_or(self.types.unknown),
            size,
        );
        self.hold_class(Some(index));
        if is_short {
            self.faults.short += 1;
            return;
        }
        let Scan { classes, strings, ids, .. } = &mut *self.scan;
        for field in classes.references(index, *ids, strings, self.builder.names()) {
            reference(
                ids.at(values, field.offset),
                field.label,
                field.weak,
                self.addresses,
                self.builder,
                &mut self.faults,
            );
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
                let name = self.builder.names().intern_bytes(self.scan.strings.text(field.name));
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
        let Some(&of) =
            self.scan.classes.index(id).and_then(|index| self.types.of_class.get(index))
        else {
            return;
        };
        let heap = self.builder.heap();
        let Some(name) = heap.types.get(of.0 as usize).map(|of| heap.names.text(of.name)) else {
            return;
        };
        // The classes that hold the roots in files of dumptool are called by what they hold.
        let name =
            if name.starts_with("GC roots: ") { name.to_owned() } else { format!("class {name}") };
        let name = heap.names.intern(&name);
        heap.classes.push(ClassObject { object, name, instances: Some(of) });
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
