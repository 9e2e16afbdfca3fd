//! The state that the events of a sample set besides its frames.

use super::records::{Event, Varint};

/// The metrics and marks of the sample whose events are being read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SampleState {
    pub(super) time: Option<Varint>,
    pub(super) memory: Option<Varint>,
    pub(super) idle: bool,
    pub(super) gc: bool,
    repeated: bool,
}

impl SampleState {
    /// Notes an event that is not a frame.
    #[inline]
    pub(super) fn note(&mut self, event: &Event<'_>) {
        match *event {
            Event::Time { microseconds } => self.time = Some(microseconds),
            Event::Memory { bytes } => self.memory = Some(bytes),
            Event::Idle => self.idle = true,
            Event::Gc => self.gc = true,
            _ => {}
        }
    }

    /// Whether there is a metric, which comes last: metadata or damage after it are not inside the
    /// sample.
    pub(super) fn has_metric(&self) -> bool {
        self.time.is_some() || self.memory.is_some()
    }

    /// Whether a STACK_REPEAT counts. A second one in a sample would double the stack each time, so
    /// it is skipped.
    pub(super) fn begins_repeat(&mut self) -> bool {
        !std::mem::replace(&mut self.repeated, true)
    }
}
