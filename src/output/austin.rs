//! Austin's text: collapsed stacks, one sample a line, with metadata as comments.
//!
//! ```text
//! # mode: wall
//! P<pid>;T<interpreter>:<thread>;<file>:<function>:<line>;… <metric>
//! ```
//!
//! Files of Austin 3.6 and later contain the interpreter. In the mode `full` the metric is
//! `time,idle,memory`.

use super::kept_samples;
use super::written::Written;
use crate::model::profile::{FrameKind, Profile, ProfileFrame};
use crate::model::sample::{Sample, SampleFrame, SampleSink, SampleThread};
use crate::output::loss::LossKind;
use memchr::{memchr, memchr2};
use std::borrow::Cow;
use std::io::{self, Write};

/// The dialect of Austin's text. The two programs that print MOJO as text differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// The output of Austin 3.x and of mojo2austin of austin-python 1.7.1: everything, in the
    /// order of the file.
    #[default]
    Full,
    /// The output of mojo2austin of austin-python 2.x: invalid, kernel and GC frames are left out, the mode
    /// `full` shows the time only, a missing metric is `None`, and a sample is printed when the
    /// next one begins, so that metadata at the end of the file comes before the last sample.
    Peer,
}

/// Writes samples as lines of text.
#[derive(Debug)]
pub struct AustinWriter<'a, W> {
    out: W,
    dialect: Dialect,
    mode: Mode,
    /// The unwritten part of a line that may be far longer.
    line: Vec<u8>,
    /// The sample that waits for the next one (dialect `peer`).
    held: Option<Held<'a>>,
    counts: AustinCounts,
}

/// A sample, to be written later.
#[derive(Debug)]
struct Held<'a> {
    mode: Mode,
    /// The sample without its frames.
    sample: Sample<'a, 'a>,
    frames: Vec<SampleFrame<'a>>,
}

/// Bytes of a line that are written together.
const BLOCK: usize = 16 << 10;

/// Counts of written samples, and of data that the text or the dialect cannot store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AustinCounts {
    /// Lines that are samples.
    pub samples: u64,
    /// Invalid, kernel and GC frames (dialect `peer`).
    pub left_out_frames: u64,
    /// Samples whose memory and idle state was left out (dialect `peer`, mode `full`).
    pub left_out_metrics: u64,
    /// Samples that have no metric: written as 0 (`full`) or `None` (`peer`).
    pub without_metric: u64,
    /// Names that were not UTF-8 and got U+FFFD.
    pub replaced: u64,
    /// Names of functions with a colon, and names with a semicolon or line break: readers take these
    /// for the end of a name.
    pub ambiguous: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Time,
    Memory,
    Full,
}

impl AustinCounts {
    /// What the text cannot hold.
    pub(crate) fn losses(&self) -> [(LossKind, u64); 3] {
        [
            (LossKind::SpecialFrames, self.left_out_frames),
            (LossKind::FullModeMetrics, self.left_out_metrics),
            (LossKind::AmbiguousNames, self.ambiguous),
        ]
    }
}

impl<'a, W: Write> AustinWriter<'a, W> {
    /// A writer to `out`, which should be buffered.
    pub fn new(out: W, dialect: Dialect) -> Self {
        Self {
            out,
            dialect,
            mode: Mode::Time,
            line: Vec::new(),
            held: None,
            counts: AustinCounts::default(),
        }
    }

    /// Ends the text and returns the output. Fails when the output cannot be written.
    pub fn finish(mut self) -> io::Result<(W, AustinCounts)> {
        self.write_held()?;
        Ok((self.out, self.counts))
    }

    fn write_held(&mut self) -> io::Result<()> {
        let Some(Held { mode, sample, frames }) = self.held.take() else { return Ok(()) };
        let now = std::mem::replace(&mut self.mode, mode);
        let written = self.write_sample(&Sample { frames: &frames, ..sample });
        self.mode = now;
        written
    }

    fn write_block(&mut self) -> io::Result<()> {
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }

    fn write_sample(&mut self, sample: &Sample<'_, '_>) -> io::Result<()> {
        self.line.push(b'P');
        self.push_number(sample.pid);
        self.line.extend_from_slice(b";T");
        if let Some(interpreter) = sample.interpreter {
            self.push_number(interpreter);
            self.line.push(b':');
        }
        match sample.thread {
            SampleThread::Id(id) => self.push_number(id),
            SampleThread::Name(name) => self.push_text(name),
        }
        for frame in sample.frames {
            self.push_frame(frame);
            if self.line.len() >= BLOCK {
                self.write_block()?;
            }
        }
        self.line.push(b' ');
        self.push_metric(sample);
        self.line.push(b'\n');
        self.counts.samples += 1;
        self.write_block()
    }

    fn push_frame(&mut self, frame: &SampleFrame<'_>) {
        match (frame, self.dialect) {
            (SampleFrame::Code { file, function, line }, _) => {
                self.line.push(b';');
                self.push_text(file);
                self.line.push(b':');
                self.push_text(function);
                self.counts.ambiguous += u64::from(memchr(b':', function).is_some());
                self.line.push(b':');
                self.push_number(*line);
            }
            (_, Dialect::Peer) => self.counts.left_out_frames += 1,
            (SampleFrame::Invalid, _) => self.line.extend_from_slice(b";:INVALID:"),
            (SampleFrame::GarbageCollector, _) => self.line.extend_from_slice(b";:GC:"),
            (SampleFrame::Kernel(symbol), _) => {
                self.line.extend_from_slice(b";kernel:");
                self.push_text(symbol);
                self.line.extend_from_slice(b":0");
            }
        }
    }

