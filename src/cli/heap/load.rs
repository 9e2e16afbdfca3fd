//! Loads the heap of an input for a command.

use super::held::HeldHeap;
use crate::cli::args::{HeapOptions, LoadArgs, Snapshot};
use crate::cli::memory::{Work, refuse_too_large};
use crate::cli::open::Input;
use crate::cli::session::Session;
use crate::cli::status::{self, InputError, Status, UsageError};
use crate::cli::terminal::show_path;
use crate::error::{Error, ErrorKind};
use crate::input::load::{Executable, LoadOptions, Loaded, PlainObjectTypes};
use crate::input::{self, Kind};
use crate::source::Source;
use std::path::Path;
use std::sync::Arc;

/// Opens and loads a heap for a command that does not support profiles. `instead` is a hint about
/// the command to use for a profile. Fails with a [`UsageError`](crate::cli::status::UsageError)
/// for a profile; otherwise as [`load_for`].
pub(crate) fn open_heap(
    session: &Session,
    command: &'static str,
    file: &Path,
    options: &HeapOptions,
    instead: Option<&str>,
) -> anyhow::Result<(Input, Arc<HeldHeap>)> {
    let input = session.open(file)?;
    let held = load_heap(session, command, &input, options, instead)?;
    Ok((input, held))
}

/// Loads the heap of an opened input, as [`open_heap`] does.
pub(crate) fn load_heap(
    session: &Session,
    command: &'static str,
    input: &Input,
    options: &HeapOptions,
    instead: Option<&str>,
) -> anyhow::Result<Arc<HeldHeap>> {
    if input.kind != Kind::Heap {
        let refused = input.refuse(Kind::Heap, &[(command, true)]);
        refused.map_err(|error| match instead {
            Some(hint) => error.hint(hint),
            None => error,
        })?;
    }
    load(session, command, input, options.snapshot, &options.roots)
}

/// Loads a heap for a command that asks who holds what, or takes the one that is resident.
pub(crate) fn load(
    session: &Session,
    command: &'static str,
    input: &Input,
    snapshot: Option<Snapshot>,
    roots: &LoadArgs,
) -> anyhow::Result<Arc<HeldHeap>> {
    load_as(Work::Analysis, session, command, input, snapshot, roots)
}

/// Loads a heap as [`load`] does, with what `work` needs. A resident heap has what any work needs.
pub(crate) fn load_as(
    work: Work,
    session: &Session,
    command: &'static str,
    input: &Input,
    snapshot: Option<Snapshot>,
    roots: &LoadArgs,
) -> anyhow::Result<Arc<HeldHeap>> {
    let work = if session.resident.is_some() { Work::Analysis } else { work };
    let (snapshot, roots) = match &session.resident {
        Some(resident) => resident.options(snapshot, roots),
        None => (snapshot, roots),
    };
    let load = || {
        HeldHeap::load(input.clone(), |input| {
            load_for(work, session, command, input, snapshot, roots)
        })
    };
    match &session.resident {
        Some(resident) => resident.heap(input, (snapshot, roots), load),
        None => load().map(Arc::new),
    }
}

/// Loads a heap, unless it is too large for the work, and shows how far it is. Without a snapshot,
/// the last complete one. Fails with a [`UsageError`] when the file has no such snapshot, or the
/// heap is too large for memory; with an `InputError` when nothing can be loaded. Damage after the
/// loaded part is not an error: it is in [`Loaded::damage`], or in the source of the input.
pub(crate) fn load_for<'a>(
    work: Work,
    session: &Session,
    command: &'static str,
    input: &'a Input,
    snapshot: Option<Snapshot>,
    roots: &LoadArgs,
) -> anyhow::Result<Loaded<'a>> {
    input.accept(&roots.of_formats())?;
    let open = |path: &Path| open_program(path, session);
    let program = roots.exe.as_deref().map(open).transpose()?;
    let program = program.as_ref().map(Source::bytes);
    refuse_too_large(command, work, input, snapshot, program, session)?;
    let progress = session.progress(input);
    let reached = |offset| progress.reached(offset);
    let mut options = load_options(snapshot, roots, &reached)
        .bare(work == Work::Counting)
        .stored_labels(matches!(work, Work::Copy | Work::Rows))
        .source_maps(session.source_maps())
        .mapping(input.mapping.as_deref());
    if let Some(bytes) = program {
        options = options.executable(Some(Executable { bytes, guesses: !roots.no_guess }));
    }
    let loaded = input::load(input.format, input.bytes(), options).map_err(|error| {
        match (error.kind(), &roots.exe) {
            (ErrorKind::Executable, Some(path)) => InputError::new(path, error).into(),
            _ => refused(error, input),
        }
    });
    session.warn_of_source_maps(input);
    loaded
}

