//! The invariants of the format, as verified by `check`.
//!
//! Every rule held for dumps that OpenJDK 17 wrote with compressed and with wide references. Some
//! properties do **not** hold and are not checked: a trace serial may name no trace, the meaning of
//! a class's instance size varies, a thread may have no record. HotSpot omits two kinds of classes
//! to which its dumps refer; these are counted and tolerated:
//! * class objects of its shared archive (CDS) whose classes are not loaded. The archive's own
//!   arrays name them, but a class object is only written as the record of its class
//!   (`HeapObjectDumper::do_object`, `mask_dormant_archived_object`);
//! * classes that are loaded and not linked yet. They have a root (`StickyClassDumper`), and since
//!   JDK 21 no record.
//!
//! There are two passes: the first collects ids, the second looks up references to ids. The memory
//! needed grows with the number of ids in the file, not with the contents of objects.

use super::classes::ClassDump;
use super::hidden::is;
use super::layout::ClassTable;
use super::naming::Strings;
use super::objects::{Instance, Object};
use super::primitives::{IdSize, Value};
use super::records::{Body, HeapRec, Rec, Records};
use super::roots::Root;
use super::scan::Scan;
use super::sizes::Rule;
use super::symbols::{Frame, LoadClass};
use crate::error::Result;
use crate::input::check::{CheckWarning, Findings, faults};
use crate::input::read::ReadOptions;
use crate::model::addresses::Addresses;
use crate::model::heap::{LoadWarning, RootKind, WarningKind};
use crate::model::names::Names;
use rustc_hash::{FxHashMap, FxHashSet};
use std::num::Saturating;

/// Checks what holds for every dump that a JVM wrote. Fails if the file is not an hprof dump.
pub fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let mut scan = Scan::new(bytes, options.layout, false, options.progress)?;
    let addresses = std::mem::take(&mut scan.addresses).finish();
    let mut checker = Checker::new(&mut scan, &addresses);
    let mut records = Records::new(bytes)?;
    checker.read(&mut records);
    let mut findings = Findings::default();
    let Checker { faults, unlinked, .. } = checker;
    let checks_elements = matches!(scan.sizes.rule, Rule::Stated { .. });
    faults.report(&mut findings, scan.damage.is_none(), checks_elements, scan.sizes.has_addresses);
    if let Rule::HotSpot { .. } = scan.sizes.rule {
        findings.tolerate(faults.dangling_elements.0, load(WarningKind::OmittedElements));
        findings.tolerate(unlinked.0, load(WarningKind::OmittedClasses));
    }
    if scan.virtual_threads.lack_stacks(&scan.roots) {
        findings.tolerate(1, load(WarningKind::OmittedStacks));
    }
    findings.none("record.length", records.surplus(), "bytes of records after their fields");
    findings.set_damage(scan.damage);
    Ok(findings)
}

/// Returns a function that wraps a count as a warning of loading the file.
fn load(kind: WarningKind) -> impl FnOnce(u64) -> CheckWarning {
    move |count| CheckWarning::Load(LoadWarning { kind, count })
}

/// The state and the findings of the second pass.
struct Checker<'s, 'a> {
    scan: &'s mut Scan<'a>,
    addresses: &'s Addresses,
    ids: IdSize,
    /// The names of fields, needed to resolve classes but not shown.
    names: Names,
    last: Option<(u64, usize)>,
    strings: FxHashSet<u64>,
    serials: FxHashSet<u32>,
    loaded: FxHashSet<u64>,
    frames: FxHashSet<u64>,
    traces: FxHashSet<u32>,
    /// The number of frames of each thread, by serial: those of the stack of its root or record.
    threads: FxHashMap<u32, u32>,
    in_segments: bool,
    faults: Faults,
    /// Roots of system classes without a record, in files of HotSpot.
    unlinked: Saturating<u64>,
}

