//! The table `functions`.

use super::TableSelection;
use crate::analysis::profile::{FrameBy, Selected, TopBy, TopRow, top};
use crate::model::profile::{Metric, Profile};
use crate::model::stacks::Selection;
use crate::tables::cells::signed;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::Rows;
use std::sync::OnceLock;

const GENERATED: &str = "The name in the code that ran, where a map gave the function another one";

/// One row for each function and metric, in the order of `top`: those that cost most first.
pub(in crate::tables) struct Functions<'p> {
    profile: &'p Profile,
    selected: TableSelection,
    tops: OnceLock<Tops>,
}

/// The functions, and their order for each metric.
struct Tops {
    metrics: Vec<Metric>,
    functions: Vec<TopRow>,
    /// The number of the metric and of the function of each row.
    rows: Vec<(usize, usize)>,
}

impl<'p> Functions<'p> {
    pub(super) fn of(profile: &'p Profile, selected: TableSelection) -> Self {
        Self { profile, selected, tops: OnceLock::new() }
    }

    fn tops(&self) -> &Tops {
        self.tops.get_or_init(|| {
            let metrics = match &self.selected.metric {
                Some(metric) => vec![metric.clone()],
                None => self.profile.metrics(),
            };
            let (mut functions, mut rows, mut first) = (Vec::new(), Vec::new(), 0);
            for (number, metric) in metrics.iter().enumerate() {
                // Events of one kind have numbers for their own metrics only.
                if number == 0 || self.profile.has_separate_values {
                    let metrics = vec![metric.clone()];
                    let selection = Selection { metrics, ..self.selected.selection.clone() };
                    let selected = Selected::of(self.profile, &selection);
                    first = functions.len();
                    functions.extend(top(&selected, TopBy::Frames(FrameBy::Function)).rows);
                }
                let mut order: Vec<usize> = (first..functions.len()).collect();
                order.sort_by_cached_key(|row| functions[*row].rank(metric, false));
                rows.extend(order.into_iter().map(|row| (number, row)));
            }
            Tops { metrics, functions, rows }
        })
    }

    fn row(&self, row: usize) -> (&Metric, &TopRow) {
        let tops = self.tops();
        let (metric, function) = tops.rows[row];
        (&tops.metrics[metric], &tops.functions[function])
    }
}

/// A column of numbers of a function for a metric.
fn number<'p>(
    name: &'static str,
    doc: &'static str,
    number: fn(&Metric, &TopRow) -> i64,
) -> ColumnOf<Functions<'p>> {
    Column::number(name, doc).of(move |this: &Functions<'_>, rows, cells| {
        let rows = rows.map(|row| this.row(row));
        cells.integers.extend(rows.map(|(metric, row)| number(metric, row)));
    })
}

impl Rows for Functions<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::name("function", "The function")
                .texts(|this: &Self, row| &this.row(row).1.label.name),
            Column::name("file", "Its source file, module or library")
                .texts(|this: &Self, row| &this.row(row).1.label.namespace),
            number("self", "The value of the function itself", |metric, row| {
                row.sums.own.get(metric)
            }),
            number("total", "The value of the function and of all that it calls", |metric, row| {
                row.sums.total.get(metric)
            }),
            number("samples_self", "Samples in the function itself", |_, row| {
                signed(row.sums.own.samples())
            }),
            number("samples_total", "Samples in the function or in what it calls", |_, row| {
                signed(row.sums.total.samples())
            }),
            Column::name("metric", "What `self` and `total` count")
                .texts(|this: &Self, row| this.row(row).0.name()),
            Column::name("generated_name", GENERATED).or_empty().texts(|this: &Self, row| {
                let label = &this.row(row).1.label;
                this.profile.generated_name(&label.name, &label.namespace).unwrap_or_default()
            }),
        ]
    }

    fn len(&self) -> usize {
        self.tops().rows.len()
    }
}
