//! Loads the heap of an input for a command.

use crate::cli::args::{RootOptions, RootsArg, Snapshot};
use crate::cli::memory::{Work, refuse_too_large};
use crate::cli::open::Input;
use crate::cli::session::Session;
use crate::cli::status::{self, Status, UsageError};
use crate::cli::terminal::show_path;
use crate::error::{Error, ErrorKind};
use crate::input;
use crate::input::load::{LoadOptions, Loaded, RootScan, SnapshotChoice};

/// Loads a heap for a command that asks who holds what.
///
/// # Errors
/// As [`load_for`].
pub(crate) fn load<'a>(
    session: &Session,
    command: &'static str,
    input: &'a Input,
    snapshot: Option<Snapshot>,
    roots: &RootOptions,
) -> anyhow::Result<Loaded<'a>> {
    load_for(Work::Analysis, session, command, input, snapshot, roots)
}

/// Loads a heap, unless it is too large for the work, and shows how far it is. Without a snapshot, the last complete one.
///
/// # Errors
/// A [`UsageError`] when the file has no such snapshot, or the heap is too large for memory; an `InputError` when nothing can be
/// loaded. Damage after what could be loaded is no error: it is in [`Loaded::damage`], or in the source of the input.
pub(crate) fn load_for<'a>(
    work: Work,
    session: &Session,
    command: &'static str,
    input: &'a Input,
    snapshot: Option<Snapshot>,
    roots: &RootOptions,
) -> anyhow::Result<Loaded<'a>> {
    refuse_too_large(command, work, input, snapshot, &session.common)?;
    let progress = session.progress(input);
    let reached = |offset| progress.reached(offset);
    let options = load_options(snapshot, roots, &reached);
    input::load(input.format, input.bytes(), options).map_err(|error| refused(error, input))
}

/// How a heap is loaded for arguments.
pub(crate) fn load_options<'a>(
    snapshot: Option<Snapshot>,
    options: &RootOptions,
    progress: crate::input::Progress<'a>,
) -> LoadOptions<'a> {
    let snapshot = match snapshot {
        Some(Snapshot::Number(number)) => SnapshotChoice::Number(number),
        Some(Snapshot::Last) | None => SnapshotChoice::Last,
    };
    let roots = match options.choice() {
        RootsArg::Precise => RootScan::Precise,
        RootsArg::Default => RootScan::Default,
        RootsArg::Conservative => RootScan::Conservative,
    };
    LoadOptions { snapshot, roots, layout: options.layout(), progress }
}

/// The error of a reader, as one about this input, or about arguments that ask for what it does not have.
pub(crate) fn refused(error: Error, input: &Input) -> anyhow::Error {
    match error.kind() {
        ErrorKind::Absent => UsageError::new(error.message()).into(),
        _ => input.error(error).into(),
    }
}

/// Refuses a heap whose roots a command needs and that has none. A damaged one may have lost them: then the damage is reported.
///
/// # Errors
/// A [`UsageError`] when the heap is sound.
pub(crate) fn without_roots(
    session: &Session,
    input: &Input,
    loaded: &Loaded<'_>,
    so: &str,
    hint: Option<&str>,
) -> anyhow::Result<Status> {
    let damaged = report_loaded(session, input, loaded);
    if damaged != Status::Done {
        session.terminal.warn(&input.path, &format!("no roots were read, so {so}"));
        return Ok(damaged);
    }
    let error = UsageError::new(format!("{} has no roots, so {so}", show_path(&input.path)));
    Err(hint.into_iter().fold(error, UsageError::hint).into())
}

/// What ended the reading of a heap early.
pub(crate) fn damage<'l>(input: &'l Input, loaded: &'l Loaded<'_>) -> Option<&'l Error> {
    input.source.damage().or(loaded.damage.as_ref())
}

/// Prints what was odd about a loaded heap, and what ended the reading early. Returns the status that belongs to it.
pub(crate) fn report_loaded(session: &Session, input: &Input, loaded: &Loaded<'_>) -> Status {
    let terminal = &session.terminal;
    for warning in &loaded.heap.warnings {
        terminal.warn(&input.path, &format!("{}: {}", warning.kind, warning.count));
    }
    if session.common.verbose {
        loaded.remarks.iter().for_each(|remark| terminal.warn(&input.path, remark));
    }
    if let Some(damage) = damage(input, loaded) {
        status::report_damage(&input.path, damage, terminal);
        if loaded.incomplete && !loaded.heap.roots.is_empty() {
            terminal
                .warn(&input.path, "roots or references are missing behind the damage: what is live or unreachable is not known");
        }
        return Status::Damaged;
    }
    match loaded.heap.warnings.iter().any(|warning| warning.is_damage()) {
        true => Status::Damaged,
        false => Status::Done,
    }
}
