//! MOJO version 3, of a profile whose samples were kept.
//!
//! Keys are small numbers, and each process defines the keys that it uses: readers look keys up by
//! process.

use super::kept_samples;
use super::written::{ValueSum, Written};
use crate::model::names::NameId;
use crate::model::profile::{
    FrameId, FrameKind, Metric, Profile, ProfileMetadatum, ProfileSample, Values,
};
use crate::output::loss::LossKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes the samples of the selected threads. With `merge`, adjacent samples of a thread that
/// differ only in their numbers become one. Metadata that counts samples is left out if it would no
/// longer be true. Fails when the output cannot be written, or the profile has not kept its
/// samples.
pub fn write(
    profile: &Profile,
    wanted: &dyn Fn(usize) -> bool,
    merge: bool,
    out: &mut impl Write,
) -> io::Result<Written> {
    let samples = kept_samples(profile)?;
    let whole = !merge && (0..profile.threads.len()).all(wanted);
    let mut writer = Writer {
        profile,
        out,
        event: Vec::new(),
        defined: FxHashMap::default(),
        sums: Values::default(),
        cleaned: 0,
    };
    writer.out.write_all(b"MOJ\x03")?;
    let mut metadata = profile
        .metadata
        .iter()
        .filter(|metadatum| is_kept(metadatum, whole, samples.len()))
        .peekable();
    // The sample of each thread that may grow.
    let mut pending: Vec<Option<ProfileSample>> = vec![None; profile.threads.len()];
    for (row, sample) in samples.iter().enumerate() {
        while let Some(metadatum) = metadata.next_if(|metadatum| metadatum.before <= row as u64) {
            writer.metadata(metadatum)?;
        }
        let thread = sample.thread.index();
        if !wanted(thread) {
            continue;
        }
        if !merge {
            writer.sample(&sample)?;
            continue;
        }
        match pending[thread].as_mut().and_then(|before| merged(before, &sample)) {
            Some(sum) => pending[thread] = Some(sum),
            None => {
                if let Some(before) = pending[thread].replace(sample) {
                    writer.sample(&before)?;
                }
            }
        }
    }
    pending.into_iter().flatten().try_for_each(|sample| writer.sample(&sample))?;
    metadata.try_for_each(|metadatum| writer.metadata(metadatum))?;
    Ok(writer.written(whole, samples.len()))
}

/// Merges two samples if nothing but their separate numbers is lost.
fn merged(a: &ProfileSample, b: &ProfileSample) -> Option<ProfileSample> {
    let add = |a: Option<i64>, b: Option<i64>| match (a, b) {
        (None, None) => Some(None),
        // Allocated and freed memory are counted separately.
        (Some(a), Some(b)) if (a >= 0) == (b >= 0) => a.checked_add(b).map(Some),
        _ => None,
    };
    let same = (a.stack, a.idle, a.gc) == (b.stack, b.idle, b.gc);
    Some(ProfileSample { time: add(a.time, b.time)?, memory: add(a.memory, b.memory)?, ..*a })
        .filter(|_| same)
}

/// Whether metadata stays true. From version 4 on, `saturation` counts rounds of sampling, but
/// readers of version 3 take these as samples.
fn is_kept(metadatum: &ProfileMetadatum, whole: bool, samples: usize) -> bool {
    let rounds =
        metadatum.value.split_once('/').and_then(|(_, total)| total.trim().parse::<usize>().ok());
    let of_rounds = metadatum.key == "saturation" && rounds != Some(samples);
    !counts_samples(metadatum) || whole && !of_rounds
}

fn counts_samples(metadatum: &ProfileMetadatum) -> bool {
    ["count", "saturation", "errors", "gc"].contains(&metadatum.key.as_str())
}

struct Writer<'a, W> {
    profile: &'a Profile,
    out: &'a mut W,
    event: Vec<u8>,
    defined: FxHashMap<i128, (FxHashSet<NameId>, FxHashSet<FrameId>)>,
    sums: Values,
    cleaned: u64,
}

