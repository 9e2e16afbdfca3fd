//! The lines of a recording.

use crate::error::{Error, Result};
use crate::input::native::lines::{Meaning, Meanings, Parsed, TextLine, TextLines, Words, hex};
use crate::input::record::lines;
use crate::model::fields::FieldSink;

lines! {
    pub(in crate::input) enum HeaptrackLine<'a> {
        /// The version of heaptrack, such as 0x10400, and of the format.
        "version" Version {
            heaptrack: u64 => address,
            format: u64 => unsigned,
        },
        "command" Command(text: &'a [u8] => text),
        /// The size of pages in bytes, and the number of pages.
        "system" System {
            page_size: u64 => unsigned,
            pages: u64 => unsigned,
        },
        "string" String(text: &'a [u8] => text),
        "instruction" Instruction {
            address: u64 => address,
            /// The string with the path of its program or library.
            module: u64 => unsigned,
            frames: SymbolFrames<'a> => with(SymbolFrames::pass_to),
        },
        /// A stack: an instruction that was called from another stack.
        "trace" Trace {
            instruction: u64 => unsigned,
            parent: u64 => unsigned,
        },
        /// A size and a stack that allocations have in common.
        "kind" Kind {
            size: u64 => unsigned,
            trace: u64 => unsigned,
        },
        /// An allocation of a kind.
        "allocation" Allocation(kind: u64 => unsigned),
        /// The end of an allocation of a kind.
        "free" Free(kind: u64 => unsigned),
        /// Milliseconds since the beginning.
        "time" Time(milliseconds: u64 => unsigned),
        /// Pages of resident memory.
        "resident" Resident(pages: u64 => unsigned),
        /// heaptrack was attached to a running process.
        "attached" Attached,
        /// A pattern of leaks that are not to be shown.
        "suppression" Suppression(text: &'a [u8] => text),
    }
}

/// The frames of an instruction, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct SymbolFrames<'a>(&'a [u8]);

/// The strings with the function and the file of a frame, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct SymbolFrame {
    pub(in crate::input) function: u64,
    pub(in crate::input) file: u64,
    pub(in crate::input) line: u64,
}

impl SymbolFrames<'_> {
    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.list("frames", self, |frame, sink| {
            sink.unsigned("function", frame.function);
            sink.unsigned("file", frame.file);
            sink.unsigned("line", frame.line);
        });
    }
}

impl Iterator for SymbolFrames<'_> {
    type Item = SymbolFrame;

    fn next(&mut self) -> Option<SymbolFrame> {
        let mut words = Words(self.0);
        // Functions without debug information have no file and line.
        let frame = SymbolFrame {
            function: words.hex()?,
            file: words.hex().unwrap_or(0),
            line: words.hex().unwrap_or(0),
        };
        self.0 = words.0;
        Some(frame)
    }
}

pub(in crate::input) type HeaptrackLines<'a> = Meanings<'a, Heaptrack>;

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::input) struct Heaptrack {
    /// The version of the format; 0 before the line that states it.
    format: u64,
}

impl<'a> Meaning<'a> for Heaptrack {
    type Line = HeaptrackLine<'a>;

    #[inline]
    fn parse(&mut self, line: &TextLine<'a>, next: &mut TextLines<'a>) -> Parsed<Self::Line> {
        let damage = |expected| line.damage("not a line of heaptrack", expected);
        let (tag, rest) = match line.text {
            [] | [b'#', ..] => return Ok(None),
            [b'A'] => (b'A', &[][..]),
            [tag, b' ', rest @ ..] => (*tag, rest),
            _ => return Err(damage("a letter and a blank")),
        };
        if self.format == 0 && tag != b'v' {
            return Err(super::SPEC.wrong_magic());
        }
        let mut words = Words(rest);
        let found = match tag {
            // The shortest and by far the most frequent lines.
            b'+' => words.hex().map(HeaptrackLine::Allocation),
            b'-' => words.hex().map(HeaptrackLine::Free),
            b'v' => return self.version(line, words).map(Some),
            b's' => self.string(line, rest, next),
            b'x' | b'm' => return Err(raw(line.offset)),
            _ => other(tag, rest),
        };
        // A number may go on after the end of a file that was cut.
        match found.filter(|_| !line.is_cut) {
            None => Err(damage("hexadecimal numbers")),
            found => Ok(found),
        }
    }
}

impl Heaptrack {
    fn version<'a>(
        &mut self,
        line: &TextLine<'_>,
        mut words: Words<'_>,
    ) -> Result<HeaptrackLine<'a>> {
        let damage = || line.damage("not a line of heaptrack", "the version of heaptrack");
        let heaptrack = words.hex().filter(|_| !line.is_cut).ok_or_else(damage)?;
        self.format = match words.hex() {
            Some(format) => format,
            // heaptrack before 1.0 has a format of this number.
            None if heaptrack == 0x10200 => 1,
            None => 0,
        };
        match self.format {
            1..=3 => Ok(HeaptrackLine::Version { heaptrack, format: self.format }),
            format => Err(Error::unsupported(line.offset, format!("format {format} of heaptrack"))
                .hint("dumptool reads formats 1 to 3, of heaptrack 1.0 and later")),
        }
    }

    /// A string with its length, so that it may have several lines.
    fn string<'a>(
        self,
        line: &TextLine<'a>,
        rest: &'a [u8],
        next: &mut TextLines<'a>,
    ) -> Option<HeaptrackLine<'a>> {
        if self.format < 3 {
            return Some(HeaptrackLine::String(rest));
        }
        let mut words = Words(rest);
        let length = words.hex()?;
        let before = line.text.len().saturating_sub(words.0.len()).saturating_add(1);
        let text = next.bytes_at(line.offset.saturating_add(before as u64), length)?;
        Some(HeaptrackLine::String(text))
    }
}

fn other<'a>(tag: u8, rest: &'a [u8]) -> Option<HeaptrackLine<'a>> {
    let mut words = Words(rest);
    Some(match tag {
        b'a' => HeaptrackLine::Kind { size: words.hex()?, trace: words.hex()? },
        b't' => HeaptrackLine::Trace { instruction: words.hex()?, parent: words.hex()? },
        b'i' => HeaptrackLine::Instruction {
            address: words.hex()?,
            module: words.hex()?,
            frames: SymbolFrames(words.0),
        },
        b'c' => HeaptrackLine::Time(words.hex()?),
        b'R' => HeaptrackLine::Resident(words.hex()?),
        b'X' => HeaptrackLine::Command(rest),
        b'I' => HeaptrackLine::System { page_size: words.hex()?, pages: words.hex()? },
        b'S' => HeaptrackLine::Suppression(rest),
        b'A' => HeaptrackLine::Attached,
        _ => return None,
    })
}

#[cold]
fn raw(offset: u64) -> Error {
    Error::unsupported(offset, "a raw recording of heaptrack, without symbols")
        .hint("`heaptrack --interpret FILE` adds them, on the machine of the recording")
}

/// Whether the first line has one or two versions and the second one is of heaptrack, too.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    let mut lines = TextLines::new(bytes.get(..4096).unwrap_or(bytes));
    let Some(rest) = lines.next().and_then(|line| line.text.strip_prefix(b"v ")) else {
        return false;
    };
    let mut numbers = Words(rest);
    let count = numbers.count();
    let next = lines.next().map(|line| line.text);
    (1..=2).contains(&count)
        && numbers.all(|word| hex(word).is_some())
        && matches!(next, None | Some([b'X' | b'I' | b's' | b'x' | b'#' | b'A' | b'S', ..]))
}
