//! Loads a recording as sums of stacks.

use super::lines::{HeaptrackLine, HeaptrackLines, SymbolFrame, SymbolFrames};
use super::replay::{Kind, Replay};
use crate::error::Result;
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::input::native::allocators;
use crate::model::names::{NameId, Names};
use crate::model::profile::{
    FrameId, FrameKind, ProfileBuilder, ProfileFrame, ProfileThread, StackId, Unit, ValueType,
    Values,
};
use std::ops::Range;

/// The value types, in the order of [`Loader::finish`].
const TYPES: [(&str, Unit); 7] = [
    ("peak", Unit::Bytes),
    ("peak_objects", Unit::Count),
    ("leaked", Unit::Bytes),
    ("leaked_objects", Unit::Count),
    ("alloc_bytes", Unit::Bytes),
    ("alloc_objects", Unit::Count),
    ("temporary", Unit::Count),
];

pub(in crate::input) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let mut loader = Loader::default();
    let types = TYPES.map(|(name, unit)| ValueType { name: name.into(), unit });
    loader.builder.set_value_types(types.into(), 0);
    loader.builder.set_curve(Unit::Milliseconds, "Bytes that were allocated and not freed.");
    let damage = damage(loader.read(bytes, options))?;
    let mut profile = loader.finish().finish();
    allocators::fold(&mut profile, &options);
    Ok(LoadedProfile { profile, damage })
}

struct Loader {
    builder: ProfileBuilder,
    /// Strings from 1; the empty one first.
    strings: Vec<NameId>,
    /// The frames of each instruction, from 1.
    instructions: Vec<Range<u32>>,
    /// The frames of all instructions, each outermost first.
    frames: Vec<FrameId>,
    /// Stacks from 1; the empty one first.
    traces: Vec<StackId>,
    replay: Replay,
    page_size: u64,
    resident: u64,
}

impl Default for Loader {
    fn default() -> Self {
        Self {
            builder: ProfileBuilder::new(false),
            strings: vec![Names::EMPTY],
            instructions: std::iter::once(0..0).collect(),
            frames: Vec::new(),
            traces: vec![StackId::EMPTY],
            replay: Replay::default(),
            page_size: 4096,
            resident: 0,
        }
    }
}

impl Loader {
    fn read(&mut self, bytes: &[u8], options: ProfileOptions<'_>) -> Result<()> {
        for (row, line) in HeaptrackLines::new(bytes).enumerate() {
            let (offset, line) = line?;
            let is_known = match line {
                HeaptrackLine::Allocation(kind) => self.replay.allocate(kind),
                HeaptrackLine::Free(kind) => {
                    let freed = self.replay.free(kind);
                    let strays = &mut self.builder.notes().strays;
                    *strays = strays.saturating_add(freed.is_none().into());
                    Some(())
                }
                line => self.define(&line),
            };
            if is_known.is_none() {
                self.count_unresolved();
            }
            if row % 4096 == 0 {
                (options.progress)(offset);
                options.memory.check(offset, &self.builder, self.tables())?;
            }
        }
        Ok(())
    }

    fn tables(&self) -> u64 {
        let rows = [
            (self.strings.len(), 6),
            (self.instructions.len(), 12),
            (self.frames.len(), 6),
            (self.traces.len(), 6),
            (self.replay.kinds.len(), size_of::<Kind>().saturating_mul(3) / 2),
        ];
        let bytes = rows.iter().map(|&(count, bytes)| (count as u64).saturating_mul(bytes as u64));
        bytes.fold(0, u64::saturating_add)
    }

    fn count_unresolved(&mut self) {
        let unresolved = &mut self.builder.notes().unresolved;
        *unresolved = unresolved.saturating_add(1);
    }

    /// `None` if the line refers to what is not there.
    fn define(&mut self, line: &HeaptrackLine<'_>) -> Option<()> {
        match *line {
            HeaptrackLine::String(text) => self.strings.push(self.builder.name(text)),
            HeaptrackLine::Instruction { module, frames, address } => {
                self.instruction(address, module, frames);
            }
            HeaptrackLine::Trace { instruction, parent } => {
                let stack = self.trace(instruction, parent);
                self.traces.push(stack.unwrap_or(StackId::EMPTY));
                return stack.map(|_| ());
            }
            HeaptrackLine::Kind { size, trace } => {
                let row = usize::try_from(trace).ok().filter(|row| *row < self.traces.len());
                self.replay.kinds.push(Kind::new(size, row.unwrap_or(0) as u32));
                return row.map(|_| ());
            }
            HeaptrackLine::Time(now) => {
                self.replay.now = now;
                self.builder.curve_point(now, self.replay.total);
            }
            HeaptrackLine::Resident(pages) => self.resident = self.resident.max(pages),
            HeaptrackLine::System { page_size, .. } => self.page_size = page_size,
            HeaptrackLine::Command(text) => self.builder.metadata(b"command", text),
            HeaptrackLine::Attached => self.builder.metadata(b"attached", b"true"),
            HeaptrackLine::Version { heaptrack, .. } => {
                let [.., major, minor, patch] = heaptrack.to_be_bytes();
                let version = format!("{major}.{minor}.{patch}");
                self.builder.metadata(b"heaptrack", version.as_bytes());
            }
            HeaptrackLine::Suppression(_)
            | HeaptrackLine::Allocation(_)
            | HeaptrackLine::Free(_) => {}
        }
        Some(())
    }

