//! The first pass of loading: reads everything except the contents of objects.

use super::direct::DirectBuffer;
use super::hidden::{hidden, is};
use super::inference::{self, Found};
use super::layout::{Class, ClassTable};
use super::naming::Strings;
use super::neighbours::{Neighbours, Watch};
use super::objects::{Instance, Object, ObjectArray};
use super::primitives::{IdSize, Value};
use super::records::{Body, HeapRec, Rec, Records, read_heap_record};
use super::roots::Root;
use super::segments::{read_part, side_by_side};
use super::sizes::Rule;
use super::statistics::AllocSites;
use super::symbols::{Frame, StartThread, Trace};
use super::virtual_threads::VirtualThreads;
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::load::LayoutChoice;
use crate::input::read::Progress;
use crate::java::{CLASS, FieldType, class_name};
use crate::model::addresses::AddressesBuilder;
use crate::model::heap::{Offsets, RootKind};
use crate::names::MappedFrame;
use rustc_hash::{FxHashMap, FxHashSet};
use std::num::Saturating;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The results of the first pass: everything except objects, of which it has only ids and sums.
#[derive(Default)]
pub(super) struct Scan<'a> {
    pub ids: IdSize,
    pub strings: Strings<'a>,
    pub classes: ClassTable<'a>,
    pub serials: FxHashMap<u32, u64>,
    /// Names of classes: strings by class.
    pub names: FxHashMap<u64, u64>,
    pub frames: FxHashMap<u64, Frame>,
    /// The frames in the source, innermost first, if a mapping knows them.
    pub original_frames: FxHashMap<u64, Vec<MappedFrame>>,
    pub traces: FxHashMap<u32, Trace<'a>>,
    pub threads: Vec<StartThread>,
    /// Allocation sites, which the JDK's profiler wrote in addition to a heap, up to Java 8.
    pub sites: Vec<AllocSites<'a>>,
    pub roots: Vec<Root>,
    /// Ids of objects and classes.
    pub addresses: AddressesBuilder,
    /// The number of ids added to `addresses`.
    pub objects: Saturating<u64>,
    pub sizes: Found,
    pub virtual_threads: VirtualThreads,
    /// Whether dumptool wrote the file.
    pub ours: bool,
    pub tally: Tally,
    /// The positions of objects. `None` if not requested, or if objects are not sorted by id.
    pub positions: Option<Offsets>,
    /// Whether segments are read in parallel.
    side_by_side: bool,
    /// The number of classes with the id of an earlier class.
    pub repeated_classes: Saturating<u64>,
    pub has_system_classes: bool,
    /// The error that ended the pass early.
    pub damage: Option<Error>,
}

/// Sums over the objects of a file.
#[derive(Default)]
pub(super) struct Tally {
    /// Elements of arrays.
    elements: Saturating<u64>,
    /// Bytes of the fields of instances.
    values: Saturating<u64>,
    /// Classes in the order of their first objects.
    pub classes: Vec<OfClass>,
}

/// The objects of a class.
pub(super) struct OfClass {
    pub class: u64,
    pub least_id: u64,
    /// The bytes of fields of the largest one.
    pub most: u32,
}

impl Tally {
    #[inline(always)]
    fn add(&mut self, object: &Object<'_>, row: Option<usize>) {
        match object {
            Object::Instance(Instance { id, class, values, .. }) => {
                self.values += values.len() as u64;
                let most = values.len() as u32;
                self.see(row, OfClass { class: *class, least_id: *id, most });
            }
            Object::ObjectArray(ObjectArray { id, class, count, .. }) => {
                self.elements += u64::from(*count);
                self.see(row, OfClass { class: *class, least_id: *id, most: 0 });
            }
            Object::PrimitiveArray(_) => {}
        }
    }

    #[inline(always)]
    fn see(&mut self, row: Option<usize>, seen: OfClass) {
        match row.and_then(|row| self.classes.get_mut(row)) {
            Some(class) => {
                class.most = class.most.max(seen.most);
                class.least_id = class.least_id.min(seen.least_id);
            }
            None => self.classes.push(seen),
        }
    }

