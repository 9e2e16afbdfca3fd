//! The document: its metadata, and the tables of its threads.

use super::table::Table;
use crate::error::{Error, Result};
use crate::input::json::{Scanner, Text, ValueKind};
use crate::input::load::{MemoryLimit, damage};
use crate::input::read::{ReadOptions, Visitor, visit};
use crate::model::fields::{FieldSink, Record};

pub(super) const RECORD_NAMES: &[&str] = &["thread"];

/// A file up to its first damage.
#[derive(Default)]
pub(super) struct Document<'a> {
    pub(super) has_meta: bool,
    /// `preprocessedProfileVersion`, or `version` of a raw profile.
    pub(super) version: Option<u64>,
    /// Keys and values that are shown as they are.
    pub(super) facts: Vec<(&'static str, Text<'a>)>,
    /// Milliseconds between samples.
    pub(super) interval: f64,
    /// The start time that times of samples are relative to, in milliseconds.
    start: f64,
    /// The unit of `threadCPUDelta`.
    pub(super) cpu_unit: Text<'a>,
    pub(super) categories: Vec<Text<'a>>,
    pub(super) threads: Vec<Thread<'a>>,
    /// The tables that the threads do not have themselves.
    pub(super) shared: Tables<'a>,
    memory: MemoryLimit,
    bytes: u64,
}

#[derive(Default)]
pub(super) struct Thread<'a> {
    offset: u64,
    pub(super) name: Text<'a>,
    pub(super) pid: i128,
    pub(super) tid: Text<'a>,
    /// The start time of the process, in milliseconds after that of the first process.
    pub(super) shift: f64,
    /// `stack`, `weight`, `time`, `timeDeltas`, `threadCPUDelta`.
    pub(super) samples: Table<'a, 5>,
    /// `stack`, `weight`, `time`.
    pub(super) js_allocations: Table<'a, 3>,
    pub(super) native_allocations: Table<'a, 3>,
    pub(super) tables: Tables<'a>,
}

/// The tables that threads may share.
#[derive(Default)]
pub(super) struct Tables<'a> {
    pub(super) texts: Vec<Text<'a>>,
    /// `prefix`, `frame`.
    pub(super) stacks: Table<'a, 2>,
    /// `func`, `line`, `category`, `location`.
    pub(super) frames: Table<'a, 4>,
    /// `name`, `fileName`, `resource`, `source`.
    pub(super) functions: Table<'a, 4>,
    /// `name`.
    pub(super) resources: Table<'a, 1>,
    /// `filename`.
    pub(super) sources: Table<'a, 1>,
}

impl<'a> Document<'a> {
    /// Reads a file up to its first damage. Fails when the tables take more memory than they may.
    pub(super) fn read(bytes: &'a [u8], memory: MemoryLimit) -> Result<(Self, Option<Error>)> {
        let mut document = Self { memory, ..Self::default() };
        let mut scanner = Scanner::new(bytes, 0);
        let damage = damage(document.process(&mut scanner, true))?;
        Ok((document, damage))
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads a process: the whole document, or one of `processes`, which do not nest.
    fn process(&mut self, scanner: &mut Scanner<'a>, is_first: bool) -> Result<()> {
        let (from, mut start) = (self.threads.len(), None);
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            match (key.raw(), scanner.peek()?) {
                (b"meta", ValueKind::Object) if is_first => self.meta(scanner)?,
                (b"meta", ValueKind::Object) => start = start_time(scanner)?,
                (b"threads", ValueKind::Array) => {
                    scanner.items_of(ValueKind::Object, |scanner| self.thread(scanner))?;
                }
                (b"shared", ValueKind::Object) => {
                    scanner.begin_object()?;
                    while let Some(key) = scanner.key()? {
                        if !self.shared.member(key, scanner)? {
                            scanner.skip()?;
                        }
                    }
                    self.count(self.shared.bytes(), scanner.offset())?;
                }
                (b"processes", ValueKind::Array) if is_first => {
                    scanner.items_of(ValueKind::Object, |scanner| self.process(scanner, false))?;
                }
                _ => scanner.skip()?,
            }
        }
        if let Some(start) = start {
            let shift = start - self.start;
            self.threads.iter_mut().skip(from).for_each(|thread| thread.shift = shift);
        }
        Ok(())
    }

