//! The benchmarks: what is read how, what it is compared with and how fast it has to be.

use super::floors::{decompress_columns_with_types, decompress_needed_columns, read_in_blocks, walk_dart, walk_go};
use super::inputs::{DART, GO, Input, MOJO, MOJO_LARGE, MVMHEAP};
use dumptool::input::mojo::samples::for_each_sample;
use dumptool::input::mojo::symbols::Lookup;
use dumptool::input::{self, Format, Options, Visitor};
use dumptool::model::fields::Record;
use dumptool::output::austin::{AustinWriter, Dialect};
use dumptool::output::records::RecordFormat;
use std::hint::black_box;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// A benchmark.
pub(crate) struct Bench {
    /// By which it is chosen.
    pub(crate) name: &'static str,
    pub(crate) input: Input,
    pub(crate) run: fn(&[u8]),
    /// In the same process and by turns. The bar is about the first one.
    pub(crate) floors: &'static [Floor],
    pub(crate) bar: Option<Bar>,
    /// Threads of the readers that use several.
    pub(crate) threads: usize,
    /// Run only when its name is given.
    pub(crate) on_request: bool,
}

/// The least work that could be done.
pub(crate) struct Floor {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Path),
}

impl Floor {
    /// A plain reading.
    pub(crate) const READ: Self = Self { name: "read", run: read_in_blocks };
    const ZSTD: Self = Self { name: "zstd", run: decompress_needed_columns };
    const ZSTD_TYPES: Self = Self { name: "zstd+types", run: decompress_columns_with_types };
    const WALK_GO: Self = Self { name: "walk", run: walk_go };
    const WALK_DART: Self = Self { name: "walk", run: walk_dart };
}

/// How fast a benchmark has to be.
pub(crate) enum Bar {
    /// At most that many times the CPU time of the first floor.
    Ratio(f64),
    /// At least that many MB of input in a second of CPU time.
    Rate(f64),
}

impl Bench {
    const fn new(name: &'static str, input: Input, run: fn(&[u8])) -> Self {
        Self { name, input, run, floors: &[Floor::READ], bar: None, threads: 1, on_request: false }
    }

    const fn floors(self, floors: &'static [Floor]) -> Self {
        Self { floors, ..self }
    }

    const fn at_most(self, ratio: f64) -> Self {
        Self { bar: Some(Bar::Ratio(ratio)), ..self }
    }

    const fn at_least(self, rate: f64) -> Self {
        Self { bar: Some(Bar::Rate(rate)), ..self }
    }

    const fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    const fn on_request(self) -> Self {
        Self { on_request: true, ..self }
    }
}

/// All benchmarks.
pub(crate) const BENCHES: &[Bench] = &[
    Bench::new("go-info", GO, |bytes| info(Format::Go, bytes)).floors(&[Floor::READ, Floor::WALK_GO]).at_most(4.0),
    Bench::new("go-check", GO, |bytes| check(Format::Go, bytes)),
    Bench::new("dart-info", DART, |bytes| info(Format::Dart, bytes)).floors(&[Floor::READ, Floor::WALK_DART]).at_least(300.0),
    Bench::new("dart-check", DART, |bytes| check(Format::Dart, bytes)),
    Bench::new("mojo-info", MOJO, |bytes| info(Format::Mojo, bytes)).at_least(300.0),
    Bench::new("mojo-check", MOJO, |bytes| check(Format::Mojo, bytes)),
    Bench::new("mojo-cat-jsonl", MOJO, |bytes| cat(Format::Mojo, bytes, true)).at_least(60.0),
    Bench::new("mojo-cat-text", MOJO, |bytes| cat(Format::Mojo, bytes, false)),
    Bench::new("mojo-convert-austin", MOJO, convert_to_austin),
    Bench::new("mojo-info-large", MOJO_LARGE, |bytes| info(Format::Mojo, bytes)).at_least(300.0).on_request(),
    Bench::new("mvmheap-info", MVMHEAP, |bytes| info(Format::Mvmheap, bytes))
        .floors(&[Floor::ZSTD, Floor::ZSTD_TYPES])
        .at_most(1.25),
    Bench::new("mvmheap-info-2-threads", MVMHEAP, |bytes| info(Format::Mvmheap, bytes)).floors(&[Floor::ZSTD]).threads(2),
    Bench::new("mvmheap-info-quick", MVMHEAP, quick_info).floors(&[]),
    Bench::new("mvmheap-check", MVMHEAP, |bytes| check(Format::Mvmheap, bytes)).floors(&[Floor::ZSTD]),
];

fn info(format: Format, bytes: &[u8]) {
    let info = input::info(format, bytes, Options::default()).expect("the input has a header");
    assert!(info.complete, "{:?}", info.damage);
    black_box(info);
}

fn quick_info(bytes: &[u8]) {
    let options = Options { quick: true, ..Options::default() };
    black_box(input::info(Format::Mvmheap, bytes, options).expect("the input has a header"));
}

fn check(format: Format, bytes: &[u8]) {
    let findings = input::check(format, bytes, Options::default()).expect("the input has a header");
    // A dump that breaks rules would measure how that is reported.
    let broken: Vec<_> = findings.findings.iter().filter(|finding| !finding.ok).collect();
    assert!(findings.damage.is_none() && broken.is_empty(), "{:?} {broken:?}", findings.damage);
}

/// All records into a buffer that is emptied as the command line does it, but written to nowhere.
fn cat(format: Format, bytes: &[u8], json: bool) {
    struct Printer(RecordFormat, Vec<u8>);
    impl Visitor for Printer {
        fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()> {
            self.0.append(offset, record, &mut self.1);
            if self.1.len() >= 64 << 10 {
                black_box(&self.1);
                self.1.clear();
            }
            ControlFlow::Continue(())
        }
    }
    let name_width = format.record_names().iter().map(|name| name.len()).max().unwrap_or(0);
    let mut printer = Printer(RecordFormat { json, name_width, ..RecordFormat::default() }, Vec::new());
    input::for_each_record(format, bytes, Options::default(), &mut printer).expect("the input is intact");
}

fn convert_to_austin(bytes: &[u8]) {
    let mut writer = AustinWriter::new(io::sink(), Dialect::Full);
    let (_, stop) = for_each_sample(bytes, Lookup::Robust, Options::default(), &mut writer);
    assert!(stop.is_none(), "{stop:?}");
    black_box(writer.finish().expect("a sink takes everything"));
}
