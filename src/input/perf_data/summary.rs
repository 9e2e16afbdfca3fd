//! The `info` summary of a recording, and the invariants for `check`.

use super::file::PerfFile;
use super::load::{Counts, load_counted};
use super::records::name;
use super::walk::walk;
use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::{Info, InfoWarning};
use crate::input::native::summary::{Counted, info_of};
use crate::input::read::ReadOptions;
use std::ops::ControlFlow;

/// Summarizes a recording. Fails when the file is not one of perf.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (loaded, counts) = load_counted(bytes, options.into())?;
    let Counts { lost, not_unwound } = counts;
    let warnings = [
        (lost, InfoWarning::LostSamples as Counted),
        (not_unwound, InfoWarning::StackBytes),
        (loaded.profile.notes.replaced, InfoWarning::InvalidNames),
    ];
    let mut info = info_of(&super::SPEC, "2", &loaded.profile, loaded.damage, &warnings);
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
