//! Records of profiles: allocation sites, totals, CPU samples and the profiler's settings. The JDK
//! wrote these records up to version 8. Heaps can be read without them.

use super::primitives::{u1, u2, u4, u8};
use crate::bytes::Cursor;
use crate::error::Result;
use crate::input::record::record;
use crate::model::fields::FieldSink;

record! {
    /// Allocations by site: tag 06.
    pub struct AllocSites<'a> {
        /// A bit set: 1 incremental, 2 sorted by allocation, 4 after a collection.
        flags: u16 = u2("the flags of allocation sites") => unsigned,
        /// Bits of a float: sites with a smaller share are left out.
        cutoff: u32 = u4("the cutoff of allocation sites") => with(pass_cutoff),
        /// The totals of all sites.
        totals: HeapSummary = HeapSummary::read() => with(pass_totals),
        sites: Sites<'a> = Sites::read() => with(Sites::pass_to),
    }
}

record! {
    /// The allocations of one class at one site: 25 bytes.
    pub struct AllocSite {
        /// 0, or the tag of an array's elements.
        array_kind: u8 = u1("a site") => unsigned,
        class_serial: u32 = u4("a site") => unsigned,
        /// Serial of the trace.
        trace: u32 = u4("a site") => unsigned,
        live_bytes: u32 = u4("a site") => unsigned,
        live_instances: u32 = u4("a site") => unsigned,
        bytes: u32 = u4("a site") => unsigned,
        instances: u32 = u4("a site") => unsigned,
    }
}

record! {
    /// Samples of the CPU: tag 0d.
    pub struct CpuSamples<'a> {
        samples: u32 = u4("a number of CPU samples") => unsigned,
        traces: TraceSamples<'a> = TraceSamples::read() => with(TraceSamples::pass_to),
    }
}

record! {
    /// The samples of a trace: 8 bytes.
    pub struct TraceSample {
        samples: u32 = u4("a sample") => unsigned,
        /// Serial of the trace.
        trace: u32 = u4("a sample") => unsigned,
    }
}

/// Sites, decoded on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sites<'a> {
    count: u32,
    bytes: &'a [u8],
}

impl<'a> Sites<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let count = u4(cursor, "a number of allocation sites")?;
        Ok(Self {
            count,
            bytes: cursor.take(u64::from(count).saturating_mul(25), "allocation sites")?,
        })
    }

    /// The sites in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = AllocSite> + use<'a> {
        let mut cursor = Cursor::new(self.bytes, 0);
        std::iter::from_fn(move || AllocSite::read(&mut cursor).ok())
    }

    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.unsigned("count", self.count.into());
        if sink.wants_contents() {
            sink.list("sites", self.iter(), |site, sink| site.pass_to(sink));
        }
    }
}

/// Samples by trace, decoded on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSamples<'a> {
    count: u32,
    bytes: &'a [u8],
}

impl<'a> TraceSamples<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let count = u4(cursor, "a number of traces")?;
        Ok(Self { count, bytes: cursor.take(u64::from(count).saturating_mul(8), "CPU samples")? })
    }

    /// The samples in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = TraceSample> + use<'a> {
        let mut cursor = Cursor::new(self.bytes, 0);
        std::iter::from_fn(move || TraceSample::read(&mut cursor).ok())
    }

    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.unsigned("count", self.count.into());
        if sink.wants_contents() {
            sink.list("traces", self.iter(), |trace, sink| trace.pass_to(sink));
        }
    }
}

fn pass_totals<S: FieldSink>(totals: HeapSummary, sink: &mut S) {
    totals.pass_to(sink);
}

fn pass_cutoff<S: FieldSink>(cutoff: u32, sink: &mut S) {
    sink.float("cutoff", f32::from_bits(cutoff).into());
}

record! {
    /// Totals of the heap: tag 07.
    pub struct HeapSummary {
        live_bytes: u32 = u4("the totals of a heap") => unsigned,
        live_instances: u32 = u4("the totals of a heap") => unsigned,
        allocated_bytes: u64 = u8("the totals of a heap") => unsigned,
        allocated_instances: u64 = u8("the totals of a heap") => unsigned,
    }
}

record! {
    /// The profiler's settings: tag 0e.
    pub struct ControlSettings {
        /// A bit set: 1 traces of allocations, 2 samples of the CPU.
        flags: u32 = u4("the profiler's flags") => unsigned,
        depth: u16 = u2("the depth of traces") => unsigned,
    }
}
