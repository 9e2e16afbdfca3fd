//! `--profile`: where the program itself spends its time, by phase and thread.
//!
//! Whenever a phase begins or ends, the processor time of each thread is read and counted for the phase
//! that the thread itself began last, or, if none of its phases is open, for the one that another thread
//! began last. The main thread also has the time that passed, for the phase that began last, so that a
//! phase which keeps one thread busy can be told from one that all threads share.

use super::lock;
use crate::model::profile::{StackId, Unit, ValueType};
use crate::model::stacks::{Moment, Track, WeightedStacks, WeightedStacksBuilder};
use crate::phases::Phase;
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
    /// The phases that are open, in the order in which they began.
    open: Vec<Open>,
}

/// A phase that is open.
struct Open {
    name: &'static str,
    number: u32,
    /// The number of the phase around it; 0 for none.
    within: u32,
    /// The thread on which it began.
    thread: u32,
}

/// A period in which the open phases did not change. Times are in nanoseconds.
struct Span {
    start: u64,
    length: u64,
    /// The phase that began last, within others, the outermost first.
    phases: Vec<&'static str>,
    /// The threads that worked, with their phases and nanoseconds of processor time.
    threads: Vec<(u32, Vec<&'static str>, u64)>,
}

pub(super) fn start() {
    *lock(&MEASURED) = Some(Measured {
        began: Instant::now(),
        last: 0,
        spent: processor_times().into_iter().collect(),
        spans: Vec::new(),
        open: Vec::new(),
    });
}

/// Notes that a phase has begun on the calling thread.
pub(super) fn begin(&Phase { name, number, within, .. }: &Phase) {
    if let Some(measured) = &mut *lock(&MEASURED) {
        measured.change();
        measured.open.push(Open { name, number, within, thread: thread() });
    }
}

/// Notes that a phase ends.
pub(super) fn end(phase: &Phase) {
    if let Some(measured) = &mut *lock(&MEASURED) {
        measured.change();
        measured.open.retain(|open| open.number != phase.number);
    }
}

/// The id of the calling thread: the last part of where `/proc/thread-self` leads. [`MAIN`] where there is
/// no such link.
fn thread() -> u32 {
    thread_local!(static ID: u32 = read_thread().unwrap_or(MAIN));
    ID.with(|id| *id)
}

fn read_thread() -> Option<u32> {
    std::fs::read_link("/proc/thread-self").ok()?.file_name()?.to_str()?.parse().ok()
}

/// Returns the measurements since the start, with the command as the outermost frame. `None` if
/// [`start`] was not called.
pub(super) fn finish(command: &str) -> Option<WeightedStacks> {
    let mut measured = lock(&MEASURED).take()?;
    measured.change();
    Some(measured.stacks(command))
}

impl Measured {
    /// Counts what the threads have spent since the last change for the phases that were open.
    fn change(&mut self) {
        let (open, now) = (&self.open, self.began.elapsed().as_nanos() as u64);
        let phases = |of: Option<&Open>| of.map_or_else(Vec::new, |last| path(open, last));
        let threads = processor_times().into_iter().filter_map(|(thread, time)| {
            let before = self.spent.insert(thread, time).unwrap_or(0);
            let spent = time.checked_sub(before).filter(|spent| *spent > 0)?;
            let own = open.iter().rfind(|phase| phase.thread == thread);
            Some((thread, phases(own.or(open.last())), spent))
        });
        let threads = threads.collect();
        let (start, length) = (self.last, now - self.last);
        self.spans.push(Span { start, length, phases: phases(open.last()), threads });
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
            let mut stack = |phases: &[&'static str]| {
                [command].iter().chain(phases).fold(StackId::EMPTY, |stack, phase| {
                    let frame = builder.function(phase, "");
                    builder.push(stack, frame)
                })
            };
            let of_main = stack(&span.phases);
            let of_threads: Vec<StackId> =
                span.threads.iter().map(|(_, phases, _)| stack(phases)).collect();
            let moment = Moment {
                start: (span.start / 1000) as i64,
                length: (span.length / 1000) as i64,
                idle: false,
                gc: false,
                memory: 0,
            };
            let spent = span.threads.iter().find(|(thread, ..)| *thread == main);
            let cpu = spent.map_or(0, |(.., spent)| *spent as i64);
            builder.add_at(tracks[&main], of_main, &[cpu, span.length as i64], moment);
            let threads = span.threads.iter().zip(of_threads);
            for ((thread, _, spent), stack) in threads.filter(|((thread, ..), _)| *thread != main) {
                let name = format!("worker {}", tracks.len());
                let track =
                    *tracks.entry(*thread).or_insert_with(|| builder.thread_track(track(&name)));
                builder.add_at(track, stack, &[*spent as i64, 0], moment);
            }
        }
        builder.finish()
    }
}

/// The names of a phase and of those around it, the outermost first.
fn path(open: &[Open], last: &Open) -> Vec<&'static str> {
    let around = |phase: &&Open| open.iter().find(|open| open.number == phase.within);
    let mut names: Vec<_> =
        std::iter::successors(Some(last), around).map(|open| open.name).collect();
    names.reverse();
    names
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
