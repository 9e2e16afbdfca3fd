//! The summary of a MOJO file for `info`: counts and sums from one pass.

use super::records::{Event, FrameRefs, Records, Varint};
use super::sample_state::SampleState;
use super::symbols::Symbols;
use crate::error::{Error, Result};
use crate::input::info::{Hottest, Info, InfoWarning, ProfileInfo};
use crate::input::profile_info::metrics;
use crate::input::read::ReadOptions;
use crate::model::names::Names;
use crate::model::profile::{FrameKind, Mode, StandardSums, Values, display_name};
use crate::model::sample::SampleFrame;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::num::Saturating;

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (tally, damage) = Tally::of(bytes, options)?;
    let mut info = super::SPEC.summary(tally.version.to_string());
    info.set_damage(damage);
    for (key, value) in &tally.metadata {
        info.add_metadata(String::from_utf8_lossy(key), String::from_utf8_lossy(value));
    }
    info.records.add_all(Event::NAMES.iter().copied().zip(tally.counts));
    info.warnings = tally.warnings();
    info.profile = Some(tally.profile());
    Ok(info)
}

/// Counts from one pass over the events.
#[derive(Default)]
pub(super) struct Tally<'a> {
    pub(super) version: u64,
    pub(super) counts: [u64; Event::NAMES.len()],
    pub(super) metadata: Vec<(&'a [u8], &'a [u8])>,
    pub(super) symbols: Symbols<'a>,
    pub(super) samples: Saturating<u64>,
    pub(super) empty_samples: Saturating<u64>,
    pub(super) invalid_samples: Saturating<u64>,
    pub(super) gc_samples: Saturating<u64>,
    pub(super) timeless_samples: Saturating<u64>,
    pub(super) memoryless_samples: Saturating<u64>,
    /// Frames and metrics before the first STACK.
    pub(super) strays: Saturating<u64>,
    pub(super) time: Saturating<i128>,
    pub(super) busy_time: Saturating<i128>,
    pub(super) memory: Saturating<i128>,
    memory_gained: Saturating<i128>,
    pub(super) gc_time: Saturating<i128>,
    pub(super) threads: FxHashSet<(i128, Option<i128>, &'a [u8])>,
    /// Whether samples of idle threads do not count in this mode.
    only_busy: bool,
    /// Time, or the change of memory in files without times, by (function, file) of the innermost
    /// frame.
    self_values: FxHashMap<(&'a [u8], &'a [u8]), i128>,
    open: Option<Open>,
    task_frames: u64,
    /// Whether the file is damaged here: the rest of the open sample is lost.
    cut: bool,
}

/// The sample whose events are being read.
#[derive(Default)]
struct Open {
    frames: Saturating<u64>,
    leaf: Option<(u64, u64)>,
    invalid: bool,
    state: SampleState,
}

impl<'a> Tally<'a> {
    /// Counts until the end or the first damage, which is returned beside the counts.
    pub(super) fn of(bytes: &'a [u8], options: ReadOptions<'_>) -> Result<(Self, Option<Error>)> {
        let mut records = Records::new(bytes)?;
        let mut damage = records.version_error();
        let mut tally = Self { version: records.version(), ..Self::default() };
        loop {
            // References are read one by one while they may be frames of a task.
            if tally.task_frames == 0
                && let Some(refs) = records.frame_refs()
            {
                tally.frame_refs(refs);
            }
            match records.next() {
                Some(Ok((offset, event))) => tally.event(offset, event, options),
                Some(Err(error)) => {
                    damage = Some(error);
                    tally.cut = true;
                }
                None => break,
            }
        }
        tally.finish_sample();
        Ok((tally, damage))
    }

