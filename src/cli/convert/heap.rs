//! A heap as hprof, or as a heap snapshot of V8.

use super::{Conversion, Converted, Report};
use crate::analysis::graph::Graph;
use crate::analysis::live::live;
use crate::cli::args::{IdsArg, WhichArg};
use crate::cli::heap::report_loaded;
use crate::cli::size::plural;
use crate::cli::status::Status;
use crate::output::heapsnapshot::{self, HeapSnapshotObjects, HeapSnapshotOptions};
use crate::output::hprof::{self, HprofOptions, IdKind};

pub(super) fn to_hprof(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { args, input, session, .. } = *conversion;
    let loaded = conversion.load_heap()?;
    let options = HprofOptions {
        ids: match args.ids.unwrap_or(IdsArg::Compact) {
            IdsArg::Compact => IdKind::Compact,
            IdsArg::Address => IdKind::Address,
        },
        root_unreachable: args.root_unreachable,
    };
    let (written, bytes) = conversion.write(|out| hprof::write(&loaded.heap, &options, out))?;
    conversion.report(&Report {
        converted: Converted::Objects(loaded.heap.object_count()),
        bytes,
        summary: format!("{} of hprof", plural(written.instances, "instance", "instances")),
        lost: written.lost.clone(),
        written: &written,
    })?;
    Ok(report_loaded(session, input, &loaded))
}

pub(super) fn to_heapsnapshot(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
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
    let (written, bytes) =
        conversion.write(|out| heapsnapshot::write(&loaded.heap, &graph, &live, &options, out))?;
    conversion.report(&Report {
        converted: Converted::Objects(loaded.heap.object_count()),
        bytes,
        summary: format!(
            "{} and {}",
            plural(written.nodes, "node", "nodes"),
            plural(written.edges, "edge", "edges")
        ),
        lost: written.lost.clone(),
        written: &written,
    })?;
    Ok(report_loaded(session, input, &loaded))
}
