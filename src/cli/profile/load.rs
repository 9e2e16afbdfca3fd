//! Loads the profile of an input for a command.

use super::ShortFiles;
use crate::analysis::profile::{MovedFolder, below, estimate_stacks, moved_folders};
use crate::cli::args::{Common, NarrowOptions, ProfileOptions};
use crate::cli::memory::{profile_limit, profile_too_large};
use crate::cli::open::Input;
use crate::cli::print::{Document, Value};
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::{show_path, shown};
use crate::error::{Error, ErrorKind};
use crate::input::load::{LoadedProfile, MetricChoice};
use crate::input::{self, Format};
use crate::model::profile::{Metric, Profile, SampleLabel};
use crate::model::stacks::Selection;
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::Arc;

/// The warning about a profile whose rules for leaving out frames are not followed.
pub(crate) const UNAPPLIED: &str = "drop_frames or keep_frames is not a regular expression that dumptool can apply; all frames are kept";

/// The formats with `--all-frames`: some frames are left out otherwise.
const LEAVE_OUT_FRAMES: &[Format] = &[
    Format::Pprof,
    Format::Heaptrack,
    Format::Jemalloc,
    Format::Gperftools,
    Format::Dhat,
    Format::Massif,
];

/// The formats with `--raw-counts`: samples are scaled to all allocations otherwise.
const SCALE_SAMPLES: &[Format] = &[Format::Jemalloc, Format::Gperftools];

/// A profile, and which of its samples are looked at.
pub(crate) struct ProfileInput<'a> {
    pub(crate) input: &'a Input,
    pub(crate) profile: Arc<Profile>,
    pub(crate) selection: Selection,
    /// The filters that are on.
    filters: Box<NarrowOptions>,
    damage: Option<Error>,
}

/// Loads a profile and shows how far it is.
///
/// # Errors
/// A [`UsageError`] when the profile has no such thread or process; an `InputError` when nothing
/// can be loaded. Damage after the loaded part is not an error.
pub(crate) fn load_profile<'a>(
    input: &'a Input,
    options: &ProfileOptions,
    session: &Session,
) -> anyhow::Result<ProfileInput<'a>> {
    // A resident profile answers other questions, too.
    let metrics = session.resident.as_ref().map_or(options.metrics(), |_| MetricChoice::All);
    load(input, options, session, Kept { metrics, ..Kept::default() })
}

/// As [`load_profile`], with single samples, if the file has them.
///
/// # Errors
/// As [`load_profile`].
pub(crate) fn load_in_order<'a>(
    input: &'a Input,
    options: &ProfileOptions,
    session: &Session,
) -> anyhow::Result<ProfileInput<'a>> {
    let metrics = session.resident.as_ref().map_or(options.metrics(), |_| MetricChoice::All);
    load(input, options, session, Kept { samples: true, metrics, ..Kept::default() })
}

/// As [`load_profile`], with the numbers of all metrics, and not only those of one.
///
/// # Errors
/// As [`load_profile`].
pub(crate) fn load_all_metrics<'a>(
    input: &'a Input,
    options: &ProfileOptions,
    session: &Session,
) -> anyhow::Result<ProfileInput<'a>> {
    load(input, options, session, Kept::default())
}

/// As [`load_profile`], with all samples, if the file has single ones.
///
/// # Errors
/// As [`load_profile`].
#[cfg(feature = "query")]
pub(crate) fn load_samples<'a>(
    input: &'a Input,
    session: &Session,
) -> anyhow::Result<ProfileInput<'a>> {
    let kept = Kept { samples: true, ..Kept::default() };
    load(input, &ProfileOptions::default(), session, kept)
}

fn load<'a>(
    input: &'a Input,
    options: &ProfileOptions,
    session: &Session,
    kept: Kept<'_>,
) -> anyhow::Result<ProfileInput<'a>> {
    let selection = selection(options);
    let kept = Kept { samples: kept.samples || options.narrow.is_timed(), ..kept };
    let load = || -> anyhow::Result<_> {
        let loaded = read(input, options, session, kept)?;
        Ok((Arc::new(loaded.profile), loaded.damage))
    };
    let is_usual = options.is_usual() && input.snapshot.is_none() && !options.narrow.is_timed();
    let resident = session.resident.as_ref().filter(|_| is_usual);
    let (mut profile, damage) = match resident {
        Some(resident) => resident.profile(input, (options.all_frames, kept.samples), load)?,
        None => load()?,
    };
    // Threads without samples that are left are those of the profile, too.
    require_labels(&profile, options, input)?;
    require_thread(&profile, &selection, input)?;
    let unmatched = narrow(|| Arc::make_mut(&mut profile), options, input)?;
    warn_unmatched(&unmatched, input, session);
    Ok(ProfileInput::of(input, profile, (selection, options), damage))
}

