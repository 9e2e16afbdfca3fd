//! `info` for Go dumps only.

use super::SnapshotInfo;
use super::facts::{Amount, Phrase, Summary, list, phrase};
use crate::model::heap::TypeSource;
use serde::{Serialize, Serializer};

/// Details that only Go dumps have. Null where the dump does not state them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GoDetails {
    /// Live objects by the source of their type, if the executable that wrote the dump was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types_from_exe: Option<TypesFromExecutable>,
    /// Object records that are not objects: see [`PhantomRule`]. They are left out of all totals.
    pub phantom_objects: u64,
    /// Sum of the sizes of phantom objects.
    pub phantom_bytes: u64,
    /// Size of a pointer in bytes: 4 or 8.
    pub pointer_size: Option<u64>,
    /// The byte order of the target.
    pub big_endian: Option<bool>,
    /// The architecture (GOARCH).
    pub arch: Option<String>,
    /// The version that built the program, with its experiments.
    pub go_version: Option<String>,
    /// Whether the number of objects is `HeapObjects`.
    pub heap_objects_matches: Option<bool>,
    /// Whether the sum of sizes is `HeapAlloc`.
    pub heap_alloc_matches: Option<bool>,
    /// The statistics of the allocator under Go's own names, without the ring of pauses.
    pub memstats: Option<GoMemstats>,

    /// GOEXPERIMENT, in dumps that have that instead of a version.
    pub experiment: Option<String>,
    /// Bytes before the elements of a channel (1.3).
    pub hchan_size: Option<u64>,
    /// First address of the heap, in hexadecimal.
    pub heap_start: Option<String>,
    /// First address after the heap. There may be holes.
    pub heap_end: Option<String>,
    /// Processors that the program could use.
    pub ncpu: Option<u64>,
    /// The rule by which phantoms were left out.
    pub phantom_rule: PhantomRule,
    /// Fields of objects that hold pointers (1.4 and later; in older versions types contain them).
    pub pointer_fields: u64,
    /// Objects that begin with the address of their type (Go 1.22 and later).
    pub malloc_headers: u64,
    /// Goroutines by state.
    pub goroutines: Goroutines,
    /// Frames of all goroutines.
    pub stack_frames: u64,
    /// The segments of global variables.
    pub segments: Segments,
    /// Registered finalizers.
    pub finalizers: u64,
    /// Finalizers that are about to run.
    pub queued_finalizers: u64,
    /// Places in the allocation profile.
    pub memprof_entries: u64,
    /// Objects in the allocation profile.
    pub alloc_samples: u64,
}

impl GoDetails {
    pub(super) fn summarize(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        let runtime = [self.go_version.as_deref(), self.arch.as_deref()];
        let runtime = runtime.into_iter().flatten().collect::<Vec<_>>().join(" ");
        if !runtime.is_empty() {
            to.head(runtime);
        }
        if let (Some(pointer_size), Some(big_endian)) = (self.pointer_size, self.big_endian) {
            let order = if big_endian { "big-endian" } else { "little-endian" };
            to.head(format!("{}-bit {order}", pointer_size.saturating_mul(8)));
        }
        self.summarize_objects(snapshot, to);
        self.summarize_roots(to);
        let headers = match self.malloc_headers {
            0 => Phrase::new(),
            headers => {
                phrase![Amount::Counted(headers, "object", "objects"), " with a type address"]
            }
        };
        to.fact("types", Amount::Count(snapshot.types.unwrap_or(0)), headers);
        if let Some(program) = &self.types_from_exe {
            program.summarize(to);
        }
        if let Some(memstats) = &self.memstats {
            memstats.summarize(to);
        }
    }

