//! Profiles: as samples, as a table, or as stacks with sums.

use super::{Conversion, Converted, ConvertedCounts, TableSource};
use crate::input::Kind;
use crate::input::load::LoadedProfile;
use crate::model::profile::{Metric, Profile, ProfileNotes, ProfileThread};
use crate::model::stacks::{Selection, of_profile};
use crate::output::OutputFormat;
use crate::output::loss::{Loss, LossKind};
use crate::output::written::Written;
use crate::output::{austin, callgrind, hprof, mojo};
use crate::tables::Table;
use std::io::{self, Write};

impl Conversion<'_> {
    /// Whether the profile must be loaded with its samples.
    pub fn keeps_samples(&self) -> bool {
        use OutputFormat::{Austin, Csv, Firefox, Jsonl, Mojo, Parquet, Speedscope};
        match self.target {
            Mojo | Austin => true,
            Parquet | Jsonl | Csv
                if self.options.table.is_some_and(|table| table != Table::Samples) =>
            {
                false
            }
            Speedscope | Firefox | Parquet | Jsonl | Csv => !self.options.aggregate,
            _ => false,
        }
    }

    /// Whether the profile must be loaded with the addresses of its frames.
    pub fn keeps_code(&self) -> bool {
        self.target == OutputFormat::Pprof
    }

    /// Writes a profile.
    ///
    /// # Errors
    /// If the output cannot be written, the profile does not have the requested metric, or the
    /// format needs samples and the profile has none.
    pub fn profile(&self, loaded: LoadedProfile, out: &mut impl Write) -> io::Result<Converted> {
        let is_exact =
            self.target == OutputFormat::Callgrind || self.options.table == Some(Table::Functions);
        if loaded.profile.calls.is_some() && !is_exact {
            let message = "a call graph has no stacks; `estimate_stacks` makes a profile that has";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        if self.writes_table(Kind::Profile) {
            let table = self.options.table.unwrap_or(Table::Samples);
            return TableSource::of_profile(self, loaded, &[table])?.convert(table, out);
        }
        let LoadedProfile { mut profile, .. } = loaded;
        let metric = self.metric(&profile)?;
        let selection = Selection {
            metrics: self.metrics(metric.as_ref(), &profile),
            in_order: self.keeps_samples() && profile.has_times(),
            keep_labels: self.target == OutputFormat::Pprof,
            ..self.options.selection.clone()
        };
        let has_one = match self.target {
            OutputFormat::Firefox => profile.has_separate_values,
            OutputFormat::Folded | OutputFormat::Svg => metric.is_none(),
            _ => false,
        };
        let other_metrics = if has_one { profile.value_types.len().saturating_sub(1) } else { 0 };
        if let Some(key) = &selection.tag {
            profile.root_stacks_by_label(key, |thread| self.names_thread(thread));
        }
        let notes = profile.notes;
        let freed = self.freed(&profile, &selection);
        let mut written = self.write_profile(profile, metric, &selection, out)?;
        for (what, count) in lost_in_model(self.target, &notes) {
            written.lose(what, count);
        }
        written.lose(LossKind::OtherValues, other_metrics as u64);
        let mut lost = std::mem::take(&mut written.lost);
        lost.extend(freed);
        Ok(Converted { written: ConvertedCounts::Stacks(written), lost })
    }

    pub(super) fn metric(&self, profile: &Profile) -> io::Result<Option<Metric>> {
        let Some(name) = &self.options.metric else { return Ok(None) };
        let error = || {
            io::Error::new(io::ErrorKind::InvalidInput, format!("the profile has no metric {name}"))
        };
        profile.metric(name).ok_or_else(error).map(Some)
    }

    /// The requested metric, otherwise all, or the main one for targets with a single metric.
    /// Widths of frames cannot be negative, so flame graphs show memory that was gained instead of
    /// the net change.
    fn metrics(&self, requested: Option<&Metric>, profile: &Profile) -> Vec<Metric> {
        match (requested, self.target) {
            (Some(metric), target) if *metric == Metric::MEMORY && !has_negative(target) => {
                vec![Metric::MEMORY_GAINED]
            }
            (Some(metric), _) => vec![metric.clone()],
            (None, OutputFormat::Folded | OutputFormat::Svg) => {
                vec![self.options.selection.usual_metric(profile)]
            }
            // Events of other kinds do not count as samples of the main metric.
            (None, OutputFormat::Firefox) if profile.has_separate_values => {
                vec![self.options.selection.usual_metric(profile)]
            }
            (None, OutputFormat::Pprof) => profile.metrics_in_order(),
            (None, _) => profile.metrics(),
        }
    }

    fn write_profile(
        &self,
        profile: Profile,
        metric: Option<Metric>,
        selection: &Selection,
        out: &mut impl Write,
    ) -> io::Result<Written> {
        let wanted = |thread: usize| selection.has(&profile, &profile.threads[thread]);
        match self.target {
            OutputFormat::Mojo => mojo::write(&profile, &wanted, self.options.merge, out),
            OutputFormat::Austin => {
                austin::write_profile(&profile, &wanted, self.options.dialect, out)
            }
            OutputFormat::Hprof => hprof::write_profile(&profile, &wanted, metric, out),
            OutputFormat::Callgrind if profile.calls.is_some() => {
                let wanted: Vec<bool> = (0..profile.threads.len()).map(wanted).collect();
                let mut profile = profile;
                let mut calls = profile.calls.take().unwrap_or_default();
                calls.retain_threads(|thread| wanted[thread.index()]);
                let stacks = of_profile(profile, self.file.title(), selection);
                callgrind::write(&stacks, Some((&calls, &selection.metrics)), out)
            }
            _ => self.stacks(&of_profile(profile, self.file.title(), selection), out),
        }
    }

    /// Whether the output shows the name of a thread beside its stacks.
    fn names_thread(&self, thread: &ProfileThread) -> bool {
        match self.target {
            OutputFormat::Folded | OutputFormat::Speedscope | OutputFormat::Firefox => true,
            OutputFormat::Svg => !self.options.picture.inverted && thread.process().is_some(),
            _ => false,
        }
    }

    /// The loss of freed memory, if the output contains only gained memory.
    fn freed(&self, profile: &Profile, selection: &Selection) -> Option<Loss> {
        use OutputFormat::{Austin, Hprof, Mojo};
        let requested = self.options.metric.as_ref();
        if matches!(self.target, Mojo | Austin | Hprof)
            || requested.is_some_and(|name| name.replace('-', "_") == "memory_gained")
            || selection.metrics != [Metric::MEMORY_GAINED]
        {
            return None;
        }
        let wanted: Vec<bool> =
            profile.threads.iter().map(|thread| selection.has(profile, thread)).collect();
        let freed = profile.aggregate.iter().filter(|sum| wanted[sum.thread.index()]);
        let freed = freed.map(|sum| sum.values.memory_freed()).filter(|bytes| *bytes > 0);
        let (sums, bytes) =
            freed.fold((0, 0u64), |(sums, all), bytes| (sums + 1, all.saturating_add(bytes)));
        Loss::of(LossKind::FreedMemory, sums, Some(bytes))
    }
}

/// Whether an output of stacks can hold negative numbers.
fn has_negative(target: OutputFormat) -> bool {
    matches!(target, OutputFormat::Pprof | OutputFormat::Csv | OutputFormat::Jsonl)
}

/// The losses that occurred when the profile was loaded.
fn lost_in_model(target: OutputFormat, notes: &ProfileNotes) -> [(LossKind, u64); 8] {
    let says_itself = target == OutputFormat::Mojo;
    [
        (LossKind::FrameRanges, if says_itself { 0 } else { notes.ranges }),
        (LossKind::TaskEvents, if says_itself { 0 } else { notes.task_events }),
        (LossKind::WithoutMetric, notes.without_metric),
        (LossKind::Strays, notes.strays),
        (LossKind::NotUtf8, notes.replaced),
        (LossKind::DeepStacks, notes.deep),
        (LossKind::Clamped, notes.clamped),
        (LossKind::DroppedFrames, notes.dropped),
    ]
}