    fn push_metric(&mut self, sample: &Sample<'_, '_>) {
        let metric = if self.mode == Mode::Memory { sample.memory } else { sample.time };
        self.counts.without_metric += u64::from(metric.is_none());
        match (self.mode, self.dialect) {
            (Mode::Full, Dialect::Full) => {
                self.push_number(metric.unwrap_or(0));
                self.line.extend_from_slice(if sample.idle { b",1," } else { b",0," });
                self.push_number(sample.memory.unwrap_or(0));
            }
            (_, Dialect::Full) => self.push_number(metric.unwrap_or(0)),
            (mode, Dialect::Peer) => {
                self.counts.left_out_metrics += u64::from(mode == Mode::Full);
                match metric {
                    Some(metric) => self.push_number(metric),
                    None => self.line.extend_from_slice(b"None"),
                }
            }
        }
    }

    fn push_number(&mut self, number: i128) {
        let mut buffer = itoa::Buffer::new();
        // Formatting 128 bits is slow, and hardly any number needs them.
        self.line.extend_from_slice(match i64::try_from(number) {
            Ok(small) => buffer.format(small).as_bytes(),
            Err(_) => buffer.format(number).as_bytes(),
        });
    }

    fn push_text(&mut self, text: &[u8]) {
        let text = lossy(text);
        self.counts.replaced += u64::from(matches!(text, Cow::Owned(_)));
        self.counts.ambiguous += u64::from(memchr2(b';', b'\n', &text).is_some());
        self.line.extend_from_slice(&text);
    }
}

/// Writes the samples of the threads that are wanted, of a profile that has kept them. Fails when
/// the output cannot be written, or the profile has not kept its samples.
pub fn write_profile(
    profile: &Profile,
    wanted: &dyn Fn(usize) -> bool,
    dialect: Dialect,
    out: &mut impl Write,
) -> io::Result<Written> {
    let samples = kept_samples(profile)?;
    let mut writer = AustinWriter::new(out, dialect);
    let mut metadata = profile.metadata.iter().peekable();
    let mut ids = Vec::new();
    for (row, sample) in samples.iter().enumerate() {
        while let Some(metadatum) = metadata.next_if(|metadatum| metadatum.before <= row as u64) {
            writer.metadata(metadatum.key.as_bytes(), metadatum.value.as_bytes())?;
        }
        if !wanted(sample.thread.index()) {
            continue;
        }
        let thread = profile.thread(sample.thread);
        profile.stacks.outermost_first(sample.stack, &mut ids);
        let mut frames: Vec<_> =
            ids.iter().map(|id| stream_frame(profile, profile.frame(*id))).collect();
        if sample.gc {
            frames.push(SampleFrame::GarbageCollector);
        }
        writer.sample(&Sample {
            pid: thread.process().unwrap_or(0),
            interpreter: thread.interpreter,
            thread: SampleThread::Name(thread.id(&profile.names).as_bytes()),
            frames: &frames,
            time: sample.time.map(i128::from),
            memory: sample.memory.map(i128::from),
            idle: sample.idle,
        })?;
    }
    metadata.try_for_each(|metadatum| {
        writer.metadata(metadatum.key.as_bytes(), metadatum.value.as_bytes())
    })?;
    let (_, counts) = writer.finish()?;
    let mut written = Written { stacks: counts.samples, ..Written::default() };
    counts.losses().into_iter().for_each(|(what, count)| written.lose(what, count));
    Ok(written)
}

fn stream_frame(profile: &Profile, frame: ProfileFrame) -> SampleFrame<'_> {
    let function = profile.names.text(frame.function).as_bytes();
    match frame.kind {
        FrameKind::Code | FrameKind::Native => SampleFrame::Code {
            file: profile.names.text(frame.file).as_bytes(),
            function,
            line: frame.line.into(),
        },
        FrameKind::Kernel => SampleFrame::Kernel(function),
        FrameKind::Gc => SampleFrame::GarbageCollector,
        FrameKind::Invalid => SampleFrame::Invalid,
    }
}

impl<'a, W: Write> SampleSink<'a> for AustinWriter<'a, W> {
    type Error = io::Error;

    fn metadata(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        if key == b"mode" {
            self.mode = match value {
                b"memory" => Mode::Memory,
                b"full" => Mode::Full,
                _ => Mode::Time,
            };
        }
        let text = [b"# ", &*lossy(key), b": ", &*lossy(value), b"\n"].concat();
        self.out.write_all(&text)
    }

    fn sample(&mut self, sample: &Sample<'a, '_>) -> io::Result<()> {
        if self.dialect == Dialect::Full {
            return self.write_sample(sample);
        }
        self.write_held()?;
        let Sample { pid, interpreter, thread, frames, time, memory, idle } = *sample;
        let sample = Sample { pid, interpreter, thread, frames: &[], time, memory, idle };
        self.held = Some(Held { mode: self.mode, sample, frames: frames.to_vec() });
        Ok(())
    }
}

/// Returns valid UTF-8 unchanged, and replaces other bytes with U+FFFD.
fn lossy(text: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(text) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(replaced) => Cow::Owned(replaced.into_bytes()),
    }
}
