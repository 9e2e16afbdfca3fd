//! A heap as a table.

use super::{Conversion, Converted, Report};
use crate::analysis::dominator_tree::DominatorTree;
use crate::cli::args::{TableArg, Target};
use crate::cli::heap::report_loaded;
use crate::cli::print::CsvSafe;
use crate::cli::size::{count, plural};
use crate::cli::status::Status;
use crate::output::Syntax;
use crate::output::tables::{self, Table, TextLimit};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct WrittenRows {
    rows: u64,
    /// Rows of objects that only stand for roots and do not count as objects; 0 in other tables.
    root_rows: u64,
}

pub(super) fn run(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { target, args, input, session, .. } = *conversion;
    let loaded = conversion.load_heap()?;
    let heap = &loaded.heap;
    let table = match args.table.unwrap_or(TableArg::Objects) {
        TableArg::Objects => Table::Objects,
        TableArg::References => Table::References,
        TableArg::Roots => Table::Roots,
        TableArg::Types => Table::Types,
    };
    let name = table.name();
    let syntax = if target == Target::Csv { Syntax::Csv } else { Syntax::Jsonl };
    let tree = DominatorTree::new(heap);
    let (rows, bytes) = conversion.write(|out| {
        let rows = tables::of_heap(heap, &tree, table, TextLimit::default());
        let mut rows = rows.ok_or(io::ErrorKind::Unsupported)?;
        match session.common.csv_safe {
            true => tables::write(&mut *rows, syntax, CsvSafe::new(out)),
            false => tables::write(&mut *rows, syntax, out),
        }
    })?;
    // They are numbered as objects are, so that references from and to them can be followed.
    let root_rows = if name == "objects" { rows.saturating_sub(heap.object_count()) } else { 0 };
    let stand_ins = match root_rows {
        0 => String::new(),
        some => format!(", including {} for roots", count(some)),
    };
    conversion.report(&Report {
        converted: Converted::Objects(heap.object_count()),
        bytes,
        written: &WrittenRows { rows, root_rows },
        summary: format!("{} of {name}{stand_ins}", plural(rows, "row", "rows")),
        lost: Vec::new(),
    })?;
    Ok(report_loaded(session, input, &loaded))
}
