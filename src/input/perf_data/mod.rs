//! `perf.data`: the recordings of Linux' perf and of Android's simpleperf.
//!
//! ```text
//! magic     "PERFILE2" u64 size of the header: 104, or 16 where the file was written to a pipe
//! sections  u64 size of an attribute; offset and size of attributes, data, event types; 256 feature bits
//! attribute perf_event_attr; offset and size of the ids of its events
//! record    u32 type  u16 misc  u16 size  body
//! features  after the data: offset and size for each feature bit that is set
//! ```
//!
//! Records are in the order of each processor's buffer. Those about processes (COMM, FORK, MMAP) are
//! sorted by time first; samples are sorted when they are loaded. A big-endian machine
//! writes all numbers its way, the magic too (`2ELIFREP`). COMPRESSED records hold others as one
//! zstd stream. In a file that was written to a pipe, attributes and features are records.
//!
//! Sources: Linux 6.18 `tools/perf/Documentation/perf.data-file-format.txt`, `include/uapi/linux/perf_event.h`,
//! `tools/perf/util/header.c`, `session.c`, `machine.c`; simpleperf's `record_file_format.h`;
//! recordings of perf 6.1 with what `perf script` prints of them.

mod attributes;
mod features;
mod file;
mod frames;
mod load;
mod processes;
mod records;
mod sample;
mod walk;
mod words;

use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::{Info, InfoWarning};
use crate::input::native::summary::{Counted, info_of};
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use file::PerfFile;
use load::{Counts, load_counted};
use records::name;
use std::ops::ControlFlow;
use walk::walk;

pub use load::load;
pub use records::for_each_record;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::PerfData,
    name: "perf-data",
    title: "perf recording",
    versions: "PERFILE2",
    extensions: &["data"],
    detection: Detection::MagicsOrContents(&[b"PERFILE2"], |bytes| bytes.starts_with(b"2ELIFREP")),
    origin: Origin::Several,
    record_names: &[records::NAMES],
    info,
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};

/// Summarizes a recording. Fails when the file is not one of perf.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (loaded, counts) = load_counted(bytes, options.into())?;
    let Counts { lost, not_unwound } = counts;
    let warnings = [
        (lost, InfoWarning::LostSamples as Counted),
        (not_unwound, InfoWarning::StackBytes),
        (loaded.profile.notes.replaced, InfoWarning::InvalidNames),
    ];
    let mut info = info_of(&SPEC, "2", &loaded.profile, loaded.damage, &warnings);
    let file = PerfFile::read(bytes)?;
    // Damage among the records is known already.
    _ = walk(file.data, &mut |record| {
        info.records.add(name(record.kind), 1);
        Ok(ControlFlow::Continue(()))
    });
    Ok(info)
}

/// Checks a recording.
pub fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (loaded, counts) = load_counted(bytes, options.into())?;
    let mut findings = Findings::default();
    findings.none("records.lost", counts.lost, "samples that perf lost");
    let notes = &loaded.profile.notes;
    findings.none("names.utf8", notes.replaced, "names that are not UTF-8");
    findings.none("numbers.clamped", notes.clamped, "numbers that do not fit into 64 bits");
    findings.set_damage(loaded.damage);
    Ok(findings)
}
