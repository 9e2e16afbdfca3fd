//! The benchmarks: what is read how, what it is compared with and how fast it has to be.

use super::floors::{
    decompress_columns_with_types, decompress_last_snapshot, decompress_needed_columns,
    load_and_write, load_on_one_thread, read_in_blocks, scan_numbers, walk_dart, walk_go,
};
use super::inputs::{
    AUSTIN, CPUPROFILE, DART, FOLDED, GO, HEAPPROFILE, HEAPSNAPSHOT, HPROF, Input, MOJO,
    MOJO_LARGE, MOJO_RANDOM, MVMHEAP, PERF_SCRIPT, PMAT, PPROF, RUBY, SPEEDSCOPE, create_converted,
};
use super::loading::{CONVERTED, Found, load};
use dumptool::analysis::profile::{FrameBy, Selected, TopBy, top as top_of};
use dumptool::input::load::{LoadOptions, ProfileOptions};
use dumptool::input::mojo::samples::for_each_sample;
use dumptool::input::mojo::symbols::Lookup;
use dumptool::input::{self, Format, ReadOptions, Visitor};
use dumptool::model::fields::Record;
use dumptool::model::profile::Profile;
use dumptool::model::stacks::{Selection, WeightedStacks, of_profile};
use dumptool::output::austin::{AustinWriter, Dialect};
use dumptool::output::records::RecordFormat;
use dumptool::output::{folded, hprof, pprof, speedscope};
use dumptool::source::Source;
use std::hint::black_box;
use std::io::{self, BufWriter, Seek, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

/// A benchmark.
pub(crate) struct Bench {
    /// By which it is chosen.
    pub(crate) name: &'static str,
    pub(crate) input: Input,
    pub(crate) run: fn(&[u8]) -> Found,
    /// In the same process and by turns. Bars are about the first one.
    pub(crate) floors: &'static [Floor],
    pub(crate) bars: &'static [Bar],
    /// Threads of the readers that use several.
    pub(crate) threads: usize,
    /// Run only when its name is given.
    pub(crate) on_request: bool,
}

/// The least work that could be done.
pub(crate) struct Floor {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Path),
    pub(crate) clock: Clock,
}

/// Which time is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    Cpu,
    Wall,
}

impl Floor {
    /// A plain reading.
    pub(crate) const READ: Self = Self::new("read", read_in_blocks);
    const ZSTD: Self = Self::new("zstd", decompress_needed_columns);
    const ZSTD_TYPES: Self = Self::new("zstd+types", decompress_columns_with_types);
    const ZSTD_SNAPSHOT: Self = Self::new("zstd", decompress_last_snapshot);
    const NUMBERS: Self = Self::new("numbers", scan_numbers);
    const WALK_GO: Self = Self::new("walk", walk_go);
    const WALK_DART: Self = Self::new("walk", walk_dart);
    const LOAD_WRITE_GO: Self = Self::new("load+write", |path| load_and_write(Format::Go, path));
    const LOAD_WRITE_DART: Self =
        Self::new("load+write", |path| load_and_write(Format::Dart, path));
    const LOAD_WRITE_MVMHEAP: Self =
        Self::new("load+write", |path| load_and_write(Format::Mvmheap, path));
    const INFO_GO: Self = Self::new("info", |path| info_of(Format::Go, path));
    const INFO_DART: Self = Self::new("info", |path| info_of(Format::Dart, path));
    const INFO_MVMHEAP: Self = Self::new("info", |path| info_of(Format::Mvmheap, path));
    const INFO_HPROF: Self = Self::new("info", |path| info_of(Format::Hprof, path));
    const ONE_THREAD_GO: Self =
        Self::wall("wall of 1", |path| load_on_one_thread(Format::Go, path));
    const ONE_THREAD_HEAPSNAPSHOT: Self =
        Self::wall("wall of 1", |path| load_on_one_thread(Format::Heapsnapshot, path));
    const ONE_THREAD_MVMHEAP: Self =
        Self::wall("wall of 1", |path| load_on_one_thread(Format::Mvmheap, path));

    const fn new(name: &'static str, run: fn(&Path)) -> Self {
        Self { name, run, clock: Clock::Cpu }
    }

    const fn wall(name: &'static str, run: fn(&Path)) -> Self {
        Self { name, run, clock: Clock::Wall }
    }
}

/// How fast a benchmark has to be, or how little memory it may use.
pub(crate) enum Bar {
    /// At most that many times the time of the first floor.
    Ratio(f64),
    /// At least that many MB of input in a second of CPU time.
    Rate(f64),
    /// At most that many MiB beyond the mapped file.
    Memory(f64),
    /// At most that many nanoseconds of CPU time for each object.
    Nanoseconds(f64),
    /// At most that many bytes beyond the mapped file for each object, and for each reference.
    Bytes(f64, f64),
}

