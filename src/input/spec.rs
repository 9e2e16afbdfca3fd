//! The descriptions of the input formats.

pub(super) use super::Format;

use super::Kind;
use super::check::Findings;
use super::histogram::TypeCounts;
use super::info::Info;
use super::load::{LoadOptions, Loaded, LoadedProfile, ProfileOptions};
use super::origin::Provenance;
use super::read::ReadOptions;
use crate::error::{Error, Result};
use crate::model::roles::Roles;

/// Everything the program knows about a format: what `formats` lists, how a file is detected, and
/// the functions that read it.
pub(crate) struct FormatSpec {
    pub(super) format: Format,
    /// The name in JSON and on the command line.
    pub(super) name: &'static str,
    /// The name for people.
    pub(super) title: &'static str,
    /// The versions that are read, for people.
    pub(super) versions: &'static str,
    /// The extensions that such files usually have. They are never used to detect a format.
    pub(super) extensions: &'static [&'static str],
    /// The means by which such files are detected.
    pub(super) detection: Detection,
    /// The way to identify the program that a file is about.
    pub(super) origin: Origin,
    /// The names of the records, in groups.
    pub(super) record_names: &'static [&'static [&'static str]],
    /// Summarizes a file. Fails if its header cannot be read, or nothing of the format is there;
    /// later damage is part of the summary.
    pub(super) info: fn(&[u8], ReadOptions<'_>) -> Result<Info>,
    /// Checks every invariant of the format. Fails as `info` does.
    pub(super) check: fn(&[u8], ReadOptions<'_>) -> Result<Findings>,
    /// The readers of the format's model.
    pub(super) readers: Readers,
}

/// The means by which the files of a format are detected.
pub(super) enum Detection {
    /// The bytes that such files begin with.
    Magics(&'static [&'static [u8]]),
    /// Whether a file that begins with these bytes is of the format.
    Contents(fn(&[u8]) -> bool),
    /// Magics, or contents for files without one.
    MagicsOrContents(&'static [&'static [u8]], fn(&[u8]) -> bool),
}

/// The way to identify the program that a file is about.
pub(super) enum Origin {
    /// Several runtimes write the format, or record programs of several.
    Several,
    /// Files state no more than this runtime.
    Runtime(&'static str),
    /// Reads the beginning of a file.
    Read(fn(&[u8]) -> Provenance),
}

/// The readers of a format's model.
pub(super) enum Readers {
    /// All files are heaps.
    Heap(HeapReader),
    /// All files are profiles.
    Profile(ProfileReader),
    /// Nearly all files are heaps. `kind` returns the kind of one file.
    Both { heap: HeapReader, profile: ProfileReader, kind: fn(&[u8]) -> Kind },
}

pub(super) struct HeapReader {
    /// Loads the graph. Fails if the header cannot be read, the file does not have the wanted
    /// snapshot, or there are too many objects; later damage is part of the result.
    pub(super) load: for<'a> fn(&'a [u8], LoadOptions<'_>) -> Result<Loaded<'a>>,
    /// Counts objects by the types that `load` gives them, with the same sizes. Fails as `load` does.
    pub(super) histogram: fn(&[u8], LoadOptions<'_>) -> Result<TypeCounts>,
    /// Bytes that an object and a reference take in a file at least. Compressed columns may take
    /// less.
    #[cfg_attr(
        not(feature = "cli"),
        allow(dead_code, reason = "the command line estimates memory with it")
    )]
    pub(super) least_bytes: (u64, u64),
    /// The roles of the runtime's types.
    pub(super) roles: Roles,
    /// The property that identifies an object in several dumps of one process.
    pub(super) identity: Identity,
}

pub(super) struct ProfileReader {
    /// Loads the profile. Fails if it takes more memory than it may, or its header cannot be read. A
    /// file of a format without a header gives an empty profile with its damage instead.
    pub(super) load: fn(&[u8], ProfileOptions<'_>) -> Result<LoadedProfile>,
    /// Whether the files have samples in the order of time, and not only sums.
    pub(super) has_order: bool,
}

/// The property that identifies an object in several dumps of one process.
#[derive(Clone, Copy)]
pub(super) enum Identity {
    /// Nothing: objects move, or are numbered anew.
    Nothing,
    /// The id, or the address, as objects do not move.
    Ids,
    /// Identity hash codes that the format writes.
    Hashes(IdentityHashes),
}

type IdentityHashes = fn(&[u8]) -> Result<Option<Vec<u32>>>;

impl FormatSpec {
    /// The summary of a file of the format before anything was read. An empty version is none.
    pub(super) fn summary(&self, format_version: impl Into<String>) -> Info {
        Info::new(self.format, self.kind(), format_version)
    }

    /// The bytes that such files begin with.
    pub(super) fn magics(&self) -> &'static [&'static [u8]] {
        match self.detection {
            Detection::Magics(magics) | Detection::MagicsOrContents(magics, _) => magics,
            Detection::Contents(_) => &[],
        }
    }

    /// Refuses bytes that begin with none of the magics.
    pub(super) fn check_magic(&self, bytes: &[u8]) -> Result<()> {
        let begins = self.magics().iter().any(|magic| bytes.starts_with(magic));
        if begins { Ok(()) } else { Err(self.wrong_magic()) }
    }

    /// The kind of nearly all files of the format.
    pub(super) fn kind(&self) -> Kind {
        match self.readers {
            Readers::Heap(_) | Readers::Both { .. } => Kind::Heap,
            Readers::Profile(_) => Kind::Profile,
        }
    }

    /// The kind of a file.
    pub(super) fn kind_of(&self, bytes: &[u8]) -> Kind {
        match self.readers {
            Readers::Both { kind, .. } => kind(bytes),
            _ => self.kind(),
        }
    }

    /// The reader of heaps. `None` if no file of the format is a heap.
    pub(super) fn heap(&self) -> Option<&HeapReader> {
        match &self.readers {
            Readers::Heap(heap) | Readers::Both { heap, .. } => Some(heap),
            Readers::Profile(_) => None,
        }
    }

    /// The reader of profiles. `None` if no file of the format is a profile.
    pub(super) fn profile(&self) -> Option<&ProfileReader> {
        match &self.readers {
            Readers::Profile(profile) | Readers::Both { profile, .. } => Some(profile),
            Readers::Heap(_) => None,
        }
    }

    /// Returns the error for an input that does not begin with the magic of the format that
    /// `--from` names.
    pub(super) fn wrong_magic(&self) -> Error {
        Error::corrupt(0, format!("not a file in the format {} ({})", self.name, self.title))
            .hint("without --from, dumptool detects the format")
    }
}
