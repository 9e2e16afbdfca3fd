//! Loads a profile.

use super::document::{Document, Tables, Thread};
use super::table::Table;
use crate::error::Result;
use crate::input::frames::kind_of_file;
use crate::input::json::Text;
use crate::input::load::{LoadedProfile, ProfileOptions};
use crate::input::read::count_one;
use crate::model::names::NameId;
use crate::model::profile::{
    FrameId, FrameKind, ProfileBuilder, ProfileFrame, StackId, ThreadId, Unit, ValueType,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The value types that files may have, in the order in which they are listed.
const TYPES: [(&str, Unit); 6] = [
    ("samples", Unit::Count),
    ("time", Unit::Nanoseconds),
    ("bytes", Unit::Bytes),
    ("cpu", Unit::Nanoseconds),
    ("js_alloc_bytes", Unit::Bytes),
    ("native_alloc_bytes", Unit::Bytes),
];
const SAMPLES: usize = 0;
const TIME: usize = 1;
const BYTES: usize = 2;
const CPU: usize = 3;
const JS: usize = 4;
const NATIVE: usize = 5;

pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let (document, damage) = Document::read(bytes, options.memory)?;
    let mut loader = Loader {
        builder: ProfileBuilder::new(options.keep_samples),
        document: &document,
        columns: [None; TYPES.len()],
        names: FxHashMap::default(),
        locations: FxHashMap::default(),
    };
    loader.value_types();
    for (key, value) in &document.facts {
        loader.builder.metadata(key.as_bytes(), value.decode().as_bytes());
    }
    let shared = loader.stacks(&document.shared, options)?;
    let mut named = FxHashSet::default();
    for thread in &document.threads {
        let name = thread.name.decode();
        // All workers have the same name.
        let is_new = named.insert((thread.pid, name.clone()));
        let name =
            if is_new { name.into_owned() } else { format!("{name} {}", thread.tid.decode()) };
        let name = loader.builder.name(name.as_bytes());
        let id = loader.builder.thread(thread.pid, None, name);
        if thread.tables.stacks.len() > 0 {
            let own = loader.stacks(&thread.tables, options)?;
            loader.thread(thread, id, &own, options)?;
        } else {
            loader.thread(thread, id, &shared, options)?;
        }
    }
    loader.builder.begin_with_first_event();
    Ok(LoadedProfile { profile: loader.builder.finish(), damage })
}

struct Loader<'d, 'a> {
    builder: ProfileBuilder,
    document: &'d Document<'a>,
    /// The column of each type among those of the profile, if the file has numbers of the type.
    columns: [Option<usize>; TYPES.len()],
    /// Names of the texts that were read, by address. A few bytes can refer to a long text.
    names: FxHashMap<usize, NameId>,
    /// Raw frames without a line of their own, by the address of their text.
    locations: FxHashMap<usize, ProfileFrame>,
}

