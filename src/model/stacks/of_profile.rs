//! A profile as weighted stacks.

use super::{Moment, Track, WeightedStacks, WeightedStacksBuilder};
use crate::model::profile::{
    LabelsId, Metric, Profile, ProfileThread, Samples, TimedEvent, Values,
};
use rustc_hash::FxHashMap;

/// Selects metrics and threads of a profile.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The metrics of each entry. Empty means the metrics of the profile's mode.
    pub metrics: Vec<Metric>,
    /// Keep only threads of this process.
    pub pid: Option<i128>,
    /// Keep only samples with all of these labels: keys, and values as
    /// [`Profile::label_value`] returns them. The unit of a number may be omitted.
    pub labels: Vec<(String, String)>,
    /// The key of the labels by which samples are grouped. `None` if they are not grouped.
    pub tag: Option<String>,
    /// Keep samples with different labels apart, where the output has labels.
    pub keep_labels: bool,
    /// Keep only threads with this name, or this id in decimal or as stated in the file.
    pub thread: Option<String>,
    /// Keep one entry for each sample, in the order of time, if the profile has samples.
    pub in_order: bool,
}

impl Selection {
    /// Returns `true` if the thread is selected.
    pub fn has(&self, profile: &Profile, thread: &ProfileThread) -> bool {
        self.pid.is_none_or(|pid| pid == thread.pid)
            && self.thread.as_deref().is_none_or(|wanted| thread.is_called(wanted, &profile.names))
            && self.labels.iter().all(|(key, value)| {
                let mut labels = profile.labels_of(thread).iter();
                labels.any(|label| {
                    profile.names.text(label.key) == key
                        && label.value.is_called(value, &profile.names)
                }) || profile.label_value(thread, key) == *value
            })
    }

    /// The metric to use if none is named: the main one. Events of one kind have no numbers for the
    /// metrics of others ([`Profile::has_separate_values`]). In such profiles, it is the first
    /// metric for which the selected samples have a number and a value for [`Selection::tag`].
    pub fn usual_metric(&self, profile: &Profile) -> Metric {
        let is_selected = |thread: &ProfileThread| {
            let has_tag = |key: &String| {
                let mut labels = profile.labels_of(thread).iter();
                key == Profile::THREAD_KEY
                    || labels.any(|label| profile.names.text(label.key) == key)
            };
            self.has(profile, thread) && self.tag.as_ref().is_none_or(has_tag)
        };
        let usual = profile.default_metric();
        let has_usual = profile.total.get(&usual) != 0;
        let is_whole = self.labels.is_empty() && self.tag.is_none() && has_usual;
        if !profile.has_separate_values || is_whole {
            return usual;
        }
        let selected: Vec<bool> = profile.threads.iter().map(is_selected).collect();
        let has = |metric: &Metric| {
            let mut rows = profile.aggregate.iter();
            rows.any(|row| selected[row.thread.index()] && row.values.get(metric) != 0)
        };
        profile.metrics().into_iter().find(has).unwrap_or(usual)
    }
}

/// Converts a profile to weighted stacks, without copying its names, frames and stacks.
pub fn of_profile(mut profile: Profile, title: &str, selection: &Selection) -> WeightedStacks {
    let metrics =
        if selection.metrics.is_empty() { profile.metrics() } else { selection.metrics.clone() };
    let Tracks { tracks, of_threads, merged } = Tracks::of(&profile, selection);
    let stacks = WeightedStacks {
        title: title.to_owned(),
        values: metrics.iter().map(|metric| metric.of.clone()).collect(),
        tracks,
        main: metrics.iter().position(|metric| *metric == profile.default_metric()).unwrap_or(0),
        interval_us: profile.interval_us(),
        duration_us: profile.duration_us(),
        names: std::mem::take(&mut profile.names),
        frames: std::mem::take(&mut profile.frames),
        stacks: std::mem::take(&mut profile.stacks),
        code: profile.code.take(),
        metadata: profile.metadata.clone(),
        ..WeightedStacks::default()
    };
    let builder = WeightedStacksBuilder::with(stacks);
    let values = vec![0; metrics.len()];
    let mut entries = Entries { profile: &profile, metrics, of_threads, values, builder };
    match &profile.samples {
        Some(samples) if selection.in_order => entries.add_samples(samples),
        _ if selection.in_order && !profile.events.is_empty() => entries.add_events(),
        _ => entries.add_sums(),
    }
    if merged {
        entries.builder.merge_entries();
    }
    entries.builder.finish()
}

