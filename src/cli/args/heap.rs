//! Options for commands that load a heap.

use super::{Named, one_of};
use crate::input::Format;
pub(in crate::cli) use crate::input::load::SnapshotChoice as Snapshot;
use crate::input::load::{LayoutChoice, NodeSizes, RootScan};
use crate::output::syntax::shell_word;
use clap::{Args, ValueEnum};
use std::fmt;
use std::path::{Path, PathBuf};

/// Selects the heap of a file and its roots.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Heaps")]
pub(in crate::cli) struct HeapOptions {
    /// Snapshot to use if the file has several (mvmheap, massif): a number from 0, or `last` for the
    /// last complete one (default; the peak in massif)
    #[arg(long, value_name = "N|last", allow_negative_numbers = true, value_parser = snapshot)]
    pub(in crate::cli) snapshot: Option<Snapshot>,
    #[command(flatten)]
    pub(in crate::cli) roots: LoadArgs,
}

impl HeapOptions {
    /// Returns each option with whether it was given.
    pub(in crate::cli) fn given(&self) -> Vec<(&'static str, bool)> {
        [&[("--snapshot", self.snapshot.is_some())][..], &self.roots.given()].concat()
    }

    /// Returns the options as words for a shell, each after a space.
    pub(in crate::cli) fn words(&self) -> String {
        let snapshot = match self.snapshot {
            Some(Snapshot::Number(number)) => format!(" --snapshot {number}"),
            Some(Snapshot::Last) => " --snapshot last".to_owned(),
            None => String::new(),
        };
        snapshot + &self.roots.words()
    }

    /// The words of [`Self::words`] with the executable's file name instead of its path, for output
    /// that others see.
    pub(in crate::cli) fn public_words(&self) -> String {
        let exe = self.roots.exe.as_deref().and_then(Path::file_name).map(PathBuf::from);
        Self { roots: LoadArgs { exe, ..self.roots.clone() }, ..self.clone() }.words()
    }
}

/// Options that select roots, object sizes and type names.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Heaps")]
pub(in crate::cli) struct LoadArgs {
    /// Stack words to treat as pointers (Go): only those that the dump lists (`precise`), also all
    /// words of frames that a pointer refers to (`default`), or all words of all frames
    /// (`conservative`)
    #[arg(long, value_name = "WHICH", value_parser = one_of(ROOTS), hide_possible_values = true)]
    pub(in crate::cli) roots: Option<RootScan>,
    /// Object layout of the JVM (hprof; default: inferred from addresses): any of `references=4|8`,
    /// `header=8|12|16` and `alignment=8|16|…|256`, such as `references=8,header=12`
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<LayoutArg>,
    /// Sizes of objects (V8): those in the file (`file`, default), or those that Chrome DevTools
    /// shows (`devtools`), which adds arrays and hidden objects to the only object that refers to
    /// them
    #[arg(long, value_name = "WHOSE", value_parser = one_of(SIZES), hide_possible_values = true)]
    pub(in crate::cli) sizes: Option<NodeSizes>,
    /// Count plain objects (V8) as one type, `Object`, and not by their properties, such as
    /// `{etag, data}`
    #[arg(long)]
    pub(in crate::cli) join_objects: bool,
    /// Executable that wrote the dump (Go), for the names of types, fields, globals and local
    /// variables. For a stripped program, use an unstripped build of the same source with the same
    /// toolchain and flags
    #[arg(long, value_name = "PROGRAM")]
    pub(in crate::cli) exe: Option<PathBuf>,
    /// Omit guessed types (Go, with --exe)
    #[arg(long, requires = "exe")]
    pub(in crate::cli) no_guess: bool,
    /// Whether types known only by address are named after the layout of their objects.
    #[arg(skip)]
    pub(in crate::cli) by_layout: bool,
}

impl LoadArgs {
    /// Returns the parts of the layout that were given.
    pub(in crate::cli) fn layout(&self) -> LayoutChoice {
        self.layout.map_or(LayoutChoice::default(), |layout| layout.0)
    }

    /// Returns the same options with an executable.
    pub(in crate::cli) fn with_program(self, exe: &Path, no_guess: bool) -> Self {
        Self { exe: Some(exe.to_owned()), no_guess, ..self }
    }

    /// Returns the same options with types named by layout, or not.
    pub(in crate::cli) fn with_layout_names(&self, by_layout: bool) -> Self {
        Self { by_layout, ..self.clone() }
    }

    /// Returns the same options for a dump of the program `exe`, if given.
    pub(in crate::cli) fn of_program(&self, exe: Option<&PathBuf>) -> Self {
        Self { exe: exe.or(self.exe.as_ref()).cloned(), ..self.clone() }
    }

    /// Returns the options as words for a shell, each after a space.
    fn words(&self) -> String {
        let options = [
            ("--roots", self.roots.and_then(|roots| name_in(&ROOTS, roots))),
            ("--layout", self.layout.map(|layout| layout.to_string())),
            ("--sizes", self.sizes.and_then(|sizes| name_in(&SIZES, sizes))),
            ("--exe", self.exe.as_ref().map(|exe| shell_word(&exe.to_string_lossy()))),
        ];
        let words = options.into_iter().filter_map(|(option, value)| Some((option, value?)));
        let words: String = words.map(|(option, value)| format!(" {option} {value}")).collect();
        let flags = [("--join-objects", self.join_objects), ("--no-guess", self.no_guess)];
        let flags = flags.into_iter().filter(|(_, given)| *given);
        words + &flags.map(|(flag, _)| format!(" {flag}")).collect::<String>()
    }

