//! Loads a profile: one pass, in which a stack costs one lookup.
//!
//! Nearly all of a file are references to frames, and the same run of them comes again and again.
//! So a run is looked up as bytes, and only runs that were not met lately are decoded. A key that
//! is defined again, which is rare, changes the meaning of runs, so all of them are discarded.

mod frames;
mod repeat;
mod runs;

use super::records::{Event, Records, Varint, keys_of_run};
use super::sample_state::SampleState;
use super::thread_id::parse_thread_id;
use crate::error::Result;
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::input::read::count_one;
use crate::model::names::Names;
use crate::model::profile::{
    FrameId, FrameKind, ProfileBuilder, ProfileFrame, ProfileSample, StackId, StackTree,
    TaskChange, ThreadId,
};
use frames::Frames;
use repeat::Previous;
use runs::{RunKey, Runs};
use rustc_hash::FxHashMap;

pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let mut records = Records::new(bytes)?;
    let version_error = records.version_error();
    let mut loader = Loader::new(options.keep_samples);
    let damage = damage(loader.read(&mut records, options))?;
    match &damage {
        // The sample that the damage is in is not complete: its frames and metrics may be missing.
        Some(_) => loader.drop_cut_sample(),
        None => loader.finish_sample(),
    }
    Ok(LoadedProfile { profile: loader.builder.finish(), damage: damage.or(version_error) })
}

struct Loader<'a> {
    builder: ProfileBuilder,
    frames: Frames,
    threads: FxHashMap<(Varint, Option<Varint>, &'a [u8]), Place>,
    runs: Runs<'a>,
    /// The frames of a run while it is decoded; the buffer is reused.
    run_frames: Vec<FrameId>,
    previous: Previous,
    open: Option<Open>,
    /// The task whose frames follow, and how many of them.
    task: Option<Task>,
}

/// The thread and key scope of a STACK.
#[derive(Clone, Copy)]
struct Place {
    thread: ThreadId,
    /// The scope of keys.
    process: u32,
    /// The thread for STACK_REPEAT, which does not distinguish interpreters.
    repeat: u32,
}

/// The sample whose events are being read.
struct Open {
    place: Place,
    stack: StackId,
    state: SampleState,
}

struct Task {
    id: u64,
    name: u64,
    frames: u64,
    stack: StackId,
}

impl<'a> Loader<'a> {
    fn new(keep_samples: bool) -> Self {
        Self {
            builder: ProfileBuilder::new(keep_samples),
            frames: Frames::default(),
            threads: FxHashMap::default(),
            runs: Runs::new(),
            run_frames: Vec::new(),
            previous: Previous::default(),
            open: None,
            task: None,
        }
    }

    fn read(&mut self, records: &mut Records<'a>, options: ProfileOptions<'_>) -> Result<()> {
        let mut samples = 0u64;
        loop {
            // Frames of a task, and frames outside samples, are read one by one.
            if self.task.is_none() && self.open.is_some() {
                let run = records.run();
                if !run.is_empty() {
                    self.push_run(run);
                }
            }
            let Some(record) = records.next() else { return Ok(()) };
            let (offset, event) = record?;
            self.event(event);
            // Events that take memory. Stacks are checked when the next sample begins.
            if matches!(
                event,
                Event::Stack { .. }
                    | Event::Frame(_)
                    | Event::String { .. }
                    | Event::TaskStack { .. }
            ) {
                options.memory.check(offset, &self.builder, 0)?;
            }
            if matches!(event, Event::Stack { .. }) {
                samples = samples.wrapping_add(1);
                if samples.is_multiple_of(4096) {
                    (options.progress)(offset);
                }
            }
        }
    }

    #[inline]
    fn event(&mut self, event: Event<'a>) {
        match event {
            Event::Stack { pid, interpreter, thread } => {
                self.begin_sample(pid, interpreter, thread)
            }
            Event::Time { .. } | Event::Memory { .. } | Event::Gc | Event::Idle => {
                match &mut self.open {
                    Some(open) => open.state.note(&event),
                    None => count_one(&mut self.builder.notes().strays),
                }
            }
            Event::FrameRef { key } => self.frame_ref(key),
            Event::InvalidFrame => self.push(b"", FrameKind::Invalid),
            Event::KernelFrame { symbol } => self.push(symbol, FrameKind::Kernel),
            Event::String { key, value } => {
                let value = self.builder.name(value);
                self.frames.keys.define_string(key, value);
            }
            Event::Frame(definition) => {
                if definition.has_range() {
                    count_one(&mut self.builder.notes().ranges);
                }
                if self.frames.define(&definition, &mut self.builder) {
                    self.runs.forget();
                }
            }
            Event::Metadata { key, value } => {
                if self.open.as_ref().is_some_and(|open| open.state.has_metric()) {
                    self.finish_sample();
                }
                self.builder.metadata(key, value);
            }
            Event::StackRepeat => self.repeat(),
            Event::TaskStack { task, name, frames } => {
                self.task = Some(Task { id: task, name, frames, stack: StackId::EMPTY });
                self.finish_task();
            }
            Event::TaskWaiter { task, waiter } => {
                self.builder.task(task, TaskChange::Waiter(waiter))
            }
            Event::TaskRunning { task } => self.builder.task(task, TaskChange::Running),
            Event::StringRef { .. } => {}
        }
    }

