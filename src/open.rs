//! [`Dump`]: an opened file, and everything that can be asked of it without further choices.

mod convert;

#[cfg(feature = "cli")]
pub(crate) use convert::output_formats;

use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::histogram::{Histogram, HistogramRow};
use crate::detect;
use crate::error::{Error, ErrorKind, Result};
use crate::input::check::Findings;
use crate::input::histogram::TypeCounts;
use crate::input::info::Info;
use crate::input::load::{LoadOptions, Loaded, LoadedProfile, ProfileOptions};
use crate::input::{self, Format, Kind, ReadOptions, Visitor};
use crate::model::heap::Heap;
use crate::model::profile::Profile;
use crate::source::{Source, Watch};
use std::path::Path;

/// Opens a dump and detects its format. Decompresses gzip and zstd input.
///
/// ```
/// let dump = dumptool::open(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst"))?;
/// assert_eq!(dump.format().name(), "go");
/// # Ok::<(), dumptool::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be read or is not a dump of a known format.
pub fn open(path: impl AsRef<Path>) -> Result<Dump> {
    let watch = Watch { accept: &|head| detect::detect(head).map(|_| ()), progress: &|_| {} };
    Dump::from_source(Source::open_if(path.as_ref(), watch)?)
}

/// An opened dump: its bytes and its format.
///
/// Opening reads only the first bytes. Each method below reads the file when it is called.
#[derive(Debug)]
pub struct Dump {
    source: Source,
    format: Format,
}

impl Dump {
    /// Opens a dump from a source, such as standard input ([`Source::stdin`]) or a stream
    /// ([`Source::from_stream`]).
    ///
    /// # Errors
    /// If the bytes are not a dump of a known format.
    pub fn from_source(source: Source) -> Result<Self> {
        let format = detect::detect(source.bytes())?;
        Ok(Self { source, format })
    }

    /// Returns the format of the dump.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the dump is a heap or a profile.
    pub fn kind(&self) -> Kind {
        input::kind(self.format, self.bytes())
    }

    /// The bytes, decompressed. Offsets in errors and records are positions in this slice.
    pub fn bytes(&self) -> &[u8] {
        self.source.bytes()
    }

    /// The source of the bytes. [`Source::damage`] shows whether decompression ended early.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Reads the header, totals and sizes, in one pass with constant memory.
    ///
    /// For a damaged dump, returns everything before the damage and sets [`Info::damage`].
    ///
    /// # Errors
    /// If the header cannot be read or its version is unknown.
    pub fn info(&self) -> Result<Info> {
        input::info(self.format, self.bytes(), ReadOptions::default())
    }

    /// Checks every invariant of the format.
    ///
    /// # Errors
    /// As [`Dump::info`].
    pub fn check(&self) -> Result<Findings> {
        input::check(self.format, self.bytes(), ReadOptions::default())
    }

    /// Passes every record to the visitor, in the order of the file.
    ///
    /// # Errors
    /// The first damage, after all records before it have been passed on.
    pub fn for_each_record(&self, visitor: &mut impl Visitor) -> Result<()> {
        input::for_each_record(self.format, self.bytes(), ReadOptions::default(), visitor)
    }

    /// Counts objects and bytes by type, without building the graph. Needs memory for the types
    /// only.
    ///
    /// # Errors
    /// As [`Dump::load`].
    pub fn histogram(&self) -> Result<TypeCounts> {
        input::histogram(self.format, self.bytes(), LoadOptions::default())
    }

    /// Returns the `count` types whose live objects retain the most bytes, largest first.
    ///
    /// Loads the heap and computes its dominator tree. To ask more than one question, call
    /// [`Dump::heap`] once and use [`Histogram::by_type`].
    ///
    /// # Errors
    /// As [`Dump::heap`].
    pub fn top(&self, count: usize) -> Result<Vec<HistogramRow>> {
        let heap = self.heap()?;
        let mut rows = Histogram::by_type(&heap, &DominatorTree::new(&heap)).rows;
        rows.truncate(count);
        Ok(rows)
    }

    /// Loads the heap. If the file has several snapshots, loads the last one.
    ///
    /// [`Dump::load`] takes options, and loads the intact part of a damaged file.
    ///
    /// # Errors
    /// If the dump is damaged, is a profile, or has an unknown version.
    pub fn heap(&self) -> Result<Heap<'_>> {
        let Loaded { heap, damage, .. } = self.load(LoadOptions::default())?;
        self.whole(heap, damage)
    }

    /// Loads a heap with options. [`Loaded::damage`] shows whether the heap is complete.
    ///
    /// # Errors
    /// If nothing can be loaded: see [`input::load()`].
    pub fn load(&self, options: LoadOptions<'_>) -> Result<Loaded<'_>> {
        input::load(self.format, self.bytes(), options)
    }

    /// Loads the profile as stacks with sums.
    ///
    /// [`Dump::load_profile`] takes options, such as to keep every sample, and loads the intact
    /// part of a damaged file.
    ///
    /// # Errors
    /// If the dump is damaged, is a heap, or has an unknown version.
    pub fn profile(&self) -> Result<Profile> {
        self.whole_profile(ProfileOptions::default())
    }

    /// Loads a profile with options. [`LoadedProfile::damage`] shows whether the profile is
    /// complete.
    ///
    /// # Errors
    /// If nothing can be loaded: see [`input::load_profile()`].
    pub fn load_profile(&self, options: ProfileOptions<'_>) -> Result<LoadedProfile> {
        input::load_profile(self.format, self.bytes(), options)
    }

    fn whole_profile(&self, options: ProfileOptions<'_>) -> Result<Profile> {
        let LoadedProfile { profile, damage, .. } = self.load_profile(options)?;
        self.whole(profile, damage)
    }

    /// Returns the loaded data, or the damage if the dump is incomplete.
    fn whole<T>(&self, loaded: T, damage: Option<Error>) -> Result<T> {
        // If the decompressed bytes end early, the reader's own error is only a consequence.
        match self.source.damage().map(again).or(damage) {
            Some(damage) => Err(damage),
            None => Ok(loaded),
        }
    }
}

/// Copies the damage of a source.
fn again(damage: &Error) -> Error {
    let (offset, what) = (damage.offset().unwrap_or(0), damage.message());
    match damage.kind() {
        ErrorKind::Truncated => Error::truncated(offset, what),
        _ => Error::corrupt(offset, what),
    }
}
