//! A heap as a heap snapshot of V8.

use super::super::args::{Common, ConvertArgs, Target, WhichArg};
use super::super::destination::Destination;
use super::super::load::{load_heap, report_loaded};
use super::super::open::Input;
use super::super::size::plural;
use super::super::status::{OutputError, Status, UsageError};
use super::super::terminal::Terminal;
use super::Report;
use crate::analysis::graph::Graph;
use crate::analysis::live::live;
use crate::output::heapsnapshot::{self, Options, Which};
use std::io;

pub(super) fn run(args: &ConvertArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let loaded = load_heap(input, args.snapshot, args.roots, terminal)?;
    let graph = Graph::of(&loaded.heap);
    let live = live(&graph);
    let options = Options {
        objects: match args.objects {
            WhichArg::Live => Which::Live,
            WhichArg::All => Which::All,
        },
    };
    let mut destination = Destination::create(&args.output, &args.input, false)?;
    let written = match heapsnapshot::write(&loaded.heap, &graph, &live, &options, &mut destination) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(UsageError::new(error.to_string()).hint("hprof has room for it").into());
        }
        written => written.map_err(|error| OutputError::new(&args.output, error))?,
    };
    let bytes = destination.commit()?;
    let objects = loaded.heap.object_count();
    let report = Report {
        args,
        to: Target::Heapsnapshot,
        bytes,
        objects: Some(objects),
        samples: None,
        written: &written,
        summary: format!(
            "{} as {} and {}",
            plural(objects, "object", "objects"),
            plural(written.nodes, "node", "nodes"),
            plural(written.edges, "edge", "edges")
        ),
        lost: written.lost.clone(),
    };
    report.print(common)?;
    Ok(report_loaded(input, &loaded, terminal))
}
