//! Events, and what each records with its samples.

use super::words::Words;
use crate::error::Result;

pub(super) mod sample_type {
    pub(in super::super) const IP: u64 = 1;
    pub(in super::super) const TID: u64 = 1 << 1;
    pub(in super::super) const TIME: u64 = 1 << 2;
    pub(in super::super) const ADDR: u64 = 1 << 3;
    pub(in super::super) const READ: u64 = 1 << 4;
    pub(in super::super) const CALLCHAIN: u64 = 1 << 5;
    pub(in super::super) const ID: u64 = 1 << 6;
    pub(in super::super) const CPU: u64 = 1 << 7;
    pub(in super::super) const PERIOD: u64 = 1 << 8;
    pub(in super::super) const STREAM_ID: u64 = 1 << 9;
    pub(in super::super) const RAW: u64 = 1 << 10;
    pub(in super::super) const BRANCH_STACK: u64 = 1 << 11;
    pub(in super::super) const REGS_USER: u64 = 1 << 12;
    pub(in super::super) const STACK_USER: u64 = 1 << 13;
    pub(in super::super) const IDENTIFIER: u64 = 1 << 16;
}

/// `PERF_SAMPLE_BRANCH_CALL_STACK` and `PERF_SAMPLE_BRANCH_HW_INDEX`.
const CALL_STACK: u64 = 1 << 11;
const HW_INDEX: u64 = 1 << 17;

/// An event that was recorded (`perf_event_attr`).
#[derive(Clone, Debug, Default)]
pub(super) struct Attribute {
    pub(super) kind: u32,
    pub(super) config: u64,
    /// The period of every sample, unless `is_frequency`.
    pub(super) period: u64,
    pub(super) is_frequency: bool,
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    pub(super) regs_user: u64,
    pub(super) has_sample_id_all: bool,
    pub(super) has_call_stack: bool,
    pub(super) has_hw_index: bool,
    /// The name of the event; empty if the file does not state it.
    pub(super) name: String,
    pub(super) ids: Vec<u64>,
}

impl Attribute {
    /// Reads the fields that matter; attributes of older versions are shorter.
    pub(super) fn read(words: &mut Words<'_>) -> Result<Self> {
        let kind = words.u32("the type of an event")?;
        words.u32("the size of an event's attributes")?;
        let mut next = || words.u64("the attributes of an event");
        let [config, period, sample_type, read_format, flags] =
            [next()?, next()?, next()?, next()?, next()?];
        // Fields of bits begin at the other end on big-endian machines.
        let flags = if words.is_big { flags.reverse_bits() } else { flags };
        let mut later = || words.u64("").unwrap_or(0);
        let (_, _, _) = (later(), later(), later());
        let (branches, regs_user) = (later(), later());
        Ok(Self {
            kind,
            config,
            period,
            is_frequency: flags >> 10 & 1 == 1,
            sample_type,
            read_format,
            regs_user,
            has_sample_id_all: flags >> 18 & 1 == 1,
            has_call_stack: branches & CALL_STACK != 0,
            has_hw_index: branches & HW_INDEX != 0,
            ..Self::default()
        })
    }

    #[inline]
    pub(super) fn has(&self, bit: u64) -> bool {
        self.sample_type & bit != 0
    }

    /// The period of a sample that does not state it.
    pub(super) fn fixed_period(&self) -> u64 {
        if self.is_frequency { 1 } else { self.period.max(1) }
    }

    /// The name that the file gives, or that of the kernel's header.
    pub(super) fn title(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        const HARDWARE: [&str; 10] = [
            "cycles",
            "instructions",
            "cache-references",
            "cache-misses",
            "branches",
            "branch-misses",
            "bus-cycles",
            "stalled-cycles-frontend",
            "stalled-cycles-backend",
            "ref-cycles",
        ];
        const SOFTWARE: [&str; 11] = [
            "cpu-clock",
            "task-clock",
            "page-faults",
            "context-switches",
            "cpu-migrations",
            "minor-faults",
            "major-faults",
            "alignment-faults",
            "emulation-faults",
            "dummy",
            "bpf-output",
        ];
        let names: &[&str] = match self.kind {
            0 => &HARDWARE,
            1 => &SOFTWARE,
            _ => &[],
        };
        let known = usize::try_from(self.config).ok().and_then(|number| names.get(number));
        known.map_or_else(
            || format!("event-{}-{:x}", self.kind, self.config),
            |name| (*name).to_owned(),
        )
    }

    /// The position of the event's id in the body of a sample, and in bytes before the end of other
    /// records.
    pub(super) fn id_place(&self) -> (Option<usize>, Option<usize>) {
        use sample_type::{ADDR, CPU, ID, IDENTIFIER, IP, STREAM_ID, TID, TIME};
        let words =
            |bits: &[u64]| bits.iter().filter(|bit| self.has(**bit)).count().saturating_mul(8);
        if self.has(IDENTIFIER) {
            return (Some(0), Some(8));
        }
        let place = (words(&[IP, TID, TIME, ADDR]), words(&[ID, STREAM_ID, CPU]));
        if self.has(ID) { (Some(place.0), Some(place.1)) } else { (None, None) }
    }

    /// The position of the time in a record that is not a sample, in bytes before its end.
    pub(super) fn time_before_end(&self) -> Option<usize> {
        use sample_type::{CPU, ID, IDENTIFIER, STREAM_ID, TIME};
        let after = [TIME, ID, STREAM_ID, CPU, IDENTIFIER];
        let words = after.iter().filter(|bit| self.has(**bit)).count();
        (self.has_sample_id_all && self.has(TIME)).then(|| words.saturating_mul(8))
    }
}
