//! Labels of references.

use super::names::{NameId, Names};
use crate::plain::plain;
use std::borrow::Cow;
use std::fmt::Write;

/// The label of a reference in its object: a field name, an index or an offset. 4 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Label(u32);

plain!(Label, u32);

/// The parts of a [`Label`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// No label.
    None,
    /// A field or variable.
    Field(NameId),
    /// An element.
    Index(u32),
    /// An offset in the object's memory, in bytes.
    Offset(u32),
}

impl Label {
    /// No label.
    pub const NONE: Self = Self(0);
    /// The largest index or offset of a label. Larger ones become [`Label::NONE`].
    pub const MAX: u64 = (1 << 30) - 1;

    /// Creates the label of a field or variable.
    pub fn field(name: NameId) -> Self {
        Self::new(1, name.0.into())
    }

    /// Creates the label of an element.
    pub fn index(index: u64) -> Self {
        Self::new(2, index)
    }

    /// The label of an offset in the object's memory, in bytes.
    pub fn offset(offset: u64) -> Self {
        Self::new(3, offset)
    }

    fn new(kind: u32, value: u64) -> Self {
        match value {
            0..=Self::MAX => Self(kind << 30 | value as u32),
            _ => Self::NONE,
        }
    }

    /// Returns all bits of the label, for columns that are filled before they become labels.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Creates a label from the result of [`Label::bits`].
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the label as an enum.
    pub fn kind(self) -> LabelKind {
        let value = self.0 & Self::MAX as u32;
        match self.0 >> 30 {
            0 => LabelKind::None,
            1 => LabelKind::Field(NameId(value)),
            2 => LabelKind::Index(value),
            _ => LabelKind::Offset(value),
        }
    }

    /// The name of the field. `None` if the label is not a name.
    pub fn field_name(self, names: &Names) -> Option<&str> {
        match self.kind() {
            LabelKind::Field(name) => Some(names.text(name)),
            _ => None,
        }
    }

    /// Like [`Label::text`], without an allocation: `text` is an empty buffer for labels that are not
    /// names.
    pub fn text_in<'t>(self, names: &'t Names, text: &'t mut String) -> &'t str {
        // Writing to a string cannot fail.
        match self.kind() {
            LabelKind::None => return "",
            LabelKind::Field(name) => return names.text(name),
            LabelKind::Index(index) => write!(text, "[{index}]").unwrap_or_default(),
            LabelKind::Offset(offset) => write!(text, "+{offset:#x}").unwrap_or_default(),
        }
        text
    }

    /// The display text: `name`, `[3]`, `+0x10`, or empty.
    pub fn text(self, names: &Names) -> Cow<'_, str> {
        match self.kind() {
            LabelKind::None => "".into(),
            LabelKind::Field(name) => names.text(name).into(),
            LabelKind::Index(index) => format!("[{index}]").into(),
            LabelKind::Offset(offset) => format!("+{offset:#x}").into(),
        }
    }
}
