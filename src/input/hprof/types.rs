//! The types of the heap of a file.

use super::scan::Scan;
use super::values::kind;
use crate::java::{FieldType, PRIMITIVES, class_name, package_of};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{ClassReferences, Label, ObjectId, TypeId, TypeKind};

pub(super) struct Types {
    /// The types of classes, in the order of their table.
    pub(super) of_class: Vec<TypeId>,
    /// The types of primitive arrays, in the order of [`PRIMITIVES`].
    of_array: Vec<TypeId>,
    pub(super) class: TypeId,
    /// The type of objects whose class is not in the file.
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
            let short = scan.names.get(&class.dump.id).filter(|short| **short != class.name);
            if let Some(&short) = short {
                let short = class_name(scan.strings.text(short), false).into_owned();
                builder.heap().generated_types.insert(type_id, short);
            }
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

    /// Which objects refer to their classes, given the class that the objects of each class hold.
    pub(super) fn class_references(
        &self,
        held: &[Option<ObjectId>],
        label: Label,
    ) -> ClassReferences {
        let most = self.of_class.iter().map(|type_id| type_id.0).max().unwrap_or(0);
        let mut types = vec![false; (most as usize).saturating_add(1)];
        for (type_id, held) in self.of_class.iter().zip(held) {
            if let Some(has_class) = types.get_mut(type_id.0 as usize) {
                *has_class = held.is_some();
            }
        }
        ClassReferences::OfTypes { types, label }
    }

    pub(super) fn primitive_array(&self, element: FieldType) -> TypeId {
        self.of_array.get(element.index()).copied().unwrap_or(self.unknown)
    }
}
