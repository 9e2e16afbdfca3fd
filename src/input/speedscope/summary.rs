//! The `info` summary of a profile, and the invariants for `check`.

use super::document::Document;
use super::load::profile;
use crate::error::{Error, Result};
use crate::input::check::Findings;
use crate::input::info::{Info, Metadatum};
use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;
use crate::model::profile::Profile;

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (document, profile, damage) = read(bytes, options)?;
    let mut info = super::SPEC.summary("");
    info.set_damage(damage);
    info.records.add("frame", document.frame_count);
    info.records.add("profile", document.profiles.len() as u64);
    for (key, text) in [("name", document.name), ("exporter", document.exporter)] {
        info.metadata.extend(
            text.map(|text| Metadatum { key: key.to_owned(), value: text.decode().into_owned() }),
        );
    }
    info.profile = Some(profile_info(&profile, Some(profile.mode)));
    Ok(info)
}

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (document, profile, damage) = read(bytes, options)?;
    let mut findings = Findings::default();
    let unresolved = if damage.is_some() { 0 } else { profile.notes.unresolved };
    findings.none("frames.number", unresolved, "numbers of frames that do not exist");
    let profiles = document.profiles.iter();
    let (sampled, evented): (Vec<_>, Vec<_>) =
        profiles.partition(|profile| profile.events.is_none());
    // The last profile may be cut.
    let whole = sampled.len().saturating_sub(damage.is_some().into());
    let uneven =
        sampled.iter().take(whole).filter(|profile| profile.count != profile.weight_count).count();
    findings.none("weights.count", uneven as u64, "profiles without one weight for each sample");
    let sum = |fault: fn(&super::document::OneProfile<'_>) -> u64| {
        evented.iter().fold(0u64, |sum, profile| sum.saturating_add(fault(profile)))
    };
    findings.none("events.at", sum(|profile| profile.backwards), "events before the previous one");
    let unbalanced = if damage.is_some() { 0 } else { sum(|profile| profile.unbalanced) };
    findings.none("events.nested", unbalanced, "frames that do not close in order");
    findings.none("numbers.clamped", profile.notes.clamped, "numbers that do not fit into 64 bits");
    findings.set_damage(damage);
    Ok(findings)
}

fn read<'a>(
    bytes: &'a [u8],
    options: ReadOptions<'_>,
) -> Result<(Document<'a>, Profile, Option<Error>)> {
    let (document, damage) = Document::read(bytes, options)?;
    if document.is_empty() {
        return Err(damage.unwrap_or_else(|| Error::corrupt(0, "no profiles of speedscope")));
    }
    let profile = profile(&document, bytes.len() as u64, options.into())?.finish();
    Ok((document, profile, damage))
}