    fn begin_sample(&mut self, pid: Varint, interpreter: Option<Varint>, thread: &'a [u8]) {
        self.finish_sample();
        self.task = None;
        let place = match self.threads.get(&(pid, interpreter, thread)) {
            Some(&place) => place,
            None => {
                let name = match parse_thread_id(thread) {
                    Some(id) => self.builder.name(id.to_string().as_bytes()),
                    None => self.builder.name(thread),
                };
                let place = Place {
                    thread: self.builder.thread(pid.value(), interpreter.map(Varint::value), name),
                    process: self.frames.keys.process(pid.value()),
                    repeat: self.previous.thread(pid.value(), thread),
                };
                self.threads.insert((pid, interpreter, thread), place);
                place
            }
        };
        self.frames.keys.enter(place.process);
        self.open = Some(Open { place, stack: StackId::EMPTY, state: SampleState::default() });
    }

    fn push_run(&mut self, run: &'a [u8]) {
        let Some(open) = &mut self.open else { return };
        let key = RunKey { process: open.place.process, below: open.stack, bytes: run };
        let (place, known) = self.runs.get(&key);
        if let Some(stack) = known {
            open.stack = stack;
            return;
        }
        self.run_frames.clear();
        // One frame too many is enough for the builder to see that the stack is too deep.
        for key in keys_of_run(run).take((StackTree::DEEPEST as usize).saturating_add(1)) {
            self.run_frames.push(self.frames.frame(key, &mut self.builder));
        }
        open.stack = self.builder.push_all(open.stack, &self.run_frames);
        // Undefined keys may be defined later and are counted each time. So are stacks that are too
        // deep.
        if !self.frames.take_guess() && !self.builder.is_cut() {
            self.runs.put(place, key, open.stack);
        }
    }

    fn frame_ref(&mut self, key: u64) {
        let frame = self.frames.frame(key, &mut self.builder);
        self.frames.take_guess();
        if let Some(task) = &mut self.task {
            task.stack = self.builder.push(task.stack, frame);
            task.frames = task.frames.saturating_sub(1);
            self.finish_task();
            return;
        }
        match &mut self.open {
            Some(open) => open.stack = self.builder.push(open.stack, frame),
            None => count_one(&mut self.builder.notes().strays),
        }
    }

    fn push(&mut self, function: &[u8], kind: FrameKind) {
        let function = self.builder.name(function);
        let frame =
            self.builder.frame(ProfileFrame { function, file: Names::EMPTY, line: 0, kind });
        match &mut self.open {
            Some(open) => open.stack = self.builder.push(open.stack, frame),
            None => count_one(&mut self.builder.notes().strays),
        }
    }

    /// Adds a task's stack to the profile when all of its frames are there.
    fn finish_task(&mut self) {
        let Some(task) = self.task.take_if(|task| task.frames == 0) else { return };
        let name = match task.name {
            0 => Names::EMPTY,
            key => self.frames.string(key, &mut self.builder),
        };
        self.builder.task(task.id, TaskChange::Stack { name, stack: task.stack });
    }

    /// STACK_REPEAT: the previous frames of this thread come first.
    fn repeat(&mut self) {
        let Some(open) = &mut self.open else {
            count_one(&mut self.builder.notes().strays);
            return;
        };
        if open.state.begins_repeat() {
            open.stack = self.previous.repeat(open.place.repeat, open.stack, &mut self.builder);
        }
    }

    fn finish_sample(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Open { place, stack, state: SampleState { time, memory, idle, gc, .. } } = open;
        let [time, memory] =
            [time, memory].map(|metric| metric.map(|metric| self.builder.metric(metric.value())));
        self.builder.count_cut();
        self.builder.sample(&ProfileSample { thread: place.thread, stack, time, memory, idle, gc });
        self.previous.set(place.repeat, stack);
    }

    /// Drops the sample that damage cuts, unless it has its metric, which comes last.
    fn drop_cut_sample(&mut self) {
        if self.open.as_ref().is_some_and(|open| open.state.has_metric()) {
            self.finish_sample();
        }
    }
}