faults! {
    /// Rules that need the whole file are left out if it is damaged, and the rule about elements
    /// for HotSpot.
    struct Faults(complete: bool, checks_elements: bool, has_addresses: bool) {
        repeated_strings: "utf8.id" "strings with the id of another string",
        repeated_serials: "load_class.serial" "loaded classes with the serial of another class",
        zero_serials: "load_class.serial_zero" "loaded classes with the serial 0",
        repeated_frames: "frame.id" "frames with the id of another frame",
        repeated_traces: "trace.serial" "traces with the serial of another trace",
        between_segments: "heap_dump_segment.between" "other records between segments of a heap dump",
        not_empty_ends: "heap_dump_end.length" "ends of heap dumps that are not empty",
        ends_without_segments: "heap_dump_end.segments" "ends of heap dumps without segments",
        repeated_objects: "object.id" "objects and classes with the id of another object or class",
        zero_ids: "object.id_zero" "objects and classes with the id 0",
        nameless_classes: "load_class.name" "loaded classes with a name that is not in the file" if complete,
        nameless_frames: "frame.names" "frames with a name that is not in the file" if complete,
        classless_frames: "frame.class" "frames of classes that were not loaded" if complete,
        frameless_traces: "trace.frames" "frames of traces that are not in the file" if complete,
        not_loaded: "class_dump.load_class" "classes of the heap that were not loaded" if complete,
        super_classes: "class_dump.super" "classes without a superclass, except java.lang.Object" if complete,
        nameless_fields: "class_dump.names" "fields with a name that is not in the file" if complete,
        dangling_statics: "class_dump.references" "references of classes to objects that do not exist" if complete,
        classless_instances: "instance_dump.class" "instances of classes that do not exist" if complete,
        instance_lengths: "instance_dump.length" "instances whose data is not as long as the fields of their class" if complete,
        dangling_fields: "instance_dump.references" "references of fields to objects that do not exist" if complete,
        classless_arrays: "object_array.class" "arrays of classes that do not exist" if complete,
        array_classes: "object_array.class_name" "arrays whose class is not an array class" if complete,
        dangling_elements: "object_array.references" "references of elements to objects that do not exist" if complete && checks_elements,
        overlaps: "object.overlap" "objects that overlap the next one" if complete && has_addresses,
        rootless: "root.object" "roots of objects that are not in the file" if complete,
        threadless: "root.thread" "roots of threads that do not exist" if complete,
        root_frames: "root.frame" "roots of frames that their thread does not have" if complete,
    }
}

impl<'s, 'a> Checker<'s, 'a> {
    fn new(scan: &'s mut Scan<'a>, addresses: &'s Addresses) -> Self {
        let started = scan.threads.iter().map(|thread| (thread.serial, thread.trace));
        let rooted = scan.roots.iter().filter_map(|root| Some((root.thread()?, root.trace()?)));
        let mut threads = FxHashMap::default();
        for (serial, trace) in started.chain(rooted) {
            let depth = threads.entry(serial).or_insert(0);
            *depth = scan.traces.get(&trace).map_or(0, |trace| trace.frames.count()).max(*depth);
        }
        Self {
            ids: scan.ids,
            scan,
            addresses,
            names: Names::default(),
            last: None,
            strings: FxHashSet::default(),
            serials: FxHashSet::default(),
            loaded: FxHashSet::default(),
            frames: FxHashSet::default(),
            traces: FxHashSet::default(),
            threads,
            in_segments: false,
            faults: Faults::default(),
            unlinked: Saturating(0),
        }
    }

