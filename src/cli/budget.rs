//! Limits on what a command may use: memory, processor time and output, in proportion to its
//! inputs.
//!
//! A small hostile file can describe endless work. Readers and writers refuse what they can
//! foresee; these limits catch everything else, for every command and target. The kernel counts the
//! memory (Linux) and the processor time (Unix) of the process, and each output is counted where it
//! is written.

use super::args::Common;
use super::interrupt;
use crate::source::Source;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of each input that the fixed part of each budget covers.
const FIRST: u64 = 1 << 20;

/// Memory: 256 MiB, plus 250 bytes for each stored byte beyond the first MiB.
const MEMORY: (u64, u64) = (256 << 20, 250);

/// The lowest memory limit that is set, in bytes.
const LEAST_MEMORY: u64 = 32 << 20;

/// Output: 64 MiB, plus 1000 bytes for each stored byte beyond the first MiB. Real outputs are at
/// most 15 times as large as a profile, or 400 times with STACK_REPEAT.
const OUTPUT: (u64, u64) = (64 << 20, 1000);

/// Processor time: 8 seconds for each MiB or part of one. Debug builds are slower and get more.
const SECONDS: u64 = if cfg!(debug_assertions) { 40 } else { 8 };

/// The budget of one run of a command. It grows with each input that is opened.
#[derive(Default)]
pub(crate) struct Budget {
    /// Stored bytes beyond the first MiB of each input.
    beyond: AtomicU64,
    /// Decompressed bytes, which are mapped from a temporary file.
    mapped: AtomicU64,
    written: AtomicU64,
    process: process::Limits,
}

impl Budget {
    /// Adds the budget that an input earns and limits the process to the sum. A `resident` process
    /// is not limited, because it also runs other commands.
    pub(super) fn earn(&self, source: &Source, common: &Common, resident: bool) {
        let beyond = source.stored_bytes().saturating_sub(FIRST);
        let beyond = self.beyond.fetch_add(beyond, Ordering::Relaxed).saturating_add(beyond);
        let mapped = source.compression().map_or(0, |_| source.bytes().len() as u64);
        let mapped = self.mapped.fetch_add(mapped, Ordering::Relaxed).saturating_add(mapped);
        if resident {
            return;
        }
        let justified = justified(MEMORY, beyond).saturating_sub(mapped);
        // Estimates are compared with the limit as given; the program needs at least LEAST_MEMORY.
        let memory = common.max_memory.unwrap_or(justified).max(LEAST_MEMORY);
        let parts = beyond.div_ceil(FIRST).saturating_add(1);
        // An SQL statement stops itself at `--timeout` with its own message, hence one second more.
        let requested = common.timeout.map(|seconds| seconds.saturating_add(1));
        let seconds = requested.unwrap_or(SECONDS.saturating_mul(parts));
        self.process.set(memory, seconds);
    }

    /// Counts output before it is written. Fails with [`OutOfProportion`] if it is too much for the
    /// inputs.
    fn spend(&self, bytes: usize) -> io::Result<()> {
        let most = justified(OUTPUT, self.beyond.load(Ordering::Relaxed));
        let written = self.written.fetch_add(bytes as u64, Ordering::Relaxed);
        if written.saturating_add(bytes as u64) > most {
            return Err(io::Error::other(OutOfProportion { most }));
        }
        Ok(())
    }

    pub(crate) fn counting<W: Write>(&self, out: W) -> Counting<'_, W> {
        Counting { budget: self, out }
    }
}

/// The memory that an input of so many stored bytes justifies.
pub(super) fn justified_memory(stored: u64) -> u64 {
    justified(MEMORY, stored.saturating_sub(FIRST))
}

fn justified((fixed, ratio): (u64, u64), beyond: u64) -> u64 {
    beyond.saturating_mul(ratio).saturating_add(fixed)
}

/// A writer that counts its bytes toward the budget.
pub(crate) struct Counting<'b, W> {
    budget: &'b Budget,
    out: W,
}

impl<W: Write> Write for Counting<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.budget.spend(bytes.len())?;
        let written = self.out.write(bytes)?;
        self.budget.written.fetch_sub((bytes.len() - written) as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The output is larger than the inputs justify.
#[derive(Debug)]
pub(super) struct OutOfProportion {
    most: u64,
}

impl OutOfProportion {
    /// Returns the [`OutOfProportion`] that an I/O error wraps.
    pub(super) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for OutOfProportion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the output would exceed {} MiB, too much for the size of the input",
            self.most >> 20
        )
    }
}

impl std::error::Error for OutOfProportion {}

#[cfg(unix)]
mod process {
    use super::interrupt;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use rustix::time::{ClockId, clock_gettime};
    use std::sync::OnceLock;

    /// Limits that the kernel enforces for the process.
    #[derive(Default)]
    pub(super) struct Limits {
        /// The limits at the start: bytes of data, and seconds of processor time.
        given: OnceLock<(Rlimit, Rlimit)>,
        /// Bytes of data at the start.
        data: OnceLock<u64>,
    }

    impl Limits {
        pub(super) fn set(&self, memory: u64, seconds: u64) {
            // The process of the unit tests runs many commands and outlives each of them.
            if cfg!(test) {
                return;
            }
            let given = || (getrlimit(Resource::Data), getrlimit(Resource::Cpu));
            let (data, cpu) = self.given.get_or_init(given);
            let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec.unsigned_abs();
            let end = used.saturating_add(seconds);
            if lower(Resource::Cpu, cpu, end) {
                interrupt::limit_seconds(seconds, end);
            }
            let most = self.data.get_or_init(data_bytes).saturating_add(memory);
            // If the shell allows less address space (`ulimit -v`), allocations fail at that limit.
            let space = getrlimit(Resource::As).current;
            if cfg!(target_os = "linux")
                && lower(Resource::Data, data, most)
                && space.is_none_or(|space| most < space)
            {
                interrupt::limit_memory(memory);
            }
        }
    }

    /// Sets a limit unless `given` is already lower. Returns whether the limit was set.
    fn lower(resource: Resource, given: &Rlimit, limit: u64) -> bool {
        let least = [given.current, given.maximum].into_iter().flatten().min();
        least.is_none_or(|least| limit < least)
            && setrlimit(resource, Rlimit { current: Some(limit), ..*given }).is_ok()
    }

    /// Data bytes that the kernel already counts for the process: column 6 of `statm`, in pages.
    /// Without `/proc`, the usual size of the program with a few threads.
    fn data_bytes() -> u64 {
        const USUAL: u64 = 64 << 20;
        let pages = std::fs::read_to_string("/proc/self/statm")
            .ok()
            .and_then(|text| text.split(' ').nth(5)?.parse::<u64>().ok());
        pages.map_or(USUAL, |pages| pages.saturating_mul(rustix::param::page_size() as u64))
    }
}

#[cfg(not(unix))]
mod process {
    /// Stands in for the limits on systems that have none.
    #[derive(Default)]
    pub(super) struct Limits;

    impl Limits {
        pub(super) fn set(&self, _memory: u64, _seconds: u64) {}
    }
}
