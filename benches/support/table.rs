//! Prints what was measured as an aligned table.

use super::benches::{Bar, Bench};
use super::measure::Measured;

const HEADER: [&str; 10] = ["bench", "MB", "CPU s", "wall s", "MB/s", "ns/item", "ratio to the floor", "bar", "", "MiB"];
/// Columns of words. The others have numbers, which are aligned to the right.
const WORDS: [usize; 4] = [0, 6, 7, 8];

/// The rows so far.
#[derive(Default)]
pub(crate) struct Table(Vec<[String; HEADER.len()]>);

impl Table {
    /// Adds what a benchmark gave for an input of that many bytes and items.
    pub(crate) fn add(&mut self, bench: &Bench, bytes: u64, items: u64, measured: &Measured) {
        let rate = bytes as f64 / 1e6 / measured.cpu;
        let ratios: Vec<f64> = measured.floors.iter().map(|floor| measured.cpu / floor).collect();
        let shown: Vec<_> = ratios.iter().zip(bench.floors).map(|(ratio, floor)| format!("{ratio:.2} {}", floor.name)).collect();
        let (bar, verdict) = match (&bench.bar, ratios.first()) {
            (Some(Bar::Ratio(most)), Some(ratio)) => (format!("<= {most} {}", bench.floors[0].name), judge(ratio <= most)),
            (Some(Bar::Rate(least)), _) => (format!(">= {least} MB/s"), judge(rate >= *least)),
            _ => Default::default(),
        };
        self.0.push([
            bench.name.to_owned(),
            format!("{:.0}", bytes as f64 / 1e6),
            format!("{:.3}", measured.cpu),
            format!("{:.3}", measured.wall),
            format!("{rate:.0}"),
            format!("{:.1}", measured.cpu * 1e9 / items as f64),
            shown.join(", "),
            bar,
            verdict.to_owned(),
            measured.memory.map_or("-".to_owned(), |bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20))),
        ]);
    }

    /// Prints all rows.
    pub(crate) fn print(&self) {
        let header = HEADER.map(str::to_owned);
        let rows: Vec<_> = std::iter::once(&header).chain(&self.0).collect();
        let widths: Vec<_> = (0..HEADER.len()).map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0)).collect();
        for row in rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match WORDS.contains(&column) {
                true => format!("{cell:width$}"),
                false => format!("{cell:>width$}"),
            });
            println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
    }
}

fn judge(met: bool) -> &'static str {
    if met { "ok" } else { "over" }
}
