//! pprof's `profile.proto`, for `go tool pprof` and all tools that read its files. Written by hand,
//! as in pprof's own library: the format needs only varints and length-prefixed messages.
//!
//! The message is written uncompressed; the caller must gzip files. The tables that samples refer
//! to are written after the samples.
//!
//! The statements of a pprof file about itself, its mappings and the addresses of its frames are
//! written as they were read.

use super::written::{Written, empty_entries};
use crate::model::distinct::Distinct;
use crate::model::names::{NameId, Names};
use crate::model::profile::{
    Code, CodePlace, FrameId, FrameKind, LabelValue, SampleLabel, StackId, Unit,
};
use crate::model::stacks::WeightedStacks;
use crate::output::loss::LossKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::{self, Write};

/// Writes all values as sample types, counts first. Fails when the output cannot be written.
pub fn write(stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
    let mut writer = PprofWriter::new(stacks);
    writer.labels = (0..stacks.tracks.len()).map(|track| writer.labels(stacks, track)).collect();
    writer.samples(stacks, out)?;
    writer.places(stacks, out)?;
    writer.rest(stacks, out)?;
    out.write_all(&writer.pending.0)?;
    Ok(writer.written)
}

struct PprofWriter {
    written: Written,
    /// The value types in the order in which they are written.
    order: Vec<usize>,
    /// By track: the label fields of a sample.
    labels: Vec<Vec<u8>>,
    /// The location of empty stacks, after those of all frames.
    no_frames: u64,
    /// Frames that occur in a stack without the others at their address.
    alone: FxHashSet<FrameId>,
    /// The string table; the empty string is number 0.
    strings: Distinct<String>,
    message: Message,
    /// The bytes to write next.
    pending: Message,
}

/// Bytes that are written together.
const BLOCK: usize = 64 << 10;

impl PprofWriter {
    fn new(stacks: &WeightedStacks) -> Self {
        let mut writer = Self {
            written: Written::new(stacks),
            order: value_order(stacks),
            labels: Vec::new(),
            no_frames: stacks.frames.len() as u64 + 1,
            alone: FxHashSet::default(),
            strings: Distinct::default(),
            message: Message::default(),
            pending: Message::default(),
        };
        writer.strings.text("");
        for value in writer.order.clone() {
            let value = &stacks.values[value];
            let (name, unit) = (writer.string(&value.name), writer.string(value.unit.name()));
            writer.message.number(1, name).number(2, unit);
            writer.put_field(1);
        }
        writer
    }

    fn string(&mut self, text: &str) -> u64 {
        self.strings.text(text).into()
    }

    /// Writes the message that was put together as a field of the profile.
    fn field(&mut self, number: u64, out: &mut impl Write) -> io::Result<()> {
        self.put_field(number);
        self.write_blocks(out)
    }

    #[inline]
    fn write_blocks(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.pending.0.len() >= BLOCK {
            out.write_all(&self.pending.0)?;
            self.pending.0.clear();
        }
        Ok(())
    }

    fn put_field(&mut self, number: u64) {
        self.pending.bytes(number, &self.message.0);
        self.message.0.clear();
    }

