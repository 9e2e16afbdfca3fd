//! The summary of a file for `info`.

use super::direct::DirectBuffer;
use super::header::Header;
use super::inference;
use super::layout::ClassTable;
use super::naming::Strings;
use super::neighbours::Watch;
use super::objects::Object;
use super::omitted::OmittedElements;
use super::primitives::IdSize;
use super::records::{Body, HeapRec, Rec, Records};
use super::roots::{ROOT_TAGS, Root};
use super::sizes::Rule;
use super::virtual_threads::VirtualThreads;
use crate::error::{Error, Result};
use crate::input::Kind;
use crate::input::info::{
    self, HprofDetails, HprofLayout, HprofTopClass, Info, InfoWarning, RootCount, SnapshotInfo,
};
use crate::input::load::LayoutChoice;
use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;
use crate::java::{FieldType, PRIMITIVES, class_name};
use crate::model::fields::Record;
use crate::model::heap::{LoadWarning, WarningKind};
use crate::names::{JavaMapping, ShortNames, looks_short_in_java};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::num::Saturating;

/// The maximum number of classes in [`HprofDetails::top_classes`].
const TOP_CLASSES: usize = 10;

/// Summarizes a file in one pass. The memory that this takes grows with the classes, not with the
/// objects.
pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let mut records = Records::new(bytes)?;
    if super::kind(bytes) == Kind::Profile {
        return info_of_profile(&mut records, bytes, options);
    }
    let mut totals = Totals { omitted: OmittedElements::of_file(bytes.len()), ..Totals::default() };
    let damage = totals.read(&mut records, options).err();
    Ok(totals.into_info(&records, damage, options.mapping))
}

fn info_of_profile(
    records: &mut Records<'_>,
    bytes: &[u8],
    options: ReadOptions<'_>,
) -> Result<Info> {
    let header = *records.header();
    let loaded = super::load_profile(bytes, options.into())?;
    let mut info = super::SPEC.summary(header.version);
    info.kind = Kind::Profile;
    info.add_metadata("id_size", header.id_size.bytes());
    info.add_metadata("timestamp_ms", header.timestamp);
    for record in records {
        let Ok((_, record)) = record else { break };
        info.records.add(record.name(), 1);
    }
    info.set_damage(loaded.damage);
    info.profile = Some(profile_info(&loaded.profile, Some(loaded.profile.mode)));
    Ok(info)
}

/// The objects of a class, by its id.
#[derive(Debug)]
struct OfClass {
    class: u64,
    count: Count,
    direct: Option<DirectBuffer>,
}

/// Objects of one class, and bytes of their fields or elements.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    objects: Saturating<u64>,
    bytes: u64,
}

impl Count {
    #[inline]
    fn add(&mut self, bytes: u64) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

#[derive(Debug, Default)]
struct Totals<'a> {
    records: info::RecordCounts,
    instances: Saturating<u64>,
    object_arrays: Saturating<u64>,
    /// Elements of arrays of references.
    elements: Saturating<u64>,
    primitive_arrays: Count,
    /// Primitive arrays whose data Android left out.
    no_data: Saturating<u64>,
    roots: [u64; ROOT_TAGS.len()],
    threads: Saturating<u64>,
    thread_roots: Vec<Root>,
    virtual_threads: VirtualThreads,
    classes: Saturating<u64>,
    closed: Option<bool>,
    /// Names of classes: strings by class.
    names: FxHashMap<u64, u64>,
    strings: Strings<'a>,
    table: ClassTable<'a>,
    watch: Watch,
    omitted: OmittedElements<'a>,
    /// The objects of each class, by the class's row in the watch.
    by_class: Vec<OfClass>,
    /// Bytes that direct buffers have allocated.
    external: u64,
    by_element: [Count; PRIMITIVES.len()],
}

impl<'a> Totals<'a> {
    fn read(&mut self, records: &mut Records<'a>, options: ReadOptions<'_>) -> Result<()> {
        let ids = records.header().id_size;
        let mut next_progress = 0;
        loop {
            while let Some((_, object)) = records.next_object() {
                self.add_object(&object, ids);
            }
            let Some(record) = records.next() else { return Ok(()) };
            let (offset, record) = record?;
            if offset >= next_progress {
                (options.progress)(offset);
                next_progress = offset.saturating_add(1 << 20);
            }
            match &record {
                Rec::Heap(HeapRec::Object(object)) => {
                    self.no_data += u64::from(record.name() == "primitive_array_no_data");
                    self.add_object(object, ids);
                }
                Rec::Heap(HeapRec::Root(root)) => {
                    if let Some(count) = self.roots.get_mut(root.index()) {
                        *count = count.saturating_add(1);
                    }
                    if root.trace().is_some() {
                        self.threads += 1;
                        self.thread_roots.push(*root);
                    }
                }
                Rec::Heap(HeapRec::ClassDump(class)) => {
                    self.classes += 1;
                    self.omitted.class(class.id);
                    if self.table.add(*class, offset) {
                        self.watch.class(class.id, self.table.len().saturating_sub(1));
                    }
                }
                Rec::Heap(HeapRec::HeapInfo { .. }) => self.records.add(record.name(), 1),
                Rec::Top { body, .. } => {
                    self.records.add(record.name(), 1);
                    match body {
                        Body::Utf8(string) => {
                            self.virtual_threads.see_string(string.id, string.text);
                            self.strings.add(string.id, string.text);
                        }
                        Body::LoadClass(class) => {
                            self.virtual_threads.see_class(class.class, class.name);
                            self.names.insert(class.class, class.name);
                        }
                        Body::HeapDumpSegment => self.closed = Some(false),
                        Body::HeapDumpEnd => self.closed = self.closed.map(|_| true),
                        _ => {}
                    }
                }
            }
        }
    }

