//! massif: snapshots of the heap over time, of valgrind's tool.
//!
//! ```text
//! desc: OPTIONS / cmd: COMMAND / time_unit: i, ms or B
//! #-----------
//! snapshot=N
//! #-----------
//! time=T / mem_heap_B=BYTES / mem_heap_extra_B=BYTES / mem_stacks_B=BYTES / heap_tree=empty, detailed or peak
//! n2: BYTES (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
//!  n1: BYTES 0xADDRESS: function (file:line)
//!   n0: BYTES in 3 places, all below massif's threshold (0.10%)
//! ```
//!
//! A node is below the one with a blank less, which it called: the tree begins at the functions that
//! allocate. K of `nK` is the number of its children.
//!
//! Sources: `ms_main.c` and `ms_print` of valgrind; files of valgrind 3.19.

mod lines;
mod load;

pub(super) use lines::MassifLines;

use crate::error::Result;
use crate::input::check::Findings;
use crate::input::native::summary;
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use load::load;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Massif,
    name: "massif",
    title: "massif profile",
    versions: "valgrind 3.3 and later",
    extensions: &["out"],
    detection: Detection::Contents(lines::looks_right),
    origin: Origin::Several,
    record_names: &[lines::MassifLine::NAMES],
    info: |bytes, options| {
        summary::info(&SPEC, String::new(), load(bytes, options.into())?, MassifLines::new(bytes))
    },
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};

fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let mut findings = summary::check(load(bytes, options.into())?)?;
    let survey = load::Survey::of(bytes);
    let trees = survey.snapshots.iter().filter(|snapshot| snapshot.tree > 0);
    let wrong = trees.filter(|snapshot| snapshot.tree != snapshot.heap).count();
    findings.none(
        "snapshots.tree",
        wrong as u64,
        "snapshots whose tree has another sum than mem_heap_B",
    );
    Ok(findings)
}
