//! `info` of a profile that was loaded.

use super::info::{Hottest, MetricInfo, ProfileInfo};
use crate::model::names::NameId;
use crate::model::profile::{
    FrameKind, LabelsId, Metric, Mode, Profile, ProfileThread, Values, display_name,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// The sums of a profile. The mode is shown if the file states it.
pub(super) fn profile_info(profile: &Profile, mode: Option<Mode>) -> ProfileInfo {
    let mut own = OwnSums::default();
    own.add(profile);
    profile_info_of(profile, mode, &own)
}

/// As [`profile_info()`], for a profile in parts: the last part, and the self values of functions
/// over all parts.
pub(super) fn profile_info_of(profile: &Profile, mode: Option<Mode>, own: &OwnSums) -> ProfileInfo {
    let total = &profile.total;
    let threads = profile.threads.iter().filter(|thread| !thread.is_unknown());
    let is_standard = profile.value_types.is_empty();
    let narrow = |time: i64| u64::try_from(time).unwrap_or(0);
    ProfileInfo {
        mode: mode.map(|mode| mode.name().to_owned()),
        samples: total.samples(),
        empty_samples: profile.notes.empty_samples,
        invalid_samples: profile.notes.invalid_samples,
        processes: profile
            .threads
            .iter()
            .filter_map(ProfileThread::process)
            .collect::<FxHashSet<_>>()
            .len() as u64,
        threads: threads
            .map(|thread| ProfileThread { labels: LabelsId::default(), ..*thread })
            .collect::<FxHashSet<_>>()
            .len() as u64,
        frames: profile.frames.len() as u64,
        strings: (profile.names.len() as u64).saturating_sub(1),
        time_us: if is_standard { narrow(total.time()) } else { 0 },
        cpu_time_us: matches!(profile.mode, Mode::Cpu | Mode::Full)
            .then(|| narrow(total.get(&Metric::CPU))),
        memory_bytes: matches!(profile.mode, Mode::Memory | Mode::Full)
            .then(|| total.get(&Metric::MEMORY)),
        gc_samples: if is_standard { total.gc_samples() } else { 0 },
        gc_time_us: if is_standard { narrow(total.gc_time()) } else { 0 },
        interval_us: profile.interval_us(),
        duration_us: profile.duration_us(),
        metrics: metrics(&profile.metrics(), total),
        hottest: own.hottest(profile),
    }
}

/// The metrics of a profile, the main one first, with their sums. Value types of a file are in its
/// order.
pub(super) fn metrics(metrics: &[Metric], total: &Values) -> Vec<MetricInfo> {
    let info = |metric: &Metric| MetricInfo {
        name: metric.name().to_owned(),
        unit: metric.unit().name().to_owned(),
        total: total.get(metric),
        default: metrics.first() == Some(metric),
    };
    let mut of: Vec<&Metric> = metrics.iter().collect();
    of.sort_by_key(|metric| metric.number_in_file());
    of.into_iter().map(info).collect()
}

/// The self values of functions, in the default metric.
#[derive(Default)]
pub(super) struct OwnSums(FxHashMap<(NameId, NameId), i64>);

impl OwnSums {
    /// Adds a profile, or a part of it.
    pub(super) fn add(&mut self, profile: &Profile) {
        let metric = profile.default_metric();
        for row in profile.aggregate.iter() {
            let Some(frame) = profile.stacks.leaf(row.stack).map(|frame| profile.frame(frame))
            else {
                continue;
            };
            if matches!(frame.kind, FrameKind::Code | FrameKind::Native) {
                let sum = self.0.entry((frame.function, frame.file)).or_default();
                *sum = sum.saturating_add(row.values.get(&metric));
            }
        }
    }

    /// The function with the largest self value; ties are broken by name.
    fn hottest(&self, profile: &Profile) -> Option<Hottest> {
        let text = |name| profile.names.text(name);
        let ((function, file), value) = self.0.iter().min_by_key(|((function, file), value)| {
            (Reverse(**value), text(*function), text(*file))
        })?;
        let total = profile.total.get(&profile.default_metric());
        (*value > 0 && total > 0).then(|| Hottest {
            name: display_name(FrameKind::Code, text(*function)).to_owned(),
            namespace: Some(text(*file).to_owned()).filter(|file| !file.is_empty()),
            share: *value as f64 / total as f64,
        })
    }
}
