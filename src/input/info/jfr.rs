//! The parts of the `info` summary that only recordings of Java's Flight Recorder have.

use super::{CountsByName, MetricInfo};
use serde::Serialize;

/// An argument, a flag or a system property of the JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JvmSetting {
    /// `arguments`, `flag` or `property`.
    pub kind: &'static str,
    pub name: String,
    pub value: String,
    /// The origin of a flag's value, such as `Command line` or `Ergonomic`.
    pub origin: Option<String>,
}

/// What `info` says of a recording of Java's Flight Recorder.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JfrDetails {
    /// The name and version of the JVM.
    pub jvm: Option<String>,
    pub chunks: u64,
    /// Events by type, most first.
    pub events: CountsByName,
    /// Stacks that were cut at the depth of the recording (`stackdepth`).
    pub truncated_stacks: u64,
    /// The metrics in the order of the file.
    pub metrics: Vec<MetricInfo>,
    /// Samples that the recorder lost.
    pub lost_samples: u64,
    /// The minimum heap in use before or after a collection, in bytes.
    pub least_heap_bytes: Option<u64>,
    /// The maximum heap in use before or after a collection, in bytes.
    pub most_heap_bytes: Option<u64>,
    /// The number of the JVM's flags that do not have their default value.
    pub flags: u64,
    /// The number of system properties.
    pub system_properties: u64,
    /// The arguments, flags and system properties, which may contain secrets and are not part of the
    /// JSON document.
    #[serde(skip)]
    pub settings: Vec<JvmSetting>,
}
