//! `info` for Go dumps only.

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
    /// Sum of their sizes.
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
    /// Objects that the allocation profile knows.
    pub alloc_samples: u64,
}

/// Names with numbers, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoMemstats(pub Vec<(&'static str, u64)>);

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

/// The contents of the end of a span, which are not objects.
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

/// A number of objects or bytes by how their types were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TypeSourceCounts {
    /// Objects with a known type: the sum of the next four fields.
    pub named: u64,
    /// Size and pointers are those of the type.
    pub exact: u64,
    /// Arrays of the type.
    pub array: u64,
    /// The type agrees with the beginning.
    pub partial: u64,
    /// Objects to which no typed reference leads, but which only this type fits.
    pub guess: u64,
    /// The type is not known.
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
