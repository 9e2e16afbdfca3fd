//! Sums of samples, and the metrics that read them.

/// Sums of samples. Times are in microseconds, memory is in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Number of samples.
    pub samples: u64,
    /// Wall time.
    pub time: i64,
    /// Wall time of the samples whose thread was idle.
    pub idle_time: i64,
    /// Samples whose thread was idle.
    pub idle_samples: u64,
    /// Wall time of the samples during which the garbage collector ran.
    pub gc_time: i64,
    /// Samples during which the garbage collector ran.
    pub gc_samples: u64,
    /// Bytes allocated.
    pub memory_gained: u64,
    /// Bytes freed.
    pub memory_freed: u64,
}

impl Values {
    /// The sums of one sample.
    pub fn of_sample(sample: &super::ProfileSample) -> Self {
        let time = sample.time.unwrap_or(0);
        let memory = sample.memory.unwrap_or(0);
        Self {
            samples: 1,
            time,
            idle_time: if sample.idle { time } else { 0 },
            idle_samples: u64::from(sample.idle),
            gc_time: if sample.gc { time } else { 0 },
            gc_samples: u64::from(sample.gc),
            memory_gained: memory.max(0).unsigned_abs(),
            memory_freed: memory.min(0).unsigned_abs(),
        }
    }

    /// Adds other sums. Sums that do not fit stay at the largest number.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.time = self.time.saturating_add(other.time);
        self.idle_time = self.idle_time.saturating_add(other.idle_time);
        self.idle_samples = self.idle_samples.saturating_add(other.idle_samples);
        self.gc_time = self.gc_time.saturating_add(other.gc_time);
        self.gc_samples = self.gc_samples.saturating_add(other.gc_samples);
        self.memory_gained = self.memory_gained.saturating_add(other.memory_gained);
        self.memory_freed = self.memory_freed.saturating_add(other.memory_freed);
    }

    /// Whether there is nothing to say. Java's sums may have bytes and no samples.
    #[inline]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// The sum that a metric reads.
    #[inline]
    pub fn get(&self, metric: Metric) -> i64 {
        let narrow = |sum: u64| i64::try_from(sum).unwrap_or(i64::MAX);
        match metric {
            Metric::Time => self.time,
            Metric::Cpu => self.time.saturating_sub(self.idle_time),
            Metric::MemoryGained => narrow(self.memory_gained),
            Metric::MemoryFreed => narrow(self.memory_freed),
            Metric::Memory => narrow(self.memory_gained).saturating_sub(narrow(self.memory_freed)),
            Metric::Samples => narrow(self.samples),
            Metric::Gc => self.gc_time,
        }
    }
}

/// A metric of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// Wall time.
    Time,
    /// Wall time of the samples whose thread was not idle.
    Cpu,
    /// Memory that came into use: the positive changes.
    MemoryGained,
    /// Memory that went out of use: the negative changes, as a positive number.
    MemoryFreed,
    /// The change of memory in use, which may be negative.
    Memory,
    /// The number of samples.
    Samples,
    /// Wall time of the samples during which the garbage collector ran.
    Gc,
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Time.
    Microseconds,
    /// Memory.
    Bytes,
    /// Samples, objects.
    Count,
}

impl Unit {
    /// The name in JSON, and in pprof.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "microseconds",
            Self::Bytes => "bytes",
            Self::Count => "count",
        }
    }
}

impl Metric {
    /// The name on the command line, in JSON and in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Cpu => "cpu",
            Self::MemoryGained => "memory_gained",
            Self::MemoryFreed => "memory_freed",
            Self::Memory => "memory",
            Self::Samples => "samples",
            Self::Gc => "gc",
        }
    }

    /// The unit of the metric.
    pub fn unit(self) -> Unit {
        match self {
            Self::Time | Self::Cpu | Self::Gc => Unit::Microseconds,
            Self::MemoryGained | Self::MemoryFreed | Self::Memory => Unit::Bytes,
            Self::Samples => Unit::Count,
        }
    }
}
