//! The text of `perf script`: samples of Linux' perf with their stacks.
//!
//! ```text
//! python3 4242/4243 [001] 1167.211351:    5025125 cpu-clock:
//!         ffffffff8158ff22 filemap_get_entry+0x92 ([kernel.kallsyms])
//!                   f786a __GI___fstatat64+0xa (/usr/lib/x86_64-linux-gnu/libc.so.6)
//! ```
//!
//! A sample is a line with the command, the thread, the time and the event, and one line for each
//! frame, innermost first. A blank line usually ends it. Processor, process, time and period are
//! there or not, as `perf script -F` asks for them. Samples without stacks have their only frame in
//! the line of the sample.
//!
//! Sources: `tools/perf/builtin-script.c` and `util/evsel_fprintf.c` of Linux; stackcollapse-perf.pl
//! and inferno; recordings of perf 6.1.

mod lines;
mod load;
mod parse;

use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::{Info, InfoWarning};
use crate::input::native::summary::{Counted, info_of};
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};

pub use lines::{PerfLine, PerfLines};
pub use load::load;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::PerfScript,
    name: "perf-script",
    title: "perf script text",
    versions: "samples with time or event",
    extensions: &["perf", "stacks"],
    detection: Detection::Contents(lines::looks_right),
    origin: Origin::Several,
    record_names: &[lines::PerfLine::NAMES],
    info,
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};

/// Summarizes a profile. Fails when the first line with text is not a sample.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (profile, damage) = load(bytes, options.into())?.with_samples()?;
    let (frames, skipped) = count(bytes);
    let skipped = (skipped, InfoWarning::SkippedLines as Counted);
    let mut info = info_of(&SPEC, "", &profile, damage, &[skipped]);
    info.records.add("sample", profile.total.samples());
    info.records.add("frame", frames);
    Ok(info)
}

/// Checks a profile.
pub fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (profile, damage) = load(bytes, options.into())?.with_samples()?;
    let mut findings = Findings::default();
    let (_, skipped) = count(bytes);
    findings.none("lines.frames", skipped, "indented lines that are not frames");
    findings.none("names.utf8", profile.notes.replaced, "names that are not UTF-8");
    findings.none("numbers.clamped", profile.notes.clamped, "numbers that do not fit into 64 bits");
    findings.set_damage(damage);
    Ok(findings)
}

/// The number of frames, and of indented lines that are not frames.
fn count(bytes: &[u8]) -> (u64, u64) {
    let mut lines = PerfLines::new(bytes);
    let read = lines.by_ref().map_while(Result::ok);
    let frames = read.filter(|(_, line)| matches!(line, PerfLine::Frame(_))).count();
    (frames as u64, lines.skipped)
}