    fn string(&mut self, number: u64) -> NameId {
        let known = usize::try_from(number).ok().and_then(|row| self.strings.get(row)).copied();
        known.unwrap_or_else(|| {
            self.count_unresolved();
            Names::EMPTY
        })
    }

    /// Adds the frames of an instruction. Compilers inline some tens of calls; the rest of a
    /// hostile file counts as cut.
    fn instruction(&mut self, address: u64, module: u64, frames: SymbolFrames<'_>) {
        const MOST: usize = 256;
        let start = self.frames.len();
        let module = self.string(module);
        for frame in frames.take(MOST) {
            let frame = self.frame(frame, module, address);
            self.frames.push(frame);
        }
        if self.frames.len() == start {
            let frame = self.nameless(module, address);
            self.frames.push(frame);
        }
        let deep = &mut self.builder.notes().deep;
        *deep = deep.saturating_add((frames.count() > MOST).into());
        if let Some(frames) = self.frames.get_mut(start..) {
            frames.reverse();
        }
        self.instructions.push(start as u32..self.frames.len() as u32);
    }

    fn frame(&mut self, frame: SymbolFrame, module: NameId, address: u64) -> FrameId {
        if frame.function == 0 {
            return self.nameless(module, address);
        }
        let (function, file) = (self.string(frame.function), self.string(frame.file));
        let line = self.builder.line(frame.line.into());
        let (file, kind) = match frame.file {
            0 => (module, FrameKind::Native),
            _ => (file, FrameKind::Code),
        };
        self.builder.frame(ProfileFrame { function, file, line, kind })
    }

    /// A frame that is known by its library, or else by its address.
    fn nameless(&mut self, module: NameId, address: u64) -> FrameId {
        let path = self.builder.text(module);
        let name = match path.rsplit('/').next() {
            None | Some("") => format!("{address:#x}"),
            Some(name) => format!("[{name}]"),
        };
        let function = self.builder.name(name.as_bytes());
        self.builder.frame(ProfileFrame {
            function,
            file: module,
            line: 0,
            kind: FrameKind::Native,
        })
    }

    fn trace(&mut self, instruction: u64, parent: u64) -> Option<StackId> {
        let parent = *self.traces.get(usize::try_from(parent).ok()?)?;
        let range = self.instructions.get(usize::try_from(instruction).ok()?)?;
        let frames = self.frames.get(range.start as usize..range.end as usize)?;
        let stack = self.builder.push_all(parent, frames);
        self.builder.count_cut();
        Some(stack)
    }

    /// The profile, with the sums of all kinds and facts about the recording.
    fn finish(mut self) -> ProfileBuilder {
        let thread = self.builder.labelled_thread(ProfileThread::named(Names::EMPTY));
        for kind in self.replay.kinds.iter().filter(|kind| kind.allocations > 0) {
            let stack = self.traces.get(kind.trace as usize).copied().unwrap_or(StackId::EMPTY);
            let at_peak = self.replay.at_peak(kind);
            let bytes = |count: u64| i128::from(count).saturating_mul(kind.size.into());
            let values = [
                bytes(at_peak),
                at_peak.into(),
                bytes(kind.live),
                kind.live.into(),
                bytes(kind.allocations),
                kind.allocations.into(),
                kind.temporary.into(),
            ];
            let values = values.map(|value| self.builder.metric(value));
            self.builder.add(thread, stack, &Values::of_types(kind.allocations, &values));
        }
        let Replay { now, total, peak_time, most, .. } = self.replay;
        for (time, bytes) in [(peak_time, most), (now, total)] {
            self.builder.curve_point(time, bytes);
        }
        let resident = self.resident.saturating_mul(self.page_size);
        for (key, value) in [
            ("duration", self.replay.now.saturating_mul(1000)),
            ("peak_time_ms", self.replay.peak_time),
            ("peak_resident_bytes", resident),
        ] {
            self.builder.metadata(key.as_bytes(), value.to_string().as_bytes());
        }
        self.builder
    }
}