    #[inline]
    fn event(&mut self, offset: u64, event: Event<'a>, options: ReadOptions<'_>) {
        if let Some(count) = self.counts.get_mut(event.index()) {
            *count = count.saturating_add(1);
        }
        match event {
            Event::FrameRef { key } if self.task_frames == 0 => {
                self.open_frames(FrameRefs { count: 1, offset, key })
            }
            Event::FrameRef { .. } => self.task_frames = self.task_frames.saturating_sub(1),
            Event::Stack { pid, interpreter, thread } => {
                self.finish_sample();
                self.symbols.enter(pid.value());
                self.threads.insert((pid.value(), interpreter.map(|id| id.value()), thread));
                self.open = Some(Open::default());
                self.task_frames = 0;
                self.samples += 1;
                if self.samples.0.is_multiple_of(4096) {
                    (options.progress)(offset);
                }
            }
            Event::Time { .. } | Event::Memory { .. } | Event::Gc | Event::Idle => {
                self.sample(|open| open.state.note(&event))
            }
            Event::InvalidFrame => self.sample(|open| open.invalid = true),
            Event::KernelFrame { .. } | Event::StackRepeat => self.sample(|open| open.frames += 1),
            Event::TaskStack { frames, .. } => self.task_frames = frames,
            Event::Metadata { key, value } => {
                if key == b"mode" {
                    self.only_busy = value == b"cpu";
                }
                self.metadata.push((key, value));
            }
            Event::String { key, value } => self.symbols.keys.define_string(key, value),
            Event::Frame(definition) => {
                let _ = self.symbols.define_frame(offset, definition); // Cannot fail under Lookup::Robust.
            }
            Event::StringRef { .. } | Event::TaskWaiter { .. } | Event::TaskRunning { .. } => {}
        }
    }

    fn frame_refs(&mut self, refs: FrameRefs) {
        let index = Event::FrameRef { key: refs.key }.index();
        if let Some(count) = self.counts.get_mut(index) {
            *count = count.saturating_add(refs.count);
        }
        self.open_frames(refs);
    }

    fn open_frames(&mut self, refs: FrameRefs) {
        match &mut self.open {
            Some(open) => {
                open.frames += refs.count;
                open.leaf = Some((refs.offset, refs.key));
            }
            None => self.strays += refs.count,
        }
    }

    #[inline]
    fn sample(&mut self, change: impl FnOnce(&mut Open)) {
        match &mut self.open {
            Some(open) => change(open),
            None => self.strays += 1,
        }
    }

    fn finish_sample(&mut self) {
        let Some(open) = self.open.take() else { return };
        let SampleState { time, memory, idle, gc, .. } = open.state;
        let has_time = time.is_some();
        // A cut sample may lack its metric only because of the damage.
        self.timeless_samples += u64::from(!has_time && !self.cut);
        self.memoryless_samples += u64::from(memory.is_none() && !self.cut);
        let [time, memory] = [time, memory].map(|metric| metric.map_or(0, Varint::value));
        self.empty_samples += u64::from(open.frames.0 == 0);
        self.invalid_samples += u64::from(open.invalid);
        self.time += time;
        self.memory += memory;
        self.memory_gained += memory.max(0);
        if !idle {
            self.busy_time += time;
        }
        if gc {
            self.gc_samples += 1;
            self.gc_time += time;
        }
        let Some((offset, key)) = open.leaf else { return };
        if let Ok(SampleFrame::Code { file, function, .. }) = self.symbols.frame(offset, key) {
            let value = match has_time {
                true if idle && self.only_busy => 0,
                true => time,
                false => memory,
            };
            // Names are cut to the length that the model keeps: long ones are hashed in every sample.
            let kept = |name: &'a [u8]| name.get(..Names::LONGEST).unwrap_or(name);
            let sum = self.self_values.entry((kept(function), kept(file))).or_default();
            *sum = sum.saturating_add(value);
        }
    }

    pub(super) fn count(&self, name: &str) -> u64 {
        Event::NAMES
            .iter()
            .zip(self.counts)
            .find(|(known, _)| **known == name)
            .map_or(0, |(_, count)| count)
    }

