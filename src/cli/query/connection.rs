//! The connection to SQLite: in memory, read-only, with the tables of the files.

use super::files::{FileTables, MAIN, NEW, OLD};
use super::functions;
use super::virtual_table::{self, Shared};
use crate::cli::status::UsageError;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The memory and time that a statement may use.
pub(super) struct Limits {
    /// Bytes that SQLite may take.
    pub(super) memory: u64,
    /// The time since the connection was opened. `None` for no limit.
    pub(super) time: Option<Duration>,
}

/// Opens a connection to the tables of a file, or of an older and a newer one, for one statement.
/// Fails when SQLite has no memory.
pub(super) fn open(files: &[FileTables], limits: &Limits) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_MEMORY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_in_memory_with_flags(flags)?;
    // SQLite sorts in memory, so the memory limit covers sorting.
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY; PRAGMA hard_heap_limit = {}",
        i64::try_from(limits.memory).unwrap_or(i64::MAX)
    ))?;
    let tables =
        |file: &FileTables| file.tables.iter().map(Arc::clone).collect::<Vec<Arc<Shared>>>();
    let schemas = match files {
        [old, new] => {
            connection.execute_batch("ATTACH ':memory:' AS old; ATTACH ':memory:' AS new")?;
            vec![(MAIN, tables(new)), (OLD, tables(old)), (NEW, tables(new))]
        }
        files => files.iter().map(|file| (MAIN, tables(file))).collect(),
    };
    virtual_table::create(&connection, schemas)?;
    functions::add(&connection, files)?;
    protect(&mut connection)?;
    if let Some(time) = limits.time {
        let started = Instant::now();
        // SQLite calls the handler after so many of its instructions, about every millisecond.
        connection.progress_handler(10_000, Some(move || started.elapsed() > time))?;
    }
    Ok(connection)
}

/// Allows reading only (no writing, no files, no extensions), and bounds what a
/// statement may take before it runs.
fn protect(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // "name" is a column, never a text: a misspelt column is an error.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, 64 << 20),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
        (Limit::SQLITE_LIMIT_VDBE_OP, 1 << 20),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, most)?;
    }
    connection.authorizer(Some(|context: AuthContext<'_>| {
        if is_allowed(&context.action) { Authorization::Allow } else { Authorization::Deny }
    }))
}

/// Whether a statement may perform `action`.
fn is_allowed(action: &AuthAction<'_>) -> bool {
    match action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => {
            !matches!(*function_name, "load_extension" | "fts3_tokenizer")
        }
        AuthAction::Pragma { pragma_name, .. } => matches!(
            *pragma_name,
            "table_info" | "table_xinfo" | "table_list" | "function_list" | "compile_options"
        ),
        _ => false,
    }
}

/// An error of SQLite as one about the statement: where in it, and what to do.
pub(super) fn explain(error: &rusqlite::Error, sql: &str) -> UsageError {
    use rusqlite::ErrorCode;
    let hint = "`dumptool query FILE` lists the tables, their columns and examples";
    match error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => {
            UsageError::new(format!("SQL{}: {msg}", place(sql, *offset))).hint(hint)
        }
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::AuthorizationForStatementDenied => {
                UsageError::new("SQL: only reading is allowed")
                    .hint("give one SELECT statement without ATTACH and PRAGMA")
            }
            ErrorCode::OutOfMemory => {
                UsageError::new("SQL: the query needs more memory than the limit")
                    .hint("--max-memory raises the limit")
            }
            ErrorCode::OperationInterrupted => {
                UsageError::new("SQL: the query took longer than the limit")
                    .hint("--timeout raises the limit")
            }
            ErrorCode::TooBig => UsageError::new("SQL: a text is longer than 64 MiB"),
            _ => UsageError::new(format!(
                "SQL: {}",
                message.clone().unwrap_or_else(|| failure.to_string())
            ))
            .hint(hint),
        },
        error => UsageError::new(format!("SQL: {error}")).hint(hint),
    }
}

/// ` at line 2, column 5`, of a byte of the statement.
pub(super) fn place(sql: &str, offset: i32) -> String {
    let Some(before) = usize::try_from(offset).ok().and_then(|offset| sql.get(..offset)) else {
        return String::new();
    };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!(" at line {line}, column {column}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_and_columns_of_characters() {
        assert_eq!(place("select 1", 7), " at line 1, column 8");
        assert_eq!(place("select 'ü',\n  x", 15), " at line 2, column 3");
        assert_eq!((place("a", -1), place("a", 9)), (String::new(), String::new()));
    }
}
