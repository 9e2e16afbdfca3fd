//! Data that an output format cannot store.

use crate::model::named::named;
use serde::{Serialize, Serializer};
use std::fmt;

/// Something that the output format cannot hold, and how often it was dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// The kind of data that was dropped or changed.
    pub what: LossKind,
    /// The number of occurrences.
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

/// `exact sizes of arrays (rounded up): 12`
impl fmt::Display for Loss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.what, self.count)
    }
}

named! {
    /// A kind of [`Loss`]. Displays as text: a noun phrase in the plural.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum LossKind {
        // Losses of hprof, in the order of `output::hprof::report`.
        RoundedInstance = "exact sizes (MAT and hprof-slurp round up; VisualVM does not)",
        RoundedArray = "exact sizes of arrays (rounded up)",
        Inside = "external sizes up to 8 bytes (rounded to 0 or 8 bytes of the object itself)",
        Spilled = "direct references of objects with more references than bytes (moved to the array for external memory)",
        CutSize = "exact sizes (zero padding is limited to 32 MiB plus 256 bytes per object)",
        CutExternal = "exact external sizes (zero padding is limited to 32 MiB plus 256 bytes per object)",
        StringSize = "exact sizes of texts (written as a java.lang.String and an array)",
        Lengthened = "exact lengths of Java arrays (zero padding makes their sizes exact)",
        StringType = "type names of texts (written as java.lang.String)",
        BytesType = "type names of memory blocks over 2 KiB (written as byte[])",
        Contents = "memory contents (hprof cannot store them)",
        Value = "values (hprof cannot store them)",
        CutText = "texts (truncated)",
        ArrayLabel = "reference names of objects written as arrays",
        ArrayIndex = "reference indexes of objects written as arrays",
        WeakLabel = "names of weak references (written as referent)",
        Ephemeron = "ephemeron keys (the value is kept alive by the holder alone)",
        Reference = "references beyond the maximum array length",
        FrameLabel = "local variable names (hprof cannot store them)",
        // Losses of the other formats.
        Unreachable = "unreachable objects",
        UnreachableOptional = "unreachable objects (--objects all writes them)",
        UnreachableWeak = "weak references to unreachable objects",
        WeakenedReferences = "references from unreachable objects to live objects (written as weak)",
        Size32 = "sizes over 4 GiB (set to 4 GiB; readers use 32 bits)",
        ExternalInOwn = "separate external sizes (added to the objects' own sizes)",
        Values = "values of objects that are not texts (a heap snapshot cannot store them)",
        Bytes = "memory contents (a heap snapshot cannot store them)",
        CutText1K = "texts over 1 KiB (truncated)",
        PrunedSubtrees = "objects without a frame, in subtrees smaller than --min-share",
        CutStacks = "stacks deeper than 500 frames (truncated)",
        DeepStacks = "stacks deeper than 65 536 frames (only the outermost frames are kept)",
        DroppedFrames = "samples with frames that the profile asks to leave out (--all-frames writes them)",
        NegativeNumbers = "negative values",
        EmptyStacks = "empty stacks (shown as <no frames>)",
        EmptyStackGaps = "empty stacks (shown as gaps)",
        OtherValues = "metrics other than the main one (--metric writes another)",
        LineNumbers = "line numbers of frames",
        ReplacedSeparators = "semicolons, line breaks or a first # in names (replaced)",
        ZeroStacks = "stacks with sum 0",
        NegativeStacks = "stacks with a negative sum",
        SampledTimes = "time metrics (hprof counts samples; --metric writes one of them instead)",
        KernelFiles = "files of kernel functions",
        AmbiguousNames = "names with colons, semicolons or line breaks (readers take these for the end of a name)",
        Metadata = "metadata entries",
        CutFrames = "outermost frames of deep stacks (limit: 4 194 304 frames plus 256 per stack)",
        CutSums = "sums over 32 bits that do not fit into the 65 536 extra records",
        FreedSurplus = "stacks that freed more memory than they gained (live bytes written as 0)",
        FreedMemory = "sums of freed memory",
        FrameRanges = "column numbers and end lines of frames",
        TaskEvents = "asyncio task events",
        MetadataOfSamples = "metadata entries with sample counts",
        UnknownInterpreters = "unknown interpreter ids of threads (written as 0)",
        ReplacedNuls = "NULs in names (replaced)",
        WithoutMetric = "samples without a metric",
        Strays = "frames and metrics outside samples",
        NotUtf8 = "names that are not UTF-8 (invalid bytes become U+FFFD)",
        Clamped = "numbers over 64 bits (set to the maximum)",
        CutSamples = "samples cut off by the damage",
        SpecialFrames = "invalid, kernel and GC frames",
        FullModeMetrics = "memory and idle values of full mode",
    }
    /// The text: a noun phrase in the plural.
    pub fn text
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
