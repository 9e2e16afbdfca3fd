//! Recordings of Java's Flight Recorder as heaps: histograms of classes, and objects that were
//! sampled and stayed alive.

mod groups;
mod objects;

pub(crate) use objects::{paths, suspects};

use super::memory::reading_limit;
use super::open::Input;
use super::profile::refused;
use super::session::Session;
use crate::analysis::glob::TypeFilter;
use crate::analysis::growth::Growth;
use crate::input::jfr::{ClassHistogram, OldObjects, class_histograms, old_objects};
use crate::input::{Format, ReadOptions};

/// The class histograms of a recording, oldest first. Empty for other formats. Fails if they take
/// more memory than they may.
pub(crate) fn histograms(input: &Input, session: &Session) -> anyhow::Result<Vec<ClassHistogram>> {
    if input.format != Format::Jfr {
        return Ok(Vec::new());
    }
    let progress = session.progress(input);
    let passed = |offset| progress.passed(offset, &input.source);
    let read = class_histograms(input.bytes(), read_options(input, session).progress(&passed));
    read.map_err(|error| refused(error, input, &session.common))
}

/// The growth of classes over histograms.
pub(crate) fn growth_of(histograms: &[ClassHistogram], filter: &TypeFilter) -> Growth {
    let mut growth = Growth::default();
    for histogram in histograms {
        growth.begin_snapshot();
        for row in histogram.rows.iter().filter(|row| filter.selects(&row.name, "")) {
            growth.add(&row.name, "", row.count, row.bytes);
        }
    }
    growth
}

/// The objects that were sampled and stayed alive.
fn read_old_objects(input: &Input, session: &Session) -> anyhow::Result<OldObjects> {
    let read = old_objects(input.bytes(), read_options(input, session));
    read.map_err(|error| refused(error, input, &session.common))
}

/// The options for reading the events of a recording.
pub(crate) fn read_options<'a>(input: &'a Input, session: &Session) -> ReadOptions<'a> {
    ReadOptions::default()
        .memory(reading_limit(input, &session.common))
        .mapping(input.mapping.as_deref())
}
