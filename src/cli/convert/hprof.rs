//! A heap as hprof.

use super::super::args::{Common, ConvertArgs, IdsArg, RootsArg, Snapshot, Target};
use super::super::destination::Destination;
use super::super::open::Input;
use super::super::progress::Progress;
use super::super::size::plural;
use super::super::status::{self, OutputError, Status};
use super::super::terminal::Terminal;
use super::{Loss, Report};
use crate::input;
use crate::input::load::{LoadOptions, RootScan, SnapshotChoice};
use crate::output::hprof::{self, IdKind, Options};

pub(super) fn run(args: &ConvertArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let progress = Progress::new(input.bytes().len() as u64, terminal);
    let options = LoadOptions {
        snapshot: match args.snapshot {
            Some(Snapshot::Number(number)) => SnapshotChoice::Number(number),
            Some(Snapshot::Last) | None => SnapshotChoice::Last,
        },
        roots: match args.roots {
            RootsArg::Precise => RootScan::Precise,
            RootsArg::Default => RootScan::Default,
            RootsArg::Conservative => RootScan::Conservative,
        },
        progress: &|offset| progress.reached(offset),
    };
    let loaded = input::load(input.format, input.bytes(), options).map_err(|error| input.error(error))?;
    drop(progress);
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
    let objects = loaded.heap.len() as u64;
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
        lost: written.lost.iter().map(|loss| Loss { what: loss.what, count: loss.count, bytes: loss.bytes }).collect(),
    };
    report.print(common)?;
    for warning in &loaded.heap.warnings {
        terminal.warn(&args.input, &format!("{}: {}", warning.what, warning.count));
    }
    let damage = input.source.damage().or(loaded.damage.as_ref());
    if let Some(damage) = damage {
        status::report_input(&input.path, damage, terminal);
        return Ok(Status::Damaged);
    }
    let damaged = loaded.heap.warnings.iter().any(|warning| warning.damage);
    Ok(if damaged { Status::Damaged } else { Status::Done })
}
