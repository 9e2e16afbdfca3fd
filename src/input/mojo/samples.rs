//! The samples of a MOJO file with their frames resolved, as a stream.

use super::records::{Event, Records, Varint};
use super::sample_state::SampleState;
use super::symbols::{Lookup, Symbols};
use super::thread_id::parse_thread_id;
use crate::error::{Error, Result};
use crate::input::read::ReadOptions;
use crate::input::read::count_one;
use crate::model::profile::StackTree;
use crate::model::sample::{Sample, SampleFrame, SampleSink, SampleThread};
use rustc_hash::FxHashMap;

/// Why a stream of samples ended early.
#[derive(Debug)]
pub enum Stop<E> {
    /// The input is damaged. All that came before has been given to the sink; the sample that was
    /// open has not.
    Damage(Error),
    Sink(E),
}

/// What a stream of samples had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streamed {
    pub samples: u64,
    /// Keys that were defined nowhere.
    pub unresolved: u64,
    /// Frames whose definitions have a range of columns.
    pub ranges: u64,
    /// 1 if damage cut a sample, which was not given to the sink.
    pub cut: u64,
    /// Samples of more than [`StackTree::DEEPEST`] frames, of which the outermost were given to the
    /// sink.
    pub deep: u64,
    /// Events about asyncio tasks, which a stream of samples does not show.
    pub task_events: u64,
}

/// Gives metadata and samples to the sink, in the order of the file. Returns the reason if this
/// stops before the end of the file.
///
/// A sample is given when it ends: at the next STACK, at metadata after its metric, or at the end
/// of the file.
pub fn for_each_sample<'a, S: SampleSink<'a>>(
    bytes: &'a [u8],
    lookup: Lookup,
    options: ReadOptions<'_>,
    sink: &mut S,
) -> (Streamed, Option<Stop<S::Error>>) {
    let mut stream = Stream { symbols: Symbols::new(lookup), ..Stream::default() };
    let stop = stream.run(bytes, options, sink).err();
    let cut = u64::from(matches!(stop, Some(Stop::Damage(_))) && stream.open.is_some());
    (Streamed { unresolved: stream.symbols.unresolved(), cut, ..stream.streamed }, stop)
}

const DEEPEST: usize = StackTree::DEEPEST as usize;

#[derive(Default)]
struct Stream<'a> {
    symbols: Symbols<'a>,
    /// `None` before the first STACK, and after a sample was given out.
    open: Option<Open<'a>>,
    frames: Vec<SampleFrame<'a>>,
    /// References that belong to a task, not to the sample.
    task_frames: u64,
    /// Whether frames were left out of the sample.
    cut: bool,
    /// The last frames of each thread, for STACK_REPEAT: (process, thread), as austin-python keys
    /// them.
    previous: FxHashMap<(i128, &'a [u8]), Vec<SampleFrame<'a>>>,
    streamed: Streamed,
}

struct Open<'a> {
    pid: i128,
    interpreter: Option<i128>,
    thread: &'a [u8],
    state: SampleState,
}

