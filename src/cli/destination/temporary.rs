//! The file that has the parts of an output until it is complete.

use super::target::folder_of;
use crate::cli::inputs::Inputs;
use crate::cli::interrupt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use tempfile::TempPath;

/// A file in the folder of the target, so that it can be renamed to it, with the permissions of the
/// target, or of any new file, but readable by nobody who cannot read the inputs.
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
            // Before the file is there: a signal may come at any moment.
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
