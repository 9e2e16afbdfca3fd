//! The session of a command: the common options and the terminal.

use super::args::{Common, OutputFormat};
use super::open::Input;
use super::progress::Progress;
use super::size::size;
use super::status::{InputError, UsageError};
use super::terminal::Terminal;
use std::path::Path;

/// One run of the program.
pub(crate) struct Session {
    pub(crate) common: Common,
    pub(crate) terminal: Terminal,
}

impl Session {
    /// A session with these options, for the terminal that the process has.
    pub(crate) fn new(common: Common) -> Self {
        Self { terminal: Terminal::new(&common), common }
    }

    /// Opens a dump, or standard input for `-`.
    pub(crate) fn open(&self, path: &Path) -> Result<Input, InputError> {
        Input::open(path, &self.common)
    }

    /// Shows how much of an input has been read.
    pub(crate) fn progress(&self, input: &Input) -> Progress {
        Progress::new(input.bytes().len() as u64, &self.terminal)
    }

    /// A size for people.
    pub(crate) fn size(&self, bytes: u64) -> String {
        size(bytes, self.common.bytes)
    }

    /// The number of rows to show: `--limit`, where 0 is all. Without it, `usual` where the output
    /// says what it left out, and all where it cannot.
    pub(crate) fn rows(&self, limit: Option<u64>, usual: usize) -> usize {
        match (limit, self.common.format) {
            (Some(0), _) | (None, OutputFormat::Jsonl | OutputFormat::Csv) => usize::MAX,
            (Some(limit), _) => usize::try_from(limit).unwrap_or(usize::MAX),
            (None, _) => usual,
        }
    }

    /// Refuses output formats that a command does not have.
    pub(crate) fn only(&self, formats: &[OutputFormat], message: &str) -> Result<(), UsageError> {
        match formats.contains(&self.common.format) {
            true => Ok(()),
            false => Err(UsageError::new(message)),
        }
    }
}
