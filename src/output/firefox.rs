//! The processed profile format of the Firefox Profiler, version 55. Its front end upgrades old
//! versions.
//!
//! The weight of a thread's samples is the first value. Entries in the order of time keep their
//! times, idle and garbage collection become markers, and changes of memory a counter of the
//! process. Other entries follow one another, a millisecond apart or as long as their time.

use super::json::{self, Object};
use super::written::{Written, empty_entries, rows_by_track};
use crate::model::distinct::Distinct;
use crate::model::profile::{FrameId, FrameKind, ProfileFrame, StackId, Unit, display_name};
use crate::model::stacks::{Entry, Moment, WeightedStacks};
use crate::output::loss::LossKind;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::json;
use std::io::{self, Write};

const CATEGORIES: [(FrameKind, &str, &str); 5] = [
    (FrameKind::Code, "Code", "yellow"),
    (FrameKind::Native, "Native", "blue"),
    (FrameKind::Kernel, "Kernel", "orange"),
    (FrameKind::Gc, "GC", "green"),
    (FrameKind::Invalid, "Invalid", "grey"),
];
const OTHER: usize = 5;

/// Writes the first value, and the others where the format has a field for them. Fails when the
/// output cannot be written.
pub fn write(stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
    let mut written = Written::new(stacks);
    written.sums.truncate(1);
    let mut categories: Vec<_> = CATEGORIES
        .iter()
        .map(|(_, name, color)| json!({ "name": name, "color": color, "subcategories": ["Other"] }))
        .collect();
    categories.push(json!({ "name": "Other", "color": "grey", "subcategories": ["Other"] }));
    let meta = json!({
        "version": 24, "preprocessedProfileVersion": 55, "interval": stacks.interval_us.unwrap_or(1000).max(1) as f64 / 1000.0,
        "startTime": 0, "processType": 0, "product": stacks.title, "stackwalk": 0, "debug": false, "categories": categories,
        "markerSchema": [], "symbolicated": true, "usesOnlyOneStackType": true, "sourceCodeIsNotOnSearchfox": true,
        "importedFrom": concat!("dumptool ", env!("CARGO_PKG_VERSION")),
    });
    let mut profile = Object::open(out)?;
    profile.field("meta", meta)?;
    profile.field("libs", [(); 0])?;
    profile.field("pages", [(); 0])?;
    let rows = rows_by_track(stacks);
    counters(stacks, &mut profile)?;
    let mut processes = FxHashSet::default();
    profile.array("threads", 0..stacks.tracks.len(), |out, track| {
        let main = processes.insert(stacks.tracks[track].pid);
        thread(stacks, track, main, &rows[track], out, &mut written)
    })?;
    profile.close()?;
    out.write_all(b"\n")?;
    written.lose(LossKind::OtherValues, stacks.values.len().saturating_sub(1) as u64);
    written.lose(LossKind::EmptyStackGaps, empty_entries(stacks));
    Ok(written)
}

/// The process of a track, in the notation of the format.
fn pid(stacks: &WeightedStacks, track: usize) -> String {
    stacks.tracks[track].pid.map_or("0".to_owned(), |pid| pid.to_string())
}

/// The changes of memory of each process.
fn counters(stacks: &WeightedStacks, profile: &mut Object<'_, impl Write>) -> io::Result<()> {
    let mut processes: Vec<(String, usize, Vec<Moment>)> = Vec::new();
    let mut numbers = FxHashMap::default();
    for entry in stacks.iter() {
        let Some(moment) = entry.moment.filter(|moment| moment.memory != 0) else { continue };
        let number = *numbers.entry(pid(stacks, entry.track)).or_insert_with_key(|pid| {
            processes.push((pid.clone(), entry.track, Vec::new()));
            processes.len() - 1
        });
        processes[number].2.push(moment);
    }
    profile.array("counters", processes, |out, (pid, track, mut moments)| {
        moments.sort_by_key(|moment| moment.start);
        let mut counter = Object::open(out)?;
        counter.field("category", "Memory")?;
        counter.field("description", "Memory in use")?;
        counter.field("mainThreadIndex", track)?;
        counter.field("name", "malloc")?;
        counter.field("pid", pid)?;
        let mut samples = counter.object("samples")?;
        samples.field("length", moments.len())?;
        samples.array("time", &moments, |out, moment| milliseconds(out, moment.start))?;
        samples.array("count", &moments, |out, moment| json::integer(out, moment.memory))?;
        samples.close()?;
        counter.close()
    })
}

/// Names of a thread by their numbers.
type Strings<'a> = Distinct<&'a str>;

