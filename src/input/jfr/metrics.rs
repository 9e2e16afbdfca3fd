//! The metrics of a recording, for which it has events.

use super::histogram::NATIVE_USAGE;
use super::measures::{IN_TLAB, MALLOC, MEASURES, OUTSIDE_TLAB, is_measured};
use super::survey::Survey;
use crate::model::profile::{Unit, ValueType};

/// The maximum number of other types of events with stacks, each of which is its own metric.
const OTHERS: usize = 64;

/// A type of events that adds to a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) metric: usize,
    pub(super) event: String,
    pub(super) weight: Option<&'static str>,
    pub(super) class: Option<&'static str>,
}

pub(super) struct Metrics {
    pub(super) types: Vec<ValueType>,
    pub(super) shares: Vec<Share>,
    /// The metric to use if none is named: CPU samples, or the one with most events.
    pub(super) main: usize,
}

impl Metrics {
    /// Chooses the metrics for which a recording has events.
    pub(super) fn of(survey: &Survey) -> Self {
        let mut metrics = Self { types: Vec::new(), shares: Vec::new(), main: 0 };
        let is_sampled = survey.count("jdk.ObjectAllocationSample") > 0;
        for (metric, unit, event, weight, class) in
            MEASURES.iter().filter(|(_, _, event, ..)| survey.count(event) > 0)
        {
            // Both are metric `native`, but their sums have nothing in common.
            if *event == NATIVE_USAGE && survey.count(MALLOC) > 0 {
                continue;
            }
            // Samples count the same allocations, so the two must not be added up.
            let is_apart = is_sampled && [IN_TLAB, OUTSIDE_TLAB].contains(event);
            let metric = if is_apart { event } else { metric };
            metrics.add(
                metric,
                unit.clone(),
                Share { metric: 0, event: (*event).to_owned(), weight: *weight, class: *class },
            );
        }
        let others = survey.events().filter(|(name, event)| event.has_stack && !is_measured(name));
        for (name, event) in others.take(OTHERS) {
            let (unit, weight) = if event.has_durations {
                (Unit::Nanoseconds, Some("duration"))
            } else {
                (Unit::Count, None)
            };
            let share = Share { metric: 0, event: name.to_owned(), weight, class: None };
            metrics.add(name, unit, share);
        }
        metrics.main = metrics.main_of(survey);
        metrics
    }

    fn add(&mut self, name: &str, unit: Unit, share: Share) {
        let known = self.types.iter().position(|known| known.name == name);
        let metric = known.unwrap_or_else(|| {
            self.types.push(ValueType { name: name.to_owned().into(), unit });
            self.types.len().wrapping_sub(1)
        });
        self.shares.push(Share { metric, ..share });
    }

    fn main_of(&self, survey: &Survey) -> usize {
        let named = |name: &str| self.types.iter().position(|known| known.name == name);
        let events = |metric: usize| -> u64 {
            let shares = self.shares.iter().filter(|share| share.metric == metric);
            shares.map(|share| survey.count_with_stack(&share.event)).fold(0, u64::saturating_add)
        };
        let sampled = ["cpu", "cpu-time", "wall"].into_iter().find_map(named);
        let most = (0..self.types.len()).rev().max_by_key(|metric| events(*metric));
        sampled.or(most).unwrap_or(0)
    }
}