    /// Returns each option with whether it was given and the only format that has it.
    pub(in crate::cli) fn of_formats(&self) -> [(&'static str, bool, Format); 5] {
        [
            ("--roots", self.roots.is_some(), Format::Go),
            ("--layout", self.layout.is_some(), Format::Hprof),
            ("--sizes", self.sizes.is_some(), Format::Heapsnapshot),
            ("--join-objects", self.join_objects, Format::Heapsnapshot),
            ("--exe", self.exe.is_some(), Format::Go),
        ]
    }

    /// Returns each option with whether it was given.
    pub(in crate::cli) fn given(&self) -> [(&'static str, bool); 5] {
        self.of_formats().map(|(name, given, _)| (name, given))
    }

    /// Returns the first option that counting objects in one pass has no use for: it takes the
    /// references, which are not read.
    pub(in crate::cli) fn needs_references(&self) -> Option<&'static str> {
        let needing = [
            ("--roots", self.roots.is_some()),
            ("--sizes", self.sizes == Some(NodeSizes::Devtools)),
            ("--exe", self.exe.is_some()),
        ];
        needing.into_iter().find_map(|(name, given)| given.then_some(name))
    }
}

/// A layout, written `references=8,header=12,alignment=16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LayoutArg(LayoutChoice);

impl fmt::Display for LayoutArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LayoutChoice { references, header, alignment } = self.0;
        let parts = [("references", references), ("header", header), ("alignment", alignment)];
        let parts =
            parts.into_iter().filter_map(|(key, number)| Some(format!("{key}={}", number?)));
        f.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}

impl std::str::FromStr for LayoutArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str =
            "expected references=4|8, header=8|12|16 and alignment=8|16|…|256, separated by commas";
        let mut layout = LayoutChoice::default();
        for part in text.split(',') {
            let (key, number) = part.split_once('=').ok_or(WRONG)?;
            let number: u64 = number.parse().map_err(|_| WRONG)?;
            let (place, fits) = match key {
                "references" => (&mut layout.references, matches!(number, 4 | 8)),
                "header" => (&mut layout.header, matches!(number, 8 | 12 | 16)),
                "alignment" => {
                    (&mut layout.alignment, number.is_power_of_two() && (8..=256).contains(&number))
                }
                _ => return Err(WRONG),
            };
            if !fits || place.replace(number).is_some() {
                return Err(WRONG);
            }
        }
        Ok(Self(layout))
    }
}

/// Reads a snapshot of a file with several.
pub(super) fn snapshot(text: &str) -> Result<Snapshot, &'static str> {
    match text {
        "last" => Ok(Snapshot::Last),
        _ => text.parse().map(Snapshot::Number).map_err(|_| "a number from 0, or `last`"),
    }
}

/// One snapshot of a file with several, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Snapshots {
    One(Snapshot),
    All,
}

impl Snapshots {
    /// The one that is chosen.
    pub(in crate::cli) fn one(self) -> Option<Snapshot> {
        if let Self::One(snapshot) = self { Some(snapshot) } else { None }
    }
}

impl std::str::FromStr for Snapshots {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            _ => snapshot(text).map(Self::One).map_err(|_| "a number from 0, `last` or `all`"),
        }
    }
}

/// The snapshots to compare: `A..B`, or one number for both files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct SnapshotPair {
    pub(in crate::cli) old: Snapshot,
    pub(in crate::cli) new: Snapshot,
    /// Whether both were given, as `A..B`.
    pub(in crate::cli) range: bool,
}

impl std::str::FromStr for SnapshotPair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (old, new, range) = match text.split_once("..") {
            Some((old, new)) => (snapshot(old), snapshot(new), true),
            None => (snapshot(text), snapshot(text), false),
        };
        let wrong = |_| "A..B, two numbers from 0 or `last`, or one number for both files";
        Ok(Self { old: old.map_err(wrong)?, new: new.map_err(wrong)?, range })
    }
}

const ROOTS: [Named<RootScan>; 3] = [
    ("precise", "Words that the dump lists as pointers", RootScan::Precise),
    ("default", "Also every word of a frame that a pointer refers to", RootScan::Default),
    ("conservative", "Every word of every frame", RootScan::Conservative),
];

const SIZES: [Named<NodeSizes>; 2] = [
    ("file", "The sizes in the file", NodeSizes::File),
    ("devtools", "The sizes that Chrome DevTools shows", NodeSizes::Devtools),
];

fn name_in<T: PartialEq>(values: &[Named<T>], value: T) -> Option<String> {
    values.iter().find(|(.., known)| *known == value).map(|(name, ..)| (*name).to_owned())
}

/// The objects to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ObjectsArg {
    /// Objects reachable from the roots
    Live,
    /// All objects
    All,
    /// Objects not reachable from the roots
    Unreachable,
}

/// The column to sort by, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SortArg {
    /// Retained bytes
    Retained,
    /// Shallow bytes: bytes in the managed heap
    Shallow,
    /// Number of objects
    Count,
    /// External bytes: bytes outside the managed heap
    External,
    /// Shallow plus external bytes: the order if there are no retained sizes
    #[value(skip)]
    Size,
}