    fn summarize_objects(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        let identity = match (self.heap_objects_matches, self.heap_alloc_matches) {
            (Some(true), Some(true)) => "  = the runtime's HeapObjects and HeapAlloc",
            (Some(_), Some(_)) => "  differs from the runtime's HeapObjects and HeapAlloc",
            _ => "",
        };
        let bytes = Amount::Bytes(snapshot.shallow_bytes.unwrap_or(0));
        to.fact("objects", Amount::Count(snapshot.objects.unwrap_or(0)), phrase![bytes, identity]);
        if self.phantom_objects > 0 {
            let why = phrase![
                "phantom records, ",
                Amount::Bytes(self.phantom_bytes),
                " (bug in the heap dump writer of Go 1.22 and later)",
            ];
            to.fact("dropped", Amount::Count(self.phantom_objects), why);
        }
    }

    fn summarize_roots(&self, to: &mut Summary) {
        let frames = Amount::Counted(self.stack_frames, "frame", "frames");
        // Goroutines that leak may take more memory outside the heap than on it.
        let frames = match self.memstats.as_ref().map_or(0, |memstats| memstats.of("StackInuse")) {
            0 => phrase![frames],
            stacks => phrase![frames, " on ", Amount::Bytes(stacks), " of stacks"],
        };
        let reasons = self.goroutines.wait_reasons.iter().take(3);
        let reasons =
            reasons.map(|reason| phrase![Amount::Count(reason.count), format!(" {}", reason.name)]);
        let doing = list([frames].into_iter().chain(reasons));
        to.fact("goroutines", Amount::Count(self.goroutines.count), doing);
        let Segments { data, bss } = &self.segments;
        let bytes = data.bytes.saturating_add(bss.bytes);
        if bytes > 0 {
            let fields = data.pointer_fields.saturating_add(bss.pointer_fields);
            let parts = phrase![
                "data ",
                Amount::Bytes(data.bytes),
                ", bss ",
                Amount::Bytes(bss.bytes),
                ", ",
                Amount::Counted(fields, "pointer field", "pointer fields"),
            ];
            to.fact("globals", Amount::Bytes(bytes), parts);
        }
        if self.finalizers.saturating_add(self.queued_finalizers) > 0 {
            let queued = phrase![Amount::Count(self.queued_finalizers), " queued"];
            to.fact("finalizers", Amount::Count(self.finalizers), queued);
        }
    }
}

/// Names with numbers, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoMemstats(pub Vec<(&'static str, u64)>);

impl GoMemstats {
    /// A statistic by its name in `runtime.MemStats`. 0 if the file ends before it.
    fn of(&self, name: &str) -> u64 {
        self.0.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value)
    }

    fn summarize(&self, to: &mut Summary) {
        let of = |name| self.of(name);
        // GOGC=off sets the goal so high that it is never reached.
        let next = match of("NextGC") {
            goal if goal >= 1 << 60 => phrase!["GC off"],
            goal => phrase!["next GC at ", Amount::Bytes(goal)],
        };
        let system = phrase!["in use of ", Amount::Bytes(of("HeapSys")), " from the system"];
        let collections = phrase![Amount::Counted(of("NumGC"), "collection", "collections")];
        to.fact("heap", Amount::Bytes(of("HeapInuse")), list([system, next, collections]));
    }
}

impl Serialize for GoMemstats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// Goroutines by state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Goroutines {
    /// Number of all goroutines. The draft calls them threads.
    pub count: u64,
    /// Number of system goroutines.
    pub system: u64,
    /// Number of goroutines with each status.
    pub by_status: Vec<NameCount>,
    /// The most frequent wait reasons of waiting goroutines.
    pub wait_reasons: Vec<NameCount>,
}

impl Goroutines {
    pub(in crate::input) fn add(&mut self, system: bool) {
        self.count = self.count.saturating_add(1);
        self.system = self.system.saturating_add(system.into());
    }
}

/// A name and how often it occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NameCount {
    /// The name.
    pub name: String,
    /// Number of occurrences.
    pub count: u64,
}

/// The segments of global variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Segments {
    /// The data segment: initialized variables.
    pub data: SegmentSize,
    /// Variables that were zero at the start.
    pub bss: SegmentSize,
}

/// The size of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SegmentSize {
    /// Size of the segment in bytes.
    pub bytes: u64,
    /// Fields that hold pointers.
    pub pointer_fields: u64,
}

