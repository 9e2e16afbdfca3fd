//! `functions`: one row for each function and metric, as `top` shows them.

use crate::analysis::profile::{FrameBy, Selected, TopBy, TopRow, top};
use crate::cli::query::relation::{At, Cell, Relation};
use crate::model::profile::{Metric, Profile};
use crate::model::stacks::Selection;
use std::sync::{Arc, OnceLock};

/// The columns, by number: those of `Table::Functions`.
mod column {
    pub(super) const FUNCTION: usize = 0;
    pub(super) const FILE: usize = 1;
    pub(super) const OWN: usize = 2;
    pub(super) const TOTAL: usize = 3;
    pub(super) const SAMPLES_OWN: usize = 4;
    pub(super) const SAMPLES_TOTAL: usize = 5;
    pub(super) const METRIC: usize = 6;
}

pub(super) struct Functions {
    profile: Arc<Profile>,
    tops: OnceLock<Tops>,
}

/// The functions, and their order for each metric.
struct Tops {
    rows: Vec<TopRow>,
    orders: Vec<(Metric, Vec<u32>)>,
}

impl Functions {
    pub(super) fn of(profile: &Arc<Profile>) -> Self {
        Self { profile: Arc::clone(profile), tops: OnceLock::new() }
    }

    fn tops(&self) -> &Tops {
        self.tops.get_or_init(|| {
            let all = Selection::default();
            let top = top(&Selected::of(&self.profile, &all), TopBy::Frames(FrameBy::Function));
            let order = |metric: Metric| {
                let mut rows: Vec<u32> = (0..top.rows.len() as u32).collect();
                rows.sort_by_cached_key(|row| top.rows[*row as usize].rank(&metric, false));
                (metric, rows)
            };
            let orders = self.profile.metrics().into_iter().map(order).collect();
            Tops { rows: top.rows, orders }
        })
    }
}

impl Relation for Functions {
    fn len(&self) -> u64 {
        let tops = self.tops();
        (tops.rows.len() * tops.orders.len()) as u64
    }

    fn cell<'c>(&'c self, at: At<'_>, column: usize, _: &'c mut String) -> Cell<'c> {
        let Tops { rows, orders } = self.tops();
        let (number, place) = (at.index() / rows.len().max(1), at.index() % rows.len().max(1));
        let Some((metric, order)) = orders.get(number) else { return Cell::Null };
        let Some(row) = order.get(place).and_then(|row| rows.get(*row as usize)) else {
            return Cell::Null;
        };
        match column {
            column::FUNCTION => Cell::Text(&row.label.name),
            column::FILE => Cell::Text(&row.label.namespace),
            column::OWN => row.sums.own.get(metric).into(),
            column::TOTAL => row.sums.total.get(metric).into(),
            column::SAMPLES_OWN => row.sums.own.samples().into(),
            column::SAMPLES_TOTAL => row.sums.total.samples().into(),
            column::METRIC => metric.name().into(),
            _ => Cell::Null,
        }
    }
}
