//! The files that the server may read.

use crate::cli::mappings::mapping_beside;
use crate::cli::status::{InputError, UsageError};
use crate::cli::terminal::show_path;
use crate::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// The files and folders that were given, with symbolic links and `..` resolved.
pub(super) struct Access {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// The mappings beside the files.
    mappings: Vec<PathBuf>,
}

impl Access {
    /// Fails if nothing was given, or a path that does not exist or is not of its kind.
    pub(super) fn of(files: &[PathBuf], folders: &[PathBuf]) -> anyhow::Result<Self> {
        if files.is_empty() && folders.is_empty() {
            let hint = "name the dumps, or their folder with --allow DIR";
            return Err(UsageError::new("no files to read").hint(hint).into());
        }
        let real = |path: &PathBuf| {
            path.canonicalize()
                .map_err(|error| InputError::new(path, Error::io(error, "cannot open")))
        };
        // Allows the mapping beside each dump, which commands find by themselves.
        let beside = files.iter().map(|file| mapping_beside(file)).filter(|file| file.is_file());
        let mappings: Vec<PathBuf> =
            beside.filter_map(|mapping| mapping.canonicalize().ok()).collect();
        let files = files.iter().map(real).collect::<Result<Vec<_>, _>>()?;
        let folders = folders.iter().map(real).collect::<Result<Vec<_>, _>>()?;
        let is_wrong = |path: &&PathBuf| !path.is_dir();
        if let Some(path) = folders.iter().find(is_wrong) {
            let message = format!("--allow: {} is not a folder", show_path(path));
            return Err(UsageError::new(message).into());
        }
        if let Some(path) = files.iter().find(|path| !path.is_file()) {
            let message = format!("{} is not a file", show_path(path));
            return Err(UsageError::new(message).hint("--allow takes a folder").into());
        }
        Ok(Self { files, folders, mappings })
    }

    /// Whether a file, or a folder of source maps, may be read. Pipes, devices and standard input,
    /// which carries the requests, may not. A missing file may be read in an allowed folder, so
    /// that the error reports it as missing.
    pub(super) fn allows(&self, path: &Path) -> bool {
        if path == Path::new("-") {
            return false;
        }
        let is_below = |real: &Path| self.folders.iter().any(|folder| real.starts_with(folder));
        match path.canonicalize() {
            Ok(real) => {
                let is_given = self.files.contains(&real) || self.mappings.contains(&real);
                (real.is_file() && is_given)
                    || ((real.is_file() || real.is_dir()) && is_below(&real))
            }
            Err(_) if path.is_symlink() || path.file_name().is_none() => false,
            Err(_) => {
                let folder = path.parent().filter(|folder| *folder != Path::new(""));
                folder.unwrap_or(Path::new(".")).canonicalize().is_ok_and(|real| is_below(&real))
            }
        }
    }
}

/// Describes to an assistant which tools and files it can use.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 50;
        f.write_str(
            "Heap dumps and profiles. `info` shows a summary of a file; then `top`, `suspects` and `tree` \
             show what holds the memory or takes the time, `find`, `show` and `path` find \
             objects and show why they are alive, `diff` shows what grew, and `convert` writes a \
             new file for another tool.",
        )?;
        for (what, paths) in [("Files", &self.files), ("Folders", &self.folders)] {
            if !paths.is_empty() {
                let shown: Vec<_> =
                    paths.iter().take(MOST).map(|path| path.display().to_string()).collect();
                let more = if paths.len() > MOST { ", …" } else { "" };
                write!(f, "\n{what} that may be read: {}{more}", shown.join(", "))?;
            }
        }
        Ok(())
    }
}
