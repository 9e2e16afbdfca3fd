//! The lines of a perf script.

use super::parse::{PerfFrame, PerfSample, frame, sample};
use crate::error::{Error, Result};
use crate::input::native::lines::{TextLine, TextLines};
use crate::input::record::lines;

lines! {
    /// A line with meaning.
    pub enum PerfLine<'a> {
        /// A sample, whose frames follow.
        "sample" Sample(sample: PerfSample<'a> => with(PerfSample::pass_to)),
        /// A frame of the last sample, innermost first.
        "frame" Frame(frame: PerfFrame<'a> => with(PerfFrame::pass_to)),
    }
}

/// The lines of a file that are samples and frames, with their offsets. After an error the iterator
/// has ended.
#[derive(Clone, Copy, Debug)]
pub struct PerfLines<'a> {
    lines: TextLines<'a>,
    /// The only frame of a sample, in the same line.
    inline: Option<(u64, PerfFrame<'a>)>,
    in_sample: bool,
    /// Indented lines so far that are not frames.
    pub(super) skipped: u64,
}

impl<'a> PerfLines<'a> {
    /// Reads from the beginning of the file.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { lines: TextLines::new(bytes), inline: None, in_sample: false, skipped: 0 }
    }

    fn damage(&mut self, line: &TextLine<'_>) -> Error {
        self.lines.stop();
        let expected = "a command, a thread id, and a time or an event";
        line.damage("not a sample of perf script", expected)
    }
}

impl<'a> Iterator for PerfLines<'a> {
    type Item = Result<(u64, PerfLine<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some((offset, frame)) = self.inline.take() {
            return Some(Ok((offset, PerfLine::Frame(frame))));
        }
        loop {
            let text_line = self.lines.next()?;
            let (offset, line) = (text_line.offset, text_line.text);
            if line.trim_ascii().is_empty() || line.starts_with(b"#") {
                continue;
            }
            // Samples without stacks are indented by spaces, frames by spaces or a tab.
            let is_indented = line.first().is_some_and(u8::is_ascii_whitespace);
            if !line.starts_with(b"\t")
                && let Some((found, rest)) =
                    sample(line).filter(|(found, _)| !is_indented || found.time.is_some())
            {
                if found.event.starts_with(NOT_A_SAMPLE) {
                    self.in_sample = false;
                    continue;
                }
                self.in_sample = true;
                self.inline = frame(rest).map(|frame| (offset, frame));
                return Some(Ok((offset, PerfLine::Sample(found))));
            }
            match frame(line).filter(|_| is_indented) {
                Some(frame) if self.in_sample => {
                    return Some(Ok((offset, PerfLine::Frame(frame))));
                }
                // Source lines and whatever else perf was asked to print.
                _ if is_indented => self.skipped = self.skipped.saturating_add(1),
                _ => return Some(Err(self.damage(&text_line))),
            }
        }
    }
}

/// The prefix of other records (`--show-task-events`), which perf prints in place of an event.
const NOT_A_SAMPLE: &[u8] = b"PERF_RECORD_";

/// Whether the first line with text is a sample that has a time, and the next one is a frame or
/// another sample.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    const HEAD: usize = 64 << 10;
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let mut lines = PerfLines::new(head);
    let Some(Ok((_, PerfLine::Sample(first)))) = lines.next() else { return false };
    first.time.is_some() && !matches!(lines.next(), Some(Err(_)))
}