    #[inline]
    fn add_object(&mut self, object: &Object<'a>, ids: IdSize) {
        self.omitted.object(object);
        let row = self.watch.object(object, ids);
        match object {
            Object::Instance(instance) => {
                self.instances += 1;
                self.virtual_threads.see(object);
                self.count(row, instance.class, instance.values.len(), ids);
                if let Some(OfClass { direct: Some(direct), .. }) =
                    row.and_then(|row| self.by_class.get(row))
                {
                    let bytes = direct.bytes(instance.values, ids);
                    self.external = self.external.saturating_add(bytes);
                }
            }
            Object::ObjectArray(array) => {
                self.object_arrays += 1;
                self.elements += u64::from(array.count);
                self.count(row, array.class, array.elements.len(), ids);
            }
            Object::PrimitiveArray(array) => {
                let bytes = array.size(ids);
                self.primitive_arrays.add(bytes);
                if let Some(count) = self.by_element.get_mut(array.element.index()) {
                    count.add(bytes);
                }
            }
        }
    }

    #[inline]
    fn count(&mut self, row: Option<usize>, class: u64, bytes: usize, ids: IdSize) {
        let Some(row) = row else { return };
        if row >= self.by_class.len() {
            let direct = DirectBuffer::of(class, &self.table, &self.names, &self.strings, ids);
            self.by_class.push(OfClass { class, count: Count::default(), direct });
        }
        if let Some(known) = self.by_class.get_mut(row) {
            known.count.add(bytes as u64);
        }
    }

    /// Determines the layout of objects. Consumes the results of the watch.
    fn layout(&mut self, ids: IdSize) -> Option<HprofLayout> {
        self.table.set_names(&self.names);
        self.table.resolve(ids);
        let neighbours = std::mem::take(&mut self.watch).finish();
        let found = inference::find(
            &mut self.table,
            &self.strings,
            ids,
            &neighbours,
            false,
            LayoutChoice::default(),
        );
        let Rule::HotSpot(layout) = found.rule else { return None };
        (!self.table.is_empty()).then(|| HprofLayout {
            references: layout.reference,
            header: layout.header,
            array_header: layout.array,
            alignment: layout.alignment,
            gaps: layout.gaps.name(),
            pairs: found.pairs,
            measured_classes: found.corrected.len() as u64,
        })
    }

    fn into_info(
        mut self,
        records: &Records<'_>,
        damage: Option<Error>,
        mapping: Option<&JavaMapping>,
    ) -> Info {
        let header = records.header();
        let mut info = super::SPEC.summary(header.version);
        info.add_metadata("id_size", header.id_size.bytes());
        info.add_metadata("timestamp_ms", header.timestamp);
        info.records = self.record_counts();
        let details = self.details(header, mapping);
        // In files that dumptool wrote, arrays represent the bytes outside the original heap.
        let ours = self.table.named("dumptool.Info", &self.strings).is_some();
        if details.segments == 0 && damage.is_none() {
            info.warnings.push(InfoWarning::NoHeapDump);
        }
        let is_whole = damage.is_none() && details.layout.is_some();
        info.warnings.extend(self.lacks(header.id_size, is_whole));
        info.warnings.extend(self.short_names().filter(|_| mapping.is_none() && !ours));
        let heap = SnapshotInfo {
            objects: Some((self.instances + self.object_arrays + self.primitive_arrays.objects).0),
            roots: Some(details.roots.iter().map(|root| root.count).sum()),
            types: Some(self.classes.0),
            external_bytes: Some(if ours { 0 } else { self.external }),
            ..SnapshotInfo::new(info::FormatDetails::Hprof(Box::new(details)))
        };
        info.set_heap(heap, damage);
        info
    }

