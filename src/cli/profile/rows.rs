//! What the documents of several commands on profiles say in the same words.

use crate::analysis::profile::TopRow;
use crate::model::profile::{Metric, Values};
use serde::Serialize;

/// The sum of a metric over all samples that are looked at.
#[derive(Serialize)]
pub(in crate::cli) struct Total {
    value: i64,
    samples: u64,
}

/// A function, file, line, thread or process and its cost.
#[derive(Clone, Default, Serialize)]
pub(in crate::cli) struct CostRow {
    pub(in crate::cli) name: String,
    pub(in crate::cli) namespace: String,
    pub(in crate::cli) line: Option<u32>,
    #[serde(rename = "self")]
    pub(in crate::cli) own: i64,
    pub(in crate::cli) total: i64,
    pub(in crate::cli) samples_self: u64,
    pub(in crate::cli) samples_total: u64,
}

impl Total {
    pub(in crate::cli) fn of(values: &Values, metric: Metric) -> Self {
        Self { value: values.get(metric), samples: values.samples }
    }
}

impl CostRow {
    pub(in crate::cli) fn of(row: &TopRow, metric: Metric) -> Self {
        Self {
            name: row.label.name.to_string(),
            namespace: row.label.namespace.to_string(),
            line: row.label.line,
            own: row.sums.own.get(metric),
            total: row.sums.total.get(metric),
            samples_self: row.sums.own.samples,
            samples_total: row.sums.total.samples,
        }
    }
}
