//! Loads a recording as sums of stacks.
//!
//! The numbers of a sample are 1 and its period, which belongs to its event: one value type for all
//! samples, and one for each event, as those of `perf script`'s text.

use super::attributes::Attribute;
use super::file::PerfFile;
use super::frames::{Frames, Side};
use super::processes::Processes;
use super::sample::Sample;
use super::walk::{Events, Record, kind, walk};
use crate::error::Result;
use crate::input::frames::{perf_thread, set_perf_types};
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::model::profile::{Code, FrameId, ProfileBuilder, StackId, ThreadId};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// Loads a profile of sums. Fails when the file is not one of perf, or the profile takes more
/// memory than it may.
pub fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let (profile, _) = load_counted(bytes, options)?;
    Ok(profile)
}

/// The counts of a recording that a profile does not have.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) lost: u64,
    /// Samples with bytes of their stack that were not unwound.
    pub(super) not_unwound: u64,
}

/// Events that have value types of their own. Those of a hostile file beyond that count as samples
/// only.
const MOST_EVENTS: usize = 64;

/// The number of records between two checks of the memory.
const STEP: u64 = 4096;

/// Loads a profile, and counts what it does not have.
pub(super) fn load_counted(
    bytes: &[u8],
    options: ProfileOptions<'_>,
) -> Result<(LoadedProfile, Counts)> {
    let mut file = PerfFile::read(bytes)?;
    let (survey, first) = Survey::of(&mut file, options)?;
    let Survey { processes, counts, samples, .. } = survey;
    let mut builder = ProfileBuilder::new(options.keep_samples);
    let titles = file.attributes.iter().map(Attribute::title);
    set_perf_types(&mut builder, titles.zip(samples).take(MOST_EVENTS));
    for (key, value) in &file.features.metadata {
        builder.metadata(key.as_bytes(), value.as_bytes());
    }
    if options.keep_code || options.symbols.is_some() {
        *builder.code() = Some(Code::default());
    }
    let events = Events::of(&file.attributes);
    let mut loader = Loader {
        builder,
        file: &file,
        processes,
        events,
        frames: Frames::new(options.symbols.and_then(|symbols| symbols.unwinder())),
        threads: FxHashMap::default(),
        stack: Vec::new(),
        values: vec![0; file.attributes.len().min(MOST_EVENTS).saturating_add(1)],
        options,
        records: 0,
        not_unwound: 0,
    };
    let second = damage(walk(file.data, &mut |record| loader.record(record)))?;
    let counts = Counts { not_unwound: loader.not_unwound, ..counts };
    loader.builder.begin_with_first_event();
    let profile = options.named(loader.builder.finish());
    let damage = second.or(first).or_else(|| file.damage.clone());
    Ok((LoadedProfile { profile, damage }, counts))
}

/// The findings of a first pass: processes, and the number of samples of each event.
#[derive(Debug, Default)]
struct Survey {
    processes: Processes,
    counts: Counts,
    samples: Vec<u64>,
    records: u64,
}

impl Survey {
    /// Reads all records but the samples. Attributes and features that are records become those of
    /// the file.
    fn of(
        file: &mut PerfFile<'_>,
        options: ProfileOptions<'_>,
    ) -> Result<(Self, Option<crate::error::Error>)> {
        let mut found = None;
        if file.is_pipe {
            found = file.read_head_records()?;
        }
        let events = Events::of(&file.attributes);
        let mut survey = Self { samples: vec![0; file.attributes.len()], ..Self::default() };
        let read = walk(file.data, &mut |record| {
            survey.record(record, &events, options).map(|()| ControlFlow::Continue(()))
        });
        let found = damage(read)?.or(found);
        survey.processes.finish(&file.features);
        Ok((survey, found))
    }

