//! The lines of folded stacks.

use crate::error::Error;
use crate::input::native::lines::{Meaning, Meanings, Parsed, TextLine, TextLines};
use crate::model::fields::{FieldSink, Record};
use memchr::memrchr2;

/// A stack and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct FoldedLine<'a> {
    /// The frames, outermost first, with `;` between them.
    pub stack: &'a [u8],
    /// The text of the number.
    pub number: &'a [u8],
}

/// The lines of a file that are stacks, with their offsets. After an error the iterator has ended.
pub(in crate::input) type FoldedLines<'a> = Meanings<'a, Folded>;

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::input) struct Folded;

impl<'a> Meaning<'a> for Folded {
    type Line = FoldedLine<'a>;

    fn parse(&mut self, line: &TextLine<'a>, _: &mut TextLines<'a>) -> Parsed<Self::Line> {
        if line.text.trim_ascii().is_empty() || line.text.starts_with(b"#") {
            return Ok(None);
        }
        let divided = FoldedLine::of(line.text).filter(|line| parse(line.number).is_some());
        let message = "a line without a number";
        divided.map(Some).ok_or_else(|| {
            if line.is_cut {
                Error::truncated(line.offset, message)
            } else {
                line.damage(message, "frames, a blank and a number")
            }
        })
    }
}

impl<'a> FoldedLine<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii_end();
        let at = memrchr2(b' ', b'\t', line)?;
        Some(Self { stack: line.get(..at)?, number: line.get(at.saturating_add(1)..)? })
    }

    /// The number, in millionths.
    pub(super) fn millionths(&self) -> i128 {
        parse(self.number).unwrap_or(0)
    }

    /// The line of a differential file: the number before, in millionths, and the stack without it.
    pub(super) fn before(&self) -> Option<(Self, i128)> {
        let before = Self::of(self.stack)?;
        Some((before, parse(before.number)?))
    }
}

impl Record for FoldedLine<'_> {
    fn name(&self) -> &'static str {
        "stack"
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        sink.text("stack", self.stack);
        sink.text("number", self.number);
    }
}

/// The factor of numbers with fractions, so that numbers in seconds become integers.
pub(super) const MILLIONTHS: i128 = 1_000_000;

/// A decimal number in millionths, with an optional sign, fraction and exponent.
fn parse(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(whole) = text.parse::<i64>() {
        return Some(i128::from(whole).saturating_mul(MILLIONTHS));
    }
    // Words like `inf` and `nan` are not numbers here.
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let value: f64 = text.parse().ok().filter(|_| is_number)?;
    Some((value * MILLIONTHS as f64).round() as i128)
}

/// The beginning of the line in which dumptool names the value of a file and its unit:
/// `# folded: alloc_space in bytes`. Other readers skip it as a comment.
pub(super) const VALUE: &[u8] = b"# folded: ";

/// The name and the unit of the value, from a file that begins with them.
pub(super) fn named_value(bytes: &[u8]) -> Option<(&str, &str)> {
    let line = bytes.strip_prefix(VALUE)?.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok()?.trim_end().rsplit_once(" in ")
}

/// The number of lines that are read to detect the format.
const LOOKED_AT: usize = 50;

/// Whether the first lines of a file are stacks with numbers, and at least one of them has several
/// frames.
///
/// Stacks may be empty (` 7`, as py-spy writes samples of an idle thread), and names need not be
/// UTF-8, but they are text.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    const HEAD: usize = 64 << 10;
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    // The last line of the head may be cut.
    let head = if head.len() < bytes.len() {
        head.get(..memchr::memrchr(b'\n', head).unwrap_or(0)).unwrap_or_default()
    } else {
        head
    };
    let is_control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
    let mut has_frames = false;
    for line in FoldedLines::new(head).take(LOOKED_AT) {
        let Ok((_, line)) = line else { return false };
        if line.stack.first().is_some_and(u8::is_ascii_whitespace)
            || line.stack.iter().any(is_control)
        {
            return false;
        }
        has_frames |= line.stack.contains(&b';');
    }
    has_frames
}
