//! The dominator tree of a heap as weighted stacks.

use super::super::args::{Common, ConvertArgs, Target};
use super::super::destination::Destination;
use super::super::load::{load_heap, report_loaded};
use super::super::open::Input;
use super::super::size::plural;
use super::super::status::{OutputError, Status};
use super::super::terminal::Terminal;
use super::{Report, stacks};
use crate::analysis::dominator_stacks::{self, Counted};
use crate::analysis::dominators::Dominators;
use crate::analysis::graph::Graph;
use crate::output::loss::Loss;
use std::ffi::OsStr;

pub(super) fn run(
    target: Target,
    args: &ConvertArgs,
    input: &Input,
    common: &Common,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let loaded = load_heap(input, args.snapshot, args.roots, terminal)?;
    let heap = &loaded.heap;
    let objects = heap.object_count();
    let title = args.input.file_name().and_then(OsStr::to_str).unwrap_or("standard input");
    let dominators = Dominators::of(&Graph::of(heap));
    let tree = dominator_stacks::of(heap, &dominators, title, args.min_share, counted(target));
    let unreachable = heap.len() - dominators.len();
    drop(dominators);
    let mut destination = Destination::create(&args.output, &args.input, stacks::is_binary(target))?;
    let written = stacks::write(target, &tree.stacks, &mut destination).map_err(|error| OutputError::new(&args.output, error))?;
    let bytes = destination.commit()?;
    let losses = [
        ("unreachable objects", unreachable as u64, None),
        ("objects in subtrees below --min-share, whose types are in no frame", tree.pruned_objects, Some(tree.pruned_bytes)),
    ];
    let losses = losses.into_iter().chain(written.lost.iter().map(|lost| (lost.what, lost.count, None)));
    let report = Report {
        args,
        to: target,
        bytes,
        objects: Some(objects),
        samples: None,
        written: &written,
        summary: format!(
            "{} as {} of {}",
            plural(objects, "object", "objects"),
            plural(written.stacks, "stack", "stacks"),
            target.name()
        ),
        lost: losses.filter(|(_, count, _)| *count > 0).map(|(what, count, bytes)| Loss { what, count, bytes }).collect(),
    };
    report.print(common)?;
    Ok(report_loaded(input, &loaded, terminal))
}

/// Formats that have room for one number show bytes.
fn counted(target: Target) -> Counted {
    match target {
        Target::Folded | Target::Firefox | Target::Svg => Counted::Bytes,
        _ => Counted::ObjectsAndBytes,
    }
}
