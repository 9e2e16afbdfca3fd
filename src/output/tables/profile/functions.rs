//! The table `functions`.

use super::TableSelection;
use crate::analysis::profile::{FrameBy, Selected, Top, TopBy, TopRow, top};
use crate::model::profile::{Metric, Profile};
use crate::output::tables::{Table, TableCells, TableRows};
use std::ops::Range;

/// One row for each function and metric, as `top` shows them: those that cost most first.
pub(super) struct FunctionRows {
    /// One for each metric.
    tops: Vec<(Metric, Top)>,
}

impl FunctionRows {
    pub(super) fn new(profile: &Profile, selected: &TableSelection) -> Self {
        let metrics = match &selected.metric {
            Some(metric) => vec![metric.clone()],
            None => profile.metrics(),
        };
        let functions =
            top(&Selected::of(profile, &selected.selection), TopBy::Frames(FrameBy::Function));
        let tops = metrics.into_iter().map(|metric| {
            let mut top = functions.clone();
            top.sort(&metric, false);
            (metric, top)
        });
        Self { tops: tops.collect() }
    }

    fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = (&Metric, &TopRow)> + '_ {
        let all = self
            .tops
            .iter()
            .flat_map(|(metric, top)| top.rows.iter().map(move |row| (metric, row)));
        all.skip(rows.start).take(rows.len())
    }
}

impl TableRows for FunctionRows {
    fn table(&self) -> Table {
        Table::Functions
    }

    fn len(&self) -> usize {
        self.tops.iter().map(|(_, top)| top.rows.len()).sum()
    }

    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells) {
        let rows = self.rows(rows);
        match column {
            "function" => rows.for_each(|(_, row)| cells.text(&row.label.name)),
            "file" => rows.for_each(|(_, row)| cells.text(&row.label.namespace)),
            "self" => cells.integers.extend(rows.map(|(metric, row)| row.sums.own.get(metric))),
            "total" => cells.integers.extend(rows.map(|(metric, row)| row.sums.total.get(metric))),
            "samples_self" => cells.integers(rows.map(|(_, row)| row.sums.own.samples())),
            "samples_total" => cells.integers(rows.map(|(_, row)| row.sums.total.samples())),
            _ => rows.for_each(|(metric, _)| cells.text(metric.name())),
        }
    }
}
