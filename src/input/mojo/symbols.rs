//! Keys as text: names as in the file, and frames of them.

use super::keys::{Keys, UNKNOWN, UNRESOLVED, undefined};
use super::records::FrameDefinition;
use crate::error::{Error, Result};
use crate::model::sample::SampleFrame;
use std::num::Saturating;

/// The lookup of a key that its process did not define.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lookup {
    /// Takes the definition made before any STACK (austinp 3.4.0), or else the latest one of any
    /// process (mojo-compress defines everything once, under the first process). Key 0 is empty and
    /// key 1 is `<unknown>` unless defined; all other keys are `<unresolved>`.
    #[default]
    Robust,
    /// Undefined keys are errors, as in austin-python 2.x. Key 1 is `<unknown>` even if defined.
    Strict,
}

/// The definitions met so far.
#[derive(Debug, Default)]
pub struct Symbols<'a> {
    lookup: Lookup,
    pub(super) keys: Keys<&'a [u8], SampleFrame<'a>>,
    unresolved: Saturating<u64>,
}

impl<'a> Symbols<'a> {
    /// Symbols with nothing defined.
    pub fn new(lookup: Lookup) -> Self {
        Self { lookup, ..Self::default() }
    }

    /// A STACK of this process begins: it is the scope of what follows.
    #[inline]
    pub fn enter(&mut self, pid: i128) {
        let process = self.keys.process(pid);
        self.keys.enter(process);
    }

    /// Defines a frame for the current process, with the names that its keys mean now. Fails under
    /// [`Lookup::Strict`], when a name is not defined.
    pub fn define_frame(&mut self, offset: u64, definition: FrameDefinition) -> Result<()> {
        let file = self.string(offset, definition.file)?;
        let function = self.string(offset, definition.scope)?;
        let frame = SampleFrame::Code { file, function, line: definition.line.value() };
        self.keys.define_frame(definition.key, frame);
        Ok(())
    }

    /// The string that a key means now. Fails under [`Lookup::Strict`], when it is not defined.
    pub fn string(&mut self, offset: u64, key: u64) -> Result<&'a [u8]> {
        if self.lookup == Lookup::Strict && key == 1 {
            return Ok(UNKNOWN);
        }
        if let Some(string) = self.keys.string(key) {
            return Ok(string);
        }
        if self.lookup == Lookup::Strict {
            return Err(undefined_here(offset, "string", key));
        }
        Ok(self.keys.string_elsewhere(key).unwrap_or_else(|| {
            self.unresolved += u64::from(undefined(key) == UNRESOLVED);
            undefined(key)
        }))
    }

    /// The frame that a key means now. Fails under [`Lookup::Strict`], when it is not defined.
    #[inline]
    pub fn frame(&mut self, offset: u64, key: u64) -> Result<SampleFrame<'a>> {
        if let Some(frame) = self.keys.frame(key) {
            return Ok(frame);
        }
        if self.lookup == Lookup::Strict {
            return Err(undefined_here(offset, "frame", key));
        }
        Ok(self.keys.frame_elsewhere(key).unwrap_or_else(|| {
            self.unresolved += 1;
            SampleFrame::Code { file: UNRESOLVED, function: UNRESOLVED, line: 0 }
        }))
    }

    /// The number of keys that were looked up and defined nowhere.
    pub fn unresolved(&self) -> u64 {
        self.unresolved.0
    }
}

#[cold]
fn undefined_here(offset: u64, what: &str, key: u64) -> Error {
    Error::corrupt(offset, format!("{what} key {key} is not defined for this process"))
        .hint("mojo2austin also stops here; --dialect full searches further")
}
