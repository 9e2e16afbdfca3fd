//! The numbers of events: the types of events that make up each metric, and the field with the
//! amount.
//!
//! Sources: `metadata.xml` of HotSpot (JDK 17 and 25), `JfrReader.java` of async-profiler.

use super::histogram::{HISTOGRAMS, NATIVE_USAGE};
use crate::model::profile::Unit;

/// A type of events that a metric adds up: the metric, its unit, the type, the field with the number
/// (`None`: each event counts as one), and the field with the class that an event is about.
type Measure = (&'static str, Unit, &'static str, Option<&'static str>, Option<&'static str>);

use Unit::{Bytes, Count, Nanoseconds};

/// The known metrics, in the order in which they are listed.
pub(super) const MEASURES: &[Measure] = &[
    ("cpu", Count, "jdk.ExecutionSample", None, None),
    ("cpu", Count, "jdk.NativeMethodSample", None, None),
    ("cpu-time", Nanoseconds, "jdk.CPUTimeSample", Some("samplingPeriod"), None),
    ("wall", Count, "profiler.WallClockSample", Some("samples"), None),
    ("alloc", Bytes, "jdk.ObjectAllocationSample", Some("weight"), Some("objectClass")),
    ("alloc", Bytes, IN_TLAB, Some("tlabSize"), Some("objectClass")),
    ("alloc", Bytes, OUTSIDE_TLAB, Some("allocationSize"), Some("objectClass")),
    ("live", Bytes, "profiler.LiveObject", Some("allocationSize"), Some("objectClass")),
    ("native", Bytes, MALLOC, Some("size"), None),
    ("native", Bytes, NATIVE_USAGE, Some("committed"), Some("type")),
    ("lock", Nanoseconds, "jdk.JavaMonitorEnter", Some("duration"), Some("monitorClass")),
    ("wait", Nanoseconds, "jdk.JavaMonitorWait", Some("duration"), Some("monitorClass")),
    ("park", Nanoseconds, "jdk.ThreadPark", Some("duration"), Some("parkedClass")),
    ("sleep", Nanoseconds, "jdk.ThreadSleep", Some("duration"), None),
    ("pinned", Nanoseconds, "jdk.VirtualThreadPinned", Some("duration"), None),
    ("io", Nanoseconds, "jdk.FileRead", Some("duration"), None),
    ("io", Nanoseconds, "jdk.FileWrite", Some("duration"), None),
    ("io", Nanoseconds, "jdk.FileForce", Some("duration"), None),
    ("io", Nanoseconds, "jdk.SocketRead", Some("duration"), None),
    ("io", Nanoseconds, "jdk.SocketWrite", Some("duration"), None),
    ("io-bytes", Bytes, "jdk.FileRead", Some("bytesRead"), None),
    ("io-bytes", Bytes, "jdk.FileWrite", Some("bytesWritten"), None),
    ("io-bytes", Bytes, "jdk.SocketRead", Some("bytesRead"), None),
    ("io-bytes", Bytes, "jdk.SocketWrite", Some("bytesWritten"), None),
    ("exceptions", Count, "jdk.JavaExceptionThrow", None, Some("thrownClass")),
    ("exceptions", Count, "jdk.JavaErrorThrow", None, Some("thrownClass")),
    ("objects", Bytes, HISTOGRAMS[0], Some("totalSize"), Some("objectClass")),
    ("objects", Bytes, HISTOGRAMS[1], Some("totalSize"), Some("objectClass")),
    ("object-count", Count, HISTOGRAMS[0], Some("count"), Some("objectClass")),
    ("object-count", Count, HISTOGRAMS[1], Some("count"), Some("objectClass")),
    ("old-objects", Count, "jdk.OldObjectSample", None, None),
];

/// Allocations, which count unless their address is freed later.
pub(super) const MALLOC: &str = "profiler.Malloc";
pub(super) const IN_TLAB: &str = "jdk.ObjectAllocationInNewTLAB";
pub(super) const OUTSIDE_TLAB: &str = "jdk.ObjectAllocationOutsideTLAB";

pub(super) fn is_measured(event: &str) -> bool {
    MEASURES.iter().any(|(_, _, known, ..)| *known == event)
}
