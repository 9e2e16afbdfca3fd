//! Loads speedscope's profiles.

use super::document::{Document, Frame, OneProfile, frames};
use super::lists::{self, Event, List};
use super::plan::{Part, Plan};
use crate::error::Result;
use crate::input::frames::labelled_thread;
use crate::input::load::{LoadedProfile, ProfileOptions};
use crate::input::read::ReadOptions;
use crate::input::read::count_one;
use crate::model::profile::{
    FrameId, FrameKind, ProfileBuilder, ProfileFrame, ProfileSample, StackId, ThreadId, Values,
};

/// Loads a profile. Where each thread has times in whole microseconds and nothing else, it is a
/// recording in the order of time; otherwise it has sums, and a value type for each unit. Fails
/// when the profile takes more memory than it may, or has too many units. A file of which nothing
/// can be read gives an empty profile with its damage.
pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let read = ReadOptions {
        progress: options.progress,
        memory: options.memory,
        ..ReadOptions::default()
    };
    let (document, damage) = Document::read(bytes, read)?;
    let profile = profile(&document, bytes.len() as u64, options)?.finish();
    Ok(LoadedProfile { profile, damage })
}

/// The profile of a document in a file of `length` bytes.
pub(super) fn profile(
    document: &Document<'_>,
    length: u64,
    options: ProfileOptions<'_>,
) -> Result<ProfileBuilder> {
    let plan = Plan::of(document, length)?;
    let is_recording = plan.types.is_empty();
    let mut loader = Loader {
        builder: ProfileBuilder::new(options.keep_samples && is_recording),
        options,
        is_recording,
        values: vec![0; plan.types.len()],
        frames: Vec::new(),
        no_frames: None,
        unresolved: None,
        numbers: Vec::new(),
        stacks: Vec::new(),
    };
    for (key, text) in [("name", document.name), ("exporter", document.exporter)] {
        if let Some(text) = text {
            loader.builder.metadata(key.as_bytes(), text.decode().as_bytes());
        }
    }
    if !is_recording {
        loader.builder.set_value_types(plan.types, 0);
    }
    loader.read_frames(document, plan.is_own)?;
    for part in &plan.parts {
        (options.progress)((length / 2).saturating_add(part.profile.offset / 2));
        let thread = labelled_thread(&part.thread, &mut loader.builder);
        match part.profile.events {
            Some(events) => loader.read_events(part, thread, events)?,
            None => loader.read_samples(part, thread)?,
        }
    }
    Ok(loader.builder)
}

/// A placeholder for the frame that stands for a stack without frames.
const NO_FRAME: FrameId = FrameId(u32::MAX);

struct Loader<'o> {
    builder: ProfileBuilder,
    options: ProfileOptions<'o>,
    is_recording: bool,
    /// The numbers to add, one for each value type.
    values: Vec<i64>,
    /// Frames, by their number in the file.
    frames: Vec<FrameId>,
    /// The frame that dumptool writes for a stack without frames.
    no_frames: Option<u64>,
    /// The frame of numbers that are not in the file.
    unresolved: Option<FrameId>,
    /// The last stack: the numbers of its frames, and the stacks that end with them.
    numbers: Vec<u64>,
    stacks: Vec<StackId>,
}

