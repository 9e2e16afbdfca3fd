//! The error type of the library.
//!
//! An [`Error`] has a kind (which determines the exit status), the offset at fault, and the
//! expected and actual contents at that offset. It does not know the path of the file.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A result with the library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends inside a record.
    Truncated,
    /// The bytes contradict the format.
    Corrupt,
    /// The kind or version of the input is not supported.
    Unsupported,
    /// The input does not contain the requested item.
    Absent,
    /// Reading on would take more memory or space than the input justifies.
    Limit,
    /// The input needs more memory than was allowed, which may be little.
    Memory,
    /// The executable given with a dump is not the one that wrote it, or cannot be read.
    Executable,
    /// The operating system returned an error.
    Io,
}

impl ErrorKind {
    /// The name of the kind in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Corrupt => "corrupt",
            Self::Unsupported => "unsupported",
            Self::Absent => "absent",
            Self::Limit => "limit",
            Self::Memory => "memory",
            Self::Executable => "executable",
            Self::Io => "io",
        }
    }
}

type Text = Cow<'static, str>;

/// An error with the absolute offset of the byte at fault. One word wide, so that results stay in
/// registers.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    offset: Option<u64>,
    what: Text,
    expected: Option<Text>,
    found: Option<Text>,
    hint: Option<Text>,
    /// The places around the error, innermost first: `entry 17`, `type table`.
    context: Vec<Text>,
    source: Option<Arc<std::io::Error>>,
}

impl Error {
    #[cold]
    fn new(kind: ErrorKind, offset: Option<u64>, what: Text) -> Self {
        Self(Box::new(Inner {
            kind,
            offset,
            what,
            expected: None,
            found: None,
            hint: None,
            context: Vec::new(),
            source: None,
        }))
    }

    /// The input ends at or after `offset`, inside what `what` names.
    #[cold]
    pub fn truncated(offset: u64, what: impl Into<Text>) -> Self {
        Self::new(ErrorKind::Truncated, Some(offset), what.into())
    }

    /// The bytes at `offset` contradict the format.
    #[cold]
    pub fn corrupt(offset: u64, what: impl Into<Text>) -> Self {
        Self::new(ErrorKind::Corrupt, Some(offset), what.into())
    }

    /// The input is of a kind or version that is not read; `offset` is where that shows.
    #[cold]
    pub fn unsupported(offset: u64, what: impl Into<Text>) -> Self {
        Self::new(ErrorKind::Unsupported, Some(offset), what.into())
    }

    /// An executable that does not fit its dump, or is damaged. Addresses in it are part of the
    /// text.
    #[cold]
    pub fn executable(what: impl Into<Text>) -> Self {
        Self::new(ErrorKind::Executable, None, what.into())
    }

    /// The request does not apply to this kind of input. No offset is at fault.
    #[cold]
    pub fn other_kind(what: impl Into<Text>) -> Self {
        Self::new(ErrorKind::Unsupported, None, what.into())
    }

    /// Creates an error for a requested item that the input does not contain.
    #[cold]
    pub fn absent(what: impl Into<Text>) -> Self {
        Self::new(ErrorKind::Absent, None, what.into())
    }

    /// Reading on from `offset` would take more than the input justifies.
    #[cold]
    pub fn limit(offset: u64, what: impl Into<Text>) -> Self {
        Self::new(ErrorKind::Limit, Some(offset), what.into())
    }

    /// The data up to `offset` needs more memory than was allowed.
    #[cold]
    pub fn memory(offset: u64, needed: u64) -> Self {
        Self::new(
            ErrorKind::Memory,
            Some(offset),
            "the profile needs more memory than allowed".into(),
        )
        .found(format!("at least {needed} bytes"))
    }

    /// Creates an error of the operating system; `what` describes the failed operation.
    #[cold]
    pub fn io(source: std::io::Error, what: impl Into<Text>) -> Self {
        let mut error = Self::new(ErrorKind::Io, None, what.into());
        error.0.source = Some(Arc::new(source));
        error
    }

    /// Sets the description of the expected contents.
    #[cold]
    pub fn expected(mut self, expected: impl Into<Text>) -> Self {
        self.0.expected = Some(expected.into());
        self
    }

    /// Sets the description of the actual contents.
    #[cold]
    pub fn found(mut self, found: impl Into<Text>) -> Self {
        self.0.found = Some(found.into());
        self
    }

    /// Sets a hint that tells the user how to proceed.
    #[cold]
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the next outer place: `in the type table`, `after 1204 objects`.
    #[cold]
    pub fn context(mut self, context: impl Into<Text>) -> Self {
        self.0.context.push(context.into());
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The absolute offset in the (decompressed) input, in bytes. `None` if no byte is at fault.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The expected and the found value, or the operating system's message, if known.
    pub fn cause(&self) -> Option<String> {
        match (&self.0.expected, &self.0.found) {
            (Some(expected), Some(found)) => Some(format!("expected {expected}, found {found}")),
            (Some(expected), None) => Some(format!("expected {expected}")),
            (None, Some(found)) => Some(format!("found {found}")),
            (None, None) => self.0.source.as_ref().map(ToString::to_string),
        }
    }

    /// Returns the hint for the user, if there is one.
    pub fn advice(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns the message without the offset: the error, its context, and the expected contents.
    pub fn message(&self) -> String {
        let mut message = self.in_context(self.0.what.to_string());
        if let Some(cause) = self.cause() {
            message.push_str("; ");
            message.push_str(&cause);
        }
        message
    }

    /// The first line for a person: what, the offset in both bases, the places.
    pub fn headline(&self) -> String {
        let mut line = self.0.what.to_string();
        if let Some(offset) = self.0.offset {
            line.push_str(&format!(" at offset {offset:#x} ({offset})"));
        }
        self.in_context(line)
    }

    /// Adds the places, from the inside out.
    fn in_context(&self, what: String) -> String {
        self.0.context.iter().fold(what, |line, context| line + ", " + context)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        match self.cause() {
            Some(cause) => write!(f, "; {cause}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|error| error as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_word() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn an_error_says_where_what_and_what_was_expected() {
        let error = Error::corrupt(258_588, "unknown record tag 47")
            .expected("a tag of 0 to 17")
            .context("after 1204 objects");
        assert_eq!(
            error.headline(),
            "unknown record tag 47 at offset 0x3f21c (258588), after 1204 objects"
        );
        assert_eq!(
            error.message(),
            "unknown record tag 47, after 1204 objects; expected a tag of 0 to 17"
        );
    }
}