    fn details(&mut self, header: &Header, mapping: Option<&JavaMapping>) -> HprofDetails {
        // Sizes of instances are known after this.
        let layout = self.layout(header.id_size);
        let segments = ["heap_dump", "heap_dump_segment"].map(|name| self.records.count(name));
        let roots = ROOT_TAGS
            .iter()
            .zip(self.roots)
            .map(|(tag, count)| RootCount { kind: tag.name, count })
            .filter(|root| root.count > 0);
        HprofDetails {
            id_size: header.id_size.bytes() as u8,
            classes: self.classes.0,
            strings: self.records.count("utf8"),
            threads: self.threads.0.max(self.records.count("start_thread")),
            timestamp_ms: header.timestamp,
            instances: self.instances.0,
            object_arrays: self.object_arrays.0,
            primitive_arrays: self.primitive_arrays.objects.0,
            reference_slots: self.reference_slots(),
            segments: segments.into_iter().fold(0, u64::saturating_add),
            closed: self.closed,
            roots: roots.collect(),
            layout,
            top_classes: self.top_classes(mapping),
        }
    }

    /// Warnings about data that the dump lacks. Missing array elements are reported only for intact
    /// dumps of HotSpot; elsewhere they have other causes.
    fn lacks(&mut self, id_size: IdSize, is_whole: bool) -> Vec<InfoWarning> {
        let elements = if is_whole {
            std::mem::take(&mut self.omitted).count(id_size).unwrap_or(0)
        } else {
            0
        };
        let stacks = self.virtual_threads.lack_stacks(&self.thread_roots).into();
        let contents = Some(self.no_data.0).filter(|count| *count > 0);
        let lost = [(WarningKind::OmittedElements, elements), (WarningKind::OmittedStacks, stacks)];
        let lost = lost.into_iter().filter(|(_, count)| *count > 0);
        let lost = lost.map(|(kind, count)| InfoWarning::Load(LoadWarning { kind, count }));
        contents.map(InfoWarning::OmittedContents).into_iter().chain(lost).collect()
    }

    /// Returns a warning if most classes of the program look minified.
    fn short_names(&self) -> Option<InfoWarning> {
        let mut names = ShortNames::default();
        for &class in self.names.values() {
            let class = class_name(self.strings.text(class), false);
            looks_short_in_java(&class).into_iter().for_each(|is_short| names.add(is_short));
        }
        let (of, option) = ("classes outside of the platform".to_owned(), "--mapping mapping.txt");
        names.are_most().then_some(InfoWarning::ShortNames { of, names, option })
    }

    /// The number of references in array elements and instance fields. The table must be resolved.
    fn reference_slots(&self) -> u64 {
        let fields = self.table.reference_fields();
        let of_class = |known: &OfClass| {
            let row = self.table.index(known.class)?;
            Some(fields.get(row)?.saturating_mul(known.count.objects.0))
        };
        self.by_class.iter().filter_map(of_class).fold(self.elements.0, u64::saturating_add)
    }

    fn record_counts(&self) -> info::RecordCounts {
        let mut records = self.records.clone();
        let arrays = self.primitive_arrays.objects - self.no_data;
        let heap = [
            ("class_dump", self.classes),
            ("instance_dump", self.instances),
            ("object_array", self.object_arrays),
            ("primitive_array", arrays),
            ("primitive_array_no_data", self.no_data),
        ]
        .map(|(name, count)| (name, count.0));
        let roots = ROOT_TAGS.iter().zip(self.roots).map(|(tag, count)| (tag.name, count));
        records.add_all(roots.chain(heap));
        records
    }

    fn top_classes(&self, mapping: Option<&JavaMapping>) -> Vec<HprofTopClass> {
        let classes = self.by_class.iter().map(|known| (Err(known.class), known.count));
        let arrays = PRIMITIVES
            .into_iter()
            .zip(self.by_element)
            .map(|(element, count)| (Ok(element), count));
        let mut ranking: Vec<_> =
            classes.chain(arrays).filter(|(_, count)| count.objects.0 > 0).collect();
        // The sort is stable: equal classes stay in the order in which their first objects came.
        ranking.sort_by_key(|(_, count)| Reverse((count.objects, count.bytes)));
        ranking.truncate(TOP_CLASSES);
        let string = |class: &u64| self.names.get(class).copied();
        let name = |class: Result<FieldType, u64>| match class {
            Ok(element) => format!("{}[]", element.name()),
            Err(class) => match string(&class).filter(|name| self.strings.contains(*name)) {
                Some(name) => {
                    let name = class_name(self.strings.text(name), false);
                    let original = mapping.and_then(|mapping| mapping.class(&name));
                    original.unwrap_or(name).into_owned()
                }
                None => format!("{class:#x}"),
            },
        };
        let top = |(class, count): (_, Count)| HprofTopClass {
            name: name(class),
            count: count.objects.0,
            data_bytes: count.bytes,
        };
        ranking.into_iter().map(top).collect()
    }
}
