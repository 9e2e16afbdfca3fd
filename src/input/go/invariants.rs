//! `check` of a Go heap dump: the invariants that the format promises.
//!
//! Every rule held for all records of dumps of Go 1.19, 1.22 and 1.27. Some properties do **not**
//! hold and are not checked: pointers of a frame may lie beyond its contents (among the parent's
//! arguments) and are not sorted, objects are not sorted by address, finalizer and panic types are
//! seldom among the type records, words that look like pointers may point nowhere.

use super::draft::Draft;
use super::object::{Object, Typed};
use super::records::{Rec, Records};
use super::summary::Totals;
use super::version::Version;
use crate::error::Result;
use crate::input::check::{Findings, faults};
use crate::input::read::ReadOptions;
use rustc_hash::{FxHashMap, FxHashSet};
use std::num::Saturating;

/// Checks the invariants in one pass. Fails when the magic is not that of a Go heap dump.
pub fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let mut records = Records::new(bytes)?;
    let version = records.version();
    let mut checker = Checker { version, totals: Totals::new(version), ..Checker::default() };
    let damage = checker.add_all(&mut records, options).err();
    let mut findings = Findings::default();
    checker.report_order(&mut findings);
    checker.report_heap(&mut findings, damage.is_none());
    checker.stacks.report(&mut findings, checker.version);
    if damage.is_none() {
        // The missing part of a damaged file may contain the targets, so links are not checked
        // there.
        checker.report_links(&mut findings);
        checker.report_memstats(&mut findings);
        let trailing = records.trailing().unwrap_or_default();
        findings.none("eof.last", trailing, "bytes after the eof record");
    }
    findings.set_damage(damage);
    Ok(findings)
}

/// The results of a pass over the records. The sets grow with the types and the allocation profile,
/// not with the objects.
#[derive(Default)]
struct Checker<'a> {
    version: Version,
    totals: Totals<'a>,
    first_is_params: Option<bool>,
    last_object: Option<(u64, u64)>,
    heap: HeapFaults,
    types: FxHashMap<u64, (u64, &'a [u8])>,
    used_types: FxHashSet<u64>,
    itab_types: FxHashSet<u64>,
    goroutine: Option<CurrentGoroutine>,
    stacks: StackFaults,
    profiles: FxHashSet<u64>,
    sampled_profiles: FxHashSet<u64>,
    links: LinkFaults,
}

/// The goroutine that the following frames, defers and panics belong to.
struct CurrentGoroutine {
    addr: u64,
    sp: u64,
    /// The expected depth of the next frame; `child_sp` is the `sp` of the last one.
    depth: u64,
    child_sp: u64,
}

faults! {
    /// Faults of objects, types and segments.
    struct HeapFaults(version: Version) {
        overlapping: "objects.overlap" "objects that overlap the preceding object",
        outside_heap: "objects.in_heap" "objects outside of the range of the heap",
        unknown_kinds: "objects.kind" "objects of an unknown kind" if version <= Version::Go13,
        fields_of_types: "types.fields" "fields beyond the size of their type" if version <= Version::Go13,
        fields_of_objects: "objects.fields" "fields beyond the contents of their object" if version > Version::Go13,
        fields_of_segments: "segments.fields" "fields beyond the contents of their segment" if version >= Version::Go13,
        reserved_fields: "fields.kind" "fields of a kind that is not written since Go 1.5" if version >= Version::Go15,
    }
}

faults! {
    /// Faults of goroutines and their stacks.
    struct StackFaults(version: Version) {
        unknown_status: "goroutines.status" "goroutines with an unknown status" if version > Version::Draft13,
        without_goroutine: "goroutines.order" "frames, defers and panics before the first goroutine" if version > Version::Draft13,
        wrong_owner: "goroutines.owner" "defers and panics of a goroutine other than the preceding one" if version > Version::Draft13,
        wrong_top: "frames.top" "innermost frames that are not at their goroutine's stack pointer" if version > Version::Draft13,
        broken_depth: "frames.depth" "frames whose depth does not follow that of the preceding frame" if version > Version::Draft13,
        broken_child: "frames.child" "frames whose child is not the preceding frame" if version > Version::Draft13,
    }
}

