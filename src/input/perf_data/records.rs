//! The records of a recording, for `cat`.

use super::attributes::Attribute;
use super::file::PerfFile;
use super::sample::Sample;
use super::walk::{Events, Record, kind, walk};
use crate::error::Result;
use crate::input::read::{ReadOptions, Visitor};
use crate::model::fields::{self, FieldSink};

pub(super) const NAMES: &[&str] = &[
    "sample",
    "mmap",
    "mmap2",
    "comm",
    "fork",
    "exit",
    "lost",
    "lost_samples",
    "attribute",
    "feature",
    "build_id",
    "kernel",
    "user",
];

/// The name of a record's type; `kernel` or `user` (perf's own) for types that are not read.
pub(super) fn name(kind: u32) -> &'static str {
    match kind {
        kind::SAMPLE => "sample",
        kind::MMAP => "mmap",
        kind::MMAP2 => "mmap2",
        kind::COMM => "comm",
        kind::FORK => "fork",
        kind::EXIT => "exit",
        kind::LOST => "lost",
        kind::LOST_SAMPLES => "lost_samples",
        kind::HEADER_ATTR => "attribute",
        kind::HEADER_FEATURE => "feature",
        kind::BUILD_ID => "build_id",
        kind if kind >= kind::FIRST_OF_USER => "user",
        _ => "kernel",
    }
}

/// A record with what is needed to read it.
struct Shown<'r> {
    record: Record<'r>,
    event: Option<&'r Attribute>,
    time: Option<u64>,
}

/// Gives every record to the visitor. Fails with the first damage.
pub fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let mut file = PerfFile::read(bytes)?;
    if file.is_pipe {
        file.read_head_records()?;
    }
    let events = Events::of(&file.attributes);
    let mut number = 0u64;
    walk(file.data, &mut |record| {
        if number.is_multiple_of(4096) {
            (options.progress)(record.offset);
        }
        number = number.saturating_add(1);
        let event = match record.kind {
            kind::SAMPLE => file.attributes.get(events.of_sample(record)),
            _ => None,
        };
        if let Some(event) = event {
            // The contents are shown, so they must be readable.
            Sample::read(record, event)?;
        }
        let is_of_kernel = record.kind < kind::FIRST_OF_USER && event.is_none();
        let time = events.time_before_end.filter(|_| is_of_kernel);
        let time = time.and_then(|at| record.before_end(at));
        Ok(visitor.record(record.offset, &Shown { record: *record, event, time }))
    })?;
    file.damage.map_or(Ok(()), Err)
}

impl fields::Record for Shown<'_> {
    fn name(&self) -> &'static str {
        name(self.record.kind)
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        if let Some(time) = self.time {
            sink.unsigned("time", time);
        }
        match self.event {
            Some(event) => sample(&self.record, event, sink),
            // A field that is cut ends the list.
            None => _ = other(&self.record, sink),
        }
    }
}

fn sample<S: FieldSink>(record: &Record<'_>, event: &Attribute, sink: &mut S) {
    let Ok(sample) = Sample::read(record, event) else { return };
    sink.text("event", event.title().as_bytes());
    sink.signed("pid", sample.pid.into());
    sink.signed("tid", sample.tid.into());
    if let Some(time) = sample.time {
        sink.unsigned("time", time);
    }
    if let Some(cpu) = sample.cpu {
        sink.unsigned("cpu", cpu.into());
    }
    sink.unsigned("period", sample.period);
    sink.address("ip", sample.ip);
    sink.list("chain", sample.chain.iter(), |address, sink| sink.address("address", address));
    if !sample.stack.is_empty() {
        sink.unsigned("stack_bytes", sample.stack.len() as u64);
    }
}

fn other<S: FieldSink>(record: &Record<'_>, sink: &mut S) -> Result<()> {
    let mut words = record.words();
    match record.kind {
        kind::MMAP | kind::MMAP2 => {
            sink.signed("pid", (words.u32("")? as i32).into());
            sink.signed("tid", (words.u32("")? as i32).into());
            sink.address("start", words.u64("")?);
            sink.unsigned("length", words.u64("")?);
            sink.unsigned("offset", words.u64("")?);
            if record.kind == kind::MMAP2 {
                words.take(24, "")?;
                sink.unsigned("protection", words.u32("")?.into());
                words.u32("")?;
            }
            sink.text("file", words.text());
        }
        kind::COMM => {
            sink.signed("pid", (words.u32("")? as i32).into());
            sink.signed("tid", (words.u32("")? as i32).into());
            sink.text("name", words.text());
        }
        kind::FORK | kind::EXIT => {
            for name in ["pid", "parent_pid", "tid", "parent_tid"] {
                sink.signed(name, (words.u32("")? as i32).into());
            }
        }
        kind::LOST => {
            words.u64("")?;
            sink.unsigned("lost", words.u64("")?);
        }
        kind::LOST_SAMPLES => sink.unsigned("lost", words.u64("")?),
        kind => {
            sink.unsigned("type", kind.into());
            sink.contents("body", record.body);
        }
    }
    Ok(())
}
