//! `info` of a profile that was loaded.

use super::info::{Hottest, InfoWarning, MetricInfo, ProfileInfo, UnnamedLibrary};
use crate::model::names::NameId;
use crate::model::profile::{
    FrameKind, LabelsId, Metric, Mode, Profile, ProfileThread, Values, display_name,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// The sums of a profile. The mode is shown if the file states it.
pub(super) fn profile_info(profile: &Profile, mode: Option<Mode>) -> ProfileInfo {
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
        time_us: time(profile),
        cpu_time_us: matches!(profile.mode, Mode::Cpu | Mode::Full)
            .then(|| narrow(total.get(&Metric::CPU))),
        memory_bytes: matches!(profile.mode, Mode::Memory | Mode::Full)
            .then(|| total.get(&Metric::MEMORY)),
        gc_samples: if is_standard { total.gc_samples() } else { 0 },
        gc_time_us: if is_standard { narrow(total.gc_time()) } else { 0 },
        interval_us: profile.interval_us(),
        duration_us: profile.duration_us(),
        metrics: metrics(&profile.metrics(), total),
        hottest: hottest(profile),
        unnamed: unnamed(profile),
        details: None,
    }
}

/// Microseconds: the sum of the standard metric, or of the first one with a unit of time.
fn time(profile: &Profile) -> u64 {
    let standard = profile.value_types.is_empty().then_some((Metric::TIME, 1000));
    let of_unit = |metric: Metric| Some((metric.unit().nanoseconds()?, metric));
    let own =
        || profile.metrics().into_iter().find_map(of_unit).map(|(unit, metric)| (metric, unit));
    let Some((metric, unit)) = standard.or_else(own) else { return 0 };
    let number = u128::try_from(profile.total.get(&metric)).unwrap_or(0);
    u64::try_from(number.saturating_mul(unit.into()).wrapping_div(1000)).unwrap_or(u64::MAX)
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
    let mut sorted: Vec<&Metric> = metrics.iter().collect();
    sorted.sort_by_key(|metric| metric.number_in_file);
    sorted.into_iter().map(info).collect()
}

/// The libraries whose functions have no names, with their self values in the metric that tables show.
fn unnamed(profile: &Profile) -> Vec<UnnamedLibrary> {
    let metric = profile.shown_metric();
    let total = metric.whole(&profile.total);
    let mut sums = FxHashMap::<NameId, i64>::default();
    for row in profile.aggregate.iter() {
        let frame = profile.stacks.leaf(row.stack).map(|frame| profile.frame(frame));
        if let Some(frame) = frame.filter(|frame| profile.is_unnamed(*frame)) {
            let sum = sums.entry(frame.file).or_default();
            *sum = sum.saturating_add(row.values.get(&metric));
        }
    }
    let row = |(file, value): (NameId, i64)| UnnamedLibrary {
        library: Some(profile.names.text(file).to_owned()).filter(|file| !file.is_empty()),
        value,
        share: if total == 0 { 0.0 } else { value as f64 / total as f64 },
    };
    let mut rows: Vec<_> = sums.into_iter().filter(|(_, value)| *value > 0).map(row).collect();
    rows.sort_by(|a, b| b.value.cmp(&a.value).then_with(|| a.library.cmp(&b.library)));
    rows
}

/// The warnings about libraries whose functions have no names, for formats that symbols can name.
pub(super) fn warn_of_unnamed(info: &ProfileInfo) -> impl Iterator<Item = InfoWarning> + '_ {
    /// Libraries that are named in warnings, and the share that they have at least.
    const SHOWN: (usize, f64) = (5, 0.001);
    let default = info.metrics.iter().find(|metric| metric.default);
    let metric = default.map_or("samples", |metric| metric.name.as_str());
    let shown = info.unnamed.iter().filter(|row| row.share >= SHOWN.1).take(SHOWN.0);
    shown.map(move |row| InfoWarning::Unnamed {
        library: row.library.clone().unwrap_or_default(),
        share: row.share,
        metric: metric.to_owned(),
    })
}

/// The function with the largest self value in the metric that tables show; ties are broken by name.
fn hottest(profile: &Profile) -> Option<Hottest> {
    let metric = profile.shown_metric();
    let mut own = FxHashMap::<(NameId, NameId), i64>::default();
    for row in profile.aggregate.iter() {
        let Some(frame) = profile.stacks.leaf(row.stack).map(|frame| profile.function_of(frame))
        else {
            continue;
        };
        if matches!(frame.kind, FrameKind::Code | FrameKind::Native) {
            let sum = own.entry((frame.function, frame.file)).or_default();
            *sum = sum.saturating_add(row.values.get(&metric));
        }
    }
    let text = |name| profile.names.text(name);
    let ((function, file), value) = own
        .iter()
        .min_by_key(|((function, file), value)| (Reverse(**value), text(*function), text(*file)))?;
    let total = metric.whole(&profile.total);
    (*value > 0 && total > 0).then(|| Hottest {
        name: display_name(FrameKind::Code, text(*function)).to_owned(),
        namespace: Some(text(*file).to_owned()).filter(|file| !file.is_empty()),
        share: *value as f64 / total as f64,
    })
}
