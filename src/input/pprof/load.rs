//! Loads a profile: the tables first, then the samples, as their stacks refer to the tables.

use super::prune::{NotApplied, Prune};
use super::tables::{Line, Location, Tables};
use super::wire::Value;
use crate::bytes::Cursor;
use crate::error::Result;
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::input::read::count_one;
use crate::model::names::{NameId, Names};
use crate::model::profile::{
    CodePlace, FrameId, FrameKind, LabelValue, ProfileBuilder, ProfileFrame, ProfileThread,
    SampleLabel, ThreadId, Unit, ValueType, library_name,
};
use crate::names::SourceMaps;
use rustc_hash::FxHashMap;

/// Loads a profile. It has no samples in the order of time, even if they are requested: the file
/// has sums.
pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let (tables, cut) = Tables::read(bytes, options.memory, options.progress)?;
    if tables.counts.iter().all(|count| *count == 0) {
        return Err(super::records::nothing_read(cut));
    }
    let mut loader = Loader::new(&tables, bytes.len() as u64);
    loader.source_maps = options.source_maps;
    loader.describe();
    let bare = |location: &Location| tables.lines(location).is_empty();
    let are_wanted = options.symbols.is_some() && tables.locations.rows.iter().any(bare);
    if options.keep_code || are_wanted {
        *loader.builder.code() = Some(tables.code());
    }
    if !options.keep_code && !options.all_frames {
        loader.prune();
    }
    let found = damage(loader.samples(bytes, cut.as_ref(), options))?;
    Ok(LoadedProfile { profile: options.named(loader.builder.finish()), damage: found.or(cut) })
}

pub(super) struct Loader<'t, 'a> {
    pub(super) tables: &'t Tables<'a>,
    source_maps: Option<&'t SourceMaps>,
    pub(super) builder: ProfileBuilder,
    /// The name of each string, once it was requested.
    names: Vec<Option<NameId>>,
    /// The frames that the profile asks to leave out.
    pub(super) prune: Option<Prune>,
    /// The frames of each location by row, outermost first, filled on demand.
    places: Vec<Place>,
    frames: Vec<FrameId>,
    /// Threads by the bytes of their labels.
    threads: FxHashMap<&'a [u8], ThreadId>,
    /// The thread of samples without labels.
    unlabelled: Option<ThreadId>,
    /// The frame of locations that the file does not have.
    unresolved: Option<FrameId>,
    /// The number of inlined frames that further stacks may still repeat.
    inlined: u64,
}

/// The frames of a location, of which nearly all have one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The frame if there is only one, otherwise the position of the first one in the frames of the
    /// loader.
    pub(super) at: u32,
    pub(super) count: u32,
}

impl Place {
    const UNKNOWN: Self = Self { at: 0, count: 0 };
}

/// The number of inlined frames that stacks may repeat, for each byte of the file and in addition:
/// a few bytes of a sample can refer to a location with thousands of inlined functions.
const INLINED: (u64, u64) = (4, 1 << 20);

impl<'t, 'a> Loader<'t, 'a> {
    fn new(tables: &'t Tables<'a>, length: u64) -> Self {
        Self {
            tables,
            source_maps: None,
            builder: ProfileBuilder::new(false),
            names: vec![None; tables.strings.len()],
            prune: None,
            places: vec![Place::UNKNOWN; tables.locations.rows.len()],
            frames: Vec::new(),
            threads: FxHashMap::default(),
            unlabelled: None,
            unresolved: None,
            inlined: length.saturating_mul(INLINED.0).saturating_add(INLINED.1),
        }
    }

    /// Sets the value types and the metadata of the profile.
    fn describe(&mut self) {
        let tables = self.tables;
        let value_type = |&(name, unit): &(u64, u64)| ValueType {
            name: tables.text(name).into(),
            unit: Unit::named(&tables.text(unit)),
        };
        let mut types: Vec<ValueType> = tables.types.iter().map(value_type).collect();
        let main = types.iter().position(|value_type| {
            tables.default_type != 0 && *value_type.name == *tables.text(tables.default_type)
        });
        let main = main.unwrap_or(types.len().saturating_sub(1));
        if types.is_empty() {
            types.push(ValueType { name: "samples".into(), unit: Unit::Count });
        }
        self.builder.set_value_types(types, main);
        for (key, value) in tables.metadata() {
            self.builder.metadata(key.as_bytes(), value.as_bytes());
        }
    }

    /// Leaves out the frames that the profile asks to leave out, if that is possible.
    fn prune(&mut self) {
        match Prune::of(self.tables) {
            Ok(prune) => self.prune = prune,
            Err(NotApplied) => self.builder.notes().unapplied = 1,
        }
    }

