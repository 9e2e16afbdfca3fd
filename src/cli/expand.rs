//! The files that a pattern on the command line means.

use super::address::is_address;
use super::session::Session;
use super::status::UsageError;
use super::terminal::show_path;
use crate::analysis::glob::Glob;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that a path stands for, sorted by name: the path itself if it exists, otherwise the
/// files that match the pattern in its last part. Patterns serve for more files than a command line
/// can hold, and for arguments that take a single path. Fails with a [`UsageError`] for a pattern
/// that no file matches.
pub(crate) fn expanded(
    path: &Path,
    session: &Session,
) -> Result<(PathBuf, Vec<PathBuf>), UsageError> {
    let name = path.file_name().and_then(|name| name.to_str());
    let pattern = name.filter(|name| name.contains(['*', '?', '{']));
    // A resident program reads only the files that it was given, so it expands no patterns.
    let is_itself = session.resident.is_some() || path.exists() || is_address(path);
    let Some(pattern) = pattern.filter(|_| !is_itself) else {
        return Ok((path.to_owned(), Vec::new()));
    };
    let mut files = matching(path, pattern).into_iter();
    match files.next() {
        Some(first) => Ok((first, files.collect())),
        None => Err(UsageError::new(format!("no file matches {}", show_path(path)))),
    }
}

fn matching(path: &Path, pattern: &str) -> Vec<PathBuf> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let glob = Glob::new(pattern);
    let is_meant =
        |name: &str| glob.matches(name) && (!name.starts_with('.') || pattern.starts_with('.'));
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let mut names: Vec<_> = names.filter(|name| name.to_str().is_some_and(is_meant)).collect();
    names.sort_unstable();
    let below = |name| folder.map_or_else(|| PathBuf::from(&name), |folder| folder.join(&name));
    names.into_iter().map(below).collect()
}
