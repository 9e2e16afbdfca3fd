//! `query`: SQL over the tables of a dump.
//!
//! SQLite reads [relations](crate::tables::Relation) through [virtual tables](virtual_table): nothing is copied,
//! lookups use the indexes of the model, and an analysis runs when a column needs it.

mod answer;
mod connection;
mod examples;
mod files;
mod functions;
mod overview;
mod relations;
mod statement;
mod virtual_table;

use super::args::{ProfileOptions, QueryArgs};
use super::heap::{damage, load_as, report_loaded};
use super::memory::{Work, most_memory};
use super::open::Input;
use super::profile::{Kept, ProfileInput, load_parts, refused};
use super::recording::read_options;
use super::session::Session;
use super::size::plural;
use super::status::{Status, UsageError};
use crate::cli::heap::HeldHeap;
use crate::convert::read_events;
use crate::input::{Format, Kind};
use crate::tables::EventRows;
use connection::Limits;
use files::FileTables;
use relations::{LoadedFile, Model};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of memory that SQLite may take in any case.
const LEAST_MEMORY: u64 = 64 << 20;
/// The time of a statement in `serve` and `mcp`, unless `--timeout` is given.
const RESIDENT_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of bytes of a statement on standard input.
const LONGEST_SQL: u64 = 1 << 20;

pub(super) fn run(args: &QueryArgs, session: &Session) -> anyhow::Result<Status> {
    let Question { new, sql } = Question::of(args)?;
    let paths: Vec<&Path> = [args.file.as_path()].into_iter().chain(new.as_deref()).collect();
    let open = |path: &&Path| Ok(session.open(path)?.at(args.heap.snapshot));
    let inputs: Vec<Input> = paths.iter().map(open).collect::<anyhow::Result<_>>()?;
    // Events are loaded only if needed: they take more memory than the rest of a recording.
    let has_events = sql.as_ref().is_none_or(|sql| sql.to_lowercase().contains("events"));
    let files: Vec<File<'_>> = inputs
        .iter()
        .map(|input| File::load(input, args, session, (has_events, sql.is_none())))
        .collect::<anyhow::Result<_>>()?;
    let tables: Vec<FileTables> = files.iter().map(|file| file.tables()).collect();
    match &sql {
        Some(sql) => {
            let most = inputs.iter().map(|input| most_memory(input, &session.common));
            let memory = most.max().unwrap_or_default();
            let taken = files.iter().map(File::bytes).fold(0, u64::saturating_add);
            let memory = memory.saturating_sub(taken).max(LEAST_MEMORY);
            let limits = Limits { memory, time: time(session) };
            let connection = connection::open(&tables, &limits)
                .map_err(|error| connection::explain(&error, sql))?;
            answer::print_answer(&connection, sql, args, &paths, memory, session)?;
        }
        None => overview::print_overview(&tables, &paths, session)?,
    }
    if session.common.verbose {
        tell_visited(&tables, session);
    }
    let statuses = files.iter().map(|file| file.report(session));
    Ok(statuses.max().unwrap_or(Status::Done))
}

/// The time that a statement may take: `--timeout`. In a program that also answers other requests,
/// there is a limit without the option, too.
fn time(session: &Session) -> Option<Duration> {
    let usual = session.resident.is_some().then_some(RESIDENT_TIMEOUT);
    session.common.timeout.map(Duration::from_secs).or(usual)
}

/// Prints how many rows of each table the statement read: few, if it used an index.
fn tell_visited(files: &[FileTables], session: &Session) {
    for shared in files.iter().flat_map(|file| &file.tables) {
        let visited = shared.visited();
        if visited > 0 {
            let name = shared.name();
            let visited = plural(visited, "row", "rows");
            session.terminal.tell("", &format!("{name}: looked at {visited}"));
        }
    }
}

/// The arguments after the first file: `[NEW] [SQL]`.
struct Question {
    new: Option<PathBuf>,
    sql: Option<String>,
}

