//! A heap as a heap snapshot of V8.

use super::{Conversion, Converted, Report};
use crate::analysis::graph::Graph;
use crate::analysis::live::live;
use crate::cli::args::WhichArg;
use crate::cli::heap::report_loaded;
use crate::cli::size::plural;
use crate::cli::status::Status;
use crate::output::heapsnapshot::{self, HeapSnapshotObjects, HeapSnapshotOptions};

pub(super) fn run(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { args, input, session, .. } = *conversion;
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
    Ok(report_loaded(session, input, &loaded))
}
