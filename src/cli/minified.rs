//! Comparisons of minified programs.

use super::memory::reading_limit;
use super::open::Input;
use super::session::Session;
use crate::input::{self, Format, ReadOptions};

/// The formats whose summary states whether names look minified.
const FORMATS: &[Format] =
    &[Format::Hprof, Format::Heapsnapshot, Format::Cpuprofile, Format::Heapprofile];

/// Warns if two inputs are compared by minified names, which differ between builds.
pub(super) fn warn_if_minified(old: &Input, new: &Input, session: &Session) {
    let is_named = |input: &Input| input.mapping.is_some() || session.source_maps().is_some();
    let short_names = |input: &Input| {
        if session.common.quiet || is_named(input) || !FORMATS.contains(&input.format) {
            return None;
        }
        let memory = reading_limit(input, &session.common);
        let options = ReadOptions { memory, ..ReadOptions::default() };
        input::short_names(input.format, input.bytes(), options)
    };
    let Some(warning) = short_names(new).filter(|_| short_names(old).is_some()) else { return };
    let message = format!("{warning}; without them, one name may mean two things in two builds");
    session.terminal.warn(&new.path, &message);
}
