//! A heap as hprof.

use super::super::args::{Common, ConvertArgs, IdsArg, Target};
use super::super::destination::Destination;
use super::super::load::{load_heap, report_loaded};
use super::super::open::Input;
use super::super::size::plural;
use super::super::status::{OutputError, Status};
use super::super::terminal::Terminal;
use super::Report;
use crate::output::hprof::{self, IdKind, Options};

pub(super) fn run(args: &ConvertArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let loaded = load_heap(input, args.snapshot, args.roots, terminal)?;
    let options = Options {
        ids: match args.ids {
            IdsArg::Compact => IdKind::Compact,
            IdsArg::Address => IdKind::Address,
        },
        root_unreachable: args.root_unreachable,
    };
    let mut destination = Destination::create(&args.output, &args.input, true)?;
    let written = hprof::write(&loaded.heap, &options, &mut destination).map_err(|error| OutputError::new(&args.output, error))?;
    let bytes = destination.commit()?;
    let objects = loaded.heap.object_count();
    let report = Report {
        args,
        to: Target::Hprof,
        bytes,
        objects: Some(objects),
        samples: None,
        written: &written,
        summary: format!(
            "{} as {} of hprof",
            plural(objects, "object", "objects"),
            plural(written.instances, "instance", "instances")
        ),
        lost: written.lost.clone(),
    };
    report.print(common)?;
    Ok(report_loaded(input, &loaded, terminal))
}
