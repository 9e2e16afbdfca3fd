//! A heap as a table.

use super::super::args::{Common, ConvertArgs, TableArg, Target};
use super::super::destination::Destination;
use super::super::load::{load_heap, report_loaded};
use super::super::open::Input;
use super::super::size::plural;
use super::super::status::{OutputError, Status};
use super::super::terminal::Terminal;
use super::Report;
use crate::analysis::dominators::Dominators;
use crate::analysis::graph::Graph;
use crate::analysis::retained::Retained;
use crate::output::tables::{self, Syntax, Table};
use serde::Serialize;

#[derive(Serialize)]
struct WrittenRows {
    rows: u64,
}

pub(super) fn run(
    target: Target,
    args: &ConvertArgs,
    input: &Input,
    common: &Common,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let loaded = load_heap(input, args.snapshot, args.roots, terminal)?;
    let heap = &loaded.heap;
    let (table, name) = match args.table {
        TableArg::Objects => (Table::Objects, "objects"),
        TableArg::References => (Table::References, "references"),
        TableArg::Roots => (Table::Roots, "roots"),
        TableArg::Types => (Table::Types, "types"),
    };
    let syntax = if target == Target::Csv { Syntax::Csv } else { Syntax::Jsonl };
    let dominators = Dominators::of(&Graph::of(heap));
    let retained = Retained::of(heap, &dominators);
    let mut destination = Destination::create(&args.output, &args.input, false)?;
    let rows = tables::write(heap, &dominators, &retained, table, syntax, &mut destination)
        .map_err(|error| OutputError::new(&args.output, error))?;
    let bytes = destination.commit()?;
    let report = Report {
        args,
        to: target,
        bytes,
        objects: Some(heap.object_count()),
        samples: None,
        written: &WrittenRows { rows },
        summary: format!("{} of {name}", plural(rows, "row", "rows")),
        lost: Vec::new(),
    };
    report.print(common)?;
    Ok(report_loaded(input, &loaded, terminal))
}
