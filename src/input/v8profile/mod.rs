//! V8's CPU profiles (`.cpuprofile`) and sampling heap profiles (`.heapprofile`), as Node, Chrome
//! and Deno write them. `trace` reads the traces of Chrome, which have CPU profiles in pieces.
//!
//! ```text
//! .cpuprofile   {"nodes":[{"id","callFrame":{"functionName","url","lineNumber"},"hitCount","children":[id, …],
//!                         "positionTicks":[{"line","ticks"}, …]}, …],
//!                "startTime":µs,"endTime":µs,"samples":[node id, …],"timeDeltas":[µs, …]}
//! .heapprofile  {"head":{"callFrame":{…},"selfSize":bytes,"id","children":[{…}, …]},"samples":[…]}
//! ```
//!
//! Keys come in any order. Line numbers are 0-based. CPU profiles before Chrome 58 nest nodes below
//! `head` as well.
//!
//! Sources: Chrome DevTools protocol (`Profiler.Profile`, `HeapProfiler.SamplingHeapProfile`) and
//! DevTools' `CPUProfileDataModel`; files of Node 12 and 24.

mod document;
mod lines;
mod load;
mod nodes;
mod summary;
mod trace;

pub use document::for_each_record;
pub use load::load;
pub(super) use trace::{Events, SPEC as TRACE, source_texts as trace_source_texts};

use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};

pub(super) static CPU: FormatSpec = FormatSpec {
    format: Format::Cpuprofile,
    name: "cpuprofile",
    title: "V8 CPU profile",
    versions: "Node 12 and later, Chrome, Deno; nested nodes before Chrome 58",
    extensions: &["cpuprofile"],
    detection: Detection::Contents(|bytes| {
        document::looks_right(bytes) == Some(Format::Cpuprofile)
    }),
    origin: Origin::Runtime("V8"),
    record_names: &[document::RECORD_NAMES],
    info: |bytes, options| summary::info(&CPU, bytes, options),
    check: summary::check_cpu,
    readers: Readers::Profile(ProfileReader { load, has_order: true }),
};

pub(super) static HEAP: FormatSpec = FormatSpec {
    format: Format::Heapprofile,
    name: "heapprofile",
    title: "V8 sampling heap profile",
    versions: "Node 12 and later, Chrome, Deno",
    extensions: &["heapprofile"],
    detection: Detection::Contents(|bytes| {
        document::looks_right(bytes) == Some(Format::Heapprofile)
    }),
    origin: Origin::Runtime("V8"),
    record_names: &[document::RECORD_NAMES],
    info: |bytes, options| summary::info(&HEAP, bytes, options),
    check: summary::check_heap,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};
