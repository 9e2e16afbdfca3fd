//! Texts and numbers of objects, read from their lines when they are requested.

use super::line::Line;
use super::types::Types;
use crate::input::json::Scanner;
use crate::input::json_lines::JsonLine;
use crate::model::heap::{Heap, Ids, ObjectId, ObjectValues, Offsets, Value};
use std::borrow::Cow;

/// The offset of the line of each object.
pub(super) struct Lines<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) positions: Offsets,
    pub(super) types: Types<'a>,
}

impl ObjectValues for Lines<'_> {
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        let position =
            (object.index() < self.positions.len()).then(|| self.positions.get(object.index()));
        let Some(rest) = position.and_then(|at| self.bytes.get(usize::try_from(at).ok()?..)) else {
            return Value::None;
        };
        let Ok(line) = Line::read(&mut Scanner::new(rest, 0)) else { return Value::None };
        match (line.kind, line.value) {
            (b"STRING" | b"SYMBOL", Some(text)) => {
                let text = text.decode();
                Value::Text { length: line.bytesize.unwrap_or(text.len() as u64), text }
            }
            (b"FLOAT", Some(text)) => text.decode().parse().map_or(Value::None, Value::Float),
            (b"CLASS" | b"MODULE" | b"ICLASS", _) => {
                let Ids::Addresses(addresses) = &heap.ids else { return Value::None };
                let name =
                    addresses.address(object).and_then(|address| self.types.name_of_class(address));
                name.map_or(Value::None, |name| Value::Name(Cow::Owned(name.into_owned())))
            }
            (b"ARRAY", _) => line.length.map_or(Value::None, Value::Length),
            (b"HASH", _) => line.size.map_or(Value::None, Value::Length),
            _ => Value::None,
        }
    }
}
