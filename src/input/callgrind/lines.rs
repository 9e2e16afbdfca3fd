//! The lines of a call graph.

use crate::input::native::lines::{
    Meaning, Meanings, Parsed, TextLine, TextLines, Words, decimal, hex,
};
use crate::input::record::lines;
use crate::model::fields::FieldSink;
use memchr::{memchr, memmem};

lines! {
    pub(in crate::input) enum CallgrindLine<'a> {
        /// `key: value`.
        "header" Header {
            key: &'a [u8] => text,
            value: &'a [u8] => text,
        },
        /// The object, file or function that the next lines belong to: `fn=(ID) name`.
        "name" Name(name: Name<'a> => with(Name::pass_to)),
        /// The next line has the inclusive costs of calls.
        "calls" Calls {
            count: u64 => unsigned,
            target: &'a [u8] => text,
        },
        /// The next line is the position of a jump.
        "jump" Jump(jump: &'a [u8] => text),
        "cost" Cost(cost: Cost<'a> => with(Cost::pass_to)),
    }
}

/// A name, its number, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct Name<'a> {
    /// `ob`, `fl`, `fi`, `fe`, `fn`, or for a called function `cob`, `cfi`, `cfl`, `cfn`.
    pub(super) key: &'a [u8],
    pub(super) id: Option<u64>,
    /// Empty if only the number is there.
    pub(super) text: &'a [u8],
}

/// A line with costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct Cost<'a> {
    /// The position of the source line; the one of an instruction if there is no other.
    pub(super) position: Position,
    /// The numbers, not yet parsed.
    pub(super) costs: &'a [u8],
}

impl Cost<'_> {
    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        let (key, value) = match self.position {
            Position::At(at) => ("position", at),
            Position::After(by) => ("after", by),
            Position::Before(by) => ("before", by),
        };
        sink.unsigned(key, value);
        sink.text("costs", self.costs.trim_ascii());
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    At(u64),
    After(u64),
    Before(u64),
}

impl Position {
    fn parse(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"*" => Self::After(0),
            [b'+', number @ ..] => Self::After(unsigned(number)?),
            [b'-', number @ ..] => Self::Before(unsigned(number)?),
            number => Self::At(unsigned(number)?),
        })
    }

    /// The position after the `last` one.
    pub(super) fn after(self, last: u64) -> u64 {
        match self {
            Self::At(at) => at,
            Self::After(by) => last.saturating_add(by),
            Self::Before(by) => last.saturating_sub(by),
        }
    }
}

impl<'a> Name<'a> {
    fn parse(key: &'a [u8], value: &'a [u8]) -> Option<Self> {
        let Some(rest) = value.strip_prefix(b"(") else {
            return Some(Self { key, id: None, text: value });
        };
        let numbered = memchr(b')', rest).and_then(|end| {
            let id = decimal(rest.get(..end)?)?;
            Some((id, rest.get(end.saturating_add(1)..)?.trim_ascii_start()))
        });
        Some(match numbered {
            Some((id, text)) => Self { key, id: Some(id), text },
            // `(below main)` is a name.
            None => Self { key, id: None, text: value },
        })
    }

    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.text("key", self.key);
        if let Some(id) = self.id {
            sink.unsigned("id", id);
        }
        if !self.text.is_empty() {
            sink.text("name", self.text);
        }
    }
}

/// A number, decimal or hexadecimal with `0x`.
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    if text.starts_with(b"0x") { hex(text) } else { decimal(text) }
}

pub(in crate::input) type CallgrindLines<'a> = Meanings<'a, Callgrind<'a>>;

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::input) struct Callgrind<'a> {
    /// Whether there is a position before the one of the source line.
    has_two_positions: bool,
    /// The names of the events. Empty before the first part.
    events: &'a [u8],
    /// The number of events, which is the largest number of costs on a line.
    most_costs: usize,
    /// Whether a function has been named, to which costs belong.
    has_function: bool,
}

