//! What the keys of a MOJO file refer to.
//!
//! Keys are pointers of the profiled process, so they mean something only together with the process of the last STACK:
//! two processes use the same keys for different things. They are defined again when memory is reused, and a frame binds
//! its names when it is defined, not when it is referred to.

use super::records::FrameDefinition;
use crate::error::{Error, Result};
use crate::model::sample::SampleFrame;
use rustc_hash::FxHashMap;
use std::num::Saturating;

/// How a key is looked up that its process did not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Then among the definitions made before any STACK (austinp 3.4.0), then the latest one of any process
    /// (mojo-compress defines everything once, under the first process). Key 0 is empty and key 1 is `<unknown>` unless
    /// defined; what remains is `<unresolved>`.
    Robust,
    /// As austin-python 2.x does: not at all, it is an error. Key 1 is `<unknown>` even if defined.
    Strict,
}

/// The definitions met so far.
#[derive(Debug)]
pub struct Symbols<'a> {
    lookup: Lookup,
    /// The first one holds what was defined before any STACK.
    processes: Vec<Process<'a>>,
    by_pid: FxHashMap<i128, usize>,
    current: usize,
    /// The process that defined a key last.
    last_string: FxHashMap<u64, usize>,
    last_frame: FxHashMap<u64, usize>,
    unresolved: Saturating<u64>,
}

#[derive(Debug, Default)]
struct Process<'a> {
    strings: FxHashMap<u64, &'a [u8]>,
    frames: FxHashMap<u64, SampleFrame<'a>>,
}

/// What stands for a name that is defined nowhere.
pub(super) const UNRESOLVED: &[u8] = b"<unresolved>";
pub(super) const UNKNOWN: &[u8] = b"<unknown>";

impl<'a> Symbols<'a> {
    /// No definitions yet.
    pub fn new(lookup: Lookup) -> Self {
        Self {
            lookup,
            processes: vec![Process::default()],
            by_pid: FxHashMap::default(),
            current: 0,
            last_string: FxHashMap::default(),
            last_frame: FxHashMap::default(),
            unresolved: Saturating(0),
        }
    }

    /// A STACK of this process begins: it is the scope of what follows.
    #[inline]
    pub fn enter(&mut self, pid: i128) {
        self.current = *self.by_pid.entry(pid).or_insert_with(|| {
            let number = self.processes.len();
            self.processes.push(Process::default());
            number
        });
    }

    /// Defines a string for the current process.
    pub fn define_string(&mut self, key: u64, value: &'a [u8]) {
        self.last_string.insert(key, self.current);
        if let Some(process) = self.processes.get_mut(self.current) {
            process.strings.insert(key, value);
        }
    }

    /// Defines a frame for the current process, with the names that its keys mean now.
    ///
    /// # Errors
    /// Under [`Lookup::Strict`], when a name is not defined.
    pub fn define_frame(&mut self, offset: u64, definition: FrameDefinition) -> Result<()> {
        let file = self.string(offset, definition.file)?;
        let function = self.string(offset, definition.scope)?;
        let frame = SampleFrame::Code { file, function, line: definition.line.value() };
        self.last_frame.insert(definition.key, self.current);
        if let Some(process) = self.processes.get_mut(self.current) {
            process.frames.insert(definition.key, frame);
        }
        Ok(())
    }

    /// The string that a key means now.
    ///
    /// # Errors
    /// Under [`Lookup::Strict`], when it is not defined.
    pub fn string(&mut self, offset: u64, key: u64) -> Result<&'a [u8]> {
        if self.lookup == Lookup::Strict && key == 1 {
            return Ok(UNKNOWN);
        }
        let defined = |process: usize| self.processes.get(process)?.strings.get(&key).copied();
        if let Some(string) = defined(self.current) {
            return Ok(string);
        }
        if self.lookup == Lookup::Strict {
            return Err(undefined(offset, "string", key));
        }
        let elsewhere = defined(0).or_else(|| defined(*self.last_string.get(&key)?));
        Ok(elsewhere.unwrap_or_else(|| match key {
            0 => b"",
            1 => UNKNOWN,
            _ => {
                self.unresolved += 1;
                UNRESOLVED
            }
        }))
    }

    /// The frame that a key means now.
    ///
    /// # Errors
    /// Under [`Lookup::Strict`], when it is not defined.
    #[inline]
    pub fn frame(&mut self, offset: u64, key: u64) -> Result<SampleFrame<'a>> {
        let defined = |process: usize| self.processes.get(process)?.frames.get(&key).copied();
        if let Some(frame) = defined(self.current) {
            return Ok(frame);
        }
        if self.lookup == Lookup::Strict {
            return Err(undefined(offset, "frame", key));
        }
        let elsewhere = defined(0).or_else(|| defined(*self.last_frame.get(&key)?));
        Ok(elsewhere.unwrap_or_else(|| {
            self.unresolved += 1;
            SampleFrame::Code { file: UNRESOLVED, function: UNRESOLVED, line: 0 }
        }))
    }

    /// Distinct processes that had a STACK.
    pub fn process_count(&self) -> u64 {
        self.by_pid.len() as u64
    }

    /// Distinct frames: keys of each process.
    pub fn frame_count(&self) -> u64 {
        self.processes.iter().map(|process| process.frames.len() as u64).sum()
    }

    /// Distinct strings: keys of each process.
    pub fn string_count(&self) -> u64 {
        self.processes.iter().map(|process| process.strings.len() as u64).sum()
    }

    /// Lookups that found nothing.
    pub fn unresolved(&self) -> u64 {
        self.unresolved.0
    }
}

#[cold]
fn undefined(offset: u64, what: &str, key: u64) -> Error {
    Error::corrupt(offset, format!("{what} key {key} is not defined for this process"))
        .hint("mojo2austin stops here too; the dialect `full` looks further")
}
