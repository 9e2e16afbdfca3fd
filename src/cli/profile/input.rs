//! A loaded profile with a selection of its samples.

use super::ShortFiles;
use super::require::{named, no_metric};
use super::runs::without_run;
use crate::analysis::profile::{MovedFolder, Selected, below, moved_folders};
use crate::cli::args::{NarrowOptions, ProfileOptions};
use crate::cli::open::Input;
use crate::cli::print::{Document, Value};
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::shown;
use crate::error::Error;
use crate::model::profile::{Metric, Profile};
use crate::model::stacks::Selection;
use std::sync::Arc;

/// The warning about a profile whose rules for leaving out frames cannot be applied.
pub(crate) const UNAPPLIED: &str = "drop_frames or keep_frames is not a regular expression that dumptool can apply; all frames are kept";

/// A profile with a selection of its samples.
pub(crate) struct ProfileInput<'a> {
    pub(crate) input: &'a Input,
    pub(crate) profile: Arc<Profile>,
    pub(crate) selection: Selection,
    /// Whether `--estimate` made the stacks from calls.
    is_estimated: bool,
    filters: Box<NarrowOptions>,
    damage: Option<Error>,
}

/// Adds the active filters, and for each profile the number of samples from which frames were left
/// out because the profile requests that, unless all are 0.
pub(crate) fn with_filters<'d, const N: usize>(
    document: Document<'d>,
    profiles: [(&'static str, &ProfileInput<'_>); N],
) -> Document<'d> {
    let counts = profiles.map(|(key, loaded)| (key, loaded.profile.notes.dropped));
    // All profiles of a command have the same ones.
    let filters = profiles.first().map(|(_, loaded)| &loaded.filters);
    let document = match filters {
        Some(filters) => filters.describe(document),
        None => document,
    };
    if counts.iter().all(|(_, count)| *count == 0) {
        document
    } else {
        document.with("dropped_frames", Value::from(counts.map(|(key, count)| (key, count.into()))))
    }
}

impl<'a> ProfileInput<'a> {
    /// Combines a profile with the selection of its samples by options.
    pub(super) fn of(
        input: &'a Input,
        profile: Arc<Profile>,
        (mut selection, options): (Selection, &ProfileOptions),
        damage: Option<Error>,
    ) -> Self {
        if profile.has_separate_values {
            selection.metrics.extend(match &options.metric {
                Some(name) => profile.metric(name),
                None => Some(selection.usual_metric(&profile)),
            });
        }
        let filters = Box::new(options.narrow.clone());
        let is_estimated = options.estimate;
        Self { input, profile, selection, is_estimated, filters, damage }
    }
}

