//! A profile as Austin's text.

use super::{Conversion, Converted, Report};
use crate::cli::args::DialectArg;
use crate::cli::status::Status;
use crate::input::ReadOptions;
use crate::input::mojo::samples::{Stop, Streamed, for_each_sample};
use crate::input::mojo::symbols::Lookup;
use crate::output::austin::{AustinCounts, AustinWriter, Dialect};
use crate::output::loss::Loss;
use crate::output::loss::LossKind;
use serde::Serialize;

#[derive(Serialize)]
struct WrittenSamples {
    samples: u64,
}

pub(super) fn run(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { args, input, session, .. } = *conversion;
    let (dialect, lookup) = match args.dialect.unwrap_or(DialectArg::Full) {
        DialectArg::Full => (Dialect::Full, Lookup::Robust),
        DialectArg::Peer => (Dialect::Peer, Lookup::Strict),
    };
    let progress = session.progress(input);
    let options =
        ReadOptions { progress: &|offset| progress.reached(offset), ..ReadOptions::default() };
    let mut writer = AustinWriter::new(conversion.create()?, dialect);
    let fail = |error| conversion.failed(error);
    let (streamed, stop) = for_each_sample(input.bytes(), lookup, options, &mut writer);
    drop(progress);
    let damage = match stop {
        None => None,
        Some(Stop::Damage(error)) => Some(error),
        Some(Stop::Sink(error)) => return Err(fail(error)),
    };
    let (destination, counts) = writer.finish().map_err(fail)?;
    let bytes = destination.commit()?;
    let samples = counts.samples;
    conversion.report(&Report {
        converted: Converted::Samples(samples),
        bytes,
        written: &WrittenSamples { samples },
        summary: "Austin's text".to_owned(),
        lost: lost(&counts, &streamed),
    })?;
    if streamed.unresolved > 0 {
        session.terminal.warn(
            &args.input,
            &format!("{} undefined keys are shown as <unresolved>", streamed.unresolved),
        );
    }
    Ok(input.report_if_damaged(damage.as_ref(), &session.terminal))
}

fn lost(counts: &AustinCounts, streamed: &Streamed) -> Vec<Loss> {
    let losses = [
        (LossKind::FrameRanges, streamed.ranges),
        (LossKind::TaskEvents, streamed.task_events),
        (LossKind::CutSamples, streamed.cut),
        (LossKind::DeepStacks, streamed.deep),
        (LossKind::SpecialFrames, counts.left_out_frames),
        (LossKind::FullModeMetrics, counts.left_out_metrics),
        (LossKind::WithoutMetric, counts.without_metric),
        (LossKind::NotUtf8, counts.replaced),
    ];
    losses.into_iter().filter_map(|(what, count)| Loss::of(what, count, None)).collect()
}