impl<'a> Loader<'_, 'a> {
    /// Sets the value types for which the file has numbers.
    fn value_types(&mut self) {
        let mut has = [false; TYPES.len()];
        let mut mark = |type_row: usize, is_there: bool| {
            if let Some(has) = has.get_mut(type_row) {
                *has |= is_there;
            }
        };
        for thread in &self.document.threads {
            mark(weight_type(thread), thread.samples.len() > 0);
            mark(CPU, thread.samples.has(4) && self.cpu_factor().is_some());
            mark(JS, thread.js_allocations.len() > 0);
            mark(NATIVE, thread.native_allocations.len() > 0);
        }
        if has == [false; TYPES.len()] {
            has = [true, false, false, false, false, false];
        }
        let mut types = Vec::new();
        for (((name, unit), has), column) in TYPES.iter().zip(has).zip(&mut self.columns) {
            if has {
                *column = Some(types.len());
                types.push(ValueType { name: (*name).into(), unit: unit.clone() });
            }
        }
        self.builder.set_value_types(types, 0);
    }

    /// Nanoseconds for each unit of `threadCPUDelta`. `None` for cycles, which are not a time.
    fn cpu_factor(&self) -> Option<f64> {
        match &*self.document.cpu_unit.decode() {
            "ns" => Some(1.0),
            "µs" | "μs" => Some(1e3),
            "ms" => Some(1e6),
            _ => None,
        }
    }

    fn thread(
        &mut self,
        thread: &Thread<'a>,
        id: ThreadId,
        stacks: &Stacks,
        options: ProfileOptions<'_>,
    ) -> Result<()> {
        let (main, cpu) = (weight_type(thread), self.cpu_factor());
        let table = &thread.samples;
        let mut clock = 0.0;
        for row in 0..table.len() {
            let weight = table.number(1, row).unwrap_or(1.0);
            let samples = if main == SAMPLES { weight.max(0.0) as u64 } else { 1 };
            let factor = if main == TIME { 1e6 } else { 1.0 };
            let spent = table.number(4, row).zip(cpu).map(|(delta, factor)| delta * factor);
            let numbers = [(main, weight * factor), (CPU, spent.unwrap_or(0.0))];
            clock += table.number(3, row).unwrap_or(0.0);
            let start = table.number(2, row).or(table.has(3).then_some(clock));
            let start = start.map(|start| start + thread.shift);
            let length = if main == TIME { weight } else { self.document.interval };
            self.add((start, length), (id, stacks.of(table, row)), samples, &numbers);
            if row % 1024 == 0 {
                options.memory.check(0, &self.builder, self.document.bytes())?;
            }
        }
        for (type_row, table) in
            [(JS, &thread.js_allocations), (NATIVE, &thread.native_allocations)]
        {
            for row in 0..table.len() {
                // Frees have a negative weight.
                let weight = table.number(1, row).unwrap_or(0.0).max(0.0);
                let start = table.number(2, row).map(|start| start + thread.shift);
                self.add((start, 0.0), (id, stacks.of(table, row)), 0, &[(type_row, weight)]);
            }
        }
        Ok(())
    }

    /// Adds the numbers of a sample with its start, if known, and its length, both in milliseconds.
    fn add(
        &mut self,
        (start, length): (Option<f64>, f64),
        (thread, stack): (ThreadId, StackId),
        samples: u64,
        numbers: &[(usize, f64)],
    ) {
        let mut values = [0; TYPES.len()];
        for (type_row, number) in numbers {
            let column = self.columns.get(*type_row).copied().flatten();
            if let Some(value) = column.and_then(|column| values.get_mut(column)) {
                *value = self.builder.metric(number.round() as i128);
            }
        }
        let width = self.columns.iter().flatten().count();
        let values = values.get(..width).unwrap_or_default();
        let microseconds = |time: f64| (time * 1e3).round() as i64;
        let time = start.map(|start| (microseconds(start), microseconds(length)));
        self.builder.timed(time, thread, stack, (samples, values));
    }

    /// The stacks of a table, with its frames. Callers come before what they call.
    fn stacks(&mut self, tables: &Tables<'a>, options: ProfileOptions<'_>) -> Result<Stacks> {
        let table = &tables.stacks;
        let mut stacks = Vec::with_capacity(table.len());
        // Threads may share a table of frames that is much larger than what each of them has.
        let mut frames = FxHashMap::default();
        for row in 0..table.len() {
            let above = match table.index(0, row) {
                None => Some(StackId::EMPTY),
                Some(prefix) => stacks.get(prefix).copied(),
            };
            let frame = table.index(1, row).and_then(|row| self.frame(tables, row, &mut frames));
            let stack = match (above, frame) {
                (Some(above), Some(frame)) => self.builder.push(above, frame),
                _ => {
                    count_one(&mut self.builder.notes().unresolved);
                    above.unwrap_or(StackId::EMPTY)
                }
            };
            self.builder.count_cut();
            stacks.push(stack);
            if row % 1024 == 0 {
                options.memory.check(0, &self.builder, self.document.bytes())?;
            }
        }
        Ok(Stacks(stacks))
    }

    /// Returns the frame of a row, created only once. `None` if there is no such row.
    fn frame(
        &mut self,
        tables: &Tables<'a>,
        row: usize,
        made: &mut FxHashMap<usize, FrameId>,
    ) -> Option<FrameId> {
        let table = tables.or(&self.document.shared, |tables| &tables.frames);
        if row >= table.len() {
            return None;
        }
        if let Some(known) = made.get(&row) {
            return Some(*known);
        }
        let is_raw = table.has(3) && !table.has(0);
        let frame = if is_raw {
            let text = tables.text(&self.document.shared, table.index(3, row));
            self.location(text, table.number(1, row))
        } else {
            self.processed_frame(tables, table, row)
        };
        let frame = self.builder.frame(frame);
        made.insert(row, frame);
        Some(frame)
    }

    fn processed_frame(
        &mut self,
        tables: &Tables<'a>,
        table: &Table<'a, 4>,
        row: usize,
    ) -> ProfileFrame {
        let shared = &self.document.shared;
        let functions = tables.or(shared, |tables| &tables.functions);
        let function = table.index(0, row).unwrap_or(usize::MAX);
        let sources = tables.or(shared, |tables| &tables.sources);
        let source = functions.index(3, function).and_then(|source| sources.index(0, source));
        let file = functions.index(1, function).or(source);
        let resources = tables.or(shared, |tables| &tables.resources);
        let library = functions.index(2, function).and_then(|row| resources.index(0, row));
        let category = table.index(2, row).and_then(|row| self.document.categories.get(row));
        let line = table.number(1, row).unwrap_or(0.0);
        let name = self.name(tables.text(shared, functions.index(0, function)));
        let file = self.name(tables.text(shared, file.or(library)));
        let kind = match category.map(Text::raw) {
            Some(b"Kernel") => FrameKind::Kernel,
            Some(b"Native") => FrameKind::Native,
            Some(b"GC") => FrameKind::Gc,
            Some(b"Invalid") => FrameKind::Invalid,
            _ => kind_of_file(self.builder.text(file)),
        };
        ProfileFrame { function: name, file, line: self.builder.line(line as i128), kind }
    }

    fn name(&mut self, text: Text<'a>) -> NameId {
        let builder = &mut self.builder;
        let known = self.names.entry(text.raw().as_ptr().addr());
        *known.or_insert_with(|| builder.name(text.decode().as_bytes()))
    }

    /// A frame of a raw profile: `function (file:line:column)`, or only a function or an address.
    /// The line is that of the function, unless the frame has its own.
    fn location(&mut self, text: Text<'a>, line: Option<f64>) -> ProfileFrame {
        let builder = &mut self.builder;
        let known = self.locations.entry(text.raw().as_ptr().addr());
        let frame = *known.or_insert_with(|| location(builder, &text.decode()));
        ProfileFrame { line: line.map_or(frame.line, |line| line as u32), ..frame }
    }
}

