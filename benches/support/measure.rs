//! Measures one benchmark in a process of its own.

use super::benches::{Bench, Clock, Floor};
use super::inputs::remove_converted;
use super::loading::Found;
use cpu_time::ProcessTime;
use dumptool::source::Source;
use rayon::ThreadPoolBuilder;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often everything is measured; the median counts.
const ROUNDS: usize = 5;

/// What was measured. Times are in seconds.
pub(crate) struct Measured {
    /// Time of user and system of all threads.
    pub(crate) cpu: f64,
    /// Time on the clock.
    pub(crate) wall: f64,
    /// Time of each floor, by its clock.
    pub(crate) floors: Vec<f64>,
    /// Most memory in use beyond the mapped file, in bytes; only Linux tells.
    pub(crate) memory: Option<u64>,
    /// What was loaded.
    pub(crate) found: Found,
}

/// Measures in a new process, so that no benchmark finds the memory as another one left it.
pub(crate) fn measure(bench: &Bench, path: &Path) -> Measured {
    let program = std::env::current_exe().expect("a program has a path");
    let output = Command::new(program)
        .arg("--child")
        .arg(bench.name)
        .arg(path)
        .stderr(Stdio::inherit())
        .output();
    let output = output.expect("a benchmark starts");
    assert!(output.status.success(), "{} failed", bench.name);
    let numbers = String::from_utf8(output.stdout).expect("numbers are text");
    let mut numbers =
        numbers.split_whitespace().map(|number| number.parse::<f64>().expect("a number"));
    let mut next = || numbers.next().expect("enough numbers");
    let (cpu, wall, memory) = (next(), next(), next());
    let found = Found { objects: next() as u64, references: next() as u64 };
    Measured {
        cpu,
        wall,
        floors: numbers.collect(),
        memory: (memory >= 0.0).then_some(memory as u64),
        found,
    }
}

/// The other side of [`measure`]: measures and prints numbers.
///
/// The benchmark and its floors take turns, so that whatever else the machine does slows all of
/// them down.
pub(crate) fn child(bench: &Bench, path: &Path) {
    let pool = ThreadPoolBuilder::new().num_threads(bench.threads).build().expect("threads start");
    // The first reading brings the file into the page cache.
    (Floor::READ.run)(path);
    let (mut cpu, mut wall, mut floors) =
        (Vec::new(), Vec::new(), vec![Vec::new(); bench.floors.len()]);
    let (mut memory, mut found) = (None, Found::default());
    for round in 0..ROUNDS {
        rest();
        let (cpu_start, wall_start) = (ProcessTime::now(), Instant::now());
        // Mapping the file is a part of the work.
        let source = Source::open(path).expect("the input opens");
        found = pool.install(|| (bench.run)(source.bytes()));
        cpu.push(cpu_start.elapsed().as_secs_f64());
        wall.push(wall_start.elapsed().as_secs_f64());
        if round == 0 {
            // Later the floors have used memory too.
            memory = memory_beyond_files();
        }
        drop(source);
        for (floor, times) in bench.floors.iter().zip(&mut floors) {
            rest();
            let (cpu_start, wall_start) = (ProcessTime::now(), Instant::now());
            pool.install(|| (floor.run)(path));
            times.push(match floor.clock {
                Clock::Cpu => cpu_start.elapsed().as_secs_f64(),
                Clock::Wall => wall_start.elapsed().as_secs_f64(),
            });
        }
    }
    remove_converted();
    println!("{} {} {}", median(cpu), median(wall), memory.map_or(-1, |bytes| bytes as i64));
    println!("{} {}", found.objects, found.references);
    floors.into_iter().for_each(|times| println!("{}", median(times)));
}

/// Removes what was written, if anything was, and waits until the kernel has given the memory of
/// its pages back. In a virtual machine it goes back to the host after some seconds, and to get it
/// anew takes several times as long as to write: all have to begin without it, or the one that
/// follows first would find it.
fn rest() {
    if remove_converted() {
        thread::sleep(Duration::from_secs(6));
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Most memory that the process has had, less what it has mapped of files now.
fn memory_beyond_files() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').trim().strip_suffix(" kB")?.parse().ok()
    };
    Some(kib("VmHWM")?.saturating_sub(kib("RssFile")?) << 10)
}
