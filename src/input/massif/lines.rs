//! The lines of a file.

use crate::input::native::frames::ValgrindFrame;
use crate::input::native::lines::{Meaning, Meanings, Parsed, TextLine, TextLines, decimal};
use crate::input::record::lines;
use crate::model::fields::FieldSink;
use memchr::{memchr, memmem};

lines! {
    pub(in crate::input) enum MassifLine<'a> {
        /// `desc`, `cmd` or `time_unit`.
        "fact" Fact {
            key: &'a [u8] => text,
            value: &'a [u8] => text,
        },
        "snapshot" Snapshot(number: u64 => unsigned),
        /// A number of the last snapshot.
        "number" Number {
            key: &'a [u8] => text,
            value: u64 => unsigned,
        },
        /// The kind of the tree whose nodes follow: `empty`, `detailed` or `peak`.
        "tree" Tree(kind: &'a [u8] => text),
        "node" Node(node: Node<'a> => with(Node::pass_to)),
    }
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

    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.unsigned("depth", self.depth as u64);
        sink.unsigned("children", self.children);
        sink.unsigned("bytes", self.bytes);
        sink.text("function", self.text);
    }
}

pub(in crate::input) type MassifLines<'a> = Meanings<'a, Massif>;

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::input) struct Massif;

impl<'a> Meaning<'a> for Massif {
    type Line = MassifLine<'a>;

    fn parse(&mut self, line: &TextLine<'a>, _: &mut TextLines<'a>) -> Parsed<Self::Line> {
        // A command of several lines, and empty options, are of no use.
        if line.text.is_empty() || line.text.starts_with(b"#") || line.text == b"desc:" {
            return Ok(None);
        }
        let found = parse(line).ok_or_else(|| {
            line.damage("not a line of massif", "`key=value`, or a node `nK: BYTES function`")
        });
        found.map(Some)
    }
}

fn parse<'a>(line: &TextLine<'a>) -> Option<MassifLine<'a>> {
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

fn is_fact(key: Option<&[u8]>) -> bool {
    matches!(key, Some(b"desc" | b"cmd" | b"time_unit"))
}

/// Whether a file begins with the options, the command and the unit of time.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    if !bytes.starts_with(b"desc:") {
        return false;
    }
    let head = bytes.get(..64 << 10).unwrap_or(bytes);
    memmem::find(head, b"\ncmd:").is_some() && memmem::find(head, b"\ntime_unit:").is_some()
}
