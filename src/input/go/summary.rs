//! `info` of a Go heap dump.

use super::draft::Draft;
use super::goroutine::Goroutine;
use super::memstats::Memstats;
use super::object::Object;
use super::params::Params;
use super::phantoms::{HEADER, LARGEST_WITH_HEADER, PhantomCounter, Phantoms, Rule, largest};
use super::records::{Rec, Records};
use super::roots::Segment;
use super::version::Version;
use crate::error::Result;
use crate::input::info::{
    self, GoDetails, GoMemstats, HeapInfo, Info, InfoWarning, NameCount, RecordCounts, SegmentSize,
    SnapshotInfo,
};
use crate::input::read::ReadOptions;
use crate::model::fields::Record;
use rustc_hash::{FxHashMap, FxHashSet};
use std::num::Saturating;

/// The most distinct wait reasons that are counted. Go has about 40; only a damaged dump has more.
const MOST_REASONS: usize = 1024;
const SHOWN_REASONS: usize = 8;

/// Summarizes a dump in one pass.
///
/// `objects` are the object records less phantoms and `shallow_bytes` the sum of their sizes,
/// `types` the distinct types; references and roots need the graph. Fails when the magic is not one
/// of a Go heap dump.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let mut records = Records::new(bytes)?;
    let mut totals = Totals::new(records.version());
    let damage = totals.add_all(&mut records, options).err();
    let mut info = super::SPEC.summary(records.version().name());
    totals.warn_of_the_end(&records, &mut info);
    totals.fill(&mut info, damage.is_none());
    info.set_damage(damage);
    Ok(info)
}

/// The sums of a pass over the records.
#[derive(Default)]
pub(super) struct Totals<'a> {
    version: Version,
    counts: RecordCounts,
    pub(super) object_records: Saturating<u64>,
    pub(super) object_bytes: u64,
    pub(super) params: Option<Params<'a>>,
    pub(super) memstats: Option<Memstats<'a>>,
    phantoms: PhantomCounter,
    types: FxHashSet<u64>,
    details: GoDetails,
    statuses: Vec<NameCount>,
    reasons: FxHashMap<&'a [u8], u64>,
}

/// The totals of the objects without phantoms.
pub(super) struct Heap {
    pub(super) objects: u64,
    pub(super) bytes: u64,
    pub(super) phantoms: Phantoms,
    pub(super) rule: Rule,
    /// Whether comparing with the statistics determined the rule, because the version is unknown or
    /// implies another rule.
    pub(super) by_memstats: bool,
}

impl<'a> Totals<'a> {
    pub(super) fn new(version: Version) -> Self {
        Self { version, phantoms: PhantomCounter::new(8), ..Self::default() }
    }

    /// Adds all records of a file. Fails with the first damage. Records before it have been added.
    fn add_all(&mut self, records: &mut Records<'a>, options: ReadOptions<'_>) -> Result<()> {
        loop {
            records.take_objects(|offset, object| {
                if self.object_records.0.is_multiple_of(65536) {
                    (options.progress)(offset);
                }
                self.object(object);
            })?;
            let Some(record) = records.next() else { return Ok(()) };
            self.other(&record?.1);
        }
    }

    #[inline]
    pub(super) fn object(&mut self, object: &Object<'_>) {
        let size = object.size();
        self.object_records += 1;
        self.object_bytes = self.object_bytes.saturating_add(size);
        self.details.pointer_fields =
            self.details.pointer_fields.saturating_add(object.fields.len());
        self.phantoms.add(object.addr, size, object.fields.len());
        if size > 128 && size <= LARGEST_WITH_HEADER && !object.fields.is_empty() {
            self.large_object(object);
        }
    }

    /// Counts an object that may have a malloc header. An object with a pointer in its first 8
    /// bytes has none: it is one of 32761 to 32768 bytes, which are not allocated by size class.
    fn large_object(&mut self, object: &Object<'_>) {
        let pointer_size = self.params.map_or(8, |params| params.pointer_size);
        let first = object.fields.iter().next().map_or(0, |field| field.offset);
        let has_header = object.size() > largest(pointer_size) && first >= HEADER;
        self.details.malloc_headers = self.details.malloc_headers.saturating_add(has_header.into());
    }

