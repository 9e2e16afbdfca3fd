//! The short way in: a path becomes a [`Dump`], and that can be asked everything that needs no choice.

use crate::detect;
use crate::error::{Error, ErrorKind, Result};
use crate::input::check::Findings;
use crate::input::histogram::TypeCounts;
use crate::input::info::Info;
use crate::input::load::{LoadOptions, Loaded, LoadedProfile, ProfileOptions};
use crate::input::{self, Format, Kind, ReadOptions, Visitor};
use crate::model::heap::Heap;
use crate::model::profile::Profile;
use crate::source::Source;
use std::path::Path;

/// Opens a dump and tells its format. gzip and zstd are undone.
///
/// ```
/// let dump = dumptool::open(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst"))?;
/// assert_eq!(dump.format().name(), "go");
/// # Ok::<(), dumptool::error::Error>(())
/// ```
///
/// # Errors
/// When the file cannot be read or is no dump of a known kind.
pub fn open(path: impl AsRef<Path>) -> Result<Dump> {
    Dump::from_source(Source::open(path.as_ref())?)
}

/// An opened dump: its bytes and its format. Nothing is read before it is asked for.
#[derive(Debug)]
pub struct Dump {
    source: Source,
    format: Format,
}

impl Dump {
    /// A dump from bytes that are at hand otherwise, such as standard input ([`Source::stdin`]) or a stream
    /// ([`Source::from_stream`]).
    ///
    /// # Errors
    /// When the bytes are no dump of a known kind.
    pub fn from_source(source: Source) -> Result<Self> {
        let format = detect::detect(source.bytes())?;
        Ok(Self { source, format })
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Heap or profile.
    pub fn kind(&self) -> Kind {
        input::kind(self.format, self.bytes())
    }

    /// The bytes, decompressed. Offsets in errors and records are places in them.
    pub fn bytes(&self) -> &[u8] {
        self.source.bytes()
    }

    /// Where the bytes came from, and what ended their decompression early.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Header, totals and sizes, in one pass with constant memory. A damaged dump gives what could be read, with
    /// [`Info::damage`] set.
    ///
    /// # Errors
    /// When not even the header can be read, or its version is unknown.
    pub fn info(&self) -> Result<Info> {
        input::info(self.format, self.bytes(), ReadOptions::default())
    }

    /// Every invariant that the format promises, and whether it holds.
    ///
    /// # Errors
    /// As [`Dump::info`].
    pub fn check(&self) -> Result<Findings> {
        input::check(self.format, self.bytes(), ReadOptions::default())
    }

    /// Gives every record to the visitor, in the order of the file.
    ///
    /// # Errors
    /// The first damage; all records before it have been given.
    pub fn for_each_record(&self, visitor: &mut impl Visitor) -> Result<()> {
        input::for_each_record(self.format, self.bytes(), ReadOptions::default(), visitor)
    }

    /// Objects and bytes by type, without the graph and with memory for types only.
    ///
    /// # Errors
    /// As [`Dump::load`].
    pub fn histogram(&self) -> Result<TypeCounts> {
        input::histogram(self.format, self.bytes(), LoadOptions::default())
    }

    /// The whole heap; of a file with several snapshots the last one. [`Dump::load`] has choices, and loads what there is of a
    /// damaged file.
    ///
    /// # Errors
    /// When the dump is damaged or a profile, or its version is unknown.
    pub fn heap(&self) -> Result<Heap<'_>> {
        let Loaded { heap, damage, .. } = self.load(LoadOptions::default())?;
        self.whole(heap, damage)
    }

    /// A heap, with what there is to say of the loading.
    ///
    /// # Errors
    /// When nothing can be loaded: see [`input::load()`].
    pub fn load(&self, options: LoadOptions<'_>) -> Result<Loaded<'_>> {
        input::load(self.format, self.bytes(), options)
    }

    /// The whole profile, as stacks with sums. [`Dump::load_profile`] can keep every sample, and loads what there is of a
    /// damaged file.
    ///
    /// # Errors
    /// When the dump is damaged or a heap, or its version is unknown.
    pub fn profile(&self) -> Result<Profile> {
        let LoadedProfile { profile, damage, .. } = self.load_profile(ProfileOptions::default())?;
        self.whole(profile, damage)
    }

    /// A profile, with what there is to say of the loading.
    ///
    /// # Errors
    /// When nothing can be loaded: see [`input::load_profile()`].
    pub fn load_profile(&self, options: ProfileOptions<'_>) -> Result<LoadedProfile> {
        input::load_profile(self.format, self.bytes(), options)
    }

    /// What was loaded, unless something is missing from it.
    fn whole<T>(&self, loaded: T, damage: Option<Error>) -> Result<T> {
        // Where the decompressed bytes end early, that is why the reader met an end.
        match self.source.damage().map(again).or(damage) {
            Some(damage) => Err(damage),
            None => Ok(loaded),
        }
    }
}

/// The damage of a source, which stays with the source, once more.
fn again(damage: &Error) -> Error {
    let (offset, what) = (damage.offset().unwrap_or(0), damage.message());
    match damage.kind() {
        ErrorKind::Truncated => Error::truncated(offset, what),
        _ => Error::corrupt(offset, what),
    }
}