impl<W: Write> Writer<'_, W> {
    fn metadata(&mut self, metadatum: &ProfileMetadatum) -> io::Result<()> {
        self.event.push(1);
        self.text(&metadatum.key);
        self.text(&metadatum.value);
        self.flush()
    }

    fn sample(&mut self, sample: &ProfileSample) -> io::Result<()> {
        let profile = self.profile;
        let thread = profile.thread(sample.thread);
        self.event.push(2);
        self.varint(thread.process().unwrap_or(0));
        self.varint(thread.interpreter.unwrap_or(0));
        let name = thread.id(&profile.names);
        self.text(&hexadecimal(name).unwrap_or_else(|| name.into()));
        let mut frames = Vec::new();
        profile.stacks.outermost_first(sample.stack, &mut frames);
        self.define(thread.process().unwrap_or(0), &frames);
        for frame in frames {
            let definition = profile.frame(frame);
            match definition.kind {
                FrameKind::Code | FrameKind::Native => {
                    self.event.push(5);
                    self.varint(frame_key(frame));
                }
                FrameKind::Kernel => {
                    self.event.push(6);
                    self.text(profile.names.text(definition.function));
                }
                FrameKind::Invalid => self.event.push(4),
                FrameKind::Gc => self.event.push(7),
            }
        }
        if sample.gc {
            self.event.push(7);
        }
        if let Some(time) = sample.time {
            self.event.push(9);
            self.varint(time.into());
        }
        if sample.idle {
            self.event.push(8);
        }
        if let Some(memory) = sample.memory {
            self.event.push(10);
            self.varint(memory.into());
        }
        self.sums.add(&Values::of_sample(sample));
        self.flush()
    }

    /// Defines the names and frames that the process has not defined yet.
    fn define(&mut self, pid: i128, frames: &[FrameId]) {
        let (mut names, mut known) = self.defined.remove(&pid).unwrap_or_default();
        for &frame in frames {
            let definition = self.profile.frame(frame);
            if !matches!(definition.kind, FrameKind::Code | FrameKind::Native)
                || !known.insert(frame)
            {
                continue;
            }
            for name in [definition.file, definition.function] {
                if names.insert(name) {
                    self.event.push(11);
                    self.varint(string_key(name));
                    self.text(self.profile.names.text(name));
                }
            }
            self.event.push(3);
            self.varint(frame_key(frame));
            self.varint(string_key(definition.file));
            self.varint(string_key(definition.function));
            self.varint(definition.line.into());
            // Last line and columns are unknown.
            self.event.extend_from_slice(&[0, 0, 0]);
        }
        self.defined.insert(pid, (names, known));
    }

    fn text(&mut self, text: &str) {
        // A string ends at the first NUL.
        let clean: Cow<'_, str> =
            if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() };
        self.cleaned += u64::from(matches!(clean, Cow::Owned(_)));
        self.event.extend_from_slice(clean.as_bytes());
        self.event.push(0);
    }

    fn varint(&mut self, value: i128) {
        // Numbers of files have 64 bits and a sign.
        let magnitude = u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX);
        let mut byte = (magnitude & 0x3f) as u8 | if value < 0 { 0x40 } else { 0 };
        let mut rest = magnitude >> 6;
        while rest > 0 {
            self.event.push(byte | 0x80);
            byte = (rest & 0x7f) as u8;
            rest >>= 7;
        }
        self.event.push(byte);
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.event)?;
        self.event.clear();
        Ok(())
    }

    fn written(self, whole: bool, samples: usize) -> Written {
        let metrics =
            self.profile.metrics().into_iter().filter(|metric| *metric != Metric::SAMPLES);
        let sum = |metric: Metric| ValueSum::of(&metric.of, self.sums.get(&metric));
        let notes = &self.profile.notes;
        let left_out = self
            .profile
            .metadata
            .iter()
            .filter(|metadatum| !is_kept(metadatum, whole, samples))
            .count();
        let without_interpreter =
            self.profile.threads.iter().filter(|thread| thread.interpreter.is_none()).count();
        let losses = [
            (LossKind::FrameRanges, notes.ranges),
            (LossKind::TaskEvents, notes.task_events),
            (LossKind::MetadataOfSamples, left_out as u64),
            (LossKind::UnknownInterpreters, without_interpreter as u64),
            (LossKind::ReplacedNuls, self.cleaned),
        ];
        let mut written = Written {
            stacks: self.sums.samples(),
            sums: metrics.map(sum).collect(),
            lost: Vec::new(),
        };
        losses.into_iter().for_each(|(what, count)| written.lose(what, count));
        written
    }
}

/// Keys 0 and 1 are reserved for undefined names.
fn string_key(name: NameId) -> i128 {
    i128::from(name.0) + 2
}

fn frame_key(frame: FrameId) -> i128 {
    i128::from(frame.0) + 2
}

/// The id of a thread as Austin writes it. `None` for a name; a number in another form, such as
/// `007`, is one.
fn hexadecimal(thread: &str) -> Option<Cow<'static, str>> {
    let id: i128 = thread.parse().ok().filter(|id: &i128| id.to_string() == thread)?;
    let sign = if id < 0 { "-" } else { "" };
    Some(format!("{sign}{:x}", id.unsigned_abs()).into())
}