    fn meta(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        self.has_meta = true;
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            match (key.raw(), scanner.peek()?) {
                (b"preprocessedProfileVersion", ValueKind::Number) => {
                    self.version = Some(scanner.unsigned()?);
                }
                (b"version", ValueKind::Number) if self.version.is_none() => {
                    self.version = Some(scanner.unsigned()?);
                }
                (b"product", ValueKind::String) => self.facts.push(("product", scanner.text()?)),
                (b"startTime", ValueKind::Number) => self.start = scanner.number()?.float()?,
                (b"importedFrom", ValueKind::String) => {
                    self.facts.push(("imported_from", scanner.text()?));
                }
                (b"interval", ValueKind::Number) => {
                    let interval = scanner.number()?;
                    self.interval = interval.float()?;
                    self.facts.push(("interval_ms", Text::new(interval.raw(), false)));
                }
                (b"sampleUnits", ValueKind::Object) => {
                    scanner.begin_object()?;
                    while let Some(key) = scanner.key()? {
                        match (key.raw(), scanner.peek()?) {
                            (b"threadCPUDelta", ValueKind::String) => {
                                self.cpu_unit = scanner.text()?;
                            }
                            _ => scanner.skip()?,
                        }
                    }
                }
                (b"categories", ValueKind::Array) => {
                    scanner.items_of(ValueKind::Object, |scanner| {
                        self.categories.push(name(scanner)?);
                        self.count(size_of::<Text<'_>>() as u64, scanner.offset())
                    })?;
                }
                _ => scanner.skip()?,
            }
        }
        Ok(())
    }

    fn thread(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        let mut thread = Thread { offset: scanner.offset(), ..Thread::default() };
        let read = thread.read(scanner);
        let bytes = thread.bytes();
        self.threads.push(thread);
        read?;
        self.count(bytes, scanner.offset())
    }

    fn count(&mut self, bytes: u64, offset: u64) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        self.memory.check_bytes(offset, self.bytes)
    }

    /// The threads, with their offsets.
    pub(super) fn records(&self) -> impl Iterator<Item = (u64, FirefoxRecord<'_, 'a>)> {
        self.threads.iter().map(|thread| (thread.offset, FirefoxRecord(thread)))
    }
}

