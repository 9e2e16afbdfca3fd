//! What keys refer to, as frames of the profile. The rules are those of [`Lookup::Robust`](super::super::symbols::Lookup).

use super::super::count_one;
use super::super::records::FrameDefinition;
use super::super::symbols::{UNKNOWN, UNRESOLVED};
use crate::input::frames::kind_of_file;
use crate::model::names::{NameId, Names};
use crate::model::profile::{FrameId, ProfileBuilder, ProfileFrame};
use rustc_hash::FxHashMap;

/// The definitions met so far. The first process holds what was defined before any STACK.
#[derive(Debug)]
pub(super) struct Frames {
    processes: Vec<Process>,
    by_pid: FxHashMap<i128, u32>,
    current: usize,
    /// The latest definition of a key in any process.
    last_string: FxHashMap<u64, NameId>,
    last_frame: FxHashMap<u64, FrameId>,
    /// The last lookups found something that a later definition may take the place of.
    guessed: bool,
}

#[derive(Debug, Default)]
struct Process {
    strings: FxHashMap<u64, NameId>,
    frames: FxHashMap<u64, FrameId>,
}

impl Default for Frames {
    fn default() -> Self {
        Self {
            processes: vec![Process::default()],
            by_pid: FxHashMap::default(),
            current: 0,
            last_string: FxHashMap::default(),
            last_frame: FxHashMap::default(),
            guessed: false,
        }
    }
}

impl Frames {
    /// The number of a process.
    pub(super) fn process(&mut self, pid: i128) -> u32 {
        *self.by_pid.entry(pid).or_insert_with(|| {
            let number = self.processes.len() as u32;
            self.processes.push(Process::default());
            number
        })
    }

    /// A STACK of this process begins: it is the scope of what follows.
    #[inline]
    pub(super) fn enter(&mut self, process: u32) {
        self.current = process as usize;
    }

    pub(super) fn define_string(&mut self, key: u64, value: NameId) {
        self.last_string.insert(key, value);
        if let Some(process) = self.processes.get_mut(self.current) {
            process.strings.insert(key, value);
        }
    }

    /// Defines a frame with the names that its keys mean now. Tells whether the key meant another one before.
    pub(super) fn define(&mut self, definition: &FrameDefinition, builder: &mut ProfileBuilder) -> bool {
        let function = self.string(definition.scope, builder);
        let file = self.string(definition.file, builder);
        let kind = kind_of_file(builder.text(file));
        let line = builder.line(definition.line.value());
        let frame = builder.frame(ProfileFrame { function, file, line, kind });
        self.last_frame.insert(definition.key, frame);
        let Some(process) = self.processes.get_mut(self.current) else { return false };
        process.frames.insert(definition.key, frame).is_some_and(|before| before != frame)
    }

    /// The name that a key means now.
    pub(super) fn string(&self, key: u64, builder: &mut ProfileBuilder) -> NameId {
        let defined = |process: usize| self.processes.get(process)?.strings.get(&key).copied();
        let known = defined(self.current).or_else(|| defined(0)).or_else(|| self.last_string.get(&key).copied());
        known.unwrap_or_else(|| match key {
            0 => Names::EMPTY,
            1 => builder.name(UNKNOWN),
            _ => {
                count_one(&mut builder.notes().unresolved);
                builder.name(UNRESOLVED)
            }
        })
    }

    /// The frame that a key means now.
    #[inline]
    pub(super) fn frame(&mut self, key: u64, builder: &mut ProfileBuilder) -> FrameId {
        let known = self.processes.get(self.current).and_then(|process| process.frames.get(&key));
        match known {
            Some(&frame) => frame,
            None => self.guess(key, builder),
        }
    }

    /// Whether a frame was guessed since this was asked last.
    pub(super) fn take_guess(&mut self) -> bool {
        std::mem::take(&mut self.guessed)
    }

    fn guess(&mut self, key: u64, builder: &mut ProfileBuilder) -> FrameId {
        self.guessed = true;
        let before_any_stack = self.processes.first().and_then(|process| process.frames.get(&key));
        if let Some(&frame) = before_any_stack.or_else(|| self.last_frame.get(&key)) {
            return frame;
        }
        count_one(&mut builder.notes().unresolved);
        let name = builder.name(UNRESOLVED);
        builder.frame(ProfileFrame { function: name, file: name, line: 0, kind: kind_of_file("<unresolved>") })
    }
}
