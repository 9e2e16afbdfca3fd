//! A profile as hprof without a heap, as the JDK's profiler wrote it.
//!
//! ```text
//! UTF8 …          every name
//! FRAME …         every frame; a kernel function is of the file `kernel`, an invalid frame has no name and the line -1
//! START_THREAD …  threads; their groups are `process N` and `interpreter N`
//! TRACE …         one for each thread and stack
//! CPU_SAMPLES     samples, or another metric that was requested, of each trace
//! ALLOC_SITES     memory that came into use, and how much of it is still in use
//! ```
//!
//! Numbers have 32 bits: larger ones are written in several parts, which readers add up. Parts of
//! sums and frames of traces have a budget: a few bytes of a recording can claim a sum of 2⁶², and
//! a tree of stacks is much smaller than its stacks one by one.

use super::super::written::{ValueSum, Written};
use super::records::{Out, header, tag};
use super::share::Share;
use crate::model::names::NameId;
use crate::model::profile::{Aggregate, FrameKind, Metric, Mode, Profile, ProfileFrame, Unit};
use crate::output::loss::LossKind;
use std::io::{self, Write};

/// Writes the sums of the selected threads: the metric, or the default data of the mode, which is
/// samples, and memory where it was measured. Fails when the output cannot be written.
pub fn write_profile(
    profile: &Profile,
    wanted: &dyn Fn(usize) -> bool,
    metric: Option<Metric>,
    out: &mut impl Write,
) -> io::Result<Written> {
    let of_file = !profile.value_types.is_empty();
    let is_memory = |metric: &Metric| metric.unit().bytes().is_some();
    // A memory metric of the file has one number, allocated memory. Standard metrics also count
    // freed memory.
    let requested = metric.is_some();
    let metric = metric.or_else(|| of_file.then(|| profile.default_metric()).filter(is_memory));
    let counted = metric.clone().unwrap_or_else(|| sample_counts(profile));
    let mut writer =
        Writer { profile, wanted, out: Out::new(out, false), written: Written::default() };
    header(&mut writer.out)?;
    let kernel = writer.names()?;
    writer.frames(kernel)?;
    writer.traces()?;
    if !is_memory(&counted) {
        writer.cpu_samples(&counted)?;
    }
    if metric.as_ref().map_or(matches!(profile.mode, Mode::Memory | Mode::Full), is_memory) {
        if of_file {
            writer.alloc_sites(&counted, None)?
        } else {
            writer.alloc_sites(&Metric::MEMORY_GAINED, Some(&Metric::MEMORY_FREED))?
        }
    }
    let is_time = |metric: &Metric| metric.unit().nanoseconds().is_some();
    let has_times = if of_file {
        profile.metrics_in_order().iter().any(is_time)
    } else {
        profile.total.time() != 0
    };
    writer.written.lose(LossKind::SampledTimes, u64::from(metric.is_none() && has_times));
    let others = profile.metrics().into_iter().filter(|metric| {
        of_file && !requested && *metric != counted && !(has_times && is_time(metric))
    });
    writer.written.lose(LossKind::OtherValues, others.count() as u64);
    let is_named = |frame: &&ProfileFrame| {
        frame.kind == FrameKind::Kernel && !profile.names.text(frame.file).is_empty()
    };
    let files = profile.frames.iter().filter(is_named).count();
    writer.written.lose(LossKind::KernelFiles, files as u64);
    writer.written.lose(LossKind::Metadata, profile.metadata.len() as u64);
    writer.out.flush()?;
    Ok(writer.written)
}

/// The number of samples. A file whose rows are sums may state it as a metric.
fn sample_counts(profile: &Profile) -> Metric {
    let is_count = |metric: &Metric| metric.name() == "samples" && *metric.unit() == Unit::Count;
    profile.metrics_in_order().into_iter().find(is_count).unwrap_or(Metric::SAMPLES)
}

struct Writer<'a, W: Write> {
    profile: &'a Profile,
    wanted: &'a dyn Fn(usize) -> bool,
    out: Out<&'a mut W>,
    written: Written,
}

/// The maximum number of entries in one record, whose length has 32 bits, too.
const MOST: usize = 1 << 24;

/// The number of entries that all sums together may take in addition to one each.
const MORE_PARTS: u64 = 1 << 16;

/// The budget of frames of all traces: a fixed part, and a part for each trace. Deeper traces lose
/// their outermost frames.
const FRAMES: (u64, u64) = (4 << 20, 256);

