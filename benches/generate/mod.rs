//! Writes large synthetic dumps that look like real ones to a reader: the same records in the same
//! order, with numbers of the usual lengths and the usual number of fields.
//!
//! Every generator is deterministic, so that figures of two days are about the same bytes.

pub(crate) mod austin;
pub(crate) mod dart;
pub(crate) mod folded;
pub(crate) mod generation;
pub(crate) mod go;
pub(crate) mod heapsnapshot;
pub(crate) mod hprof;
pub(crate) mod mojo;
pub(crate) mod mvmheap;
pub(crate) mod perf_script;
pub(crate) mod pmat;
pub(crate) mod pprof;
pub(crate) mod ruby;
pub(crate) mod speedscope;
pub(crate) mod v8profile;

use std::io::{self, Write};

/// A small, seeded generator of numbers (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number below a bound that is mostly a small one, as the types of objects are mostly a few.
    pub(crate) fn skewed(&mut self, bound: u64) -> u64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        (unit.powi(4) * bound as f64) as u64
    }

    /// Yes in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Bytes that go to a file in large pieces.
pub(crate) struct Out<'w> {
    pub(crate) bytes: Vec<u8>,
    file: &'w mut dyn Write,
}

impl<'w> Out<'w> {
    /// Nothing yet.
    pub(crate) fn new(file: &'w mut dyn Write) -> Self {
        Self { bytes: Vec::with_capacity(2 << 20), file }
    }

    /// An unsigned LEB128 number.
    pub(crate) fn uleb(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Several of them.
    pub(crate) fn ulebs(&mut self, values: impl IntoIterator<Item = u64>) {
        values.into_iter().for_each(|value| self.uleb(value));
    }

    /// A length and the bytes.
    pub(crate) fn string(&mut self, text: impl AsRef<[u8]>) {
        self.uleb(text.as_ref().len() as u64);
        self.bytes.extend_from_slice(text.as_ref());
    }

    /// Writes when there is enough to write.
    pub(crate) fn spill(&mut self) -> io::Result<()> {
        if self.bytes.len() >= 1 << 20 { self.flush() } else { Ok(()) }
    }

    /// Writes everything.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}