impl Bench {
    const fn new(name: &'static str, input: Input, run: fn(&[u8]) -> Found) -> Self {
        Self { name, input, run, floors: &[Floor::READ], bars: &[], threads: 1, on_request: false }
    }

    const fn floors(self, floors: &'static [Floor]) -> Self {
        Self { floors, ..self }
    }

    const fn bars(self, bars: &'static [Bar]) -> Self {
        Self { bars, ..self }
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
    Bench::new("go-info", GO, |bytes| info(Format::Go, bytes))
        .floors(&[Floor::READ, Floor::WALK_GO])
        .bars(&[Bar::Ratio(4.0)]),
    Bench::new("go-check", GO, |bytes| check(Format::Go, bytes)),
    Bench::new("dart-info", DART, |bytes| info(Format::Dart, bytes))
        .floors(&[Floor::READ, Floor::WALK_DART])
        .bars(&[Bar::Rate(300.0)]),
    Bench::new("dart-check", DART, |bytes| check(Format::Dart, bytes)),
    Bench::new("mojo-info", MOJO, |bytes| info(Format::Mojo, bytes)).bars(&[Bar::Rate(300.0)]),
    Bench::new("mojo-check", MOJO, |bytes| check(Format::Mojo, bytes)),
    Bench::new("mojo-cat-jsonl", MOJO, |bytes| cat(Format::Mojo, bytes, true))
        .bars(&[Bar::Rate(60.0)]),
    Bench::new("mojo-cat-text", MOJO, |bytes| cat(Format::Mojo, bytes, false)),
    Bench::new("mojo-convert-austin", MOJO, convert_to_austin),
    Bench::new("mojo-info-large", MOJO_LARGE, |bytes| info(Format::Mojo, bytes))
        .bars(&[Bar::Rate(300.0)])
        .on_request(),
    Bench::new("profile-load", MOJO, |bytes| profile(bytes, |_| ())).bars(PROFILE_BARS),
    Bench::new("profile-top", MOJO, |bytes| profile(bytes, top)).bars(PROFILE_BARS),
    Bench::new("convert-pprof", MOJO, |bytes| profile(bytes, to_pprof)).bars(PROFILE_BARS),
    Bench::new("convert-speedscope", MOJO, |bytes| profile(bytes, to_speedscope))
        .bars(PROFILE_BARS),
    Bench::new("convert-folded", MOJO, |bytes| profile(bytes, to_folded)).bars(PROFILE_BARS),
    Bench::new("convert-svg", MOJO, |bytes| profile(bytes, to_svg)).bars(PROFILE_BARS),
    Bench::new("profile-load-large", MOJO_LARGE, |bytes| profile(bytes, |_| ()))
        .bars(PROFILE_BARS)
        .on_request(),
    Bench::new("profile-load-random", MOJO_RANDOM, |bytes| profile(bytes, |_| ())).on_request(),
    Bench::new("pprof-top", PPROF, |bytes| top_of_functions(Format::Pprof, bytes))
        .bars(&[Bar::Rate(55.0), Bar::Memory(110.0)]),
    Bench::new("pprof-info", PPROF, |bytes| info(Format::Pprof, bytes)),
    Bench::new("folded-top", FOLDED, |bytes| top_of_functions(Format::Folded, bytes)),
    Bench::new("austin-top", AUSTIN, |bytes| top_of_functions(Format::Austin, bytes)),
    Bench::new("perf-script-top", PERF_SCRIPT, |bytes| top_of_functions(Format::PerfScript, bytes)),
    Bench::new("speedscope-top", SPEEDSCOPE, |bytes| top_of_functions(Format::Speedscope, bytes)),
    Bench::new("cpuprofile-top", CPUPROFILE, |bytes| top_of_functions(Format::Cpuprofile, bytes)),
    Bench::new("heapprofile-top", HEAPPROFILE, |bytes| {
        top_of_functions(Format::Heapprofile, bytes)
    }),
    Bench::new("heapsnapshot-info", HEAPSNAPSHOT, |bytes| info(Format::Heapsnapshot, bytes))
        .floors(&[Floor::NUMBERS, Floor::READ])
        .bars(&[Bar::Ratio(1.5)]),
    Bench::new("heapsnapshot-load", HEAPSNAPSHOT, |bytes| load(Format::Heapsnapshot, bytes))
        .floors(&[Floor::NUMBERS]),
    Bench::new("heapsnapshot-load-2-threads", HEAPSNAPSHOT, |bytes| {
        load(Format::Heapsnapshot, bytes)
    })
    .floors(&[Floor::ONE_THREAD_HEAPSNAPSHOT])
    .threads(2),
    Bench::new("pmat-info", PMAT, |bytes| info(Format::Pmat, bytes)),
    Bench::new("pmat-load", PMAT, |bytes| load(Format::Pmat, bytes)),
    Bench::new("ruby-info", RUBY, |bytes| info(Format::Ruby, bytes)),
    Bench::new("ruby-load", RUBY, |bytes| load(Format::Ruby, bytes)),
    Bench::new("mvmheap-info", MVMHEAP, |bytes| info(Format::Mvmheap, bytes))
        .floors(&[Floor::ZSTD, Floor::ZSTD_TYPES])
        .bars(&[Bar::Ratio(1.25)]),
    Bench::new("mvmheap-info-2-threads", MVMHEAP, |bytes| info(Format::Mvmheap, bytes))
        .floors(&[Floor::ZSTD])
        .threads(2),
    Bench::new("mvmheap-info-quick", MVMHEAP, quick_info).floors(&[]),
    Bench::new("mvmheap-check", MVMHEAP, |bytes| check(Format::Mvmheap, bytes))
        .floors(&[Floor::ZSTD]),
    Bench::new("go-load", GO, |bytes| load(Format::Go, bytes)).bars(&[Bar::Nanoseconds(120.0)]),
    Bench::new("go-load-2-threads", GO, |bytes| load(Format::Go, bytes))
        .floors(&[Floor::ONE_THREAD_GO])
        .bars(&[Bar::Ratio(0.65)])
        .threads(2),
    Bench::new("dart-load", DART, |bytes| load(Format::Dart, bytes))
        .bars(&[Bar::Nanoseconds(58.0)]),
    Bench::new("mvmheap-load", MVMHEAP, |bytes| load(Format::Mvmheap, bytes))
        .floors(&[Floor::ZSTD_SNAPSHOT])
        .bars(&[Bar::Ratio(1.25), Bar::Bytes(24.0, 8.0)]),
    Bench::new("mvmheap-load-2-threads", MVMHEAP, |bytes| load(Format::Mvmheap, bytes))
        .floors(&[Floor::ONE_THREAD_MVMHEAP])
        .threads(2),
    Bench::new("go-convert-hprof", GO, |bytes| convert_to_hprof(Format::Go, bytes))
        .floors(&[Floor::LOAD_WRITE_GO])
        .bars(&[Bar::Ratio(1.3), Bar::Bytes(60.0, 0.0)]),
    Bench::new("dart-convert-hprof", DART, |bytes| convert_to_hprof(Format::Dart, bytes))
        .floors(&[Floor::LOAD_WRITE_DART])
        .bars(&[Bar::Ratio(1.3)]),
    Bench::new("mvmheap-convert-hprof", MVMHEAP, |bytes| convert_to_hprof(Format::Mvmheap, bytes))
        .floors(&[Floor::LOAD_WRITE_MVMHEAP])
        .bars(&[Bar::Ratio(1.3)]),
    Bench::new("go-quick", GO, |bytes| quick(Format::Go, bytes))
        .floors(&[Floor::INFO_GO])
        .bars(&[Bar::Ratio(2.0)]),
    Bench::new("dart-quick", DART, |bytes| quick(Format::Dart, bytes))
        .floors(&[Floor::INFO_DART])
        .bars(&[Bar::Ratio(2.0)]),
    Bench::new("mvmheap-quick", MVMHEAP, |bytes| quick(Format::Mvmheap, bytes))
        .floors(&[Floor::INFO_MVMHEAP])
        .bars(&[Bar::Ratio(2.0)]),
    Bench::new("hprof-quick", HPROF, |bytes| quick(Format::Hprof, bytes))
        .floors(&[Floor::INFO_HPROF])
        .bars(&[Bar::Ratio(2.0)]),
    Bench::new("hprof-info", HPROF, |bytes| info(Format::Hprof, bytes)),
    Bench::new("hprof-check", HPROF, |bytes| check(Format::Hprof, bytes)),
    Bench::new("hprof-load", HPROF, |bytes| load(Format::Hprof, bytes)),
];

const PROFILE_BARS: &[Bar] = &[Bar::Rate(150.0), Bar::Memory(100.0)];

/// Sums of a profile, and what is made of them.
fn profile(bytes: &[u8], then: fn(Profile)) -> Found {
    let loaded = input::load_profile(Format::Mojo, bytes, ProfileOptions::default())
        .expect("the input has a header");
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    then(black_box(loaded.profile));
    Found::default()
}

fn top(profile: Profile) {
    let selected = Selected::of(&profile, &Selection::default());
    black_box(selected.under());
}

/// What the command `top` computes.
fn top_of_functions(format: Format, bytes: &[u8]) -> Found {
    let loaded = input::load_profile(format, bytes, ProfileOptions::default())
        .expect("the input has samples");
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    let selected = Selected::of(&loaded.profile, &Selection::default());
    black_box(top_of(&selected, TopBy::Frames(FrameBy::Function)));
    Found::default()
}

/// All metrics.
fn stacks(profile: Profile) -> WeightedStacks {
    of_profile(profile, "bench", &Selection::default())
}

/// Compressed, as the command line does it.
fn to_pprof(profile: Profile) {
    let mut gzip = flate2::write::GzEncoder::new(io::sink(), flate2::Compression::fast());
    black_box(pprof::write(&stacks(profile), &mut gzip).expect("a sink takes everything"));
}

fn to_speedscope(profile: Profile) {
    black_box(
        speedscope::write(&stacks(profile), &mut io::sink()).expect("a sink takes everything"),
    );
}

fn to_folded(profile: Profile) {
    black_box(
        folded::write(&stacks(profile), 0, &mut io::sink()).expect("a sink takes everything"),
    );
}

fn to_svg(profile: Profile) {
    let picture = dumptool::output::flamegraph::picture(&stacks(profile), 0, &Default::default());
    black_box(picture.draw(&mut io::sink()).expect("a sink takes everything"));
}

/// Objects by type, without the graph.
fn quick(format: Format, bytes: &[u8]) -> Found {
    let histogram =
        input::histogram(format, bytes, LoadOptions::default()).expect("the input has a header");
    assert!(histogram.damage.is_none(), "{:?}", histogram.damage);
    black_box(Found { objects: histogram.total.count, references: 0 })
}

fn info_of(format: Format, path: &Path) {
    info(format, Source::open(path).expect("the input opens").bytes());
}

fn info(format: Format, bytes: &[u8]) -> Found {
    let info = input::info(format, bytes, ReadOptions::default()).expect("the input has a header");
    assert!(info.complete, "{:?}", info.damage);
    black_box(info);
    Found::default()
}

fn quick_info(bytes: &[u8]) -> Found {
    let options = ReadOptions::default().quick(true);
    black_box(input::info(Format::Mvmheap, bytes, options).expect("the input has a header"));
    Found::default()
}

fn check(format: Format, bytes: &[u8]) -> Found {
    let findings =
        input::check(format, bytes, ReadOptions::default()).expect("the input has a header");
    // A dump that breaks rules would measure how that is reported.
    let broken: Vec<_> = findings.findings.iter().filter(|finding| !finding.ok).collect();
    assert!(findings.damage.is_none() && broken.is_empty(), "{:?} {broken:?}", findings.damage);
    Found::default()
}

/// All records into a buffer that is emptied as the command line does it, but written to nowhere.
fn cat(format: Format, bytes: &[u8], json: bool) -> Found {
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
    let mut printer =
        Printer(RecordFormat { json, name_width, ..RecordFormat::default() }, Vec::new());
    input::for_each_record(format, bytes, ReadOptions::default(), &mut printer)
        .expect("the input is intact");
    Found::default()
}

fn convert_to_austin(bytes: &[u8]) -> Found {
    let mut writer = AustinWriter::new(io::sink(), Dialect::Full);
    let (_, stop) = for_each_sample(bytes, Lookup::Robust, ReadOptions::default(), &mut writer);
    assert!(stop.is_none(), "{stop:?}");
    black_box(writer.finish().expect("a sink takes everything"));
    Found::default()
}

/// Into a file, through as large a buffer as the command line has.
fn convert_to_hprof(format: Format, bytes: &[u8]) -> Found {
    let loaded =
        input::load(format, bytes, LoadOptions::default()).expect("the input has a header");
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    let mut file = BufWriter::with_capacity(64 << 10, create_converted());
    black_box(
        hprof::write(&loaded.heap, &hprof::HprofOptions::default(), &mut file)
            .expect("the output is written"),
    );
    file.flush().expect("the output is written");
    let length = file.stream_position().expect("a file has a position");
    CONVERTED.store(length, Ordering::Relaxed);
    Found { objects: loaded.heap.len() as u64, references: loaded.heap.references().len() as u64 }
}
