//! `info` and `check` of profiles that are sums.

use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::{Info, InfoWarning};
use crate::input::load::LoadedProfile;
use crate::input::profile_info::{profile_info, warn_of_unnamed};
use crate::input::spec::FormatSpec;
use crate::model::fields::Record;

/// Summarizes a loaded profile and counts the records of its file.
///
/// # Errors
/// The damage, if nothing could be read before it.
pub(in crate::input) fn info<R: Record>(
    spec: &FormatSpec,
    version: String,
    loaded: LoadedProfile,
    records: impl Iterator<Item = Result<(u64, R)>>,
) -> Result<Info> {
    let (profile, damage) = loaded.with_samples()?;
    let mut info = spec.summary(version);
    info.set_damage(damage);
    for metadatum in &profile.metadata {
        info.add_metadata(&metadatum.key, metadatum.value.clone());
    }
    for (name, count) in counts(records) {
        info.records.add(name, count);
    }
    let notes = &profile.notes;
    let warnings = [
        (notes.unresolved, InfoWarning::DanglingReferences(notes.unresolved)),
        (notes.replaced, InfoWarning::InvalidNames(notes.replaced)),
    ];
    info.warnings.extend(warnings.into_iter().filter(|(n, _)| *n > 0).map(|(_, warning)| warning));
    let profile = profile_info(&profile, Some(profile.mode));
    if spec.format.has_addresses() {
        info.warnings.extend(warn_of_unnamed(&profile));
    }
    info.profile = Some(profile);
    Ok(info)
}

/// The number of records with each name, before the first damage.
fn counts<R: Record>(records: impl Iterator<Item = Result<(u64, R)>>) -> Vec<(&'static str, u64)> {
    let mut counts: Vec<(&'static str, u64)> = Vec::new();
    for (_, record) in records.map_while(Result::ok) {
        let name = record.name();
        match counts.iter_mut().find(|(known, _)| std::ptr::eq(*known, name)) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => counts.push((name, 1)),
        }
    }
    counts
}

/// Checks what every profile of sums promises.
///
/// # Errors
/// As [`info`].
pub(in crate::input) fn check(loaded: LoadedProfile) -> Result<Findings> {
    let (profile, damage) = loaded.with_samples()?;
    let notes = &profile.notes;
    let mut findings = Findings::default();
    findings.none("references.defined", notes.unresolved, "references to what the file lacks");
    findings.none("frees.matched", notes.strays, "frees of allocations that are not in the file");
    findings.none("names.utf8", notes.replaced, "names that are not UTF-8");
    findings.none("numbers.clamped", notes.clamped, "numbers that do not fit into 64 bits");
    findings.set_damage(damage);
    Ok(findings)
}
