//! What has to hold for any bytes. The fuzz targets give it what libFuzzer makes up; the project's
//! tests give it damaged fixtures and what was once found (`tests/it/damage.rs`).
//!
//! Each function returns, without a panic and within the memory that the input's size justifies, or
//! a property is broken.

#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "the builder of the project's tests, of which a part is used"
)]
#[path = "../../tests/support/mvmheap.rs"]
mod mvmheap;

mod executable;
#[path = "../../tests/support/go.rs"]
mod go;
#[path = "../../tests/support/go_program.rs"]
mod go_program;
mod heap;
mod heap_outputs;
mod profile;
mod stacks;

use executable::executable;
pub use executable::executables;

use dumptool::error::Error;
use dumptool::input::json::{Numbers, Scanner, Token};
use dumptool::input::load::{LoadOptions, Loaded, RootScan, SnapshotChoice};
use dumptool::input::{self, Format, Kind, ReadOptions, Visitor};
use dumptool::model::fields::Record;
use dumptool::output::records::RecordFormat;
use dumptool::source::{Limits, Source};
use std::io::{Cursor, Read, Write};
use std::ops::ControlFlow;

/// A fuzz target: a property of any bytes, and its name.
pub struct Target {
    /// `read_go`, `split` …; findings are in folders of this name.
    pub name: String,
    property: Property,
}

enum Property {
    OfFormat(fn(Format, &[u8]), Format),
    OfBytes(fn(&[u8])),
}

impl Target {
    /// Returns, or panics if the bytes break the property.
    pub fn test(&self, bytes: &[u8]) {
        match self.property {
            Property::OfFormat(property, format) => property(format, bytes),
            Property::OfBytes(property) => property(bytes),
        }
    }
}

/// All fuzz targets: each property of each format that has it, and those without a format.
pub fn targets() -> Vec<Target> {
    let mut targets = Vec::new();
    let mut add = |name: String, property| targets.push(Target { name, property });
    for format in input::FORMATS {
        let mut add = |verb, property| {
            add(format!("{verb}_{}", format.name()), Property::OfFormat(property, format));
        };
        add("read", read);
        if format.kind() == Kind::Heap {
            add("load", load);
            add("convert", convert);
        }
        // hprof files may be profiles as well.
        if format.kind() == Kind::Profile || format == Format::Hprof {
            add("profile", profile);
        }
    }
    add("json".into(), Property::OfBytes(json));
    add("load_exe".into(), Property::OfBytes(executable));
    add("rows_mvmheap".into(), Property::OfBytes(rows));
    add("split".into(), Property::OfBytes(split));
    targets
}

/// `info`, `cat` and `check`: every error tells where it is, and all three agree on whether there
/// is damage.
pub fn read(format: Format, bytes: &[u8]) {
    let place = |error: &Error| {
        let offset = error.offset().unwrap_or_else(|| panic!("no offset: {error}"));
        assert!(offset <= bytes.len() as u64, "{error} lies behind the end");
    };
    let mut lines = Lines::default();
    if let Err(error) = input::for_each_record(format, bytes, ReadOptions::default(), &mut lines) {
        place(&error);
    }
    let _ = input::info(format, bytes, ReadOptions::default().quick(true));
    match input::info(format, bytes, ReadOptions::default()) {
        Err(error) => place(&error),
        Ok(info) => info.damage.iter().for_each(|damage| place(&damage.error)),
    }
    match input::check(format, bytes, ReadOptions::default()) {
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
            RecordFormat { json, contents: true, ..RecordFormat::default() }.append(
                offset,
                record,
                &mut self.0,
            );
            assert!(std::str::from_utf8(&self.0).is_ok(), "a line is UTF-8");
        }
        ControlFlow::Continue(())
    }
}