impl ProfileInput<'_> {
    /// Returns the requested metric, or the main metric of the profile. Fails with a [`UsageError`]
    /// when the profile does not have it.
    pub(crate) fn metric(&self, options: &ProfileOptions) -> Result<Metric, UsageError> {
        match &options.metric {
            Some(name) => {
                let metric = named(&self.profile, name, &self.input.path)?;
                self.require(&metric)?;
                Ok(metric)
            }
            None => {
                let chosen = self.selection.metrics.first().cloned();
                Ok(chosen.unwrap_or_else(|| self.profile.shown_metric()))
            }
        }
    }

    /// The number of samples, or of calls if the profile has these instead of stacks, in words.
    pub(crate) fn events(&self, selected: &Selected<'_>) -> String {
        match selected.call_count() {
            Some(0) if selected.has_calls() => "uncounted calls".to_owned(),
            Some(calls) => plural(calls, "call", "calls"),
            None if self.is_estimated => "estimated stacks".to_owned(),
            None => plural(selected.total.samples(), "sample", "samples"),
        }
    }

    /// Whether the profile consists of samples, rather than of calls.
    pub(crate) fn has_samples(&self) -> bool {
        self.profile.calls.is_none() && !self.is_estimated
    }

    /// Refuses a metric that was not measured: its numbers would be all zero, or those of another
    /// one.
    pub(crate) fn require(&self, metric: &Metric) -> Result<(), UsageError> {
        if self.profile.metrics_to_choose().contains(metric) {
            Ok(())
        } else {
            Err(no_metric(&self.profile, metric.name(), &self.input.path))
        }
    }

    /// Renames files in folders that have other paths in a newer profile to their paths there, and
    /// functions of both that have other names in each run. Returns the folders, which are a guess.
    pub(crate) fn follow(&mut self, new: &mut Self) -> Vec<MovedFolder> {
        self.name_hidden_classes();
        new.name_hidden_classes();
        let moved = moved_folders(&self.profile, &new.profile);
        if !moved.is_empty() {
            Arc::make_mut(&mut self.profile)
                .rename_files(|path| moved.iter().find_map(|folder| folder.new_path(path)));
        }
        moved
    }

    /// Gives lambdas and other hidden classes of Java the same names in all runs.
    pub(crate) fn name_hidden_classes(&mut self) {
        let names = self.profile.frames.iter().map(|frame| frame.function);
        if names.map(|name| self.profile.names.text(name)).any(|name| without_run(name).is_some()) {
            Arc::make_mut(&mut self.profile).rename_functions(without_run);
        }
    }

    /// Prints the old and new paths of the first folders that moved, with a `hint`.
    pub(crate) fn say_moved(&self, moved: &[MovedFolder], hint: &str, session: &Session) {
        const MOVED: usize = 3;
        let warn = |text: &str| session.terminal.warn(&self.input.path, text);
        for MovedFolder { old, new, files } in moved.iter().take(MOVED) {
            let (files, old, new) = (plural(*files, "file", "files"), shown(old), shown(new));
            warn(&format!("{files} of {old} matched with {new} ({hint})"));
        }
        if let Some(more) = moved.len().checked_sub(MOVED).filter(|more| *more > 0) {
            let more = plural(more as u64, "more folder", "more folders");
            warn(&format!("{more} matched with others"));
        }
    }

    /// Removes a prefix from the paths of files: the first one that matches.
    pub(crate) fn trim_paths(&mut self, prefixes: &[String]) {
        Arc::make_mut(&mut self.profile).rename_files(|path| {
            let below = |prefix: &String| below(path, prefix.trim_end_matches('/'));
            prefixes.iter().find_map(below).map(str::to_owned)
        });
    }

    /// Short, distinguishable names for the files of two profiles.
    pub(crate) fn files<'f>(&'f self, other: &'f Self, session: &Session) -> ShortFiles<'f> {
        ShortFiles::of_profiles(&[&self.profile, &other.profile], session.common.verbose)
    }

    /// Returns the damage that ended the reading early.
    pub(crate) fn damage(&self) -> Option<&Error> {
        self.input.source.damage().or(self.damage.as_ref())
    }

    /// Prints the warnings of the profile, and the damage that ended the reading early. Returns the
    /// status.
    pub(crate) fn report(&self, session: &Session) -> Status {
        let (profile, notes) = (&self.profile, &self.profile.notes);
        for (count, one, many) in [
            (
                notes.replaced,
                "name is not UTF-8; invalid bytes become U+FFFD",
                "names are not UTF-8; invalid bytes become U+FFFD",
            ),
            (notes.unresolved, "key is not defined", "keys are not defined"),
            (
                notes.without_metric,
                "sample has no metric and counts as 0",
                "samples have no metric and count as 0",
            ),
            (
                notes.strays,
                "frame or metric outside a sample ignored",
                "frames or metrics outside a sample ignored",
            ),
            (
                profile.names.cut(),
                "name is longer than 4096 bytes and was truncated",
                "names are longer than 4096 bytes and were truncated",
            ),
            (
                notes.deep,
                "stack is deeper than 65 536 frames and was truncated",
                "stacks are deeper than 65 536 frames and were truncated",
            ),
            (
                notes.clamped,
                "number over 64 bits was set to the maximum",
                "numbers over 64 bits were set to the maximum",
            ),
            (
                notes.dropped,
                "sample is shown without the frames that the profile asks to leave out (--all-frames shows them)",
                "samples are shown without the frames that the profile asks to leave out (--all-frames shows them)",
            ),
        ] {
            if count > 0 {
                session.terminal.warn(&self.input.path, &plural(count, one, many));
            }
        }
        if notes.unapplied > 0 {
            session.terminal.warn(&self.input.path, UNAPPLIED);
        }
        self.input.report_if_damaged(self.damage.as_ref(), &session.terminal)
    }
}
