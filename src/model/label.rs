//! What references are called.

use super::names::{NameId, Names};
use std::borrow::Cow;

/// What a reference is called inside of its object: two bits of kind and 30 of value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(u32);

/// A [`Label`], taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// It has no name.
    None,
    /// A field or variable.
    Field(NameId),
    /// An element.
    Index(u32),
    /// A place in the object's memory, in bytes.
    Offset(u32),
}

impl Label {
    /// No name.
    pub const NONE: Self = Self(0);
    /// The largest index or offset that a label can say. Larger ones are [`Label::NONE`].
    pub const MAX: u64 = (1 << 30) - 1;

    /// A field or variable.
    pub fn field(name: NameId) -> Self {
        Self::new(1, name.0.into())
    }

    /// An element.
    pub fn index(index: u64) -> Self {
        Self::new(2, index)
    }

    /// A place in memory, in bytes.
    pub fn offset(offset: u64) -> Self {
        Self::new(3, offset)
    }

    fn new(kind: u32, value: u64) -> Self {
        match value {
            0..=Self::MAX => Self(kind << 30 | value as u32),
            _ => Self::NONE,
        }
    }

    /// What it says.
    pub fn kind(self) -> LabelKind {
        let value = self.0 & Self::MAX as u32;
        match self.0 >> 30 {
            0 => LabelKind::None,
            1 => LabelKind::Field(NameId(value)),
            2 => LabelKind::Index(value),
            _ => LabelKind::Offset(value),
        }
    }

    /// As people see it: `name`, `[3]`, `+0x10`, or nothing.
    pub fn text(self, names: &Names) -> Cow<'_, str> {
        match self.kind() {
            LabelKind::None => "".into(),
            LabelKind::Field(name) => names.text(name).into(),
            LabelKind::Index(index) => format!("[{index}]").into(),
            LabelKind::Offset(offset) => format!("+{offset:#x}").into(),
        }
    }
}
