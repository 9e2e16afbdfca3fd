//! Loads a profile from Austin's text.

use super::records::{AustinLine, AustinSample, Lines, Metric};
use crate::error::Result;
use crate::input::frames::kind_of_file;
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::model::names::Names;
use crate::model::profile::{
    FrameKind, ProfileBuilder, ProfileFrame, ProfileSample, StackId, ThreadId,
};
use crate::model::sample::SampleFrame;
use rustc_hash::FxHashMap;

pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let mut loader = Loader {
        builder: ProfileBuilder::new(options.keep_samples),
        known: FxHashMap::default(),
        memory: false,
    };
    let damage = damage(loader.read(bytes, options))?;
    Ok(LoadedProfile { profile: loader.builder.finish(), damage })
}

struct Loader<'a> {
    builder: ProfileBuilder,
    /// Threads and stacks by the text of their lines.
    known: FxHashMap<&'a [u8], Known>,
    /// Whether a single number is a change of memory, not a time.
    memory: bool,
}

/// Bytes of memory for a known line, including its place in the table.
const KNOWN: u64 = 64;

#[derive(Clone, Copy)]
struct Known {
    thread: ThreadId,
    stack: StackId,
    gc: bool,
}

impl<'a> Loader<'a> {
    fn read(&mut self, bytes: &'a [u8], options: ProfileOptions<'_>) -> Result<()> {
        for (row, line) in Lines::new(bytes).enumerate() {
            let (offset, line) = line?;
            if row % 4096 == 0 {
                (options.progress)(offset);
            }
            match line {
                AustinLine::Metadata { key, value } => {
                    if key == b"mode" {
                        self.memory = value == b"memory";
                    }
                    self.builder.metadata(key, value);
                }
                AustinLine::Sample(sample) => self.sample(&sample),
            }
            options.memory.check(
                offset,
                &self.builder,
                (self.known.len() as u64).saturating_mul(KNOWN),
            )?;
        }
        Ok(())
    }

    fn sample(&mut self, sample: &AustinSample<'a>) {
        let Known { thread, stack, gc } = match self.known.get(sample.text) {
            Some(known) => *known,
            None => {
                let known = self.resolve(sample);
                self.known.insert(sample.text, known);
                known
            }
        };
        let (time, memory, idle) = match sample.metric {
            Metric::None => (None, None, false),
            Metric::One(memory) if self.memory => (None, Some(memory), false),
            Metric::One(time) => (Some(time), None, false),
            Metric::Full { time, idle, memory } => (Some(time), Some(memory), idle),
        };
        let time = time.map(|time| self.builder.metric(time));
        let memory = memory.map(|memory| self.builder.metric(memory));
        self.builder.sample(&ProfileSample { thread, stack, time, memory, idle, gc });
    }

    fn resolve(&mut self, sample: &AustinSample<'a>) -> Known {
        let name = self.builder.name(sample.thread);
        let thread = self.builder.thread(sample.pid, sample.interpreter, name);
        let (mut stack, mut gc) = (StackId::EMPTY, false);
        for frame in sample.frames() {
            let (function, file, line, kind) = match frame {
                Ok(SampleFrame::Code { file, function, line }) => {
                    let file = self.builder.name(file);
                    let kind = kind_of_file(self.builder.text(file));
                    (self.builder.name(function), file, self.builder.line(line), kind)
                }
                Ok(SampleFrame::Kernel(symbol)) => {
                    (self.builder.name(symbol), Names::EMPTY, 0, FrameKind::Kernel)
                }
                Ok(SampleFrame::Invalid) => (Names::EMPTY, Names::EMPTY, 0, FrameKind::Invalid),
                Err(text) => (self.builder.name(text), Names::EMPTY, 0, FrameKind::Code),
                Ok(SampleFrame::GarbageCollector) => {
                    gc = true;
                    continue;
                }
            };
            let frame = self.builder.frame(ProfileFrame { function, file, line, kind });
            stack = self.builder.push(stack, frame);
        }
        self.builder.count_cut();
        Known { thread, stack, gc }
    }
}
