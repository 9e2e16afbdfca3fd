//! Records of profiles: allocation sites, totals, CPU samples and the profiler's settings. The JDK wrote them up to
//! version 8; no reader of heaps needs them.

use super::primitives::u4;
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::FieldSink;
use byteorder::{BE, ByteOrder};

/// Allocations by site: tag 06.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocSites<'a> {
    /// 1 incremental, 2 sorted by allocation, 4 after a collection.
    pub flags: u16,
    /// Bits of a float: sites with a smaller share are left out.
    pub cutoff: u32,
    /// All sites together.
    pub totals: HeapSummary,
    /// How many sites follow.
    pub count: u32,
    /// Of [`SITE`] bytes each.
    sites: &'a [u8],
}

/// Bytes of a site: u1 kind of array, then u4 class, trace, live bytes, live instances, bytes, instances.
const SITE: usize = 25;

impl<'a> AllocSites<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let flags = cursor.u16::<BE>("the flags of allocation sites")?;
        let cutoff = u4(cursor, "the cutoff of allocation sites")?;
        let totals = HeapSummary::read(cursor)?;
        let count = u4(cursor, "a number of allocation sites")?;
        let sites = cursor.take(u64::from(count).saturating_mul(SITE as u64), "allocation sites")?;
        Ok(Self { flags, cutoff, totals, count, sites })
    }

    /// The sites.
    pub fn sites(&self) -> impl Iterator<Item = AllocSite> + 'a {
        self.sites.chunks_exact(SITE).map(|site| {
            let number =
                |at: usize| site.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_be_bytes(*bytes));
            AllocSite { trace: number(5), live_bytes: number(9), bytes: number(17), instances: number(21) }
        })
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("flags", self.flags.into());
        sink.float("cutoff", f32::from_bits(self.cutoff).into());
        self.totals.say(sink);
        sink.unsigned("count", self.count.into());
        if sink.wants_contents() {
            sink.list("sites", self.sites.chunks_exact(SITE), |site, sink| {
                let names = ["class_serial", "trace", "live_bytes", "live_instances", "bytes", "instances"];
                let (kind, numbers) = site.split_first().unwrap_or((&0, &[]));
                sink.unsigned("array_kind", (*kind).into());
                for (name, number) in names.into_iter().zip(numbers.chunks_exact(4)) {
                    sink.unsigned(name, BE::read_u32(number).into());
                }
            });
        }
    }
}

/// What was allocated of one class at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocSite {
    /// Serial of the trace.
    pub trace: u32,
    /// Bytes that are still in use.
    pub live_bytes: u32,
    /// Bytes of all.
    pub bytes: u32,
    /// How many.
    pub instances: u32,
}

/// Totals of the heap: tag 07.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as what they are")]
pub struct HeapSummary {
    pub live_bytes: u32,
    pub live_instances: u32,
    pub allocated_bytes: u64,
    pub allocated_instances: u64,
}

impl HeapSummary {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            live_bytes: u4(cursor, "the totals of a heap")?,
            live_instances: u4(cursor, "the totals of a heap")?,
            allocated_bytes: cursor.u64::<BE>("the totals of a heap")?,
            allocated_instances: cursor.u64::<BE>("the totals of a heap")?,
        })
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("live_bytes", self.live_bytes.into());
        sink.unsigned("live_instances", self.live_instances.into());
        sink.unsigned("allocated_bytes", self.allocated_bytes);
        sink.unsigned("allocated_instances", self.allocated_instances);
    }
}

/// Samples of the CPU: tag 0d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSamples<'a> {
    /// All samples.
    pub samples: u32,
    /// How many traces follow.
    pub count: u32,
    /// u4 samples and u4 trace serial for each.
    traces: &'a [u8],
}

impl<'a> CpuSamples<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let samples = u4(cursor, "a number of CPU samples")?;
        let count = u4(cursor, "a number of traces")?;
        Ok(Self { samples, count, traces: cursor.take(u64::from(count) * 8, "CPU samples")? })
    }

    /// Samples and the serial of their trace.
    pub fn traces(&self) -> impl Iterator<Item = (u32, u32)> + 'a {
        self.traces.chunks_exact(8).map(|pair| {
            let (samples, trace) = pair.split_at(4);
            (BE::read_u32(samples), BE::read_u32(trace))
        })
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("samples", self.samples.into());
        sink.unsigned("count", self.count.into());
        if sink.wants_contents() {
            sink.list("traces", self.traces.chunks_exact(8), |trace, sink| {
                for (name, number) in ["samples", "trace"].into_iter().zip(trace.chunks_exact(4)) {
                    sink.unsigned(name, BE::read_u32(number).into());
                }
            });
        }
    }
}

/// What the profiler was told to do: tag 0e.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlSettings {
    /// 1 traces of allocations, 2 samples of the CPU.
    pub flags: u32,
    /// How deep traces are.
    pub depth: u16,
}

impl ControlSettings {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { flags: u4(cursor, "the profiler's flags")?, depth: cursor.u16::<BE>("the depth of traces")? })
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("flags", self.flags.into());
        sink.unsigned("depth", self.depth.into());
    }
}