/// The contents of the end of a span, which Go dumps although they are not objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PhantomRule {
    /// No phantom objects: before Go 1.22.
    #[default]
    None,
    /// The bitmap of pointers: Go 1.22 to 1.25.
    AllocHeaders,
    /// The bitmap of pointers and the mark bits: from Go 1.26 on.
    GreenTea,
}

/// Types of live objects that an executable names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TypesFromExecutable {
    /// The version of Go that built the program.
    pub go_version: String,
    /// Facts that agree between the executable and the dump, such as `118 stack frames`.
    #[serde(rename = "match")]
    pub checks: Vec<String>,
    /// Functions in the table of functions (pclntab).
    pub functions: u64,
    /// The source of the module data: its `section`, its `symbol` or a `scan`.
    pub module_data: &'static str,
    /// Type descriptors.
    pub descriptors: u64,
    /// Whether the executable has DWARF.
    pub dwarf: bool,
    /// Number of live objects by the source of their type.
    pub objects: TypeSourceCounts,
    /// Bytes of live objects by the source of their type.
    pub bytes: TypeSourceCounts,
    /// Objects that two unrelated types explain equally well.
    pub conflicts: u64,
    /// Types that an object's pointers contradict.
    pub rejected: u64,
    /// Values of less than 16 bytes without pointers, which share objects: their number by type.
    pub tiny_values: std::collections::BTreeMap<String, u64>,
}

impl TypesFromExecutable {
    fn summarize(&self, to: &mut Summary) {
        let named = |counts: &TypeSourceCounts| {
            let all = counts.named.saturating_add(counts.unnamed).max(1);
            Amount::Share(counts.named as f64 / all as f64)
        };
        let kinds = [
            (self.objects.exact, " exact"),
            (self.objects.array, " arrays"),
            (self.objects.partial, " in part"),
            (self.objects.guess, " guessed"),
        ];
        let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
        let kinds = list(kinds.map(|(count, what)| phrase![Amount::Count(count), what]));
        let mut what = phrase!["of live objects, ", named(&self.bytes), " of bytes named"];
        if !kinds.is_empty() {
            what.push(" (".into());
            what.extend(kinds);
            what.push(")".into());
        }
        to.fact("named", named(&self.objects), what);
        let parts = [
            phrase![Amount::Counted(self.functions, "function", "functions")],
            phrase![Amount::Counted(self.descriptors, "type descriptor", "type descriptors")],
            phrase![format!("module data by {}", self.module_data)],
            phrase![if self.dwarf { "DWARF" } else { "no DWARF" }],
        ];
        to.remark("executable", list(parts));
        to.remark("", phrase![format!("agrees in {}", self.checks.join(", "))]);
        if self.conflicts.saturating_add(self.rejected) > 0 {
            let doubts = phrase![
                Amount::Counted(self.conflicts, "contradictory type", "contradictory types"),
                ", ",
                Amount::Count(self.rejected),
                " rejected",
            ];
            to.remark("", doubts);
        }
    }
}

/// A number of objects or bytes by how their types were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TypeSourceCounts {
    /// Objects with a known type: the sum of the next four fields.
    pub named: u64,
    /// Objects whose size and pointers are those of the type.
    pub exact: u64,
    /// Arrays of the type.
    pub array: u64,
    /// Objects of which only the beginning agrees with the type.
    pub partial: u64,
    /// Objects to which no typed reference leads, but which only this type fits.
    pub guess: u64,
    /// Objects without a known type.
    pub unnamed: u64,
}

impl TypeSourceCounts {
    /// Adds objects or bytes.
    pub fn add(&mut self, source: TypeSource, amount: u64) {
        let place = match source {
            TypeSource::Exact => &mut self.exact,
            TypeSource::Array => &mut self.array,
            TypeSource::Partial => &mut self.partial,
            TypeSource::Guess => &mut self.guess,
            TypeSource::None => &mut self.unnamed,
        };
        *place = place.saturating_add(amount);
        if source != TypeSource::None {
            self.named = self.named.saturating_add(amount);
        }
    }
}
