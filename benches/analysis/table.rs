//! Prints what was measured as an aligned table.

use crate::graphs::Graph;
use crate::measure::Measured;
use dumptool::analysis::memory_estimate;
use dumptool::model::heap::Heap;

const HEADER: [&str; 14] = [
    "graph",
    "objects",
    "references",
    "live",
    "live s",
    "dominators s",
    "ns/ref",
    "of LT",
    "B/object",
    "LT B/object",
    "retained ns/object",
    "referrers ns/ref",
    "all B/object",
    "over the bar",
];

/// Bars that all graphs have in common.
const RETAINED_NANOSECONDS: f64 = 10.0;
const REFERRERS_NANOSECONDS: f64 = 40.0;

/// The rows so far.
#[derive(Default)]
pub(crate) struct Table(Vec<[String; HEADER.len()]>);

impl Table {
    /// Adds what was measured of a graph.
    pub(crate) fn add(&mut self, graph: &Graph, heap: &Heap<'_>, measured: &Measured) {
        let (objects, references) = (heap.len() as f64, heap.references().len() as f64);
        let nanoseconds = measured.dominators * 1e9 / references;
        let ratio = measured.dominators / measured.lengauer_tarjan;
        let bytes = measured.bytes as f64 / objects;
        let retained = measured.retained * 1e9 / objects;
        let referrers = measured.referrers * 1e9 / references;
        let estimate = memory_estimate(heap.len() as u64, heap.references().len() as u64) as f64;
        let over = [
            ("ns/ref", nanoseconds, graph.nanoseconds),
            ("of LT", ratio, graph.ratio),
            ("B/object", bytes, graph.bytes),
            ("s", measured.dominators, graph.seconds),
            ("retained", retained, Some(RETAINED_NANOSECONDS)),
            ("referrers", referrers, Some(REFERRERS_NANOSECONDS)),
            // Lists have the whole graph on the stack of the search, which is not what is usual.
            ("estimate", measured.all_bytes as f64, graph.bytes.map(|_| estimate)),
        ];
        let over = over
            .iter()
            .filter(|(_, value, bar)| bar.is_some_and(|bar| *value > bar))
            .map(|(name, ..)| *name);
        self.0.push([
            graph.name.to_owned(),
            format!("{objects}"),
            format!("{references}"),
            format!("{}", measured.live_objects),
            format!("{:.2}", measured.live),
            format!("{:.2}", measured.dominators),
            format!("{nanoseconds:.0}"),
            format!("{ratio:.2}"),
            format!("{bytes:.1}"),
            format!("{:.1}", measured.lengauer_tarjan_bytes as f64 / objects),
            format!("{retained:.1}"),
            format!("{referrers:.1}"),
            format!("{:.1}", measured.all_bytes as f64 / objects),
            over.collect::<Vec<_>>().join(", "),
        ]);
    }

    /// Prints all rows.
    pub(crate) fn print(&self) {
        let header = HEADER.map(str::to_owned);
        let rows: Vec<_> = std::iter::once(&header).chain(&self.0).collect();
        let widths: Vec<_> = (0..HEADER.len())
            .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
            .collect();
        for row in rows {
            let cells =
                row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                    0 | 13 => format!("{cell:width$}"),
                    _ => format!("{cell:>width$}"),
                });
            println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
    }
}
