//! The lines of a heap profile.

use crate::error::Result;
use crate::input::native::lines::{TextLine, TextLines, Words, hex};
use crate::input::native::maps::MapLine;
use crate::model::fields::{FieldSink, Record};
use memchr::memmem;

/// The names of the records.
pub(super) const RECORD_NAMES: &[&str] = &["header", "stack", "counts", "symbol", "mapping"];

/// Objects and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::input) struct StackCounts {
    /// Live objects.
    pub(in crate::input) objects: i64,
    /// Their bytes.
    pub(in crate::input) bytes: i64,
    /// Objects allocated in all.
    pub(in crate::input) alloc_objects: i64,
    /// Their bytes.
    pub(in crate::input) alloc_bytes: i64,
}

/// Addresses, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct StackAddresses<'a>(&'a [u8]);

impl Iterator for StackAddresses<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut words = Words(self.0);
        let address = words.hex();
        self.0 = words.0;
        address
    }
}

/// A line with meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) enum HeapTextLine<'a> {
    /// The first line of the profile.
    Header {
        /// The kind: `heap_v2`, `heapprofile`, `heap` (Go), `growth`.
        kind: &'a [u8],
        /// Bytes between samples.
        rate: Option<u64>,
        /// The total (gperftools).
        total: Option<StackCounts>,
    },
    /// A stack, with its numbers (gperftools).
    Stack {
        /// Its addresses.
        addresses: StackAddresses<'a>,
        /// Its numbers.
        counts: Option<StackCounts>,
    },
    /// The numbers of the last stack, or before any stack the total (jemalloc).
    Counts {
        /// `t*` for all threads, `t0` for the first.
        thread: &'a [u8],
        /// The numbers.
        counts: StackCounts,
    },
    /// The functions of an address.
    Symbol {
        /// The address.
        address: u64,
        /// The functions with `--` between them, outermost first.
        functions: &'a [u8],
    },
    /// A part of the process' memory.
    Mapping(MapLine<'a>),
}

/// A part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Before the header.
    Start,
    Symbols,
    Stacks,
    Maps,
}

/// The lines of a file, with their offsets. After an error the iterator has ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct HeapTextLines<'a> {
    lines: TextLines<'a>,
    part: Part,
}

impl<'a> HeapTextLines<'a> {
    /// From the beginning.
    pub(in crate::input) fn new(bytes: &'a [u8]) -> Self {
        Self { lines: TextLines::new(bytes), part: Part::Start }
    }

    /// The meaning of a line; `Ok(None)` if it has none.
    fn parse(&mut self, line: &TextLine<'a>) -> Result<Option<HeapTextLine<'a>>> {
        let text = line.text.trim_ascii();
        let expected = match (self.part, text) {
            (_, []) => return Ok(None),
            (Part::Maps, _) => return Ok(MapLine::parse(text).map(HeapTextLine::Mapping)),
            (_, b"MAPPED_LIBRARIES:") => {
                self.part = Part::Maps;
                return Ok(None);
            }
            (_, [b'-', b'-', b'-', rest @ ..]) => {
                let is_symbol = rest.trim_ascii() == b"symbol";
                self.part = if is_symbol { Part::Symbols } else { Part::Start };
                return Ok(None);
            }
            (Part::Symbols, _) => return Ok(symbol(text)),
            (Part::Start, _) => {
                let found = header(text);
                if found.is_some() {
                    self.part = Part::Stacks;
                    return Ok(found);
                }
                "`heap profile:` or `heap_v2/`"
            }
            // An address may go on after the end of a file that was cut.
            (Part::Stacks, _) if line.is_cut => "the end of the line",
            (Part::Stacks, [b'#', rest @ ..]) => return Ok(go_symbol(rest)),
            (Part::Stacks, _) => match stack(text) {
                Some(found) => return Ok(Some(found)),
                // Sampled profiles of gperftools have the maps without a heading.
                None if MapLine::parse(text).is_some() => {
                    self.part = Part::Maps;
                    return Ok(MapLine::parse(text).map(HeapTextLine::Mapping));
                }
                None => "`OBJECTS: BYTES [OBJECTS: BYTES]` and addresses",
            },
        };
        Err(line.damage("not a line of a heap profile", expected))
    }
}

impl<'a> Iterator for HeapTextLines<'a> {
    type Item = Result<(u64, HeapTextLine<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.lines.next()?;
            match self.parse(&line) {
                Ok(None) => {}
                Ok(Some(found)) => return Some(Ok((line.offset, found))),
                Err(error) => {
                    self.lines.stop();
                    return Some(Err(error));
                }
            }
        }
    }
}

fn header(text: &[u8]) -> Option<HeapTextLine<'_>> {
    if let Some(rate) = text.strip_prefix(b"heap_v2/") {
        let rate = Words(rate).decimal()?;
        return Some(HeapTextLine::Header { kind: b"heap_v2", rate: Some(rate), total: None });
    }
    let rest = text.strip_prefix(b"heap profile:")?;
    let (total, rest) = counts(rest)?;
    let kind = rest.trim_ascii().strip_prefix(b"@")?.trim_ascii();
    let mut parts = kind.splitn(2, |byte| *byte == b'/');
    let kind = parts.next()?;
    let rate = parts.next().and_then(|rate| Words(rate).decimal());
    Some(HeapTextLine::Header { kind, rate, total: Some(total) })
}

