//! The classes and names of the file, complete before the first object is written.

use super::Writer;
use super::class_table::{Class, Classes, OBJECT, Required, Static, serial};
use super::fields::FieldNames;
use super::labels::{array_class_name, class_name};
use super::layout::Layout;
use super::plan::{Form, Plans};
use super::records::{TRACE, sub, tag};
use super::roots::Roots;
use crate::java::{CLASS, FieldType};
use crate::model::heap::{Heap, Ids, TypeId};
use crate::model::names::NameId;
use rustc_hash::FxHashMap;
use std::io::{self, Write};

impl Classes {
    pub(super) fn of(heap: &Heap<'_>, layout: &Layout, plans: &Plans, roots: &Roots) -> Self {
        let mut classes = Self::default();
        classes.required = add_required(&mut classes, layout);
        classes.add_info(heap, layout);
        classes.add_plans(heap, layout, plans);
        roots.add_holders(heap, &mut classes);
        let names = &mut classes.names;
        let mut name = |name: NameId| names.intern(heap.names.text(name));
        classes.of_frames =
            heap.frames.iter().map(|frame| (name(frame.function), name(frame.file))).collect();
        classes.of_threads = heap.threads.iter().map(|thread| name(thread.name)).collect();
        classes
    }

    /// The numbers that lead a reader from ids to objects of the heap: object k is `idBase + (k <<
    /// idShift)` unless ids are addresses, and ids from `firstHelper` on belong to helper objects.
    fn add_info(&mut self, heap: &Heap<'_>, layout: &Layout) {
        let first_row = match &heap.ids {
            Ids::Rows(first) => *first,
            Ids::Numbers(_) | Ids::Addresses(_) => 0,
        };
        let statics = [
            ("version", Static::Long(1)),
            ("objects", Static::Long(heap.len() as u64)),
            ("idsAreAddresses", Static::Long(layout.addresses.into())),
            ("idBase", Static::Long(if layout.addresses { 0 } else { 1 << layout.shift })),
            ("idShift", Static::Long(if layout.addresses { 0 } else { layout.shift.into() })),
            ("firstRow", Static::Long(first_row)),
            ("pointerSize", Static::Long(heap.pointer_size.into())),
            ("firstHelper", Static::FirstHelper),
        ];
        let statics = statics.map(|(name, value)| (self.names.intern(name), value));
        self.list[self.required.info as usize].statics = statics.into();
    }

    fn add_plans(&mut self, heap: &Heap<'_>, layout: &Layout, plans: &Plans) {
        // For each type: the number of its classes with fields, its name, its superclass, and its
        // array class.
        let mut shapes = vec![0u32; heap.types.len()];
        for plan in plans.plans.iter().filter(|plan| plan.form == Form::Fields) {
            shapes[plan.type_id.0 as usize] += 1;
        }
        let held_name = self.names.intern(CLASS);
        let mut named: Vec<Option<NameId>> = vec![None; heap.types.len()];
        let mut parents: FxHashMap<TypeId, u32> = FxHashMap::default();
        let mut arrays: FxHashMap<TypeId, u32> = FxHashMap::default();
        let mut field_names = FieldNames::default();
        for plan in &plans.plans {
            let row = plan.type_id.0 as usize;
            // An instance keeps its class alive, and the class keeps the class object of the heap
            // alive.
            let held = || {
                plan.class
                    .map(|class| (held_name, Static::Object(class)))
                    .into_iter()
                    .collect::<Vec<_>>()
            };
            let class = match plan.form {
                Form::Text => self.required.string,
                Form::Bytes | Form::Numbers(_) | Form::Mixed => OBJECT,
                Form::Array => *arrays.entry(plan.type_id).or_insert_with(|| {
                    let name = array_class_name(&class_name(&heap.names, &heap.types[row]));
                    let name = self.names.intern(&name);
                    self.add(Class { statics: held(), ..Class::named(name) })
                }),
                Form::Fields => {
                    let name = *named[row].get_or_insert_with(|| {
                        self.names.intern(&class_name(&heap.names, &heap.types[row]))
                    });
                    let parent = match plan.referent {
                        Some(_) => self.required.weak_reference,
                        None if shapes[row] < 2 => OBJECT,
                        None => *parents.entry(plan.type_id).or_insert_with(|| {
                            let size = layout.header() as u32;
                            self.add(Class { size, ..Class::named(name) })
                        }),
                    };
                    let fields = field_names.of(plan, heap, &mut self.names);
                    // Larger objects are arrays, unless only their references make them large.
                    let size = plan.shown as u32;
                    self.add(Class { parent, size, fields, statics: held(), ..Class::named(name) })
                }
            };
            self.of_plan.push(class);
        }
    }
}

