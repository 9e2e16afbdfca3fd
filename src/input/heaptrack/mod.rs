//! Recordings of heaptrack: every allocation and free of a program, with symbols.
//!
//! ```text
//! v 10400 3           heaptrack's version, the version of the format
//! X command           I PAGE_SIZE PAGES     A: attached to a running process
//! s LENGTH text       a string, numbered from 1; without LENGTH before format 3
//! i ADDRESS MODULE [FUNCTION FILE LINE]…    an instruction, from 1; the innermost of inlined calls is first
//! t INSTRUCTION PARENT                      a node of the tree of stacks, from 1
//! a SIZE TRACE        a kind of allocation, from 0
//! + KIND              an allocation     - KIND    its end
//! c MS                time              R PAGES   resident memory       # comment
//! ```
//!
//! All numbers are hexadecimal; 0 stands for no string or no parent.
//!
//! Sources: `accumulatedtracedata.cpp` and `heaptrack_interpret.cpp` of heaptrack; recordings of
//! heaptrack 1.4.

mod lines;
mod load;
mod replay;

pub(super) use lines::HeaptrackLines;

use crate::error::Result;
use crate::input::info::Info;
use crate::input::native::summary;
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use lines::HeaptrackLine;
use load::load;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Heaptrack,
    name: "heaptrack",
    title: "heaptrack recording",
    versions: "formats 1 to 3",
    extensions: &["zst", "gz"],
    detection: Detection::Contents(lines::looks_right),
    origin: Origin::Several,
    record_names: &[lines::HeaptrackLine::NAMES],
    info,
    check: |bytes, options| summary::check(load(bytes, options.into())?),
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};

fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let loaded = load(bytes, options.into())?;
    let mut lines = HeaptrackLines::new(bytes);
    let version = match lines.next() {
        Some(Ok((_, HeaptrackLine::Version { format, .. }))) => format.to_string(),
        _ => String::new(),
    };
    summary::info(&SPEC, version, loaded, HeaptrackLines::new(bytes))
}
