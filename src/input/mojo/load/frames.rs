//! Keys as rows of the profile. The rules are those of
//! [`Lookup::Robust`](super::super::symbols::Lookup).

use super::super::keys::{Keys, UNRESOLVED, undefined};
use super::super::records::FrameDefinition;
use crate::input::frames::kind_of_file;
use crate::input::read::count_one;
use crate::model::names::NameId;
use crate::model::profile::{FrameId, ProfileBuilder, ProfileFrame};

/// The definitions met so far.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub(super) keys: Keys<NameId, FrameId>,
    /// Whether the last lookups found a frame that a later definition may replace.
    guessed: bool,
}

impl Frames {
    /// Defines a frame with the names that its keys mean now. Returns whether the key meant another
    /// frame before.
    pub(super) fn define(
        &mut self,
        definition: &FrameDefinition,
        builder: &mut ProfileBuilder,
    ) -> bool {
        let function = self.string(definition.scope, builder);
        let file = self.string(definition.file, builder);
        let kind = kind_of_file(builder.text(file));
        let line = builder.line(definition.line.value());
        let frame = builder.frame(ProfileFrame { function, file, line, kind });
        self.keys.define_frame(definition.key, frame).is_some_and(|before| before != frame)
    }

    /// The name that a key means now.
    pub(super) fn string(&self, key: u64, builder: &mut ProfileBuilder) -> NameId {
        self.keys.string(key).or_else(|| self.keys.string_elsewhere(key)).unwrap_or_else(|| {
            if undefined(key) == UNRESOLVED {
                count_one(&mut builder.notes().unresolved);
            }
            builder.name(undefined(key))
        })
    }

    #[inline]
    pub(super) fn frame(&mut self, key: u64, builder: &mut ProfileBuilder) -> FrameId {
        match self.keys.frame(key) {
            Some(frame) => frame,
            None => self.guess(key, builder),
        }
    }

    /// Returns whether a frame was guessed since the last call.
    pub(super) fn take_guess(&mut self) -> bool {
        std::mem::take(&mut self.guessed)
    }

    fn guess(&mut self, key: u64, builder: &mut ProfileBuilder) -> FrameId {
        self.guessed = true;
        if let Some(frame) = self.keys.frame_elsewhere(key) {
            return frame;
        }
        count_one(&mut builder.notes().unresolved);
        let name = builder.name(UNRESOLVED);
        builder.frame(ProfileFrame {
            function: name,
            file: name,
            line: 0,
            kind: kind_of_file("<unresolved>"),
        })
    }
}
