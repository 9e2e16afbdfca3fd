//! A heap as a heap snapshot of V8.

use super::super::args::WhichArg;
use super::super::load::report_loaded;
use super::super::size::plural;
use super::super::status::Status;
use super::{Conversion, Converted, Report};
use crate::analysis::graph::Graph;
use crate::analysis::live::live;
use crate::output::heapsnapshot::{self, HeapSnapshotObjects, HeapSnapshotOptions};

pub(super) fn run(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { args, input, terminal, .. } = *conversion;
    let loaded = conversion.load_heap()?;
    let graph = Graph::of(&loaded.heap);
    let live = live(&graph);
    let options = HeapSnapshotOptions {
        objects: match args.objects.unwrap_or(WhichArg::Live) {
            WhichArg::Live => HeapSnapshotObjects::Live,
            WhichArg::All => HeapSnapshotObjects::All,
        },
    };
    let (written, bytes) = conversion.write(|out| heapsnapshot::write(&loaded.heap, &graph, &live, &options, out))?;
    conversion.report(&Report {
        converted: Converted::Objects(loaded.heap.object_count()),
        bytes,
        summary: format!("{} and {}", plural(written.nodes, "node", "nodes"), plural(written.edges, "edge", "edges")),
        lost: written.lost.clone(),
        written: &written,
    })?;
    Ok(report_loaded(input, &loaded, terminal))
}
