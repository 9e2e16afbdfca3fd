//! The parts of a line.

use crate::input::native::lines::Words;
use crate::model::fields::FieldSink;
use memchr::memmem::rfind;

/// The first line of a sample. What the line does not have is `None` or empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerfSample<'a> {
    /// The name of the thread, which is the program's unless the program has changed it.
    pub comm: &'a [u8],
    /// Process id.
    pub pid: Option<i64>,
    /// Thread id.
    pub tid: i64,
    /// The processor.
    pub cpu: Option<u64>,
    /// The text of the time in seconds.
    pub time: Option<&'a [u8]>,
    /// The period: nanoseconds for clocks, otherwise events.
    pub period: Option<u64>,
    /// The event, such as `cycles:u`.
    pub event: &'a [u8],
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerfFrame<'a> {
    /// The address of the instruction, or its offset in the file that it was loaded from.
    pub address: u64,
    /// The function without the offset in it; `[unknown]` or empty if there is no symbol.
    pub symbol: &'a [u8],
    /// The file of the program or library, such as `[kernel.kallsyms]`; may be empty.
    pub dso: &'a [u8],
}

impl PerfFrame<'_> {
    pub(super) fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.address("address", self.address);
        sink.text("symbol", self.symbol);
        sink.text("dso", self.dso);
    }
}

impl PerfSample<'_> {
    pub(super) fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.text("comm", self.comm);
        if let Some(pid) = self.pid {
            sink.signed("pid", pid.into());
        }
        sink.signed("tid", self.tid.into());
        if let Some(cpu) = self.cpu {
            sink.unsigned("cpu", cpu);
        }
        if let Some(time) = self.time {
            sink.text("time", time);
        }
        if let Some(period) = self.period {
            sink.unsigned("period", period);
        }
        sink.text("event", self.event);
    }
}

/// The first line of a sample, and what follows the event. None if it has neither a time nor an
/// event.
///
/// A command may have blanks, colons and digits, and be followed by any number of blanks. The
/// thread is the first number that is followed by a time or, if there is no time, by an event.
pub(super) fn sample(line: &[u8]) -> Option<(PerfSample<'_>, &[u8])> {
    let mut words = Words(line);
    words.next()?;
    let mut without_time = None;
    while let Some(word) = words.next() {
        let Some((pid, tid)) = thread(word) else { continue };
        let before = line.len().saturating_sub(words.0.len()).saturating_sub(word.len());
        let comm = line.get(..before).unwrap_or_default().trim_ascii();
        let known = PerfSample { comm, pid, tid, ..PerfSample::default() };
        match after_thread(known, words) {
            Some(found) if found.0.time.is_some() => return Some(found),
            found => without_time = without_time.or(found),
        }
    }
    without_time
}

/// `[001] 1167.211351:    5025125 cpu-clock:`, of which all but a time or an event may be missing.
fn after_thread<'a>(
    mut sample: PerfSample<'a>,
    mut words: Words<'a>,
) -> Option<(PerfSample<'a>, &'a [u8])> {
    sample.cpu = next_if(&mut words, |word| number(word.strip_prefix(b"[")?.strip_suffix(b"]")?));
    let labelled = |word: &'a [u8]| word.strip_suffix(b":");
    sample.time = next_if(&mut words, |word| labelled(word).filter(|time| is_time(time)));
    let before_period = words;
    sample.period = next_if(&mut words, number);
    let event = next_if(&mut words, |word| labelled(word).filter(|name| !name.is_empty()));
    sample.event = event.unwrap_or_default();
    if event.is_none() {
        // A number without an event is an address.
        (sample.period, words) = (None, before_period);
        // Other records have their name before their contents.
        let record = words.clone().next().unwrap_or_default();
        if record.starts_with(b"PERF_RECORD_") {
            sample.event = record;
        }
    }
    (sample.time.is_some() || event.is_some()).then_some((sample, words.0))
}

/// A frame: `ffffffff8158ff22 filemap_get_entry+0x92 ([kernel.kallsyms])`.
pub(super) fn frame(line: &[u8]) -> Option<PerfFrame<'_>> {
    let line = line.trim_ascii();
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let rest = line.get(digits..)?;
    // Most addresses have 16 digits at most; a longer one is something else.
    if !(1..=16).contains(&digits) || !rest.first().is_none_or(u8::is_ascii_whitespace) {
        return None;
    }
    let digits = std::str::from_utf8(line.get(..digits)?).ok()?;
    let address = u64::from_str_radix(digits, 16).ok()?;
    let (symbol, dso) = split_dso(rest);
    Some(PerfFrame { address, symbol: without_offset(symbol.trim_ascii()), dso })
}

