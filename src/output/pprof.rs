//! pprof's `profile.proto`, for `go tool pprof` and everything that reads what that does. Written by hand, as its own
//! library does: varints and messages with a length are all there is.
//!
//! The message is written without compression; on disk it must be gzipped, which is up to the caller.

use super::written::{Written, empty_entries};
use crate::model::profile::{StackId, Unit};
use crate::model::stacks::WeightedStacks;
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// Writes all values as sample types, counts first.
///
/// # Errors
/// When the output cannot be written.
pub fn write(stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
    let mut writer = Writer { out, message: Message::default(), strings: Strings::default() };
    let mut written = Written::new(stacks);
    let order = value_order(stacks);
    for &value in &order {
        let value = &stacks.values[value];
        let (name, unit) = (writer.strings.number(&value.name), writer.strings.number(value.unit.name()));
        writer.message.number(1, name).number(2, unit);
        writer.field(1)?;
    }
    writer.samples(stacks, &order, &mut written)?;
    writer.places(stacks)?;
    writer.rest(stacks)?;
    written.lose("empty stacks, shown as <no frames>", empty_entries(stacks));
    Ok(written)
}

/// Readers take the last value for the main one, unless told otherwise, and expect counts before it.
fn value_order(stacks: &WeightedStacks) -> Vec<usize> {
    let mut order: Vec<usize> = (0..stacks.values.len()).collect();
    order.sort_by_key(|&value| stacks.values[value].unit != Unit::Count);
    order
}

struct Writer<'a, W> {
    out: &'a mut W,
    message: Message,
    strings: Strings,
}

impl<W: Write> Writer<'_, W> {
    /// Writes the message that was put together as a field of the profile.
    fn field(&mut self, number: u64) -> io::Result<()> {
        let mut head = Message::default();
        head.varint(number << 3 | 2).varint(self.message.0.len() as u64);
        self.out.write_all(&head.0)?;
        self.out.write_all(&self.message.0)?;
        self.message.0.clear();
        Ok(())
    }

    fn samples(&mut self, stacks: &WeightedStacks, order: &[usize], written: &mut Written) -> io::Result<()> {
        let labels: Vec<Vec<u8>> = (0..stacks.tracks.len()).map(|track| self.labels(stacks, track)).collect();
        let (mut locations, mut values) = (Message::default(), Message::default());
        let unknown = stacks.frames.len() as u64 + 1;
        for entry in stacks.iter() {
            if entry.values.iter().all(|value| *value == 0) {
                continue;
            }
            locations.0.clear();
            for frame in stacks.stacks.frames(entry.stack) {
                locations.varint(u64::from(frame.0) + 1);
            }
            if entry.stack == StackId::EMPTY {
                locations.varint(unknown);
            }
            values.0.clear();
            order.iter().for_each(|&value| _ = values.varint(entry.values[value] as u64));
            self.message.bytes(1, &locations.0).bytes(2, &values.0);
            self.message.0.extend_from_slice(&labels[entry.track]);
            self.field(2)?;
            written.stacks += 1;
            written.add(entry.values);
        }
        Ok(())
    }

    /// The labels of a thread's samples, as fields of a sample.
    fn labels(&mut self, stacks: &WeightedStacks, track: usize) -> Vec<u8> {
        let track = &stacks.tracks[track];
        let mut fields = Message::default();
        let mut label = Message::default();
        for (key, text) in [("thread", track.thread.clone()), ("interpreter", track.interpreter.map(|id| id.to_string()))] {
            if let Some(text) = text {
                label.number(1, self.strings.number(key)).number(2, self.strings.number(&text));
                fields.bytes(3, &label.0);
                label.0.clear();
            }
        }
        if let Some(pid) = track.pid {
            // A number of 0 is as good as none.
            label.number(1, self.strings.number("pid")).number(3, i64::try_from(pid).unwrap_or(i64::MAX) as u64);
            fields.bytes(3, &label.0);
        }
        fields.0
    }

    /// Mapping, locations and functions. A location is a frame; lines of one function share it.
    fn places(&mut self, stacks: &WeightedStacks) -> io::Result<()> {
        // The flags say that there is nothing left to be looked up in binaries.
        let title = self.strings.number(&stacks.title);
        self.message.number(1, 1).number(5, title).number(7, 1).number(8, 1).number(9, 1);
        self.field(3)?;
        let mut functions = FxHashMap::default();
        let mut line = Message::default();
        for index in 0..=stacks.frames.len() {
            let frame = stacks.frames.get(index).copied();
            let key = frame.map(|frame| (frame.function, frame.file, frame.kind));
            let next = functions.len() as u64 + 1;
            let function = *functions.entry(key).or_insert(next);
            if function == next {
                let (name, file) = match frame {
                    Some(frame) => {
                        let id = crate::model::profile::FrameId(index as u32);
                        (self.strings.number(stacks.function_name(id)), self.strings.number(stacks.text(frame.file)))
                    }
                    None => (self.strings.number("<no frames>"), 0),
                };
                // Without a system name: where the two are equal, pprof takes `<module>` for C++ and cuts what is in `<>`.
                self.message.number(1, function).number(2, name).number(4, file);
                self.field(5)?;
            }
            line.0.clear();
            line.number(1, function).number(2, frame.map_or(0, |frame| frame.line.into()));
            self.message.number(1, index as u64 + 1).number(2, 1).bytes(4, &line.0);
            self.field(4)?;
        }
        Ok(())
    }

    fn rest(&mut self, stacks: &WeightedStacks) -> io::Result<()> {
        let main = stacks.values.first();
        let mut tail = Message::default();
        if let Some(interval) = stacks.interval_us {
            let (name, unit) = (self.strings.number("time"), self.strings.number("microseconds"));
            self.message.number(1, name).number(2, unit);
            self.field(11)?;
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
        self.out.write_all(&tail.0)?;
        for text in std::mem::take(&mut self.strings.texts) {
            self.message.0.extend_from_slice(text.as_bytes());
            self.field(6)?;
        }
        Ok(())
    }
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
        let mut rest = value;
        while rest >= 0x80 {
            self.0.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.0.push(rest as u8);
        self
    }

    /// A number that is not 0, which is what a field that is not there means.
    fn number(&mut self, field: u64, value: u64) -> &mut Self {
        if value != 0 {
            self.varint(field << 3).varint(value);
        }
        self
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | 2).varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }
}
