//! Folded stacks: `outer;inner;innermost 12`, one stack a line, as stackcollapse scripts, inferno,
//! async-profiler, py-spy and dumptool write them.
//!
//! The last blank of a line divides the stack from its number. Empty lines and lines that begin
//! with `#` are skipped, but for dumptool's own first line, which names the value and its unit:
//! `# folded: alloc_space in bytes`. A differential file has two numbers in every line: before and
//! after. There is no other magic, and no escape for `;` and blanks in names.
//!
//! Sources: flamegraph.pl, difffolded.pl and inferno; files of py-spy 0.4.3.

mod lines;
mod load;
mod summary;

pub(in crate::input) use lines::FoldedLines;

use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Folded,
    name: "folded",
    title: "folded stacks",
    versions: "one or two numbers per line",
    extensions: &["folded", "collapsed"],
    detection: Detection::MagicsOrContents(&[lines::VALUE], lines::looks_right),
    origin: Origin::Several,
    record_names: &[&["stack"]],
    info: summary::info,
    check: summary::check,
    readers: Readers::Profile(ProfileReader { load: load::load, has_order: false }),
};
