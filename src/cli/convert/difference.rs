//! `convert NEW x.svg --base OLD`: a flame graph of the changes.

use super::{Converted, Job, Report};
use crate::analysis::dominator_stacks::{self, Counted};
use crate::analysis::dominators::Dominators;
use crate::cli::heap::{load, report_loaded};
use crate::cli::open::Input;
use crate::cli::profile::{ProfileInput, load_profile};
use crate::cli::size::plural;
use crate::cli::status::{Status, UsageError};
use crate::input::Kind;
use crate::model::profile::Metric;
use crate::model::stacks::{Selection, WeightedStacks, of_profile};
use crate::output::flamegraph::{self, Picture};
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(job: &Job<'_>, old: &Path) -> anyhow::Result<Status> {
    let Job { input, session, .. } = *job;
    let old = session.open_old(old)?;
    if old.kind != input.kind {
        return Err(UsageError::new(
            "--base compares two heap dumps or two profiles, not one of each",
        )
        .into());
    }
    let (before, (after, converted, status), old_status) = match input.kind {
        Kind::Heap => {
            // The heaps are loaded one after the other, so that only one is in memory.
            let (before, _, old_status) = heap_picture(job, &old)?;
            (before, heap_picture(job, input)?, old_status)
        }
        Kind::Profile => {
            let mut before = load_profile(&old, &job.args.profile, session)?;
            let mut after = load_profile(input, &job.args.profile, session)?;
            let moved = before.follow(&mut after);
            after.say_moved(&moved, "a guess", session);
            let (before, _, old_status) = profile_picture(job, before)?;
            (before, profile_picture(job, after)?, old_status)
        }
    };
    let (written, bytes) = job.write(|out| after.compared_with(&before).draw(out))?;
    job.report(&Report {
        converted,
        bytes,
        written: &written,
        summary: format!("{} of svg", plural(written.stacks, "stack", "stacks")),
        lost: written.lost.clone(),
    })?;
    Ok(old_status.max(status))
}

type Drawn = (Picture, Converted, Status);

fn heap_picture(job: &Job<'_>, input: &Input) -> anyhow::Result<Drawn> {
    let Job { conversion, args, session, .. } = *job;
    let held = load(session, "convert", input, args.heap.snapshot, &args.heap.roots)?;
    let loaded = held.get();
    let heap = &loaded.heap;
    let dominators = Dominators::of(loaded.graph());
    let share = conversion.options.min_share;
    let tree =
        dominator_stacks::of(heap, &dominators, conversion.file.title(), share, Counted::Bytes);
    Ok((
        draw(job, &tree.stacks),
        Converted::Objects(heap.object_count()),
        report_loaded(session, input, loaded),
    ))
}

fn profile_picture(job: &Job<'_>, loaded: ProfileInput<'_>) -> anyhow::Result<Drawn> {
    let Job { conversion, args, session, .. } = *job;
    let metric = loaded.metric(&args.profile)?;
    // Boxes cannot have negative widths.
    let metric = if metric == Metric::MEMORY { Metric::MEMORY_GAINED } else { metric };
    let (status, samples) = (loaded.report(session), loaded.profile.total.samples());
    let selection = Selection { metrics: vec![metric], ..loaded.selection };
    let stacks =
        of_profile(Arc::unwrap_or_clone(loaded.profile), conversion.file.title(), &selection);
    Ok((draw(job, &stacks), Converted::Samples(samples), status))
}

fn draw(job: &Job<'_>, stacks: &WeightedStacks) -> Picture {
    flamegraph::picture(stacks, 0, &job.conversion.options.picture)
}