    /// Adds the sums of the next part of the file. `rows` are the rows here of the part's classes.
    fn append(&mut self, part: Self, rows: &[u32]) {
        self.elements += part.elements;
        self.values += part.values;
        for (class, row) in part.classes.into_iter().zip(rows) {
            self.see(Some(*row as usize), class);
        }
    }
}

/// The results for a part of the segments of a file.
struct Part {
    watch: Watch,
    tally: Tally,
    virtual_threads: VirtualThreads,
    /// The ids of objects.
    ids: Vec<u64>,
    /// The offsets of objects.
    positions: Offsets,
    /// The offsets of other records.
    others: Vec<u64>,
    end: u64,
}

impl<'a> Scan<'a> {
    /// Reads a file once, with all threads if it consists of segments. Fails when the header cannot
    /// be read.
    pub(super) fn new(
        bytes: &'a [u8],
        layout: LayoutChoice,
        has_positions: bool,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let positions = has_positions.then(|| Offsets::with_capacity(0, bytes.len() as u64));
        let scan = Self { side_by_side: true, positions, ..Self::default() };
        scan.reading(bytes, layout, progress, Self::add)
    }

    /// Reads a file once, and passes the objects to `each` instead of collecting their ids. Objects
    /// come with the row of their class in [`Watch`]. Fails when the header cannot be read.
    pub(super) fn with(
        bytes: &'a [u8],
        layout: LayoutChoice,
        progress: Progress<'_>,
        mut each: impl FnMut(&mut Self, &Object<'a>, Option<usize>),
    ) -> Result<Self> {
        let each = |scan: &mut Self, _, object: &Object<'a>, row| each(scan, object, row);
        Self::default().reading(bytes, layout, progress, each)
    }

    fn reading(
        mut self,
        bytes: &'a [u8],
        layout: LayoutChoice,
        progress: Progress<'_>,
        each: impl FnMut(&mut Self, u64, &Object<'a>, Option<usize>),
    ) -> Result<Self> {
        let mut records = Records::new(bytes)?;
        self.ids = records.header().id_size;
        let mut watch = Watch::default();
        self.damage = self.read(&mut records, &mut watch, progress, each).err();
        self.positions = self.positions.filter(|_| watch.is_ascending());
        self.measure(&watch.finish(), layout);
        self.has_system_classes = self.roots.iter().any(|root| root.tag().kind == RootKind::Class);
        Ok(self)
    }

    #[inline(always)]
    fn add(&mut self, offset: u64, object: &Object<'a>, row: Option<usize>) {
        self.tally.add(object, row);
        self.add_id(object.id());
        if let Some(positions) = &mut self.positions {
            positions.push(offset);
        }
    }

    fn read(
        &mut self,
        records: &mut Records<'a>,
        watch: &mut Watch,
        progress: Progress<'_>,
        mut each: impl FnMut(&mut Self, u64, &Object<'a>, Option<usize>),
    ) -> Result<()> {
        let mut next_progress = 0;
        loop {
            let (offset, object) = match records.next_object() {
                Some(object) => object,
                None => match self.read_others(records, watch, progress, &mut next_progress)? {
                    Some(object) => object,
                    None => return Ok(()),
                },
            };
            // All objects are processed in this one place, so that the compiler inlines everything
            // and the object stays in registers.
            let row = watch.object(&object, self.ids);
            self.virtual_threads.see(&object);
            each(self, offset, &object, row);
        }
    }

    /// Reads other records up to the next object. Returns `None` at the end.
    #[inline(never)]
    fn read_others(
        &mut self,
        records: &mut Records<'a>,
        watch: &mut Watch,
        progress: Progress<'_>,
        next_progress: &mut u64,
    ) -> Result<Option<(u64, Object<'a>)>> {
        loop {
            if self.side_by_side && self.read_segments(records, watch, progress) {
                continue;
            }
            let Some(record) = records.next() else { return Ok(None) };
            let (offset, record) = record?;
            if offset >= *next_progress {
                // The other passes follow: the bar moves by thirds.
                progress(offset / 3);
                *next_progress = offset.saturating_add(1 << 20);
            }
            match record {
                Rec::Heap(HeapRec::Object(object)) => return Ok(Some((offset, object))),
                Rec::Heap(record) => self.add_other(record, offset, watch),
                Rec::Top { body, .. } => match body {
                    Body::Utf8(string) => {
                        self.virtual_threads.see_string(string.id, string.text);
                        self.strings.add(string.id, string.text);
                    }
                    Body::LoadClass(class) => {
                        self.virtual_threads.see_class(class.class, class.name);
                        self.names.insert(class.class, class.name);
                        self.serials.insert(class.serial, class.class);
                    }
                    Body::Frame(frame) => {
                        self.frames.insert(frame.id, frame);
                    }
                    Body::Trace(trace) => {
                        self.traces.insert(trace.serial, trace);
                    }
                    Body::StartThread(thread) => self.threads.push(thread),
                    Body::AllocSites(sites) => {
                        // Only an incremental record adds to earlier ones; any other replaces them.
                        if sites.flags & 1 == 0 {
                            self.sites.clear();
                        }
                        self.sites.push(sites);
                    }
                    _ => {}
                },
            }
        }
    }

    /// Adds a heap record that is not an object.
    fn add_other(&mut self, record: HeapRec<'a>, offset: u64, watch: &mut Watch) {
        match record {
            HeapRec::Root(root) => self.roots.push(root),
            HeapRec::ClassDump(class) if self.classes.add(class, offset) => {
                watch.class(class.id, self.classes.len().saturating_sub(1));
                self.add_id(class.id);
            }
            HeapRec::ClassDump(_) => self.repeated_classes += 1,
            HeapRec::Object(_) | HeapRec::HeapInfo { .. } => {}
        }
    }

    /// Reads the next segments in parallel. Returns `false` if there are none.
    fn read_segments(
        &mut self,
        records: &mut Records<'a>,
        watch: &mut Watch,
        progress: Progress<'_>,
    ) -> bool {
        let (bytes, ids, classes) = (records.bytes(), self.ids, self.virtual_threads.classes());
        let has_positions = self.positions.is_some();
        // Parts drop pages that the sample will not need, as far as known when a part is read.
        let limit = AtomicU64::new(watch.limit());
        let read = |range: &Range<u64>| {
            let mut part = Part {
                watch: Watch::of_part(limit.load(Ordering::Relaxed)),
                tally: Tally::default(),
                virtual_threads: classes.classes(),
                ids: Vec::new(),
                positions: Offsets::with_capacity(0, range.end),
                others: Vec::new(),
                end: range.end,
            };
            let object = |offset, object: &Object<'a>| {
                let row = part.watch.object(object, ids);
                part.virtual_threads.see(object);
                part.tally.add(object, row);
                part.ids.push(object.id());
                if has_positions {
                    part.positions.push(offset);
                }
            };
            let other = |offset| part.others.push(offset);
            read_part(bytes, range, ids, object, other)?;
            Some(part)
        };
        side_by_side(records, read, |part: Part| {
            let objects = part.ids.len();
            let rows = watch.append(part.watch);
            self.tally.append(part.tally, &rows);
            self.virtual_threads.append(part.virtual_threads);
            part.ids.into_iter().for_each(|id| self.add_id(id));
            if let Some(positions) = &mut self.positions {
                positions.extend(part.positions.range(0..objects), part.end);
            }
            for offset in part.others {
                if let Ok(record) = read_heap_record(&mut Cursor::at(bytes, offset), ids) {
                    self.add_other(record, offset, watch);
                }
            }
            limit.store(watch.limit(), Ordering::Relaxed);
            progress(part.end / 3);
            objects as u64
        })
    }

    #[inline]
    fn add_id(&mut self, id: u64) {
        self.addresses.add(id);
        self.objects += 1;
    }

    /// An upper bound of the references of the heap: elements, as many fields as fit into the
    /// values of instances, fields of classes, and one reference from each object to its class.
    pub(super) fn most_references(&self) -> u64 {
        let of_class = |class: &Class<'_>| u64::from(class.dump.statics.count).saturating_add(4);
        let width = self.ids.bytes() as u64;
        let of_objects = self.tally.elements.0.saturating_add(self.objects.0);
        let fields = self.tally.values.0.checked_div(width).unwrap_or(0);
        self.classes
            .iter()
            .map(of_class)
            .fold(of_objects.saturating_add(fields), u64::saturating_add)
    }

    /// Names the classes and determines the sizes of their objects.
    fn measure(&mut self, neighbours: &Neighbours, layout: LayoutChoice) {
        self.classes.set_names(&self.names);
        self.ours = self.classes.named("dumptool.Info", &self.strings).is_some();
        self.classes.resolve(self.ids);
        self.sizes = inference::find(
            &mut self.classes,
            &self.strings,
            self.ids,
            neighbours,
            self.ours,
            layout,
        );
    }

    /// The position of the words of a StackChunk's stack among its values, if this is that class.
    /// Before the end of the scan, classes have no names yet.
    pub(super) fn words_field(&self, class: u64) -> Option<usize> {
        let name = self.strings.text(self.names.get(&class).copied()?);
        self.classes.of_id(class)?.words_field(hidden(name), &self.strings, self.ids)
    }

    /// The fields of a class that give the memory of direct buffers. `None` for other classes.
    pub(super) fn direct_buffer(&self, class: u64) -> Option<DirectBuffer> {
        DirectBuffer::of(class, &self.classes, &self.names, &self.strings, self.ids)
            .filter(|_| !self.ours)
    }

    /// Returns the lines that `-v` prints.
    pub(super) fn remarks(&self) -> Vec<String> {
        let name = |index| {
            self.classes.get(index).map_or_else(String::new, |class| {
                class_name(self.strings.text(class.name), false).into()
            })
        };
        self.sizes.remark(name).into_iter().collect()
    }

    /// Whether a class is an array class of the boot loader. HotSpot writes a root for each other
    /// class of that loader, but not for array classes.
    pub(super) fn is_boot_array(&self, class: &Class<'_>) -> bool {
        let is_array = || self.strings.text(class.name).starts_with(b"[");
        self.has_system_classes
            && matches!(self.sizes.rule, Rule::HotSpot { .. })
            && class.dump.loader == 0
            && is_array()
    }

    /// For each class, in the order of the table: the id of the object that its objects keep alive
    /// besides their fields, or 0.
    ///
    /// That object is the class itself, unless a root holds the class anyway. In files of dumptool,
    /// where classes are not objects of the converted heap, a static field [`CLASS`] names it.
    pub(super) fn held_classes(&self) -> Vec<u64> {
        let rooted: FxHashSet<u64> = self.roots.iter().map(|root| root.object).collect();
        let named = |class: &Class<'_>| {
            let field = class
                .dump
                .statics
                .iter()
                .find(|field| self.strings.text(field.name) == CLASS.as_bytes())?;
            if let Value::Object(id) = field.value { Some(id) } else { None }
        };
        let held = |class: &Class<'_>| match self.ours {
            true => named(class).unwrap_or(0),
            false if rooted.contains(&class.dump.id) || self.is_boot_array(class) => 0,
            false => class.dump.id,
        };
        self.classes.iter().map(held).collect()
    }

    /// The position of a field that all objects of a class inherit from `declaring`, counted from
    /// the end of their data.
    pub(super) fn inherited_field(
        &self,
        declaring: &str,
        field: &[u8],
    ) -> Option<(usize, FieldType)> {
        let class = self.classes.named(declaring, &self.strings)?;
        let (offset, kind) = class.own_field(field, &self.strings, self.ids)?;
        Some((usize::try_from(class.data).ok()?.checked_sub(offset)?, kind))
    }

    /// Whether a class is the named class or a subclass of it.
    pub(super) fn inherits(&self, class: usize, name: &str) -> bool {
        self.classes.chain(class).any(|class| is(self.strings.text(class.name), name))
    }
}
