//! Exit statuses, and errors as a person sees them.

use super::budget::OutOfProportion;
use super::terminal::{Terminal, show_path};
use crate::error::{Error, ErrorKind};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    /// Success. A closed pipe counts as success.
    Done,
    /// `check`: a rule or an invariant failed.
    Broken,
    Usage,
    /// The input is damaged, and everything before the damage was shown. `--lenient` accepts it.
    Damaged,
    /// The input is missing, unknown, unsupported or so damaged that nothing was shown.
    Unreadable,
    /// The output could not be written.
    Unwritable,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Done => 0,
            Status::Broken => 1,
            Status::Usage => 2,
            Status::Damaged | Status::Unreadable => 3,
            Status::Unwritable => 4,
        })
    }
}

/// An input that could not be read, or not to its end.
#[derive(Debug)]
pub(super) struct InputError {
    pub(super) path: PathBuf,
    pub(super) error: Error,
}

impl InputError {
    pub(super) fn new(path: &Path, error: Error) -> Self {
        Self { path: path.to_owned(), error }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", show_path(&self.path), self.error)
    }
}

impl std::error::Error for InputError {}

/// An output that could not be written.
#[derive(Debug)]
pub(super) struct OutputError {
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
}

impl OutputError {
    pub(super) fn new(path: &Path, error: io::Error) -> Self {
        Self { path: path.to_owned(), error }
    }

    pub(super) fn stdout(error: io::Error) -> Self {
        Self { path: PathBuf::from("-"), error }
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.to_str() {
            Some("-") => write!(f, "standard output: cannot write: {}", self.error),
            _ => write!(f, "{}: cannot write: {}", self.path.display(), self.error),
        }
    }
}

impl std::error::Error for OutputError {}

/// The hint for a command or option that needs the feature `full`.
pub(super) const FULL_BUILD: &str =
    "build it with `cargo install --locked --features full --path .`";

/// Arguments that exclude each other, or do not apply to this input.
#[derive(Debug)]
pub(super) struct UsageError {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl UsageError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UsageError {}

/// Prints an error to standard error, in at most four lines, and returns the exit status for it.
pub(super) fn report(error: &anyhow::Error, terminal: &Terminal) -> Status {
    if let Some(input) = error.downcast_ref::<InputError>() {
        tell_input(terminal, &terminal.red("error:"), &input.path, &input.error, None);
        return Status::Unreadable;
    }
    let label = terminal.red("error:");
    if let Some(usage) = error.downcast_ref::<UsageError>() {
        terminal.tell(&label, &usage.to_string());
        if let Some(hint) = &usage.hint {
            terminal.tell("  hint:", hint);
        }
        return Status::Usage;
    }
    if let Some(OutputError { error, .. }) = error.downcast_ref() {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Status::Done;
        }
        if let Some(too_much) = OutOfProportion::of(error) {
            terminal.tell(&label, &too_much.to_string());
            terminal
                .tell("  hint:", "select or limit the rows; a decompressed input may yield more");
            return Status::Usage;
        }
    }
    terminal.tell(&label, &format!("{error:#}"));
    Status::Unwritable
}

/// Prints the position of the damage of an input that was shown up to there. With `--lenient`,
/// prints it even with `--quiet`, because neither the result nor the status shows the damage.
pub(super) fn report_damage(path: &Path, error: &Error, terminal: &Terminal) {
    const LENIENT: &str = "--lenient keeps what was read (exit status 0)";
    let is_damage = matches!(error.kind(), ErrorKind::Truncated | ErrorKind::Corrupt);
    if terminal.lenient {
        tell_input(terminal, &terminal.yellow("warning:"), path, error, None)
    } else {
        tell_input(terminal, &terminal.red("error:"), path, error, is_damage.then_some(LENIENT))
    }
}

/// Prints damage that does not end the reading of an input, such as references to objects that the
/// file lacks.
pub(super) fn report_flaw(path: &Path, flaw: &str, terminal: &Terminal) {
    let label = if terminal.lenient { terminal.yellow("warning:") } else { terminal.red("error:") };
    terminal.tell(&label, &format!("{}: {flaw}", show_path(path)));
}

/// Prints an error of an input: the file, the position, the error, and the hints of the error and
/// of the command line.
fn tell_input(terminal: &Terminal, label: &str, path: &Path, error: &Error, hint: Option<&str>) {
    terminal.tell(label, &format!("{}: {}", show_path(path), error.headline()));
    if let Some(cause) = error.cause() {
        terminal.tell("", &format!("  {cause}"));
    }
    let hints: Vec<_> = error.advice().into_iter().chain(hint).collect();
    if !hints.is_empty() {
        terminal.tell("  hint:", &hints.join("; "));
    }
}
