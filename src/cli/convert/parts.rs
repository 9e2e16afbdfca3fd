//! Converts a profile in parts, to a picture or to a format whose readers add up repeated stacks,
//! so that stacks need not be kept to the end.

use super::Conversion;
use super::converted::{ConvertedProfile, Freed, metrics, selection};
use super::stacks;
use crate::cli::args::Target;
use crate::cli::destination::Destination;
use crate::cli::profile::{refused, require_thread};
use crate::input;
use crate::input::load::{LoadedProfile, MemoryLimit, Parts, ProfileOptions};
use crate::model::profile::{Metric, Profile};
use crate::model::stacks::{WeightedStacks, lend};
use crate::output::spool::Spool;
use crate::output::written::Written;
use crate::output::{flamegraph, folded, pprof, speedscope};
use std::io;
use std::ops::ControlFlow;

/// Loads and writes alternately.
pub(super) fn convert(
    conversion: &Conversion<'_>,
    options: ProfileOptions<'_>,
) -> anyhow::Result<ConvertedProfile> {
    let input = conversion.input;
    let memory = MemoryLimit { per_stack: 0, ..options.memory };
    let options = ProfileOptions { memory, ..options };
    let mut known = None;
    let mut unwritten = None;
    loop {
        let out = match unwritten.take() {
            Some(out) => out,
            None => conversion.create()?,
        };
        // Output that is visible while it is written cannot be restarted.
        let out = if is_written_at_the_end(conversion.target) { out } else { out.waiting() };
        let mut output = Output {
            conversion,
            metrics: known,
            out,
            writer: None,
            parts: 0,
            freed: Freed::default(),
            failed: None,
        };
        let parts = Parts { size: Parts::SIZE, take: &mut |part| output.take(part) };
        let loaded = input::load_profile_in_parts(input.format, input.bytes(), options, parts);
        match output
            .finish(loaded.map_err(|error| refused(error, input, &conversion.session.common))?)?
        {
            Finished::Converted(converted) => return Ok(converted),
            Finished::Otherwise { metrics, out } => {
                known = Some(metrics);
                unwritten = out;
            }
        }
    }
}

enum Finished {
    Converted(ConvertedProfile),
    /// The values ought to have been those of these metrics.
    Otherwise {
        metrics: Vec<Metric>,
        /// The destination, if nothing was written to it.
        out: Option<Destination>,
    },
}

/// Whether the target is written only after the last part.
fn is_written_at_the_end(target: Target) -> bool {
    matches!(target, Target::Speedscope | Target::Svg)
}

/// The output being written.
struct Output<'a> {
    conversion: &'a Conversion<'a>,
    /// Of all parts; those that the first one has, unless they are known.
    metrics: Option<Vec<Metric>>,
    out: Destination,
    /// None before the first part.
    writer: Option<Writer>,
    parts: u64,
    freed: Freed,
    failed: Option<anyhow::Error>,
}

impl Output<'_> {
    fn take(&mut self, part: &mut Profile) -> ControlFlow<()> {
        match self.write(part) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn write(&mut self, part: &mut Profile) -> anyhow::Result<()> {
        self.parts += 1;
        let conversion = self.conversion;
        let metrics = match self.metrics.take() {
            Some(known) => known,
            None => metrics(conversion, part)?,
        };
        self.metrics = Some(metrics.clone());
        let selection = selection(conversion, metrics, false);
        self.freed.add(conversion, part, &selection);
        lend(part, conversion.title(), &selection, |stacks| {
            let writer =
                self.writer.get_or_insert_with(|| Writer::new(conversion, stacks, &self.out));
            writer.part(stacks, &mut self.out).map_err(|error| conversion.failed(error))
        })
    }

    /// Writes the last part. What the profile measures may be said, and its first garbage
    /// collection be, where parts were written already: then all has to be written again.
    fn finish(mut self, loaded: LoadedProfile) -> anyhow::Result<Finished> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let LoadedProfile { mut profile, damage } = loaded;
        let conversion = self.conversion;
        let metrics = metrics(conversion, &profile)?;
        let selection = selection(conversion, metrics.clone(), false);
        require_thread(&profile, &selection, conversion.input)?;
        if self.metrics.as_ref().is_some_and(|known| *known != metrics) {
            let out = if is_written_at_the_end(conversion.target) {
                Some(self.out)
            } else {
                self.out.unwritten()
            };
            return Ok(Finished::Otherwise { metrics, out });
        }
        let (notes, samples, parts) = (profile.notes, profile.total.samples(), self.parts + 1);
        self.freed.add(conversion, &profile, &selection);
        let freed = self.freed;
        lend(&mut profile, conversion.title(), &selection, |stacks| {
            let written = match self.writer.take() {
                Some(writer) => writer.finish(stacks, &mut self.out),
                None => stacks::write(conversion, stacks, &mut self.out),
            };
            let written = written.map_err(|error| conversion.failed(error))?;
            let bytes = self.out.commit()?;
            Ok(Finished::Converted(ConvertedProfile {
                notes,
                samples,
                damage,
                parts,
                freed,
                written,
                bytes,
            }))
        })
    }
}

/// A writer of several parts. A profile that is one part is written like any other stacks.
enum Writer {
    Folded(folded::FoldedWriter),
    Pprof(pprof::PprofWriter),
    Speedscope(speedscope::SpeedscopeWriter),
    Svg(flamegraph::FlamegraphWriter),
}

impl Writer {
    fn new(conversion: &Conversion<'_>, stacks: &WeightedStacks, out: &Destination) -> Self {
        match conversion.target {
            Target::Pprof => Self::Pprof(pprof::PprofWriter::new(stacks)),
            Target::Speedscope => Self::Speedscope(speedscope::SpeedscopeWriter::new(
                stacks,
                Spool::new(out.folder()),
            )),
            Target::Svg => {
                Self::Svg(flamegraph::FlamegraphWriter::new(stacks, 0, conversion.picture()))
            }
            _ => Self::Folded(folded::FoldedWriter::new(stacks, 0)),
        }
    }

    fn part(&mut self, stacks: &WeightedStacks, out: &mut Destination) -> io::Result<()> {
        match self {
            Self::Folded(writer) => writer.part(stacks, out),
            Self::Pprof(writer) => writer.part(stacks, out),
            Self::Speedscope(writer) => writer.part(stacks),
            Self::Svg(writer) => {
                writer.part(stacks);
                Ok(())
            }
        }
    }

    /// Writes the last part and the end of the output.
    fn finish(mut self, stacks: &WeightedStacks, out: &mut Destination) -> io::Result<Written> {
        self.part(stacks, out)?;
        match self {
            Self::Folded(writer) => Ok(writer.finish(stacks)),
            Self::Pprof(writer) => writer.finish(stacks, out),
            Self::Speedscope(writer) => writer.finish(stacks, out),
            Self::Svg(writer) => writer.finish(stacks, out),
        }
    }
}
