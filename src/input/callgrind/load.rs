//! Loads a call graph: the own costs of lines, and calls.

use super::events::Events;
use super::lines::{CallgrindLine, CallgrindLines, Cost, Name};
use crate::error::{Error, Result};
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::model::names::{NameId, Names};
use crate::model::profile::{
    Call, CallGraph, CallIndex, FrameId, FrameKind, Profile, ProfileBuilder, ProfileFrame,
    ProfileThread, StackId, ThreadId, Values,
};
use rustc_hash::FxHashMap;

/// Headers with facts about the recording.
const FACTS: [&[u8]; 5] = [b"creator", b"cmd", b"pid", b"desc", b"version"];

/// Loads the graph. The profile has its [calls](Profile::calls), and stacks of one frame each.
pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let mut loader = Loader::new();
    let read = loader.read(bytes, options);
    let damage = damage(read)?;
    let mut profile = loader.builder.finish();
    profile.calls = Some(loader.calls);
    Ok(LoadedProfile { profile, damage })
}

/// The number of events whose own costs have another sum than the file states, in `totals`, or in
/// `summary` if there are none. The summary of Xdebug has the time outside of the script, too.
pub(super) fn wrong_totals(bytes: &[u8], profile: &Profile) -> u64 {
    let (mut events, mut stated) = (Events::default(), [None::<Vec<i128>>, None]);
    let is_xdebug = profile.metadatum("creator").is_some_and(|name| name.starts_with("xdebug"));
    let mut costs = Vec::new();
    for (_, line) in CallgrindLines::new(bytes).map_while(Result::ok) {
        let CallgrindLine::Header { key, value } = line else { continue };
        let [totals, summary] = &mut stated;
        let sums = match key {
            b"events" => {
                events = Events::parse(value).unwrap_or_default();
                continue;
            }
            b"totals" => totals,
            b"summary" if !is_xdebug => summary,
            _ => continue,
        };
        // Each part of a file has its own.
        if events.costs(value, &mut costs).is_some() {
            let sums = sums.get_or_insert_with(|| vec![0; costs.len()]);
            sums.iter_mut().zip(&costs).for_each(|(sum, cost)| *sum = sum.saturating_add(*cost));
        }
    }
    let Some(stated) = stated.into_iter().flatten().find(|sums| sums.iter().any(|sum| *sum != 0))
    else {
        return 0;
    };
    let sums = profile.metrics_in_order().into_iter().map(|metric| profile.total.get(&metric));
    sums.zip(stated).filter(|(own, stated)| i128::from(*own) != *stated).count() as u64
}

/// The object, file and function that a line belongs to.
#[derive(Clone, Copy, Debug)]
struct Place {
    object: NameId,
    file: NameId,
    function: NameId,
}

struct Loader {
    builder: ProfileBuilder,
    calls: CallGraph,
    index: CallIndex,
    /// Frames by function, file and line. Several functions may have lines of one inlined function.
    lines: FxHashMap<(FrameId, NameId, u32), FrameId>,
    events: Events,
    /// Names by their numbers: objects, files, functions.
    names: [FxHashMap<u64, NameId>; 3],
    thread: Option<ThreadId>,
    here: Place,
    /// The frame of the function, which has the file in which the function began.
    function: Option<FrameId>,
    /// The object, the file and the function that are called, as far as they are named.
    called: [Option<NameId>; 3],
    /// The count of the calls whose costs are on the next line.
    pending: Option<u64>,
    position: u64,
    /// The costs of a line; the buffer is reused.
    costs: Vec<i128>,
}

impl Loader {
    fn new() -> Self {
        Self {
            builder: ProfileBuilder::new(false),
            calls: CallGraph::default(),
            index: CallIndex::default(),
            lines: FxHashMap::default(),
            events: Events::default(),
            names: Default::default(),
            thread: None,
            here: Place { object: Names::EMPTY, file: Names::EMPTY, function: Names::EMPTY },
            function: None,
            called: [None; 3],
            pending: None,
            position: 0,
            costs: Vec::new(),
        }
    }

    fn read(&mut self, bytes: &[u8], options: ProfileOptions<'_>) -> Result<()> {
        for (row, line) in CallgrindLines::new(bytes).enumerate() {
            let (offset, line) = line?;
            match line {
                CallgrindLine::Header { key, value } => self.header(offset, key, value)?,
                CallgrindLine::Name(name) => self.name(&name),
                CallgrindLine::Calls { count, .. } => self.pending = Some(count),
                CallgrindLine::Jump(_) => {}
                CallgrindLine::Cost(cost) => self.cost(&cost),
            }
            if row % 1024 == 0 {
                (options.progress)(offset);
                let calls = self.calls.calls().len() as u64;
                let besides = calls.saturating_mul(CallGraph::BYTES_PER_CALL);
                options.memory.check(offset, &self.builder, besides)?;
            }
        }
        Ok(())
    }

