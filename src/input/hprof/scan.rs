//! The first pass of loading: everything but the contents of objects.

use super::direct::DirectBuffer;
use super::hidden::{hidden, is};
use super::inference::{self, Found};
use super::layout::{Class, ClassTable};
use super::naming::Strings;
use super::neighbours::{Neighbours, Watch};
use super::objects::Object;
use super::primitives::{IdSize, Value};
use super::records::{Body, HeapRec, Rec, Records};
use super::roots::Root;
use super::sizes::Rule;
use super::statistics::AllocSites;
use super::symbols::{Frame, StartThread, Trace};
use super::virtual_threads::VirtualThreads;
use crate::error::{Error, Result};
use crate::input::load::LayoutChoice;
use crate::input::read::Progress;
use crate::java::{CLASS, FieldType, class_name};
use crate::model::addresses::AddressesBuilder;
use crate::model::heap::RootKind;
use crate::names::MappedFrame;
use rustc_hash::{FxHashMap, FxHashSet};
use std::num::Saturating;

/// Everything but objects, and the ids of objects.
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
    /// Allocation sites, which the JDK's profiler wrote beside a heap up to Java 8.
    pub sites: Vec<AllocSites<'a>>,
    pub roots: Vec<Root>,
    /// Ids of objects and classes.
    pub addresses: AddressesBuilder,
    /// The number of ids added to `addresses`.
    pub objects: Saturating<u64>,
    pub sizes: Found,
    pub virtual_threads: VirtualThreads,
    /// dumptool wrote the file.
    pub ours: bool,
    elements: Saturating<u64>,
    /// Bytes of the fields of instances.
    values: Saturating<u64>,
    /// Each object has a larger id than the one before.
    pub is_ordered: bool,
    /// Classes with an id that another class has.
    pub repeated_classes: Saturating<u64>,
    pub has_system_classes: bool,
    /// The error that ended the pass early.
    pub damage: Option<Error>,
}

impl<'a> Scan<'a> {
    /// Reads a file once. Fails when the header cannot be read.
    pub(super) fn new(
        bytes: &'a [u8],
        layout: LayoutChoice,
        progress: Progress<'_>,
    ) -> Result<Self> {
        Self::with(bytes, layout, progress, |scan, object, _| scan.add_object(object))
    }

    /// Like [`Self::new`], but with something else done with the objects, which come with the row
    /// of their class as [`Watch`] counts them. Fails when the header cannot be read.
    pub(super) fn with(
        bytes: &'a [u8],
        layout: LayoutChoice,
        progress: Progress<'_>,
        each: impl FnMut(&mut Self, &Object<'a>, Option<usize>),
    ) -> Result<Self> {
        let mut records = Records::new(bytes)?;
        let mut scan = Self { ids: records.header().id_size, ..Self::default() };
        let mut watch = Watch::default();
        scan.damage = scan.read(&mut records, &mut watch, progress, each).err();
        scan.is_ordered = watch.is_ascending();
        scan.measure(&watch.finish(), layout);
        scan.has_system_classes = scan.roots.iter().any(|root| root.tag().kind == RootKind::Class);
        Ok(scan)
    }

    fn read(
        &mut self,
        records: &mut Records<'a>,
        watch: &mut Watch,
        progress: Progress<'_>,
        mut each: impl FnMut(&mut Self, &Object<'a>, Option<usize>),
    ) -> Result<()> {
        let mut next_progress = 0;
        loop {
            let object = match records.next_object() {
                Some((_, object)) => object,
                None => match self.read_others(records, watch, progress, &mut next_progress)? {
                    Some(object) => object,
                    None => return Ok(()),
                },
            };
            // In one place, so that the compiler puts everything together and the object stays in
            // registers.
            let row = watch.object(&object, self.ids);
            self.see(&object);
            each(self, &object, row);
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
    ) -> Result<Option<Object<'a>>> {
        loop {
            let Some(record) = records.next() else { return Ok(None) };
            let (offset, record) = record?;
            if offset >= *next_progress {
                // The other passes follow: the bar moves by thirds.
                progress(offset / 3);
                *next_progress = offset.saturating_add(1 << 20);
            }
            match record {
                Rec::Heap(HeapRec::Object(object)) => return Ok(Some(object)),
                Rec::Heap(HeapRec::Root(root)) => self.roots.push(root),
                Rec::Heap(HeapRec::ClassDump(class)) => {
                    if self.classes.add(class, offset) {
                        watch.class(class.id, self.classes.len().saturating_sub(1));
                        self.add_id(class.id);
                    } else {
                        self.repeated_classes += 1
                    }
                }
                Rec::Heap(HeapRec::HeapInfo { .. }) => {}
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
                        // Only an incremental record adds to those before it.
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

    #[inline]
    fn see(&mut self, object: &Object<'_>) {
        if let Object::Instance(instance) = object {
            self.virtual_threads.see(instance);
        }
    }

    #[inline]
    fn add_object(&mut self, object: &Object<'_>) {
        match object {
            Object::Instance(instance) => self.values += instance.values.len() as u64,
            Object::ObjectArray(array) => self.elements += u64::from(array.count),
            Object::PrimitiveArray(_) => {}
        }
        self.add_id(object.id());
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
        let of_objects = self.elements.0.saturating_add(self.objects.0);
        let fields = self.values.0.checked_div(width).unwrap_or(0);
        self.classes
            .iter()
            .map(of_class)
            .fold(of_objects.saturating_add(fields), u64::saturating_add)
    }

    /// Names the classes and finds how large their objects are.
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

    /// Whether a class is one of arrays that the boot loader keeps. HotSpot writes a root for each
    /// other class of that loader, but none for array classes.
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
    /// That is the class itself, unless a root holds it anyway. In files of dumptool, where classes
    /// are not objects of the converted heap, a class names it in a static field [`CLASS`].
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

    /// Whether a class is this one or below it.
    pub(super) fn inherits(&self, class: usize, name: &str) -> bool {
        self.classes.chain(class).any(|class| is(self.strings.text(class.name), name))
    }
}