    fn strings(&self) -> &Strings<'a> {
        &self.scan.strings
    }

    fn classes(&self) -> &ClassTable<'a> {
        &self.scan.classes
    }

    fn read(&mut self, records: &mut Records<'a>) {
        loop {
            while let Some((_, object)) = records.next_object() {
                self.object(&object);
            }
            // The damage was noted in the first pass.
            let Some(Ok((_, record))) = records.next() else { break };
            match record {
                Rec::Heap(HeapRec::Object(object)) => self.object(&object),
                Rec::Heap(HeapRec::ClassDump(class)) => self.class(&class),
                Rec::Heap(HeapRec::Root(root)) => self.root(&root),
                Rec::Heap(HeapRec::HeapInfo { name, .. }) => {
                    self.faults.nameless_fields += u64::from(!self.strings().contains(name));
                }
                Rec::Top { body, length, .. } => self.top_level(&body, length),
            }
        }
        let dumped = self.classes().iter().filter(|class| !self.loaded.contains(&class.dump.id));
        self.faults.not_loaded.0 = dumped.count() as u64;
        self.faults.repeated_objects = self.scan.objects - Saturating(self.addresses.len() as u64)
            + self.scan.repeated_classes;
    }

    fn top_level(&mut self, body: &Body<'_>, length: u32) {
        self.faults.between_segments += u64::from(
            self.in_segments && !matches!(body, Body::HeapDumpSegment | Body::HeapDumpEnd),
        );
        match body {
            Body::Utf8(string) => {
                self.faults.repeated_strings += u64::from(!self.strings.insert(string.id))
            }
            Body::LoadClass(class) => self.loaded_class(class),
            Body::Frame(frame) => self.frame(frame),
            Body::Trace(trace) => {
                self.faults.repeated_traces += u64::from(!self.traces.insert(trace.serial));
                let missing = trace
                    .frames
                    .iter()
                    .filter(|frame| !self.scan.frames.contains_key(frame))
                    .count();
                self.faults.frameless_traces += missing as u64;
            }
            Body::HeapDumpSegment => self.in_segments = true,
            Body::HeapDumpEnd => {
                self.faults.not_empty_ends += u64::from(length > 0);
                self.faults.ends_without_segments += u64::from(!self.in_segments);
                self.in_segments = false;
            }
            _ => {}
        }
    }

    fn loaded_class(&mut self, class: &LoadClass) {
        self.loaded.insert(class.class);
        self.faults.zero_serials += u64::from(class.serial == 0);
        self.faults.repeated_serials += u64::from(!self.serials.insert(class.serial));
        self.faults.nameless_classes += u64::from(!self.strings().contains(class.name));
    }

    fn frame(&mut self, frame: &Frame) {
        let missing = |id| id != 0 && !self.strings().contains(id);
        let nameless = !self.strings().contains(frame.method)
            || missing(frame.signature)
            || missing(frame.source);
        self.faults.nameless_frames += u64::from(nameless);
        // Classes may be loaded after the frame in the file. Serial 0 means no class.
        let known = frame.class_serial == 0 || self.scan.serials.contains_key(&frame.class_serial);
        self.faults.classless_frames += u64::from(!known);
        self.faults.repeated_frames += u64::from(!self.frames.insert(frame.id));
    }

    fn class(&mut self, class: &ClassDump<'_>) {
        self.faults.zero_ids += u64::from(class.id == 0);
        let found = self.classes().of_id(class.id);
        let name = found.map_or(&b""[..], |class| self.strings().text(class.name));
        let is_object = is(name, "java.lang.Object");
        let has_super = self.classes().index(class.super_class).is_some();
        self.faults.super_classes +=
            u64::from(if is_object { class.super_class != 0 } else { !has_super });
        for field in class.statics.iter() {
            self.faults.nameless_fields += u64::from(!self.strings().contains(field.name));
            if let Value::Object(id) = field.value {
                self.faults.dangling_statics += u64::from(self.dangling(id));
            }
        }
        // Without a java.lang.Class in the file, the only known fields of class objects are the
        // static ones.
        let rule = self.scan.sizes.rule;
        if matches!(rule, Rule::HotSpot(layout) if layout.mirror > 0) {
            self.overlap(class.id, rule.class(&class.statics, self.ids, self.strings()));
        }
        let nameless =
            class.fields.iter().filter(|field| !self.strings().contains(field.name)).count();
        self.faults.nameless_fields += nameless as u64;
        for id in [class.loader, class.signers, class.domain] {
            self.faults.dangling_statics += u64::from(self.dangling(id));
        }
    }

    /// Counts an object that overlaps the next one, if ids are the addresses of a JVM.
    #[inline]
    fn overlap(&mut self, id: u64, size: u64) {
        if self.scan.sizes.has_addresses {
            let overlaps =
                self.addresses.after(id).is_some_and(|next| next.saturating_sub(id) < size);
            self.faults.overlaps += u64::from(overlaps);
        }
    }

    #[inline]
    fn dangling(&self, id: u64) -> bool {
        id != 0 && self.addresses.at(id).is_none()
    }

    #[inline]
    fn object(&mut self, object: &Object<'_>) {
        self.faults.zero_ids += u64::from(object.id() == 0);
        match object {
            Object::Instance(instance) => self.instance(instance),
            Object::ObjectArray(array) => {
                let class = self.classes().of_id(array.class);
                let is_array = class.is_none_or(|class| {
                    let name = self.strings().text(class.name);
                    name.starts_with(b"[") || name.ends_with(b"[]")
                });
                let is_missing = class.is_none();
                self.faults.classless_arrays += u64::from(is_missing);
                self.faults.array_classes += u64::from(!is_array);
                let dangling = self.ids.all(array.elements).filter(|id| self.dangling(*id)).count();
                self.faults.dangling_elements += dangling as u64;
                self.overlap(array.id, self.scan.sizes.rule.object_array(array.count, self.ids));
            }
            Object::PrimitiveArray(array) => {
                self.overlap(array.id, self.scan.sizes.rule.primitive_array(array, self.ids))
            }
        }
    }

    fn instance(&mut self, instance: &Instance<'_>) {
        let index = match self.last {
            Some((class, index)) if class == instance.class => Some(index),
            _ => self.classes().index(instance.class),
        };
        let Some((index, class)) =
            index.and_then(|index| Some((index, self.classes().get(index)?)))
        else {
            self.faults.classless_instances += 1;
            return;
        };
        let (broken, data, size) =
            (class.broken, class.data, class.instance_size(&self.scan.sizes.rule, instance.values));
        self.last = Some((instance.class, index));
        if broken {
            return;
        }
        if data != instance.values.len() as u64 {
            self.faults.instance_lengths += 1;
            return;
        }
        self.overlap(instance.id, size);
        let Scan { classes, strings, .. } = &mut *self.scan;
        let fields = classes.references(index, self.ids, strings, &mut self.names);
        for field in classes.fields(&fields) {
            let id = self.ids.at(instance.values, field.offset);
            self.faults.dangling_fields += u64::from(id != 0 && self.addresses.at(id).is_none());
        }
    }

    fn root(&mut self, root: &Root) {
        let missing = u64::from(root.object == 0 || self.dangling(root.object));
        match (root.tag().kind, self.scan.sizes.rule) {
            // HotSpot writes such a root for each class of the boot loader, but no record for a
            // class that is not linked yet.
            (RootKind::Class, Rule::HotSpot { .. }) => self.unlinked += missing,
            _ => self.faults.rootless += missing,
        }
        let Some(thread) = root.thread() else { return };
        let Some(depth) = self.threads.get(&thread) else {
            self.faults.threadless += 1;
            return;
        };
        self.faults.root_frames += u64::from(root.frame().is_some_and(|frame| frame >= *depth));
    }
}
