//! The heap of a file.
//!
//! Objects are all instances, arrays and classes; rows are in the order of ids, which are
//! addresses. `scan` collects ids and classes in a first pass, and `rows` decodes the objects.
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
use super::rows::{Faults, Rows};
use super::scan::Scan;
use super::values::{Contents, kind};
use super::{sites, threads};
use crate::error::{Error, Result};
use crate::input::load::{LoadOptions, Loaded, only_snapshot};
use crate::java::{CLASS, FieldType, PRIMITIVES, package_of};
use crate::model::builder::HeapBuilder;
use crate::model::heap::WarningKind;
use crate::model::heap::{Ids, Label, MAX_OBJECTS, TypeId, TypeKind};
use std::num::Saturating;

/// Loads the heap of a file. All of its heap dumps, should there be several, are taken for one.
///
/// # Errors
/// When the header cannot be read, or another snapshot than the first is requested, or there are
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
    let references = usize::try_from(scan.most_references()).unwrap_or(0).min(bytes.len() / 4);
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
    let positions = Rows {
        class_label,
        scan: &mut scan,
        addresses: &addresses,
        types: &types,
        held_classes,
        builder: &mut builder,
        classes: ClassCache::default(),
        shapes: Vec::new(),
        faults: Faults::default(),
    }
    .add(bytes, options.progress);
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

/// The types of the heap.
pub(super) struct Types {
    /// The types of classes, in the order of their table.
    pub(super) of_class: Vec<TypeId>,
    /// The types of primitive arrays, in the order of [`PRIMITIVES`].
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