impl<'a> Stream<'a> {
    fn run<S: SampleSink<'a>>(
        &mut self,
        bytes: &'a [u8],
        options: ReadOptions<'_>,
        sink: &mut S,
    ) -> Result<(), Stop<S::Error>> {
        let records = Records::new(bytes).map_err(Stop::Damage)?;
        let version_error = records.version_error();
        for record in records {
            let (offset, event) = record.map_err(Stop::Damage)?;
            self.event(offset, event, sink)?;
            if matches!(event, Event::Stack { .. }) && self.streamed.samples.is_multiple_of(4096) {
                (options.progress)(offset);
            }
        }
        self.finish_sample(sink)?;
        version_error.map_or(Ok(()), |error| Err(Stop::Damage(error)))
    }

    #[inline]
    fn event<S: SampleSink<'a>>(
        &mut self,
        offset: u64,
        event: Event<'a>,
        sink: &mut S,
    ) -> Result<(), Stop<S::Error>> {
        match event {
            Event::FrameRef { key } => {
                let frame = self.symbols.frame(offset, key).map_err(Stop::Damage)?;
                match self.task_frames {
                    0 => self.push(frame),
                    left => self.task_frames = left.saturating_sub(1),
                }
            }
            Event::Stack { pid, interpreter, thread } => {
                self.finish_sample(sink)?;
                self.symbols.enter(pid.value());
                self.frames.clear();
                self.task_frames = 0;
                let interpreter = interpreter.map(Varint::value);
                self.open = Some(Open {
                    pid: pid.value(),
                    interpreter,
                    thread,
                    state: SampleState::default(),
                });
            }
            Event::Metadata { key, value } => {
                if self.open.as_ref().is_some_and(|open| open.state.has_metric()) {
                    self.finish_sample(sink)?;
                }
                sink.metadata(key, value).map_err(Stop::Sink)?;
            }
            Event::String { key, value } => self.symbols.keys.define_string(key, value),
            Event::Frame(definition) => {
                if definition.has_range() {
                    count_one(&mut self.streamed.ranges);
                }
                self.symbols.define_frame(offset, definition).map_err(Stop::Damage)?;
            }
            Event::InvalidFrame => self.push(SampleFrame::Invalid),
            Event::KernelFrame { symbol } => self.push(SampleFrame::Kernel(symbol)),
            Event::Gc => self.push(SampleFrame::GarbageCollector),
            Event::StackRepeat => self.repeat(),
            Event::TaskStack { frames, .. } => {
                self.task_frames = frames;
                count_one(&mut self.streamed.task_events);
            }
            Event::TaskWaiter { .. } | Event::TaskRunning { .. } => {
                count_one(&mut self.streamed.task_events)
            }
            Event::Idle | Event::Time { .. } | Event::Memory { .. } => {
                if let Some(open) = &mut self.open {
                    open.state.note(&event);
                }
            }
            Event::StringRef { .. } => {}
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, frame: SampleFrame<'a>) {
        if self.frames.len() < DEEPEST { self.frames.push(frame) } else { self.cut = true }
    }

    /// STACK_REPEAT: the previous frames of this thread come first. Native frames at their end
    /// belong to that moment only.
    fn repeat(&mut self) {
        let Some(open) = &mut self.open else { return };
        let previous = self.previous.get(&(open.pid, open.thread));
        let Some(previous) = previous.filter(|_| open.state.begins_repeat()) else { return };
        let native = previous.iter().rev().take_while(|frame| is_native(frame)).count();
        let kept = previous.iter().take(previous.len().saturating_sub(native)).copied();
        self.frames.splice(..0, kept);
        self.cut |= self.frames.len() > DEEPEST;
        self.frames.truncate(DEEPEST);
    }

    fn finish_sample<S: SampleSink<'a>>(&mut self, sink: &mut S) -> Result<(), Stop<S::Error>> {
        let Some(Open { pid, interpreter, thread, state }) = self.open.take() else {
            return Ok(());
        };
        let [time, memory] = [state.time, state.memory].map(|metric| metric.map(Varint::value));
        let sample = Sample {
            pid,
            interpreter,
            thread: parse_thread_id(thread).map_or(SampleThread::Name(thread), SampleThread::Id),
            frames: &self.frames,
            time,
            memory,
            idle: state.idle,
        };
        sink.sample(&sample).map_err(Stop::Sink)?;
        if std::mem::take(&mut self.cut) {
            count_one(&mut self.streamed.deep);
        }
        count_one(&mut self.streamed.samples);
        let previous = self.previous.entry((pid, thread)).or_default();
        previous.clear();
        previous
            .extend(self.frames.iter().filter(|frame| matches!(frame, SampleFrame::Code { .. })));
        Ok(())
    }
}

/// A frame of native code: its file is neither a Python source nor a name like `<string>`.
fn is_native(frame: &SampleFrame<'_>) -> bool {
    match frame {
        SampleFrame::Code { file, .. } => {
            let python = file.ends_with(b".py") || file.starts_with(b"<") && file.ends_with(b">");
            !python
        }
        _ => true,
    }
}