/// Leaves out what the filters of a command leave out. Returns those that match nothing.
fn narrow<'p>(
    profile: impl FnOnce() -> &'p mut Profile,
    options: &ProfileOptions,
    input: &Input,
) -> Result<Vec<&'static str>, UsageError> {
    let filter = options.narrow.filter()?;
    if filter.is_empty() {
        return Ok(Vec::new());
    }
    let profile = profile();
    require_stacks(profile, &input.path, "a filter", "")?;
    if filter.time.is_some() && !profile.has_times() {
        let path = show_path(&input.path);
        return Err(UsageError::new(format!(
            "{path} has only sums and no times of samples, which --from-time and --to-time need"
        )));
    }
    Ok(filter.apply(profile))
}

/// Prints which filters match nothing.
pub(super) fn warn_unmatched(unmatched: &[&'static str], input: &Input, session: &Session) {
    for option in unmatched {
        session.terminal.warn(&input.path, &format!("{option} matches no function"));
    }
}

/// Reads a profile without what the filters leave out. Returns the filters that match nothing.
///
/// # Errors
/// As [`read`], and a [`UsageError`] for a filter that does not apply.
pub(super) fn narrowed(
    input: &Input,
    options: &ProfileOptions,
    session: &Session,
    kept: Kept<'_>,
) -> anyhow::Result<(LoadedProfile, Vec<&'static str>)> {
    let needed = Kept { samples: kept.samples || options.narrow.is_timed(), ..kept };
    let mut loaded = read(input, options, session, needed)?;
    let unmatched = narrow(|| &mut loaded.profile, options, input)?;
    if !kept.samples {
        // They were needed for their times only.
        loaded.profile.samples = None;
        loaded.profile.events.clear();
    }
    Ok((loaded, unmatched))
}

/// What of a profile is read beside its sums.
#[derive(Clone, Copy, Default)]
pub(crate) struct Kept<'m> {
    pub(crate) samples: bool,
    /// The addresses of frames, and the programs and libraries that they are in.
    pub(crate) code: bool,
    pub(crate) metrics: MetricChoice<'m>,
}

/// Reads a profile, and prints which files with symbols were found and not used.
///
/// # Errors
/// A [`UsageError`] for an option that the format does not have; an `InputError` when nothing can be
/// loaded.
pub(crate) fn read(
    input: &Input,
    options: &ProfileOptions,
    session: &Session,
    kept: Kept<'_>,
) -> anyhow::Result<LoadedProfile> {
    input.only(LEAVE_OUT_FRAMES, "--all-frames", options.all_frames)?;
    input.only(SCALE_SAMPLES, "--raw-counts", options.raw_counts)?;
    input.only(&[Format::Callgrind, Format::Cprofile], "--estimate", options.estimate)?;
    let progress = session.progress(input);
    let how = input::load::ProfileOptions {
        keep_samples: kept.samples,
        keep_code: kept.code,
        all_frames: options.all_frames,
        raw_counts: options.raw_counts,
        snapshot: input.snapshot,
        metrics: kept.metrics,
        symbols: session.symbols.names(),
        mapping: input.mapping.as_deref(),
        source_maps: session.source_maps(),
        memory: profile_limit(input, &session.common),
        progress: &|offset| progress.passed(offset, &input.source),
    };
    let mut loaded = input::load_profile(input.format, input.bytes(), how)
        .map_err(|error| refused(error, input, &session.common))?;
    warn_of_symbols(input, session);
    if options.estimate {
        session.terminal.warn(&input.path, "stacks are estimated; own costs are exact");
        loaded.profile = estimate_stacks(&loaded.profile);
    }
    Ok(loaded)
}

/// Prints which files with symbols were found and not used.
pub(crate) fn warn_of_symbols(input: &Input, session: &Session) {
    for warning in session.symbols.warnings() {
        session.terminal.warn(&input.path, &warning);
    }
    session.warn_of_source_maps(input);
}

/// The error of a reader of a profile, as one about this input, or about the memory that it may
/// take.
pub(crate) fn refused(error: Error, input: &Input, common: &Common) -> anyhow::Error {
    match error.kind() {
        ErrorKind::Memory => profile_too_large(input, common).into(),
        _ => input.error(error).into(),
    }
}