fn stack(text: &[u8]) -> Option<HeapTextLine<'_>> {
    if let Some(rest) = text.strip_prefix(b"@") {
        return Some(HeapTextLine::Stack { addresses: addresses(rest)?, counts: None });
    }
    if text.starts_with(b"t") {
        let (thread, rest) = text.split_at_checked(memchr::memchr(b':', text)?)?;
        let (counts, _) = counts(rest.strip_prefix(b":")?)?;
        return Some(HeapTextLine::Counts { thread, counts });
    }
    let (counts, rest) = counts(text)?;
    let addresses = addresses(rest.trim_ascii().strip_prefix(b"@")?)?;
    Some(HeapTextLine::Stack { addresses, counts: Some(counts) })
}

fn addresses(text: &[u8]) -> Option<StackAddresses<'_>> {
    let all_are_numbers = Words(text).all(|word| hex(word).is_some());
    all_are_numbers.then_some(StackAddresses(text))
}

/// `OBJECTS: BYTES [OBJECTS: BYTES]`, and what follows.
fn counts(text: &[u8]) -> Option<(StackCounts, &[u8])> {
    let end = memchr::memchr(b']', text)?;
    let (numbers, rest) = text.split_at_checked(end)?;
    let mut numbers = numbers
        .split(|byte| matches!(byte, b' ' | b':' | b'['))
        .filter(|word| !word.is_empty())
        .map(|word| std::str::from_utf8(word).ok()?.parse::<i64>().ok());
    let mut next = || numbers.next().flatten();
    let counts = StackCounts {
        objects: next()?,
        bytes: next()?,
        alloc_objects: next()?,
        alloc_bytes: next()?,
    };
    Some((counts, rest.strip_prefix(b"]")?))
}

/// `0xADDRESS OUTER--INLINED`.
fn symbol(text: &[u8]) -> Option<HeapTextLine<'_>> {
    let mut words = Words(text.strip_prefix(b"0x")?);
    let address = words.hex()?;
    Some(HeapTextLine::Symbol { address, functions: words.0.trim_ascii() })
}

/// `0xADDRESS FUNCTION+0xOFFSET FILE:LINE`, after `#`, as Go comments on its stacks.
fn go_symbol(text: &[u8]) -> Option<HeapTextLine<'_>> {
    let mut words = Words(text.trim_ascii().strip_prefix(b"0x")?);
    let (address, function) = (words.hex()?, words.next()?);
    let end = memmem::rfind(function, b"+0x")?;
    Some(HeapTextLine::Symbol { address, functions: function.get(..end)? })
}

impl Record for HeapTextLine<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Header { .. } => "header",
            Self::Stack { .. } => "stack",
            Self::Counts { .. } => "counts",
            Self::Symbol { .. } => "symbol",
            Self::Mapping(mapping) => mapping.name(),
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match *self {
            Self::Header { kind, rate, total } => {
                sink.text("kind", kind);
                if let Some(rate) = rate {
                    sink.unsigned("rate", rate);
                }
                total.iter().for_each(|total| total.pass_to(sink));
            }
            Self::Stack { addresses, counts } => {
                counts.iter().for_each(|counts| counts.pass_to(sink));
                sink.list("addresses", addresses, |address, sink| sink.address("address", address));
            }
            Self::Counts { thread, counts } => {
                sink.text("thread", thread);
                counts.pass_to(sink);
            }
            Self::Symbol { address, functions } => {
                sink.address("address", address);
                sink.text("functions", functions);
            }
            Self::Mapping(mapping) => mapping.fields(sink),
        }
    }
}

impl StackCounts {
    fn pass_to<S: FieldSink>(&self, sink: &mut S) {
        sink.signed("objects", self.objects.into());
        sink.signed("bytes", self.bytes.into());
        sink.signed("alloc_objects", self.alloc_objects.into());
        sink.signed("alloc_bytes", self.alloc_bytes.into());
    }
}

/// Whether a file has symbols and then a profile with this beginning.
pub(super) fn is_symbolized(bytes: &[u8], magic: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"--- symbol") else { return false };
    let end = memmem::find(rest, b"\n---").and_then(|at| rest.get(at..)).unwrap_or_default();
    let mut lines = TextLines::new(end).map(|line| line.text);
    lines
        .find(|line| !line.is_empty() && !line.starts_with(b"---"))
        .is_some_and(|line| line.starts_with(magic))
}

/// The total that the file states, and the sum over its stacks. jemalloc gathers its total and the
/// stacks at different moments.
pub(super) fn totals(bytes: &[u8]) -> (Option<StackCounts>, StackCounts) {
    let (mut stated, mut sum) = (None, StackCounts::default());
    for (_, line) in HeapTextLines::new(bytes).map_while(Result::ok) {
        match line {
            HeapTextLine::Header { total, .. } => stated = total,
            HeapTextLine::Stack { counts: Some(counts), .. } => {
                sum.objects = sum.objects.saturating_add(counts.objects);
                sum.bytes = sum.bytes.saturating_add(counts.bytes);
            }
            _ => {}
        }
    }
    (stated, sum)
}