/// Opens the executable that wrote a dump.
fn open_program(path: &Path, session: &Session) -> anyhow::Result<Source> {
    session.allow(path)?;
    let program = Source::open(path).map_err(|error| InputError::new(path, error))?;
    session.reads(path, &program);
    Ok(program)
}

pub(crate) fn load_options<'a>(
    snapshot: Option<Snapshot>,
    options: &LoadArgs,
    progress: crate::input::Progress<'a>,
) -> LoadOptions<'a> {
    let plain_objects =
        if options.join_objects { PlainObjectTypes::One } else { PlainObjectTypes::ByProperties };
    LoadOptions::default()
        .snapshot(snapshot.unwrap_or_default())
        .roots(options.roots.unwrap_or_default())
        .layout(options.layout())
        .sizes(options.sizes.unwrap_or_default())
        .plain_objects(plain_objects)
        .by_layout(options.by_layout)
        .progress(progress)
}

/// Converts the error of a reader to an error about this input, or about arguments that request
/// data it does not have.
pub(crate) fn refused(error: Error, input: &Input) -> anyhow::Error {
    match error.kind() {
        ErrorKind::Absent => UsageError::new(error.message()).into(),
        _ => input.error(error).into(),
    }
}

/// Refuses a heap whose roots a command needs and that has none. A damaged one may have lost them:
/// then the damage is reported. Fails with a [`UsageError`] when the heap is sound.
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

/// Returns the damage that ended the reading of a heap early.
pub(crate) fn damage<'l>(input: &'l Input, loaded: &'l Loaded<'_>) -> Option<&'l Error> {
    input.source.damage().or(loaded.damage.as_ref())
}

/// Prints the warnings of a loaded heap, and the damage that ended the reading early. Returns the
/// status.
pub(crate) fn report_loaded(session: &Session, input: &Input, loaded: &Loaded<'_>) -> Status {
    let terminal = &session.terminal;
    let flawed = report_warnings(session, input, loaded);
    if let Some(damage) = damage(input, loaded) {
        status::report_damage(&input.path, damage, terminal);
        if loaded.incomplete && !loaded.heap.roots.is_empty() {
            terminal.warn(
                &input.path,
                "roots or references after the damage are missing, so live and unreachable objects cannot be distinguished",
            );
        }
        return Status::Damaged;
    }
    flawed
}

/// Prints the warnings of a loaded heap. Returns the status for them.
pub(crate) fn report_warnings(session: &Session, input: &Input, loaded: &Loaded<'_>) -> Status {
    let terminal = &session.terminal;
    let is_whole = damage(input, loaded).is_none();
    // Omissions in every dump of HotSpot are not worth a warning.
    for warning in
        loaded.heap.warnings.iter().filter(|warning| session.common.verbose || !warning.is_usual())
    {
        if warning.is_damage() && is_whole {
            status::report_flaw(&input.path, &warning.text(), terminal);
        } else {
            terminal.warn(&input.path, &warning.text());
        }
    }
    if session.common.verbose {
        loaded.remarks.iter().for_each(|remark| terminal.warn(&input.path, remark));
    }
    if loaded.heap.warnings.iter().any(|warning| warning.is_damage()) {
        Status::Damaged
    } else {
        Status::Done
    }
}
