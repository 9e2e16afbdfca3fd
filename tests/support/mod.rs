//! What the integration tests share.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]

pub mod dart;
pub mod go;
pub mod go_program;
pub mod heap;
pub mod heapsnapshot;
pub mod hostile;
pub mod hprof;
pub mod instances;
pub mod jfr;
pub mod jvm;
pub mod mojo;
pub mod mvmheap;
pub mod pmat;
pub mod pprof;
pub mod pyheap;
pub mod ruby;
pub mod small;

use dumptool::error::Error;
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format, Kind, ReadOptions, Visitor};
use dumptool::model::fields::Record;
use dumptool::output::records::RecordFormat;
use dumptool::source::Source;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A file of the project's own fixtures.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// The bytes of a file, decompressed.
pub fn read(path: &Path) -> Vec<u8> {
    Source::open(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .bytes()
        .to_vec()
}

/// A JSON file.
pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A folder of the corpus, for tests that read nothing else. They are ignored unless asked for with
/// `--ignored corpus`, so that a run without a corpus does not count them as passed.
pub fn corpus_folder(folder: &str) -> PathBuf {
    let corpus = std::env::var_os("DUMPTOOL_CORPUS");
    Path::new(&corpus.expect("set DUMPTOOL_CORPUS to a folder of real dumps")).join(folder)
}

/// A folder of the corpus whose files a test reads beside the fixtures. `None`, with a note, if
/// DUMPTOOL_CORPUS is not set.
pub fn corpus(folder: &str) -> Option<PathBuf> {
    match std::env::var_os("DUMPTOOL_CORPUS") {
        Some(corpus) => Some(Path::new(&corpus).join(folder)),
        None => {
            eprintln!("DUMPTOOL_CORPUS is not set: only the fixtures are tested");
            None
        }
    }
}

/// All files below a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// The source files below a folder of the crate, by their paths in it, with their texts.
pub fn sources(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let relative = |path: &Path| path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
    let files =
        files(&folder).into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs"));
    files.map(|path| (relative(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

/// The modules of the input formats: the folders that are modules by themselves.
pub fn format_modules() -> Vec<String> {
    let modules = sources("src/input").into_iter().filter_map(|(path, _)| {
        let folder = path.strip_suffix("/mod.rs")?;
        (!folder.contains('/')).then(|| folder.to_owned())
    });
    modules.collect()
}

/// What `info` says, as JSON.
pub fn info(format: Format, bytes: &[u8]) -> Value {
    serde_json::to_value(input::info(format, bytes, ReadOptions::default()).unwrap()).unwrap()
}

/// The names of the rules that a dump breaks.
pub fn broken(format: Format, bytes: &[u8]) -> Vec<String> {
    let findings = input::check(format, bytes, ReadOptions::default()).unwrap();
    assert!(findings.damage.is_none(), "{:?}", findings.damage);
    let broken = findings.findings.into_iter().filter(|finding| !finding.ok);
    broken.map(|finding| finding.rule).collect()
}

/// Every record as the JSON of `cat --contents`, and what ended the reading.
pub fn records(format: Format, bytes: &[u8]) -> (Vec<Value>, Option<Error>) {
    struct Collect(Vec<Value>);
    impl Visitor for Collect {
        fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()> {
            let mut line = Vec::new();
            RecordFormat { json: true, contents: true, ..RecordFormat::default() }
                .append(offset, record, &mut line);
            self.0.push(serde_json::from_slice(&line).unwrap());
            ControlFlow::Continue(())
        }
    }
    let mut collect = Collect(Vec::new());
    let error = input::for_each_record(format, bytes, ReadOptions::default(), &mut collect).err();
    (collect.0, error)
}

/// Reads bytes in every way there is; for damaged input, where the only promise is that this
/// returns, with an offset.
pub fn read_in_every_way(format: Format, bytes: &[u8]) {
    struct Ignore;
    impl Visitor for Ignore {
        fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()> {
            let mut line = Vec::new();
            RecordFormat { contents: true, ..RecordFormat::default() }
                .append(offset, record, &mut line);
            ControlFlow::Continue(())
        }
    }
    let with_offset = |error: &Error| assert!(error.offset().is_some(), "no offset: {error}");
    match input::info(format, bytes, ReadOptions::default()) {
        Ok(info) => info.damage.iter().for_each(|damage| with_offset(&damage.error)),
        Err(error) => with_offset(&error),
    }
    match input::check(format, bytes, ReadOptions::default()) {
        Ok(findings) => findings.damage.iter().for_each(|damage| with_offset(&damage.error)),
        Err(error) => with_offset(&error),
    }
    match input::histogram(format, bytes, LoadOptions::default()) {
        Ok(histogram) => histogram.damage.iter().for_each(with_offset),
        Err(error) if format.kind() == Kind::Heap => with_offset(&error),
        // No byte is to blame for what a profile does not have.
        Err(error) => assert_eq!(error.to_string(), "a profile has no objects"),
    }
    if let Err(error) = input::for_each_record(format, bytes, ReadOptions::default(), &mut Ignore) {
        with_offset(&error);
    }
}

/// A small, seeded generator of numbers, so that damage is the same in every run.
pub struct Random(pub u64);

impl Random {
    /// The next number (SplitMix64).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Reads a dump cut at `cuts` places (at every byte if it is shorter), and with bytes changed
/// `flips` times.
pub fn damage(format: Format, bytes: &[u8], cuts: usize, flips: usize) {
    let step = (bytes.len() / cuts).max(1);
    for cut in (0..bytes.len()).step_by(step) {
        read_in_every_way(format, &bytes[..cut]);
    }
    let mut random = Random(bytes.len() as u64);
    for _ in 0..flips {
        let mut damaged = bytes.to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(damaged.len());
            damaged[at] = random.next() as u8;
        }
        read_in_every_way(format, &damaged);
    }
}