impl<'a> Thread<'a> {
    fn read(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            match (key.raw(), scanner.peek()?) {
                (b"name", ValueKind::String) => self.name = scanner.text()?,
                (b"pid", _) => self.pid = process(&text(scanner)?.decode()),
                (b"tid", _) => self.tid = text(scanner)?,
                (b"samples", ValueKind::Object) => {
                    let columns = ["stack", "weight", "time", "timeDeltas", "threadCPUDelta"];
                    self.samples = Table::read(scanner, columns)?;
                }
                (b"jsAllocations", ValueKind::Object) => {
                    self.js_allocations = Table::read(scanner, ["stack", "weight", "time"])?;
                }
                (b"nativeAllocations", ValueKind::Object) => {
                    self.native_allocations = Table::read(scanner, ["stack", "weight", "time"])?;
                }
                _ if self.tables.member(key, scanner)? => {}
                _ => scanner.skip()?,
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let tables = [
            self.samples.bytes(),
            self.js_allocations.bytes(),
            self.native_allocations.bytes(),
            self.tables.bytes(),
            size_of::<Self>() as u64,
        ];
        tables.into_iter().fold(0, u64::saturating_add)
    }
}

impl<'a> Tables<'a> {
    /// Reads the value of a key, if it is one of the tables.
    fn member(&mut self, key: Text<'a>, scanner: &mut Scanner<'a>) -> Result<bool> {
        match (key.raw(), scanner.peek()?) {
            (b"stringArray" | b"stringTable", ValueKind::Array) => {
                scanner.begin_array()?;
                while scanner.item()? {
                    self.texts.push(text(scanner)?);
                }
            }
            (b"stackTable", ValueKind::Object) => {
                self.stacks = Table::read(scanner, ["prefix", "frame"])?;
            }
            (b"frameTable", ValueKind::Object) => {
                self.frames = Table::read(scanner, ["func", "line", "category", "location"])?;
            }
            (b"funcTable", ValueKind::Object) => {
                self.functions = Table::read(scanner, ["name", "fileName", "resource", "source"])?;
            }
            (b"resourceTable", ValueKind::Object) => {
                self.resources = Table::read(scanner, ["name"])?;
            }
            (b"sources", ValueKind::Object) => self.sources = Table::read(scanner, ["filename"])?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn bytes(&self) -> u64 {
        let tables = [
            self.stacks.bytes(),
            self.frames.bytes(),
            self.functions.bytes(),
            self.resources.bytes(),
            self.sources.bytes(),
            self.texts.capacity().saturating_mul(size_of::<Text<'_>>()) as u64,
        ];
        tables.into_iter().fold(0, u64::saturating_add)
    }
}

/// A text, or a number as text. Anything else is empty.
pub(super) fn text<'a>(scanner: &mut Scanner<'a>) -> Result<Text<'a>> {
    match scanner.peek()? {
        ValueKind::String => scanner.text(),
        ValueKind::Number => Ok(Text::new(scanner.number()?.raw(), false)),
        _ => {
            scanner.skip()?;
            Ok(Text::default())
        }
    }
}

/// The number of a process. samply appends one to that of a process which ran several programs:
/// `4711.1`.
fn process(pid: &str) -> i128 {
    pid.split('.').next().unwrap_or_default().parse().unwrap_or(0)
}

/// The member `startTime` of an object.
fn start_time(scanner: &mut Scanner<'_>) -> Result<Option<f64>> {
    let mut start = None;
    scanner.begin_object()?;
    while let Some(key) = scanner.key()? {
        match (key.raw(), scanner.peek()?) {
            (b"startTime", ValueKind::Number) => start = Some(scanner.number()?.float()?),
            _ => scanner.skip()?,
        }
    }
    Ok(start)
}

/// The member `name` of an object.
fn name<'a>(scanner: &mut Scanner<'a>) -> Result<Text<'a>> {
    let mut found = Text::default();
    scanner.begin_object()?;
    while let Some(key) = scanner.key()? {
        match key.raw() {
            b"name" => found = text(scanner)?,
            _ => scanner.skip()?,
        }
    }
    Ok(found)
}

/// A thread, as the sizes of its tables.
pub(super) struct FirefoxRecord<'d, 'a>(&'d Thread<'a>);

impl Record for FirefoxRecord<'_, '_> {
    fn name(&self) -> &'static str {
        "thread"
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        let Thread { name, pid, tid, samples, js_allocations, native_allocations, tables, .. } =
            self.0;
        sink.text("name", name.decode().as_bytes());
        sink.signed("pid", *pid);
        sink.text("tid", tid.decode().as_bytes());
        let sizes = [
            ("samples", samples.len()),
            ("js_allocations", js_allocations.len()),
            ("native_allocations", native_allocations.len()),
            ("stacks", tables.stacks.len()),
            ("frames", tables.frames.len()),
            ("functions", tables.functions.len()),
            ("strings", tables.texts.len()),
        ];
        sizes.into_iter().for_each(|(key, size)| sink.unsigned(key, size as u64));
    }
}

/// Gives every thread to the visitor.
pub(in crate::input) fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let (document, damage) = Document::read(bytes, options.memory)?;
    visit(document.records().map(Ok).chain(damage.map(Err)), options, visitor)
}

/// Whether the first key is `meta`, with members that only such profiles have.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    let mut scanner = Scanner::new(bytes.get(..64 << 10).unwrap_or(bytes), 0);
    let key = scanner.begin_object().and_then(|()| scanner.key());
    if !matches!(key, Ok(Some(key)) if key.raw() == b"meta") || scanner.begin_object().is_err() {
        return false;
    }
    while let Ok(Some(key)) = scanner.key() {
        if matches!(key.raw(), b"preprocessedProfileVersion" | b"stackwalk" | b"interval") {
            return true;
        }
        if scanner.skip().is_err() {
            return false;
        }
    }
    false
}
