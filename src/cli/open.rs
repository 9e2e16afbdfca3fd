//! Opens an input for a command and detects its format.

use super::address::{self, is_address};
use super::args::{Common, Snapshot};
use super::progress::Progress;
use super::status::{self, InputError, Status, UsageError};
use super::terminal::{Terminal, show_path};
use crate::analysis::identity::Identified;
use crate::convert::DumpFile;
use crate::detect;
use crate::error::Error;
use crate::input::{self, Format, Kind};
use crate::model::heap::Heap;
use crate::names::JavaMapping;
use crate::source::{Limits, Source, Watch};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An input whose format is known. Its clones share the file.
#[derive(Clone)]
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) source: Arc<Source>,
    pub(super) format: Format,
    pub(super) kind: Kind,
    /// The selected snapshot of a profile that has several.
    pub(super) snapshot: Option<Snapshot>,
    /// The mapping that restores the names of a minified Java program.
    pub(super) mapping: Option<Arc<JavaMapping>>,
    pub(super) named: Named,
}

/// The files from which a dump takes names. The same dump with other files is a different input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) mapping: Option<PathBuf>,
    pub(super) source_maps: Vec<PathBuf>,
    pub(super) symbols: Vec<PathBuf>,
}

/// The property that identifies objects of a dump in other dumps of the same process.
#[derive(PartialEq, Eq)]
pub(super) enum Identity {
    Nothing,
    /// The ids in the file.
    Ids,
    /// Identity hash codes, 0 for objects that have none.
    Hashes(Vec<u32>),
}

impl Identity {
    /// The objects of a heap with the property that identifies them.
    pub(super) fn of<'h, 'a>(&'h self, heap: &'h Heap<'a>) -> Identified<'h, 'a> {
        let hashes = match self {
            Self::Hashes(hashes) => Some(hashes.as_slice()),
            Self::Nothing | Self::Ids => None,
        };
        Identified { heap, hashes }
    }
}

impl Input {
    /// Returns the property that identifies objects in other dumps of the same process. Fails with
    /// an [`InputError`] if the file is damaged where its hash codes are.
    pub(super) fn identity(&self) -> Result<Identity, InputError> {
        if input::has_lasting_ids(self.format) {
            return Ok(Identity::Ids);
        }
        let hashes = input::identity_hashes(self.format, self.bytes());
        let hashes = hashes.map_err(|error| self.error(error))?;
        Ok(hashes.map_or(Identity::Nothing, Identity::Hashes))
    }

    /// Opens a path, standard input for `-`, or the file that a server sends for an address. Fails
    /// with an [`InputError`], or the errors of [`address::fetch`] for an address.
    pub(super) fn open(path: &Path, common: &Common) -> anyhow::Result<Self> {
        let fetched = is_address(path).then(|| address::fetch(path, common)).transpose()?;
        // With `--from`, the input is read in that format, whatever its first bytes are.
        let accept =
            |head: &[u8]| common.from.map_or_else(|| detect::detect(head).map(|_| ()), |_| Ok(()));
        let metadata = fetched.as_ref().map_or_else(|| std::fs::metadata(path), File::metadata);
        let stored = metadata.ok().map(|file| file.len());
        let progress = Progress::new("decompressing", stored);
        let watch = Watch { accept: &accept, progress: &|stored| progress.reached(stored) };
        let source = match fetched {
            Some(file) => Source::from_file_if(file, Limits::default(), watch),
            None if path == Path::new("-") => Source::stdin_if(watch),
            None => Source::open_if(path, watch),
        };
        drop(progress);
        let source = source.map_err(|error| InputError::new(path, error))?;
        let format = match common.from {
            Some(format) => format,
            None => detect::detect(source.bytes()).map_err(|error| InputError::new(path, error))?,
        };
        let kind = input::kind(format, source.bytes());
        let path = path.to_owned();
        let (source, named) = (Arc::new(source), Named::default());
        Ok(Self { path, source, format, kind, snapshot: None, mapping: None, named })
    }

    /// Selects a snapshot if this is a profile with several. Heaps get theirs from the options.
    pub(super) fn at(self, snapshot: Option<Snapshot>) -> Self {
        let snapshot = snapshot.filter(|_| self.format == Format::Massif);
        Self { snapshot, ..self }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.source.bytes()
    }

    /// The description of the file for conversions and tables.
    pub(super) fn file(&self) -> DumpFile<'_> {
        let (path, bytes) = (self.path.as_path(), self.bytes());
        let (damage, mapping) = (self.source.damage(), self.mapping.as_deref());
        DumpFile { path, format: self.format, bytes, damage, mapping }
    }

    /// Refuses options, or a command, for the other kind of input than this one. Each option comes
    /// with whether it was given. Fails with one line that names the first such option.
    pub(super) fn refuse(
        &self,
        other: Kind,
        given: &[(impl AsRef<str>, bool)],
    ) -> Result<(), UsageError> {
        let is_refused = |name: &str| name != "--snapshot" || self.snapshot.is_none();
        let refused = given.iter().find(|(name, given)| *given && is_refused(name.as_ref()));
        let Some((name, _)) = refused else { return Ok(()) };
        let name = name.as_ref();
        let (what, is) = match other {
            Kind::Heap => ("heaps", "profile"),
            Kind::Profile => ("profiles", "heap"),
        };
        Err(UsageError::new(format!(
            "{name} applies to {what}, but {} is a {is}",
            show_path(&self.path)
        )))
    }

    /// Refuses an option that is given and that only other formats have. Fails with one line that
    /// names the formats.
    pub(super) fn only(
        &self,
        formats: &[Format],
        name: &str,
        given: bool,
    ) -> Result<(), UsageError> {
        if !given || formats.contains(&self.format) {
            return Ok(());
        }
        let plural = |format: &Format| match format.title().split_once(" (") {
            Some((title, rest)) => format!("{title}s ({rest}"),
            None => format!("{}s", format.title().trim_end_matches('s')),
        };
        let titles: Vec<_> = formats.iter().map(plural).collect();
        let (path, titles) = (show_path(&self.path), titles.join(", "));
        Err(UsageError::new(format!("{name} is for {titles}; {path} is not one")))
    }

    /// Refuses options that are given and that only other formats have. Fails with one line that
    /// names the first option and its format.
    pub(super) fn accept(
        &self,
        options: &[(&'static str, bool, Format)],
    ) -> Result<(), UsageError> {
        options.iter().try_for_each(|&(name, given, format)| self.only(&[format], name, given))
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

    /// Converts an error of the reader to an error about this input.
    pub(super) fn error(&self, error: Error) -> InputError {
        InputError::new(&self.path, error)
    }
}
