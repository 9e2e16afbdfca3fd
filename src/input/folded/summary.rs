//! The `info` summary of folded stacks, and the invariants for `check`.

use super::load::load;
use crate::error::{Error, Result};
use crate::input::check::Findings;
use crate::input::info::Info;

use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;
use crate::model::profile::Profile;

/// Summarizes a profile.
///
/// # Errors
/// When there is no line of the format at all.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (profile, damage) = read(bytes, options)?;
    let mut info = super::SPEC.summary("");
    info.set_damage(damage);
    info.records.add("stack", profile.total.samples());
    info.profile = Some(profile_info(&profile, Some(profile.mode)));
    Ok(info)
}

/// Checks a profile.
///
/// # Errors
/// As [`info()`].
pub fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (profile, damage) = read(bytes, options)?;
    let mut findings = Findings::default();
    findings.none("names.utf8", profile.notes.replaced, "names that are not UTF-8");
    findings.none("numbers.clamped", profile.notes.clamped, "numbers that do not fit into 64 bits");
    findings.set_damage(damage);
    Ok(findings)
}

/// A profile. A file whose first line is damaged is an error.
fn read(bytes: &[u8], options: ReadOptions<'_>) -> Result<(Profile, Option<Error>)> {
    let loaded = load(bytes, options.into())?;
    match loaded.damage {
        Some(error) if loaded.profile.total.samples() == 0 => Err(error),
        damage => Ok((loaded.profile, damage)),
    }
}
