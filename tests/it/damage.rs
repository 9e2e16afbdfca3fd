//! Damaged fixtures of every format, and what fuzzing once found, through the same checks as the
//! fuzz targets.

#[allow(
    unreachable_pub,
    clippy::duplicate_mod,
    reason = "it is a crate of its own for the fuzz targets"
)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;
use crate::support::Random;
use dumptool::detect;
use dumptool::input::{self, Format, Kind};
use std::path::{Path, PathBuf};

/// Fixtures that are dumps, with their format and bytes.
fn dumps() -> impl Iterator<Item = (PathBuf, Format, Vec<u8>)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    crate::support::files(&fixtures).into_iter().filter_map(|path| {
        let source = dumptool::source::Source::open(&path).ok()?;
        let format = detect::detect(source.bytes()).ok()?;
        Some((path, format, source.bytes().to_vec()))
    })
}

/// Bytes of a fixture that are damaged in all, and the fewest and most ways of damaging one. A debug
/// build is slow: it leaves out larger fixtures.
const SWEPT: usize = 100_000;
const WAYS: (usize, usize) = if cfg!(debug_assertions) { (0, 1) } else { (1, 4) };

fn everything(format: Format, bytes: &[u8]) {
    fuzz::read(format, bytes);
    match input::kind(format, bytes) {
        Kind::Heap => {
            fuzz::load(format, bytes);
            fuzz::convert(format, bytes);
        }
        Kind::Profile => fuzz::profile(format, bytes),
    }
}

/// Checks a dump cut short and with a few bytes changed, this often.
fn damage(format: Format, bytes: &[u8], times: usize) {
    let mut random = Random(bytes.len() as u64);
    for _ in 0..times {
        everything(format, &bytes[..random.below(bytes.len())]);
        let mut flipped = bytes.to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(flipped.len());
            flipped[at] = random.next() as u8;
        }
        everything(format, &flipped);
    }
}

#[test]
fn cut_and_flipped_fixtures_give_errors_and_what_could_be_read() {
    for (path, format, bytes) in dumps() {
        // The larger a dump, the fewer ways of damaging it: the sweep is a part of every test run.
        // The readers' own tests cut and flip more of each.
        let times = (SWEPT / bytes.len().max(1)).clamp(WAYS.0, WAYS.1);
        damage(format, &bytes, times);
        eprintln!("{}: {times} cuts and flips", path.display());
    }
}

#[test]
fn cut_and_flipped_small_dumps_give_errors_and_what_could_be_read() {
    for (_, format, bytes) in crate::support::small::dumps() {
        everything(format, &bytes);
        damage(format, &bytes, 20);
    }
}

#[test]
fn what_fuzzing_found_stays_fixed() {
    let regressions = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions");
    let targets = fuzz::targets();
    for path in crate::support::files(&regressions) {
        let name = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let target = targets.iter().find(|target| target.name == name);
        let target = target.unwrap_or_else(|| panic!("no target {name}"));
        target.test(&std::fs::read(&path).unwrap());
    }
}

/// What is larger than this takes a fuzzer too long to be of use.
const LARGEST_SEED: usize = 1 << 16;

#[test]
#[ignore = "writes files: fuzz/run takes its seeds from here"]
fn write_seeds() {
    let seeds =
        PathBuf::from(std::env::var_os("DUMPTOOL_SEEDS").expect("DUMPTOOL_SEEDS names a folder"));
    let small = crate::support::small::dumps()
        .into_iter()
        .map(|(name, format, bytes)| (PathBuf::from(name), format, bytes));
    for (path, format, bytes) in
        dumps().chain(small).filter(|(.., bytes)| bytes.len() <= LARGEST_SEED)
    {
        let folder = seeds.join(format.name());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(path.file_name().unwrap()), bytes).unwrap();
    }
    let folder = seeds.join("exe");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in fuzz::executables() {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
