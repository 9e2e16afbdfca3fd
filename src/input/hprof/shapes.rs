//! The class objects of a file, and what the objects of each class have in common.

use super::direct::DirectBuffer;
use super::layout::{ClassTable, ReferenceField};
use super::primitives::Value;
use super::scan::{OfClass, Scan};
use super::types::Types;
use crate::model::addresses::Addresses;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{ClassObject, Label, ObjectId, TypeId};
use crate::model::names::Names;
use std::num::Saturating;
use std::ops::Range;

/// Properties that all instances of a class share.
#[derive(Clone)]
pub(super) struct Shape {
    pub(super) type_id: TypeId,
    /// The class object. `None` if a root holds it.
    pub(super) held: Option<ObjectId>,
    pub(super) size: u64,
    /// The position of the words of a StackChunk's stack among the values.
    pub(super) words: Option<usize>,
    pub(super) direct: Option<DirectBuffer>,
    /// Bytes of all fields.
    pub(super) data: u64,
    pub(super) broken: bool,
    /// The reference fields of the instances. Empty if no instance has all fields.
    pub(super) fields: Range<usize>,
}

/// The object of a class.
pub(super) struct ClassRow {
    pub(super) object: ObjectId,
    pub(super) size: u64,
    /// The range of its references in [`Classes::references`].
    pub(super) references: Range<usize>,
}

/// The class objects, and the properties that the objects of each class share.
#[derive(Default)]
pub(super) struct Classes {
    /// The class objects, in the order of rows.
    pub(super) rows: Vec<ClassRow>,
    /// The references of the class objects.
    pub(super) references: Vec<(ObjectId, Label)>,
    /// The shape of each class's objects, by position of the class. `None` without objects.
    pub(super) shapes: Vec<Option<Shape>>,
    /// The number of references of class objects to ids that are not in the file.
    pub(super) dangling: Saturating<u64>,
}

impl Classes {
    /// The references of an object with their labels, if it is the object of a class.
    pub(super) fn references_of(&self, object: ObjectId) -> Option<&[(ObjectId, Label)]> {
        let row = self.rows.binary_search_by_key(&object, |class| class.object).ok()?;
        self.references.get(self.rows.get(row)?.references.clone())
    }

    /// The reference fields of the instances of a class. Empty if no instance has all fields.
    pub(super) fn fields_of<'t>(
        &self,
        class: usize,
        table: &'t ClassTable<'_>,
    ) -> &'t [ReferenceField] {
        let shape = self.shapes.get(class).and_then(Option::as_ref);
        shape.map_or(&[], |shape| table.fields(&shape.fields))
    }

    /// Adds the object of a class, and the class to the heap.
    pub(super) fn add(
        &mut self,
        object: ObjectId,
        index: usize,
        scan: &Scan<'_>,
        (addresses, types): (&Addresses, &Types),
        builder: &mut HeapBuilder<'_>,
    ) {
        let Some(class) = scan.classes.get(index).map(|class| &class.dump) else { return };
        name_class(object, types.of_class.get(index).copied(), builder);
        let start = self.references.len();
        let mut add = |target, name| match addresses.at(target) {
            _ if target == 0 => {}
            Some(target) => self.references.push((target, Label::field(name))),
            None => self.dangling += 1,
        };
        for field in class.statics.iter() {
            if let Value::Object(target) = field.value {
                let name = scan.strings.field(class.id, field.name);
                add(target, builder.names().intern_bytes(name));
            }
        }
        for (name, target) in [
            ("<super>", class.super_class),
            ("<loader>", class.loader),
            ("<signers>", class.signers),
            ("<protection domain>", class.domain),
        ] {
            add(target, builder.names().intern(name));
        }
        let size = scan.sizes.rule.class(&class.statics, scan.ids, &scan.strings);
        self.rows.push(ClassRow { object, size, references: start..self.references.len() });
    }

    /// Collects the properties that the objects of a class share.
    pub(super) fn shape(
        &mut self,
        OfClass { class: id, most, .. }: OfClass,
        scan: &mut Scan<'_>,
        types: &Types,
        held_classes: &[Option<ObjectId>],
        names: &mut Names,
    ) {
        let direct = scan.direct_buffer(id);
        let index = scan.classes.index(id).unwrap_or(usize::MAX);
        let (Some(class), Some(place)) = (scan.classes.get(index), self.shapes.get_mut(index))
        else {
            return;
        };
        let mut shape = Shape {
            type_id: types.of_class.get(index).copied().unwrap_or(types.unknown),
            held: held_classes.get(index).copied().flatten(),
            size: class.size,
            words: class.words,
            direct,
            data: class.data,
            broken: class.broken,
            fields: 0..0,
        };
        // Fields that no object of the file has could take more memory than the file justifies.
        if u64::from(most) >= shape.data {
            shape.fields = scan.classes.references(index, scan.ids, &scan.strings, names);
        }
        *place = Some(shape);
    }
}

fn name_class(object: ObjectId, instances: Option<TypeId>, builder: &mut HeapBuilder<'_>) {
    let heap = builder.heap();
    let type_row = instances.and_then(|instances| heap.types.get(instances.0 as usize));
    let Some(name) = type_row.map(|type_row| heap.names.text(type_row.name)) else { return };
    // Classes that hold the roots in dumptool's own files are named after the roots.
    let name =
        if name.starts_with("GC roots: ") { name.to_owned() } else { format!("class {name}") };
    let name = heap.names.intern(&name);
    heap.classes.push(ClassObject { object, name, instances });
}
