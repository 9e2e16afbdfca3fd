//! The lines of a recording.

use crate::error::{Error, Result};
use crate::input::native::lines::{TextLine, TextLines, Words, hex};
use crate::model::fields::{FieldSink, Record};

/// The names of the records.
pub(super) const RECORD_NAMES: &[&str] = &[
    "version",
    "command",
    "system",
    "string",
    "instruction",
    "trace",
    "kind",
    "allocation",
    "free",
    "time",
    "resident",
    "attached",
    "suppression",
];

/// A line with meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) enum HeaptrackLine<'a> {
    /// The version of heaptrack, such as 0x10400, and of the format.
    Version {
        /// That of heaptrack.
        heaptrack: u64,
        /// That of the format.
        format: u64,
    },
    /// The command that was recorded.
    Command(&'a [u8]),
    /// The size of pages in bytes, and the number of pages.
    System {
        /// Bytes in a page.
        page_size: u64,
        /// Pages of memory.
        pages: u64,
    },
    /// A string.
    String(&'a [u8]),
    /// An instruction.
    Instruction {
        /// Its address in the process.
        address: u64,
        /// The string with the path of its program or library.
        module: u64,
        /// The numbers of its frames.
        frames: SymbolFrames<'a>,
    },
    /// A stack: an instruction that was called from another stack.
    Trace {
        /// The number of the instruction.
        instruction: u64,
        /// The number of the caller's stack.
        parent: u64,
    },
    /// A size and a stack that allocations have in common.
    Kind {
        /// Bytes of each.
        size: u64,
        /// The number of the stack.
        trace: u64,
    },
    /// An allocation of a kind.
    Allocation(u64),
    /// The end of an allocation of a kind.
    Free(u64),
    /// Milliseconds since the beginning.
    Time(u64),
    /// Pages of resident memory.
    Resident(u64),
    /// heaptrack was attached to a running process.
    Attached,
    /// A pattern of leaks that are not to be shown.
    Suppression(&'a [u8]),
}

/// The frames of an instruction, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct SymbolFrames<'a>(&'a [u8]);

/// The strings with the function and the file of a frame, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct SymbolFrame {
    /// The string with the function's name.
    pub(in crate::input) function: u64,
    /// The string with the file's path.
    pub(in crate::input) file: u64,
    /// The line.
    pub(in crate::input) line: u64,
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

/// The lines of a file, with their offsets. After an error the iterator has ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct HeaptrackLines<'a> {
    lines: TextLines<'a>,
    /// The version of the format; 0 before the line that states it.
    format: u64,
}

impl<'a> HeaptrackLines<'a> {
    /// From the beginning.
    pub(in crate::input) fn new(bytes: &'a [u8]) -> Self {
        Self { lines: TextLines::new(bytes), format: 0 }
    }

    fn parse(&mut self, line: &TextLine<'a>) -> Result<HeaptrackLine<'a>> {
        let damage = |expected| line.damage("not a line of heaptrack", expected);
        let (tag, rest) = match line.text {
            [b'A'] => (b'A', &[][..]),
            [tag, b' ', rest @ ..] => (*tag, rest),
            _ => return Err(damage("a letter and a blank")),
        };
        if self.format == 0 && tag != b'v' {
            return Err(super::SPEC.wrong_magic());
        }
        let mut words = Words(rest);
        let found = match tag {
            // The shortest and by far the most.
            b'+' => words.hex().map(HeaptrackLine::Allocation),
            b'-' => words.hex().map(HeaptrackLine::Free),
            b'v' => return self.version(line, words),
            b's' => self.string(line, rest),
            b'x' | b'm' => return Err(raw(line.offset)),
            _ => other(tag, rest),
        };
        // A number may go on after the end of a file that was cut.
        found.filter(|_| !line.is_cut).ok_or_else(|| damage("hexadecimal numbers"))
    }

    fn version(&mut self, line: &TextLine<'_>, mut words: Words<'_>) -> Result<HeaptrackLine<'a>> {
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
    fn string(&mut self, line: &TextLine<'a>, rest: &'a [u8]) -> Option<HeaptrackLine<'a>> {
        if self.format < 3 {
            return Some(HeaptrackLine::String(rest));
        }
        let mut words = Words(rest);
        let length = words.hex()?;
        let before = line.text.len().saturating_sub(words.0.len()).saturating_add(1);
        let text = self.lines.bytes_at(line.offset.saturating_add(before as u64), length)?;
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

impl<'a> Iterator for HeaptrackLines<'a> {
    type Item = Result<(u64, HeaptrackLine<'a>)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.lines.next()?;
            if matches!(line.text, [] | [b'#', ..]) {
                continue;
            }
            let found = self.parse(&line);
            if found.is_err() {
                self.lines.stop();
            }
            return Some(found.map(|found| (line.offset, found)));
        }
    }
}

impl Record for HeaptrackLine<'_> {
    fn name(&self) -> &'static str {
        let place = match self {
            Self::Version { .. } => 0,
            Self::Command(_) => 1,
            Self::System { .. } => 2,
            Self::String(_) => 3,
            Self::Instruction { .. } => 4,
            Self::Trace { .. } => 5,
            Self::Kind { .. } => 6,
            Self::Allocation(_) => 7,
            Self::Free(_) => 8,
            Self::Time(_) => 9,
            Self::Resident(_) => 10,
            Self::Attached => 11,
            Self::Suppression(_) => 12,
        };
        RECORD_NAMES.get(place).copied().unwrap_or_default()
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match *self {
            Self::Version { heaptrack, format } => {
                sink.address("heaptrack", heaptrack);
                sink.unsigned("format", format);
            }
            Self::Command(text) | Self::String(text) | Self::Suppression(text) => {
                sink.text("text", text);
            }
            Self::System { page_size, pages } => {
                sink.unsigned("page_size", page_size);
                sink.unsigned("pages", pages);
            }
            Self::Instruction { address, module, frames } => {
                sink.address("address", address);
                sink.unsigned("module", module);
                sink.list("frames", frames, |frame, sink| {
                    sink.unsigned("function", frame.function);
                    sink.unsigned("file", frame.file);
                    sink.unsigned("line", frame.line);
                });
            }
            Self::Trace { instruction, parent } => {
                sink.unsigned("instruction", instruction);
                sink.unsigned("parent", parent);
            }
            Self::Kind { size, trace } => {
                sink.unsigned("size", size);
                sink.unsigned("trace", trace);
            }
            Self::Allocation(kind) | Self::Free(kind) => sink.unsigned("kind", kind),
            Self::Time(milliseconds) => sink.unsigned("milliseconds", milliseconds),
            Self::Resident(pages) => sink.unsigned("pages", pages),
            Self::Attached => {}
        }
    }
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