    /// Appends the frames of a location with inlined functions.
    pub(super) fn push_inlined(&mut self, place: Place, stack: &mut Vec<FrameId>) {
        let start = place.at as usize;
        let all = self.frames.get(start..start.saturating_add(place.count as usize));
        let all = all.unwrap_or_default();
        match self.inlined.checked_sub((all.len() as u64).saturating_sub(1)) {
            Some(left) => {
                self.inlined = left;
                stack.extend_from_slice(all);
            }
            // The inlined frames are cut; the function itself stays.
            None => {
                stack.extend(all.first());
                count_one(&mut self.builder.notes().deep);
            }
        }
    }

    /// The frames of a location.
    #[inline]
    pub(super) fn place(&mut self, id: u64) -> Place {
        let row = self.tables.locations.row(id);
        match row.and_then(|row| self.places.get(row)) {
            Some(&known) if known != Place::UNKNOWN => known,
            _ => self.new_place(row),
        }
    }

    fn new_place(&mut self, row: Option<usize>) -> Place {
        let Some(location) = row.and_then(|row| self.tables.locations.rows.get(row)) else {
            count_one(&mut self.builder.notes().unresolved);
            return Place { at: self.unresolved_frame().0, count: 1 };
        };
        let start = self.frames.len();
        let lines = self.tables.lines(location);
        let kept = self.prune.as_ref().map_or(lines, |prune| prune.lines(row, lines));
        self.push_location(location, kept);
        let place = match self.frames.get(start..).unwrap_or_default() {
            &[only] => {
                self.frames.truncate(start);
                Place { at: only.0, count: 1 }
            }
            all => Place { at: start as u32, count: all.len() as u32 },
        };
        if let Some(known) = row.and_then(|row| self.places.get_mut(row)) {
            *known = place;
        }
        place
    }

    fn unresolved_frame(&mut self) -> FrameId {
        let builder = &mut self.builder;
        *self.unresolved.get_or_insert_with(|| {
            let function = builder.name(b"<unresolved>");
            builder.frame(ProfileFrame {
                function,
                file: Names::EMPTY,
                line: 0,
                kind: FrameKind::Native,
            })
        })
    }

    fn push_location(&mut self, location: &Location, lines: &[Line]) {
        let (tables, start) = (self.tables, self.frames.len());
        if lines.is_empty() {
            let frame = self.unsymbolized(location);
            self.push_frame(frame, Line::default(), Names::EMPTY, 0);
        }
        // The last line is the function itself, those before it were inlined into the next one.
        for line in lines.iter().rev() {
            match tables.functions.get(line.function) {
                Some(function) => {
                    let name = if tables.string(function.name).is_some_and(|name| !name.is_empty())
                    {
                        function.name
                    } else {
                        function.system_name
                    };
                    if let Some((frame, generated)) = self.original(name, function.file, *line) {
                        self.builder.was_called(frame, &generated);
                        let line = Line { line: frame.line.into(), column: 0, ..*line };
                        self.push_frame(frame, line, Names::EMPTY, 0);
                        continue;
                    }
                    let (name, file) = (self.name(name), self.name(function.file));
                    let shown = self.builder.line(line.line.max(0).into());
                    let keeps = self.builder.code().is_some();
                    let system_name =
                        if keeps { self.name(function.system_name) } else { Names::EMPTY };
                    let kind = FrameKind::Code;
                    let frame = ProfileFrame { function: name, file, line: shown, kind };
                    self.push_frame(frame, *line, system_name, function.start_line);
                }
                None => {
                    count_one(&mut self.builder.notes().unresolved);
                    let frame = self.unresolved_frame();
                    let frame = self.builder.definition(frame);
                    self.push_frame(frame, *line, Names::EMPTY, 0);
                }
            }
        }
        self.locate(location, start);
    }

    /// The frame in the source, and the generated name, of a function of a script with a map.
    fn original(&mut self, name: u64, file: u64, line: Line) -> Option<(ProfileFrame, String)> {
        let maps = self.source_maps?;
        let url = self.tables.text(file);
        let name = self.tables.text(name);
        // The agent of Datadog puts columns above lines of 32 bits, and those of functions without a
        // name into a name: `(anonymous:L#1:C#27)`.
        let unnamed = name.strip_prefix("(anonymous:L#").and_then(|rest| rest.strip_suffix(')'));
        let in_name = unnamed.and_then(|place| place.split_once(":C#")?.1.parse().ok());
        let columns = [line.column, line.line.wrapping_shr(32), in_name.unwrap_or(0)];
        let column = columns.into_iter().find(|column| *column > 0);
        let row = u64::try_from((line.line & i64::from(u32::MAX)).checked_sub(1)?).ok()?;
        let generated = if unnamed.is_some() { "" } else { &*name };
        let original = match column.and_then(|column| u64::try_from(column).ok()) {
            Some(column) => maps.function(&url, row, column.saturating_sub(1), generated)?,
            None => maps.line(&url, row)?,
        };
        let function = self.builder.name(original.name.as_deref().unwrap_or(&name).as_bytes());
        let file = self.builder.name(original.file.as_bytes());
        let frame = ProfileFrame { function, file, line: original.line, kind: FrameKind::Code };
        Some((frame, generated.to_owned()))
    }