    fn record(
        &mut self,
        record: &Record<'_>,
        events: &Events,
        options: ProfileOptions<'_>,
    ) -> Result<()> {
        self.records = self.records.saturating_add(1);
        if self.records.is_multiple_of(STEP) {
            (options.progress)(record.offset / 4);
            options.memory.check_bytes(record.offset, self.processes.bytes())?;
        }
        let mut lost = |number: u64| self.counts.lost = self.counts.lost.saturating_add(number);
        match record.kind {
            kind::SAMPLE => {
                if let Some(count) = self.samples.get_mut(events.of_sample(record)) {
                    *count = count.saturating_add(1);
                }
            }
            kind::LOST => {
                let mut words = record.words();
                words.u64("an event")?;
                lost(words.u64("lost records")?);
            }
            kind::LOST_SAMPLES => lost(record.words().u64("lost samples")?),
            _ => self.processes.add(record, events)?,
        }
        Ok(())
    }
}

struct Loader<'f> {
    builder: ProfileBuilder,
    file: &'f PerfFile<'f>,
    processes: Processes,
    events: Events,
    frames: Frames<'f>,
    /// Threads by their ids, and also by name if the name of a thread changes.
    threads: FxHashMap<(i32, i32, Vec<u8>), ThreadId>,
    stack: Vec<FrameId>,
    values: Vec<i64>,
    options: ProfileOptions<'f>,
    records: u64,
    not_unwound: u64,
}

/// The bits of `misc` that state what ran: the kernel (1), a program (2), or guests.
const MODE: u16 = 7;
const IN_KERNEL: u16 = 1;

impl Loader<'_> {
    fn record(&mut self, record: &Record<'_>) -> Result<ControlFlow<()>> {
        self.records = self.records.saturating_add(1);
        if self.records.is_multiple_of(STEP) {
            (self.options.progress)(record.offset);
            let besides = self.frames.bytes().saturating_add(self.processes.bytes());
            self.options.memory.check(record.offset, &self.builder, besides)?;
        }
        if record.kind == kind::SAMPLE {
            let number = self.events.of_sample(record);
            if let Some(event) = self.file.attributes.get(number) {
                self.sample(record, number, event)?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn sample(&mut self, record: &Record<'_>, number: usize, event: &Attribute) -> Result<()> {
        let sample = Sample::read(record, event)?;
        let thread = self.thread(&sample);
        let side = if record.misc & MODE == IN_KERNEL { Side::Kernel } else { Side::User };
        let to = (&mut self.builder, &mut self.stack);
        let is_whole = self.frames.of_sample(&sample, side, event, &self.processes, to);
        self.not_unwound = self.not_unwound.saturating_add(u64::from(!is_whole));
        let stack = self.builder.push_all(StackId::EMPTY, &self.stack);
        self.builder.count_cut();
        self.values.fill(0);
        let period = self.builder.metric(sample.period.into());
        for (place, value) in [(0, 1), (number.saturating_add(1), period)] {
            if let Some(place) = self.values.get_mut(place) {
                *place = value;
            }
        }
        let time = sample.time.and_then(|time| Some((i64::try_from(time / 1000).ok()?, 0)));
        self.builder.timed(time, thread, stack, (1, &self.values));
        Ok(())
    }

    fn thread(&mut self, sample: &Sample<'_>) -> ThreadId {
        let (pid, tid) = (sample.pid, sample.tid);
        let time = sample.time.unwrap_or(u64::MAX);
        let has_one = self.processes.has_one_name(tid);
        let name = if has_one { &[][..] } else { self.processes.name(tid, time) };
        // An empty vector takes no memory.
        if let Some(&known) = self.threads.get(&(pid, tid, name.to_vec())) {
            return known;
        }
        let key = (pid, tid, name.to_vec());
        let name = self.processes.name(tid, time).to_vec();
        let process = Some(i64::from(pid)).filter(|pid| *pid >= 0);
        let thread = perf_thread(&mut self.builder, process, tid.into(), &name);
        self.threads.insert(key, thread);
        thread
    }
}
