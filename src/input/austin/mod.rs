//! Austin's text: collapsed stacks, one sample a line, as Austin up to 3.7 prints them and the
//! converters of MOJO do.
//!
//! ```text
//! # mode: wall
//! P<pid>;T[<interpreter>:]<thread>;<file>:<function>:<line>;… <metric>
//! ```
//!
//! The metric is a time in microseconds, a change of memory in bytes (mode `memory`), or
//! `time,idle,memory` (mode `full`). Austin 3.x itself, mojo2austin 1.7 (`full`) and mojo2austin
//! 2.x (`peer`, which leaves out what it has no place for) differ in small things that are all
//! read: empty lines, `:INVALID:`, `:GC:` and kernel frames, `None` for no metric.
//!
//! The text is ambiguous where names hold `;`, ` ` or newlines. A frame ends where a line number
//! does, the metric begins after the last blank, and a sample ends where the next line begins as
//! lines do.
//!
//! Sources: Austin 3.4.0 to 3.7.0 (`src/austin.c`), mojo2austin of austin-python 1.7.1 and 2.4.0,
//! on whose output all of this was checked.

mod load;
mod records;
mod summary;

pub use records::{AustinLine, AustinSample, Lines, Metric};

use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Austin,
    name: "austin",
    title: "Austin text",
    versions: "Austin up to 3.7, mojo2austin 1.7 and 2.x",
    extensions: &["austin", "aprof", "txt"],
    detection: Detection::MagicsOrContents(
        &[
            b"# austin: ",
            b"# mode: ",
            b"# python: ",
            b"# interval: ",
            b"# duration: ",
            b"# memory: ",
            b"# multiprocess: ",
            b"# gc: ",
            b"# sampler: ",
        ],
        begins_with_sample,
    ),
    origin: Origin::Runtime("Python"),
    record_names: &[AustinLine::NAMES],
    info: summary::info,
    check: summary::check,
    readers: Readers::Profile(ProfileReader { load: load::load, has_order: true }),
};

/// Bytes of a file in which its first samples are looked for.
const HEAD: usize = 64 << 10;

/// Whether the first line of a file that is neither empty nor metadata (`# key: value`) is a
/// sample, and the first stack has a frame of Austin's: folded stacks of others, and dumptool's
/// own, may begin with a process and a thread, too.
pub fn begins_with_sample(bytes: &[u8]) -> bool {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let is_metadata = |line: &&[u8]| line.starts_with(b"# ") && line.contains(&b':');
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !is_metadata(line)).peekable();
    if !lines.peek().is_some_and(|line| is_sample(line)) {
        return false;
    }
    // A line that cannot be parsed may be truncated, or continue in the next line.
    let mut stacks =
        lines.filter_map(records::parse_sample).filter(|sample| !sample.stack.is_empty());
    stacks.next().is_none_or(|sample| sample.frames().any(|frame| frame.is_ok()))
}

/// Whether a line begins like a sample: `P`, a number, `;T`.
pub fn is_sample(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"P") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && rest.get(digits..).is_some_and(|rest| rest.starts_with(b";T"))
}
