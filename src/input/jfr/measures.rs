//! The numbers that events have: which types of events make up a metric, and the field that says
//! how much.
//!
//! Sources: `metadata.xml` of HotSpot (JDK 17 and 25), `JfrReader.java` of async-profiler.

use super::histogram::{HISTOGRAMS, NATIVE_USAGE};
use crate::model::profile::Unit;

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
pub(super) const MEASURES: &[Measure] = &[
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
pub(super) const IN_TLAB: &str = "jdk.ObjectAllocationInNewTLAB";
pub(super) const OUTSIDE_TLAB: &str = "jdk.ObjectAllocationOutsideTLAB";

pub(super) fn is_measured(event: &str) -> bool {
    MEASURES.iter().any(|measure| measure.event == event)
}
