//! The dominator tree of a heap as weighted stacks.

use super::{Conversion, Converted, Report, stacks};
use crate::analysis::dominator_stacks::{self, Counted};
use crate::analysis::dominators::Dominators;
use crate::analysis::graph::Graph;
use crate::cli::args::Target;
use crate::cli::heap::report_loaded;
use crate::cli::size::plural;
use crate::cli::status::Status;
use crate::output::loss::Loss;
use crate::output::loss::LossKind;

/// The share of live bytes below which subtrees are put together, if it is not said.
pub(super) const USUAL_SHARE: f64 = 0.00001;

pub(super) fn run(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { target, args, input, session, .. } = *conversion;
    let loaded = conversion.load_heap()?;
    let heap = &loaded.heap;
    let dominators = Dominators::of(&Graph::of(heap));
    let tree = dominator_stacks::of(
        heap,
        &dominators,
        conversion.title(),
        args.min_share.unwrap_or(USUAL_SHARE),
        counted(target),
    );
    let unreachable = heap.len() - dominators.len();
    drop(dominators);
    let (written, bytes) = conversion.write(|out| stacks::write(conversion, &tree.stacks, out))?;
    let pruned = LossKind::PrunedSubtrees;
    let left_out = [
        Loss::of(LossKind::Unreachable, unreachable as u64, None),
        Loss::of(pruned, tree.pruned_objects, Some(tree.pruned_bytes)),
    ];
    let lost = left_out.into_iter().flatten().chain(written.lost.iter().cloned());
    conversion.report(&Report {
        converted: Converted::Objects(heap.object_count()),
        bytes,
        written: &written,
        summary: format!("{} of {}", plural(written.stacks, "stack", "stacks"), target.name()),
        lost: lost.collect(),
    })?;
    Ok(report_loaded(session, input, &loaded))
}

/// Formats that have room for one number show bytes.
fn counted(target: Target) -> Counted {
    match target {
        Target::Folded | Target::Firefox | Target::Svg => Counted::Bytes,
        _ => Counted::ObjectsAndBytes,
    }
}
