//! `info` of a snapshot.

use super::class::{ClassKind, ClassTable};
use super::data::Data;
use super::object::{Object, ROOT};
use super::records::{Rec, Records};
use super::tail::{EXPORT_CHUNK, Tail};
use crate::error::{Error, Result};
use crate::input::info::{
    self, ByTag, DartDetails, DartTopClass, HeaderTotals, Info, InfoWarning, SnapshotInfo,
};
use crate::input::read::ReadOptions;
use std::num::Saturating;

/// The number of classes that [`DartDetails::top_classes`] names.
const TOP_CLASSES: usize = 5;

/// Summarizes the snapshot in one pass that keeps no object. Fails if the file is not a Dart snapshot.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let mut records = Records::new(bytes)?;
    let mut totals = Totals::default();
    let damage = totals.read(&mut records, options).err();
    Ok(totals.into_info(&records, bytes.len(), damage))
}

#[derive(Clone, Copy, Debug, Default)]
struct ClassTotals {
    objects: Saturating<u64>,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Totals {
    class_holes: Saturating<u64>,
    objects: Saturating<u64>,
    references: u64,
    zero_references: u64,
    /// References of object 1.
    roots: Option<u64>,
    shallow_bytes: u64,
    by_tag: ByTag,
    isolates: Saturating<u64>,
    smis: Saturating<u64>,
    zero_size_objects: Saturating<u64>,
    truncated_strings: Saturating<u64>,
    classless_objects: Saturating<u64>,
    external_properties: Saturating<u64>,
    external_bytes: u64,
    tail: Option<Tail>,
    /// Totals of classes. The index is the class id minus 1.
    by_class: Vec<ClassTotals>,
}

impl Totals {
    fn read(&mut self, records: &mut Records<'_>, options: ReadOptions<'_>) -> Result<()> {
        for record in &mut *records {
            let (offset, record) = record?;
            match record {
                Rec::Object(object) => {
                    if object.id.is_multiple_of(65536) {
                        (options.progress)(offset);
                    }
                    self.add_object(&object);
                }
                Rec::Class(class) => {
                    self.class_holes += u64::from(class.is_hole());
                    self.by_class.push(ClassTotals::default());
                }
                Rec::ExternalProperty(property) => {
                    self.external_properties += 1;
                    self.external_bytes =
                        self.external_bytes.saturating_add(property.external_size);
                }
            }
        }
        self.tail = records.tail(options)?;
        Ok(())
    }

    #[inline]
    fn add_object(&mut self, object: &Object<'_>) {
        self.objects += 1;
        if object.id == ROOT {
            self.roots = Some(object.references.count());
        }
        self.references = self.references.saturating_add(object.references.count());
        self.zero_references = self.zero_references.saturating_add(object.references.zeros());
        self.shallow_bytes = self.shallow_bytes.saturating_add(object.shallow_size);
        self.zero_size_objects += u64::from(object.shallow_size == 0);
        self.by_tag.add(object.data.tag());
        if let Data::Latin1(text) | Data::Utf16(text) = &object.data {
            self.truncated_strings += u64::from(text.truncated_length < text.length);
        }
        self.isolates += u64::from(object.class_kind == ClassKind::Isolate);
        self.smis += u64::from(object.class_kind == ClassKind::Smi);
        let class = usize::try_from(object.class_id.wrapping_sub(1))
            .ok()
            .and_then(|index| self.by_class.get_mut(index));
        match class {
            Some(class) => {
                class.objects += 1;
                class.bytes = class.bytes.saturating_add(object.shallow_size);
            }
            None => self.classless_objects += u64::from(object.id != ROOT),
        }
    }

    fn into_info(self, records: &Records<'_>, length: usize, damage: Option<Error>) -> Info {
        let mut info = super::SPEC.summary("1");
        add_metadata(&mut info, records);
        info.warnings = self.warnings(records, length);
        info.records.add_all([
            ("class", records.classes().len() as u64),
            ("object", self.objects.0),
            ("external_property", self.external_properties.0),
        ]);
        let heap = SnapshotInfo {
            objects: Some(self.objects.0),
            references: Some(self.references),
            roots: self.roots,
            types: Some(records.classes().len() as u64),
            shallow_bytes: Some(self.shallow_bytes),
            external_bytes: Some(self.external_bytes),
            ..SnapshotInfo::new(info::FormatDetails::Dart(Box::new(self.details(records))))
        };
        info.set_heap(heap, damage);
        info
    }

