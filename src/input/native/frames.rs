//! Frames as valgrind prints them: `0x10A307: allocate_image(unsigned long) (store.cpp:12)`.

use super::lines::{decimal, hex};
use crate::model::names::Names;
use crate::model::profile::{FrameId, FrameKind, ProfileBuilder, ProfileFrame, library_name};
use memchr::memmem;

/// A frame of valgrind or of Rust's crate dhat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::input) struct ValgrindFrame<'a> {
    address: Option<u64>,
    function: &'a [u8],
    /// The source file, or the library if the source file is not known.
    file: &'a [u8],
    line: u64,
    is_library: bool,
}

impl<'a> ValgrindFrame<'a> {
    /// Parses a frame. Text of another form is the name of a function.
    pub(in crate::input) fn parse(text: &'a [u8]) -> Self {
        let addressed = memmem::find(text, b": ").and_then(|at| {
            let address = text.get(..at)?.strip_prefix(b"0x")?;
            Some((hex(address)?, text.get(at.saturating_add(2)..)?))
        });
        let (address, text) =
            addressed.map_or((None, text), |(address, rest)| (Some(address), rest));
        let frame = Self { address, function: text, ..Self::default() };
        let Some((function, place)) = divided(text) else { return frame };
        if let Some(file) = place.strip_prefix(b"in ") {
            return Self { function, file, is_library: true, ..frame };
        }
        // `file:line`, and of Rust's crate also `file:line:column`.
        let Some((rest, last)) = number_at_end(place) else {
            return Self { function, file: place, ..frame };
        };
        let (file, line) = number_at_end(rest).unwrap_or((rest, last));
        Self { function, file, line, ..frame }
    }

    /// The frame in a profile. One without a function has the name of its library.
    pub(in crate::input) fn add(&self, builder: &mut ProfileBuilder) -> FrameId {
        let file = if self.file.is_empty() { Names::EMPTY } else { builder.name(self.file) };
        let function = match (self.function, self.file, self.address) {
            (b"???" | b"", [_, ..], _) => {
                let name = library_name(builder.text(file).as_bytes());
                builder.name(&name)
            }
            (b"???" | b"", [], Some(address)) => builder.name(format!("{address:#x}").as_bytes()),
            (name, ..) => builder.name(name),
        };
        let is_code = !self.is_library && !self.file.is_empty();
        let kind = if is_code { FrameKind::Code } else { FrameKind::Native };
        let line = builder.line(self.line.into());
        builder.frame(ProfileFrame { function, file, line, kind })
    }
}

/// A function, and the place in the last parentheses.
fn divided(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = memmem::rfind(text, b" (")?;
    let place = text.get(open.saturating_add(2)..)?.strip_suffix(b")")?;
    Some((text.get(..open)?, place))
}

/// `text:number`.
fn number_at_end(text: &[u8]) -> Option<(&[u8], u64)> {
    let at = memchr::memrchr(b':', text)?;
    let number = decimal(text.get(at.saturating_add(1)..)?)?;
    Some((text.get(..at)?, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_a_function_a_file_and_a_line() {
        let parse = |text: &'static str| {
            let frame = ValgrindFrame::parse(text.as_bytes());
            let text = |bytes| std::str::from_utf8(bytes).unwrap();
            (frame.address, text(frame.function), text(frame.file), frame.line, frame.is_library)
        };
        assert_eq!(
            parse("0x10A307: f(unsigned long) (store.cpp:12)"),
            (Some(0x10a307), "f(unsigned long)", "store.cpp", 12, false)
        );
        assert_eq!(parse("0x1: ??? (in /lib/a.so)"), (Some(1), "???", "/lib/a.so", 0, true));
        assert_eq!(
            parse("0x2: a::b (src/lib.rs:42:9)"),
            (Some(2), "a::b", "src/lib.rs", 42, false)
        );
        assert_eq!(parse("0x3: std::f(int)"), (Some(3), "std::f(int)", "", 0, false));
        assert_eq!(parse("[root]"), (None, "[root]", "", 0, false));
    }
}
