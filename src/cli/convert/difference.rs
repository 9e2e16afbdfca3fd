//! `convert NEW x.svg --base OLD`: a flame graph of the changes.

use super::{Conversion, Converted, Report};
use crate::analysis::dominator_stacks::{self, Counted};
use crate::analysis::dominators::Dominators;
use crate::cli::heap::{load, report_loaded};
use crate::cli::open::Input;
use crate::cli::profile::load_profile;
use crate::cli::size::plural;
use crate::cli::status::{Status, UsageError};
use crate::input::Kind;
use crate::model::profile::Metric;
use crate::model::stacks::{Selection, WeightedStacks, of_profile};
use crate::output::flamegraph::{FlamegraphWriter, Picture};
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(conversion: &Conversion<'_>, old: &Path) -> anyhow::Result<Status> {
    let Conversion { input, session, .. } = *conversion;
    let old = session.open(old)?;
    if old.kind != input.kind {
        return Err(UsageError::new(
            "--base compares two heap dumps or two profiles, not one of each",
        )
        .into());
    }
    // One after the other, so that only one is in memory.
    let (before, _, old_status) = picture(conversion, &old)?;
    let (after, converted, status) = picture(conversion, input)?;
    let (written, bytes) = conversion.write(|out| after.compared_with(&before).draw(out))?;
    conversion.report(&Report {
        converted,
        bytes,
        written: &written,
        summary: format!("{} of svg", plural(written.stacks, "stack", "stacks")),
        lost: written.lost.clone(),
    })?;
    Ok(old_status.max(status))
}

fn picture(
    conversion: &Conversion<'_>,
    input: &Input,
) -> anyhow::Result<(Picture, Converted, Status)> {
    let Conversion { args, session, .. } = *conversion;
    let drawn = |stacks: &WeightedStacks| {
        let mut writer = FlamegraphWriter::new(stacks, 0, conversion.picture());
        writer.part(stacks);
        writer.picture(stacks)
    };
    if input.kind == Kind::Heap {
        let held = load(session, "convert", input, args.heap.snapshot, &args.heap.roots)?;
        let loaded = held.get();
        let heap = &loaded.heap;
        let dominators = Dominators::of(loaded.graph());
        let share = args.min_share.unwrap_or(super::dominators::USUAL_SHARE);
        let tree =
            dominator_stacks::of(heap, &dominators, conversion.title(), share, Counted::Bytes);
        return Ok((
            drawn(&tree.stacks),
            Converted::Objects(heap.object_count()),
            report_loaded(session, input, loaded),
        ));
    }
    let loaded = load_profile(input, &args.profile, session)?;
    let metric = loaded.metric(&args.profile)?;
    // Boxes cannot have negative widths.
    let metric = if metric == Metric::MEMORY { Metric::MEMORY_GAINED } else { metric };
    let (status, samples) = (loaded.report(session), loaded.profile.total.samples());
    let selection = Selection { metrics: vec![metric], ..loaded.selection };
    let stacks = of_profile(Arc::unwrap_or_clone(loaded.profile), conversion.title(), &selection);
    Ok((drawn(&stacks), Converted::Samples(samples), status))
}
