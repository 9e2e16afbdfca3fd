//! [`Dump`]: an opened file, and methods that need no further choices.

use crate::analyses::Analyses;
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::histogram::{Histogram, HistogramRow};
use crate::analysis::profile::{FrameBy, Selected, TopBy, top};
use crate::convert::{Conversion, ConvertOptions, Converted, DumpFile, output_formats};
use crate::detect;
use crate::error::{Error, Result};
use crate::input::check::Findings;
use crate::input::histogram::TypeCounts;
use crate::input::info::Info;
use crate::input::load::{
    Executable, ExecutableReport, LoadOptions, Loaded, LoadedProfile, ProfileOptions,
    SnapshotChoice,
};
use crate::input::{self, Format, Kind, ReadOptions, Visitor};
use crate::model::heap::Heap;
use crate::model::profile::Profile;
use crate::model::stacks::Selection;
use crate::names::JavaMapping;
use crate::output::OutputFormat;
use crate::output::loss::Loss;
use crate::source::{Source, Watch};
use flate2::Compression;
use flate2::write::GzEncoder;
use self_cell::self_cell;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

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
    let mut dump = Dump::from_source(Source::open_if(path.as_ref(), watch)?)?;
    path.as_ref().clone_into(&mut dump.path);
    Ok(dump)
}

/// An opened dump: its bytes and its format.
///
/// Opening reads only the first bytes. [`executable`](Dump::executable) and
/// [`snapshot`](Dump::snapshot) say how to load it. The other methods read the file when they are
/// called.
#[derive(Debug)]
pub struct Dump {
    /// `-` for other sources than files.
    path: PathBuf,
    source: Source,
    format: Format,
    executable: Option<PathBuf>,
    mapping: Option<PathBuf>,
    snapshot: SnapshotChoice,
}

impl Dump {
    /// Opens a dump from a source, such as standard input ([`Source::stdin`]) or a stream
    /// ([`Source::from_stream`]).
    ///
    /// # Errors
    /// If the bytes are not a dump of a known format.
    pub fn from_source(source: Source) -> Result<Self> {
        let format = detect::detect(source.bytes())?;
        let path = PathBuf::from("-");
        let snapshot = SnapshotChoice::Last;
        Ok(Self { path, source, format, executable: None, mapping: None, snapshot })
    }

    /// Names the executable that wrote the dump, for the names of its types (Go). It is read when
    /// the heap is loaded.
    #[must_use]
    pub fn executable(mut self, path: impl AsRef<Path>) -> Self {
        self.executable = Some(path.as_ref().to_owned());
        self
    }

    /// Names the `mapping.txt` of ProGuard or R8, for the names of a minified Java program (hprof).
    /// It is read when the heap is loaded.
    #[must_use]
    pub fn mapping(mut self, path: impl AsRef<Path>) -> Self {
        self.mapping = Some(path.as_ref().to_owned());
        self
    }

    /// Picks a snapshot of a file with several, from 0. Without it the last one is loaded.
    #[must_use]
    pub fn snapshot(mut self, number: u64) -> Self {
        self.snapshot = SnapshotChoice::Number(number);
        self
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
    /// The errors of [`Dump::info`].
    pub fn check(&self) -> Result<Findings> {
        input::check(self.format, self.bytes(), ReadOptions::default())
    }

    /// Passes every record to the visitor, in the order of the file.
    ///
    /// # Errors
    /// The first damage, after all records before it have been passed on.
    #[doc(hidden)]
    pub fn for_each_record(&self, visitor: &mut impl Visitor) -> Result<()> {
        input::for_each_record(self.format, self.bytes(), ReadOptions::default(), visitor)
    }

    /// Counts objects and bytes by type, without building the graph. Needs memory for the types
    /// only.
    ///
    /// # Errors
    /// The errors of [`Dump::load`].
    pub fn histogram(&self) -> Result<TypeCounts> {
        self.chosen(|options| input::histogram(self.format, self.bytes(), options))
    }

    /// Returns the `count` types whose live objects retain the most bytes, largest first. Returns
    /// all types for [`usize::MAX`].
    ///
    /// Loads the heap and computes its dominator tree. To ask more than one question, call
    /// [`Dump::heap`] once and use [`Histogram::by_type`].
    ///
    /// # Errors
    /// The errors of [`Dump::heap`].
    pub fn top(&self, count: usize) -> Result<Vec<HistogramRow>> {
        let heap = self.heap()?;
        let mut rows = Histogram::by_type(&heap, &DominatorTree::new(&heap)).rows;
        rows.truncate(count);
        Ok(rows)
    }

    /// Loads the heap.
    ///
    /// [`Dump::load`] returns a heap that keeps its file, and the intact part of a damaged file.
    ///
    /// # Errors
    /// If the dump is damaged, is a profile, or has an unknown version.
    pub fn heap(&self) -> Result<Heap<'_>> {
        let Loaded { heap, damage, .. } = self.chosen(|options| self.load_heap(options))?;
        self.whole(damage.as_ref()).map(|()| heap)
    }

