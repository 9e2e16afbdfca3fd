//! The document: nodes, samples and times.

use super::nodes::{Node, Nodes};
use crate::error::{Error, Result};
use crate::input::Format;
use crate::input::json::{Scanner, ValueKind};
use crate::input::load::{MemoryLimit, damage};
use crate::input::read::{ReadOptions, Visitor, visit};
use crate::model::fields::{FieldSink, Record};

pub(super) const RECORD_NAMES: &[&str] = &["node", "samples", "time_deltas"];

/// Bytes of memory for a sample and for a time, including the spare room of columns: the number in
/// the file, and the samples in the order of time.
const BYTES_PER_SAMPLE: usize = 60;
const BYTES_PER_DELTA: usize = 8;
/// Bytes of memory for the line of a sample, and the stack that ends in it.
const BYTES_PER_LINE: usize = 4 + 60;

/// The parts of a file.
#[derive(Debug, Default)]
pub(super) struct Document<'a> {
    pub(super) nodes: Nodes<'a>,
    /// Ids of nodes; `None` if the file has none.
    pub(super) samples: Option<Vec<u64>>,
    pub(super) deltas: Option<Vec<i64>>,
    /// The lines of samples, from 1, in traces. 0 is unknown.
    pub(super) lines: Option<Vec<u32>>,
    /// Start and end, in microseconds; in seconds before Chrome 58.
    pub(super) start: Option<f64>,
    pub(super) end: Option<f64>,
    pub(super) is_nested: bool,
    /// Offsets of the lists of samples and of times.
    lists: [u64; 2],
}

impl<'a> Document<'a> {
    /// Reads a file up to its first damage. Fails when the nodes and samples take more memory than
    /// they may.
    pub(super) fn read(bytes: &'a [u8], memory: MemoryLimit) -> Result<(Self, Option<Error>)> {
        let mut document = Self::default();
        document.nodes.memory = memory;
        let damage = damage(document.read_part(&mut Scanner::new(bytes, 0)))?;
        Ok((document, damage))
    }

    /// Bytes of memory, including the loader's data for each number.
    pub(super) fn bytes(&self) -> u64 {
        let samples = self.samples.as_ref().map_or(0, Vec::len).saturating_mul(BYTES_PER_SAMPLE);
        let deltas = self.deltas.as_ref().map_or(0, Vec::len).saturating_mul(BYTES_PER_DELTA);
        let lines = self.lines.as_ref().map_or(0, Vec::len).saturating_mul(BYTES_PER_LINE);
        let lists = samples.saturating_add(deltas).saturating_add(lines);
        self.nodes.bytes().saturating_add(lists as u64)
    }

    /// Sets the memory that the nodes and samples may take.
    pub(super) fn limit(&mut self, memory: MemoryLimit) {
        self.nodes.memory = memory;
    }

