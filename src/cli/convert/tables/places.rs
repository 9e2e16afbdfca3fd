//! Where tables are written to.

use super::Job;
use crate::cli::args::{ConvertArgs, PartitionKey, Snapshot};
use crate::cli::destination::format_extension;
use crate::cli::status::{OutputError, UsageError};
use crate::convert::digest;
use crate::input::Kind;
use crate::output::syntax::percent_encoded;
use crate::tables::{Column, Table};
use std::fs;
use std::path::{Path, PathBuf};

/// A table and the file to write it to.
pub(super) struct Place {
    pub(super) table: Table,
    pub(super) path: PathBuf,
}

/// Whether OUT is a folder: an existing one, a path with a final slash, or one with partitions.
pub(in crate::cli::convert) fn is_folder(args: &ConvertArgs) -> bool {
    let ends_with_slash =
        args.output.as_os_str().as_encoded_bytes().ends_with(b"/") || args.output.is_dir();
    !args.partition.is_empty() || ends_with_slash
}

/// The tables to write, each with its file. Fails with a [`UsageError`] for tables that the input
/// does not have, for several tables in one file, and for partitions that cannot be.
pub(super) fn plan(job: &Job<'_>) -> Result<Vec<Place>, UsageError> {
    let Job { args, input, conversion, .. } = *job;
    let all = of_kind(input.kind);
    if let Some(table) = args.table.iter().find(|table| !all.contains(table)) {
        let (other, kind) = match input.kind {
            Kind::Heap => ("profiles", "heap"),
            Kind::Profile => ("heaps", "profile"),
        };
        let all = Vec::from_iter(all.iter().map(|table| table.name()));
        return Err(UsageError::new(format!("only {other} have the table {}", table.name()))
            .hint(format!("tables of a {kind}: {}", all.join(", "))));
    }
    if !is_folder(args) {
        let usual = if input.kind == Kind::Heap { Table::Objects } else { Table::Samples };
        return match args.table[..] {
            [] => Ok(vec![Place { table: usual, path: args.output.clone() }]),
            [table] => Ok(vec![Place { table, path: args.output.clone() }]),
            _ => Err(UsageError::new("several tables cannot be written to one file")
                .hint("name a folder for OUT, such as tables/")),
        };
    }
    if job.session.resident.is_some() {
        return Err(UsageError::new("only single tables can be written here")
            .hint("name a file, and one --table"));
    }
    if args.output == Path::new("-") {
        return Err(UsageError::new("partitions cannot be written to standard output"));
    }
    let mut tables = Vec::new();
    let all = all.iter().filter(|table| args.table.is_empty() && !table.is_private());
    for &table in args.table.iter().chain(all) {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    check_keys(&args.partition, &tables)?;
    let extension = conversion.target.extensions()[0];
    let name = (!args.partition.is_empty()).then(|| partition_name(job));
    let place = |table: Table| {
        let path = match &name {
            None => args.output.join(format!("{}.{extension}", table.name())),
            Some(name) => {
                let mut folder = args.output.join(table.name());
                let parts = args.partition.iter();
                folder.extend(parts.map(|part| format!("{}={}", part.key, encoded(&part.value))));
                folder.join(format!("{name}.{extension}"))
            }
        };
        Place { table, path }
    };
    Ok(tables.into_iter().map(place).collect())
}

/// The tables of heaps or of profiles.
fn of_kind(kind: Kind) -> Vec<Table> {
    let is_there = |table: &Table| match kind {
        Kind::Heap => table.is_of_heaps(),
        Kind::Profile => table.is_of_profiles(),
    };
    Table::ALL.iter().copied().filter(is_there).collect()
}

/// Refuses keys that are given twice or have the name of a column.
fn check_keys(keys: &[PartitionKey], tables: &[Table]) -> Result<(), UsageError> {
    for (number, PartitionKey { key, .. }) in keys.iter().enumerate() {
        if keys[..number].iter().any(|other| other.key == *key) {
            return Err(UsageError::new(format!("--partition has the key {key} twice")));
        }
    }
    tables.iter().try_for_each(|table| {
        let columns = table.columns();
        check_columns(keys, *table, &columns.iter().collect::<Vec<_>>())
    })
}

/// Refuses keys with the name of a column: readers could not distinguish the two. Ignores case, as
/// readers do.
pub(super) fn check_columns(
    keys: &[PartitionKey],
    table: Table,
    columns: &[&Column],
) -> Result<(), UsageError> {
    let is_column = |key: &&PartitionKey| {
        columns.iter().any(|column| column.name.eq_ignore_ascii_case(&key.key))
    };
    let Some(PartitionKey { key, .. }) = keys.iter().find(is_column) else { return Ok(()) };
    let table = table.name();
    let message = format!("the key {key} of --partition is a column of the table {table}");
    Err(UsageError::new(message).hint("choose another key"))
}

/// `app-1f6c03d2`: the stem of the input and the beginning of its digest, so that the same dump
/// replaces its table, and another one does not. With `--snapshot 3`, `app-1f6c03d2-3`.
fn partition_name(job: &Job<'_>) -> String {
    let Job { args, input, .. } = *job;
    let mut stem =
        if input.path == Path::new("-") { "stdin".to_owned() } else { stem(&input.path) };
    // Readers skip files whose names begin with these.
    if stem.starts_with(['.', '_']) {
        stem.insert(0, '-');
    }
    let digest = digest(input.bytes());
    let mut name = format!("{}-{}", encoded(&stem), &digest[..8]);
    if let Some(Snapshot::Number(number)) = args.heap.snapshot {
        name.push_str(&format!("-{number}"));
    }
    name
}

/// The name of a file without its extensions.
fn stem(path: &Path) -> String {
    let without = |path: &Path| path.file_stem().unwrap_or_default().to_owned();
    let stem = match (path.extension().and_then(|end| end.to_str()), format_extension(path)) {
        (Some("gz" | "zst"), Some(_)) => without(Path::new(&without(path))),
        _ => without(path),
    };
    stem.to_string_lossy().into_owned()
}

/// Percent-encodes characters with a meaning in paths, globs and URLs. Letters of all scripts stay,
/// because not every reader decodes UTF-8.
fn encoded(text: &str) -> String {
    percent_encoded(text, |c| c.is_alphanumeric() || "-_.~".contains(c))
}

/// Folders created for the output. They are removed if nothing is written to them.
#[derive(Default)]
pub(super) struct Folders {
    made: Vec<PathBuf>,
}

impl Folders {
    /// Makes the folder of a file, and those above it. Fails when one cannot be made.
    pub(super) fn create(&mut self, file: &Path) -> Result<(), OutputError> {
        let Some(folder) = file.parent() else { return Ok(()) };
        let missing: Vec<_> = folder
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => self.made.push(folder.to_owned()),
                // Another program may have made it in the meantime.
                Err(_) if folder.is_dir() => {}
                Err(error) => return Err(OutputError::new(folder, error)),
            }
        }
        Ok(())
    }

    /// Keeps the folders.
    pub(super) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        // Fails for folders with files in them, which stay.
        self.made.iter().rev().for_each(|folder| _ = fs::remove_dir(folder));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_letters_and_values_are_not_empty() {
        for bad in ["", "a", "=b", "a=", "A=b", "a-b=c", "a1=b", "a/b=c", "../a=b"] {
            assert!(bad.parse::<PartitionKey>().is_err(), "{bad}");
        }
        let part: PartitionKey = "_a=b=c".parse().unwrap();
        assert_eq!((&*part.key, &*part.value), ("_a", "b=c"));
    }

    #[test]
    fn values_cannot_leave_their_folder() {
        assert_eq!(encoded("2026-11-21_v1.2~x"), "2026-11-21_v1.2~x");
        assert_eq!(encoded("../a b\\c*?%=:'\"\n"), "..%2Fa%20b%5Cc%2A%3F%25%3D%3A%27%22%0A");
        assert_eq!(encoded("日本é\u{202e}"), "日本é%E2%80%AE");
    }

    #[test]
    fn stems_have_no_extensions() {
        for (name, expected) in [
            ("a/app.hprof", "app"),
            ("app.hprof.zst", "app"),
            ("app.v2.gz", "app"),
            ("app.gz", "app"),
            ("app", "app"),
            (".hidden", ".hidden"),
        ] {
            assert_eq!(stem(Path::new(name)), expected);
        }
    }
}
