//! `info` and `check` of profiles that are sums.

use crate::error::{Error, Result};
use crate::input::check::Findings;
use crate::input::info::{Info, InfoWarning, NativeDetails, ProfileDetails};
use crate::input::load::LoadedProfile;
use crate::input::profile_info::{profile_info, warn_of_unnamed};
use crate::input::spec::FormatSpec;
use crate::model::fields::Record;
use crate::model::profile::Profile;

/// Summarizes a loaded profile and counts the records of its file. Fails with the damage if nothing
/// could be read before it.
pub(in crate::input) fn info<R: Record>(
    spec: &FormatSpec,
    version: String,
    loaded: LoadedProfile,
    records: impl Iterator<Item = Result<(u64, R)>>,
) -> Result<Info> {
    let (profile, damage) = loaded.with_samples()?;
    let unresolved = (profile.notes.unresolved, InfoWarning::DanglingReferences as Counted);
    let replaced = (profile.notes.replaced, InfoWarning::InvalidNames as Counted);
    let mut info = info_of(spec, version, &profile, damage, &[unresolved, replaced]);
    for (_, record) in records.map_while(Result::ok) {
        info.records.add(record.name(), 1);
    }
    Ok(info)
}

/// Returns the warning about this many cases.
pub(in crate::input) type Counted = fn(u64) -> InfoWarning;

/// Summarizes a profile without its records. Warnings without cases are left out.
pub(in crate::input) fn info_of(
    spec: &FormatSpec,
    version: impl Into<String>,
    profile: &Profile,
    damage: Option<Error>,
    warnings: &[(u64, Counted)],
) -> Info {
    let mut info = spec.summary(version);
    info.set_damage(damage);
    for metadatum in &profile.metadata {
        info.add_metadata(&metadatum.key, &metadatum.value);
    }
    let cases = warnings.iter().filter(|(count, _)| *count > 0);
    info.warnings.extend(cases.map(|(count, warning)| warning(*count)));
    let mut summary = profile_info(profile, Some(profile.mode));
    if spec.format.has_addresses() {
        info.warnings.extend(warn_of_unnamed(&summary));
    }
    if spec.format.is_native() {
        let rate = |key| profile.metadatum(key).and_then(|rate| rate.parse().ok());
        let scaled = rate("sampling_bytes");
        info.warnings.extend(scaled.map(InfoWarning::Sampled));
        let rate = scaled.or_else(|| rate("unscaled_sampling_bytes"));
        let details = NativeDetails::of(&summary.unnamed, rate, scaled.is_some());
        summary.details = Some(ProfileDetails::Native(details));
    }
    info.profile = Some(summary);
    info
}

/// Checks what every profile of sums promises.
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