fn thread(
    stacks: &WeightedStacks,
    track: usize,
    main: bool,
    rows: &[u32],
    out: &mut impl Write,
    written: &mut Written,
) -> io::Result<()> {
    let about = &stacks.tracks[track];
    let last = rows
        .last()
        .and_then(|row| stacks.entry(*row as usize).moment)
        .map_or(0, |moment| moment.start.saturating_add(moment.length));
    let process = about.pid.map_or(stacks.title.clone(), |pid| format!("process {pid}"));
    let mut thread = Object::open(out)?;
    thread.field("isMainThread", main)?;
    thread.field("name", about.thread.as_ref().unwrap_or(&about.name))?;
    thread.field(
        "nativeSymbols",
        json!({ "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [] }),
    )?;
    thread.field("pausedRanges", [(); 0])?;
    thread.field("pid", pid(stacks, track))?;
    thread.field("processName", process)?;
    thread.field("processShutdownTime", ())?;
    thread.field("processStartupTime", 0)?;
    thread.field("processType", "default")?;
    thread.field("registerTime", 0)?;
    thread.field(
        "resourceTable",
        json!({ "length": 0, "lib": [], "name": [], "host": [], "type": [] }),
    )?;
    thread.field("tid", &about.name)?;
    thread.field("unregisterTime", last as f64 / 1000.0)?;

    let used = Used::of(stacks, rows);
    let mut strings = Strings::default();
    used.write(stacks, &mut thread, &mut strings)?;
    samples(stacks, rows, &used, &mut thread, written)?;
    markers(stacks, rows, &mut thread, &mut strings)?;
    thread.field("stringArray", &strings.all)?;
    thread.close()
}

/// The stacks, frames and functions that a thread has, numbered again: callers first.
#[derive(Default)]
struct Used {
    stacks: Vec<StackId>,
    stack_numbers: FxHashMap<StackId, usize>,
    frames: Distinct<FrameId>,
    /// By stack: its innermost frame.
    leaves: Vec<Option<u32>>,
}

impl Used {
    fn of(stacks: &WeightedStacks, rows: &[u32]) -> Self {
        let mut used = Self::default();
        for &row in rows {
            let mut stack = stacks.entry(row as usize).stack;
            while stack != StackId::EMPTY && !used.stack_numbers.contains_key(&stack) {
                used.stack_numbers.insert(stack, 0);
                used.stacks.push(stack);
                stack = stacks.stacks.parent(stack);
            }
        }
        used.stacks.sort_unstable();
        for (number, stack) in used.stacks.iter().enumerate() {
            used.stack_numbers.insert(*stack, number);
            let leaf = stacks.stacks.leaf(*stack);
            used.leaves.push(leaf.map(|frame| used.frames.number(frame)));
        }
        used
    }

    fn write<'a>(
        &self,
        stacks: &'a WeightedStacks,
        thread: &mut Object<'_, impl Write>,
        strings: &mut Strings<'a>,
    ) -> io::Result<()> {
        self.write_frames(stacks, thread, strings)?;
        let mut table = thread.object("stackTable")?;
        table.field("length", self.stacks.len())?;
        table.array("prefix", &self.stacks, |out, stack| {
            json::value(out, "", &self.stack_numbers.get(&stacks.stacks.parent(*stack)))
        })?;
        table.array("frame", &self.leaves, |out, frame| json::value(out, "", frame))?;
        table.close()
    }

    fn write_frames<'a>(
        &self,
        stacks: &'a WeightedStacks,
        thread: &mut Object<'_, impl Write>,
        strings: &mut Strings<'a>,
    ) -> io::Result<()> {
        let mut functions = Distinct::default();
        let key = |frame: ProfileFrame| (frame.function, frame.file, frame.kind);
        let frames = self.frames.all.iter();
        let function_of: Vec<u32> =
            frames.map(|id| functions.number(key(stacks.frame(*id)))).collect();
        let names = functions.all.into_iter().map(|(function, file, kind)| {
            let name = strings.number(display_name(kind, stacks.text(function)));
            let file = stacks.text(file);
            (name, (!file.is_empty()).then(|| strings.number(file)))
        });
        let functions: Vec<_> = names.collect();
        let lines = |id: FrameId| Some(stacks.frame(id).line).filter(|line| *line > 0);
        let category = |id: FrameId| {
            CATEGORIES.iter().position(|(kind, ..)| *kind == stacks.frame(id).kind).unwrap_or(OTHER)
        };
        let count = self.frames.all.len();
        let mut table = thread.object("frameTable")?;
        table.field("length", count)?;
        table.field("func", function_of)?;
        table.array("line", &self.frames.all, |out, id| json::value(out, "", &lines(*id)))?;
        table.array("category", &self.frames.all, |out, id| write!(out, "{}", category(*id)))?;
        for (column, value) in [
            ("address", "-1"),
            ("inlineDepth", "0"),
            ("subcategory", "0"),
            ("nativeSymbol", "null"),
            ("innerWindowID", "null"),
            ("implementation", "null"),
            ("column", "null"),
        ] {
            constant(&mut table, column, value, count)?;
        }
        table.close()?;
        let count = functions.len();
        let mut table = thread.object("funcTable")?;
        table.field("length", count)?;
        table.array("name", &functions, |out, (name, _)| write!(out, "{name}"))?;
        table.array("fileName", &functions, |out, (_, file)| json::value(out, "", file))?;
        for (column, value) in [
            ("isJS", "false"),
            ("relevantForJS", "false"),
            ("resource", "-1"),
            ("lineNumber", "null"),
            ("columnNumber", "null"),
        ] {
            constant(&mut table, column, value, count)?;
        }
        table.close()
    }
}