impl<'a> Meaning<'a> for Callgrind<'a> {
    type Line = CallgrindLine<'a>;

    fn parse(&mut self, line: &TextLine<'a>, _: &mut TextLines<'a>) -> Parsed<Self::Line> {
        if line.text.first().is_none_or(|first| *first == b'#') {
            return Ok(None);
        }
        let found = self.parse_line(line).ok_or_else(|| {
            line.damage("not a line of a call graph", "`key: value`, `fn=name`, or costs")
        })?;
        match found {
            CallgrindLine::Header { key: b"events", value } if !self.begins_part(value) => {
                let message = "a part with other events than the one before";
                Err(line.damage(message, "the same events in each part"))
            }
            CallgrindLine::Cost(cost) if !self.has_costs(&cost) => {
                Err(line.damage("not the costs of a line", "a number for each event at most"))
            }
            CallgrindLine::Cost(_) if !self.has_function => {
                Err(line.damage("costs before the name of a function", "`fn=name`"))
            }
            found => Ok(Some(found)),
        }
    }
}

impl<'a> Callgrind<'a> {
    fn parse_line(&mut self, line: &TextLine<'a>) -> Option<CallgrindLine<'a>> {
        let text = line.text;
        if line.is_cut {
            return None;
        }
        if matches!(text, [b'0'..=b'9' | b'+' | b'-' | b'*', ..]) {
            return self.cost(text);
        }
        let at = memchr::memchr2(b':', b'=', text)?;
        let (key, value) = (text.get(..at)?, text.get(at.saturating_add(1)..)?);
        if !key.iter().all(u8::is_ascii_alphabetic) || key.is_empty() {
            return None;
        }
        if text.get(at) == Some(&b':') {
            let value = value.trim_ascii();
            if key == b"positions" {
                self.has_two_positions = Words(value).count() > 1;
            }
            return Some(CallgrindLine::Header { key, value });
        }
        match key {
            b"calls" => {
                let mut words = Words(value);
                let count = unsigned(words.next()?)?;
                Some(CallgrindLine::Calls { count, target: words.0.trim_ascii() })
            }
            b"jump" | b"jcnd" => Some(CallgrindLine::Jump(value)),
            b"ob" | b"fl" | b"fi" | b"fe" | b"fn" | b"cob" | b"cfi" | b"cfl" | b"cfn" | b"jfi"
            | b"jfn" => {
                self.has_function |= key == b"fn";
                Name::parse(key, value.trim_ascii()).map(CallgrindLine::Name)
            }
            _ => None,
        }
    }

    /// Begins a part with these events. Returns `false` if the part before has others.
    fn begins_part(&mut self, events: &'a [u8]) -> bool {
        let before = std::mem::replace(&mut self.events, events);
        self.most_costs = Words(events).count();
        before.is_empty() || Words(before).eq(Words(events))
    }

    /// Whether a line has a number for each event at most.
    fn has_costs(self, cost: &Cost<'_>) -> bool {
        let is_cost = |word: &[u8]| {
            word == b"." || unsigned(word.strip_prefix(b"-").unwrap_or(word)).is_some()
        };
        Words(cost.costs).count() <= self.most_costs && Words(cost.costs).all(is_cost)
    }

    fn cost(&self, text: &'a [u8]) -> Option<CallgrindLine<'a>> {
        let mut words = Words(text);
        let mut position = Position::parse(words.next()?)?;
        if self.has_two_positions {
            position = Position::parse(words.next()?)?;
        }
        Some(CallgrindLine::Cost(Cost { position, costs: words.0 }))
    }
}

/// Whether a file begins with headers, of which one names the events.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    const KEYS: [&[u8]; 9] = [
        b"version",
        b"creator",
        b"cmd",
        b"pid",
        b"part",
        b"desc",
        b"positions",
        b"thread",
        b"events",
    ];
    let head = bytes.get(..64 << 10).unwrap_or(bytes);
    let is_begun =
        KEYS.iter().any(|key| head.strip_prefix(*key).is_some_and(|rest| rest.starts_with(b":")));
    if !is_begun || memmem::find(head, b"events:").is_none() {
        return false;
    }
    let headers = CallgrindLines::new(head).map_while(|line| match line {
        Ok((_, CallgrindLine::Header { key, .. })) if KEYS.contains(&key) => Some(key),
        _ => None,
    });
    headers.into_iter().any(|key| key == b"events")
}
