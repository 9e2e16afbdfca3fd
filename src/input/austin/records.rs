//! The lines of Austin's text.

use super::is_sample;
use crate::error::{Error, Result};
use crate::input::record::lines;
use crate::model::fields::FieldSink;
use crate::model::sample::SampleFrame;
use memchr::{memchr, memrchr};
use std::num::Saturating;

lines! {
    /// A line of the text that austin writes.
    pub enum AustinLine<'a> {
        /// `# key: value`.
        "metadata" Metadata {
            /// The text up to the first colon.
            key: &'a [u8] => text,
            /// The text after the colon.
            value: &'a [u8] => text,
        },
        "sample" Sample(sample: AustinSample<'a> => with(AustinSample::pass_to)),
    }
}

/// A sample whose frames are still text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AustinSample<'a> {
    /// Process id.
    pub pid: i128,
    /// Interpreter id, from Austin 3.6 on.
    pub interpreter: Option<i128>,
    /// Thread id in decimal, or a name.
    pub thread: &'a [u8],
    /// All of the line but the metric: equal text means the same thread and stack.
    pub text: &'a [u8],
    /// The part of the line after the thread: each frame with a `;` before it.
    pub stack: &'a [u8],
    /// The text after the last blank.
    pub metric: Metric,
}

/// The quantity that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// `None`, as mojo2austin 2.x prints for a sample without one.
    None,
    /// A time or a change of memory.
    One(i128),
    /// The mode `full`.
    Full {
        /// The time in microseconds.
        time: i128,
        /// Whether the thread was not running.
        idle: bool,
        /// The change of memory in bytes.
        memory: i128,
    },
}

impl<'a> AustinSample<'a> {
    /// The frames, outermost first; an error is text that is not a frame.
    pub fn frames(&self) -> impl Iterator<Item = Result<SampleFrame<'a>, &'a [u8]>> + use<'a> {
        let mut rest = self.stack.strip_prefix(b";");
        std::iter::from_fn(move || {
            let text = rest?;
            let (frame, after) = take_frame(text);
            rest = after;
            Some(frame)
        })
    }
}

/// The first frame of a list, and the text after its `;`. A `;` without a line number before it
/// belongs to a name.
fn take_frame(text: &[u8]) -> (Result<SampleFrame<'_>, &[u8]>, Option<&[u8]>) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| memchr(b';', rest)) {
        let at = at.saturating_add(from);
        let (frame, rest) = text.split_at(at);
        if let Some(frame) = parse_frame(frame) {
            return (Ok(frame), rest.get(1..));
        }
        from = at.saturating_add(1);
    }
    if let Some(frame) = parse_frame(text) {
        return (Ok(frame), None);
    }
    // Without any line number the end of a name is unknown, so it ends at the first `;`.
    match split_at_first(text, b';') {
        Some((name, rest)) => (Err(name), Some(rest)),
        None => (Err(text), None),
    }
}

fn parse_frame(text: &[u8]) -> Option<SampleFrame<'_>> {
    match text {
        b":INVALID:" => return Some(SampleFrame::Invalid),
        b":GC:" => return Some(SampleFrame::GarbageCollector),
        _ => {}
    }
    let (names, line) = split_at_last(text, b':')?;
    let line = number(line)?;
    let (file, function) = split_at_last(names, b':')?;
    Some(match (file, line) {
        (b"kernel", 0) => SampleFrame::Kernel(function),
        _ => SampleFrame::Code { file, function, line },
    })
}

fn split_at_last(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = memrchr(byte, text)?;
    Some((text.get(..at)?, text.get(at.saturating_add(1)..)?))
}

fn split_at_first(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr(byte, text)?;
    Some((text.get(..at)?, text.get(at.saturating_add(1)..)?))
}

/// A decimal number with an optional minus.
fn number(text: &[u8]) -> Option<i128> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || digits.len() > 38 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits
        .iter()
        .fold(0i128, |value, digit| value.wrapping_mul(10).wrapping_add((digit & 15).into()));
    Some(if digits.len() < text.len() { value.wrapping_neg() } else { value })
}

impl AustinSample<'_> {
    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.signed("pid", self.pid);
        if let Some(interpreter) = self.interpreter {
            sink.signed("iid", interpreter);
        }
        sink.text("tid", self.thread);
        match self.metric {
            Metric::None => {}
            Metric::One(value) => sink.signed("value", value),
            Metric::Full { time, idle, memory } => {
                sink.signed("us", time);
                sink.boolean("idle", idle);
                sink.signed("bytes", memory);
            }
        }
        sink.text("stack", self.stack.strip_prefix(b";").unwrap_or_default());
    }
}

/// The lines of a file with their offsets. After an error the iterator has ended.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    samples: Saturating<u64>,
}

