//! The page about two heaps and the growth between them.

use super::stored::Stored;
use super::{damage, held_by, remarks};
use crate::analysis::diff::{HistogramChange, changes, rise};
use crate::analysis::dominator_stacks::{self, Counted};
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::cli::heap::Answers;
use crate::cli::heap::grown::Growth;
use crate::cli::page::tables::number;
use crate::cli::page::{Subject, bar, cut_note, made_by, table_rows};
use crate::cli::session::Session;
use crate::cli::size::{count, size, size_change};
use crate::output::flamegraph::{FlamegraphOptions, Picture, picture};
use crate::output::report::{
    Answer, BarPart, Card, Report, ReportSuspect, ReportTable, Tile, Tone, address,
    without_packages,
};

/// The part of a heap that a comparison needs.
pub(super) struct Sums {
    pub(super) live: Histogram,
    picture: Picture,
    damage: Vec<String>,
    remarks: Vec<String>,
}

impl Sums {
    pub(super) fn of(loaded: &Answers<'_>) -> Self {
        let (heap, tree) = (&loaded.heap, loaded.tree());
        let live = Histogram::of(heap, Some(tree), GroupBy::Type, Scope::Live);
        let stacks = dominator_stacks::of(heap, &tree.dominators, "", 1e-5, Counted::Bytes).stacks;
        let picture = picture(&stacks, 0, &FlamegraphOptions::default());
        Self { live, picture, damage: damage(loaded), remarks: remarks(loaded).collect() }
    }
}

/// The sums of two heaps, and the growth between them.
pub(super) struct Compared {
    live: (Histogram, Histogram),
    picture: Picture,
    damage: Vec<String>,
    remarks: Vec<String>,
    growth: Option<Growth>,
    changes: Vec<HistogramChange>,
    stored: Stored,
}

impl Compared {
    /// `stored` selects the objects that the page describes, given the types that changed.
    pub(super) fn of(
        before: Sums,
        after: Sums,
        growth: Option<Growth>,
        stored: impl FnOnce(&[HistogramChange]) -> Stored,
    ) -> Self {
        let changes = changes(&before.live, &after.live);
        Self {
            live: (before.live, after.live),
            picture: after.picture.compared_with(&before.picture),
            damage: after.damage,
            remarks: after.remarks,
            growth,
            stored: stored(&changes),
            changes,
        }
    }

    /// The headline names the largest growth; the bar shows types by the change of their own bytes.
    fn answer(&self, sentence: &str, grown: Option<&ReportSuspect>) -> Answer {
        let (before, after) = (self.live.0.total.bytes(), self.live.1.total.bytes());
        let change = rise(before, after);
        let (first, rest) = sentence.split_once("; ").unwrap_or((sentence, ""));
        let (share, headline) = match (grown, first.split_once(": ")) {
            (Some(_), Some((share, headline))) => (format!("{share}:"), headline),
            _ => (String::new(), first),
        };
        let mut rows: Vec<_> = self.changes.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.delta().shallow_bytes.unsigned_abs()));
        let part = |row: &&HistogramChange| {
            let bytes = row.delta().shallow_bytes;
            BarPart {
                name: without_packages(&row.name),
                amount: size_change(bytes, false),
                width: bytes.unsigned_abs(),
                link: address("objects", &[("type", &row.name), ("new", "1")]),
                tone: if bytes > 0 { Tone::Up } else { Tone::Down },
            }
        };
        let width = |row: &&HistogramChange| row.delta().shallow_bytes.unsigned_abs();
        let parts = bar(&rows, width, part, |rest, _| BarPart {
            name: "other types".to_owned(),
            amount: format!("± {}", size(rest, false)),
            width: rest,
            link: address("table/types-that-changed", &[]),
            tone: Tone::Rest,
        });
        let text = format!("{} → {}", size(before, false), size(after, false));
        let heap = Card {
            title: "Live heap",
            number: size_change(change, false),
            lines: vec![(text, String::new())],
            more: vec![("Each type".to_owned(), address("table/types-that-changed", &[]))],
            ..Card::default()
        };
        Answer {
            share,
            headline: without_packages(headline),
            details: Some(without_packages(rest))
                .filter(|rest| !rest.is_empty())
                .into_iter()
                .collect(),
            parts,
            legend: "Bytes that came (red) and went (blue), by type, without what they retain.",
            cards: grown.map(held_by).into_iter().chain([heap]).collect(),
        }
    }

    pub(super) fn report(
        &self,
        mut report: Report,
        subject: Subject<'_>,
        session: &Session,
        lines: usize,
    ) -> Report {
        let (before, after) = &self.live;
        let total = (before.total.bytes(), after.total.bytes());
        report.warnings.clone_from(&self.damage);
        report.notes.clone_from(&self.remarks);
        let grown = self.growth.as_ref();
        let sentence = grown.map(|growth| growth.sentence(session)).unwrap_or_default();
        report.suspects.extend(grown.and_then(|growth| growth.on_page(session)));
        report.answer = self.answer(&sentence, report.suspects.first());
        let mut tile = |label, value| report.tiles.push(Tile { label, value });
        tile("live before", size(total.0, false));
        tile("live now", size(total.1, false));
        tile("difference", size_change(rise(total.0, total.1), false));
        tile(
            "live objects",
            format!("{} → {}", count(before.total.count), count(after.total.count)),
        );
        let (tree, left_out) =
            self.picture.tree(&mut report, "What grew (red) and shrank (blue), by type", lines);
        let shown = tree.depth.len();
        report.trees.push(tree);
        let rows = &self.changes;
        let shown_rows = &rows[..rows.len().min(table_rows(lines))];
        let new = |row: &HistogramChange| row.new.unwrap_or_default();
        let table = ReportTable::new("Types that changed", rows.len() as u64)
            .names(&mut report, "Name", shown_rows.iter().map(|row| row.name.as_str()))
            .deltas("Count ±", "number", shown_rows.iter().map(|row| Some(row.delta().count)))
            .numbers("Count now", "number", shown_rows.iter().map(|row| number(new(row).sum.count)))
            .deltas(
                "Shallow ±",
                "bytes",
                shown_rows.iter().map(|row| Some(row.delta().shallow_bytes)),
            )
            .numbers(
                "Retained now",
                "bytes",
                shown_rows.iter().map(|row| number(new(row).retained_bytes.unwrap_or(0))),
            )
            .deltas("Retained ±", "bytes", shown_rows.iter().map(|row| row.delta().retained_bytes))
            .sorted();
        report.tables.push(table);
        subject.add_growth(&mut report, lines);
        self.stored.add_to(&mut report, lines);
        report.notes.extend(cut_note("tree", shown, left_out));
        report.notes.push(
        "The width of a box is the larger of its two sizes. Types with less than 0.001 % are merged."
            .to_owned(),
    );
        report.notes.push(made_by(&report, subject));
        report
    }
}