/// Returns the selected threads.
pub(crate) fn selection(options: &ProfileOptions) -> Selection {
    Selection {
        pid: options.pid.map(i128::from),
        thread: options.thread.clone(),
        labels: {
            let event = options.event.iter().map(|name| ("event".to_owned(), name.clone()));
            options.narrow.exact_labels().cloned().chain(event).collect()
        },
        tag: options.tag.clone(),
        ..Selection::default()
    }
}

/// Refuses to select a thread that does not exist.
///
/// # Errors
/// A [`UsageError`] with the names of existing threads.
pub(crate) fn require_thread(
    profile: &Profile,
    selection: &Selection,
    input: &Input,
) -> Result<(), UsageError> {
    let asked = selection.pid.is_some() || selection.thread.is_some();
    let has =
        |selection: &Selection| profile.threads.iter().any(|thread| selection.has(profile, thread));
    if asked && !has(&Selection { labels: Vec::new(), ..selection.clone() }) {
        return Err(no_thread(profile, selection, input));
    }
    if let Some((key, value)) = selection.labels.last().filter(|_| !has(selection)) {
        let (key, value) = (shown(key), shown(value));
        return Err(UsageError::new(format!(
            "{} has no samples with {key}={value}",
            show_path(&input.path)
        ))
        .hint(format!("`dumptool top --tag {key}` lists the values")));
    }
    Ok(())
}

/// Refuses labels that no sample has.
///
/// # Errors
/// A [`UsageError`] with the labels that samples have.
pub(crate) fn require_labels(
    profile: &Profile,
    options: &ProfileOptions,
    input: &Input,
) -> Result<(), UsageError> {
    let selected = options.narrow.labels.iter().map(|(key, _)| key).chain(&options.tag);
    let event = options.event.as_ref().map(|_| "event");
    selected.map(String::as_str).chain(event).try_for_each(|key| require_label(profile, key, input))
}

/// Refuses a label that no sample has.
fn require_label(profile: &Profile, key: &str, input: &Input) -> Result<(), UsageError> {
    let is_it = |label: &SampleLabel| profile.names.text(label.key) == key;
    let is_known = match key {
        Profile::THREAD_KEY => profile.threads.iter().any(|thread| !thread.is_unknown()),
        _ => profile.labels.iter().flatten().any(is_it),
    };
    if is_known { Ok(()) } else { Err(no_label(profile, key, input)) }
}

/// The metric of a profile with this name.
///
/// # Errors
/// A [`UsageError`] with the names of existing metrics.
pub(crate) fn named(profile: &Profile, name: &str, path: &Path) -> Result<Metric, UsageError> {
    profile.metric(name).ok_or_else(|| no_metric(profile, name, path))
}

fn no_metric(profile: &Profile, name: &str, path: &Path) -> UsageError {
    let (path, name) = (show_path(path), shown(name));
    let mode = profile.mode.name();
    let error = match profile.value_types.is_empty() {
        true => UsageError::new(format!("{path} has no {name}: it was recorded in {mode} mode")),
        false => UsageError::new(format!("{path} has no metric {name}")),
    };
    // Gained and freed memory are parts of memory.
    let parts = [Metric::MEMORY_GAINED, Metric::MEMORY_FREED];
    let has = profile.metrics_to_choose().into_iter().filter(|metric| !parts.contains(metric));
    error.hint(format!(
        "available: {}",
        has.map(|metric| shown(metric.name())).collect::<Vec<_>>().join(", ")
    ))
}

/// Refuses a profile that has calls instead of stacks.
///
/// # Errors
/// A [`UsageError`] that names what `needs` stacks, and what may be done `instead`.
pub(crate) fn require_stacks(
    profile: &Profile,
    path: &Path,
    needs: &str,
    instead: &str,
) -> Result<(), UsageError> {
    match &profile.calls {
        None => Ok(()),
        Some(_) => Err(UsageError::new(format!(
            "{} is a call graph and has no stacks, which {needs} needs",
            show_path(path)
        ))
        .hint(format!("--estimate splits the costs of functions among their callers{instead}"))),
    }
}

/// Refuses `--tag` in commands without groups.
///
/// # Errors
/// A [`UsageError`] if it was given.
pub(crate) fn refuse_tag(options: &ProfileOptions, command: &str) -> Result<(), UsageError> {
    match options.tag {
        None => Ok(()),
        Some(_) => Err(UsageError::new(format!("--tag has no effect in {command}"))
            .hint("use it in top, tree, diff or convert")),
    }
}

