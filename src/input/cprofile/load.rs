//! Loads statistics as a graph of calls.

use super::stats::{Function, Stats, StatsRecord};
use crate::error::Result;
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::model::names::{NameId, Names};
use crate::model::profile::{
    Call, CallGraph, CallIndex, FrameId, FrameKind, ProfileBuilder, ProfileFrame, ProfileThread,
    StackId, Unit, ValueType, Values,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Approximate bytes for each function besides its frame.
const BYTES_PER_FUNCTION: u64 = 250;

/// Loads the graph: a stack of one frame for each function, and its [calls](crate::model::profile::Profile::calls).
/// The value is time in nanoseconds, and the samples of a function are its calls.
pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let mut builder = ProfileBuilder::new(false);
    builder.set_value_types(vec![ValueType { name: "time".into(), unit: Unit::Nanoseconds }], 0);
    let mut loader = Loader {
        builder,
        calls: CallGraph::default(),
        index: CallIndex::default(),
        names: FxHashMap::default(),
        frames: FxHashMap::default(),
        shared: FxHashSet::default(),
    };
    loader.find_shared_names(bytes);
    let damage = damage(loader.read(bytes, options))?;
    let mut profile = loader.builder.finish();
    profile.calls = Some(loader.calls);
    Ok(LoadedProfile { profile, damage })
}

/// The file and the name of a function.
type Name = (NameId, NameId);

struct Loader {
    builder: ProfileBuilder,
    calls: CallGraph,
    index: CallIndex,
    /// Names of the texts read so far, by address and length. Five bytes can refer to a long text.
    names: FxHashMap<(usize, usize), NameId>,
    /// Frames by file, name and line.
    frames: FxHashMap<(Name, i64), FrameId>,
    /// Files and names that several functions have.
    shared: FxHashSet<Name>,
}

impl Loader {
    /// Functions of one file and name, such as the methods `__init__` of two classes, differ only in their lines.
    fn find_shared_names(&mut self, bytes: &[u8]) {
        let mut lines = FxHashMap::default();
        for (_, record) in Stats::new(bytes).map_while(Result::ok) {
            let (StatsRecord::Function(function, _) | StatsRecord::Caller(function, _)) = record;
            let name = self.name(&function);
            if *lines.entry(name).or_insert(function.line) != function.line {
                self.shared.insert(name);
            }
        }
    }

    fn name(&mut self, function: &Function<'_>) -> Name {
        (self.text(function.file), self.text(function.name))
    }

    fn text(&mut self, text: &[u8]) -> NameId {
        let builder = &mut self.builder;
        let known = self.names.entry((text.as_ptr().addr(), text.len()));
        *known.or_insert_with(|| builder.name(text))
    }

    fn read(&mut self, bytes: &[u8], options: ProfileOptions<'_>) -> Result<()> {
        let thread = self.builder.labelled_thread(ProfileThread::named(Names::EMPTY));
        let mut stats = Stats::new(bytes);
        let (mut callee, mut row) = (FrameId(0), 0_u64);
        while let Some(record) = stats.next() {
            let (offset, record) = record?;
            match record {
                StatsRecord::Function(function, counted) => {
                    callee = self.frame(function);
                    let stack = self.builder.push(StackId::EMPTY, callee);
                    let calls = counted.calls.max(0).unsigned_abs();
                    let own = [self.nanoseconds(counted.own)];
                    self.builder.add(thread, stack, &Values::of_types(calls, &own));
                    let total = [self.nanoseconds(counted.total)];
                    self.calls.state_total(callee, Values::of_types(calls, &total));
                }
                StatsRecord::Caller(function, counted) => {
                    let caller = self.frame(function);
                    let count = counted.calls.max(0).unsigned_abs();
                    let values = Values::of_types(0, &[self.nanoseconds(counted.total)]);
                    self.calls.add(&mut self.index, Call { thread, caller, callee, count, values });
                }
            }
            row = row.wrapping_add(1);
            if row % 1024 == 0 {
                (options.progress)(offset);
                let calls = self.calls.calls().len() as u64;
                let calls = calls.saturating_mul(CallGraph::BYTES_PER_CALL);
                let functions = (self.frames.len() as u64).saturating_mul(BYTES_PER_FUNCTION);
                let besides = calls.saturating_add(functions).saturating_add(stats.bytes());
                options.memory.check(offset, &self.builder, besides)?;
            }
        }
        Ok(())
    }

    /// The frame of a function. Functions that share their name have their line in it.
    fn frame(&mut self, function: Function<'_>) -> FrameId {
        let key = (self.name(&function), function.line);
        if let Some(known) = self.frames.get(&key) {
            return *known;
        }
        let is_code = !matches!(function.file, b"~" | b"");
        let (file, mut name) = key.0;
        if self.shared.contains(&key.0) {
            let text = format!("{}:{}", self.builder.text(name), function.line);
            name = self.builder.name(text.as_bytes());
        }
        let frame = ProfileFrame {
            function: name,
            file: if is_code { file } else { Names::EMPTY },
            line: self.builder.line(function.line.into()),
            kind: if is_code { FrameKind::Code } else { FrameKind::Native },
        };
        let frame = self.builder.frame(frame);
        self.calls.set_function(frame, frame);
        self.frames.insert(key, frame);
        frame
    }

    fn nanoseconds(&mut self, seconds: f64) -> i64 {
        self.builder.metric((seconds * 1e9).round() as i128)
    }
}