    fn header(&mut self, offset: u64, key: &[u8], value: &[u8]) -> Result<()> {
        match key {
            b"events" => {
                // The parser of lines accepts only parts with the same events.
                self.events = Events::parse(value)
                    .ok_or_else(|| Error::corrupt(offset, "not the names of 1 to 64 events"))?;
                self.builder.set_value_types(self.events.value_types(), 0);
            }
            b"thread" => {
                let name = self.builder.name(value);
                self.thread = Some(self.builder.labelled_thread(ProfileThread::named(name)));
            }
            _ if !value.is_empty() && !value.ends_with(b":") && FACTS.contains(&key) => {
                self.builder.metadata(key, value);
            }
            _ => {}
        }
        Ok(())
    }

    fn name(&mut self, name: &Name<'_>) {
        let kind = match name.key {
            b"ob" | b"cob" => 0,
            b"fn" | b"cfn" | b"jfn" => 2,
            _ => 1,
        };
        let id = self.resolve(kind, name);
        match name.key {
            b"ob" => self.here.object = id,
            b"fl" | b"fi" | b"fe" => self.here.file = id,
            b"fn" => {
                self.here.function = id;
                self.function = Some(self.function_frame(self.here));
            }
            b"cob" | b"cfi" | b"cfl" | b"cfn" => {
                if let Some(called) = self.called.get_mut(kind) {
                    *called = Some(id);
                }
            }
            _ => {}
        }
    }

    /// The name that a line means.
    fn resolve(&mut self, kind: usize, name: &Name<'_>) -> NameId {
        let known = name.id.and_then(|id| self.names.get(kind)?.get(&id).copied());
        if let (b"", Some(_)) = (name.text, name.id) {
            return known.unwrap_or_else(|| {
                self.builder.notes().unresolved = self.builder.notes().unresolved.saturating_add(1);
                self.builder.name(b"<unresolved>")
            });
        }
        let text = self.builder.name(if name.text == b"???" { b"" } else { name.text });
        if let (Some(id), Some(names)) = (name.id, self.names.get_mut(kind)) {
            names.insert(id, text);
        }
        text
    }

    /// The frame of a function, which has no line.
    fn function_frame(&mut self, place: Place) -> FrameId {
        let frame = self.builder.frame(frame(place, 0));
        self.calls.set_function(frame, frame);
        frame
    }

    fn line_frame(&mut self, function: FrameId, line: u32) -> FrameId {
        let (builder, calls, here) = (&mut self.builder, &mut self.calls, self.here);
        *self.lines.entry((function, here.file, line)).or_insert_with(|| {
            let frame = builder.new_frame(frame(here, line));
            calls.set_function(frame, function);
            frame
        })
    }

    fn cost(&mut self, cost: &Cost<'_>) {
        self.position = cost.position.after(self.position);
        let calls = self.pending.take();
        // The parser of lines accepts only costs that fit the events, after a function.
        let parsed = self.events.costs(cost.costs, &mut self.costs);
        let (Some(function), Some(())) = (self.function, parsed) else { return };
        let line = self.builder.line(self.position.into());
        let frame = self.line_frame(function, line);
        let numbers: Vec<i64> = self.costs.iter().map(|cost| self.builder.metric(*cost)).collect();
        let thread = self.thread();
        match calls {
            None if numbers.iter().all(|number| *number == 0) => {}
            None => {
                let stack = self.builder.push(StackId::EMPTY, frame);
                self.builder.add(thread, stack, &Values::of_types(1, &numbers));
            }
            Some(count) => {
                let values = Values::of_types(0, &numbers);
                let callee = self.callee();
                let call = Call { thread, caller: frame, callee, count, values };
                self.calls.add(&mut self.index, call);
            }
        }
    }

    fn thread(&mut self) -> ThreadId {
        *self
            .thread
            .get_or_insert_with(|| self.builder.labelled_thread(ProfileThread::named(Names::EMPTY)))
    }

    /// The function that is called. Its object and its file are the ones here, unless they are
    /// named.
    fn callee(&mut self) -> FrameId {
        let [object, file, function] = std::mem::take(&mut self.called);
        let place = Place {
            object: object.unwrap_or(self.here.object),
            file: file.unwrap_or(self.here.file),
            function: function.unwrap_or(Names::EMPTY),
        };
        self.function_frame(place)
    }
}

/// A frame in the file of a place, or in its object if the file is not known.
fn frame(place: Place, line: u32) -> ProfileFrame {
    let (file, kind) = match place.file {
        Names::EMPTY => (place.object, FrameKind::Native),
        file => (file, FrameKind::Code),
    };
    ProfileFrame { function: place.function, file, line, kind }
}
