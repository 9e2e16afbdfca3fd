//! What has to hold for any bytes. The fuzz targets give it what libFuzzer makes up; the project's tests give it damaged
//! fixtures and what was once found (`tests/damage.rs`).
//!
//! Each function returns, without a panic and within the memory that the input's size justifies, or a property is broken.

#[allow(dead_code, unreachable_pub, missing_docs, reason = "the builder of the project's tests, of which a part is used")]
#[path = "../../tests/support/mvmheap.rs"]
mod mvmheap;

use dumptool::analysis::{dominators::Dominators, graph::Graph, live, referrers::Referrers, retained::Retained};
use dumptool::error::Error;
use dumptool::input::load::{LoadOptions, Loaded, RootScan, SnapshotChoice};
use dumptool::input::{self, Format, Kind, Options, Visitor};
use dumptool::model::fields::Record;
use dumptool::output::hprof;
use dumptool::output::records::RecordFormat;
use dumptool::source::{Limits, Source};
use std::io::{Cursor, Read, Write};
use std::ops::ControlFlow;

/// `info`, `cat` and `check`: every error tells where it is, and all three agree on whether there is damage.
pub fn read(format: Format, bytes: &[u8]) {
    let place = |error: &Error| {
        let offset = error.offset().unwrap_or_else(|| panic!("no offset: {error}"));
        assert!(offset <= bytes.len() as u64, "{error} lies behind the end");
    };
    let mut lines = Lines::default();
    if let Err(error) = input::for_each_record(format, bytes, Options::default(), &mut lines) {
        place(&error);
    }
    let _ = input::info(format, bytes, Options { quick: true, ..Options::default() });
    match input::info(format, bytes, Options::default()) {
        Err(error) => place(&error),
        Ok(info) => info.damage.iter().for_each(|damage| place(&damage.error)),
    }
    match input::check(format, bytes, Options::default()) {
        Err(error) => place(&error),
        Ok(findings) => findings.damage.iter().for_each(|damage| place(&damage.error)),
    }
}

/// Formats every record and throws it away.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Visitor for Lines {
    fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()> {
        for json in [false, true] {
            self.0.clear();
            RecordFormat { json, contents: true, ..RecordFormat::default() }.append(offset, record, &mut self.0);
            assert!(std::str::from_utf8(&self.0).is_ok(), "a line is UTF-8");
        }
        ControlFlow::Continue(())
    }
}

/// Loads a heap in every way there is, and asks every analysis about it.
pub fn load(format: Format, bytes: &[u8]) {
    assert_eq!(format.kind(), Kind::Heap);
    for (roots, snapshot) in [(RootScan::Default, SnapshotChoice::Last), (RootScan::Conservative, SnapshotChoice::Number(0))] {
        let options = LoadOptions { roots, snapshot, ..LoadOptions::default() };
        let Ok(Loaded { heap, .. }) = input::load(format, bytes, options) else { continue };
        heap.check().expect("the model's invariants hold");
        let graph = Graph::of(&heap);
        let (alive, dominators) = (live::live(&graph), Dominators::of(&graph));
        let retained = Retained::of(&heap, &dominators);
        let referrers = Referrers::of(&heap.references);
        assert_eq!(alive.len(), dominators.len());
        let mut backwards = 0;
        for object in heap.objects() {
            let _ = heap.value(object);
            assert_eq!(alive.contains(object), dominators.is_live(object));
            let own = heap.shallow.get(object.index()) + heap.external(object);
            assert!(!dominators.is_live(object) || retained.get(&dominators, object) >= own);
            assert_eq!(heap.find(&heap.id(object)), Some(object), "{} finds its object", heap.id(object));
            backwards += referrers.of_object(object).len();
        }
        assert_eq!(backwards, heap.references.len());
    }
}

/// Writes a heap as hprof and reads it again: sound, and with as many objects as the report says.
pub fn convert(format: Format, bytes: &[u8]) {
    let Ok(Loaded { heap, .. }) = input::load(format, bytes, LoadOptions::default()) else { return };
    // Memory outside of the heap is written as arrays of its size: sound, but too much for a check in memory.
    if heap.external.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes)) > 16 << 20 {
        return;
    }
    for (ids, root_unreachable) in [(hprof::IdKind::Compact, true), (hprof::IdKind::Address, false)] {
        let mut out = Vec::new();
        let options = hprof::Options { ids, root_unreachable };
        let report = hprof::write(&heap, &options, &mut out).expect("memory takes everything");
        let info = input::info(Format::Hprof, &out, Options::default()).expect("our own output is known");
        assert!(info.damage.is_none(), "{:?}", info.damage);
        let again = input::load(Format::Hprof, &out, LoadOptions::default()).expect("our own output is loaded");
        assert!(again.damage.is_none() && again.heap.warnings.iter().all(|warning| !warning.damage), "{:?}", again.heap.warnings);
        assert!(again.heap.len() as u64 >= report.instances);
    }
}

/// The same bytes, whether they come whole, in pieces, or compressed in one or several parts, are the same source.
pub fn split(bytes: &[u8]) {
    let Some((&seed, bytes)) = bytes.split_first() else { return };
    let cut = bytes.len() * usize::from(seed) / 255;
    let (head, tail) = bytes.split_at(cut);
    let gzip = |part: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(part).and_then(|()| encoder.finish()).expect("memory takes everything")
    };
    let zstd = |part: &[u8]| zstd::encode_all(part, 1).expect("memory takes everything");
    let open = |stream: Vec<u8>| Source::from_stream(Cursor::new(stream), Limits::default());
    let Ok(plain) = open(bytes.to_vec()) else { return };
    if plain.compression().is_some() || plain.vm_service_frames() > 0 {
        return;
    }
    let mut pieces = Vec::new();
    let mut stream = head.chain(tail);
    stream.read_to_end(&mut pieces).expect("memory is read");
    for stream in [pieces, gzip(bytes), [gzip(head), gzip(tail)].concat(), zstd(bytes), [zstd(head), zstd(tail)].concat()] {
        if bytes.is_empty() {
            return;
        }
        let source = open(stream).expect("what was compressed here opens");
        assert!(source.bytes() == plain.bytes() && source.damage().is_none());
    }
}

/// Loads a profile and writes it in every form.
pub fn profile(format: Format, bytes: &[u8]) {
    assert_eq!(format.kind(), Kind::Profile);
    read(format, bytes);
}

/// As [`read`], [`load`] and [`convert`], with the rows of a MoarVM snapshot taken from the bytes: in the file they are compressed,
/// and changed bytes rarely get past zstd.
pub fn rows(bytes: &[u8]) {
    let mut world = mvmheap::world();
    world.rows.clear();
    let mut numbers = bytes.iter().map(|byte| u64::from(*byte));
    while let (Some(kind), Some(size), Some(tofi), Some(unmanaged), Some(count)) =
        (numbers.next(), numbers.next(), numbers.next(), numbers.next(), numbers.next())
    {
        let mut wide = || Some((numbers.next()? << 8) | numbers.next()?);
        let references: Vec<_> = (0..count % 8).map_while(|_| Some((wide()?, wide()?))).collect();
        // Large values come as well: a byte of 255 is the largest number that fits.
        let unmanaged = if unmanaged == 255 { u64::MAX } else { unmanaged << (unmanaged % 40) };
        world.rows.push(mvmheap::row(kind as u16, size as u16, tofi as u32, unmanaged, &references));
    }
    let file = mvmheap::Writer::new().snapshot(&world).close();
    for check in [read, load, convert] {
        check(Format::Mvmheap, &file);
    }
}