impl<'a> Lines<'a> {
    /// Reads from the beginning of the file.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, samples: Saturating(0) }
    }

    fn line(&mut self, offset: u64, line: &'a [u8]) -> Result<AustinLine<'a>> {
        if let Some(comment) = line.strip_prefix(b"#") {
            let (key, value) = split_at_first(comment, b':').unwrap_or((comment, b""));
            return Ok(AustinLine::Metadata {
                key: key.trim_ascii(),
                value: value.strip_prefix(b" ").unwrap_or(value),
            });
        }
        let sample = parse_sample(line).ok_or_else(|| {
            Error::corrupt(offset, "this line is not a sample")
                .expected("P<pid>;T<thread>;<file>:<function>:<line> <metric>")
                .context(self.after())
        })?;
        self.samples += 1;
        Ok(AustinLine::Sample(sample))
    }

    fn after(&self) -> String {
        format!("after {} samples", self.samples)
    }
}

/// The position of the newline of the first line. Names may contain newlines, so the line of a
/// sample continues until a line that begins like a sample, or is empty.
fn end_of_line(text: &[u8]) -> Option<usize> {
    let mut end = memchr(b'\n', text)?;
    if !text.starts_with(b"P") {
        return Some(end);
    }
    loop {
        let next_line = end.saturating_add(1);
        let next = text.get(next_line..).unwrap_or_default();
        if next.is_empty()
            || next.starts_with(b"#")
            || next.starts_with(b"\n")
            || next.starts_with(b"\r\n")
            || is_sample(next)
        {
            return Some(end);
        }
        end = next_line.saturating_add(memchr(b'\n', next)?);
    }
}

pub(super) fn parse_sample(line: &[u8]) -> Option<AustinSample<'_>> {
    let (text, metric) = split_at_last(line, b' ')?;
    let metric = parse_metric(metric)?;
    let (pid, rest) = split_at_first(text.strip_prefix(b"P")?, b';')?;
    let pid = number(pid)?;
    let rest = rest.strip_prefix(b"T")?;
    let (thread, stack) = rest.split_at(memchr(b';', rest).unwrap_or(rest.len()));
    let (interpreter, thread) =
        match split_at_first(thread, b':').map(|(id, thread)| (number(id), thread)) {
            Some((Some(interpreter), thread)) => (Some(interpreter), thread),
            _ => (None, thread),
        };
    Some(AustinSample { pid, interpreter, thread, text, stack, metric })
}

fn parse_metric(text: &[u8]) -> Option<Metric> {
    if text == b"None" {
        return Some(Metric::None);
    }
    let Some((time, rest)) = split_at_first(text, b',') else {
        return number(text).map(Metric::One);
    };
    let (idle, memory) = split_at_first(rest, b',')?;
    let idle = match idle {
        b"0" => false,
        b"1" => true,
        _ => return None,
    };
    Some(Metric::Full { time: number(time)?, idle, memory: number(memory)? })
}

impl<'a> Iterator for Lines<'a> {
    type Item = Result<(u64, AustinLine<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            let offset = self.at as u64;
            let end = end_of_line(rest);
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            self.at = self.at.saturating_add(end.map_or(rest.len(), |end| end.saturating_add(1)));
            if line.is_empty() {
                continue;
            }
            let line =
                match end {
                    Some(_) => self.line(offset, line),
                    // Without its newline the last number may have been cut.
                    None => Err(Error::truncated(offset, "the input ends inside a line")
                        .context(self.after())),
                };
            if line.is_err() {
                self.at = self.bytes.len();
            }
            return Some(line.map(|line| (offset, line)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(stack: &str) -> Vec<String> {
        let line = format!("P1;T0:5{stack} 7\n");
        let Some(Ok((0, AustinLine::Sample(sample)))) = Lines::new(line.as_bytes()).next() else {
            panic!("{line}")
        };
        let frames = sample.frames().map(|frame| match frame {
            Ok(SampleFrame::Code { file, function, line }) => {
                format!(
                    "{}|{}|{line}",
                    String::from_utf8_lossy(file),
                    String::from_utf8_lossy(function)
                )
            }
            other => format!("{other:?}"),
        });
        frames.collect()
    }

    #[test]
    fn frames_end_where_a_line_number_does() {
        assert_eq!(frames(""), [""; 0]);
        assert_eq!(frames(";a.py:f:3;b.py:g:-1"), ["a.py|f|3", "b.py|g|-1"]);
        assert_eq!(frames(";C:\\a b;c.py:f:3;::0"), ["C:\\a b;c.py|f|3", "||0"]);
        assert_eq!(frames(";:INVALID:;:GC:"), ["Ok(Invalid)", "Ok(GarbageCollector)"]);
        assert_eq!(frames(";x;y"), ["Err([120])", "Err([121])"]);
    }

    #[test]
    fn metrics_of_all_modes() {
        for (text, metric) in [
            ("None", Some(Metric::None)),
            ("-4096", Some(Metric::One(-4096))),
            ("5,1,-8", Some(Metric::Full { time: 5, idle: true, memory: -8 })),
            ("5,2,8", None),
            ("", None),
            ("0x5", None),
        ] {
            assert_eq!(parse_metric(text.as_bytes()), metric, "{text}");
        }
    }
}
