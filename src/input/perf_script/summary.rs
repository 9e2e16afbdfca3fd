//! The `info` summary of a perf script, and the invariants for `check`.

use super::lines::{PerfLine, PerfLines};
use super::load::{header, load};
use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::{Info, InfoWarning};
use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;

/// Summarizes a profile.
///
/// # Errors
/// When the first line with text is not a sample.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (profile, damage) = load(bytes, options.into())?.with_samples()?;
    let lines = Lines::count(bytes);
    let mut info = super::SPEC.summary("");
    info.set_damage(damage);
    for (key, value) in header(bytes) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        info.add_metadata(text(key), text(value));
    }
    info.records.add("sample", profile.total.samples());
    info.records.add("frame", lines.frames);
    if lines.skipped > 0 {
        info.warnings.push(InfoWarning::SkippedLines(lines.skipped));
    }
    info.profile = Some(profile_info(&profile, Some(profile.mode)));
    Ok(info)
}

/// Checks a profile.
///
/// # Errors
/// As [`info()`].
pub fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (profile, damage) = load(bytes, options.into())?.with_samples()?;
    let mut findings = Findings::default();
    let skipped = Lines::count(bytes).skipped;
    findings.none("lines.frames", skipped, "indented lines that are not frames");
    findings.none("names.utf8", profile.notes.replaced, "names that are not UTF-8");
    findings.none("numbers.clamped", profile.notes.clamped, "numbers that do not fit into 64 bits");
    findings.set_damage(damage);
    Ok(findings)
}

struct Lines {
    frames: u64,
    skipped: u64,
}

impl Lines {
    fn count(bytes: &[u8]) -> Self {
        let (mut lines, mut frames) = (PerfLines::new(bytes), 0u64);
        while let Some(Ok((_, line))) = lines.next() {
            frames = frames.saturating_add(u64::from(matches!(line, PerfLine::Frame(_))));
        }
        Self { frames, skipped: lines.skipped }
    }
}
