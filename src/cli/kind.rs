//! What goes with which kind of input: some options and commands are for heaps only, some for profiles only.

use super::args::{ByArg, HeapOptions, ProfileOptions};
use super::open::Input;
use super::status::UsageError;
use super::terminal::show_path;
use crate::input::Kind;

/// The options of a command that only one kind of input has, and whether they were given.
pub(super) type Given = [(&'static str, bool)];

/// Refuses options that are for the other kind of input than this one.
///
/// # Errors
/// One line that names the first such option.
pub(super) fn refuse_options_of(other: Kind, given: &Given, input: &Input) -> Result<(), UsageError> {
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            let (what, is) = match other {
                Kind::Heap => ("heaps", "profile"),
                Kind::Profile => ("profiles", "heap"),
            };
            Err(UsageError::new(format!("{name} is for {what}, and {} is a {is}", show_path(&input.path))))
        }
        None => Ok(()),
    }
}

/// Refuses a command that is for heaps.
///
/// # Errors
/// When the input is a profile.
pub(super) fn only_heaps(command: &'static str, input: &Input) -> Result<(), UsageError> {
    match input.kind {
        Kind::Heap => Ok(()),
        Kind::Profile => refuse_options_of(Kind::Heap, &[(command, true)], input),
    }
}

impl ProfileOptions {
    /// Which were given.
    pub(super) fn given(&self) -> [(&'static str, bool); 3] {
        [("--metric", self.metric.is_some()), ("--thread", self.thread.is_some()), ("--pid", self.pid.is_some())]
    }

    /// Whether only some threads were asked for.
    pub(super) fn selects(&self) -> bool {
        self.thread.is_some() || self.pid.is_some()
    }
}

impl HeapOptions {
    /// Which were given.
    pub(super) fn given(&self) -> [(&'static str, bool); 2] {
        [("--snapshot", self.snapshot.is_some()), ("--roots", self.roots.given())]
    }
}

impl ByArg {
    /// The kind of input that can be grouped so.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Type | Self::Namespace | Self::Root | Self::SizeClass => Kind::Heap,
            Self::Function | Self::File | Self::Line | Self::Thread | Self::Process => Kind::Profile,
        }
    }

    /// The name of the option when it is of this kind.
    pub(super) fn given(by: Option<Self>, kind: Kind) -> (&'static str, bool) {
        let name = match by {
            Some(Self::Type) => "--by type",
            Some(Self::Namespace) => "--by namespace",
            Some(Self::Root) => "--by root",
            Some(Self::SizeClass) => "--by size-class",
            Some(Self::Function) => "--by function",
            Some(Self::File) => "--by file",
            Some(Self::Line) => "--by line",
            Some(Self::Thread) => "--by thread",
            Some(Self::Process) => "--by process",
            None => "--by",
        };
        (name, by.is_some_and(|by| by.kind() == kind))
    }
}
