//! The `info` summary of folded stacks, and the invariants for `check`.

use super::load::load;
use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::Info;
use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (profile, damage) = load(bytes, options.into())?.with_samples()?;
    let mut info = super::SPEC.summary("");
    info.set_damage(damage);
    info.records.add("stack", profile.total.samples());
    info.profile = Some(profile_info(&profile, Some(profile.mode)));
    Ok(info)
}

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (profile, damage) = load(bytes, options.into())?.with_samples()?;
    let mut findings = Findings::default();
    findings.none("names.utf8", profile.notes.replaced, "names that are not UTF-8");
    findings.none("numbers.clamped", profile.notes.clamped, "numbers that do not fit into 64 bits");
    findings.set_damage(damage);
    Ok(findings)
}
