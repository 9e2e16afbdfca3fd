//! Loads the heap of an input for a command.

use super::args::{Common, RootsArg, Snapshot};
use super::memory::{Work, refuse_too_large};
use super::open::Input;
use super::progress::Progress;
use super::status::{self, Status, UsageError};
use super::terminal::{Terminal, show_path};
use crate::error::{Error, ErrorKind};
use crate::input;
use crate::input::load::{LoadOptions, Loaded, RootScan, SnapshotChoice};

/// Loads heaps for a command.
#[derive(Clone, Copy)]
pub(super) struct HeapLoader<'c> {
    command: &'static str,
    work: Work,
    common: &'c Common,
    terminal: &'c Terminal,
}

impl<'c> HeapLoader<'c> {
    /// For a command that asks who holds what.
    pub(super) fn analysed(command: &'static str, common: &'c Common, terminal: &'c Terminal) -> Self {
        Self { command, work: Work::Analysis, common, terminal }
    }

    /// For a command that only writes objects and references down.
    pub(super) fn copied(command: &'static str, common: &'c Common, terminal: &'c Terminal) -> Self {
        Self { command, work: Work::Copy, common, terminal }
    }

    /// Loads a heap, unless it is too large, and shows how far it is. No snapshot asked for means the last complete one.
    ///
    /// # Errors
    /// A [`UsageError`] when the file has no such snapshot, or the heap is too large for memory; an `InputError` when nothing can be
    /// loaded. Damage behind what could be loaded is no error: it is told in [`Loaded::damage`], and what opening met in the
    /// source of the input.
    pub(super) fn load<'a>(self, input: &'a Input, snapshot: Option<Snapshot>, roots: RootsArg) -> anyhow::Result<Loaded<'a>> {
        refuse_too_large(self.command, self.work, input, snapshot, self.common)?;
        let progress = Progress::new(input.bytes().len() as u64, self.terminal);
        let roots = match roots {
            RootsArg::Precise => RootScan::Precise,
            RootsArg::Default => RootScan::Default,
            RootsArg::Conservative => RootScan::Conservative,
        };
        let reached = |offset| progress.reached(offset);
        input::load(input.format, input.bytes(), load_options(snapshot, roots, &reached)).map_err(|error| refused(error, input))
    }
}

/// How a heap is loaded for arguments.
pub(super) fn load_options<'a>(
    snapshot: Option<Snapshot>,
    roots: RootScan,
    progress: crate::input::Progress<'a>,
) -> LoadOptions<'a> {
    let snapshot = match snapshot {
        Some(Snapshot::Number(number)) => SnapshotChoice::Number(number),
        Some(Snapshot::Last) | None => SnapshotChoice::Last,
    };
    LoadOptions { snapshot, roots, progress }
}

/// The error of a reader, as one about this input, or about arguments that ask for what it does not have.
pub(super) fn refused(error: Error, input: &Input) -> anyhow::Error {
    match error.kind() {
        ErrorKind::Absent => UsageError::new(error.message()).into(),
        _ => input.error(error).into(),
    }
}

/// Refuses a heap whose roots a command needs and that has none. Those of a damaged one may have been lost, so that it is the
/// damage that is told.
///
/// # Errors
/// A [`UsageError`] when the heap is sound.
pub(super) fn without_roots(
    input: &Input,
    loaded: &Loaded<'_>,
    so: &str,
    hint: Option<&str>,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let damaged = report_loaded(input, loaded, terminal);
    if damaged != Status::Done {
        terminal.warn(&input.path, &format!("no roots were read, so {so}"));
        return Ok(damaged);
    }
    let error = UsageError::new(format!("{} has no roots, so {so}", show_path(&input.path)));
    Err(hint.into_iter().fold(error, UsageError::hint).into())
}

/// What ended the reading of a heap early.
pub(super) fn damage<'l>(input: &'l Input, loaded: &'l Loaded<'_>) -> Option<&'l Error> {
    input.source.damage().or(loaded.damage.as_ref())
}

/// Prints what was odd about a loaded heap, and what ended the reading early. Returns the status that belongs to it.
pub(super) fn report_loaded(input: &Input, loaded: &Loaded<'_>, terminal: &Terminal) -> Status {
    for warning in &loaded.heap.warnings {
        terminal.warn(&input.path, &format!("{}: {}", warning.what, warning.count));
    }
    if let Some(damage) = damage(input, loaded) {
        status::report_damage(&input.path, damage, terminal);
        if loaded.incomplete && !loaded.heap.roots.is_empty() {
            terminal
                .warn(&input.path, "roots or references are missing behind the damage: what is live or unreachable is not known");
        }
        return Status::Damaged;
    }
    match loaded.heap.warnings.iter().any(|warning| warning.damage) {
        true => Status::Damaged,
        false => Status::Done,
    }
}
