//! Options of the commands that load a heap.

use crate::input::load::LayoutChoice;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Which heap of a file, and what counts as its roots.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Heaps")]
pub(in crate::cli) struct HeapOptions {
    /// Which snapshot of a file with several (mvmheap): a number from 0, or `last`, the last complete one (default)
    #[arg(long, value_name = "N|last", allow_negative_numbers = true)]
    pub(in crate::cli) snapshot: Option<Snapshot>,
    #[command(flatten)]
    pub(in crate::cli) roots: LoadArgs,
}

impl HeapOptions {
    /// Which were given.
    pub(in crate::cli) fn given(&self) -> [(&'static str, bool); 4] {
        let [roots, layout, exe] = self.roots.given();
        [("--snapshot", self.snapshot.is_some()), roots, layout, exe]
    }
}

/// How a heap is loaded: what counts as roots, how large objects are, what they are called.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Heaps")]
pub(in crate::cli) struct LoadArgs {
    /// Which words of call frames count as pointers (Go): those that the dump lists (`precise`), also all of a frame that
    /// something points into (`default`), or all of all frames (`conservative`)
    #[arg(long, value_name = "WHICH", value_enum, hide_possible_values = true)]
    roots: Option<RootsArg>,
    /// How the JVM lays out objects, instead of what their addresses say (hprof): any of `references=4|8`, `header=8|12|16` and
    /// `alignment=8|16|…|256`, such as `references=8,header=12`
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<LayoutArg>,
    /// Executable that wrote the dump (Go): names types, fields, globals and local variables. A build of the same source with
    /// the same toolchain and flags that was not stripped fits the dump of a stripped one
    #[arg(long, value_name = "PROGRAM")]
    pub(in crate::cli) exe: Option<PathBuf>,
    /// Leave out types that are guessed (Go, with --exe)
    #[arg(long, requires = "exe")]
    pub(in crate::cli) no_guess: bool,
}

impl LoadArgs {
    /// What was asked for, or the default.
    pub(in crate::cli) fn choice(&self) -> RootsArg {
        self.roots.unwrap_or(RootsArg::Default)
    }

    /// The layout that was asked for, as far as it was.
    pub(in crate::cli) fn layout(&self) -> LayoutChoice {
        self.layout.map_or(LayoutChoice::default(), |layout| layout.0)
    }

    /// The same, with an executable.
    pub(in crate::cli) fn with_program(self, exe: &Path, no_guess: bool) -> Self {
        Self { exe: Some(exe.to_owned()), no_guess, ..self }
    }

    /// The same, for a dump of another program.
    pub(in crate::cli) fn of_program(&self, exe: Option<&PathBuf>) -> Self {
        Self { exe: exe.or(self.exe.as_ref()).cloned(), ..self.clone() }
    }

    /// Which were given.
    pub(in crate::cli) fn given(&self) -> [(&'static str, bool); 3] {
        [("--roots", self.roots.is_some()), ("--layout", self.layout.is_some()), ("--exe", self.exe.is_some())]
    }
}

/// A layout, written `references=8,header=12,alignment=16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LayoutArg(LayoutChoice);

impl std::str::FromStr for LayoutArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "any of references=4|8, header=8|12|16 and alignment=8|16|…|256, with commas between them";
        let mut layout = LayoutChoice::default();
        for part in text.split(',') {
            let (key, number) = part.split_once('=').ok_or(WRONG)?;
            let number: u64 = number.parse().map_err(|_| WRONG)?;
            let (place, fits) = match key {
                "references" => (&mut layout.references, matches!(number, 4 | 8)),
                "header" => (&mut layout.header, matches!(number, 8 | 12 | 16)),
                "alignment" => (&mut layout.alignment, number.is_power_of_two() && (8..=256).contains(&number)),
                _ => return Err(WRONG),
            };
            if !fits || place.replace(number).is_some() {
                return Err(WRONG);
            }
        }
        Ok(Self(layout))
    }
}

/// Which snapshot of a file with several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Snapshot {
    Number(u64),
    /// The last complete one.
    Last,
}

impl std::str::FromStr for Snapshot {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "last" => Ok(Self::Last),
            _ => text.parse().map(Self::Number).map_err(|_| "a number from 0, or `last`"),
        }
    }
}

/// One snapshot of a file with several, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Snapshots {
    One(Snapshot),
    All,
}

impl std::str::FromStr for Snapshots {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            _ => text.parse().map(Self::One).map_err(|_: &str| "a number from 0, `last` or `all`"),
        }
    }
}

/// The snapshots that are compared: `A..B`, or one number for both files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct SnapshotPair {
    pub(in crate::cli) old: Snapshot,
    pub(in crate::cli) new: Snapshot,
    /// Both were named.
    pub(in crate::cli) range: bool,
}

impl std::str::FromStr for SnapshotPair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (old, new, range) = match text.split_once("..") {
            Some((old, new)) => (old.parse(), new.parse(), true),
            None => (text.parse(), text.parse(), false),
        };
        let wrong = |_| "A..B, two numbers from 0 or `last`, or one number for both files";
        Ok(Self { old: old.map_err(wrong)?, new: new.map_err(wrong)?, range })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum RootsArg {
    /// What the dump lists
    Precise,
    /// And all of a frame that something points into
    Default,
    /// All of all frames
    Conservative,
}

/// Which objects are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ObjectsArg {
    /// Those that can be reached from the roots
    Live,
    /// Those and the others
    All,
    /// The others
    Unreachable,
}

/// The number by which rows are sorted, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SortArg {
    /// What would go with them
    Retained,
    /// Bytes in the managed heap
    Shallow,
    /// Objects
    Count,
    /// Bytes outside of the managed heap
    External,
    /// Bytes in it and outside of it: what is sorted by where nothing is retained
    #[value(skip)]
    Size,
}