    /// Adds a frame of a location. If places are kept, no other location shares the frame.
    fn push_frame(
        &mut self,
        frame: ProfileFrame,
        line: Line,
        system_name: NameId,
        start_line: i64,
    ) {
        let Some(number) = self.builder.code().is_some().then(|| self.builder.new_frame(frame))
        else {
            return self.frames.push(self.builder.frame(frame));
        };
        self.frames.push(number);
        if let Some(code) = self.builder.code() {
            code.places.resize(number.index(), None);
            code.places.push(Some(CodePlace {
                address: 0,
                mapping: None,
                outermost: number,
                lines: 0,
                system_name,
                line: line.line,
                column: line.column,
                start_line,
            }));
        }
    }

    /// States the place of the frames of a location, which are those from `start` on.
    fn locate(&mut self, location: &Location, start: usize) {
        let mapping = self.tables.mappings.row(location.mapping).map(|row| row as u32);
        let lines = self.tables.lines(location).len() as u32;
        let frames = self.frames.get(start..).unwrap_or_default();
        let (Some(&outermost), Some(code)) = (frames.first(), self.builder.code()) else { return };
        for frame in frames {
            let Some(Some(place)) = code.places.get_mut(frame.index()) else { continue };
            (place.address, place.mapping) = (location.address, mapping);
            (place.outermost, place.lines) = (outermost, lines);
        }
    }

    /// A location without functions: the name of its program or library, or its address.
    fn unsymbolized(&mut self, location: &Location) -> ProfileFrame {
        let file = self
            .tables
            .mappings
            .get(location.mapping)
            .and_then(|mapping| self.tables.string(mapping.file));
        let (function, file) = match file.filter(|file| !file.is_empty()) {
            Some(file) => (self.builder.name(&library_name(file)), self.builder.name(file)),
            None => {
                (self.builder.name(format!("{:#x}", location.address).as_bytes()), Names::EMPTY)
            }
        };
        ProfileFrame { function, file, line: 0, kind: FrameKind::Native }
    }

    /// The name of a string; empty if there is none.
    fn name(&mut self, string: u64) -> NameId {
        let Some(text) = self.tables.string(string) else {
            count_one(&mut self.builder.notes().unresolved);
            return Names::EMPTY;
        };
        let row = usize::try_from(string).unwrap_or(usize::MAX);
        match self.names.get_mut(row) {
            Some(Some(known)) => *known,
            Some(name) => *name.insert(self.builder.name(text)),
            None => Names::EMPTY,
        }
    }

    /// The thread of a sample, by its labels.
    pub(super) fn thread(&mut self, labels: &[Cursor<'a>]) -> Result<ThreadId> {
        // Equal bytes are equal labels; nearly always there is one label or none.
        if let [only] = labels
            && let Some(&known) = self.threads.get(only.rest())
        {
            return Ok(known);
        }
        if let Some(known) = self.unlabelled.filter(|_| labels.is_empty()) {
            return Ok(known);
        }
        let read = labels.iter().map(|&label| self.label(label));
        let mut read = read.collect::<Result<Vec<SampleLabel>>>()?;
        read.sort_unstable();
        let (mut pid, mut name) = (None, None);
        for SampleLabel { key, value } in &read {
            let (key, value) = (self.builder.text(*key), *value);
            match (key, value) {
                ("pid" | "process_id", LabelValue::Number(number, _)) => {
                    pid = Some(i128::from(number))
                }
                ("thread" | "thread_name" | "thread name", _) => name = Some(value),
                ("thread id" | "thread_id" | "tid", _) if name.is_none() => name = Some(value),
                _ => {}
            }
        }
        let name = match name {
            Some(LabelValue::Text(name)) => name,
            Some(LabelValue::Number(id, _)) => self.builder.name(id.to_string().as_bytes()),
            None => Names::EMPTY,
        };
        let pid = pid.unwrap_or(ProfileThread::NO_PROCESS);
        let of_thread = self.builder.labels(&read);
        let thread = ProfileThread { pid, interpreter: None, name, labels: of_thread };
        let thread = self.builder.labelled_thread(thread);
        match labels {
            [] => self.unlabelled = Some(thread),
            [only] => _ = self.threads.insert(only.rest(), thread),
            _ => {}
        }
        Ok(thread)
    }

    fn label(&mut self, label: Cursor<'a>) -> Result<SampleLabel> {
        let [key, text, number, unit] = Value::Bytes(label).numbers()?;
        let key = self.name(key);
        let value = match text {
            0 => LabelValue::Number(number as i64, self.name(unit)),
            _ => LabelValue::Text(self.name(text)),
        };
        Ok(SampleLabel { key, value })
    }
}
