//! The events of a call graph, and the costs of lines.

use super::lines::unsigned;
use crate::input::native::lines::Words;
use crate::model::profile::{Unit, ValueType};

/// Events whose numbers are kept.
const MOST_EVENTS: usize = 64;

/// The events in the order of their costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Events {
    names: Vec<Vec<u8>>,
    /// The factors to the units of the metrics.
    factors: Vec<i64>,
}

impl Events {
    /// Parses the value of the header `events`. `None` if there are too many or none.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        let names: Vec<Vec<u8>> = Words(value).map(<[u8]>::to_vec).collect();
        let factors = names.iter().map(|name| metric(name).1).collect();
        (1..=MOST_EVENTS).contains(&names.len()).then_some(Self { names, factors })
    }

    pub(super) fn value_types(&self) -> Vec<ValueType> {
        self.names.iter().map(|name| metric(name).0).collect()
    }

    /// Parses costs into a buffer that is emptied before. `None` if there are more than events, or
    /// one is not a number.
    pub(super) fn costs(&self, text: &[u8], costs: &mut Vec<i128>) -> Option<()> {
        costs.clear();
        for word in Words(text) {
            let factor = *self.factors.get(costs.len())?;
            let cost = match word {
                b"." => 0,
                [b'-', number @ ..] => i128::from(unsigned(number)?).checked_neg()?,
                number => i128::from(unsigned(number)?),
            };
            costs.push(cost.saturating_mul(factor.into()));
        }
        costs.resize(self.names.len(), 0);
        Some(())
    }
}

/// The metric of an event, and the factor of its numbers: Xdebug counts `Time_(10ns)`.
fn metric(event: &[u8]) -> (ValueType, i64) {
    let event = String::from_utf8_lossy(event);
    let value_type = |name: &str, unit| ValueType { name: name.to_owned().into(), unit };
    let in_parentheses = event.strip_suffix(')').and_then(|text| text.split_once("_("));
    if let Some((name, unit)) = in_parentheses {
        let digits =
            unit.len().saturating_sub(unit.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        let (number, unit) = unit.split_at_checked(digits).unwrap_or(("", unit));
        let factor: i64 = if number.is_empty() { 1 } else { number.parse().unwrap_or(0) };
        let unit = Unit::named(unit);
        if let Some(nanoseconds) = unit.nanoseconds().filter(|_| factor > 0) {
            let factor = i64::try_from(nanoseconds).unwrap_or(1).saturating_mul(factor);
            return (value_type(&name.to_lowercase(), Unit::Nanoseconds), factor);
        }
        if unit.bytes() == Some(1) && factor == 1 {
            return (value_type(&name.to_lowercase(), Unit::Bytes), 1);
        }
    }
    let unit = event.rsplit_once('_').map_or(Unit::Count, |(_, unit)| Unit::named(unit));
    let unit = if matches!(unit, Unit::Other(_)) { Unit::Count } else { unit };
    (value_type(&event, unit), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_metrics_with_units() {
        let parts = |event: &str| {
            let (metric, factor) = metric(event.as_bytes());
            (metric.name.into_owned(), metric.unit.name().to_owned(), factor)
        };
        let expect = |name: &str, unit: &str, factor| (name.to_owned(), unit.to_owned(), factor);
        assert_eq!(parts("Ir"), expect("Ir", "count", 1));
        assert_eq!(parts("Time_(10ns)"), expect("time", "nanoseconds", 10));
        assert_eq!(parts("Time_(us)"), expect("time", "nanoseconds", 1000));
        assert_eq!(parts("Memory_(bytes)"), expect("memory", "bytes", 1));
        assert_eq!(parts("leaked_bytes"), expect("leaked_bytes", "bytes", 1));
        assert_eq!(parts("cpu(x)"), expect("cpu(x)", "count", 1));
    }

    #[test]
    fn costs_may_be_missing_negative_or_too_many() {
        let events = Events::parse(b"Ir Dr").unwrap();
        let mut costs = Vec::new();
        assert_eq!(events.costs(b"  0x10", &mut costs), Some(()));
        assert_eq!(costs, [16, 0]);
        assert_eq!(events.costs(b"-3 .", &mut costs), Some(()));
        assert_eq!(costs, [-3, 0]);
        assert_eq!(events.costs(b"1 2 3", &mut costs), None);
        assert_eq!(events.costs(b"x", &mut costs), None);
        assert_eq!(Events::parse(b" "), None);
    }
}