    /// Reads an object with nodes, samples and times, and adds them to those that are there. Fails
    /// with the first damage. What comes before it is kept.
    pub(super) fn read_part(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            match (key.raw(), scanner.peek()?) {
                (b"nodes", ValueKind::Array) => self.nodes.read_list(scanner)?,
                (b"head", ValueKind::Object) => {
                    self.is_nested = true;
                    self.nodes.read_tree(scanner)?;
                }
                (b"startTime", ValueKind::Number) => self.start = Some(scanner.number()?.float()?),
                (b"endTime", ValueKind::Number) => self.end = Some(scanner.number()?.float()?),
                (b"samples", ValueKind::Array) => self.read_samples(scanner)?,
                (b"timeDeltas", ValueKind::Array) => self.read_deltas(scanner)?,
                _ => scanner.skip()?,
            }
        }
        Ok(())
    }

    /// Reads a list of times between samples, and adds them to those that are there.
    pub(super) fn read_deltas(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        self.lists[1] = scanner.offset();
        let numbers = scanner.clone().numbers()?;
        let count = memchr::memchr_iter(b',', numbers.bytes()).count();
        let more = count.saturating_mul(BYTES_PER_DELTA) as u64;
        let needed = self.bytes().saturating_add(more);
        self.nodes.memory.check_bytes(scanner.offset(), needed)?;
        let deltas = self.deltas.get_or_insert_default();
        deltas.reserve(count.saturating_add(1));
        scanner.float_array(|delta| deltas.push(delta as i64))
    }

    /// Reads a list of lines of samples, and adds them to those that are there.
    pub(super) fn read_lines(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        scanner.begin_array()?;
        while scanner.item()? {
            self.nodes.memory.check_bytes(scanner.offset(), self.bytes())?;
            let line = scanner.optional_unsigned()?.unwrap_or(0);
            self.lines.get_or_insert_default().push(u32::try_from(line).unwrap_or(0));
        }
        Ok(())
    }

    /// Adds line 0 (unknown) for the samples without a line.
    pub(super) fn align_lines(&mut self) {
        let count = self.samples.as_ref().map_or(0, Vec::len);
        self.lines.get_or_insert_default().resize(count, 0);
    }

    /// Reads the samples, which are ids of nodes. The samples of heap profiles are objects, which
    /// add nothing to the nodes.
    fn read_samples(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        self.lists[0] = scanner.offset();
        scanner.begin_array()?;
        let samples = self.samples.get_or_insert_default();
        let (nodes, memory) = (self.nodes.bytes(), self.nodes.memory);
        while scanner.item()? {
            let more = samples.len().saturating_mul(BYTES_PER_SAMPLE) as u64;
            memory.check_bytes(scanner.offset(), nodes.saturating_add(more))?;
            match scanner.peek()? {
                ValueKind::Number => samples.push(scanner.unsigned()?),
                _ => scanner.skip()?,
            }
        }
        Ok(())
    }

    /// Whether nothing of a profile was read.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.all.is_empty()
    }
}

/// A node, or a list of numbers.
enum V8Record<'d, 'a> {
    Node(&'d Node<'a>),
    List { name: &'static str, count: u64 },
}

impl Record for V8Record<'_, '_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Node(_) => "node",
            Self::List { name, .. } => name,
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match self {
            Self::Node(node) => {
                sink.unsigned("id", node.id);
                sink.text("function", node.function.decode().as_bytes());
                sink.text("url", node.url.decode().as_bytes());
                sink.signed("line", node.line.into());
                sink.unsigned("hit_count", node.hits);
                sink.unsigned("self_size", node.self_size);
            }
            Self::List { count, .. } => sink.unsigned("count", *count),
        }
    }
}

/// Passes every node to the visitor, and the lists of samples and times with their lengths.
pub fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let (document, damage) = Document::read(bytes, options.memory)?;
    let nodes = document.nodes.all.iter().map(|node| (node.offset, V8Record::Node(node)));
    let lengths = [document.samples.as_ref().map(Vec::len), document.deltas.as_ref().map(Vec::len)];
    let lists = ["samples", "time_deltas"].into_iter().zip(document.lists).zip(lengths).filter_map(
        |((name, offset), count)| Some((offset, V8Record::List { name, count: count? as u64 })),
    );
    let mut records: Vec<_> = nodes.chain(lists).collect();
    records.sort_by_key(|(offset, _)| *offset);
    visit(records.into_iter().map(Ok).chain(damage.map(Err)), options, visitor)
}

/// Detects the format of a file by its first keys.
pub(super) fn looks_right(bytes: &[u8]) -> Option<Format> {
    const HEAD: usize = 64 << 10;
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let mut scanner = Scanner::new(head, 0);
    scanner.begin_object().ok()?;
    // The members before the nodes are few and small.
    for _ in 0..8 {
        let key = scanner.key().ok()??;
        let is_nodes = matches!(
            (key.raw(), scanner.peek().ok()?),
            (b"nodes", ValueKind::Array) | (b"head", ValueKind::Object)
        );
        if is_nodes {
            let text = head.get(..1 << 12).unwrap_or(head);
            let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
            return match (key.raw(), has(b"\"callFrame\"") || has(b"\"functionName\"")) {
                (_, false) => None,
                (b"head", _) if has(b"\"selfSize\"") => Some(Format::Heapprofile),
                _ => Some(Format::Cpuprofile),
            };
        }
        let is_samples = key.raw() == b"samples" || key.raw() == b"timeDeltas";
        if scanner.skip().is_err() {
            return is_samples.then_some(Format::Cpuprofile);
        }
    }
    None
}
