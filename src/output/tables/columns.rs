//! The tables of heaps and profiles: their names and columns.
//!
//! CSV, JSON lines, Parquet and SQL have the same tables with the same columns. Columns are added
//! at the end and never renamed.

use TableColumn as Of;
use std::borrow::Cow;

/// A table of a heap or a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Table {
    /// One row for each object, with its retained bytes and its dominator.
    Objects,
    /// One row for each reference, sorted by `src`.
    References,
    /// One row for each root.
    Roots,
    /// One row for each type.
    Types,
    /// One row for each text, with its hash. May contain private data.
    Strings,
    /// One row for the dump: file, format, totals, damage.
    Dump,
    /// One row for each sample of a profile, or for each sum if the file has only sums.
    Samples,
    /// One row for each stack of a profile: the stack of its caller and a frame.
    Stacks,
    /// One row for each frame of a profile.
    Frames,
    /// One row for each function and metric of a profile.
    Functions,
}

impl Table {
    /// All tables, in the order in which they are listed.
    pub const ALL: [Self; 10] = [
        Self::Objects,
        Self::References,
        Self::Roots,
        Self::Types,
        Self::Strings,
        Self::Samples,
        Self::Stacks,
        Self::Frames,
        Self::Functions,
        Self::Dump,
    ];

    /// The name on the command line, in file names and in SQL: `objects`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Objects => "objects",
            Self::References => "references",
            Self::Roots => "roots",
            Self::Types => "types",
            Self::Strings => "strings",
            Self::Dump => "dump",
            Self::Samples => "samples",
            Self::Stacks => "stacks",
            Self::Frames => "frames",
            Self::Functions => "functions",
        }
    }

    /// The table in one short line, as the help lists it.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Objects => "Objects of a heap with sizes, retained bytes and dominator",
            Self::References => "References of a heap: source, target and name",
            Self::Roots => "Roots of a heap",
            Self::Types => "Types of a heap with the count and bytes of their objects",
            Self::Strings => "Texts of a heap; only written if named",
            Self::Dump => "One row: file, format, totals, damage",
            Self::Samples => "Samples of a profile with the number of their stack",
            Self::Stacks => "Stacks of a profile: the stack of the caller and a frame",
            Self::Frames => "Frames of a profile: function, file and line",
            Self::Functions => "Functions of a profile with their own and total cost",
        }
    }

    /// Returns `true` if heaps have the table.
    pub fn is_of_heaps(self) -> bool {
        use Table::{Dump, Objects, References, Roots, Strings, Types};
        matches!(self, Objects | References | Roots | Types | Strings | Dump)
    }

    /// Returns `true` if profiles have the table.
    pub fn is_of_profiles(self) -> bool {
        use Table::{Dump, Frames, Functions, Samples, Stacks};
        matches!(self, Samples | Stacks | Frames | Functions | Dump)
    }

    /// Returns `true` if the table is only written when it is requested by name, because it holds
    /// the contents of objects.
    pub fn is_private(self) -> bool {
        self == Self::Strings
    }

    /// The columns in their order. `samples` has one more for each value type that the file of a
    /// profile names itself.
    pub fn columns(self) -> &'static [TableColumn] {
        match self {
            Self::Objects => OBJECTS,
            Self::References => REFERENCES,
            Self::Roots => ROOTS,
            Self::Types => TYPES,
            Self::Strings => STRINGS,
            Self::Dump => DUMP,
            Self::Samples => SAMPLES,
            Self::Stacks => STACKS,
            Self::Frames => FRAMES,
            Self::Functions => FUNCTIONS,
        }
    }
}

/// A column of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// The name, in snake case.
    pub name: Cow<'static, str>,
    /// The kind of its cells.
    pub kind: CellKind,
    /// Whether and how cells can be absent.
    pub absent: Absent,
    /// The encoding in Parquet.
    pub encoding: ColumnEncoding,
}

/// The kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A signed integer of 64 bits: readers disagree about unsigned ones.
    Integer,
    /// A signed integer of 32 bits.
    SmallInteger,
    /// A boolean.
    Boolean,
    /// Text in UTF-8.
    Text,
}

/// Whether cells of a column can be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Every row has a cell.
    Never,
    /// An absent cell is null, which is an empty field in CSV.
    Null,
    /// An absent text is empty, but null in JSON.
    Empty,
}

/// The encoding of a column in Parquet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnEncoding {
    /// Differences to the previous number. For numbers that rise, and large ones.
    Delta,
    /// A dictionary of values. For numbers that repeat, and for texts with codes.
    Dictionary,
    /// The bytes in which a text differs from the previous one. For texts that hardly repeat.
    DeltaText,
    /// Runs of bits, for truth values.
    Bits,
}

impl TableColumn {
    const fn new(name: &'static str, kind: CellKind, encoding: ColumnEncoding) -> Self {
        Self { name: Cow::Borrowed(name), kind, absent: Absent::Never, encoding }
    }

