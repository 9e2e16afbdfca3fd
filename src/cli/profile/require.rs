//! Checks that a profile has the threads, labels, metrics, functions and stacks that options ask for.

use crate::analysis::profile::{GroupLabel, Pattern};
use crate::cli::args::ProfileOptions;
use crate::cli::open::Input;
use crate::cli::size::plural;
use crate::cli::status::UsageError;
use crate::cli::terminal::{show_path, shown};
use crate::model::profile::{Metric, Profile, ProfileThread, SampleLabel};
use crate::model::stacks::Selection;
use rustc_hash::FxHashSet;
use std::path::Path;

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

/// Refuses to select labels and threads that a profile does not have. Fails with a [`UsageError`]
/// that has the names of those that it has.
pub(super) fn require(
    profile: &Profile,
    options: &ProfileOptions,
    input: &Input,
) -> Result<(), UsageError> {
    require_labels(profile, options, input)?;
    require_thread(profile, &selection(options), input)
}

/// Refuses to select a thread that does not exist. Fails with a [`UsageError`] that has the names
/// of existing threads.
fn require_thread(
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

/// Refuses labels that no sample has. Fails with a [`UsageError`] that has the labels that samples
/// have.
fn require_labels(
    profile: &Profile,
    options: &ProfileOptions,
    input: &Input,
) -> Result<(), UsageError> {
    let selected = options.narrow.labels.iter().map(|(key, _)| key).chain(&options.tag);
    let event = options.event.as_ref().map(|_| "event");
    selected.map(String::as_str).chain(event).try_for_each(|key| require_label(profile, key, input))
}

/// Refuses a label that no sample has. All samples have a thread, even if it is not known.
fn require_label(profile: &Profile, key: &str, input: &Input) -> Result<(), UsageError> {
    let is_it = |label: &SampleLabel| profile.names.text(label.key) == key;
    if key == Profile::THREAD_KEY || profile.labels.iter().flatten().any(is_it) {
        Ok(())
    } else {
        Err(no_label(profile, key, input))
    }
}

/// The metric of a profile with this name. Fails with a [`UsageError`] that has the names of
/// existing metrics.
pub(crate) fn named(profile: &Profile, name: &str, path: &Path) -> Result<Metric, UsageError> {
    profile.metric(name).ok_or_else(|| no_metric(profile, name, path))
}

pub(super) fn no_metric(profile: &Profile, name: &str, path: &Path) -> UsageError {
    let (path, name) = (show_path(path), shown(name));
    let mode = profile.mode.name();
    let error = if profile.value_types.is_empty() {
        UsageError::new(format!("{path} has no {name}: it was recorded in {mode} mode"))
    } else {
        UsageError::new(format!("{path} has no metric {name}"))
    };
    // Gained and freed memory are parts of memory.
    let parts = [Metric::MEMORY_GAINED, Metric::MEMORY_FREED];
    let has = profile.metrics_to_choose().into_iter().filter(|metric| !parts.contains(metric));
    error.hint(format!(
        "available: {}",
        has.map(|metric| shown(metric.name())).collect::<Vec<_>>().join(", ")
    ))
}

/// Refuses a profile that has calls instead of stacks. Fails with a [`UsageError`] that states what
/// `needs` stacks, with `instead` at the end of its hint.
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

/// Refuses `--tag` in commands without groups. Fails with a [`UsageError`] if it was given.
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
    if keys.is_empty() {
        error.hint("its samples have no labels")
    } else {
        error.hint(format!("its labels are {}", keys.join(", ")))
    }
}

/// Lists known threads in the error about one that does not exist.
fn no_thread(profile: &Profile, selection: &Selection, input: &Input) -> UsageError {
    const SHOWN: usize = 20;
    let pid = selection.pid.map(|pid| format!("process {pid}"));
    let thread = selection.thread.as_ref().map(|thread| format!("thread {thread}"));
    let wanted: Vec<_> = pid.into_iter().chain(thread).collect();
    let error =
        UsageError::new(format!("{} has no {}", show_path(&input.path), wanted.join(" with a ")));
    let name = |thread: &ProfileThread| {
        let id = thread.id(&profile.names);
        match selection.pid {
            Some(_) => format!("{} of process {}", shown(id), thread.pid),
            None if id.is_empty() => shown(&thread.label(&profile.names)),
            None => shown(id),
        }
    };
    let known = profile.threads.iter().filter(|thread| !thread.is_unknown());
    let has_pid = |pid| profile.threads.iter().any(|thread| thread.pid == pid);
    let ((one, many), mut names): (_, Vec<_>) = match selection.pid {
        // If the process does not exist, the error lists processes; if only the thread is missing,
        // threads.
        Some(pid) if !has_pid(pid) => (
            ("process", "processes"),
            known.filter_map(ProfileThread::process).map(|pid| pid.to_string()).collect(),
        ),
        Some(pid) => {
            (("thread", "threads"), known.filter(|thread| thread.pid == pid).map(name).collect())
        }
        None => (("thread", "threads"), known.map(name).collect()),
    };
    let mut seen = FxHashSet::default();
    names.retain(|name| seen.insert(name.clone()));
    if names.is_empty() {
        return error.hint(format!("the profile names no {many}"));
    }
    let kind = if names.len() == 1 { one } else { many };
    let more = names.len().saturating_sub(SHOWN) as u64;
    names.truncate(SHOWN);
    let more = (more > 0).then(|| format!(" and {}", plural(more, "other", "others")));
    let more = more.unwrap_or_default();
    error.hint(format!("the profile has the {kind} {}{more}", names.join(", ")))
}

/// Parses the pattern of an option. Fails with a [`UsageError`] that names the option, for a wrong
/// regular expression.
pub(crate) fn pattern(option: &str, text: &str) -> Result<Pattern, UsageError> {
    let error = |error| UsageError::new(format!("{option} {}: {error}", shown(text)));
    Pattern::new(text).map_err(error)
}

/// Parses an optional pattern, as [`pattern`] does. `None` if the option was not given.
pub(crate) fn given_pattern(
    option: &str,
    text: Option<&String>,
) -> Result<Option<Pattern>, UsageError> {
    text.map(|text| pattern(option, text)).transpose()
}

/// The error for a pattern that matches no function, with similar functions.
pub(crate) fn no_function(pattern: &str, labels: &[GroupLabel]) -> UsageError {
    const SHOWN: usize = 5;
    let part = pattern.rsplit(':').next().unwrap_or(pattern).trim_matches('*').to_lowercase();
    let alike =
        labels.iter().filter(|label| !part.is_empty() && label.name.to_lowercase().contains(&part));
    let mut alike: Vec<_> = alike.map(|label| shown(&label.name)).collect();
    alike.sort_unstable();
    alike.dedup();
    alike.truncate(SHOWN);
    let error = UsageError::new(format!("no function matches {pattern}"));
    if alike.is_empty() {
        error.hint("`dumptool top -n 0` lists all functions; * matches any characters")
    } else {
        error.hint(format!("did you mean {}? * matches any characters", alike.join(", ")))
    }
}
