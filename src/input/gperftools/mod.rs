//! Profiles of gperftools (tcmalloc) and of jemalloc: heaps as text, and CPU profiles in words.
//!
//! ```text
//! jemalloc    heap_v2/RATE                              RATE bytes between samples; 1 is all
//!               t*: OBJECTS: BYTES [OBJECTS: BYTES]     the total; live, and [allocated in all]
//!               t0: …                                   the same for a thread
//!             @ 0x7f… 0x55…                             a stack from the innermost; its own lines t follow
//! gperftools  heap profile: OBJECTS: BYTES [OBJECTS: BYTES] @ heapprofile, heap_v2/RATE or growth
//!             OBJECTS: BYTES [OBJECTS: BYTES] @ 0x7f… 0x55…
//! both        MAPPED_LIBRARIES:                         then /proc/self/maps
//! symbolized  --- symbol, binary=PATH, 0xADDRESS OUTER--INLINED, ---, --- heap before the profile
//! CPU         words of 4 or 8 bytes in either order: 0, 3, 0, µs, 0; COUNT, DEPTH, addresses …; 0, 1, 0; then maps
//! ```
//!
//! Sources: `heap-profile-stats.h` and `profiledata.cc` of gperftools; `prof_data.c` of jemalloc;
//! `jeprof`, and `legacy_profile.go` of pprof. Seen in files of jemalloc 5.3 and gperftools 2.10.

mod cpu;
mod lines;
mod load;

pub(super) use cpu::CpuRecords;
pub(super) use lines::HeapTextLines;

use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::Info;
use crate::input::native::summary;
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use load::load;

pub(super) static JEMALLOC: FormatSpec = FormatSpec {
    format: Format::Jemalloc,
    name: "jemalloc",
    title: "jemalloc heap profile",
    versions: "heap_v2, symbolized or not",
    extensions: &["heap"],
    detection: Detection::MagicsOrContents(&[b"heap_v2/"], |bytes| {
        lines::is_symbolized(bytes, b"heap_v2/")
    }),
    origin: Origin::Several,
    record_names: &[lines::HeapTextLine::NAMES],
    info: |bytes, options| info(&JEMALLOC, bytes, options),
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};

pub(super) static HEAP: FormatSpec = FormatSpec {
    format: Format::Gperftools,
    name: "gperftools",
    title: "gperftools heap profile",
    versions: "heapprofile, heap_v2 and growth, symbolized or not; old text of Go",
    extensions: &["heap"],
    detection: Detection::MagicsOrContents(&[b"heap profile:"], |bytes| {
        lines::is_symbolized(bytes, b"heap profile:")
    }),
    origin: Origin::Several,
    record_names: &[lines::HeapTextLine::NAMES],
    info: |bytes, options| info(&HEAP, bytes, options),
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};

pub(super) static CPU: FormatSpec = FormatSpec {
    format: Format::GperftoolsCpu,
    name: "gperftools-cpu",
    title: "gperftools CPU profile",
    versions: "words of 4 or 8 bytes, either order",
    extensions: &["prof"],
    detection: Detection::Contents(|bytes| cpu::Words::detect(bytes).is_some()),
    origin: Origin::Several,
    record_names: &[cpu::CpuRecord::NAMES],
    info: |bytes, options| {
        let loaded = cpu::load(bytes, options.into())?;
        summary::info(&CPU, String::new(), loaded, CpuRecords::new(bytes))
    },
    check: |bytes, options| summary::check(cpu::load(bytes, options.into())?),
    readers: Readers::Profile(ProfileReader { load: cpu::load, has_order: false }),
};

fn info(spec: &FormatSpec, bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let loaded = load(bytes, options.into())?;
    summary::info(spec, String::new(), loaded, HeapTextLines::new(bytes))
}

fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let mut findings = summary::check(load(bytes, options.into())?)?;
    let (stated, found) = lines::totals(bytes);
    if let Some(stated) = stated.filter(|_| findings.damage.is_none()) {
        let number = |number: i64| u64::try_from(number).unwrap_or(0);
        for (rule, stated, found, message) in [
            ("totals.objects", stated.objects, found.objects, "live objects of all stacks"),
            ("totals.bytes", stated.bytes, found.bytes, "live bytes of all stacks"),
        ] {
            findings.equal(rule, number(stated), number(found), message);
        }
    }
    Ok(findings)
}