    pub(super) fn other(&mut self, record: &Rec<'a>) {
        self.counts.add(record.name(), 1);
        match record {
            Rec::Params(params) if self.params.is_none() => {
                self.params = Some(*params);
                self.phantoms = PhantomCounter::new(params.pointer_size);
            }
            Rec::Type(record) => drop(self.types.insert(record.addr)),
            Rec::Draft(Draft::Type(record)) => drop(self.types.insert(record.addr)),
            Rec::Draft(Draft::Thread { .. }) => self.details.goroutines.add(false),
            Rec::Goroutine(goroutine) => self.goroutine(goroutine),
            Rec::Memstats(memstats) if self.memstats.is_none() => self.memstats = Some(*memstats),
            Rec::DataSegment(segment) => self.details.segments.data.add(segment),
            Rec::BssSegment(segment) => self.details.segments.bss.add(segment),
            _ => {}
        }
    }

    fn goroutine(&mut self, goroutine: &Goroutine<'a>) {
        self.details.goroutines.add(goroutine.system);
        let status = goroutine.status_name().unwrap_or("unknown");
        match self.statuses.iter_mut().find(|known| known.name == status) {
            Some(known) => known.count = known.count.saturating_add(1),
            None => self.statuses.push(NameCount { name: status.to_owned(), count: 1 }),
        }
        // The text is left over from an earlier wait unless the goroutine waits now.
        let known =
            self.reasons.len() < MOST_REASONS || self.reasons.contains_key(goroutine.waitreason);
        if status == "waiting" && known {
            let count = self.reasons.entry(goroutine.waitreason).or_default();
            *count = count.saturating_add(1);
        }
    }

    pub(super) fn records(&self, name: &str) -> u64 {
        match name {
            "object" => self.object_records.0,
            _ => self.counts.count(name),
        }
    }

    /// Removes phantoms, by the rule of the version. A rule that makes the statistics agree exactly
    /// takes precedence: experiments and forks change the rule, and a dump before about Go 1.17
    /// does not state its version.
    pub(super) fn heap(&mut self) -> Heap {
        let version = self.params.and_then(|params| params.go_version());
        let of_version = version.as_deref().and_then(Rule::of_version);
        let rule = of_version.unwrap_or_default();
        let heap = self.heap_by(rule, false);
        if self.version != Version::Go17 || self.matches(&heap) != Some(false) {
            return heap;
        }
        let others = [Rule::None, Rule::AllocHeaders, Rule::GreenTea];
        let mut others = others
            .into_iter()
            .filter(|other| *other != rule)
            .map(|rule| self.heap_by(rule, true))
            .collect::<Vec<_>>();
        others.retain(|other| self.matches(other) == Some(true));
        others.pop().unwrap_or(heap)
    }

    fn heap_by(&mut self, rule: Rule, by_memstats: bool) -> Heap {
        let phantoms = self.phantoms.finish(rule);
        let objects = self.object_records.0.saturating_sub(phantoms.objects);
        let bytes = self.object_bytes.saturating_sub(phantoms.bytes);
        Heap { objects, bytes, phantoms, rule, by_memstats }
    }

    fn matches(&self, heap: &Heap) -> Option<bool> {
        let memstats = self.memstats?;
        Some(heap.objects == memstats.get("HeapObjects") && heap.bytes == memstats.get("HeapAlloc"))
    }

    fn warn_of_the_end(&self, records: &Records<'_>, info: &mut Info) {
        if let Some(bytes @ 1..) = records.trailing() {
            info.warnings.push(InfoWarning::TrailingBytes(bytes));
        }
        if records.lacks_contpc() {
            info.warnings.push(InfoWarning::DraftFrames);
        }
    }

