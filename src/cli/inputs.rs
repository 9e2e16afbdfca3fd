//! The files that a command reads: none of them is replaced by an output, and no output is readable
//! by more people than they are.

use super::session::Session;
use super::status::UsageError;
use super::terminal::show_path;
use crate::analysis::glob::Glob;
#[cfg(unix)]
use std::fs::File;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files that a path means: itself, or those that match the pattern in its last part if no file
/// has it as its name, in the order of their names. For more files than a command line may name, and
/// for commands with a place for one.
///
/// # Errors
/// A [`UsageError`] for a pattern that no file matches.
pub(crate) fn expanded(
    path: &Path,
    session: &Session,
) -> Result<(PathBuf, Vec<PathBuf>), UsageError> {
    let name = path.file_name().and_then(|name| name.to_str());
    let pattern = name.filter(|name| name.contains(['*', '?', '{']));
    // A resident program reads the files that it was given.
    let Some(pattern) = pattern.filter(|_| session.resident.is_none() && !path.exists()) else {
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

/// The plain files that were opened so far. A pipe has no permissions that mean anything.
#[derive(Default)]
pub(crate) struct Inputs(Mutex<Vec<Metadata>>);

impl Inputs {
    /// Adds the file at a path; `-` is standard input.
    pub(super) fn add(&self, path: &Path) {
        let metadata = if path == Path::new("-") { stdin() } else { fs::metadata(path).ok() };
        if let Some(file) = metadata.filter(Metadata::is_file) {
            self.files().push(file);
        }
    }

    /// Whether a file is one of them, under whatever name.
    pub(super) fn have(&self, file: &Metadata) -> bool {
        self.files().iter().any(|input| is_same(input, file))
    }

    /// Returns the permissions that a new file in a folder may have.
    #[cfg(unix)]
    pub(super) fn mode(&self, folder: &Path) -> u32 {
        use std::os::unix::fs::MetadataExt;
        let group = group_of_new_file(folder);
        let allowed = |input: &Metadata| {
            // The members of another group could read the input only as everybody can.
            let is_shared = group == Some(input.gid()) || input.mode() & 0o004 != 0;
            let others = if is_shared { 0o077 } else { 0o007 };
            0o700 | input.mode() & others
        };
        self.files().iter().fold(0o777, |mode, input| mode & allowed(input))
    }

    fn files(&self) -> MutexGuard<'_, Vec<Metadata>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Windows replaces no file that is mapped.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn stdin() -> Option<Metadata> {
    use std::os::fd::AsFd;
    let stdin = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    File::from(stdin).metadata().ok()
}

#[cfg(not(unix))]
fn stdin() -> Option<Metadata> {
    None
}

/// The group that a new file in a folder gets: the folder's if it hands its group down.
#[cfg(unix)]
fn group_of_new_file(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    const SET_GROUP_ID: u32 = 0o2000;
    let folder = fs::metadata(folder).ok()?;
    let hands_down = !cfg!(target_os = "linux") || folder.mode() & SET_GROUP_ID != 0;
    Some(if hands_down { folder.gid() } else { rustix::process::getegid().as_raw() })
}
