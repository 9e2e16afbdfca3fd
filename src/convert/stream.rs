//! A MOJO recording as Austin's text, sample by sample in constant memory.

use super::{Conversion, Converted, ConvertedCounts};
use crate::error::Error;
use crate::input::mojo::samples::{Stop, for_each_sample};
use crate::input::mojo::symbols::Lookup;
use crate::input::{Format, ReadOptions};
use crate::model::stacks::Selection;
use crate::output::OutputFormat;
use crate::output::austin::{AustinWriter, Dialect};
use crate::output::loss::{Loss, LossKind};
use std::io::{self, Write};

/// A recording that was streamed.
pub struct Streamed {
    /// The result of the conversion.
    pub converted: Converted,
    /// The number of samples.
    pub samples: u64,
    /// The number of keys that are not defined.
    pub unresolved: u64,
    /// The damage that ended the reading early.
    pub damage: Option<Error>,
}

impl Conversion<'_> {
    /// Whether [`Conversion::stream`] can write the dump: a whole MOJO recording as Austin's text.
    /// Recordings in text form are converted like other profiles.
    pub fn streams(&self) -> bool {
        let Selection { pid, thread, labels, .. } = &self.options.selection;
        let is_whole = pid.is_none() && thread.is_none() && labels.is_empty();
        self.target == OutputFormat::Austin && self.file.format == Format::Mojo && is_whole
    }

    /// Writes the samples as they are read.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn stream(&self, read: ReadOptions<'_>, out: &mut impl Write) -> io::Result<Streamed> {
        let dialect = self.options.dialect;
        let lookup = if dialect == Dialect::Peer { Lookup::Strict } else { Lookup::Robust };
        let mut writer = AustinWriter::new(out, dialect);
        let (read, stop) = for_each_sample(self.file.bytes, lookup, read, &mut writer);
        let damage = match stop {
            None => None,
            Some(Stop::Damage(error)) => Some(error),
            Some(Stop::Sink(error)) => return Err(error),
        };
        let (_, counts) = writer.finish()?;
        let losses = [
            (LossKind::FrameRanges, read.ranges),
            (LossKind::TaskEvents, read.task_events),
            (LossKind::CutSamples, read.cut),
            (LossKind::DeepStacks, read.deep),
            (LossKind::WithoutMetric, counts.without_metric),
            (LossKind::NotUtf8, counts.replaced),
        ];
        let losses = losses.into_iter().chain(counts.losses());
        let lost = losses.filter_map(|(what, count)| Loss::of(what, count, None));
        let written = ConvertedCounts::Samples { samples: counts.samples };
        let converted = Converted { written, lost: lost.collect() };
        let (samples, unresolved) = (counts.samples, read.unresolved);
        Ok(Streamed { converted, samples, unresolved, damage })
    }
}
