//! Loads a perf script as sums of stacks.
//!
//! The numbers of a sample are 1 and its period, which belongs to its event: one value type for all
//! samples, and one for each event that has periods.

use super::lines::{PerfLine, PerfLines};
use super::parse::{PerfFrame, PerfSample};
use crate::error::Result;
use crate::input::frames::{perf_thread, set_perf_types};
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::model::names::{NameId, Names};
use crate::model::profile::{
    FrameId, FrameKind, ProfileBuilder, ProfileFrame, StackId, ThreadId, library_name,
};
use rustc_hash::FxHashMap;

/// Loads a profile of sums. Fails when the profile takes more memory than it may. A file of which
/// nothing can be read gives an empty profile with its damage.
pub fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let events = events(bytes);
    let mut builder = ProfileBuilder::new(options.keep_samples);
    let named = events.iter().map(|(event, samples)| {
        let name = String::from_utf8_lossy(event).into_owned();
        (name, *samples)
    });
    set_perf_types(&mut builder, named);
    for (key, value) in header(bytes) {
        builder.metadata(key, value);
    }
    let mut loader = Loader {
        builder,
        events: events.into_iter().map(|(event, _)| event).collect(),
        threads: FxHashMap::default(),
        known: FxHashMap::default(),
        sample: None,
        frames: Vec::new(),
        stack: Vec::new(),
    };
    let damage = damage(loader.read(bytes, options))?;
    loader.builder.begin_with_first_event();
    Ok(LoadedProfile { profile: loader.builder.finish(), damage })
}

/// Converts a time in seconds to microseconds.
fn microseconds(seconds: &[u8]) -> Option<i64> {
    let seconds: f64 = std::str::from_utf8(seconds).ok()?.parse().ok()?;
    Some((seconds * 1e6).round() as i64)
}

/// Events that have value types of their own. Those of a hostile file beyond that count as samples
/// only.
const MOST_EVENTS: usize = 64;

/// The events that have periods, in the order in which they appear, and how many samples each has.
fn events(bytes: &[u8]) -> Vec<(&[u8], u64)> {
    let mut events: Vec<(&[u8], u64)> = Vec::new();
    for (_, line) in PerfLines::new(bytes).map_while(Result::ok) {
        let PerfLine::Sample(PerfSample { period: Some(_), event, .. }) = line else { continue };
        let known = events.iter().position(|(known, _)| *known == event);
        let row = known.unwrap_or(events.len());
        if row == events.len() && row < MOST_EVENTS {
            events.push((event, 0));
        }
        if let Some((_, samples)) = events.get_mut(row) {
            *samples = samples.saturating_add(1);
        }
    }
    events
}

/// Returns the header that `perf script --header` prints: lines `# key : value` before the first
/// sample.
fn header(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    /// The maximum number of lines. perf writes some twenty, and lists of the machine's parts.
    const MOST: usize = 256;
    let lines = bytes.split(|byte| *byte == b'\n').take(MOST);
    lines.take_while(|line| line.starts_with(b"#")).filter_map(|line| {
        let at = memchr::memmem::find(line, b" : ")?;
        let key = line.get(1..at)?.trim_ascii();
        Some((key, line.get(at.saturating_add(3)..)?.trim_ascii()))
    })
}

struct Loader<'a> {
    builder: ProfileBuilder,
    events: Vec<&'a [u8]>,
    threads: FxHashMap<(Option<i64>, i64, &'a [u8]), ThreadId>,
    /// Frames by the symbol and the file of their lines.
    known: FxHashMap<(&'a [u8], &'a [u8], bool), FrameId>,
    /// The sample whose frames are being read.
    sample: Option<PerfSample<'a>>,
    /// The frames of that sample, innermost first.
    frames: Vec<PerfFrame<'a>>,
    /// The frames of the current sample. The memory is used again for the next one.
    stack: Vec<FrameId>,
}

