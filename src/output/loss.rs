//! What an output format cannot hold.

use serde::{Serialize, Serializer};
use std::fmt;

/// Something that the output format cannot hold, and how often it was dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// What was dropped or changed.
    pub what: LossKind,
    /// How often.
    pub count: u64,
    /// The bytes concerned, for losses that are measured in bytes.
    pub bytes: Option<u64>,
}

impl Loss {
    /// Makes a loss. Returns `None` if the count is 0.
    pub fn of(what: LossKind, count: u64, bytes: Option<u64>) -> Option<Self> {
        (count > 0).then_some(Self { what, count, bytes })
    }
}

/// Declares the kinds with their texts, which are also their documentation.
macro_rules! kinds {
    ($($kind:ident = $text:literal,)*) => {
        /// A kind of [`Loss`]. Displays as text: a noun phrase in the plural.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum LossKind {
            $(#[doc = concat!("`", $text, "`")] $kind,)*
        }

        impl LossKind {
            /// The text: a noun phrase in the plural.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }
        }
    };
}

kinds! {
    // Of hprof, in the order of `output::hprof::report`.
    RoundedInstance = "sizes that MAT and hprof-slurp round up (VisualVM does not)",
    RoundedArray = "sizes rounded up",
    Inside = "external memory of up to 8 bytes, which is rounded to 0 or 8 bytes of the object itself",
    Spilled = "objects with more references than bytes: the array for their external memory holds them, one step further away",
    CutSize = "sizes cut short: zeros stand for at most 32 MiB, and 256 bytes an object, in all",
    CutExternal = "external memory cut short: zeros stand for at most 32 MiB, and 256 bytes an object, in all",
    StringSize = "sizes of texts, which are a java.lang.String and an array: their difference",
    Lengthened = "lengths of Java's arrays, to which zeros were added to make their sizes right",
    StringType = "type names of texts, which are java.lang.String",
    BytesType = "type names of memory blocks over 2 KiB, which are byte[]",
    Contents = "memory contents that have no place",
    Value = "values that have no place",
    CutText = "texts cut short",
    ArrayLabel = "names of references of objects that are written as arrays",
    ArrayIndex = "indexes of references of objects that are written as arrays",
    WeakLabel = "names of weak references, which are called referent",
    Ephemeron = "ephemerons: their value is kept alive by the holder alone",
    Reference = "references beyond the longest array",
    FrameLabel = "names of variables of call frames",
    // Of the other formats.
    Unreachable = "unreachable objects",
    UnreachableOptional = "unreachable objects (--objects all writes them)",
    UnreachableWeak = "weak references to unreachable objects",
    WeakenedReferences = "references of unreachable objects to live ones, written as weak",
    Size32 = "sizes cut at 4 GiB: readers keep 32 bits",
    ExternalInOwn = "external sizes, which are in the objects' own sizes",
    CutText1K = "texts cut after 1 KiB",
    PrunedSubtrees = "objects in subtrees below --min-share, whose types are in no frame",
    CutStacks = "stacks deeper than 500 frames, which were cut",
    DeepStacks = "stacks of more than 65,536 frames, cut to the outermost",
    NegativeNumbers = "negative numbers",
    EmptyStacks = "empty stacks, shown as <no frames>",
    EmptyStackGaps = "empty stacks, shown as gaps",
    OtherValues = "values but the first",
    LineNumbers = "line numbers of frames",
    ReplacedSeparators = "names with semicolons or line breaks, which were replaced",
    ZeroStacks = "stacks whose sum is 0",
    NegativeStacks = "stacks whose sum is negative",
    NarrowStacks = "stacks far too narrow to be seen, whose values were put into their callers",
    NarrowMicroseconds = "microseconds of stacks that were put into their callers",
    NarrowBytes = "bytes of stacks that were put into their callers",
    NarrowSamples = "samples of stacks that were put into their callers",
    SampledTimes = "times, since samples are only counted (--metric time writes microseconds for them)",
    Metadata = "metadata",
    CutFrames = "outermost frames of deep stacks, beyond 4 194 304 frames and 256 a stack in all",
    CutSums = "sums cut short: numbers have 32 bits, and 65 536 more of them hold what exceeds that",
    FreedSurplus = "stacks that freed more memory than they gained, whose surplus a site cannot say",
    PartSums = "sums across the parts of the profile, in which a stack may stand again",
    FreedMemory = "memory that went out of use",
    FrameRanges = "columns and last lines of frames",
    TaskEvents = "asyncio task events",
    MetadataOfSamples = "metadata that counts samples",
    UnknownInterpreters = "threads whose interpreter is not known, which is 0 now",
    ReplacedNuls = "NULs in names, which were replaced",
    WithoutMetric = "samples without a metric",
    Strays = "frames and metrics outside of samples",
    NotUtf8 = "names that are not UTF-8, written with U+FFFD",
    Clamped = "numbers of more than 64 bits, cut to the largest",
    CutSamples = "samples that the damage cut",
    SpecialFrames = "invalid, kernel and GC frames",
    FullModeMetrics = "memory and idle of the mode full",
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for LossKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}
