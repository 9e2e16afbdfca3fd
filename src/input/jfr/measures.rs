//! The numbers that events have: which types of events make up a metric, and the field that says
//! how much.
//!
//! Sources: `metadata.xml` of HotSpot (JDK 17 and 25), `JfrReader.java` of async-profiler.

use super::histogram::{HISTOGRAMS, NATIVE_USAGE};
use super::survey::Survey;
use crate::model::profile::{Unit, ValueType};

/// A type of events that a metric adds up.
pub(super) struct Measure {
    pub(super) metric: &'static str,
    pub(super) unit: Unit,
    pub(super) event: &'static str,
    /// The field with the number. `None`: each event counts as one.
    pub(super) weight: Option<&'static str>,
    /// The field with the class that an event is about.
    pub(super) class: Option<&'static str>,
}

const fn measure(
    metric: &'static str,
    unit: Unit,
    event: &'static str,
    weight: Option<&'static str>,
    class: Option<&'static str>,
) -> Measure {
    Measure { metric, unit, event, weight, class }
}

use Unit::{Bytes, Count, Nanoseconds};

/// The known metrics, in the order in which they are listed.
const MEASURES: &[Measure] = &[
    measure("cpu", Count, "jdk.ExecutionSample", None, None),
    measure("cpu", Count, "jdk.NativeMethodSample", None, None),
    measure("cpu-time", Nanoseconds, "jdk.CPUTimeSample", Some("samplingPeriod"), None),
    measure("wall", Count, "profiler.WallClockSample", Some("samples"), None),
    measure("alloc", Bytes, "jdk.ObjectAllocationSample", Some("weight"), Some("objectClass")),
    measure("alloc", Bytes, IN_TLAB, Some("tlabSize"), Some("objectClass")),
    measure("alloc", Bytes, OUTSIDE_TLAB, Some("allocationSize"), Some("objectClass")),
    measure("live", Bytes, "profiler.LiveObject", Some("allocationSize"), Some("objectClass")),
    measure("native", Bytes, MALLOC, Some("size"), None),
    measure("native", Bytes, NATIVE_USAGE, Some("committed"), Some("type")),
    measure("lock", Nanoseconds, "jdk.JavaMonitorEnter", Some("duration"), Some("monitorClass")),
    measure("wait", Nanoseconds, "jdk.JavaMonitorWait", Some("duration"), Some("monitorClass")),
    measure("park", Nanoseconds, "jdk.ThreadPark", Some("duration"), Some("parkedClass")),
    measure("sleep", Nanoseconds, "jdk.ThreadSleep", Some("duration"), None),
    measure("pinned", Nanoseconds, "jdk.VirtualThreadPinned", Some("duration"), None),
    measure("io", Nanoseconds, "jdk.FileRead", Some("duration"), None),
    measure("io", Nanoseconds, "jdk.FileWrite", Some("duration"), None),
    measure("io", Nanoseconds, "jdk.FileForce", Some("duration"), None),
    measure("io", Nanoseconds, "jdk.SocketRead", Some("duration"), None),
    measure("io", Nanoseconds, "jdk.SocketWrite", Some("duration"), None),
    measure("io-bytes", Bytes, "jdk.FileRead", Some("bytesRead"), None),
    measure("io-bytes", Bytes, "jdk.FileWrite", Some("bytesWritten"), None),
    measure("io-bytes", Bytes, "jdk.SocketRead", Some("bytesRead"), None),
    measure("io-bytes", Bytes, "jdk.SocketWrite", Some("bytesWritten"), None),
    measure("exceptions", Count, "jdk.JavaExceptionThrow", None, Some("thrownClass")),
    measure("exceptions", Count, "jdk.JavaErrorThrow", None, Some("thrownClass")),
    measure("objects", Bytes, HISTOGRAMS[0], Some("totalSize"), Some("objectClass")),
    measure("objects", Bytes, HISTOGRAMS[1], Some("totalSize"), Some("objectClass")),
    measure("object-count", Count, HISTOGRAMS[0], Some("count"), Some("objectClass")),
    measure("object-count", Count, HISTOGRAMS[1], Some("count"), Some("objectClass")),
    measure("old-objects", Count, "jdk.OldObjectSample", None, None),
];

/// Counted if the address was not freed later.
pub(super) const MALLOC: &str = "profiler.Malloc";
const IN_TLAB: &str = "jdk.ObjectAllocationInNewTLAB";
const OUTSIDE_TLAB: &str = "jdk.ObjectAllocationOutsideTLAB";

/// Other types of events with stacks, each of which is a metric of its own, at most this many.
const OTHERS: usize = 64;

/// Whether a metric is made of events of this type.
pub(super) fn is_measured(event: &str) -> bool {
    MEASURES.iter().any(|measure| measure.event == event)
}

/// How a type of events adds to a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// The number of the metric.
    pub(super) metric: usize,
    pub(super) event: String,
    pub(super) weight: Option<&'static str>,
    pub(super) class: Option<&'static str>,
}

/// The metrics of a recording.
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
        for measure in MEASURES.iter().filter(|measure| survey.count(measure.event) > 0) {
            // Their sums have nothing in common.
            if measure.event == NATIVE_USAGE && survey.count(MALLOC) > 0 {
                continue;
            }
            // Both count the same allocations.
            if is_sampled && [IN_TLAB, OUTSIDE_TLAB].contains(&measure.event) {
                continue;
            }
            let Measure { metric, unit, event, weight, class } = measure;
            metrics.add(
                metric,
                unit.clone(),
                Share { metric: 0, event: (*event).to_owned(), weight: *weight, class: *class },
            );
        }
        let others = survey.events().filter(|(name, event)| event.has_stack && !is_measured(name));
        for (name, event) in others.take(OTHERS) {
            let (unit, weight) = match event.has_durations {
                true => (Unit::Nanoseconds, Some("duration")),
                false => (Unit::Count, None),
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
