//! `top --snapshot all`: how types grow over the snapshots of a file.

use super::super::args::{ByArg, Common, OutputFormat, Snapshot, TopArgs};
use super::super::export;
use super::super::open::Input;
use super::super::size::{count, plural, signed_size, size};
use super::super::status::{self, Status, UsageError};
use super::super::table::{Align, Table};
use super::super::terminal::Terminal;
use super::document::{SumJson, sum_json};
use super::quick;
use crate::analysis::growth::{Growth, Series};
use crate::input::histogram::TypeCounts;
use crate::input::load::snapshots;
use crate::input::{self, ReadOptions};
use crate::model::heap::TypeKind;
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    /// Null: it is about all of them.
    snapshot: (),
    by: &'static str,
    /// The numbers of the snapshots, in the order of counts and bytes.
    snapshots: &'a [u64],
    objects: &'static str,
    /// In the last snapshot.
    total: SumJson,
    /// Null: the graph is not built.
    unreachable: (),
    rows: Vec<RowJson<'a>>,
    omitted: Omitted,
}

#[derive(Serialize)]
struct RowJson<'a> {
    name: &'a str,
    namespace: &'a str,
    counts: &'a [u64],
    bytes: &'a [u64],
    growth_bytes: i64,
    /// In the last snapshot, as the others below.
    count: u64,
    shallow_bytes: u64,
    external_bytes: u64,
    /// Null: the graph is not built.
    retained_bytes: (),
}

#[derive(Serialize)]
struct Omitted {
    rows: u64,
    /// In the last snapshot.
    count: u64,
    shallow_bytes: u64,
}

/// The types of the last snapshot.
#[derive(Default)]
struct Last {
    total: Sum,
    by_type: FxHashMap<(String, String), Sum>,
}

impl Last {
    fn of(counted: &TypeCounts) -> Self {
        let histogram = quick::histogram(counted, ByArg::Type);
        let by_type = histogram.rows.into_iter().map(|row| ((row.name, row.namespace), row.sum)).collect();
        Self { total: histogram.total, by_type }
    }

    /// What there is of a type, which may be gone.
    fn sum(&self, series: &Series) -> Sum {
        self.by_type.get(&(series.name.clone(), series.namespace.clone())).copied().unwrap_or_default()
    }
}

/// A cell of the table: CSV has a line for each type and snapshot.
#[derive(Default, Serialize)]
struct CsvRow<'a> {
    name: &'a str,
    namespace: &'a str,
    snapshot: u64,
    count: u64,
    bytes: u64,
}

