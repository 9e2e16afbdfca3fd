//! Texts, numbers and names of objects, read from their lines when they are requested.

use super::line::{Line, Scalar};
use super::types::Contents;
use crate::input::json::Scanner;
use crate::input::json_lines::JsonLine;
use crate::model::heap::{
    Array, Heap, Known, Label, LabelKind, ObjectId, ObjectValues, Offsets, Room, TypeId, Value,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Words of a list before its places, and of an instance before its slots, including the two words
/// of the garbage collector.
const LIST_WORDS: u64 = 7;
const SLOT_WORDS: u64 = 4;

/// The texts of objects, by the offset of the line of each object.
pub(super) struct Texts<'a> {
    bytes: &'a [u8],
    pub(super) positions: Offsets,
    contents: FxHashMap<TypeId, Contents>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(
        bytes: &'a [u8],
        positions: Offsets,
        contents: FxHashMap<TypeId, Contents>,
    ) -> Self {
        Self { bytes, positions, contents }
    }

    fn line(&self, object: ObjectId) -> Option<Line<'a>> {
        if object.index() >= self.positions.len() {
            return None;
        }
        let at = usize::try_from(self.positions.get(object.index())).ok()?;
        Line::read(&mut Scanner::new(self.bytes.get(at..)?, 0)).ok()
    }

    /// The text of an object, if it is one.
    pub(super) fn text(&self, object: ObjectId) -> Option<Cow<'a, str>> {
        match self.line(object)?.value {
            Scalar::Text(text) => Some(text.decode()),
            _ => None,
        }
    }

    /// The value as Python would show it as the key of a dictionary: `'k1000'`, `17`.
    fn shown(&self, heap: &Heap<'_>, object: ObjectId) -> Option<String> {
        Some(match self.value(heap, object) {
            Value::Text { text, .. } => format!("'{text}'"),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(true) => "True".to_owned(),
            Value::Boolean(false) => "False".to_owned(),
            Value::Name(name) => name.into_owned(),
            _ => return None,
        })
    }
}

impl ObjectValues for Texts<'_> {
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        let Some(line) = self.line(object) else { return Value::None };
        let contents = self.contents.get(&heap.type_id(object)).copied().unwrap_or_default();
        let number = |raw: &[u8]| std::str::from_utf8(raw).ok()?.parse().ok();
        match (contents, line.value) {
            (Contents::Text, Scalar::Text(text)) => {
                let text = text.decode();
                let length = line.length.unwrap_or_else(|| text.chars().count() as u64);
                Value::Text { text, length }
            }
            (Contents::Bytes, Scalar::Text(text)) => {
                let bytes = text.decode().chars().filter_map(|c| u8::try_from(c).ok()).collect();
                Value::Bytes(Cow::Owned(bytes))
            }
            (_, Scalar::Boolean(value)) => Value::Boolean(value),
            (Contents::Integer, Scalar::Number(raw)) => match number(raw) {
                Some(value) => Value::Integer(value),
                None => Value::Name(String::from_utf8_lossy(raw)),
            },
            (Contents::Float, Scalar::Text(text)) => {
                text.decode().parse().map_or(Value::None, Value::Float)
            }
            (Contents::Dictionary, _) => Value::Length(line.entries.iter().count() as u64 / 2),
            (kind, _) if kind.has_elements() => Value::Length(line.items.iter().count() as u64),
            (_, Scalar::Text(name)) => Value::Name(name.decode()),
            _ => Value::None,
        }
    }

    fn known(&self) -> Known {
        Known {
            texts: true,
            bytes: true,
            lengths: true,
            nulls: false,
            numbers: true,
            rooms: true,
            slots: true,
        }
    }

    fn reference_name(&self, heap: &Heap<'_>, row: usize) -> Option<String> {
        let LabelKind::Field(name) = heap.label(row).kind() else { return None };
        if heap.names.text(name) != "value" {
            return None;
        }
        let owner = heap.references.owner(row);
        if self.contents.get(&heap.type_id(owner)) != Some(&Contents::Dictionary) {
            return None;
        }
        // Keys and values come by turns.
        let key = row.checked_sub(1).filter(|row| heap.references.range(owner).contains(row))?;
        let key = self.shown(heap, heap.references.target(key))?;
        Some(format!("[{key}]"))
    }

    fn room(&self, heap: &Heap<'_>, object: ObjectId) -> Option<Room> {
        let kind = *self.contents.get(&heap.type_id(object))?;
        // There is only one empty tuple.
        let is_collection =
            matches!(kind, Contents::Dictionary | Contents::List | Contents::Elements);
        // The dictionary of an instance is a part of it: see `slots_save`.
        if !is_collection || heap.has_attributes(object) {
            return None;
        }
        let rows = heap.fields_of(object);
        let is_entry = |label: Label| match label.kind() {
            LabelKind::Index(_) => true,
            LabelKind::Field(_) => kind == Contents::Dictionary,
            _ => false,
        };
        let used = rows.filter(|row| is_entry(heap.label(*row))).count() as u64;
        let word = u64::from(heap.pointer_size.max(4));
        let words = heap.shallow_bytes(object).checked_div(word).unwrap_or(0);
        let places = words.saturating_sub(LIST_WORDS);
        // Lists of a class of the program have attributes as well.
        let is_list = kind == Contents::List && heap.type_name(object) == "list";
        // The number of places of a dict or a set is not known.
        let capacity = if is_list { places.max(used) } else { 0 };
        Some(Room {
            is_collection: true,
            capacity,
            used,
            spare_bytes: capacity.saturating_sub(used).saturating_mul(word),
        })
    }

    fn slots_save(&self, heap: &Heap<'_>, object: ObjectId) -> Option<u64> {
        if self.contents.get(&heap.type_id(object)) != Some(&Contents::Instance) {
            return None;
        }
        let word = u64::from(heap.pointer_size.max(4));
        let rows = heap.fields_of(object);
        let is_dictionary = |row: &usize| heap.has_attributes(heap.references.target(*row));
        let own = heap.shallow_bytes(object);
        let saved = match rows.clone().find(is_dictionary) {
            Some(row) => {
                let dictionary = heap.references.target(row);
                let attributes = heap.references.range(dictionary).len() as u64 / 2;
                let all = own.saturating_add(heap.shallow_bytes(dictionary));
                all.saturating_sub(attributes.saturating_add(SLOT_WORDS).saturating_mul(word))
            }
            // Attributes are in a table of two words plus one each, which is not part of the size.
            None if rows.is_empty() => 0,
            None => own.saturating_sub((SLOT_WORDS - 2).saturating_mul(word)),
        };
        (saved > 0).then_some(saved)
    }

    fn array(&self, heap: &Heap<'_>, object: ObjectId) -> Option<Array> {
        self.contents.get(&heap.type_id(object)).filter(|kind| kind.has_elements())?;
        let length = self.line(object)?.items.iter().count() as u64;
        Some(Array { length, element: "" })
    }
}