/// Loads a heap in every way there is, and asks every analysis about it.
pub fn load(format: Format, bytes: &[u8]) {
    assert_eq!(format.kind(), Kind::Heap);
    for (roots, snapshot) in [
        (RootScan::Default, SnapshotChoice::Last),
        (RootScan::Conservative, SnapshotChoice::Number(0)),
    ] {
        let options = LoadOptions::default().roots(roots).snapshot(snapshot);
        if let Ok(Loaded { heap, .. }) = input::load(format, bytes, options) {
            heap::model(&heap);
        }
    }
    let Ok(Loaded { heap, damage, .. }) = input::load(format, bytes, LoadOptions::default()) else {
        return;
    };
    heap::analyses(format, bytes, &heap);
    let counted = input::histogram(format, bytes, LoadOptions::default())
        .expect("what can be loaded can be counted");
    if damage.is_none() && counted.damage.is_none() && heap.warnings().is_empty() {
        assert_eq!(counted.total.count, heap.len() as u64, "counting finds what loading finds");
    }
}

/// Writes a heap in every form and reads what can be read again.
pub fn convert(format: Format, bytes: &[u8]) {
    if let Ok(loaded) = input::load(format, bytes, LoadOptions::default()) {
        heap_outputs::all(&loaded, bytes);
    }
}

/// The most bytes of output that are in proportion to an input: so many for each byte, and some for
/// any input.
pub(crate) fn most(input: &[u8]) -> usize {
    const FREE: usize = 16 << 20;
    const PER_BYTE: usize = 1000;
    FREE + PER_BYTE * input.len()
}

/// Output is in proportion to the input. That is for outputs in which a thing of the input stands
/// once or has a fixed size; those that write out each stack have a [`stacks::Budget`].
pub(crate) fn in_proportion(out: &[u8], input: &[u8]) {
    let most = most(input);
    assert!(out.len() <= most, "{} bytes of output for {} of input", out.len(), input.len());
}

/// The same bytes, whether they come whole, in pieces, or compressed in one or several parts, are
/// the same source.
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
    for stream in [
        pieces,
        gzip(bytes),
        [gzip(head), gzip(tail)].concat(),
        zstd(bytes),
        [zstd(head), zstd(tail)].concat(),
    ] {
        if bytes.is_empty() {
            return;
        }
        let source = open(stream).expect("what was compressed here opens");
        assert!(source.bytes() == plain.bytes() && source.damage().is_none());
    }
}

/// The JSON scanner: it never panics, errors lie inside the input, skipping a document ends where
/// reading its tokens does, and what serde_json reads, it reads.
pub fn json(bytes: &[u8]) {
    let mut tokens = Scanner::new(bytes, 0);
    let read = loop {
        match tokens.token() {
            Ok(None) => break Ok(()),
            Ok(Some(Token::Key(text) | Token::String(text))) => drop(text.decode()),
            Ok(Some(Token::Number(number))) => {
                _ = (number.unsigned(), number.signed(), number.float())
            }
            Ok(Some(_)) => {}
            Err(error) => break Err(error),
        }
    };
    let mut skipped = Scanner::new(bytes, 0);
    match (read, skipped.skip()) {
        (Ok(()), Ok(())) => assert_eq!(tokens.offset(), skipped.offset()),
        (Err(a), Err(b)) => {
            assert_eq!(a.to_string(), b.to_string());
            assert!(a.offset().is_some_and(|offset| offset <= bytes.len() as u64), "{a}");
            assert!(serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err(), "{a}");
        }
        (a, b) => panic!("{a:?} {b:?}"),
    }
    for cut in [false, true] {
        let mut numbers = Numbers::new(bytes, 0, cut);
        while let Ok(Some(_)) = numbers.unsigned() {}
        while let Ok(Some(_)) = numbers.float() {}
        assert!(numbers.offset() <= bytes.len() as u64);
    }
}

/// Loads a profile, asks every analysis about it, writes it in every form and reads what can be
/// read again.
pub fn profile(format: Format, bytes: &[u8]) {
    profile::all(format, bytes);
}

/// As [`read`], [`load`] and [`convert`], with the rows of a MoarVM snapshot taken from the bytes:
/// in the file they are compressed, and changed bytes rarely get past zstd.
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
        world.rows.push(mvmheap::row(
            kind as u16,
            size as u16,
            tofi as u32,
            unmanaged,
            &references,
        ));
    }
    let file = mvmheap::Writer::new().snapshot(&world).close();
    for check in [read, load, convert] {
        check(Format::Mvmheap, &file);
    }
}
