//! The target of an output path: a stream that is already open, or a file to replace, with a
//! temporary file beside it that receives the output until it is complete.

use crate::cli::inputs::Inputs;
use crate::cli::interrupt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Follows symbolic links, also those to files that do not exist yet, up to the path of a
/// descriptor such as `/dev/fd/1`. Fails when links lead in a circle.
pub(super) fn resolve(output: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut path = output.to_owned();
    for _ in 0..MOST_LINKS {
        if descriptor(&path).is_some() {
            return Ok(path);
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Opens the stream if the path names one: a descriptor, a device or a pipe. Returns `None` for
/// files, and for paths that do not exist.
///
/// A descriptor of this program is duplicated, so that writing continues where its last writer
/// stopped. Opening its file again would overwrite the file from the beginning, and renaming a new
/// file to its name would replace what `>>` keeps.
pub(super) fn open_stream(path: &Path) -> Option<io::Result<File>> {
    match descriptor(path) {
        Some(Descriptor::Own(number)) => Some(duplicate(number)),
        Some(Descriptor::OfAnother) => Some(OpenOptions::new().append(true).open(path)),
        None if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) => {
            Some(OpenOptions::new().write(true).open(path))
        }
        None => None,
    }
}

/// Whether a path names standard output: `-`, `/dev/stdout`, `/dev/fd/1`.
pub(in crate::cli) fn is_stdout(output: &Path) -> bool {
    let leads_there =
        || resolve(output).is_ok_and(|path| matches!(descriptor(&path), Some(Descriptor::Own(1))));
    output == Path::new("-") || leads_there()
}

/// The folder of a path, as something that can be opened.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

enum Descriptor {
    Own(i32),
    OfAnother,
}

/// The descriptor that a path names: `/dev/fd/N`, `/proc/PID/fd/N`, `/proc/PID/task/TID/fd/N`.
fn descriptor(path: &Path) -> Option<Descriptor> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = folder_of(path);
    // `/dev/fd` and `/proc/self` are links. Without a mounted /proc they cannot be resolved, and
    // the path is compared as given.
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let parts: Vec<_> = folder.iter().filter_map(|part| part.to_str()).collect();
    match parts.as_slice() {
        ["/", "dev", "fd"] => Some(Descriptor::Own(number)),
        ["/", "proc", process, "fd"] | ["/", "proc", process, "task", _, "fd"] => {
            let is_own = *process == "self" || process.parse() == Ok(std::process::id());
            Some(if is_own { Descriptor::Own(number) } else { Descriptor::OfAnother })
        }
        _ => None,
    }
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn duplicate(number: i32) -> io::Result<File> {
    use std::os::fd::BorrowedFd;
    if number < 0 {
        return Err(io::ErrorKind::NotFound.into());
    }
    // SAFETY: the borrow ends with this call, which closes nothing, and fails if no such descriptor
    // is open.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    descriptor.try_clone_to_owned().map(File::from)
}

#[cfg(not(unix))]
fn duplicate(_number: i32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a file in the folder of the target, so that it can be renamed to the target. Copies the
/// permissions of the target, or of any new file, but grants none that the inputs do not grant.
pub(in crate::cli) fn temporary_beside(
    target: &Path,
    inputs: &Inputs,
) -> io::Result<(File, TempPath)> {
    let folder = folder_of(target);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let usual = fs::metadata(target).map_or(0o666, |target| target.permissions().mode());
        options.mode(usual & inputs.mode(folder));
    }
    #[cfg(not(unix))]
    let _ = inputs;
    let file =
        tempfile::Builder::new().prefix(".dumptool-").suffix(".part").make_in(folder, |path| {
            // Registered before the file exists, because a signal may arrive at any moment.
            interrupt::remove_when_stopped(path);
            options.open(path).inspect_err(|_| interrupt::keep())
        })?;
    Ok(file.into_parts())
}

/// The error without the path of the temporary file, which would only confuse.
pub(in crate::cli) fn without_path(error: io::Error, target: &Path) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound if !folder_of(target).exists() => {
            io::Error::new(io::ErrorKind::NotFound, "the folder does not exist")
        }
        kind => kind.into(),
    }
}
