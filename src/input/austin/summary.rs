//! What `info` says of Austin's text.

use super::load::load;
use crate::error::{Error, Result};
use crate::input::info::{Hottest, Info, ProfileInfo};
use crate::input::load::ProfileOptions;
use crate::input::{Format, Options};
use crate::model::names::NameId;
use crate::model::profile::{FrameKind, Metric, Mode, Profile};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// Summarizes a profile.
///
/// # Errors
/// When there is no line of the format at all.
pub fn info(bytes: &[u8], options: Options<'_>) -> Result<Info> {
    let (profile, damage) = read(bytes, options)?;
    let version = profile.metadatum("austin").unwrap_or("").to_owned();
    let mut info = Info::new(Format::Austin, version);
    info.set_damage(damage);
    for datum in &profile.metadata {
        info.add_metadata(&datum.key, &datum.value);
    }
    for (name, count) in [("metadata", profile.metadata.len() as u64), ("sample", profile.total.samples)] {
        if count > 0 {
            info.records.add(name, count);
        }
    }
    if let Some((bad, total)) = profile.metadatum("errors").and_then(|errors| errors.split_once('/')).filter(|(bad, _)| *bad != "0")
    {
        info.warnings.push(format!("Austin could not unwind {bad} of {total} samples properly"));
    }
    info.profile = Some(profile_info(&profile));
    Ok(info)
}

/// The sums of a profile. A file whose first line is damaged is an error.
pub(super) fn read(bytes: &[u8], options: Options<'_>) -> Result<(Profile, Option<Error>)> {
    let loaded = load(bytes, ProfileOptions { keep_samples: false, progress: options.progress })?;
    match loaded.damage {
        Some(error) if loaded.profile.total.samples == 0 && loaded.profile.metadata.is_empty() => Err(error),
        damage => Ok((loaded.profile, damage)),
    }
}

fn profile_info(profile: &Profile) -> ProfileInfo {
    let total = &profile.total;
    let has_mode = profile.metadatum("mode").is_some();
    let narrow = |time: i64| u64::try_from(time).unwrap_or(0);
    ProfileInfo {
        mode: has_mode.then(|| profile.mode.name().to_owned()),
        samples: total.samples,
        empty_samples: profile.notes.empty_samples,
        invalid_samples: profile.notes.invalid_samples,
        processes: profile.threads.iter().map(|thread| thread.pid).collect::<FxHashSet<_>>().len() as u64,
        threads: profile.threads.len() as u64,
        frames: profile.frames.len() as u64,
        strings: (profile.names.len() as u64).saturating_sub(1),
        time_us: narrow(total.time),
        cpu_time_us: matches!(profile.mode, Mode::Cpu | Mode::Full).then(|| narrow(total.get(Metric::Cpu))),
        memory_bytes: matches!(profile.mode, Mode::Memory | Mode::Full).then(|| total.get(Metric::Memory)),
        gc_samples: total.gc_samples,
        gc_time_us: narrow(total.gc_time),
        interval_us: profile.interval_us(),
        duration_us: profile.duration_us(),
        hottest: hottest(profile),
    }
}

/// The function with the largest value of its own; the name decides between equals.
fn hottest(profile: &Profile) -> Option<Hottest> {
    let metric = profile.default_metric();
    let mut own = FxHashMap::<(NameId, NameId), i64>::default();
    for row in &profile.aggregate {
        let Some(frame) = profile.stacks.leaf(row.stack).map(|frame| profile.frame(frame)) else { continue };
        if matches!(frame.kind, FrameKind::Code | FrameKind::Native) {
            let sum = own.entry((frame.function, frame.file)).or_default();
            *sum = sum.saturating_add(row.values.get(metric));
        }
    }
    let text = |name| profile.names.text(name);
    let ((function, file), value) =
        own.iter().min_by_key(|((function, file), value)| (Reverse(**value), text(*function), text(*file)))?;
    let total = profile.total.get(metric);
    (*value > 0).then(|| Hottest {
        name: text(*function).to_owned(),
        namespace: text(*file).to_owned(),
        share: *value as f64 / total.max(1) as f64,
    })
}
