//! `query`: SQL over the tables of a dump.
//!
//! SQLite reads [relations](relation) through [virtual tables](virtual_table): nothing is copied,
//! lookups use the indexes of the model, and an analysis runs when a column needs it.

mod answer;
mod connection;
mod dump;
mod examples;
mod files;
mod functions;
mod heap;
mod overview;
mod profile;
mod relation;
mod statement;
mod tables;
mod virtual_table;

use super::args::QueryArgs;
use super::heap::{damage, load_as, report_loaded};
use super::memory::{Work, limit};
use super::open::Input;
use super::profile::{ProfileInput, load_samples};
use super::session::Session;
use super::size::plural;
use super::status::{Status, UsageError};
use crate::cli::heap::HeldHeap;
use crate::input::Kind;
use crate::output::tables::Table;
use dump::Dump;
use files::FileTables;
use relation::SqlTable;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use virtual_table::Shared;

/// Memory that SQLite may take in any case.
const LEAST_MEMORY: u64 = 64 << 20;
/// Bytes of a statement on standard input.
const LONGEST_SQL: u64 = 1 << 20;

pub(super) fn run(args: &QueryArgs, session: &Session) -> anyhow::Result<Status> {
    let Question { new, sql } = Question::of(args)?;
    let paths: Vec<&Path> = [args.file.as_path()].into_iter().chain(new.as_deref()).collect();
    let inputs: Vec<Input> =
        paths.iter().map(|path| session.open(path)).collect::<anyhow::Result<_>>()?;
    let files: Vec<File<'_>> = inputs
        .iter()
        .map(|input| File::load(input, args, session))
        .collect::<anyhow::Result<_>>()?;
    let tables: Vec<FileTables> = files.iter().map(|file| file.tables()).collect();
    match &sql {
        Some(sql) => {
            let memory = limit(&session.common).unwrap_or(u64::MAX);
            let taken = files.iter().map(File::bytes).fold(0, u64::saturating_add);
            let memory = memory.saturating_sub(taken).max(LEAST_MEMORY);
            let connection = connection::open(&tables, memory)
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

/// Prints how many rows of each table were looked at: few, if an index was of use.
fn tell_visited(files: &[FileTables], session: &Session) {
    for shared in files.iter().flat_map(|file| &file.tables) {
        let visited = shared.visited();
        if visited > 0 {
            let name = shared.table.name;
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

/// A loaded file.
enum File<'i> {
    Heap { input: &'i Input, held: Arc<HeldHeap> },
    Profile(ProfileInput<'i>),
}

impl<'i> File<'i> {
    fn load(input: &'i Input, args: &QueryArgs, session: &Session) -> anyhow::Result<Self> {
        match input.kind {
            Kind::Heap => {
                let (snapshot, roots) = (args.heap.snapshot, &args.heap.roots);
                let held = load_as(Work::Analysis, session, "query", input, snapshot, roots)?;
                Ok(Self::Heap { input, held })
            }
            Kind::Profile => {
                input.refuse(Kind::Heap, &args.heap.given())?;
                Ok(Self::Profile(load_samples(input, session)?))
            }
        }
    }

    fn tables(&self) -> FileTables {
        let (input, mut tables, damaged, heap) = match self {
            Self::Heap { input, held } => {
                let damaged = damage(input, held.get());
                (*input, heap::tables(held), damaged, Some(Arc::clone(held)))
            }
            Self::Profile(loaded) => {
                (loaded.input, profile::tables(&loaded.profile), loaded.damage(), None)
            }
        };
        let damaged = damaged.map(ToString::to_string);
        tables.push(SqlTable::of(Table::Dump, Dump::of(input, damaged, heap.clone())));
        FileTables { tables: tables.into_iter().map(Shared::new).collect(), heap }
    }

    /// About the bytes that the loaded file takes.
    fn bytes(&self) -> u64 {
        match self {
            Self::Heap { held, .. } => held.bytes(),
            Self::Profile(loaded) => loaded.input.bytes().len() as u64,
        }
    }

    fn report(&self, session: &Session) -> Status {
        match self {
            Self::Heap { input, held } => report_loaded(session, input, held.get()),
            Self::Profile(loaded) => loaded.report(session),
        }
    }
}