    fn fill(mut self, info: &mut Info, complete: bool) {
        let heap = self.heap();
        self.warn(&heap, info, complete);
        for name in super::SPEC.record_names.iter().copied().flatten() {
            let count = self.records(name);
            if count > 0 {
                info.records.add(name, count);
            }
        }
        for (key, value) in self.params.iter().flat_map(Params::metadata) {
            info.add_metadata(key, value);
        }
        let types = self.types.len() as u64;
        let details = self.details(&heap);
        info.heap = Some(HeapInfo {
            snapshots: vec![SnapshotInfo {
                index: 0,
                complete,
                objects: Some(heap.objects),
                references: None,
                roots: None,
                types: Some(types),
                shallow_bytes: Some(heap.bytes),
                external_bytes: Some(0),
                time_us: None,
                details: info::FormatDetails::Go(Box::new(details)),
            }],
        });
    }

    fn warn(&self, heap: &Heap, info: &mut Info, complete: bool) {
        let warnings = &mut info.warnings;
        if self.params.is_none() {
            warnings.push(InfoWarning::NoParams);
        }
        if heap.by_memstats {
            warnings.push(InfoWarning::PhantomsByMemstats);
        }
        let Some(memstats) = self.memstats.filter(|_| complete) else { return };
        let found = (heap.objects, heap.bytes);
        let expected = (memstats.get("HeapObjects"), memstats.get("HeapAlloc"));
        if found != expected {
            warnings.push(InfoWarning::MemstatsDiffer { found, expected });
        }
    }

    fn details(self, heap: &Heap) -> GoDetails {
        let count = |name| self.records(name);
        let hex = |address: Option<u64>| address.map(|address| format!("{address:#x}"));
        let matches =
            |name, found| self.memstats.map(|memstats: Memstats<'_>| memstats.get(name) == found);
        let params = self.params;
        let mut details = GoDetails {
            phantom_objects: heap.phantoms.objects,
            phantom_bytes: heap.phantoms.bytes,
            pointer_size: params.map(|params| params.pointer_size),
            big_endian: params.map(|params| params.big_endian),
            arch: params.and_then(|params| params.goarch()),
            go_version: params.and_then(|params| params.go_version()),
            heap_objects_matches: matches("HeapObjects", heap.objects),
            heap_alloc_matches: matches("HeapAlloc", heap.bytes),
            memstats: self.memstats.map(|memstats| GoMemstats(memstats.iter().collect())),
            experiment: params.filter(|params| params.go_version().is_none()).and_then(|params| {
                params.experiment.map(|text| String::from_utf8_lossy(text).into_owned())
            }),
            hchan_size: params.and_then(|params| params.hchan_size),
            heap_start: hex(params.and_then(|params| params.heap_start)),
            heap_end: hex(params.and_then(|params| params.heap_end)),
            ncpu: params.and_then(|params| params.ncpu),
            phantom_rule: heap.rule,
            stack_frames: count("stack_frame"),
            finalizers: count("finalizer"),
            queued_finalizers: count("queued_finalizer"),
            memprof_entries: count("memprof"),
            alloc_samples: count("alloc_sample"),
            pointer_fields: self.details.pointer_fields.saturating_sub(heap.phantoms.fields),
            ..self.details.clone()
        };
        if heap.rule == Rule::None {
            details.malloc_headers = 0;
        }
        details.goroutines.by_status = ranked(self.statuses);
        let reasons = self.reasons.into_iter().map(|(name, count)| NameCount {
            name: String::from_utf8_lossy(name).into_owned(),
            count,
        });
        details.goroutines.wait_reasons = ranked(reasons.collect());
        details.goroutines.wait_reasons.truncate(SHOWN_REASONS);
        details
    }
}

/// Sorts by frequency, most frequent first, then by name, so that the output does not depend on the
/// order of a map.
fn ranked(mut counted: Vec<NameCount>) -> Vec<NameCount> {
    counted.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    counted
}

impl SegmentSize {
    fn add(&mut self, segment: &Segment<'_>) {
        self.bytes = self.bytes.saturating_add(segment.contents.len() as u64);
        self.pointer_fields = self.pointer_fields.saturating_add(segment.fields.len());
    }
}