faults! {
    /// Faults of references between records, and of finalizers.
    struct LinkFaults(version: Version) {
        changed_types: "types.same" "type records that differ from an earlier one at the same address",
        types_of_objects: "objects.type" "types of objects that have no type record" if version <= Version::Go13,
        types_of_itabs: "itabs.type" "types of itabs that have no type record" if version > Version::Go13,
        repeated_profiles: "memprof.unique" "profile entries with the id of another entry" if version > Version::Draft13,
        unknown_profiles: "alloc_samples.profile" "profile ids of samples that have no entry" if version > Version::Draft13,
        samples: "alloc_samples.in_heap" "samples outside of the range of the heap" if version > Version::Draft13,
        finalizers: "finalizers.in_heap" "finalizers of objects outside of the range of the heap" if version > Version::Draft13,
    }
}

impl<'a> Checker<'a> {
    fn add_all(&mut self, records: &mut Records<'a>, options: ReadOptions<'_>) -> Result<()> {
        loop {
            records.take_objects(|offset, object| {
                if self.totals.object_records.0.is_multiple_of(65536) {
                    (options.progress)(offset);
                }
                self.first_is_params.get_or_insert(false);
                self.totals.object(object);
                self.object(object);
            })?;
            let Some(record) = records.next() else { return Ok(()) };
            let (_, record) = record?;
            self.first_is_params.get_or_insert(matches!(record, Rec::Params(_)));
            self.totals.other(&record);
            self.other(&record);
        }
    }

    fn pointer_size(&self) -> u64 {
        self.totals.params.map_or(8, |params| params.pointer_size)
    }

    /// Whether a range of addresses is in the heap. `true` if the range of the heap is unknown.
    fn in_heap(&self, addr: u64, end: u64) -> bool {
        let Some(params) = self.totals.params else { return true };
        params.heap_start.is_none_or(|start| addr >= start)
            && params.heap_end.is_none_or(|limit| end <= limit)
    }

    fn object(&mut self, object: &Object<'a>) {
        let (addr, end) = (object.addr, object.end());
        self.heap.outside_heap += u64::from(!self.in_heap(addr, end));
        // The file has the objects of a span one after the other, so comparing neighbours finds
        // overlaps inside a span. The order of spans is arbitrary.
        if let Some((last_addr, last_end)) = self.last_object.replace((addr, end)) {
            self.heap.overlapping += u64::from(addr < last_end && last_addr < end);
        }
        self.heap.fields_of_objects += object.fields.beyond(object.size(), self.pointer_size());
        self.heap.reserved_fields += object.fields.reserved();
        let Some(Typed { type_addr, kind }) = object.typed else { return };
        let known = matches!(kind, 0..=2) || kind == 127 && self.version == Version::Go13;
        self.heap.unknown_kinds += u64::from(!known);
        if type_addr != 0 {
            self.used_types.insert(type_addr);
        }
    }

    fn other(&mut self, record: &Rec<'a>) {
        match record {
            Rec::Type(record) => {
                self.type_at(record.addr, record.size, record.name);
                self.heap.fields_of_types += record.fields.beyond(record.size, self.pointer_size());
            }
            Rec::Draft(Draft::Type(record)) => {
                self.type_at(record.addr, record.size, record.name);
                let end = |offset: u64| offset.saturating_add(self.pointer_size());
                self.heap.fields_of_types +=
                    record.pointers.iter().filter(|&offset| end(offset) > record.size).count()
                        as u64;
            }
            Rec::Itab(itab) => self.itab_types.extend(itab.type_addr()),
            Rec::DataSegment(segment) | Rec::BssSegment(segment) => {
                let length = segment.contents.len() as u64;
                self.heap.fields_of_segments += segment.fields.beyond(length, self.pointer_size());
                self.heap.reserved_fields += segment.fields.reserved();
            }
            Rec::Goroutine(goroutine) => {
                self.stacks.unknown_status += u64::from(goroutine.status_name().is_none());
                self.goroutine = Some(CurrentGoroutine {
                    addr: goroutine.addr,
                    sp: goroutine.sp,
                    depth: 0,
                    child_sp: 0,
                });
            }
            Rec::StackFrame(frame) => {
                self.heap.reserved_fields += frame.fields.reserved();
                self.frame(frame.sp, frame.depth, frame.child_sp);
            }
            Rec::Defer(record) => self.owned(record.g),
            Rec::Panic(record) => self.owned(record.g),
            Rec::Finalizer(record) | Rec::QueuedFinalizer(record) => {
                self.links.finalizers += u64::from(!self.in_heap(record.object, record.object));
            }
            Rec::Memprof(record) => {
                self.links.repeated_profiles += u64::from(!self.profiles.insert(record.id))
            }
            Rec::AllocSample(record) => {
                self.sampled_profiles.insert(record.profile);
                self.links.samples += u64::from(!self.in_heap(record.addr, record.addr));
            }
            _ => {}
        }
    }

