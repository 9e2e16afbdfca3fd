//! Values of results, as programs read them.

use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;

/// A value in JSON or in a cell of CSV. Text borrows from the dump where it can.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Boolean(bool),
    Unsigned(u64),
    Signed(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Numbers(&'a [u64]),
    List(Vec<Value<'a>>),
    Map(Vec<(&'static str, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// A text that is absent where it is empty, such as a namespace.
    pub(crate) fn non_empty(text: &'a str) -> Self {
        if text.is_empty() { Self::Null } else { Self::Text(text.into()) }
    }

    /// The value for CSV, with a list of numbers in one field.
    pub(super) fn in_one_field(self) -> Self {
        match self {
            Self::Numbers(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
                Self::Text(numbers.join(" ").into())
            }
            value => value,
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Unsigned(value) => serializer.serialize_u64(*value),
            Self::Signed(value) => serializer.serialize_i64(*value),
            Self::Real(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Numbers(values) => serializer.collect_seq(*values),
            Self::List(values) => serializer.collect_seq(values),
            Self::Map(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (key, value) in fields {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// A value from what it holds: `From` for each variant.
macro_rules! from {
    ($($from:ty => |$value:ident| $into:expr),* $(,)?) => {
        $(impl<'a> From<$from> for Value<'a> {
            fn from($value: $from) -> Self {
                $into
            }
        })*
    };
}

from! {
    () => |_value| Self::Null,
    bool => |value| Self::Boolean(value),
    u32 => |value| Self::Unsigned(value.into()),
    u64 => |value| Self::Unsigned(value),
    usize => |value| Self::Unsigned(value as u64),
    i64 => |value| Self::Signed(value),
    f64 => |value| Self::Real(value),
    &'a str => |value| Self::Text(value.into()),
    &'a String => |value| Self::Text(value.into()),
    String => |value| Self::Text(value.into()),
    Cow<'a, str> => |value| Self::Text(value),
    &'a [u64] => |value| Self::Numbers(value),
    Vec<Value<'a>> => |value| Self::List(value),
}

impl<'a, V: Into<Value<'a>>> From<Option<V>> for Value<'a> {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'a, const N: usize> From<[(&'static str, Value<'a>); N]> for Value<'a> {
    fn from(fields: [(&'static str, Value<'a>); N]) -> Self {
        Self::Map(fields.into())
    }
}
