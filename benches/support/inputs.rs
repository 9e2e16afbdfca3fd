//! The files that are read: written once, and kept in `target/bench-data`.

use crate::generate::generation::GENERATION;
use crate::generate::{
    austin, dart, folded, go, heapsnapshot, hprof, mojo, mvmheap, perf_script, pmat, pprof, ruby,
    speedscope, v8profile,
};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A synthetic dump.
#[derive(Debug)]
pub(crate) struct Input {
    name: &'static str,
    /// Objects, samples, or collectables of all snapshots.
    count: u64,
    write: fn(u64, &mut dyn Write) -> io::Result<()>,
}

/// 10 M objects, about 550 MB.
pub(crate) const GO: Input = Input { name: "go", count: 10_000_000, write: go::write };
/// 10 M objects, about 200 MB.
pub(crate) const DART: Input = Input { name: "dart", count: 10_000_000, write: dart::write };
/// About 30 MB.
pub(crate) const MOJO: Input = Input { name: "mojo", count: 250_000, write: mojo::write };
/// About 1 GB.
pub(crate) const MOJO_LARGE: Input = Input { name: "mojo", count: 8_500_000, write: mojo::write };
/// About 220 MB in which nearly every stack is another one: frames are drawn for each sample.
pub(crate) const MOJO_RANDOM: Input =
    Input { name: "mojo-random", count: 2_000_000, write: mojo::write_random };
/// Two snapshots of 3 M collectables each.
pub(crate) const MVMHEAP: Input = Input {
    name: "mvmheap",
    count: 2 * 3_000_000,
    write: |count, file| mvmheap::write(count / mvmheap::SNAPSHOTS, file),
};
/// A heap of 3.6 M objects of Dart as hprof, about 700 MB.
pub(crate) const HPROF: Input = Input { name: "hprof", count: 3_600_000, write: hprof::write };

/// 300,000 samples of 40 frames, about 38 MB.
pub(crate) const PPROF: Input = Input { name: "pprof", count: 300_000, write: pprof::write };
/// 3.2 M objects of Ruby, about 1 GB.
pub(crate) const RUBY: Input = Input { name: "ruby", count: 3_200_000, write: ruby::write };
/// About 150 MB.
pub(crate) const FOLDED: Input = Input { name: "folded", count: 250_000, write: folded::write };
/// 3 M nodes, about 190 MB.
pub(crate) const HEAPSNAPSHOT: Input =
    Input { name: "heapsnapshot", count: 3_000_000, write: heapsnapshot::write };
/// About 180 MB.
pub(crate) const PMAT: Input = Input { name: "pmat", count: 2_500_000, write: pmat::write };
/// About 190 MB.
pub(crate) const AUSTIN: Input = Input { name: "austin", count: 250_000, write: austin::write };
/// About 20 MB.
pub(crate) const SPEEDSCOPE: Input =
    Input { name: "speedscope", count: 250_000, write: speedscope::write };
/// About 150 MB.
pub(crate) const PERF_SCRIPT: Input =
    Input { name: "perf-script", count: 100_000, write: perf_script::write };
/// About 50 MB.
pub(crate) const CPUPROFILE: Input =
    Input { name: "cpuprofile", count: 5_000_000, write: v8profile::write_cpu };
/// About 70 MB.
pub(crate) const HEAPPROFILE: Input =
    Input { name: "heapprofile", count: 300_000, write: v8profile::write_heap };

impl Input {
    /// The file and how many items it has: `scale` times the usual number. The file is written if
    /// it is not there.
    pub(crate) fn file(&self, scale: f64) -> io::Result<(PathBuf, u64)> {
        let count = ((self.count as f64 * scale) as u64).max(10_000);
        let folder = folder();
        let path = folder.join(format!("{}-{count}-v{GENERATION}.dump", self.name));
        if path.exists() {
            return Ok((path, count));
        }
        eprintln!("writing {}", path.display());
        fs::create_dir_all(&folder)?;
        // What was interrupted must not be taken for a dump by the next run.
        let unfinished = path.with_extension("part");
        (self.write)(count, &mut File::create(&unfinished)?)?;
        fs::rename(&unfinished, &path)?;
        Ok((path, count))
    }
}

/// Where everything is.
fn folder() -> PathBuf {
    // Cargo's own folder for tests and benchmarks is `tmp` in its target directory.
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-data")
}

/// Where this process writes conversions to.
pub(crate) fn converted() -> PathBuf {
    folder().join(format!("converted-{}.part", std::process::id()))
}

/// Makes that file.
pub(crate) fn create_converted() -> File {
    File::create(converted()).expect("the output opens")
}

/// Removes it. Most benchmarks convert nothing: then there is none.
pub(crate) fn remove_converted() -> bool {
    fs::remove_file(converted()).is_ok()
}
