//! The lines of a file.

use crate::error::Result;
use crate::input::native::frames::ValgrindFrame;
use crate::input::native::lines::{TextLine, TextLines, decimal};
use crate::model::fields::{FieldSink, Record};
use memchr::{memchr, memmem};

/// The names of the records.
pub(super) const RECORD_NAMES: &[&str] = &["fact", "snapshot", "number", "tree", "node"];

/// A line with meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) enum MassifLine<'a> {
    /// `desc`, `cmd` or `time_unit`.
    Fact {
        key: &'a [u8],
        value: &'a [u8],
    },
    Snapshot(u64),
    /// A number of the last snapshot.
    Number {
        key: &'a [u8],
        value: u64,
    },
    /// The kind of the tree whose nodes follow: `empty`, `detailed` or `peak`.
    Tree(&'a [u8]),
    Node(Node<'a>),
}

/// A node of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct Node<'a> {
    pub(super) depth: usize,
    children: u64,
    pub(super) bytes: u64,
    pub(super) text: &'a [u8],
}

impl<'a> Node<'a> {
    /// The frame, unless the node stands for functions that are too small to be shown.
    pub(super) fn frame(&self) -> Option<ValgrindFrame<'a>> {
        self.text.starts_with(b"0x").then(|| ValgrindFrame::parse(self.text))
    }

    fn parse(text: &'a [u8]) -> Option<Self> {
        let depth = text.iter().position(|byte| *byte != b' ')?;
        let rest = text.get(depth..)?.strip_prefix(b"n")?;
        let (children, rest) = rest.split_at_checked(memchr(b':', rest)?)?;
        let rest = rest.strip_prefix(b": ")?;
        let end = memchr(b' ', rest).unwrap_or(rest.len());
        let (bytes, text) = rest.split_at_checked(end)?;
        let (children, bytes) = (decimal(children)?, decimal(bytes)?);
        Some(Self { depth, children, bytes, text: text.trim_ascii() })
    }
}

/// The lines of a file, with their offsets. After an error the iterator has ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct MassifLines<'a> {
    lines: TextLines<'a>,
}

impl<'a> MassifLines<'a> {
    /// From the beginning.
    pub(in crate::input) fn new(bytes: &'a [u8]) -> Self {
        Self { lines: TextLines::new(bytes) }
    }

    fn parse(line: &TextLine<'a>) -> Option<MassifLine<'a>> {
        let text = line.text;
        if line.is_cut {
            return None;
        }
        if matches!(text, [b' ' | b'n', ..]) {
            return Node::parse(text).map(MassifLine::Node);
        }
        if let Some(at) = memmem::find(text, b": ").filter(|at| is_fact(text.get(..*at))) {
            let (key, value) = (text.get(..at)?, text.get(at.saturating_add(2)..)?);
            return Some(MassifLine::Fact { key, value });
        }
        let (key, value) = text.split_at_checked(memchr(b'=', text)?)?;
        let value = value.strip_prefix(b"=")?;
        Some(match key {
            b"snapshot" => MassifLine::Snapshot(decimal(value)?),
            b"heap_tree" => MassifLine::Tree(value),
            _ => MassifLine::Number { key, value: decimal(value)? },
        })
    }
}

fn is_fact(key: Option<&[u8]>) -> bool {
    matches!(key, Some(b"desc" | b"cmd" | b"time_unit"))
}

impl<'a> Iterator for MassifLines<'a> {
    type Item = Result<(u64, MassifLine<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.lines.next()?;
            // A command of several lines, and empty options, are of no use.
            if line.text.is_empty() || line.text.starts_with(b"#") || line.text == b"desc:" {
                continue;
            }
            let found = Self::parse(&line);
            if found.is_none() {
                self.lines.stop();
            }
            return Some(found.map(|found| (line.offset, found)).ok_or_else(|| {
                line.damage("not a line of massif", "`key=value`, or a node `nK: BYTES function`")
            }));
        }
    }
}

impl Record for MassifLine<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Fact { .. } => "fact",
            Self::Snapshot(_) => "snapshot",
            Self::Number { .. } => "number",
            Self::Tree(_) => "tree",
            Self::Node(_) => "node",
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match *self {
            Self::Fact { key, value } => {
                sink.text("key", key);
                sink.text("value", value);
            }
            Self::Snapshot(number) => sink.unsigned("number", number),
            Self::Number { key, value } => {
                sink.text("key", key);
                sink.unsigned("value", value);
            }
            Self::Tree(kind) => sink.text("kind", kind),
            Self::Node(Node { depth, children, bytes, text }) => {
                sink.unsigned("depth", depth as u64);
                sink.unsigned("children", children);
                sink.unsigned("bytes", bytes);
                sink.text("function", text);
            }
        }
    }
}

/// Whether a file begins with the options, the command and the unit of time.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    if !bytes.starts_with(b"desc:") {
        return false;
    }
    let head = bytes.get(..64 << 10).unwrap_or(bytes);
    memmem::find(head, b"\ncmd:").is_some() && memmem::find(head, b"\ntime_unit:").is_some()
}
