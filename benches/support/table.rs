//! Prints what was measured as an aligned table.

use super::benches::{Bar, Bench, Clock};
use super::measure::Measured;

const HEADER: [&str; 12] = [
    "bench",
    "MB",
    "CPU s",
    "wall s",
    "MB/s",
    "ns/item",
    "ratio to the floor",
    "bar",
    "",
    "MiB",
    "B/item",
    "refs/item",
];
/// Columns of words. The others have numbers, which are aligned to the right.
const WORDS: [usize; 4] = [0, 6, 7, 8];

/// The rows so far.
#[derive(Default)]
pub(crate) struct Table(Vec<[String; HEADER.len()]>);

impl Table {
    /// Adds what a benchmark gave for an input of that many bytes and items.
    pub(crate) fn add(&mut self, bench: &Bench, bytes: u64, items: u64, measured: &Measured) {
        let rate = bytes as f64 / 1e6 / measured.cpu;
        let loaded = measured.found.objects > 0;
        // Of a file of several snapshots only one is loaded.
        let items = if loaded { measured.found.objects } else { items } as f64;
        let nanoseconds = measured.cpu * 1e9 / items;
        let ratios: Vec<f64> = measured
            .floors
            .iter()
            .zip(bench.floors)
            .map(|(time, floor)| of(measured, floor.clock) / time)
            .collect();
        let shown: Vec<_> = ratios
            .iter()
            .zip(bench.floors)
            .map(|(ratio, floor)| format!("{ratio:.2} {}", floor.name))
            .collect();
        let (bars, verdicts): (Vec<_>, Vec<_>) = bench
            .bars
            .iter()
            .map(|bar| match bar {
                Bar::Ratio(most) => {
                    (format!("<= {most} {}", bench.floors[0].name), judge(ratios[0] <= *most))
                }
                Bar::Rate(least) => (format!(">= {least} MB/s"), judge(rate >= *least)),
                Bar::Memory(most) => {
                    let met = measured
                        .memory
                        .map_or("-", |memory| judge(memory as f64 / f64::from(1 << 20) <= *most));
                    (format!("<= {most} MiB"), met)
                }
                Bar::Nanoseconds(most) => (format!("<= {most} ns"), judge(nanoseconds <= *most)),
                Bar::Bytes(object, reference) => {
                    let most = object * items + reference * measured.found.references as f64;
                    let bar = if *reference > 0.0 {
                        format!("<= {object} B + {reference} B/ref")
                    } else {
                        format!("<= {object} B")
                    };
                    (bar, measured.memory.map_or("-", |memory| judge(memory as f64 <= most)))
                }
            })
            .unzip();
        let for_each_item = |number: Option<u64>| match number {
            Some(number) if loaded => format!("{:.1}", number as f64 / items),
            _ => String::new(),
        };
        self.0.push([
            bench.name.to_owned(),
            format!("{:.0}", bytes as f64 / 1e6),
            format!("{:.3}", measured.cpu),
            format!("{:.3}", measured.wall),
            format!("{rate:.0}"),
            format!("{nanoseconds:.1}"),
            shown.join(", "),
            bars.join(", "),
            verdicts.join(", "),
            measured.memory.map_or("-".to_owned(), |bytes| {
                format!("{:.1}", bytes as f64 / f64::from(1 << 20))
            }),
            for_each_item(measured.memory),
            for_each_item(Some(measured.found.references)),
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
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if WORDS.contains(&column) {
                    format!("{cell:width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
            println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
    }
}

fn of(measured: &Measured, clock: Clock) -> f64 {
    match clock {
        Clock::Cpu => measured.cpu,
        Clock::Wall => measured.wall,
    }
}

fn judge(met: bool) -> &'static str {
    if met { "ok" } else { "over" }
}
