//! The text of `perf script`: samples of Linux' perf with their stacks.
//!
//! ```text
//! python3 4242/4243 [001] 1167.211351:    5025125 cpu-clock:
//!         ffffffff8158ff22 filemap_get_entry+0x92 ([kernel.kallsyms])
//!                   f786a __GI___fstatat64+0xa (/usr/lib/x86_64-linux-gnu/libc.so.6)
//! ```
//!
//! A sample is a line with the command, the thread, the time and the event, and one line for each
//! frame, innermost first. A blank line usually ends it. Processor, process, time and period are
//! there or not, as `perf script -F` asks for them. Samples without stacks have their only frame in
//! the line of the sample.
//!
//! Sources: `tools/perf/builtin-script.c` and `util/evsel_fprintf.c` of Linux; stackcollapse-perf.pl
//! and inferno; recordings of perf 6.1.

mod lines;
mod load;
mod parse;
mod summary;

pub use lines::{PerfLine, PerfLines};
pub use load::load;
pub use summary::{check, info};

use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::PerfScript,
    name: "perf-script",
    title: "perf script text",
    versions: "samples with time or event",
    extensions: &["perf", "stacks"],
    detection: Detection::Contents(lines::looks_right),
    origin: Origin::Several,
    record_names: &[lines::PerfLine::NAMES],
    info,
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};
