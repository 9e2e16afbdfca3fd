//! Samples.

use super::attributes::{Attribute, sample_type};
use super::walk::Record;
use super::words::{U64s, Words};
use crate::error::Result;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample<'r> {
    pub(super) ip: u64,
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
    pub(super) period: u64,
    /// Addresses and markers, innermost first.
    pub(super) chain: U64s<'r>,
    /// Branches of three numbers, the last one first: from, to, flags.
    pub(super) branches: U64s<'r>,
    /// The registers of the program, those that the event records.
    pub(super) registers: U64s<'r>,
    /// Bytes of the stack that were recorded for unwinding.
    pub(super) stack: &'r [u8],
}

/// Registers of a program of 64 bits.
const ABI_64: u64 = 2;

impl<'r> Sample<'r> {
    /// Reads a sample of an event. Fails if the sample is shorter than it states.
    #[inline]
    pub(super) fn read(record: &Record<'r>, event: &Attribute) -> Result<Self> {
        use sample_type as has;
        let mut words = record.words();
        let mut sample = Self { pid: -1, tid: -1, period: event.fixed_period(), ..Self::default() };
        skip(&mut words, event, has::IDENTIFIER)?;
        if event.has(has::IP) {
            sample.ip = words.u64("the address of a sample")?;
        }
        if event.has(has::TID) {
            sample.pid = words.u32("the process of a sample")? as i32;
            sample.tid = words.u32("the thread of a sample")? as i32;
        }
        if event.has(has::TIME) {
            sample.time = Some(words.u64("the time of a sample")?);
        }
        for bit in [has::ADDR, has::ID, has::STREAM_ID] {
            skip(&mut words, event, bit)?;
        }
        if event.has(has::CPU) {
            sample.cpu = Some(words.u32("the processor of a sample")?);
            words.u32("the processor of a sample")?;
        }
        if event.has(has::PERIOD) {
            sample.period = words.u64("the period of a sample")?;
        }
        if event.has(has::READ) {
            skip_counts(&mut words, event.read_format)?;
        }
        if event.has(has::CALLCHAIN) {
            sample.chain = words.list("the stack of a sample")?;
        }
        sample.read_rest(words, event)?;
        Ok(sample)
    }

    fn read_rest(&mut self, mut words: Words<'r>, event: &Attribute) -> Result<()> {
        use sample_type as has;
        if event.has(has::RAW) {
            let size = words.u32("the data of a sample")?;
            words.take(size.into(), "the data of a sample")?;
        }
        if event.has(has::BRANCH_STACK) {
            let count = words.u64("the branches of a sample")?;
            if event.has_hw_index {
                words.u64("the branches of a sample")?;
            }
            let bytes = words.take(count.saturating_mul(24), "the branches of a sample")?;
            self.branches = U64s::of(bytes, words.is_big);
        }
        if event.has(has::REGS_USER) {
            let abi = words.u64("the registers of a sample")?;
            if abi != 0 {
                let count = u64::from(event.regs_user.count_ones());
                let bytes = words.take(count.saturating_mul(8), "the registers of a sample")?;
                if abi == ABI_64 {
                    self.registers = U64s::of(bytes, words.is_big);
                }
            }
        }
        if event.has(has::STACK_USER) {
            let size = words.u64("the size of a sample's stack")?;
            let bytes = words.take(size, "the stack of a sample")?;
            if size > 0 {
                let used = words.u64("the size of a sample's stack")?.min(size);
                self.stack = usize::try_from(used)
                    .ok()
                    .and_then(|used| bytes.get(..used))
                    .unwrap_or_default();
            }
        }
        Ok(())
    }
}

#[inline]
fn skip(words: &mut Words<'_>, event: &Attribute, bit: u64) -> Result<()> {
    if event.has(bit) {
        words.u64("a number of a sample")?;
    }
    Ok(())
}

/// The numbers of counters: one, or those of a group.
fn skip_counts(words: &mut Words<'_>, format: u64) -> Result<()> {
    const WHAT: &str = "the counters of a sample";
    const GROUP: u64 = 8;
    let count = |bits: u64| u64::from((format & bits).count_ones());
    let (times, each) = (count(1 | 2), count(4 | 16).saturating_add(1));
    let values = if format & GROUP != 0 { words.u64(WHAT)? } else { 1 };
    let numbers = values.saturating_mul(each).saturating_add(times);
    words.take(numbers.saturating_mul(8), WHAT).map(|_| ())
}