    fn type_at(&mut self, addr: u64, size: u64, name: &'a [u8]) {
        let first = *self.types.entry(addr).or_insert((size, name));
        self.links.changed_types += u64::from(first != (size, name));
    }

    fn frame(&mut self, sp: u64, depth: u64, child_sp: u64) {
        let Some(goroutine) = &mut self.goroutine else {
            self.stacks.without_goroutine += 1;
            return;
        };
        self.stacks.broken_depth += u64::from(depth != goroutine.depth);
        self.stacks.broken_child += u64::from(child_sp != goroutine.child_sp);
        self.stacks.wrong_top += u64::from(goroutine.depth == 0 && sp != goroutine.sp);
        goroutine.depth = depth.saturating_add(1);
        goroutine.child_sp = sp;
    }

    fn owned(&mut self, g: u64) {
        match &self.goroutine {
            Some(goroutine) => self.stacks.wrong_owner += u64::from(goroutine.addr != g),
            None => self.stacks.without_goroutine += 1,
        }
    }

    fn report_order(&self, findings: &mut Findings) {
        findings.push(
            "params.first",
            // In the draft, records may have any order.
            self.version == Version::Draft13 || self.first_is_params == Some(true),
            1,
            u64::from(self.first_is_params == Some(true)),
            "the first record is the params record".to_owned(),
        );
        for name in ["params", "memstats", "data_segment", "bss_segment"] {
            let records = self.totals.records(name);
            findings.at_most(format!("{name}.once"), 1, records, &format!("{name} records"));
        }
    }

    fn report_heap(&mut self, findings: &mut Findings, complete: bool) {
        self.heap.report(findings, self.version);
        let Some(memstats) = self.totals.memstats.filter(|_| complete) else { return };
        // During a sweep, the statistics still count dead objects, which the writer skips. The file
        // never has more objects than the statistics count.
        let heap = self.totals.heap();
        for (rule, name, found, what) in [
            ("memstats.heap_objects", "HeapObjects", heap.objects, "objects against HeapObjects"),
            ("memstats.heap_alloc", "HeapAlloc", heap.bytes, "bytes in objects against HeapAlloc"),
        ] {
            findings.at_most(rule, memstats.get(name), found, what);
        }
    }

    fn report_links(&mut self, findings: &mut Findings) {
        let missing = |used: &FxHashSet<u64>| {
            Saturating(used.iter().filter(|addr| !self.types.contains_key(addr)).count() as u64)
        };
        self.links.types_of_objects = missing(&self.used_types);
        self.links.types_of_itabs = missing(&self.itab_types);
        self.links.unknown_profiles.0 =
            self.sampled_profiles.difference(&self.profiles).count() as u64;
        self.links.report(findings, self.version);
        if self.version == Version::Draft13 {
            return;
        }
        for name in ["memstats", "data_segment", "bss_segment"] {
            let records = self.totals.records(name).min(1);
            findings.equal(format!("{name}.present"), 1, records, &format!("{name} records"));
        }
    }

    fn report_memstats(&self, findings: &mut Findings) {
        let Some(memstats) = self.totals.memstats else { return };
        let (heap_alloc, alloc) = (memstats.get("HeapAlloc"), memstats.get("Alloc"));
        findings.equal("memstats.alloc", heap_alloc, alloc, "Alloc against HeapAlloc");
    }
}