impl Loader<'_> {
    fn read_frames(&mut self, document: &Document<'_>, is_own: bool) -> Result<()> {
        for (offset, frame) in frames(document.frames.unwrap_or_default(), 0) {
            let name = frame.name.map(|name| name.decode()).unwrap_or_default();
            if is_own && name == "<no frames>" {
                self.no_frames = Some(self.frames.len() as u64);
                self.frames.push(NO_FRAME);
                continue;
            }
            let (name, kind) = match name.strip_suffix(" [kernel]").filter(|_| is_own) {
                Some(name) => (name, FrameKind::Kernel),
                None => (&*name, FrameKind::Code),
            };
            let frame = self.frame(name, frame, kind);
            self.frames.push(frame);
            self.check(offset)?;
        }
        Ok(())
    }

    fn frame(&mut self, name: &str, frame: Frame<'_>, kind: FrameKind) -> FrameId {
        let function = self.builder.name(name.as_bytes());
        let file = frame.file.map(|file| file.decode()).unwrap_or_default();
        let file = self.builder.name(file.as_bytes());
        let line = self.builder.line(frame.line.into());
        self.builder.frame(ProfileFrame { function, file, line, kind })
    }

    fn read_samples(&mut self, part: &Part<'_, '_>, thread: ThreadId) -> Result<()> {
        let OneProfile { samples, weights, offset, .. } = *part.profile;
        let (mut samples, mut weights) = (List::new(samples), List::new(weights));
        let mut counts = part.counts.map(|counts| List::new(Some(counts)));
        let mut stack = Vec::new();
        while samples.next(|scanner| lists::stack(scanner, &mut stack)).is_some() {
            let id = self.stack(&stack);
            let weight = weights.next(lists::weight);
            let count = counts.as_mut().map(|counts| counts.next(lists::weight).unwrap_or(0));
            let count = count.map_or(1, |count| count.wrapping_div(lists::BILLION));
            self.add(part, thread, id, weight, u64::try_from(count).unwrap_or(0));
            self.check(offset)?;
        }
        Ok(())
    }

    /// Adds the time between two events to the frames that are open.
    fn read_events(&mut self, part: &Part<'_, '_>, thread: ThreadId, events: &[u8]) -> Result<()> {
        let OneProfile { start, end, offset, .. } = *part.profile;
        let mut events = List::new(Some(events));
        let mut open = vec![];
        let mut last = start;
        while let Some(Event { opens, frame, at }) = events.next(lists::event) {
            let stack = open.last().copied().unwrap_or(StackId::EMPTY);
            let from = last.unwrap_or(at);
            if at > from {
                self.add(part, thread, stack, Some(at.saturating_sub(from)), 1);
            }
            last = Some(at.max(from));
            if opens {
                let frame = self.resolve(frame);
                open.push(self.builder.push(stack, frame));
                self.builder.count_cut();
            } else {
                open.pop();
            }
            self.check(offset)?;
        }
        let stack = open.last().copied().unwrap_or(StackId::EMPTY);
        if let (Some(from), Some(end)) = (last, end)
            && end > from
        {
            self.add(part, thread, stack, Some(end.saturating_sub(from)), 1);
        }
        Ok(())
    }

    /// Adds `samples` samples whose sum is `number`.
    fn add(
        &mut self,
        part: &Part<'_, '_>,
        thread: ThreadId,
        stack: StackId,
        number: Option<i128>,
        samples: u64,
    ) {
        let number = number.map(|number| self.builder.metric(part.scale.apply(number)));
        if !self.is_recording {
            if let Some(value) = self.values.get_mut(part.value) {
                *value = number.unwrap_or(0);
            }
            self.builder.add(thread, stack, &Values::of_types(part.is_first.into(), &self.values));
            self.values.fill(0);
            return;
        }
        let sample =
            |time| ProfileSample { thread, stack, time, memory: None, idle: false, gc: false };
        // The first one takes the remainder.
        let count = i64::try_from(samples).unwrap_or(i64::MAX);
        let each = number.map(|number| number.checked_div(count).unwrap_or(0));
        let rest = number.unwrap_or(0).checked_rem(count).unwrap_or(0);
        for row in 0..samples {
            let rest = if row == 0 { rest } else { 0 };
            self.builder.sample(&sample(each.map(|each| each.saturating_add(rest))));
        }
    }

    fn stack(&mut self, numbers: &[u64]) -> StackId {
        if let ([only], Some(no_frames)) = (numbers, self.no_frames)
            && *only == no_frames
        {
            return StackId::EMPTY;
        }
        let same = self.numbers.iter().zip(numbers).take_while(|(one, other)| one == other).count();
        self.numbers.truncate(same);
        self.stacks.truncate(same);
        for &number in numbers.iter().skip(same) {
            let frame = self.resolve(number);
            let above = self.stacks.last().copied().unwrap_or(StackId::EMPTY);
            self.stacks.push(self.builder.push(above, frame));
            self.numbers.push(number);
        }
        self.builder.count_cut();
        self.stacks.last().copied().unwrap_or(StackId::EMPTY)
    }

    fn resolve(&mut self, number: u64) -> FrameId {
        let known = usize::try_from(number).ok().and_then(|number| self.frames.get(number));
        if let Some(frame) = known.filter(|frame| **frame != NO_FRAME) {
            return *frame;
        }
        count_one(&mut self.builder.notes().unresolved);
        let frame = self
            .unresolved
            .unwrap_or_else(|| self.frame("<unresolved>", Frame::default(), FrameKind::Native));
        *self.unresolved.insert(frame)
    }

    fn check(&self, offset: u64) -> Result<()> {
        let besides = (self.frames.len() as u64).saturating_mul(8);
        self.options.memory.check(offset, &self.builder, besides)
    }
}
