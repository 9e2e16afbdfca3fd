//! Profiles of Python's `cProfile` and `profile`: what `python -m cProfile -o FILE` and
//! `Profile.dump_stats` write, and `pstats` reads.
//!
//! ```text
//! {(file, line, function): (primitive calls, calls, own seconds, total seconds, callers), …}
//! callers of cProfile  {(file, line, function): (calls, primitive calls, own seconds, total seconds), …}
//! callers of profile   {(file, line, function): calls, …}
//! ```
//!
//! The dictionary is written by Python's module `marshal`: a byte for the type of a value, then the value. Functions
//! of C have the file `~`, the line 0 and a name such as `<built-in method builtins.len>`. The two counts of calls
//! change places in callers. A call that is not primitive is a recursion: the function was running already. Its time
//! is counted once in the total.
//!
//! Sources: CPython's `Lib/cProfile.py`, `Lib/profile.py`, `Lib/pstats.py` and `Python/marshal.c`; files of
//! Python 2.7 and 3.6 to 3.13.

mod load;
mod marshal;
mod stats;

pub(super) use stats::Stats;

use crate::input::native::summary;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use load::load;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Cprofile,
    name: "cprofile",
    title: "cProfile statistics",
    versions: "Python 2.7 and 3.0 to 3.14",
    extensions: &["prof", "pstats", "cprof"],
    detection: Detection::Contents(stats::looks_right),
    origin: Origin::Runtime("Python"),
    record_names: &[stats::RECORD_NAMES],
    info: |bytes, options| {
        summary::info(&SPEC, String::new(), load(bytes, options.into())?, Stats::new(bytes))
    },
    check: |bytes, options| summary::check(load(bytes, options.into())?),
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};
