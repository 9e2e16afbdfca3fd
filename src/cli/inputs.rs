//! The files that a command reads. An output must not replace any of them or be readable by users
//! who cannot read them.

use super::lock;
#[cfg(unix)]
use std::fs::File;
use std::fs::{self, Metadata};
use std::path::Path;
use std::sync::Mutex;

/// The plain files opened so far. Pipes are left out, because their permissions mean nothing.
#[derive(Default)]
pub(crate) struct Inputs(Mutex<Vec<Metadata>>);

impl Inputs {
    /// Adds the file at a path; `-` is standard input.
    pub(super) fn add(&self, path: &Path) {
        let metadata = if path == Path::new("-") { stdin() } else { fs::metadata(path).ok() };
        if let Some(file) = metadata.filter(Metadata::is_file) {
            lock(&self.0).push(file);
        }
    }

    /// Whether a file is one of the inputs, under any name.
    pub(super) fn have(&self, file: &Metadata) -> bool {
        lock(&self.0).iter().any(|input| is_same(input, file))
    }

    /// Returns the permissions that a new file in a folder may have.
    #[cfg(unix)]
    pub(super) fn mode(&self, folder: &Path) -> u32 {
        use std::os::unix::fs::MetadataExt;
        let group = group_of_new_file(folder);
        let allowed = |input: &Metadata| {
            // Another group's members can read the input only if everybody can.
            let is_shared = group == Some(input.gid()) || input.mode() & 0o004 != 0;
            let others = if is_shared { 0o077 } else { 0o007 };
            0o700 | input.mode() & others
        };
        lock(&self.0).iter().fold(0o777, |mode, input| mode & allowed(input))
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Returns `false`: Windows never replaces a file that is mapped.
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

/// The group of a new file: the folder's if new files inherit it, otherwise that of the process.
#[cfg(unix)]
fn group_of_new_file(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    const SET_GROUP_ID: u32 = 0o2000;
    let folder = fs::metadata(folder).ok()?;
    let hands_down = !cfg!(target_os = "linux") || folder.mode() & SET_GROUP_ID != 0;
    Some(if hands_down { folder.gid() } else { rustix::process::getegid().as_raw() })
}