pub(super) fn run(args: &TopArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    if args.by.is_some() || args.heap.objects.is_some() || args.heap.sort.is_some() {
        return Err(UsageError::new(
            "--snapshot all counts types over all objects and sorts by growth: --by, --objects and --sort do not go with it",
        )
        .into());
    }
    let info = input::info(input.format, input.bytes(), ReadOptions { quick: true, ..ReadOptions::default() });
    let info = info.map_err(|error| input.error(error))?;
    let all = info.heap.map(|heap| heap.snapshots).unwrap_or_default();
    let numbers: Vec<u64> = all.iter().filter(|snapshot| snapshot.complete).map(|snapshot| snapshot.index).collect();
    if numbers.is_empty() {
        return Err(UsageError::new(format!("no complete snapshot; {}", snapshots(all.len() as u64))).into());
    }
    let mut growth = Growth::default();
    let mut damage = info.damage.map(|damage| damage.error);
    let mut last = Last::default();
    for number in &numbers {
        let counted = quick::count(input, Some(Snapshot::Number(*number)), terminal)?;
        growth.begin_snapshot();
        for row in counted.rows.iter().filter(|row| row.kind != TypeKind::Root) {
            growth.add(&row.name, &row.namespace, row.sum.count, row.sum.bytes());
        }
        if numbers.last() == Some(number) {
            last = Last::of(&counted);
        }
        damage = damage.or(counted.damage);
    }
    let series = growth.finish();
    let limit = common.rows(args.limit, super::ROWS);
    let shown = &series[..series.len().min(limit)];
    let row = |series| row_json(series, &last);
    let text = match common.format {
        OutputFormat::Table => text(&series, shown, &numbers, common),
        OutputFormat::Json => {
            let mut omitted = Sum::default();
            series[shown.len()..].iter().for_each(|series| omitted.add_sum(&last.sum(series)));
            let document = Document {
                schema: "dumptool/top/1",
                file: input.path.display().to_string(),
                snapshot: (),
                by: "type",
                snapshots: &numbers,
                objects: "all",
                total: sum_json(&last.total),
                unreachable: (),
                rows: shown.iter().map(row).collect(),
                omitted: Omitted {
                    rows: (series.len() - shown.len()) as u64,
                    count: omitted.count,
                    shallow_bytes: omitted.shallow_bytes,
                },
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => export::lines(&shown.iter().map(row).collect::<Vec<_>>())?,
        OutputFormat::Csv => export::csv(shown.iter().flat_map(|series| csv_rows(series, &numbers)))?,
    };
    super::super::print_text(&text, common)?;
    if let Some(damage) = input.source.damage().or(damage.as_ref()) {
        status::report_damage(&input.path, damage, terminal);
        return Ok(Status::Damaged);
    }
    Ok(Status::Done)
}

fn text(series: &[Series], shown: &[Series], numbers: &[u64], common: &Common) -> String {
    let name = |index: Option<&u64>| index.map_or_else(String::new, |index| format!("#{index}"));
    let (first, last) = (name(numbers.first()), name(numbers.last()));
    let mut table = Table::new(&[Align::Right, Align::Right, Align::Right, Align::Right, Align::Left, Align::Left]).minor(&[1, 3]);
    table.row([
        "GROWTH".to_owned(),
        format!("IN {first}"),
        format!("IN {last}"),
        format!("COUNT IN {last}"),
        "BYTES".to_owned(),
        "TYPE".to_owned(),
    ]);
    for series in shown {
        let at = |value: Option<&u64>| size(value.copied().unwrap_or(0), common.bytes);
        let growth = saturated(series.growth());
        let sign = if growth > 0 { "+" } else { "" };
        table.row([
            sign.to_owned() + &signed_size(growth, common.bytes),
            at(series.bytes.first()),
            at(series.bytes.last()),
            count(series.counts.last().copied().unwrap_or(0)),
            spark(&series.bytes),
            series.name.clone(),
        ]);
    }
    let total = |at: fn(&Vec<u64>) -> Option<&u64>| {
        series.iter().fold(0_u64, |sum, series| sum.saturating_add(at(&series.bytes).copied().unwrap_or(0)))
    };
    let (from, to) = (total(|bytes| bytes.first()), total(|bytes| bytes.last()));
    let types = match shown.len() == series.len() {
        true => plural(series.len() as u64, "type", "types"),
        false => format!("showing {} of {} types", count(shown.len() as u64), count(series.len() as u64)),
    };
    let snapshots = plural(numbers.len() as u64, "snapshot", "snapshots");
    let (from, to) = (size(from, common.bytes), size(to, common.bytes));
    table.render() + &format!("{types} in {snapshots}; all objects: {from} in {first}, {to} in {last}\n")
}

/// A bar for each snapshot, or for each run of them where there are too many: the largest of the run.
fn spark(values: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const WIDEST: usize = 40;
    let most = values.iter().max().copied().unwrap_or(0).max(1);
    let run = values.len().div_ceil(WIDEST).max(1);
    values
        .chunks(run)
        .map(|chunk| {
            let value = chunk.iter().max().copied().unwrap_or(0);
            BARS[(u128::from(value) * 7).div_ceil(u128::from(most)) as usize]
        })
        .collect()
}

fn saturated(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value > 0 { i64::MAX } else { i64::MIN })
}

fn row_json<'a>(series: &'a Series, last: &Last) -> RowJson<'a> {
    let Sum { count, shallow_bytes, external_bytes } = last.sum(series);
    RowJson {
        name: &series.name,
        namespace: &series.namespace,
        counts: &series.counts,
        bytes: &series.bytes,
        growth_bytes: saturated(series.growth()),
        count,
        shallow_bytes,
        external_bytes,
        retained_bytes: (),
    }
}

fn csv_rows<'a>(series: &'a Series, numbers: &'a [u64]) -> impl Iterator<Item = CsvRow<'a>> + 'a {
    let values = series.counts.iter().zip(&series.bytes).zip(numbers);
    let (name, namespace) = (series.name.as_str(), series.namespace.as_str());
    values.map(move |((&count, &bytes), &snapshot)| CsvRow { name, namespace, snapshot, count, bytes })
}

#[cfg(test)]
mod tests {
    use super::spark;

    #[test]
    fn sparks_show_a_shape() {
        assert_eq!(spark(&[0, 1, 4, 8]), "▁▂▅█");
        assert_eq!(spark(&[5, 5]), "██");
        assert_eq!(spark(&[0, 0]), "▁▁");
        assert_eq!(spark(&vec![1; 100]).chars().count(), 34);
        assert_eq!(spark(&[u64::MAX, 0]), "█▁");
    }
}