impl<'a, W: Write> Writer<'a, W> {
    fn rows(&self) -> impl Iterator<Item = (u32, Aggregate)> + use<'a, W> {
        let (profile, wanted) = (self.profile, self.wanted);
        // Serials begin at 1.
        (1..).zip(profile.aggregate.iter()).filter(move |(_, row)| wanted(row.thread.index()))
    }

    fn text(&mut self, id: u64, text: &str) -> io::Result<u64> {
        self.out.id(id);
        self.out.bytes(text.as_bytes());
        self.out.record(tag::UTF8)?;
        Ok(id)
    }

    /// Writes names and threads, and returns the name of the kernel's file.
    fn names(&mut self) -> io::Result<u64> {
        let profile = self.profile;
        for number in 0..profile.names.len() as u32 {
            self.text(name(NameId(number)), profile.names.text(NameId(number)))?;
        }
        let mut next = profile.names.len() as u64 + 1;
        let mut fresh = || {
            next += 1;
            next - 1
        };
        let kernel = self.text(fresh(), "kernel")?;
        for (index, thread) in
            profile.threads.iter().enumerate().filter(|(index, _)| (self.wanted)(*index))
        {
            let id = self.text(fresh(), thread.id(&profile.names))?;
            let group =
                self.text(fresh(), &format!("process {}", thread.process().unwrap_or(0)))?;
            let parent = match thread.interpreter {
                Some(interpreter) => self.text(fresh(), &format!("interpreter {interpreter}"))?,
                None => 0,
            };
            self.out.u4(index as u32 + 1);
            self.out.id(0);
            self.out.u4(0);
            [id, group, parent].into_iter().for_each(|id| self.out.id(id));
            self.out.record(tag::START_THREAD)?;
        }
        Ok(kernel)
    }

    fn frames(&mut self, kernel: u64) -> io::Result<()> {
        let profile = self.profile;
        for (index, frame) in profile.frames.iter().enumerate() {
            let ProfileFrame { function, file, line, kind } = *frame;
            let line = i32::try_from(line).unwrap_or(i32::MAX);
            let (source, line) = match kind {
                FrameKind::Kernel => (kernel, -3),
                FrameKind::Invalid => (0, -1),
                FrameKind::Code | FrameKind::Native | FrameKind::Gc => {
                    (if profile.names.text(file).is_empty() { 0 } else { name(file) }, line)
                }
            };
            self.out.id(index as u64 + 1);
            self.out.id(name(function));
            self.out.id(0);
            self.out.id(source);
            self.out.u4(0);
            self.out.u4(line as u32);
            self.out.record(tag::FRAME)?;
        }
        Ok(())
    }

    fn traces(&mut self) -> io::Result<()> {
        let profile = self.profile;
        let depths = profile.stacks.depths();
        let depth = |row: &Aggregate| u64::from(depths[row.stack.index()]);
        let mut share = Share::default();
        self.rows().for_each(|(_, row)| share.add(depth(&row)));
        let deepest = share.limit(FRAMES.0 + FRAMES.1 * self.rows().count() as u64);
        let most = usize::try_from(deepest).unwrap_or(usize::MAX);
        let mut frames = Vec::new();
        let mut cut = 0;
        for (serial, row) in self.rows() {
            frames.clear();
            // Innermost frames come first.
            frames.extend(profile.stacks.frames(row.stack).take(most));
            cut += depth(&row).saturating_sub(deepest);
            self.out.u4(serial);
            self.out.u4(row.thread.0 + 1);
            self.out.u4(frames.len() as u32);
            frames.iter().for_each(|frame| self.out.id(u64::from(frame.0) + 1));
            self.out.record(tag::TRACE)?;
            self.written.stacks += 1;
        }
        self.written.lose(LossKind::CutFrames, cut);
        Ok(())
    }

    /// The maximum number of parts of a row's numbers.
    fn most_parts(&mut self, number: impl Fn(&Aggregate) -> u64) -> u64 {
        let mut share = Share::default();
        self.rows().for_each(|(_, row)| share.add(count_parts(number(&row)).saturating_sub(1)));
        let most = share.limit(MORE_PARTS).saturating_add(1);
        let cut = self.rows().filter(|(_, row)| count_parts(number(row)) > most).count();
        self.written.lose(LossKind::CutSums, cut as u64);
        most
    }

    fn cpu_samples(&mut self, metric: &Metric) -> io::Result<()> {
        self.lose_negative_numbers(metric);
        let number = move |row: &Aggregate| row.values.get(metric).max(0) as u64;
        let most = self.most_parts(number);
        let entries = self
            .rows()
            .flat_map(|(serial, row)| parts(number(&row), most).map(move |part| (part, serial)));
        let mut entries = entries.peekable();
        let mut sum = 0i64;
        while entries.peek().is_some() {
            let chunk: Vec<_> = entries.by_ref().take(MOST).collect();
            let total = chunk.iter().map(|(part, _)| u64::from(*part)).sum::<u64>();
            sum = sum.saturating_add(i64::try_from(total).unwrap_or(i64::MAX));
            self.out.u4(u32::try_from(total).unwrap_or(u32::MAX));
            self.out.u4(chunk.len() as u32);
            for (part, serial) in chunk {
                self.out.u4(part);
                self.out.u4(serial);
            }
            self.out.record(tag::CPU_SAMPLES)?;
        }
        self.written.sums.push(ValueSum::of(&metric.of, sum));
        Ok(())
    }

    fn lose_negative_numbers(&mut self, metric: &Metric) {
        let negative = self.rows().filter(|(_, row)| row.values.get(metric) < 0).count();
        self.written.lose(LossKind::NegativeNumbers, negative as u64);
    }

    fn alloc_sites(&mut self, metric: &Metric, freed: Option<&Metric>) -> io::Result<()> {
        let number =
            |row: &Aggregate, metric: &Metric| u64::try_from(row.values.get(metric)).unwrap_or(0);
        let gained = move |row: &Aggregate| number(row, metric);
        let freed = move |row: &Aggregate| freed.map_or(0, |freed| number(row, freed));
        let live = move |row: &Aggregate| gained(row).saturating_sub(freed(row));
        let surplus = self.rows().filter(|(_, row)| freed(row) > gained(row)).count();
        self.written.lose(LossKind::FreedSurplus, surplus as u64);
        self.lose_negative_numbers(metric);
        let sites = self.rows().filter(|(_, row)| gained(row) > 0 || row.values.samples() > 0);
        // Live memory is a part of the memory that was allocated.
        let largest = move |row: &Aggregate| gained(row).max(row.values.samples());
        let most = self.most_parts(largest);
        let sites = sites.flat_map(move |(serial, row)| {
            // The largest of the numbers determines the number of parts.
            let count = count_parts(largest(&row)).min(most) as usize;
            let numbers = [gained(&row), live(&row), row.values.samples()];
            let [bytes, live, samples] =
                numbers.map(|number| parts(number, most).chain(std::iter::repeat(0)));
            bytes
                .zip(live)
                .zip(samples)
                .take(count)
                .map(move |((bytes, live), samples)| (serial, bytes, live, samples))
        });
        let mut sites = sites.peekable();
        let mut sum = 0i64;
        while sites.peek().is_some() {
            let chunk: Vec<_> = sites.by_ref().take(MOST).collect();
            let total = |number: fn(&(u32, u32, u32, u32)) -> u32| {
                chunk.iter().map(|site| u64::from(number(site))).sum::<u64>()
            };
            let (bytes, live, samples) =
                (total(|site| site.1), total(|site| site.2), total(|site| site.3));
            sum = sum.saturating_add(i64::try_from(bytes).unwrap_or(i64::MAX));
            // Flags: not sorted, and no site was left out.
            self.out.u2(0);
            self.out.u4(0f32.to_bits());
            self.out.u4(u32::try_from(live).unwrap_or(u32::MAX));
            self.out.u4(u32::try_from(samples).unwrap_or(u32::MAX));
            self.out.u8(bytes);
            self.out.u8(samples);
            self.out.u4(chunk.len() as u32);
            for (serial, bytes, live, samples) in chunk {
                self.out.u1(0);
                [0, serial, live, samples, bytes, samples]
                    .into_iter()
                    .for_each(|number| self.out.u4(number));
            }
            self.out.record(tag::ALLOC_SITES)?;
        }
        self.written.sums.push(ValueSum::of(&metric.of, sum));
        Ok(())
    }
}

/// The id of a name; 0 is none.
fn name(name: NameId) -> u64 {
    u64::from(name.0) + 1
}

/// The number of 32-bit values that add up to this one.
fn count_parts(number: u64) -> u64 {
    number.div_ceil(u32::MAX.into())
}

/// Splits a number into at most `most` numbers of 32 bits that add up to it, or to the largest
/// possible sum. Returns none for 0.
fn parts(number: u64, most: u64) -> impl Iterator<Item = u32> {
    let mut rest = number.min(most.saturating_mul(u32::MAX.into()));
    std::iter::from_fn(move || {
        let part = u32::try_from(rest).unwrap_or(u32::MAX);
        rest -= u64::from(part);
        (part > 0).then_some(part)
    })
}
