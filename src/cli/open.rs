//! Opens an input for a command and detects its format.

use super::args::Common;
use super::progress::Progress;
use super::status::{self, InputError, Status, UsageError};
use super::terminal::{Terminal, show_path};
use crate::detect;
use crate::error::Error;
use crate::input::{self, Format, Kind};
use crate::source::{Source, Watch};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An input whose format is known. Its clones share the file.
#[derive(Clone)]
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) source: Arc<Source>,
    pub(super) format: Format,
    pub(super) kind: Kind,
}

impl Input {
    /// Opens a path, or standard input for `-`.
    pub(super) fn open(path: &Path, common: &Common) -> Result<Self, InputError> {
        // With `--from`, the input is read in that format, whatever its first bytes are.
        let accept =
            |head: &[u8]| common.from.map_or_else(|| detect::detect(head).map(|_| ()), |_| Ok(()));
        let stored = std::fs::metadata(path).ok().map(|file| file.len());
        let progress = Progress::new("decompressing", stored);
        let watch = Watch { accept: &accept, progress: &|stored| progress.reached(stored) };
        let source = match path == Path::new("-") {
            true => Source::stdin_if(watch),
            false => Source::open_if(path, watch),
        };
        drop(progress);
        let source = source.map_err(|error| InputError::new(path, error))?;
        let format = match common.from {
            Some(format) => format,
            None => detect::detect(source.bytes()).map_err(|error| InputError::new(path, error))?,
        };
        let kind = input::kind(format, source.bytes());
        Ok(Self { path: path.to_owned(), source: Arc::new(source), format, kind })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.source.bytes()
    }

    /// Refuses options, or a command, for the other kind of input than this one. Each option comes
    /// with whether it was given.
    ///
    /// # Errors
    /// One line that names the first such option.
    pub(super) fn refuse(
        &self,
        other: Kind,
        given: &[(&'static str, bool)],
    ) -> Result<(), UsageError> {
        let Some((name, _)) = given.iter().find(|(_, given)| *given) else { return Ok(()) };
        let (what, is) = match other {
            Kind::Heap => ("heaps", "profile"),
            Kind::Profile => ("profiles", "heap"),
        };
        Err(UsageError::new(format!(
            "{name} applies to {what}, but {} is a {is}",
            show_path(&self.path)
        )))
    }

    /// Refuses an option that is given and that only another format has.
    ///
    /// # Errors
    /// One line that names the format.
    pub(super) fn only(&self, format: Format, name: &str, given: bool) -> Result<(), UsageError> {
        match given && self.format != format {
            true => Err(UsageError::new(format!(
                "{name} is for {}s; {} is not one",
                format.title(),
                show_path(&self.path)
            ))),
            false => Ok(()),
        }
    }

    /// Prints where reading ended early, if it did, in the source or in the format. Returns the
    /// status for it.
    pub(super) fn report_if_damaged(&self, damage: Option<&Error>, terminal: &Terminal) -> Status {
        match self.source.damage().or(damage) {
            Some(damage) => {
                status::report_damage(&self.path, damage, terminal);
                Status::Damaged
            }
            None => Status::Done,
        }
    }

    /// An error of the reader, as one about this input.
    pub(super) fn error(&self, error: Error) -> InputError {
        InputError::new(&self.path, error)
    }
}
