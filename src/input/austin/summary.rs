//! `info` and `check` of Austin's text.

use super::load::load;
use crate::error::{Error, Result};
use crate::input::check::Findings;
use crate::input::info::{Info, InfoWarning};
use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;
use crate::model::profile::Profile;

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (profile, damage) = read(bytes, options)?;
    let version = profile.metadatum("austin").unwrap_or("").to_owned();
    let mut info = super::SPEC.summary(version);
    info.set_damage(damage);
    for datum in &profile.metadata {
        info.add_metadata(&datum.key, &datum.value);
    }
    info.records.add_all([
        ("metadata", profile.metadata.len() as u64),
        ("sample", profile.total.samples()),
    ]);
    info.warnings.extend(profile.metadatum("errors").and_then(InfoWarning::invalid_samples));
    let mode = profile.metadatum("mode").map(|_| profile.mode);
    info.profile = Some(profile_info(&profile, mode));
    Ok(info)
}

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (profile, damage) = read(bytes, options)?;
    let mut findings = Findings::default();
    findings.none(
        "samples.without_metric",
        profile.notes.without_metric,
        "samples without a metric",
    );
    findings.none("names.utf8", profile.notes.replaced, "names that are not UTF-8");
    findings.none("time.negative", u64::from(profile.total.time() < 0), "sums of times below zero");
    // The totals are at the end of the file: in a damaged file they are missing or incomplete.
    if damage.is_none() {
        if let Some(count) = profile.metadatum("count").and_then(|count| count.trim().parse().ok())
        {
            findings.equal("metadata.count", count, profile.total.samples(), "samples");
        }
        if let Some(time) = profile.metadatum("gc").and_then(|gc| gc.trim().parse().ok()) {
            // A dialect that leaves out GC frames has nothing to add up.
            let actual = u64::try_from(profile.total.gc_time()).unwrap_or(0);
            if profile.total.gc_samples() > 0 {
                findings.equal("metadata.gc", time, actual, "microseconds of garbage collection");
            }
        }
    }
    findings.set_damage(damage);
    Ok(findings)
}

/// The sums of a profile. A file whose first line is damaged is an error.
fn read(bytes: &[u8], options: ReadOptions<'_>) -> Result<(Profile, Option<Error>)> {
    let loaded = load(bytes, options.into())?;
    match loaded.damage {
        Some(error)
            if loaded.profile.total.samples() == 0 && loaded.profile.metadata.is_empty() =>
        {
            Err(error)
        }
        damage => Ok((loaded.profile, damage)),
    }
}
