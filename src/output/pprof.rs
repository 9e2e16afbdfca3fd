//! pprof's `profile.proto`, for `go tool pprof` and all tools that read its files. Written by hand,
//! as in pprof's own library: the format needs only varints and length-prefixed messages.
//!
//! The message is written without compression; files must be gzipped by the caller. Samples may
//! come in parts: the tables that they refer to follow.

use super::written::{Written, empty_entries};
use crate::model::profile::{FrameId, LabelValue, SampleLabel, StackId, Unit};
use crate::model::stacks::WeightedStacks;
use crate::output::loss::LossKind;
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// Writes all values as sample types, counts first.
///
/// # Errors
/// When the output cannot be written.
pub fn write(stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
    let mut writer = PprofWriter::new(stacks);
    writer.part(stacks, out)?;
    writer.finish(stacks, out)
}

/// Writes stacks that come in parts. Each part has the values of the first part, and the names,
/// frames and tracks of all previous parts, with the same numbers.
pub struct PprofWriter {
    written: Written,
    /// The value types in the order in which they are written.
    order: Vec<usize>,
    /// By track: the label fields of a sample.
    labels: Vec<Vec<u8>>,
    /// The location of empty stacks. Frames that were not known when it was chosen come after it.
    no_frames: u64,
    strings: Strings,
    message: Message,
    /// The part to write next.
    pending: Message,
}

/// Bytes that are written together.
const BLOCK: usize = 64 << 10;

impl PprofWriter {
    /// For all parts, of which these stacks are the first.
    pub fn new(stacks: &WeightedStacks) -> Self {
        let mut writer = Self {
            written: Written::of_values(stacks),
            order: value_order(stacks),
            labels: Vec::new(),
            no_frames: stacks.frames.len() as u64 + 1,
            strings: Strings::default(),
            message: Message::default(),
            pending: Message::default(),
        };
        for value in writer.order.clone() {
            let value = &stacks.values[value];
            let (name, unit) =
                (writer.strings.number(&value.name), writer.strings.number(value.unit.name()));
            writer.message.number(1, name).number(2, unit);
            writer.put_field(1);
        }
        writer
    }

