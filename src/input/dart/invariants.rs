//! `check` of a snapshot.
//!
//! The rules are those that held in every file of a real VM. The sizes in the header are not
//! checked: `shallowSize` was up to 444 248 bytes above the sum of the objects, and `externalSize`
//! differs from the sum of the properties when there are several isolates.

use super::class::{Class, ClassKind};
use super::data::Data;
use super::object::{Object, ROOT};
use super::records::{ExternalProperty, Rec, Records};
use crate::error::Result;
use crate::input::check::{Findings, faults};
use crate::input::read::ReadOptions;
use std::num::Saturating;

/// Checks what holds for every snapshot that the VM wrote. Fails if the file is not a Dart snapshot.
pub fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let mut records = Records::new(bytes)?;
    let mut checker = Checker::default();
    let damage = checker.read(&mut records, options).err();
    let mut findings = Findings::default();
    checker.report(&records, &mut findings);
    findings.set_damage(damage);
    Ok(findings)
}

#[derive(Debug, Default)]
struct Checker {
    objects: Saturating<u64>,
    references: u64,
    classes: ClassFaults,
    faults: ObjectFaults,
}

faults! {
    struct ClassFaults {
        class_flags: "class.flags" "classes with flags",
        field_flags: "field.flags" "fields with flags other than 1 (strong)",
    }
}

faults! {
    struct ObjectFaults(has_properties: bool) {
        class_ids_out_of_range: "object.class_id" "objects of classes that do not exist",
        objects_of_holes: "object.class_hole" "objects of unused class ids",
        unaligned_sizes: "object.shallow_size" "objects with a size that is not a multiple of 8",
        bools: "object.bool" "bools that are neither 0 nor 1",
        long_strings: "object.truncated_length" "strings that are longer in the file than in the heap",
        references_out_of_range: "reference.target" "references to objects that do not exist",
        properties_out_of_range: "external_property.object" "external properties of objects that do not exist" if has_properties,
    }
}

impl Checker {
    fn read(&mut self, records: &mut Records<'_>, options: ReadOptions<'_>) -> Result<()> {
        while let Some(record) = records.next() {
            let (offset, record) = record?;
            let object_count = records.counts().objects.unwrap_or(0);
            match record {
                Rec::Class(class) => self.check_class(&class),
                Rec::Object(object) => {
                    if object.id.is_multiple_of(65536) {
                        (options.progress)(offset);
                    }
                    self.check_object(&object, object_count);
                }
                Rec::ExternalProperty(property) => self.check_property(&property, object_count),
            }
        }
        records.tail(options).map(drop)
    }

    fn check_class(&mut self, class: &Class<'_>) {
        self.classes.class_flags += u64::from(class.flags != 0);
        self.classes.field_flags +=
            class.fields.iter().filter(|field| field.flags != 1).count() as u64;
    }

    #[inline]
    fn check_object(&mut self, object: &Object<'_>, object_count: u64) {
        self.objects += 1;
        self.references = self.references.saturating_add(object.references.count());
        self.faults.references_out_of_range +=
            object.references.iter().map(|id| u64::from(id > object_count)).sum::<u64>();
        // Files of Dart 2.12 and before give the root the class 0, which is not stored.
        self.faults.class_ids_out_of_range +=
            u64::from(object.class_name.is_none() && (object.id, object.class_id) != (ROOT, 0));
        self.faults.objects_of_holes += u64::from(object.class_kind == ClassKind::Hole);
        self.faults.unaligned_sizes += u64::from(!object.shallow_size.is_multiple_of(8));
        match &object.data {
            Data::Bool(value) => self.faults.bools += u64::from(*value > 1),
            Data::Latin1(text) | Data::Utf16(text) => {
                self.faults.long_strings += u64::from(text.truncated_length > text.length)
            }
            _ => {}
        }
    }

    fn check_property(&mut self, property: &ExternalProperty<'_>, object_count: u64) {
        self.faults.properties_out_of_range +=
            u64::from(!(1..=object_count).contains(&property.object_id));
    }

    fn report(&self, records: &Records<'_>, findings: &mut Findings) {
        let header = records.header();
        findings.none("header.flags", header.flags, "flags of the header");
        findings.at_most(
            "header.shallow_size",
            header.capacity,
            header.shallow_size,
            "shallowSize against the capacity",
        );
        self.classes.report(findings);
        let counts = records.counts();
        let (Some(reference_count), Some(object_count)) = (counts.references, counts.objects)
        else {
            return;
        };
        findings.at_most(
            "header.reference_count",
            reference_count,
            self.references,
            "references against referenceCount",
        );
        findings.push(
            "object.root",
            object_count > 0,
            1,
            object_count.min(1),
            format!(
                "object 1, the root, among {object_count} objects: {}, should be 1",
                object_count.min(1)
            ),
        );
        self.faults.report(findings, counts.external_properties.is_some());
    }
}
