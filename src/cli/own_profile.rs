//! `--profile`: where the program itself spends its time, by phase and thread.
//!
//! Whenever a phase begins or ends, the processor time of each thread is read and counted for the
//! phases that were open until then. The main thread also has the time that passed, so that a phase
//! which keeps one thread busy can be told from one that all threads share.

use super::lock;
use crate::model::profile::{StackId, Unit, ValueType};
use crate::model::stacks::{Moment, Track, WeightedStacks, WeightedStacksBuilder};
use rustc_hash::FxHashMap;
use std::sync::Mutex;
use std::time::Instant;

/// The measurements. `None` without `--profile`.
static MEASURED: Mutex<Option<Measured>> = Mutex::new(None);

/// The id of the main thread on systems that do not list threads.
const MAIN: u32 = 0;

struct Measured {
    began: Instant,
    /// Nanoseconds from the beginning to the last change.
    last: u64,
    /// Nanoseconds of processor time of each thread at the last change.
    spent: FxHashMap<u32, u64>,
    spans: Vec<Span>,
}

/// A period in which the open phases did not change. Times are in nanoseconds.
struct Span {
    start: u64,
    length: u64,
    phases: Vec<&'static str>,
    /// The threads that worked, with their nanoseconds of processor time.
    threads: Vec<(u32, u64)>,
}

pub(super) fn start() {
    *lock(&MEASURED) = Some(Measured {
        began: Instant::now(),
        last: 0,
        spent: processor_times().into_iter().collect(),
        spans: Vec::new(),
    });
}

/// Notes that the open phases change; `phases` returns those that were open so far.
pub(super) fn change(phases: impl FnOnce() -> Vec<&'static str>) {
    if let Some(measured) = &mut *lock(&MEASURED) {
        measured.change(phases());
    }
}

/// Returns the measurements since the start, with the command as the outermost frame. `None` if
/// [`start`] was not called.
pub(super) fn finish(command: &str) -> Option<WeightedStacks> {
    let mut measured = lock(&MEASURED).take()?;
    measured.change(Vec::new());
    Some(measured.stacks(command))
}

impl Measured {
    fn change(&mut self, phases: Vec<&'static str>) {
        let now = self.began.elapsed().as_nanos() as u64;
        let threads = processor_times().into_iter().filter_map(|(thread, time)| {
            let before = self.spent.insert(thread, time).unwrap_or(0);
            Some((thread, time.checked_sub(before)?)).filter(|(_, spent)| *spent > 0)
        });
        let threads = threads.collect();
        self.spans.push(Span { start: self.last, length: now - self.last, phases, threads });
        self.last = now;
    }

    fn stacks(&self, command: &str) -> WeightedStacks {
        let value = |name: &'static str| ValueType { name: name.into(), unit: Unit::Nanoseconds };
        let values = vec![value("cpu"), value("wall")];
        let mut builder = WeightedStacksBuilder::new(&format!("dumptool {command}"), values);
        let main = if self.spent.is_empty() { MAIN } else { std::process::id() };
        let mut tracks = FxHashMap::default();
        tracks.insert(main, builder.thread_track(track("main")));
        for span in &self.spans {
            let mut stack = StackId::EMPTY;
            for phase in [command].iter().chain(&span.phases) {
                let frame = builder.function(phase, "");
                stack = builder.push(stack, frame);
            }
            let moment = Moment {
                start: (span.start / 1000) as i64,
                length: (span.length / 1000) as i64,
                idle: false,
                gc: false,
                memory: 0,
            };
            let spent = span.threads.iter().find(|(thread, _)| *thread == main);
            let cpu = spent.map_or(0, |(_, spent)| *spent as i64);
            builder.add_at(tracks[&main], stack, &[cpu, span.length as i64], moment);
            for (thread, spent) in span.threads.iter().filter(|(thread, _)| *thread != main) {
                let name = format!("worker {}", tracks.len());
                let track =
                    *tracks.entry(*thread).or_insert_with(|| builder.thread_track(track(&name)));
                builder.add_at(track, stack, &[*spent as i64, 0], moment);
            }
        }
        builder.finish()
    }
}

fn track(name: &str) -> Track {
    Track {
        name: name.to_owned(),
        pid: Some(std::process::id().into()),
        thread: Some(name.to_owned()),
        interpreter: None,
        labels: Vec::new(),
    }
}

/// Nanoseconds of processor time of each thread, by its id: the first number of `schedstat` (Linux
/// kernel, Documentation/scheduler/sched-stats.rst). Empty where there is no such file.
fn processor_times() -> Vec<(u32, u64)> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let time = |task: std::fs::DirEntry| {
        let thread = task.file_name().to_str()?.parse().ok()?;
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        Some((thread, text.split(' ').next()?.parse().ok()?))
    };
    let mut times: Vec<(u32, u64)> = tasks.flatten().filter_map(time).collect();
    times.sort_unstable();
    times
}
