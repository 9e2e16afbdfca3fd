//! The `info` summary of a perf script, and the invariants for `check`.

use super::lines::{PerfLine, PerfLines};
use super::load::load;
use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::{Info, InfoWarning};
use crate::input::native::summary::{Counted, info_of};
use crate::input::read::ReadOptions;

/// Summarizes a profile. Fails when the first line with text is not a sample.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (profile, damage) = load(bytes, options.into())?.with_samples()?;
    let (frames, skipped) = count(bytes);
    let skipped = (skipped, InfoWarning::SkippedLines as Counted);
    let mut info = info_of(&super::SPEC, "", &profile, damage, &[skipped]);
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
