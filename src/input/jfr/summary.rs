//! The `info` summary of a recording, and the invariants for `check`.

use super::chunk::{CHECKPOINT, METADATA, chunks};
use super::load::load_surveyed;
use super::survey::Survey;
use super::values::{KnownTypes, Tables};
use crate::error::Result;
use crate::input::check::{Findings, faults};
use crate::input::info::{CountsByName, Info, JfrDetails, ProfileDetails};
use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;
use crate::model::profile::Mode;

/// Summarizes a recording. Fails if nothing of a recording can be read.
pub(in crate::input) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (survey, damage) = Survey::read(bytes, options.memory, options.progress)?;
    let (profile, loaded) = load_surveyed(bytes, &survey, true, options.into())?;
    let version = survey.first.map(|header| format!("{}.{}", header.major, header.minor));
    let mut info = super::SPEC.summary(version.unwrap_or_default());
    info.set_damage(damage.or(loaded.damage));
    let events = survey.events().fold(0, |sum: u64, (_, event)| sum.saturating_add(event.count));
    for (name, count) in super::records::RECORD_NAMES.iter().zip([
        survey.chunks,
        survey.metadata,
        survey.checkpoints,
        events,
    ]) {
        info.records.add(name, count);
    }
    let mut of_profile = profile_info(&profile, Some(Mode::Samples));
    let details = loaded.details;
    let count =
        |kind| details.settings.iter().filter(|setting| setting.kind == kind).count() as u64;
    of_profile.details = Some(ProfileDetails::Jfr(Box::new(JfrDetails {
        chunks: survey.chunks,
        events: by_count(&survey),
        least_heap_bytes: survey.heap.iter().map(|(_, used)| *used).min(),
        most_heap_bytes: survey.heap.iter().map(|(_, used)| *used).max(),
        truncated_stacks: loaded.cut,
        metrics: of_profile.metrics.clone(),
        flags: count("flag"),
        system_properties: count("property"),
        ..details
    })));
    info.profile = Some(of_profile);
    Ok(info)
}

/// The numbers of events by type, most first.
fn by_count(survey: &Survey) -> CountsByName {
    let mut counts: Vec<_> =
        survey.events().map(|(name, event)| (name.to_owned(), event.count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    CountsByName(counts)
}

faults! {
    struct Faults {
        types: "event.type" "events of types that the metadata does not describe",
        fields: "event.fields" "events with fewer bytes than their fields need",
        rest: "event.size" "events with more bytes than their fields take",
        metadata: "chunk.metadata" "chunks whose header does not lead to their metadata",
    }
}

/// Checks a recording.
pub(in crate::input) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (_, mut damage) = Survey::read(bytes, options.memory, options.progress)?;
    let mut known = KnownTypes::default();
    let mut faults = Faults::default();
    let mut values = Vec::new();
    for chunk in chunks(bytes).map_while(Result::ok) {
        let Ok((tables, found)) = Tables::read(chunk, &mut known) else { continue };
        options.memory.check_bytes(chunk.offset, tables.bytes())?;
        damage = damage.or(found);
        let place = chunk.offset.saturating_add(chunk.header.metadata);
        let mut is_found = chunk.is_unfinished;
        for event in chunk.events() {
            is_found |= event.type_id == METADATA && event.offset == place;
            if matches!(event.type_id, METADATA | CHECKPOINT) {
                continue;
            }
            let Some(class) = tables.types.find(event.type_id) else {
                faults.types += 1;
                continue;
            };
            let mut fields = event.fields;
            match tables.values(class, &mut fields, &mut values) {
                Ok(()) => faults.rest += u64::from(!fields.is_empty()),
                Err(_) => faults.fields += 1,
            }
        }
        faults.metadata += u64::from(!is_found);
    }
    let mut findings = Findings::default();
    faults.report(&mut findings);
    findings.set_damage(damage);
    Ok(findings)
}
