//! Austin's MOJO: profiles as a stream of stack samples, versions 1 to 4.
//!
//! ```text
//! file   = 4D 4F 4A ("MOJ"), varint version, event*
//! event  = one byte id, then its fields
//! varint = first byte: bit 7 more, bit 6 negative, bits 5–0; further bytes: bit 7 more, bits 6–0
//! string = bytes up to a NUL
//! ```
//!
//! | id | event | fields (versions in which they differ) |
//! |---|---|---|
//! | 1 | METADATA | key string, value string |
//! | 2 | STACK | pid, interpreter id (from 3), thread id string |
//! | 3 | FRAME | key, file key, scope key, line, and from 2: line end, column, column end |
//! | 4 | FRAME_INVALID | |
//! | 5 | FRAME_REF | key |
//! | 6 | FRAME_KERNEL | symbol string |
//! | 7, 8 | GC, IDLE | |
//! | 9, 10 | METRIC_TIME, METRIC_MEMORY | microseconds; bytes, signed |
//! | 11, 12 | STRING, STRING_REF | key, value string; key |
//! | 13 | STACK_REPEAT (4) | |
//! | 14, 15, 16 | TASK_STACK, TASK_WAITER, TASK_RUNNING (4) | task, name key, frames; task, waiter; task |
//!
//! An event has no length, so nothing after an unknown id can be read. A sample begins at its STACK
//! and ends at the next one, or at the end of the file; its frames are ordered outermost first.
//!
//! Sources: the writers of Austin 3.4.0 to 4.0.0 and after (`src/mojo.h`), the readers of
//! austin-python 1.7.1 and 2.4.0, echion 0.3.5; every statement was checked on recordings of Austin
//! 3.4.1, 3.5.0, 3.6.0 and 4.0.0.

pub mod invariants;
mod keys;
pub mod load;
pub mod records;
mod sample_state;
pub mod samples;
pub mod summary;
pub mod symbols;
mod thread_id;

pub use records::{Records, for_each_record};

use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Mojo,
    name: "mojo",
    title: "Austin MOJO",
    versions: "1 (Austin 3.4), 2 (3.5), 3 (3.6 to 4.0, echion, mojo-compress), 4 (after 4.0)",
    extensions: &["mojo"],
    detection: Detection::Magics(&[b"MOJ"]),
    origin: Origin::Runtime("Python"),
    record_names: &[records::Event::NAMES],
    info: summary::info,
    check: invariants::check,
    readers: Readers::Profile(ProfileReader { load: load::load, has_order: true }),
};

/// The newest version that is known.
const NEWEST: u64 = 4;