    /// Integers that rise or rarely repeat.
    const fn number(name: &'static str) -> Self {
        Self::new(name, CellKind::Integer, ColumnEncoding::Delta)
    }

    /// Integers that repeat, such as sizes.
    const fn size(name: &'static str) -> Self {
        Self::new(name, CellKind::Integer, ColumnEncoding::Dictionary)
    }

    /// Small integers that repeat.
    const fn small(name: &'static str) -> Self {
        Self::new(name, CellKind::SmallInteger, ColumnEncoding::Dictionary)
    }

    const fn boolean(name: &'static str) -> Self {
        Self::new(name, CellKind::Boolean, ColumnEncoding::Bits)
    }

    /// Texts that repeat, such as names.
    const fn name(name: &'static str) -> Self {
        Self::new(name, CellKind::Text, ColumnEncoding::Dictionary)
    }

    /// Texts that differ in every row.
    const fn text(name: &'static str) -> Self {
        Self::new(name, CellKind::Text, ColumnEncoding::DeltaText)
    }

    const fn or_null(mut self) -> Self {
        self.absent = Absent::Null;
        self
    }

    const fn or_empty(mut self) -> Self {
        self.absent = Absent::Empty;
        self
    }
}

static OBJECTS: &[Of] = &[
    Of::number("object"),
    Of::text("id"),
    Of::name("type"),
    Of::name("namespace").or_empty(),
    Of::name("kind"),
    Of::size("shallow_bytes"),
    Of::size("external_bytes"),
    // 0 for unreachable objects.
    Of::size("retained_bytes"),
    // Null for unreachable objects and for those that only the set of roots dominates.
    Of::number("dominator").or_null(),
    Of::boolean("reachable"),
    // References on the shortest path from a root. Null for unreachable objects.
    Of::small("root_distance").or_null(),
    // How an executable named the type (Go). Null if it did not.
    Of::name("type_source").or_null(),
];

static REFERENCES: &[Of] =
    &[Of::number("src"), Of::number("dst"), Of::name("label"), Of::boolean("weak")];

static ROOTS: &[Of] = &[
    Of::number("object"),
    Of::text("id"),
    Of::name("kind"),
    Of::name("name"),
    // Of the call frame.
    Of::name("function").or_null(),
];

static TYPES: &[Of] = &[
    Of::number("number"),
    Of::name("type"),
    Of::name("namespace").or_empty(),
    Of::name("kind"),
    Of::number("count"),
    Of::number("shallow_bytes"),
    Of::number("external_bytes"),
    Of::number("live_count"),
    Of::number("live_shallow_bytes"),
    Of::number("live_external_bytes"),
    // Adds up to what `top` shows for the types of one name.
    Of::number("retained_bytes"),
];

static STRINGS: &[Of] = &[
    Of::number("object"),
    // Of the whole text in UTF-8, as the hash.
    Of::number("bytes"),
    Of::number("hash"),
    Of::text("text").or_null(),
];

static DUMP: &[Of] = &[
    Of::name("file"),
    // SHA-256 of the bytes, decompressed, in hexadecimal digits.
    Of::name("digest"),
    Of::name("format"),
    Of::name("format_version").or_null(),
    Of::name("kind"),
    Of::number("snapshot").or_null(),
    Of::number("time_us").or_null(),
    Of::boolean("complete"),
    Of::name("damage").or_null(),
    Of::number("warnings"),
    // Null for profiles, as all that follow but the last.
    Of::number("objects").or_null(),
    Of::number("references").or_null(),
    Of::number("live_count").or_null(),
    Of::number("live_shallow_bytes").or_null(),
    Of::number("live_external_bytes").or_null(),
    Of::number("unreachable_count").or_null(),
    Of::number("unreachable_bytes").or_null(),
    Of::name("tool_version"),
];

static SAMPLES: &[Of] = &[
    Of::number("sample"),
    Of::size("process").or_null(),
    Of::size("interpreter").or_null(),
    Of::name("thread"),
    // Null in profiles that have only sums, as are `is_idle` and `is_gc`.
    Of::number("start_us").or_null(),
    // 0 is the empty stack, which has no row in `stacks`.
    Of::size("stack"),
    Of::size("time_us").or_null(),
    Of::size("cpu_us").or_null(),
    Of::size("memory_gained").or_null(),
    Of::size("memory_freed").or_null(),
    Of::boolean("is_idle").or_null(),
    Of::boolean("is_gc").or_null(),
    Of::size("samples"),
];

static STACKS: &[Of] = &[
    Of::number("stack"),
    // Null for outermost frames.
    Of::number("parent").or_null(),
    Of::number("frame"),
    Of::small("depth"),
];

static FRAMES: &[Of] =
    &[Of::number("frame"), Of::name("function"), Of::name("file"), Of::small("line").or_null()];

static FUNCTIONS: &[Of] = &[
    Of::name("function"),
    Of::name("file"),
    Of::number("self"),
    Of::number("total"),
    Of::number("samples_self"),
    Of::number("samples_total"),
    Of::name("metric"),
];
