//! The lines of a heap profile.

use crate::error::Result;
use crate::input::native::lines::{Meaning, Meanings, Parsed, TextLine, TextLines, Words, hex};
use crate::input::native::maps::MapLine;
use crate::input::record::lines;
use crate::model::fields::FieldSink;
use memchr::memmem;

/// Objects and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::input) struct StackCounts {
    /// Live objects.
    pub(in crate::input) objects: i64,
    pub(in crate::input) bytes: i64,
    pub(in crate::input) alloc_objects: i64,
    pub(in crate::input) alloc_bytes: i64,
}

/// Addresses, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct StackAddresses<'a>(&'a [u8]);

impl StackAddresses<'_> {
    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.list("addresses", self, |address, sink| sink.address("address", address));
    }
}

impl Iterator for StackAddresses<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut words = Words(self.0);
        let address = words.hex();
        self.0 = words.0;
        address
    }
}

lines! {
    pub(in crate::input) enum HeapTextLine<'a> {
        "header" Header {
            /// The kind: `heap_v2`, `heapprofile`, `heap` (Go), `growth`.
            kind: &'a [u8] => text,
            /// Bytes between samples.
            rate: Option<u64> => with(pass_rate),
            /// The total (gperftools).
            total: Option<StackCounts> => with(pass_counts),
        },
        /// A stack, with its numbers (gperftools).
        "stack" Stack {
            counts: Option<StackCounts> => with(pass_counts),
            addresses: StackAddresses<'a> => with(StackAddresses::pass_to),
        },
        /// The numbers of the last stack, or before any stack the total (jemalloc).
        "counts" Counts {
            /// `t*` for all threads, `t0` for the first.
            thread: &'a [u8] => text,
            counts: StackCounts => with(StackCounts::pass_to),
        },
        "symbol" Symbol {
            address: u64 => address,
            /// The functions with `--` between them, outermost first.
            functions: &'a [u8] => text,
        },
        "mapping" Mapping(mapping: MapLine<'a> => with(MapLine::pass_to)),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// Before the header.
    #[default]
    Start,
    Symbols,
    Stacks,
    Maps,
}

pub(in crate::input) type HeapTextLines<'a> = Meanings<'a, HeapText>;

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::input) struct HeapText {
    part: Part,
}

impl<'a> Meaning<'a> for HeapText {
    type Line = HeapTextLine<'a>;

    fn parse(&mut self, line: &TextLine<'a>, _: &mut TextLines<'a>) -> Parsed<Self::Line> {
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

impl StackCounts {
    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.signed("objects", self.objects.into());
        sink.signed("bytes", self.bytes.into());
        sink.signed("alloc_objects", self.alloc_objects.into());
        sink.signed("alloc_bytes", self.alloc_bytes.into());
    }
}

fn pass_counts<S: FieldSink>(counts: Option<StackCounts>, sink: &mut S) {
    counts.into_iter().for_each(|counts| counts.pass_to(sink));
}

fn pass_rate<S: FieldSink>(rate: Option<u64>, sink: &mut S) {
    rate.into_iter().for_each(|rate| sink.unsigned("rate", rate));
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