/// Splits ` symbol (file)`. Symbols of C++ have blanks and parentheses, and the names of files may
/// end in ` (deleted)`.
fn split_dso(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(inner) = text.strip_suffix(b")") else { return (text, b"") };
    let name = inner.strip_suffix(b" (deleted)").unwrap_or(inner);
    match rfind(name, b" (") {
        Some(at) => (
            text.get(..at).unwrap_or_default(),
            inner.get(at.saturating_add(2)..).unwrap_or_default(),
        ),
        None => (text, b""),
    }
}

/// A symbol without `+0x1ce`.
fn without_offset(symbol: &[u8]) -> &[u8] {
    let Some(at) = rfind(symbol, b"+0x") else { return symbol };
    let digits = symbol.get(at.saturating_add(3)..).unwrap_or_default();
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit) {
        symbol.get(..at).unwrap_or_default()
    } else {
        symbol
    }
}

/// `4242/4243`, or `4243` for the thread alone.
fn thread(word: &[u8]) -> Option<(Option<i64>, i64)> {
    if !matches!(word.first()?, b'0'..=b'9' | b'-') {
        return None;
    }
    match memchr::memchr(b'/', word) {
        Some(at) => {
            let tid = signed(word.get(at.saturating_add(1)..)?)?;
            Some((Some(signed(word.get(..at)?)?), tid))
        }
        None => Some((None, signed(word)?)),
    }
}

fn signed(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn number(word: &[u8]) -> Option<u64> {
    let is_number = word.first().is_some_and(u8::is_ascii_digit);
    std::str::from_utf8(word).ok().filter(|_| is_number)?.parse().ok()
}

/// Seconds with a fraction.
fn is_time(word: &[u8]) -> bool {
    let mut parts = word.split(|byte| *byte == b'.');
    let mut is_part =
        || parts.next().is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    is_part() && is_part() && parts.next().is_none()
}

/// Takes the next word if it is what is requested.
fn next_if<'a, T>(words: &mut Words<'a>, wanted: impl FnOnce(&'a [u8]) -> Option<T>) -> Option<T> {
    let mut after = *words;
    let found = wanted(after.next()?)?;
    *words = after;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Command, process, thread, processor, period and event.
    type Parts = (String, Option<i64>, i64, Option<u64>, Option<u64>, String);

    fn all(line: &str) -> Option<Parts> {
        let (sample, _) = sample(line.as_bytes())?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let PerfSample { comm, pid, tid, cpu, period, event, .. } = sample;
        Some((text(comm), pid, tid, cpu, period, text(event)))
    }

    #[test]
    fn all_forms_of_a_sample_are_read() {
        for (line, comm, pid, tid, cpu, period, event) in [
            ("java 25607 4794564.109216: cycles:", "java", None, 25607, None, None, "cycles"),
            (
                "V8 WorkerThread 24636/25607 [001] 94564.109216: cycles:",
                "V8 WorkerThread",
                Some(24636),
                25607,
                Some(1),
                None,
                "cycles",
            ),
            (
                "vote   913    72.176760:     257597 cycles:uppp: ",
                "vote",
                None,
                913,
                None,
                Some(257_597),
                "cycles:uppp",
            ),
            (
                "kworker/0:1-events 12 [000] 9.5: 1 sched:sched_switch: prev_comm=a",
                "kworker/0:1-events",
                None,
                12,
                Some(0),
                Some(1),
                "sched:sched_switch",
            ),
            (
                "Chrome 2 Worker 7 3.25: 1 cycles:",
                "Chrome 2 Worker",
                None,
                7,
                None,
                Some(1),
                "cycles",
            ),
            (":-1 -1/-1 3.25: ", ":-1", Some(-1), -1, None, None, ""),
        ] {
            let found = all(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(found, (comm.into(), pid, tid, cpu, period, event.into()), "{line}");
        }
        for line in
            ["", "java", "java 12", "main;run 12", "12 [000] 3.5: cycles:", "a b c: d 1.5.2:"]
        {
            assert_eq!(all(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_frame_has_a_symbol_and_a_file() {
        for (line, symbol, dso) in [
            ("\tffffffff8158ff22 get+0x92 ([kernel.kallsyms])", "get", "[kernel.kallsyms]"),
            (
                "  f0 foo(int, char (*)(int))+0xa (/usr/lib/a b.so)",
                "foo(int, char (*)(int))",
                "/usr/lib/a b.so",
            ),
            ("  f0 [unknown] (/memfd:x (deleted))", "[unknown]", "/memfd:x (deleted)"),
            ("  f0 a+0xzz (b)", "a+0xzz", "b"),
            ("  f0  (/lib/libc.so)", "", "/lib/libc.so"),
            ("  f0 alone", "alone", ""),
            ("  f0", "", ""),
        ] {
            let found = frame(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((found.symbol, found.dso), (symbol.as_bytes(), dso.as_bytes()), "{line}");
        }
        for line in ["", "  main.c:12", "  xyz foo (a)", "  12345678901234567 foo (a)"] {
            assert_eq!(frame(line.as_bytes()), None, "{line:?}");
        }
    }
}