fn no_label(profile: &Profile, key: &str, input: &Input) -> UsageError {
    let mut keys: Vec<_> =
        profile.labels.iter().flatten().map(|label| shown(profile.names.text(label.key))).collect();
    keys.sort_unstable();
    keys.dedup();
    let error = UsageError::new(format!("{} has no label {}", show_path(&input.path), shown(key)));
    match keys.is_empty() {
        true => error.hint("its samples have no labels"),
        false => error.hint(format!("its labels are {}", keys.join(", "))),
    }
}

/// Adds the filters that are on, and how many samples of each profile are without the frames that it
/// asks to leave out, if there are any.
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
    match counts.iter().all(|(_, count)| *count == 0) {
        true => document,
        false => document
            .with("dropped_frames", Value::from(counts.map(|(key, count)| (key, count.into())))),
    }
}

impl<'a> ProfileInput<'a> {
    /// A profile, and the samples of it that options select.
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
        Self { input, profile, selection, filters, damage }
    }
}

impl ProfileInput<'_> {
    /// Returns the requested metric, or the main metric of the profile.
    ///
    /// # Errors
    /// A [`UsageError`] when the profile does not have it.
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

    /// Refuses a metric that was not measured: its numbers would be all zero, or those of another
    /// one.
    ///
    /// # Errors
    /// As [`Self::metric`].
    pub(crate) fn require(&self, metric: &Metric) -> Result<(), UsageError> {
        if self.profile.metrics_to_choose().contains(metric) {
            Ok(())
        } else {
            Err(no_metric(&self.profile, metric.name(), &self.input.path))
        }
    }

    /// Names files as a newer profile does, if they are in folders with other paths there. Returns
    /// the folders, which are a guess.
    pub(crate) fn follow(&mut self, new: &Self) -> Vec<MovedFolder> {
        let moved = moved_folders(&self.profile, &new.profile);
        if !moved.is_empty() {
            Arc::make_mut(&mut self.profile)
                .rename_files(|path| moved.iter().find_map(|folder| folder.new_path(path)));
        }
        moved
    }

    /// Says of the first folders that moved to those of this profile where they are, with a `hint`.
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

    /// Removes prefixes from the paths of files; of several that fit, the first one.
    pub(crate) fn trim_paths(&mut self, prefixes: &[String]) {
        Arc::make_mut(&mut self.profile).rename_files(|path| {
            let below = |prefix: &String| below(path, prefix.trim_end_matches('/'));
            prefixes.iter().find_map(below).map(str::to_owned)
        });
    }

    /// The files of two profiles, told apart.
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

/// Lists existing threads in the error about one that does not exist.
fn no_thread(profile: &Profile, selection: &Selection, input: &Input) -> UsageError {
    const SHOWN: usize = 20;
    let pid = selection.pid.map(|pid| format!("process {pid}"));
    let thread = selection.thread.as_ref().map(|thread| format!("thread {thread}"));
    let wanted: Vec<_> = pid.into_iter().chain(thread).collect();
    let error =
        UsageError::new(format!("{} has no {}", show_path(&input.path), wanted.join(" with a ")));
    let name = |thread: &crate::model::profile::ProfileThread| {
        let raw = profile.names.text(thread.name);
        let id = thread.id(&profile.names);
        match selection.pid {
            Some(_) => format!("{} of process {}", shown(&id), thread.pid),
            None if raw.is_empty() => "one without a name".to_owned(),
            None => shown(&id),
        }
    };
    let has_pid = |pid| profile.threads.iter().any(|thread| thread.pid == pid);
    let (kind, mut names): (_, Vec<_>) = match selection.pid {
        // Who named a process is told of processes, unless it is the thread that it does not have.
        Some(pid) if !has_pid(pid) => (
            "process",
            profile
                .threads
                .iter()
                .map(|thread| thread.process().unwrap_or(0).to_string())
                .collect(),
        ),
        Some(pid) => (
            "thread",
            profile.threads.iter().filter(|thread| thread.pid == pid).map(name).collect(),
        ),
        None => ("thread", profile.threads.iter().map(name).collect()),
    };
    let mut seen = FxHashSet::default();
    names.retain(|name| seen.insert(name.clone()));
    if names.is_empty() {
        return error.hint("the profile has no threads");
    }
    let kind = match (kind, names.len()) {
        ("process", 2..) => "processes",
        ("thread", 2..) => "threads",
        (one, _) => one,
    };
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let more = if more > 0 {
        format!(" and {}", plural(more as u64, "other", "others"))
    } else {
        String::new()
    };
    error.hint(format!("the profile has the {kind} {}{more}", names.join(", ")))
}
