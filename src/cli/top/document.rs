//! The histogram of a heap for programs and for people.

use super::super::args::{ByArg, Common, ObjectsArg, OutputFormat, SortArg};
use super::super::export;
use super::super::open::Input;
use super::super::size::{count, percent, plural, size};
use super::super::table::{Align, Table};
use super::super::terminal::Terminal;
use super::heap::value;
use crate::analysis::histogram::{Histogram, HistogramRow};
use crate::model::sum::Sum;
use serde::Serialize;

/// What `top` says of a heap.
pub(super) struct Document<'a> {
    pub(super) snapshot: u64,
    pub(super) by: ByArg,
    /// Which objects were counted.
    pub(super) objects: ObjectsArg,
    pub(super) sort: SortArg,
    pub(super) quick: bool,
    /// Damage hides roots or references.
    pub(super) incomplete: bool,
    /// With sorted rows.
    pub(super) histogram: &'a Histogram,
}

#[derive(Serialize)]
struct Json<'a> {
    schema: &'static str,
    file: String,
    snapshot: u64,
    by: &'static str,
    objects: &'static str,
    total: SumJson,
    unreachable: Option<SumJson>,
    rows: Vec<RowJson<'a>>,
    omitted: Omitted,
}

#[derive(Serialize)]
pub(super) struct SumJson {
    count: u64,
    shallow_bytes: u64,
    external_bytes: u64,
}

#[derive(Default, Serialize)]
struct RowJson<'a> {
    name: &'a str,
    namespace: &'a str,
    count: u64,
    shallow_bytes: u64,
    external_bytes: u64,
    retained_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Omitted {
    rows: u64,
    count: u64,
    shallow_bytes: u64,
}

impl Document<'_> {
    pub(super) fn print(&self, input: &Input, limit: usize, common: &Common, terminal: &Terminal) -> anyhow::Result<()> {
        let rows = self.histogram.rows.iter().map(row_json);
        let text = match common.format {
            OutputFormat::Table => self.text(limit, common, terminal),
            OutputFormat::Json => serde_json::to_string_pretty(&self.json(input, limit))? + "\n",
            OutputFormat::Jsonl => export::lines(&rows.take(limit).collect::<Vec<_>>())?,
            OutputFormat::Csv => export::csv(rows.take(limit))?,
        };
        super::super::print_text(&text, common)?;
        Ok(())
    }

    fn json(&self, input: &Input, limit: usize) -> Json<'_> {
        let rows = &self.histogram.rows;
        let omitted = &rows[rows.len().min(limit)..];
        let mut sum = Sum::default();
        omitted.iter().for_each(|row| sum.add_sum(&row.sum));
        Json {
            schema: "dumptool/top/1",
            file: input.path.display().to_string(),
            snapshot: self.snapshot,
            by: by_name(self.by),
            objects: objects_name(self.objects),
            total: sum_json(&self.histogram.total),
            unreachable: self.histogram.unreachable.as_ref().map(sum_json),
            rows: rows.iter().take(limit).map(row_json).collect(),
            omitted: Omitted { rows: omitted.len() as u64, count: sum.count, shallow_bytes: sum.shallow_bytes },
        }
    }

    fn text(&self, limit: usize, common: &Common, terminal: &Terminal) -> String {
        let rows = &self.histogram.rows[..self.histogram.rows.len().min(limit)];
        let columns = self.columns();
        let has_namespaces = self.by == ByArg::Type && rows.iter().any(|row| !row.namespace.is_empty());
        let mut aligns = vec![Align::Right; columns.len() + 1];
        aligns.extend([Align::Left; 3]);
        // The share stands behind the first number.
        let place = |wanted| columns.iter().skip(1).position(|column| *column == wanted).map(|at| at + 2);
        let minor: Vec<usize> = [SortArg::External, SortArg::Shallow].into_iter().filter_map(place).collect();
        let mut table = Table::new(&aligns).minor(&minor);
        let mut head: Vec<String> = columns.iter().map(|column| column_name(*column).to_owned()).collect();
        head.insert(1, "SHARE".to_owned());
        head.push(self.what().0.to_uppercase());
        if has_namespaces {
            head.push("NAMESPACE".to_owned());
        }
        table.row(head);
        let whole = self.whole();
        for row in rows {
            let share = value(row, self.sort) as f64 / whole.max(1) as f64;
            let mut cells: Vec<String> = columns.iter().map(|column| cell(row, *column, common)).collect();
            cells.insert(1, percent(share));
            cells.push(self.name(row));
            if has_namespaces {
                cells.push(row.namespace.clone());
            }
            cells.extend(terminal.bar(share));
            table.row(cells);
        }
        table.render() + &self.footer(rows, common)
    }

    /// The column that is sorted by comes first.
    fn columns(&self) -> Vec<SortArg> {
        let retains = |row: &HistogramRow| row.retained_bytes.is_some();
        // Nothing is retained by what nothing holds.
        let has_retained = self.objects != ObjectsArg::Unreachable && self.histogram.rows.iter().any(retains);
        let has_external = self.histogram.total.external_bytes > 0;
        let shown = |column: &SortArg| match column {
            SortArg::Retained => has_retained,
            SortArg::External => has_external,
            SortArg::Shallow | SortArg::Count => true,
            SortArg::Size => false,
        };
        let all = [SortArg::Retained, SortArg::Shallow, SortArg::External, SortArg::Count];
        let others = all.into_iter().filter(|column| *column != self.sort).filter(shown);
        [self.sort].into_iter().chain(others).collect()
    }

    /// What all rows together are in the column that is sorted by. Retained bytes are shares of all bytes: what one type
    /// retains, another one may retain as well.
    fn whole(&self) -> u64 {
        let total = &self.histogram.total;
        match self.sort {
            SortArg::Retained | SortArg::Size => total.bytes(),
            SortArg::Shallow => total.shallow_bytes,
            SortArg::Count => total.count,
            SortArg::External => total.external_bytes,
        }
    }

    fn name(&self, row: &HistogramRow) -> String {
        match self.by {
            ByArg::Namespace if row.namespace.is_empty() => "(none)".to_owned(),
            ByArg::Namespace => row.namespace.clone(),
            ByArg::Root => root_text(&row.namespace, &row.name),
            _ => row.name.clone(),
        }
    }

    fn what(&self) -> (&'static str, &'static str) {
        match self.by {
            ByArg::Namespace => ("namespace", "namespaces"),
            ByArg::Root => ("root", "roots"),
            ByArg::SizeClass => ("size", "sizes"),
            _ => ("type", "types"),
        }
    }

    /// What was left out.
    fn footer(&self, shown: &[HistogramRow], common: &Common) -> String {
        let (total, rows) = (&self.histogram.total, self.histogram.rows.len() as u64);
        let bytes = |sum: &Sum| size(sum.bytes(), common.bytes);
        let what = match (self.objects, self.histogram.unreachable.is_some()) {
            (ObjectsArg::Live, true) if self.incomplete => "reached",
            (ObjectsArg::Live, true) => "live",
            (ObjectsArg::Unreachable, true) if self.incomplete => "not reached",
            (ObjectsArg::Unreachable, true) => "unreachable",
            _ => "in all objects",
        };
        let (one, many) = self.what();
        let mut footer = if shown.len() as u64 == rows {
            format!("{}, {} {what}", plural(rows, one, many), bytes(total))
        } else {
            let mut sum = Sum::default();
            shown.iter().for_each(|row| sum.add_sum(&row.sum));
            let share = percent(sum.bytes() as f64 / total.bytes().max(1) as f64);
            let (shown, rows) = (count(shown.len() as u64), count(rows));
            format!("showing {shown} of {rows} {many}; {share} of {} {what}", bytes(total))
        };
        match &self.histogram.unreachable {
            Some(sum) if self.objects != ObjectsArg::Unreachable && sum.count > 0 => {
                let unreachable = if self.incomplete { "not reached" } else { "unreachable" };
                footer.push_str(&format!(" · {unreachable}: {}, {}", plural(sum.count, "object", "objects"), bytes(sum)));
            }
            Some(_) => {}
            None if self.incomplete => footer.push_str("\nno roots were read: nothing can be called live or dead"),
            None if self.quick => footer.push_str(", whether live or not"),
            None => footer.push_str("\nthe dump has no roots: nothing can be called live or dead, and nothing is retained"),
        }
        if self.incomplete && self.histogram.unreachable.is_some() {
            footer.push_str("\nthe dump is damaged, and roots or references are missing: what is live is not known");
        }
        footer + "\n"
    }
}