struct Tracks {
    tracks: Vec<Track>,
    /// The number of each thread's track.
    of_threads: Vec<Option<usize>>,
    /// Whether several threads share a track because all data that is kept is the same.
    merged: bool,
}

impl Tracks {
    fn of(profile: &Profile, selection: &Selection) -> Self {
        let mut tracks = Vec::new();
        let mut of_threads = vec![None; profile.threads.len()];
        let mut known = FxHashMap::<ProfileThread, usize>::default();
        let mut merged = false;
        let threads = profile.threads.iter().zip(&mut of_threads);
        for (thread, of_thread) in threads.filter(|(thread, _)| selection.has(profile, thread)) {
            let labels = if selection.keep_labels { thread.labels } else { LabelsId::default() };
            let track = *known.entry(ProfileThread { labels, ..*thread }).or_insert_with(|| {
                let is_known = !thread.is_unknown();
                let shown = if selection.keep_labels { profile.labels_of(thread) } else { &[] };
                tracks.push(Track {
                    name: thread.label(&profile.names),
                    pid: thread.process(),
                    thread: is_known.then(|| thread.id(&profile.names).to_owned()),
                    interpreter: thread.interpreter,
                    labels: shown.to_vec(),
                });
                tracks.len() - 1
            });
            merged |= track + 1 < tracks.len();
            *of_thread = Some(track);
        }
        Self { tracks, of_threads, merged }
    }
}

/// Adds the entries of a profile to a builder that has its names, frames and stacks.
struct Entries<'p> {
    profile: &'p Profile,
    metrics: Vec<Metric>,
    /// The number of each thread's track; `None` for threads that are not selected.
    of_threads: Vec<Option<usize>>,
    /// The values of an entry, by metric.
    values: Vec<i64>,
    builder: WeightedStacksBuilder,
}

impl Entries<'_> {
    fn read(&mut self, sums: &Values) {
        let values = self.values.iter_mut().zip(&self.metrics);
        values.for_each(|(value, metric)| *value = sums.get(metric));
    }

    /// Adds samples. In each thread, samples follow each other without gaps.
    fn add_samples(&mut self, samples: &Samples) {
        let mut clocks = vec![0i64; self.of_threads.len()];
        for sample in samples.iter() {
            let Some(track) = self.of_threads[sample.thread.index()] else { continue };
            let length = sample.time.unwrap_or(0).max(0);
            let start = clocks[sample.thread.index()];
            clocks[sample.thread.index()] = start.saturating_add(length);
            let memory = sample.memory.unwrap_or(0);
            let moment = Moment { start, length, idle: sample.idle, gc: sample.gc, memory };
            self.read(&Values::of_sample(&sample));
            self.builder.add_at(track, sample.stack, &self.values, moment);
        }
    }

    fn add_events(&mut self) {
        let profile = self.profile;
        for sample in profile.events.chunk_by(|one, other| profile.is_one_sample(one, other)) {
            let [event, ..] = sample else { continue };
            let place = |event: &TimedEvent| {
                let is_its = |metric: &Metric| metric.number_in_file == Some(event.metric);
                self.metrics.iter().position(is_its)
            };
            let wanted = sample.iter().any(|event| place(event).is_some());
            let track = self.of_threads[event.thread.index()].filter(|_| wanted);
            let Some(track) = track else { continue };
            self.values.fill(0);
            for event in sample {
                let value = place(event).and_then(|place| self.values.get_mut(place));
                value.into_iter().for_each(|value| *value = value.saturating_add(event.value));
            }
            let (start, length) = (event.start, event.length.into());
            let moment = Moment { start, length, idle: false, gc: false, memory: 0 };
            self.builder.add_at(track, event.stack, &self.values, moment);
        }
    }

    fn add_sums(&mut self) {
        for row in self.profile.aggregate.iter() {
            let Some(track) = self.of_threads[row.thread.index()] else { continue };
            self.read(&row.values);
            let is_zero = self.values.iter().all(|value| *value == 0);
            if !(self.profile.has_separate_values && is_zero) {
                self.builder.add(track, row.stack, &self.values);
            }
        }
    }
}
