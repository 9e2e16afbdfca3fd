//! The session of a command: the common options and the terminal.

use super::args::{Common, OutputFormat};
use super::dumps::Dumps;
use super::open::Input;
use super::progress::{self, Progress};
use super::size::size;
use super::status::UsageError;
use super::terminal::Terminal;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// One run of a command.
pub(crate) struct Session {
    pub(crate) common: Common,
    pub(crate) terminal: Terminal,
    /// Where the result goes.
    pub(crate) output: Output,
    /// The dumps that stay open between commands, if they do.
    pub(crate) resident: Option<Arc<Dumps>>,
}

/// Where the result of a command goes.
pub(crate) enum Output {
    Stdout,
    /// Into memory.
    Kept(Mutex<Vec<u8>>),
}

impl Session {
    /// A session with these options, for the terminal that the process has.
    pub(crate) fn new(common: Common) -> Self {
        let terminal = Terminal::new(&common);
        progress::allow(terminal.progress);
        Self { terminal, common, output: Output::Stdout, resident: None }
    }

    /// A session whose result and messages are kept, and that may ask resident dumps.
    pub(crate) fn kept(common: Common, resident: Option<Arc<Dumps>>) -> Self {
        progress::allow(false);
        Self {
            terminal: Terminal::kept(&common),
            common,
            output: Output::Kept(Mutex::default()),
            resident,
        }
    }

    /// Opens a dump, or standard input for `-`.
    pub(crate) fn open(&self, path: &Path) -> anyhow::Result<Input> {
        let open = || Input::open(path, &self.common);
        match &self.resident {
            Some(resident) => resident.input(path, open),
            None => Ok(open()?),
        }
    }

    /// Refuses a file that the resident program was not given.
    ///
    /// # Errors
    /// A [`UsageError`] with the path.
    pub(crate) fn allow(&self, path: &Path) -> Result<(), UsageError> {
        self.resident.as_ref().map_or(Ok(()), |resident| resident.allow(path))
    }

    /// Shows how much of an input has been read.
    pub(crate) fn progress(&self, input: &Input) -> Progress {
        Progress::new("reading", Some(input.bytes().len() as u64))
    }

    /// A size for people.
    pub(crate) fn size(&self, bytes: u64) -> String {
        size(bytes, self.common.bytes)
    }

    /// Returns the number of rows to show: `--limit`, where 0 means all. Without it, `usual` if the
    /// output can state what it omits, otherwise all.
    pub(crate) fn rows(&self, limit: Option<u64>, usual: usize) -> usize {
        match (limit, self.common.format) {
            (Some(0), _) | (None, OutputFormat::Jsonl | OutputFormat::Csv) => usize::MAX,
            (Some(limit), _) => usize::try_from(limit).unwrap_or(usize::MAX),
            (None, _) => usual,
        }
    }

    /// Splits rows into those to show, as [`Session::rows`] counts them, and those to omit.
    pub(crate) fn shown<'r, T>(
        &self,
        rows: &'r [T],
        limit: Option<u64>,
        usual: usize,
    ) -> (&'r [T], &'r [T]) {
        rows.split_at(self.rows(limit, usual).min(rows.len()))
    }

    /// Refuses output formats that a command does not have.
    pub(crate) fn only(&self, formats: &[OutputFormat], message: &str) -> Result<(), UsageError> {
        match formats.contains(&self.common.format) {
            true => Ok(()),
            false => Err(UsageError::new(message)),
        }
    }
}