/// A column with the same value in every row.
fn constant(
    table: &mut Object<'_, impl Write>,
    name: &str,
    value: &str,
    count: usize,
) -> io::Result<()> {
    table.array(name, 0..count, |out, _| out.write_all(value.as_bytes()))
}

fn samples(
    stacks: &WeightedStacks,
    rows: &[u32],
    used: &Used,
    thread: &mut Object<'_, impl Write>,
    written: &mut Written,
) -> io::Result<()> {
    let unit = stacks.values.first().map_or(&Unit::Count, |value| &value.unit);
    let nanoseconds = unit.nanoseconds();
    let weight_type = match (nanoseconds, unit) {
        (Some(_), _) => "tracing-ms",
        (None, Unit::Bytes) => "bytes",
        _ => "samples",
    };
    let entries = || rows.iter().map(|&row| stacks.entry(row as usize));
    let weight = |entry: &Entry<'_>| entry.values.first().copied().unwrap_or(0);
    let mut samples = thread.object("samples")?;
    samples.field("length", rows.len())?;
    samples.field("weightType", weight_type)?;
    samples.array("stack", entries(), |out, entry| {
        json::value(out, "", &used.stack_numbers.get(&entry.stack))
    })?;
    let mut clock = 0i64;
    samples.array("time", entries(), |out, entry| {
        let step = nanoseconds.map_or(1000, |each| to_microseconds(weight(&entry).max(0), each));
        let start = entry.moment.map_or(clock, |moment| moment.start);
        clock = clock.saturating_add(step);
        milliseconds(out, start)
    })?;
    samples.array("weight", entries(), |out, entry| {
        written.stacks += 1;
        written.add_one(0, weight(&entry));
        match nanoseconds {
            Some(each) => milliseconds_of(out, weight(&entry), each),
            None => json::amount(out, weight(&entry), unit),
        }
    })?;
    if stacks.in_order {
        let busy = |moment: Moment| if moment.idle { 0 } else { moment.length };
        samples.array("threadCPUDelta", entries(), |out, entry| {
            json::integer(out, entry.moment.map_or(0, busy))
        })?;
    }
    samples.close()
}

/// Runs of samples during which the thread was idle, or the garbage collector ran.
fn markers<'a>(
    stacks: &WeightedStacks,
    rows: &[u32],
    thread: &mut Object<'_, impl Write>,
    strings: &mut Strings<'a>,
) -> io::Result<()> {
    let mut markers: Vec<(i64, i64, &'static str)> = Vec::new();
    for (name, wanted) in [
        ("GC", (|moment: &Moment| moment.gc) as fn(&Moment) -> bool),
        ("Idle", |moment| moment.idle),
    ] {
        let mut open: Option<(i64, i64)> = None;
        for moment in rows.iter().filter_map(|&row| stacks.entry(row as usize).moment) {
            let end = moment.start.saturating_add(moment.length);
            match (&mut open, wanted(&moment)) {
                (Some((_, last)), true) => *last = end,
                (None, true) => open = Some((moment.start, end)),
                (_, false) => markers.extend(open.take().map(|(start, end)| (start, end, name))),
            }
        }
        markers.extend(open.map(|(start, end)| (start, end, name)));
    }
    markers.sort_unstable();
    let mut table = thread.object("markers")?;
    table.field("length", markers.len())?;
    table.array("name", &markers, |out, (.., name)| write!(out, "{}", strings.number(name)))?;
    table.array("startTime", &markers, |out, (start, ..)| milliseconds(out, *start))?;
    table.array("endTime", &markers, |out, (_, end, _)| milliseconds(out, *end))?;
    // A phase of 1 is an interval.
    table.array("phase", &markers, |out, _| out.write_all(b"1"))?;
    let category = |name: &str| if name == "GC" { 3 } else { OTHER };
    table.array("category", &markers, |out, (.., name)| write!(out, "{}", category(name)))?;
    table.array("data", &markers, |out, _| out.write_all(b"null"))?;
    table.close()
}

/// Converts a time to microseconds, from a unit of `each` nanoseconds.
fn to_microseconds(time: i64, each: u64) -> i64 {
    i64::try_from(i128::from(time) * i128::from(each) / 1000).unwrap_or(i64::MAX)
}

/// Writes a time in milliseconds, from a unit of `each` nanoseconds.
fn milliseconds_of(out: &mut impl Write, time: i64, each: u64) -> io::Result<()> {
    let sign = if time < 0 { "-" } else { "" };
    let nanoseconds = u128::from(time.unsigned_abs()) * u128::from(each);
    let (whole, rest) = (nanoseconds / 1_000_000, nanoseconds % 1_000_000);
    match (rest, rest % 1000) {
        (0, _) => write!(out, "{sign}{whole}"),
        (_, 0) => write!(out, "{sign}{whole}.{:03}", rest / 1000),
        _ => write!(out, "{sign}{whole}.{rest:06}"),
    }
}

fn milliseconds(out: &mut impl Write, microseconds: i64) -> io::Result<()> {
    milliseconds_of(out, microseconds, 1000)
}