    /// Loads the heap, and keeps the file with it.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst");
    /// let loaded = dumptool::open(path)?.load()?;
    /// let tree = loaded.analyses();
    /// println!("{} bytes are live", tree.tree().live_bytes());
    /// # Ok::<(), dumptool::Error>(())
    /// ```
    ///
    /// A damaged dump gives its intact part: see [`LoadedHeap::damage`].
    ///
    /// # Errors
    /// If nothing can be loaded: the header cannot be read, the version is unknown, there is no
    /// such snapshot, the executable is not the one that wrote the dump, or the dump is a profile.
    pub fn load(self) -> Result<LoadedHeap> {
        HeapAndFile::try_new(self, |dump| dump.chosen(|options| dump.load_heap(options)))
            .map(LoadedHeap)
    }

    /// Loads a heap with options instead of those of the dump. [`Loaded::damage`] shows whether the
    /// heap is complete.
    ///
    /// # Errors
    /// The errors of [`Dump::load`].
    pub fn load_heap(&self, options: LoadOptions<'_>) -> Result<Loaded<'_>> {
        input::load(self.format, self.bytes(), options)
    }

    /// Passes the dump's own choices on.
    fn chosen<T>(&self, load: impl FnOnce(LoadOptions<'_>) -> Result<T>) -> Result<T> {
        let mapping = match &self.mapping {
            Some(path) => Some(JavaMapping::new(Source::open(path)?.bytes())?),
            None => None,
        };
        let options = LoadOptions::default().snapshot(self.snapshot).mapping(mapping.as_ref());
        let Some(path) = &self.executable else { return load(options) };
        let program = Source::open(path)?;
        load(options.executable(Some(Executable { bytes: program.bytes(), guesses: true })))
    }

    /// Loads the profile as stacks with sums.
    ///
    /// [`Dump::load_profile`] takes options, such as to keep every sample, and loads the intact
    /// part of a damaged file.
    ///
    /// # Errors
    /// If the dump is damaged, is a heap, or has an unknown version.
    pub fn profile(&self) -> Result<Profile> {
        let LoadedProfile { profile, damage, .. } = self.load_profile(ProfileOptions::default())?;
        self.whole(damage.as_ref()).map(|()| profile)
    }

    /// Returns the `count` functions of a profile with the largest own values, in its default metric.
    ///
    /// # Errors
    /// The errors of [`Dump::profile`].
    pub fn functions(&self, count: usize) -> Result<Vec<FunctionRow>> {
        let profile = self.profile()?;
        let metric = profile.default_metric();
        let selected = Selected::of(&profile, &Selection::default());
        let mut top = top(&selected, TopBy::Frames(FrameBy::Function));
        top.sort(&metric, false);
        let rows = top.rows.into_iter().take(count).map(|row| FunctionRow {
            name: row.label.name.to_string(),
            own: row.sums.own.get(&metric),
            total: row.sums.total.get(&metric),
        });
        Ok(rows.collect())
    }

    /// Loads a profile with options. [`LoadedProfile::damage`] shows whether the profile is
    /// complete.
    ///
    /// # Errors
    /// If nothing can be loaded: the header cannot be read, or the dump is a heap.
    pub fn load_profile(&self, options: ProfileOptions<'_>) -> Result<LoadedProfile> {
        input::load_profile(self.format, self.bytes(), options)
    }

    /// Converts the dump to an [`OutputFormat`], or to the one with this name, such as `"hprof"` or
    /// `"pprof"`. Writes what the command `convert` writes without options.
    ///
    /// A heap becomes objects (`hprof`, `heapsnapshot`), a table of its objects (`csv`, `jsonl`,
    /// `parquet`), or the dominator tree as stacks of types (everything else that takes heaps). A
    /// profile keeps its samples where the format can hold them. [`Conversion`] has options.
    ///
    /// Returns the losses: data that the format cannot store. If an error occurs, the output is
    /// incomplete.
    ///
    /// # Errors
    /// If there is no such format, if it cannot hold this dump, as [`Dump::heap`] and
    /// [`Dump::profile`], or if the output cannot be written.
    pub fn convert(&self, to: impl AsRef<str>, out: impl Write) -> Result<Vec<Loss>> {
        let to = to.as_ref();
        let possible = output_formats(self.format, self.kind());
        let Some(target) = possible.clone().find(|target| target.name() == to) else {
            let names: Vec<_> = possible.map(OutputFormat::name).collect();
            let from = self.format.title();
            return Err(Error::other_kind(format!("{from} cannot be converted to {to}"))
                .hint(format!("it can be converted to {}", names.join(", "))));
        };
        let (path, bytes) = (self.path.as_path(), self.bytes());
        let damage = self.source.damage();
        let file = DumpFile { path, format: self.format, bytes, damage, mapping: None };
        let conversion = Conversion { target, options: &ConvertOptions::default(), file };
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let converted = if target == OutputFormat::Pprof {
            // Files of pprof are gzipped by definition.
            let mut gzip = GzEncoder::new(&mut out, Compression::fast());
            self.convert_to(&conversion, &mut gzip).and_then(|converted| {
                gzip.finish().map(|_| converted).map_err(|error| cannot_write(target, error))
            })
        } else {
            self.convert_to(&conversion, &mut out)
        };
        let converted = converted?;
        out.flush().map_err(|error| cannot_write(target, error))?;
        Ok(converted.lost)
    }

    fn convert_to(&self, conversion: &Conversion<'_>, out: &mut impl Write) -> Result<Converted> {
        let failed = |error| cannot_write(conversion.target, error);
        match self.kind() {
            Kind::Heap => {
                let loaded = self.chosen(|options| self.load_heap(options))?;
                self.whole(loaded.damage.as_ref())?;
                conversion.heap(&loaded, out).map_err(failed)
            }
            Kind::Profile if conversion.streams() => {
                let streamed = conversion.stream(ReadOptions::default(), out).map_err(failed)?;
                self.whole(streamed.damage.as_ref()).map(|()| streamed.converted)
            }
            Kind::Profile => {
                let options = ProfileOptions::default()
                    .keep_samples(conversion.keeps_samples())
                    .keep_code(conversion.keeps_code());
                #[cfg(feature = "symbols")]
                let symbols = crate::symbols::Symbols::new(Vec::new());
                #[cfg(feature = "symbols")]
                let options = options.symbols(Some(&symbols));
                let loaded = self.load_profile(options)?;
                self.whole(loaded.damage.as_ref())?;
                conversion.profile(loaded, out).map_err(failed)
            }
        }
    }

    /// Refuses a damaged dump.
    fn whole(&self, damage: Option<&Error>) -> Result<()> {
        // If the decompressed bytes end early, the reader's own error is only a consequence.
        self.source.damage().or(damage).map_or(Ok(()), |damage| Err(damage.clone()))
    }
}

/// A function of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionRow {
    /// The name.
    pub name: String,
    /// The value of the function itself.
    pub own: i64,
    /// The value of the function and of all that it calls.
    pub total: i64,
}

/// The own value, the total value and the name, in columns.
impl fmt::Display for FunctionRow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:>12} {:>12}  {}", self.own, self.total, self.name)
    }
}

/// A heap with the file that it was loaded from.
pub struct LoadedHeap(HeapAndFile);

self_cell!(
    struct HeapAndFile {
        owner: Dump,
        #[covariant]
        dependent: Loaded,
    }
);

impl LoadedHeap {
    /// The heap, as far as it could be loaded.
    pub fn heap(&self) -> &Heap<'_> {
        &self.0.borrow_dependent().heap
    }

    /// The analyses of the heap. Each is computed when it is first asked for, and kept in the
    /// returned value.
    pub fn analyses(&self) -> Analyses<'_> {
        Analyses::of(self.0.borrow_dependent())
    }

    /// The damage that ended the reading early.
    pub fn damage(&self) -> Option<&Error> {
        self.dump().source.damage().or(self.0.borrow_dependent().damage.as_ref())
    }

    /// The file of the heap.
    pub fn dump(&self) -> &Dump {
        self.0.borrow_owner()
    }

    /// Findings about the executable, if one was named.
    pub fn executable(&self) -> Option<&ExecutableReport> {
        self.0.borrow_dependent().executable.as_ref()
    }
}

fn cannot_write(target: OutputFormat, error: io::Error) -> Error {
    Error::io(error, format!("cannot write {}", target.name()))
}