    fn details(&self, records: &Records<'_>) -> DartDetails {
        let header = records.header();
        let modern = has_synthetic_classes(records.classes());
        DartDetails {
            header: HeaderTotals {
                shallow_size: header.shallow_size,
                capacity: header.capacity,
                external_size: header.external_size,
                reference_count: records.counts().references,
            },
            classes: records.classes().len() as u64,
            zero_references: self.zero_references,
            by_tag: self.by_tag,
            identity_hashes: self.tail.map(|tail| tail.nonzero_hashes.is_some()),
            word_size: records.word_size().bytes(),
            name: String::from_utf8_lossy(header.name).into_owned(),
            flags: header.flags,
            isolates: modern.then_some(self.isolates.0),
            vm_generation: self.vm_generation(records.classes(), modern),
            devtools_export: records.is_devtools_export(),
            class_holes: self.class_holes.0,
            external_properties: self.external_properties.0,
            zero_size_objects: self.zero_size_objects.0,
            truncated_strings: self.truncated_strings.0,
            nonzero_identity_hashes: self.tail.and_then(|tail| tail.nonzero_hashes),
            trailing_zero_bytes: self.tail.map_or(0, |tail| tail.trailing_zeros),
            top_classes: self.top_classes(records.classes()),
        }
    }

    /// Returns the version of Dart that wrote the file. It follows from features of the file;
    /// without the end of the file some features are unknown.
    fn vm_generation(&self, classes: &ClassTable<'_>, modern: bool) -> Option<&'static str> {
        let tail = self.tail?;
        if !modern || tail.nonzero_hashes.is_none() {
            return Some("2.12 or before");
        }
        // Maps were renamed for 3.0; one of the two classes is always there.
        match classes.iter().find(|class| matches!(class.name, b"_Map" | b"_InternalLinkedHashMap"))
        {
            Some(class) if class.name == b"_Map" => Some("3.x"),
            _ if self.smis.0 > 0 => Some("2.19 or later"),
            _ => Some("2.13 to 2.18"),
        }
    }

    fn top_classes(&self, classes: &ClassTable<'_>) -> Vec<DartTopClass> {
        let mut ranking: Vec<_> =
            classes.iter().zip(&self.by_class).filter(|(_, totals)| totals.bytes > 0).collect();
        // The sort is stable: equal classes stay in the order of the file.
        ranking.sort_by_key(|(_, totals)| std::cmp::Reverse((totals.bytes, totals.objects)));
        ranking
            .into_iter()
            .take(TOP_CLASSES)
            .map(|(class, totals)| DartTopClass {
                name: String::from_utf8_lossy(class.name).into_owned(),
                library: String::from_utf8_lossy(class.library_uri).into_owned(),
                count: totals.objects.0,
                bytes: totals.bytes,
            })
            .collect()
    }

    fn warnings(&self, records: &Records<'_>, length: usize) -> Vec<InfoWarning> {
        let mut warnings = Vec::new();
        let flags = records.header().flags;
        if flags != 0 {
            warnings.push(InfoWarning::UnknownFlags(flags));
        }
        if records.is_devtools_export() {
            warnings.push(InfoWarning::DevtoolsExport);
        }
        if self.isolates.0 > 1 {
            warnings.push(InfoWarning::SeveralIsolates(self.isolates.0));
        }
        if self.classless_objects.0 > 0 {
            warnings.push(InfoWarning::UnknownClasses(self.classless_objects.0));
        }
        let zeros = self.tail.map_or(0, |tail| tail.trailing_zeros);
        if zeros > 0 && !length.is_multiple_of(EXPORT_CHUNK) {
            warnings.push(InfoWarning::TrailingZeros(zeros));
        }
        warnings
    }
}

/// Whether the classes are those of a VM of Dart 2.13 or later, which writes three synthetic
/// classes before all others, the root first.
fn has_synthetic_classes(classes: &ClassTable<'_>) -> bool {
    classes.get(1).is_some_and(|class| class.name == b"Root" && class.library_uri.is_empty())
}

fn add_metadata(info: &mut Info, records: &Records<'_>) {
    let header = records.header();
    let counts = records.counts();
    info.add_metadata("flags", header.flags);
    info.add_metadata("name", String::from_utf8_lossy(header.name));
    info.add_metadata("shallow_size", header.shallow_size);
    info.add_metadata("capacity", header.capacity);
    info.add_metadata("external_size", header.external_size);
    info.add_metadata("class_count", header.class_count);
    for (key, count) in [
        ("reference_count", counts.references),
        ("object_count", counts.objects),
        ("external_property_count", counts.external_properties),
    ] {
        if let Some(count) = count {
            info.add_metadata(key, count);
        }
    }
}