    /// Writes the samples of a part.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn part(&mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<()> {
        self.written.lose_depth(stacks);
        self.written.lose(LossKind::EmptyStacks, empty_entries(stacks));
        for track in self.labels.len()..stacks.tracks.len() {
            let labels = self.labels(stacks, track);
            self.labels.push(labels);
        }
        self.samples(stacks, out)
    }

    /// Writes the tables that samples refer to; the stacks are those of the last part.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
        self.places(stacks, out)?;
        self.rest(stacks, out)?;
        out.write_all(&self.pending.0)?;
        Ok(self.written)
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
        let (mut locations, mut values) = (Message::default(), Message::default());
        for entry in stacks.iter() {
            if entry.values.iter().all(|value| *value == 0) {
                continue;
            }
            locations.0.clear();
            for frame in stacks.stacks.frames(entry.stack) {
                locations.varint(self.location(frame));
            }
            if entry.stack == StackId::EMPTY {
                locations.varint(self.no_frames);
            }
            values.0.clear();
            self.order.iter().for_each(|&value| _ = values.varint(entry.values[value] as u64));
            let labels = &self.labels[entry.track];
            // Nearly all of a file are samples: they are put together where they are written from.
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

    /// The number of a frame's location: a location is a frame.
    #[inline]
    fn location(&self, frame: FrameId) -> u64 {
        let number = u64::from(frame.0) + 1;
        number + u64::from(number >= self.no_frames)
    }

    /// The labels of a thread's samples, as fields of a sample.
    fn labels(&mut self, stacks: &WeightedStacks, track: usize) -> Vec<u8> {
        let track = &stacks.tracks[track];
        let mut fields = Message::default();
        let mut label = Message::default();
        for &SampleLabel { key, value } in &track.labels {
            label.number(1, self.strings.number(stacks.text(key)));
            match value {
                LabelValue::Text(text) => label.number(2, self.strings.number(stacks.text(text))),
                LabelValue::Number(number, unit) => {
                    let unit = self.strings.number(stacks.text(unit));
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
                label.number(1, self.strings.number(key)).number(2, self.strings.number(&text));
                fields.bytes(3, &label.0);
                label.0.clear();
            }
        }
        if let Some(pid) = track.pid {
            // A number of 0 is as good as none.
            label
                .number(1, self.strings.number("pid"))
                .number(3, i64::try_from(pid).unwrap_or(i64::MAX) as u64);
            fields.bytes(3, &label.0);
        }
        fields.0
    }

    /// Mapping, locations and functions. A location is a frame; lines of one function share it.
    fn places(&mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<()> {
        // The flags say that there is nothing left to be looked up in binaries.
        let title = self.strings.number(&stacks.title);
        self.message.number(1, 1).number(5, title).number(7, 1).number(8, 1).number(9, 1);
        self.field(3, out)?;
        let mut functions = FxHashMap::default();
        let mut line = Message::default();
        for index in 0..=stacks.frames.len() {
            let frame = stacks.frames.get(index).copied();
            let id = FrameId(index as u32);
            let key = frame.map(|frame| (frame.function, frame.file, frame.kind));
            let next = functions.len() as u64 + 1;
            let function = *functions.entry(key).or_insert(next);
            if function == next {
                let (name, file) = match frame {
                    Some(frame) => (
                        self.strings.number(stacks.function_name(id)),
                        self.strings.number(stacks.text(frame.file)),
                    ),
                    None => (self.strings.number("<no frames>"), 0),
                };
                // Without a system name: where the two are equal, pprof takes `<module>` for C++
                // and cuts what is in `<>`.
                self.message.number(1, function).number(2, name).number(4, file);
                self.field(5, out)?;
            }
            line.0.clear();
            line.number(1, function).number(2, frame.map_or(0, |frame| frame.line.into()));
            let location = if frame.is_some() { self.location(id) } else { self.no_frames };
            self.message.number(1, location).number(2, 1).bytes(4, &line.0);
            self.field(4, out)?;
        }
        Ok(())
    }

    fn rest(&mut self, stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<()> {
        let main = stacks.values.get(stacks.main);
        let mut tail = Message::default();
        if let Some(interval) = stacks.interval_us {
            let (name, unit) = (self.strings.number("time"), self.strings.number("microseconds"));
            self.message.number(1, name).number(2, unit);
            self.field(11, out)?;
            tail.number(12, interval);
        }
        if let Some(duration) = stacks.duration_us {
            tail.number(10, duration.saturating_mul(1000));
        }
        let comment = self.strings.number(concat!("dumptool ", env!("CARGO_PKG_VERSION")));
        tail.number(13, comment);
        if let Some(main) = main {
            tail.number(14, self.strings.number(&main.name));
        }
        self.pending.0.extend_from_slice(&tail.0);
        for text in std::mem::take(&mut self.strings.texts) {
            self.message.0.extend_from_slice(text.as_bytes());
            self.field(6, out)?;
        }
        Ok(())
    }
}

/// Readers take the last value for the main one, unless told otherwise, and expect counts before
/// it.
fn value_order(stacks: &WeightedStacks) -> Vec<usize> {
    let mut order: Vec<usize> = (0..stacks.values.len()).collect();
    if stacks.main > 0 {
        // The order of the file.
        return order;
    }
    order.sort_by_key(|&value| stacks.values[value].unit != Unit::Count);
    order
}

/// The string table; the empty string is number 0.
struct Strings {
    texts: Vec<String>,
    numbers: FxHashMap<String, u64>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { texts: vec![String::new()], numbers: FxHashMap::from_iter([(String::new(), 0)]) }
    }
}

impl Strings {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

/// A message under construction.
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