    /// The last value of a metadata key.
    pub(super) fn metadatum(&self, key: &str) -> Option<&'a str> {
        let (_, value) = self.metadata.iter().rev().find(|(known, _)| *known == key.as_bytes())?;
        std::str::from_utf8(value).ok()
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.metadatum(key)?.trim().parse().ok()
    }

    fn profile(&self) -> ProfileInfo {
        let mode = self.metadatum("mode");
        let total = self.total();
        ProfileInfo {
            mode: mode.map(str::to_owned),
            samples: self.samples.0,
            empty_samples: self.empty_samples.0,
            invalid_samples: self.invalid_samples.0,
            processes: self.symbols.keys.process_count(),
            threads: self.threads.len() as u64,
            frames: self.symbols.keys.frame_count(),
            strings: self.symbols.keys.string_count(),
            time_us: clamp(self.time.0),
            cpu_time_us: matches!(mode, Some("full" | "cpu")).then(|| clamp(self.busy_time.0)),
            memory_bytes: (self.count("memory") > 0)
                .then(|| self.memory.0.clamp(i64::MIN.into(), i64::MAX.into()) as i64),
            gc_samples: self.gc_samples.0,
            gc_time_us: clamp(self.gc_time.0),
            interval_us: self.number("interval"),
            duration_us: self.number("duration"),
            metrics: metrics(&Mode::of(mode.unwrap_or_default()).metrics(&total), &total),
            hottest: self.hottest(&total),
            unnamed: Vec::new(),
            details: None,
        }
    }

    /// The sums that metrics read.
    fn total(&self) -> Values {
        let narrow =
            |sum: i128| i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX });
        let sums = StandardSums {
            time: narrow(self.time.0),
            idle_time: narrow(self.time.0.saturating_sub(self.busy_time.0)),
            gc_time: narrow(self.gc_time.0),
            memory_gained: narrow(self.memory_gained.0),
            memory_freed: narrow(self.memory_gained.0.saturating_sub(self.memory.0)),
        };
        Values::of_sums(self.samples.0, self.gc_samples.0, sums)
    }

    /// The function with the largest value of its own, as tables show it; ties are broken by name.
    /// `None` for files that repeat stacks by reference, whose innermost frames are not known
    /// without resolving them.
    fn hottest(&self, total: &Values) -> Option<Hottest> {
        let repeats = self.count("stack_repeat") > 0;
        let mode = Mode::of(self.metadatum("mode").unwrap_or_default());
        let total = mode.metrics(total).swap_remove(0).shown().whole(total);
        let ((function, file), value) =
            self.self_values.iter().min_by_key(|(name, value)| (Reverse(**value), **name))?;
        (!repeats && *value > 0 && total > 0).then(|| Hottest {
            name: display_name(FrameKind::Code, &String::from_utf8_lossy(function)).to_owned(),
            namespace: Some(String::from_utf8_lossy(file).into_owned())
                .filter(|file| !file.is_empty()),
            share: *value as f64 / total as f64,
        })
    }

    fn warnings(&self) -> Vec<InfoWarning> {
        let mut warnings = Vec::new();
        if self.symbols.unresolved() > 0 {
            warnings.push(InfoWarning::UndefinedKeys(self.symbols.unresolved()));
        }
        if self.time.0 < 0 {
            warnings.push(InfoWarning::NegativeTime);
        }
        warnings.extend(self.metadatum("errors").and_then(InfoWarning::invalid_samples));
        warnings
    }
}

/// `12/3400` as Austin writes `errors` and `saturation`.
pub(super) fn parse_ratio(text: &str) -> Option<(u64, u64)> {
    let (part, total) = text.split_once('/')?;
    Some((part.trim().parse().ok()?, total.trim().parse().ok()?))
}

fn clamp(value: i128) -> u64 {
    value.clamp(0, u64::MAX.into()) as u64
}