impl Question {
    fn of(args: &QueryArgs) -> anyhow::Result<Self> {
        let (new, sql) = match (&args.second, &args.third) {
            (second, Some(sql)) => (second.as_ref().map(PathBuf::from), Some(sql)),
            // One argument is SQL, unless there is a file with this name.
            (Some(second), None) if Path::new(second).exists() => (Some(second.into()), None),
            (second, None) => (None, second.as_ref()),
        };
        let files = [Some(&args.file), new.as_ref()];
        let is_stdin = |path: Option<&PathBuf>| path.is_some_and(|path| path == Path::new("-"));
        let sql = match sql.map(String::as_str) {
            Some("-") if files.into_iter().any(is_stdin) => {
                return Err(
                    UsageError::new("standard input cannot be both the dump and the SQL").into()
                );
            }
            Some("-") => Some(read_stdin()?),
            sql => sql.map(str::to_owned),
        };
        Ok(Self { new, sql })
    }
}

fn read_stdin() -> anyhow::Result<String> {
    let mut sql = Vec::new();
    std::io::stdin().take(LONGEST_SQL + 1).read_to_end(&mut sql).map_err(|error| {
        UsageError::new(format!("standard input: cannot read the SQL: {error}"))
    })?;
    if sql.len() as u64 > LONGEST_SQL {
        return Err(UsageError::new("SQL: longer than 1 MiB").into());
    }
    String::from_utf8(sql).map_err(|_| UsageError::new("SQL: not UTF-8").into())
}

/// The events of a recording, or only their number.
fn events(input: &Input, only_count: bool, session: &Session) -> anyhow::Result<EventRows> {
    let options = read_options(input, session);
    let read = read_events(input.format, input.bytes(), only_count, options);
    read.map_err(|error| refused(error, input, &session.common))
}

enum File<'i> {
    Heap { input: &'i Input, held: Arc<HeldHeap> },
    Profile { loaded: ProfileInput<'i>, events: Option<Arc<EventRows>> },
}

impl<'i> File<'i> {
    /// Loads a file. `has_events` adds the table `events` of a recording; with `only_count`, the
    /// table has no rows, only their number.
    fn load(
        input: &'i Input,
        args: &QueryArgs,
        session: &Session,
        (has_events, only_count): (bool, bool),
    ) -> anyhow::Result<Self> {
        match input.kind {
            Kind::Heap => {
                let (snapshot, roots) = (args.heap.snapshot, &args.heap.roots);
                let held = load_as(Work::Rows, session, "query", input, snapshot, roots)?;
                Ok(Self::Heap { input, held })
            }
            Kind::Profile => {
                input.refuse(Kind::Heap, &args.heap.given())?;
                let is_wanted = input.format == Format::Jfr && has_events;
                let events = || events(input, only_count, session).map(Arc::new);
                let events = is_wanted.then(events).transpose()?;
                let kept = Kept { samples: true, ..Kept::default() };
                let loaded = load_parts(input, &ProfileOptions::default(), session, kept)?;
                Ok(Self::Profile { loaded, events })
            }
        }
    }

    fn tables(&self) -> FileTables {
        let (input, damage, model, events) = match self {
            Self::Heap { input, held } => {
                (*input, damage(input, held.get()), Model::Heap(Arc::clone(held)), None)
            }
            Self::Profile { loaded, events } => {
                let model = Model::Profile(Arc::clone(&loaded.profile));
                (loaded.input, loaded.damage(), model, events.clone())
            }
        };
        let damage = damage.map(ToString::to_string);
        FileTables::of(LoadedFile { input: input.clone(), damage, model, events })
    }

    /// The approximate memory of the loaded file, in bytes.
    fn bytes(&self) -> u64 {
        match self {
            Self::Heap { held, .. } => held.bytes(),
            Self::Profile { loaded, .. } => loaded.input.bytes().len() as u64,
        }
    }

    fn report(&self, session: &Session) -> Status {
        match self {
            Self::Heap { input, held } => report_loaded(session, input, held.get()),
            Self::Profile { loaded, .. } => loaded.report(session),
        }
    }
}