impl<'a> Loader<'a> {
    fn read(&mut self, bytes: &'a [u8], options: ProfileOptions<'_>) -> Result<()> {
        let mut samples = 0u64;
        let mut lines = PerfLines::new(bytes);
        let read = lines.try_for_each(|line| match line? {
            (offset, PerfLine::Sample(sample)) => {
                if samples.is_multiple_of(4096) {
                    (options.progress)(offset);
                }
                samples = samples.saturating_add(1);
                self.end_sample();
                self.sample = Some(sample);
                options.memory.check(offset, &self.builder, 0)
            }
            (_, PerfLine::Frame(frame)) => {
                self.frames.push(frame);
                Ok(())
            }
        });
        self.end_sample();
        read
    }

    fn end_sample(&mut self) {
        let Some(sample) = self.sample.take() else { return };
        let thread = self.thread(&sample);
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        let mut frames = std::mem::take(&mut self.frames);
        // A frame that was inlined is in the file of the function that it is a part of.
        let mut file: &[u8] = b"";
        for frame in frames.drain(..).rev() {
            file = if frame.dso == b"inlined" { file } else { frame.dso };
            stack.push(self.frame(&frame, file));
        }
        self.frames = frames;
        let id = self.builder.push_all(StackId::EMPTY, &stack);
        self.builder.count_cut();
        self.stack = stack;
        let mut values = vec![0; self.events.len().saturating_add(1)];
        if let Some(samples) = values.first_mut() {
            *samples = 1;
        }
        let event = self.events.iter().position(|event| *event == sample.event);
        let place = event.and_then(|event| values.get_mut(event.saturating_add(1)));
        if let (Some(place), Some(period)) = (place, sample.period) {
            *place = self.builder.metric(period.into());
        }
        let time = sample.time.and_then(microseconds).map(|start| (start, 0));
        self.builder.timed(time, thread, id, (1, &values));
    }

    /// The thread of a sample, with its name as a label.
    fn thread(&mut self, sample: &PerfSample<'a>) -> ThreadId {
        let &PerfSample { comm, pid, tid, .. } = sample;
        if let Some(&known) = self.threads.get(&(pid, tid, comm)) {
            return known;
        }
        let thread = perf_thread(&mut self.builder, pid, tid, comm);
        self.threads.insert((pid, tid, comm), thread);
        thread
    }

    fn frame(&mut self, frame: &PerfFrame<'a>, file: &'a [u8]) -> FrameId {
        let is_kernel = is_kernel(frame, file);
        if let Some(&known) = self.known.get(&(frame.symbol, file, is_kernel)) {
            return known;
        }
        let kind = if is_kernel { FrameKind::Kernel } else { FrameKind::Native };
        let function = self.function(frame.symbol, file);
        let name = match file {
            b"[unknown]" => Names::EMPTY,
            file => self.builder.name(file),
        };
        let id = self.builder.frame(ProfileFrame { function, file: name, line: 0, kind });
        self.known.insert((frame.symbol, file, is_kernel), id);
        id
    }

    /// The name of a symbol; that of its file if there is none.
    fn function(&mut self, symbol: &[u8], file: &[u8]) -> NameId {
        if !matches!(symbol, b"" | b"[unknown]") {
            return self.builder.name(symbol);
        }
        match library_name(file).as_slice() {
            b"[]" => self.builder.name(b"[unknown]"),
            name => self.builder.name(name),
        }
    }
}

/// The kernel has the upper half of the addresses, where a stack that was not unwound well may have
/// numbers of no file, too. Modules are shown as offsets in a file if that is known.
fn is_kernel(frame: &PerfFrame<'_>, file: &[u8]) -> bool {
    let name = file.rsplit(|byte| *byte == b'/').next().unwrap_or(file);
    frame.address >> 63 == 1 && !matches!(name, b"" | b"[unknown]")
        || name.starts_with(b"[kernel.")
        || name.starts_with(b"[guest.kernel.")
        || name.starts_with(b"vmlinux")
        || name.ends_with(b".ko")
}