/// A group of roots for people: `global data +0x1c0`, `goroutine 17 [chan receive]`.
pub(in crate::cli) fn root_text(kind: &str, name: &str) -> String {
    match kind {
        "global" | "static" => format!("{kind} {name}"),
        _ => name.to_owned(),
    }
}

fn cell(row: &HistogramRow, column: SortArg, common: &Common) -> String {
    match column {
        SortArg::Retained => row.retained_bytes.map_or_else(|| "-".to_owned(), |bytes| size(bytes, common.bytes)),
        SortArg::Count => count(row.sum.count),
        SortArg::Shallow | SortArg::External | SortArg::Size => size(value(row, column), common.bytes),
    }
}

fn column_name(column: SortArg) -> &'static str {
    match column {
        SortArg::Retained => "RETAINED",
        SortArg::Shallow => "SHALLOW",
        SortArg::Count => "COUNT",
        SortArg::External => "EXTERNAL",
        SortArg::Size => "SIZE",
    }
}

pub(in crate::cli) fn by_name(by: ByArg) -> &'static str {
    match by {
        ByArg::Type => "type",
        ByArg::Namespace => "namespace",
        ByArg::Root => "root",
        ByArg::SizeClass => "size-class",
        ByArg::Function => "function",
        ByArg::File => "file",
        ByArg::Line => "line",
        ByArg::Thread => "thread",
        ByArg::Process => "process",
    }
}

pub(in crate::cli) fn objects_name(objects: ObjectsArg) -> &'static str {
    match objects {
        ObjectsArg::Live => "live",
        ObjectsArg::All => "all",
        ObjectsArg::Unreachable => "unreachable",
    }
}

pub(super) fn sum_json(sum: &Sum) -> SumJson {
    SumJson { count: sum.count, shallow_bytes: sum.shallow_bytes, external_bytes: sum.external_bytes }
}

fn row_json(row: &HistogramRow) -> RowJson<'_> {
    RowJson {
        name: &row.name,
        namespace: &row.namespace,
        count: row.sum.count,
        shallow_bytes: row.sum.shallow_bytes,
        external_bytes: row.sum.external_bytes,
        retained_bytes: row.retained_bytes,
    }
}