    fn samples(&mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<()> {
        if stacks.code.is_none() {
            self.written.lose(LossKind::EmptyStacks, empty_entries(stacks));
        }
        let (mut locations, mut values) = (Message::default(), Message::default());
        for entry in stacks.iter() {
            if entry.values.iter().all(|value| *value == 0) {
                self.written.lose(LossKind::ZeroStacks, 1);
                continue;
            }
            locations.0.clear();
            match &stacks.code {
                Some(code) => {
                    self.locations(code, stacks.stacks.frames(entry.stack), &mut locations)
                }
                None if entry.stack == StackId::EMPTY => _ = locations.varint(self.no_frames),
                None => {
                    let frames = stacks.stacks.frames(entry.stack);
                    frames.for_each(|frame| _ = locations.varint(location(frame)));
                }
            }
            values.0.clear();
            self.order.iter().for_each(|&value| _ = values.varint(entry.values[value] as u64));
            let labels = &self.labels[entry.track];
            // Samples are nearly all of a file, so they are built in the output buffer itself.
            let length = Message::length(&locations.0) + Message::length(&values.0) + labels.len();
            self.pending
                .varint(2 << 3 | 2)
                .varint(length as u64)
                .bytes(1, &locations.0)
                .bytes(2, &values.0);
            self.pending.0.extend_from_slice(labels);
            self.write_blocks(out)?;
            self.written.stacks += 1;
            self.written.add(entry.values);
        }
        Ok(())
    }

    /// Returns the locations of frames, innermost first. Frames that were inlined into each other
    /// share one.
    fn locations(&mut self, code: &Code, frames: impl Iterator<Item = FrameId>, out: &mut Message) {
        // Frames of one address, of which the outermost one is to come.
        let mut inlined: Vec<FrameId> = Vec::new();
        let mut alone = |frames: &mut Vec<FrameId>, out: &mut Message| {
            for frame in frames.drain(..) {
                self.alone.insert(frame);
                out.varint(location(frame) | ALONE);
            }
        };
        for frame in frames {
            let Some(place) = code.place(frame) else {
                alone(&mut inlined, out);
                out.varint(location(frame));
                continue;
            };
            let first = inlined.first().and_then(|first| code.place(*first));
            if first.is_some_and(|first| first.outermost != place.outermost) {
                alone(&mut inlined, out);
            }
            inlined.push(frame);
            if frame == place.outermost {
                if inlined.len() as u32 == place.lines.max(1) {
                    _ = out.varint(location(frame))
                } else {
                    alone(&mut inlined, out)
                }
                inlined.clear();
            }
        }
        alone(&mut inlined, out);
    }

    /// The labels of a thread's samples, as fields of a sample.
    fn labels(&mut self, stacks: &WeightedStacks, track: usize) -> Vec<u8> {
        let track = &stacks.tracks[track];
        let mut fields = Message::default();
        let mut label = Message::default();
        for &SampleLabel { key, value } in &track.labels {
            label.number(1, self.string(stacks.text(key)));
            match value {
                LabelValue::Text(text) => label.number(2, self.string(stacks.text(text))),
                LabelValue::Number(number, unit) => {
                    let unit = self.string(stacks.text(unit));
                    label.number(3, number as u64).number(4, unit)
                }
            };
            fields.bytes(3, &label.0);
            label.0.clear();
        }
        if !track.labels.is_empty() {
            return fields.0;
        }
        for (key, text) in [
            ("thread", track.thread.clone()),
            ("interpreter", track.interpreter.map(|id| id.to_string())),
        ] {
            if let Some(text) = text {
                label.number(1, self.string(key)).number(2, self.string(&text));
                fields.bytes(3, &label.0);
                label.0.clear();
            }
        }
        if let Some(pid) = track.pid {
            // A number of 0 is the same as no number.
            label
                .number(1, self.string("pid"))
                .number(3, i64::try_from(pid).unwrap_or(i64::MAX) as u64);
            fields.bytes(3, &label.0);
        }
        fields.0
    }

    /// Mappings, locations and functions.
    fn places(&mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<()> {
        self.mappings(stacks, out)?;
        let mut functions = FxHashMap::default();
        let mut lines = Message::default();
        for index in 0..stacks.frames.len() as u32 {
            let frame = FrameId(index);
            let place = stacks.code.as_ref().and_then(|code| code.place(frame));
            let mapping = match place {
                Some(place) => place.mapping.map_or(0, |row| u64::from(row) + 1),
                None => u64::from(stacks.code.is_none()),
            };
            let address = place.map_or(0, |place| place.address);
            lines.0.clear();
            let all = place.map_or(1, |place| place.lines);
            if place.is_none_or(|place| place.outermost == frame) {
                for line in (index..index + all).rev() {
                    self.line(stacks, FrameId(line), &mut functions, &mut lines, out)?;
                }
                self.message.number(1, location(frame)).number(2, mapping).number(3, address);
                self.message.0.extend_from_slice(&lines.0);
                self.field(4, out)?;
            }
            if self.alone.contains(&frame) {
                lines.0.clear();
                self.line(stacks, frame, &mut functions, &mut lines, out)?;
                let id = location(frame) | ALONE;
                self.message.number(1, id).number(2, mapping).number(3, address);
                self.message.0.extend_from_slice(&lines.0);
                self.field(4, out)?;
            }
        }
        if stacks.code.is_some() {
            return Ok(());
        }
        let name = self.string("<no frames>");
        let function = functions.len() as u64 + 1;
        self.message.number(1, function).number(2, name);
        self.field(5, out)?;
        lines.0.clear();
        lines.number(1, function);
        self.message.number(1, self.no_frames).number(2, 1).bytes(4, &lines.0);
        self.field(4, out)
    }

    /// Writes the programs and libraries of the input, or the input as one.
    fn mappings(&mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<()> {
        let Some(code) = &stacks.code else {
            // The flags state that no binary is needed to resolve the names.
            let title = self.string(&stacks.title);
            self.message.number(1, 1).number(5, title).number(7, 1).number(8, 1).number(9, 1);
            return self.field(3, out);
        };
        for (id, mapping) in (1..).zip(&code.mappings) {
            let file = self.string(&mapping.file);
            let build_id = self.string(&mapping.build_id);
            self.message.number(1, id).number(2, mapping.start).number(3, mapping.limit);
            self.message.number(4, mapping.offset).number(5, file).number(6, build_id);
            for (number, flag) in (7..).zip(mapping.is_symbolized) {
                self.message.number(number, flag.into());
            }
            self.field(3, out)?;
        }
        Ok(())
    }

    /// Adds the line of a frame to a location, and writes its function if it is new.
    fn line(
        &mut self,
        stacks: &WeightedStacks,
        id: FrameId,
        functions: &mut FxHashMap<FunctionKey, u64>,
        lines: &mut Message,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let frame = stacks.frame(id);
        let place = stacks.code.as_ref().and_then(|code| code.place(id));
        let of_place = place.map(|place: CodePlace| (place.system_name, place.start_line));
        let next = functions.len() as u64 + 1;
        let key = (frame.function, frame.file, frame.kind, of_place);
        let function = *functions.entry(key).or_insert(next);
        if function == next {
            // Functions of a pprof file may have no name.
            let name = match of_place {
                Some(_) => stacks.text(frame.function),
                None => stacks.function_name(id),
            };
            let name = self.string(name);
            let file = self.string(stacks.text(frame.file));
            // Without a system name unless the input has one: if the two names are equal, pprof
            // takes `<module>` for C++ and removes the text in `<>`.
            let (system, start) = of_place.unwrap_or((Names::EMPTY, 0));
            let system = self.string(stacks.text(system));
            self.message.number(1, function).number(2, name).number(3, system).number(4, file);
            self.message.number(5, start as u64);
            self.field(5, out)?;
        }
        let (number, column) =
            place.map_or((frame.line.into(), 0), |place| (place.line as u64, place.column as u64));
        let mut line = Message::default();
        line.number(1, function).number(2, number).number(3, column);
        lines.bytes(4, &line.0);
        Ok(())
    }

    fn rest(&mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<()> {
        let mut tail = Message::default();
        match stacks.code {
            Some(_) => self.statements(stacks, &mut tail, out)?,
            None => {
                if let Some(interval) = stacks.interval_us {
                    let name = self.string("time");
                    let unit = self.string("microseconds");
                    self.message.number(1, name).number(2, unit);
                    self.field(11, out)?;
                    tail.number(12, interval);
                }
                if let Some(duration) = stacks.duration_us {
                    tail.number(10, duration.saturating_mul(1000));
                }
                let comment = self.string(concat!("dumptool ", env!("CARGO_PKG_VERSION")));
                tail.number(13, comment);
                if let Some(main) = stacks.values.get(stacks.main) {
                    tail.number(14, self.string(&main.name));
                }
            }
        }
        self.pending.0.extend_from_slice(&tail.0);
        for text in std::mem::take(&mut self.strings.all) {
            self.message.0.extend_from_slice(text.as_bytes());
            self.field(6, out)?;
        }
        Ok(())
    }

    /// Writes the statements of a pprof file about itself, by the names of its fields.
    fn statements(
        &mut self,
        stacks: &WeightedStacks,
        tail: &mut Message,
        out: &mut impl Write,
    ) -> io::Result<()> {
        for statement in &stacks.metadata {
            let value = statement.value.as_str();
            let number = || value.parse::<i64>().unwrap_or(0) as u64;
            match statement.key.as_str() {
                "drop_frames" => tail.number(7, self.string(value)),
                "keep_frames" => tail.number(8, self.string(value)),
                "time_nanos" => tail.number(9, number()),
                "duration_nanos" => tail.number(10, number()),
                "period" => tail.number(12, number()),
                "default_sample_type" => tail.number(14, self.string(value)),
                "comment" => tail.number(13, self.string(value)),
                "doc_url" => tail.number(15, self.string(value)),
                "period_type" => {
                    let (name, unit) = value.rsplit_once(' ').unwrap_or((value, ""));
                    let (name, unit) = (self.string(name), self.string(unit));
                    self.message.number(1, name).number(2, unit);
                    self.field(11, out)?;
                    continue;
                }
                _ => continue,
            };
        }
        Ok(())
    }
}

/// A function: its name, file, kind, system name and first line.
type FunctionKey = (NameId, NameId, FrameKind, Option<(NameId, i64)>);

/// The bit that the number of a location has if it is a frame without the others at its address.
const ALONE: u64 = 1 << 32;

/// The number of a frame's location. Each frame has a location of its own.
#[inline]
fn location(frame: FrameId) -> u64 {
    u64::from(frame.0) + 1
}

/// Returns the order of values. Readers use the last value by default, and expect counts before it.
fn value_order(stacks: &WeightedStacks) -> Vec<usize> {
    let mut order: Vec<usize> = (0..stacks.values.len()).collect();
    if stacks.main > 0 || stacks.code.is_some() {
        // Keeps the order of the file.
        return order;
    }
    order.sort_by_key(|&value| stacks.values[value].unit != Unit::Count);
    order
}

#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    #[inline]
    fn varint(&mut self, value: u64) -> &mut Self {
        if (0x80..0x4000).contains(&value) {
            self.0.extend_from_slice(&[value as u8 | 0x80, (value >> 7) as u8]);
            return self;
        }
        let mut rest = value;
        while rest >= 0x80 {
            self.0.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.0.push(rest as u8);
        self
    }

    /// Writes a number unless it is 0, which is the default of an absent field.
    fn number(&mut self, field: u64, value: u64) -> &mut Self {
        if value != 0 {
            self.varint(field << 3).varint(value);
        }
        self
    }

    /// The length of a field with these bytes, if its number is small.
    fn length(bytes: &[u8]) -> usize {
        let bits = usize::BITS - (bytes.len() | 1).leading_zeros();
        1 + bits.div_ceil(7) as usize + bytes.len()
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | 2).varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }
}