/// Adds the classes that readers look up even if they have no objects, `java.lang.Object` first.
///
/// VisualVM throws without the arrays of numbers (while opening), without `java.lang.ref.Reference`
/// and its subclasses (on retained sizes), and without a size of `java.lang.Object`, the only class
/// that may have no superclass.
fn add_required(classes: &mut Classes, layout: &Layout) -> Required {
    let mut add = |name: &str, parent: u32, size: u64, fields: &[(&str, FieldType)]| {
        let name = classes.names.intern(name);
        let fields =
            fields.iter().map(|(name, basic)| (classes.names.intern(name), *basic)).collect();
        classes.add(Class { parent, size: size as u32, fields, ..Class::named(name) })
    };
    let (header, reference) = (layout.header(), layout.reference());
    let object = add("java/lang/Object", OBJECT, header, &[]);
    add("java/lang/Class", object, header, &[]);
    add("java/lang/ClassLoader", object, header, &[]);
    let fields =
        [("value", FieldType::Object), ("coder", FieldType::Byte), ("hash", FieldType::Int)];
    let string = add("java/lang/String", object, layout.instance_size(reference + 5), &fields);
    let thread_size = layout.instance_size(2 * reference);
    let java_thread = add(
        "java/lang/Thread",
        object,
        layout.instance_size(reference),
        &[("name", FieldType::Object)],
    );
    let thread = add("dumptool/Thread", java_thread, thread_size, &[("object", FieldType::Object)]);
    let reference_size = layout.instance_size(reference);
    let parent =
        add("java/lang/ref/Reference", object, reference_size, &[("referent", FieldType::Object)]);
    let weak_reference = add("java/lang/ref/WeakReference", parent, reference_size, &[]);
    for name in [
        "java/lang/ref/SoftReference",
        "java/lang/ref/FinalReference",
        "java/lang/ref/PhantomReference",
    ] {
        add(name, parent, reference_size, &[]);
    }
    let object_array = add("[Ljava/lang/Object;", object, 0, &[]);
    for name in ["[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"] {
        add(name, object, 0, &[]);
    }
    let info = add("dumptool/Info", object, header, &[]);
    Required { string, weak_reference, object_array, thread, info }
}

impl<W: Write> Writer<'_, '_, W> {
    /// Writes names, classes, and the trace without frames.
    pub(super) fn names(&mut self) -> io::Result<()> {
        let (classes, ids, out) = (self.classes, &self.ids, &mut self.out);
        for name in (0..classes.names.len() as u32).map(NameId) {
            out.id(ids.name(name));
            out.bytes(classes.names.text(name).as_bytes());
            out.record(tag::UTF8)?;
        }
        for (row, class) in (0..).zip(&classes.list) {
            out.u4(serial(row));
            out.id(ids.class(row));
            out.u4(TRACE);
            out.id(ids.name(class.name));
            out.record(tag::LOAD_CLASS)?;
        }
        out.u4(TRACE);
        out.u4(0);
        out.u4(0);
        out.record(tag::TRACE)
    }

    pub(super) fn class_dumps(&mut self) -> io::Result<()> {
        let (ids, out) = (&self.ids, &mut self.out);
        let id = self.layout.reference();
        for (row, class) in (0..).zip(&self.classes.list) {
            let of_static =
                |value: &Static| if matches!(value, Static::Object(_)) { id } else { 8 };
            let statics_size: u64 =
                class.statics.iter().map(|(_, value)| id + 1 + of_static(value)).sum();
            out.begin(
                sub::CLASS_DUMP,
                1 + 7 * id + 14 + statics_size + class.fields.len() as u64 * (id + 1),
            )?;
            out.id(ids.class(row));
            out.u4(TRACE);
            out.id(if row == OBJECT { 0 } else { ids.class(class.parent) });
            // Loader, signers, protection domain, and two reserved ids.
            (0..5).for_each(|_| out.id(0));
            out.u4(class.size);
            out.u2(0);
            out.u2(class.statics.len() as u16);
            for &(name, value) in &class.statics {
                out.id(ids.name(name));
                let number = match value {
                    Static::Object(object) => {
                        out.u1(FieldType::Object as u8);
                        out.id(ids.object(object));
                        continue;
                    }
                    Static::Long(number) => number,
                    Static::FirstHelper => ids.first_helper(),
                };
                out.u1(FieldType::Long as u8);
                out.u8(number);
            }
            out.u2(class.fields.len() as u16);
            for &(name, basic) in &class.fields {
                out.id(ids.name(name));
                out.u1(basic as u8);
            }
            self.report.classes += 1;
        }
        Ok(())
    }
}
