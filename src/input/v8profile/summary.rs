//! The `info` summary of a profile, and the invariants for `check`.

use super::document::Document;
use super::load::profile;
use crate::error::{Error, Result};
use crate::input::check::Findings;
use crate::input::info::{Info, InfoWarning};
use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;
use crate::input::spec::FormatSpec;
use crate::model::names::NameId;
use crate::model::profile::{Mode, Profile};
use crate::names::{ShortNames, looks_short};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn info(spec: &FormatSpec, bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (document, damage) = read(bytes, options)?;
    let profile = profile(&document, options.into())?.finish();
    let mut info = spec.summary("");
    info.set_damage(damage);
    for (key, value) in [("startTime", document.start), ("endTime", document.end)] {
        info.metadata.extend(value.map(|value| crate::input::info::Metadatum {
            key: key.to_owned(),
            value: value.to_string(),
        }));
    }
    info.records.add("node", document.nodes.all.len() as u64);
    if let Some(first) =
        document.deltas.as_ref().and_then(|deltas| deltas.first()).filter(|first| **first > 0)
    {
        info.warnings.push(InfoWarning::TimeBeforeSamples(*first));
    }
    info.warnings.extend(short_names(&profile));
    let mode = if profile.value_types.is_empty() { profile.mode } else { Mode::Samples };
    let mut of_profile = profile_info(&profile, Some(mode));
    of_profile.duration_us = document.duration().and_then(|duration| u64::try_from(duration).ok());
    info.profile = Some(of_profile);
    Ok(info)
}

/// A warning if most functions look minified in the script that has the most functions.
fn short_names(profile: &Profile) -> Option<InfoWarning> {
    let functions: BTreeSet<(NameId, NameId)> =
        profile.frames.iter().map(|frame| (frame.file, frame.function)).collect();
    let text = |name| profile.names.text(name);
    let scripts = functions.iter().filter(|(file, _)| {
        let file = text(*file);
        !file.is_empty() && !file.starts_with("node:")
    });
    let mut by_script: BTreeMap<NameId, ShortNames> = BTreeMap::new();
    scripts
        .for_each(|(file, name)| by_script.entry(*file).or_default().add(looks_short(text(*name))));
    let (file, names) = by_script.into_iter().max_by_key(|(_, names)| names.all)?;
    names.are_most().then(|| InfoWarning::of_script("functions", text(file), names))
}

pub(super) fn check_cpu(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (document, damage) = read(bytes, options)?;
    let mut findings = Findings::default();
    common(&document, &mut findings);
    let by_id = document.nodes.by_id();
    let samples = document.samples.as_deref().unwrap_or_default();
    let unknown = samples.iter().filter(|id| !by_id.contains_key(id)).count();
    findings.none("samples.node", unknown as u64, "samples of nodes that do not exist");
    if let (Some(deltas), None) = (&document.deltas, &damage) {
        findings.equal(
            "timeDeltas.count",
            samples.len() as u64,
            deltas.len() as u64,
            "times of samples",
        );
        let sum = deltas.iter().fold(0i64, |sum, delta| sum.saturating_add(*delta));
        let length = document.duration().unwrap_or(i64::MAX);
        findings.none(
            "timeDeltas.sum",
            u64::from(sum > length),
            "times that add up to more than the recording",
        );
    }
    findings.set_damage(damage);
    Ok(findings)
}

pub(super) fn check_heap(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (document, damage) = read(bytes, options)?;
    let mut findings = Findings::default();
    common(&document, &mut findings);
    findings.set_damage(damage);
    Ok(findings)
}

fn common(document: &Document<'_>, findings: &mut Findings) {
    let again = document.nodes.all.len().saturating_sub(document.nodes.by_id().len());
    findings.none("nodes.id", again as u64, "nodes with the id of another one");
}

fn read<'a>(bytes: &'a [u8], options: ReadOptions<'_>) -> Result<(Document<'a>, Option<Error>)> {
    let (document, damage) = Document::read(bytes, options.memory)?;
    match (document.is_empty(), damage) {
        (true, damage) => Err(damage.unwrap_or_else(|| Error::corrupt(0, "no nodes of a profile"))),
        (false, damage) => Ok((document, damage)),
    }
}