fn location(builder: &mut ProfileBuilder, text: &str) -> ProfileFrame {
    let parts = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    let (function, place) = parts.unwrap_or((text, ""));
    let (place, last) = number_after_colon(place);
    let (file, line) = match number_after_colon(place) {
        (file, Some(line)) => (file, Some(line)),
        (file, None) => (file, last),
    };
    ProfileFrame {
        function: builder.name(function.as_bytes()),
        file: builder.name(file.as_bytes()),
        line: line.unwrap_or(0),
        kind: kind_of_file(file),
    }
}

fn number_after_colon(place: &str) -> (&str, Option<u32>) {
    let parts = place.rsplit_once(':');
    match parts.and_then(|(file, number)| Some((file, number.parse().ok()?))) {
        Some((file, number)) => (file, Some(number)),
        None => (place, None),
    }
}

/// The value type of the samples of a thread.
fn weight_type(thread: &Thread<'_>) -> usize {
    match thread.samples.weight_type.raw() {
        b"tracing-ms" => TIME,
        b"bytes" => BYTES,
        _ => SAMPLES,
    }
}

/// The stacks of the model, by the rows of the table of a thread.
struct Stacks(Vec<StackId>);

impl Stacks {
    /// The stack of a row of samples or allocations.
    fn of<const N: usize>(&self, table: &Table<'_, N>, row: usize) -> StackId {
        let stack = table.index(0, row).and_then(|stack| self.0.get(stack));
        stack.copied().unwrap_or(StackId::EMPTY)
    }
}

impl<'a> Tables<'a> {
    /// A table of a thread, or the shared one if the thread has none.
    fn or<'t, const N: usize>(
        &'t self,
        shared: &'t Self,
        table: impl Fn(&'t Self) -> &'t Table<'a, N>,
    ) -> &'t Table<'a, N> {
        let own = table(self);
        if own.len() > 0 { own } else { table(shared) }
    }

    fn text(&self, shared: &Self, number: Option<usize>) -> Text<'a> {
        let texts = if self.texts.is_empty() { &shared.texts } else { &self.texts };
        number.and_then(|number| texts.get(number)).copied().unwrap_or_default()
    }
}
