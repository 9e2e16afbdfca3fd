//! The tables of heaps and profiles.
//!
//! CSV, JSON lines, Parquet and SQL have the same tables with the same columns. Columns are added
//! at the end and never renamed.

use super::Column;
use super::dump::Dump;
use super::events::Events;
use super::heap::{Objects, References, Roots, Strings, Types};
use super::profile::{Frames, Functions, Samples, Stacks};
use super::relation::declared;

/// Declares the tables in the order in which they are listed: the name, whether heaps and profiles
/// have the table, the rows that declare its columns, and a short line for the help.
macro_rules! tables {
    ($($name:literal $table:ident($heaps:literal, $profiles:literal) $rows:ty, $summary:literal;)*) => {
        /// A table of a heap or a profile.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Table {
            $(#[doc = $summary] $table,)*
        }

        impl Table {
            /// All tables, in the order in which they are listed.
            pub const ALL: &[Self] = &[$(Self::$table),*];

            /// The name on the command line, in file names and in SQL: `objects`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$table => $name,)*
                }
            }

            /// The table in one short line, as the help lists it.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Self::$table => $summary,)*
                }
            }

            /// Returns `true` if heaps have the table.
            pub fn is_of_heaps(self) -> bool {
                match self {
                    $(Self::$table => $heaps,)*
                }
            }

            /// Returns `true` if profiles have the table.
            pub fn is_of_profiles(self) -> bool {
                match self {
                    $(Self::$table => $profiles,)*
                }
            }

            /// The columns in their order. `samples` has one more for each value type that the file
            /// of a profile names itself.
            pub fn columns(self) -> Vec<Column> {
                match self {
                    $(Self::$table => declared::<$rows>(),)*
                }
            }
        }
    };
}

tables! {
    "objects" Objects(true, false) Objects<'static>,
        "Objects of a heap with sizes, retained bytes and dominator";
    "references" References(true, false) References<'static>,
        "References of a heap: source, target and name";
    "roots" Roots(true, false) Roots<'static>, "Roots of a heap";
    "types" Types(true, false) Types<'static>,
        "Types of a heap with the count and bytes of their objects";
    "strings" Strings(true, false) Strings<'static>, "Texts of a heap; only written if named";
    "samples" Samples(false, true) Samples<'static>,
        "Samples of a profile with the number of their stack";
    "stacks" Stacks(false, true) Stacks<'static>,
        "Stacks of a profile: the stack of the caller and a frame";
    "frames" Frames(false, true) Frames<'static>, "Frames of a profile: function, file and line";
    "functions" Functions(false, true) Functions<'static>,
        "Functions of a profile with their own and total cost";
    "events" Events(false, true) Events<'static>,
        "Events of a recording (jfr) with their fields as JSON; only written if named";
    "dump" Dump(true, true) Dump<'static>, "One row: file, format, totals, damage";
}

impl Table {
    /// Returns `true` if the table is only written when it is requested by name, because it holds
    /// the contents of objects or of events.
    pub fn is_private(self) -> bool {
        matches!(self, Self::Strings | Self::Events)
    }
}
