//! The events of a trace, one after the other.

use crate::error::Result;
use crate::input::json::{Scanner, Text, ValueKind};
use crate::model::fields::{FieldSink, Record};

pub(super) const RECORD_NAMES: &[&str] = &["event"];

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::input) struct Event<'a> {
    pub(super) name: Text<'a>,
    pub(super) category: Text<'a>,
    pub(super) phase: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) pid: i64,
    pub(super) tid: i64,
    /// Start in nanoseconds; the file has microseconds with fractions.
    pub(super) start: i64,
    pub(super) length: i64,
    /// The bytes from the beginning of `args` on, and their offset.
    args: Option<(&'a [u8], u64)>,
}

impl<'a> Event<'a> {
    pub(super) fn args(&self) -> Option<Scanner<'a>> {
        self.args.map(|(bytes, offset)| Scanner::new(bytes, offset))
    }

    fn read(scanner: &mut Scanner<'a>, bytes: &'a [u8]) -> Result<Self> {
        let mut event = Self::default();
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            match (key.raw(), scanner.peek()?) {
                (b"name", ValueKind::String) => event.name = scanner.text()?,
                (b"cat", ValueKind::String) => event.category = scanner.text()?,
                (b"ph", ValueKind::String) => event.phase = scanner.text()?,
                (b"id", ValueKind::String) => event.id = scanner.text()?,
                (b"id", ValueKind::Number) => {
                    event.id = Text::new(scanner.number()?.raw(), false);
                }
                (b"pid", ValueKind::Number) => event.pid = scanner.number()?.float()? as i64,
                (b"tid", ValueKind::Number) => event.tid = scanner.number()?.float()? as i64,
                (b"ts", ValueKind::Number) => event.start = nanoseconds(scanner)?,
                (b"dur", ValueKind::Number) => event.length = nanoseconds(scanner)?,
                (b"args", ValueKind::Object) => {
                    let offset = scanner.offset();
                    let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..));
                    event.args = rest.map(|rest| (rest, offset));
                    scanner.skip()?;
                }
                _ => scanner.skip()?,
            }
        }
        Ok(event)
    }
}

fn nanoseconds(scanner: &mut Scanner<'_>) -> Result<i64> {
    Ok((scanner.number()?.float()? * 1e3).round() as i64)
}

pub(in crate::input) struct Events<'a> {
    bytes: &'a [u8],
    scanner: Scanner<'a>,
    at: Place,
}

enum Place {
    Start,
    List,
    End,
}

impl<'a> Events<'a> {
    pub(in crate::input) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, scanner: Scanner::new(bytes, 0), at: Place::Start }
    }

    fn read(&mut self) -> Result<Option<(u64, Event<'a>)>> {
        if let Place::Start = self.at {
            if !open_list(&mut self.scanner)? {
                return Ok(None);
            }
            self.at = Place::List;
        }
        while self.scanner.item()? {
            let kind = self.scanner.peek()?;
            let offset = self.scanner.offset();
            if kind == ValueKind::Object {
                return Ok(Some((offset, Event::read(&mut self.scanner, self.bytes)?)));
            }
            self.scanner.skip()?;
        }
        Ok(None)
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<(u64, Event<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Place::End = self.at {
            return None;
        }
        let event = self.read().transpose();
        if !matches!(event, Some(Ok(_))) {
            self.at = Place::End;
        }
        event
    }
}

/// Opens the list of events: the whole file, or its key `traceEvents`. Returns whether it exists.
fn open_list(scanner: &mut Scanner<'_>) -> Result<bool> {
    if scanner.peek()? == ValueKind::Array {
        scanner.begin_array()?;
        return Ok(true);
    }
    scanner.begin_object()?;
    while let Some(key) = scanner.key()? {
        if key.raw() == b"traceEvents" && scanner.peek()? == ValueKind::Array {
            scanner.begin_array()?;
            return Ok(true);
        }
        scanner.skip()?;
    }
    Ok(false)
}

impl Record for Event<'_> {
    fn name(&self) -> &'static str {
        "event"
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        sink.text("name", self.name.decode().as_bytes());
        sink.text("category", self.category.decode().as_bytes());
        sink.text("phase", self.phase.decode().as_bytes());
        sink.signed("pid", self.pid.into());
        sink.signed("tid", self.tid.into());
        sink.signed("start_ns", self.start.into());
        sink.signed("length_ns", self.length.into());
    }
}

/// Whether the first event has a phase and a process, or one of the first keys is that of the events.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    let head = bytes.get(..64 << 10).unwrap_or(bytes);
    let mut scanner = Scanner::new(head, 0);
    match scanner.peek() {
        Ok(ValueKind::Array) => {
            matches!(Events::new(head).next(), Some(Ok((_, event))) if !event.phase.raw().is_empty())
        }
        Ok(ValueKind::Object) => open_list(&mut scanner).is_ok_and(|found| found),
        _ => false,
    }
}
