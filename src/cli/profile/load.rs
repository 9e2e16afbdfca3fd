//! Loads the profile of an input for a command.

use super::ShortFiles;
use crate::analysis::profile::Selected;
use crate::cli::args::{Common, ProfileOptions};
use crate::cli::memory::{profile_limit, profile_too_large, reading_limit};
use crate::cli::open::Input;
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::{show_path, shown};
use crate::error::{Error, ErrorKind};
use crate::input;
use crate::input::load::{LoadedProfile, Parts};
use crate::model::profile::{Metric, Profile};
use crate::model::stacks::Selection;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// A profile, and which of its samples are looked at.
pub(crate) struct ProfileInput<'a> {
    pub(crate) input: &'a Input,
    pub(crate) profile: Arc<Profile>,
    pub(crate) selection: Selection,
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
    load(input, options, session, |how, _| {
        let how =
            input::load::ProfileOptions { memory: profile_limit(input, &session.common), ..how };
        input::load_profile(input.format, input.bytes(), how)
    })
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
    load(input, &ProfileOptions::default(), session, |how, _| {
        let memory = profile_limit(input, &session.common);
        let how = input::load::ProfileOptions { keep_samples: true, memory, ..how };
        input::load_profile(input.format, input.bytes(), how)
    })
}

/// As [`load_profile`], in parts: all but the last one, which is returned, are given to `add`.
///
/// # Errors
/// As [`load_profile`], but `add` was called before that.
pub(crate) fn load_profile_in_parts<'a>(
    input: &'a Input,
    options: &ProfileOptions,
    session: &Session,
    mut add: impl FnMut(&Selected<'_>),
) -> anyhow::Result<ProfileInput<'a>> {
    // A resident profile must be complete, so it is one part.
    if session.resident.is_some() {
        return load_profile(input, options, session);
    }
    load(input, options, session, |how, selection| {
        let mut take = |part: &mut Profile| {
            add(&Selected::of(part, selection));
            ControlFlow::Continue(())
        };
        input::load_profile_in_parts(
            input.format,
            input.bytes(),
            how,
            Parts { size: Parts::SIZE, take: &mut take },
        )
    })
}

fn load<'a>(
    input: &'a Input,
    options: &ProfileOptions,
    session: &Session,
    load: impl FnOnce(input::load::ProfileOptions<'_>, &Selection) -> Result<LoadedProfile, Error>,
) -> anyhow::Result<ProfileInput<'a>> {
    let progress = session.progress(input);
    let memory = reading_limit(input, &session.common);
    let how = input::load::ProfileOptions {
        keep_samples: false,
        memory,
        progress: &|offset| progress.reached(offset),
    };
    let selection = selection(options);
    let load = || -> anyhow::Result<_> {
        let loaded =
            load(how, &selection).map_err(|error| refused(error, input, &session.common))?;
        Ok((Arc::new(loaded.profile), loaded.damage))
    };
    let (profile, damage) = match &session.resident {
        Some(resident) => resident.profile(&input.path, load)?,
        None => load()?,
    };
    require_thread(&profile, &selection, input)?;
    Ok(ProfileInput { input, profile, selection, damage })
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
        labels: options.labels.clone(),
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
    let wanted = selection.labels.iter().map(|(key, _)| key).chain(&selection.tag);
    let has_key = |key: &str| {
        profile.labels.iter().flatten().any(|label| profile.names.text(label.key) == key)
    };
    if let Some(key) = wanted.into_iter().find(|key| !has_key(key)) {
        return Err(no_label(profile, key, input));
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
            None if self.profile.default_metric() == Metric::MEMORY_GAINED => Ok(Metric::MEMORY),
            None => Ok(self.profile.default_metric()),
        }
    }

    /// Refuses a metric that was not measured: its numbers would be all zero, or those of another
    /// one.
    ///
    /// # Errors
    /// As [`Self::metric`].
    pub(crate) fn require(&self, metric: &Metric) -> Result<(), UsageError> {
        match self.profile.metrics_to_choose().contains(metric) {
            true => Ok(()),
            false => Err(no_metric(&self.profile, metric.name(), &self.input.path)),
        }
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
        ] {
            if count > 0 {
                session.terminal.warn(&self.input.path, &plural(count, one, many));
            }
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
