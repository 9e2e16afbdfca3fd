//! Texts, numbers and names of nodes, decoded from the file when they are requested.

use super::edges::PROTOTYPE;
use super::entries::Tables;
use super::locations::Locations;
use super::originals::Originals;
use crate::input::heapsnapshot::strings::{Strings, Units};
use crate::model::heap::{
    FieldValue, Heap, Label, ObjectId, ObjectValues, Reference, SourceLocation, TypeKind, Value,
};
use crate::model::names::Names;
use crate::model::values::{EachField, fields_by_references, hash};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::iter;
use std::sync::OnceLock;

pub(super) struct NodeNames<'a> {
    pub(super) strings: Strings<'a>,
    pub(super) name: Vec<u32>,
    pub(super) originals: Originals,
    pub(super) locations: Locations<'a>,
    pub(super) labels: Labels,
    pub(super) tables: Tables,
    /// The limit, in UTF-16 code units, at which V8 cut texts in this file. Found on first use.
    pub(super) most_units: OnceLock<usize>,
}

/// Labels of references to the parts of a value, to the table of a Map, and to prototypes. Only files with
/// numeric values have references to lengths, hashes and numbers.
pub(super) struct Labels {
    first: Label,
    second: Label,
    value: Label,
    length: Label,
    hash: Label,
    truncated: Label,
    table: Label,
    prototype: Label,
}

/// The most UTF-16 units of a text that V8 writes without `--heap-snapshot-string-limit`.
const USUAL_UNITS: usize = 1024;
/// The most parts of a concatenated text that are joined.
const MOST_PARTS: usize = 1024;
/// The most prototypes of an object that are examined for a class of V8.
const MOST_PROTOTYPES: usize = 4;
/// The most references of an object that are searched for its prototype, which comes after its properties.
const MOST_REFERENCES: usize = 256;

impl Labels {
    pub(super) fn of(names: &mut Names) -> Self {
        let mut label = |name| Label::field(names.intern(name));
        Self {
            first: label("first"),
            second: label("second"),
            value: label("value"),
            length: label("length"),
            hash: label("hash"),
            truncated: label("truncated"),
            table: label("table"),
            prototype: label(PROTOTYPE),
        }
    }
}

impl NodeNames<'_> {
    fn name(&self, object: ObjectId) -> Cow<'_, str> {
        if let Some(original) = self.originals.of_node(object.index()) {
            return (&original.name).into();
        }
        self.number_of(object).map_or("".into(), |name| self.strings.text(name))
    }

    /// The number of the string that names a node.
    fn number_of(&self, object: ObjectId) -> Option<u64> {
        self.name.get(object.index()).map(|&name| name.into())
    }

    /// The text of a string, with the length of the whole text.
    fn text<'v>(&'v self, heap: &Heap<'_>, object: ObjectId) -> Value<'v> {
        let Some(name) = self.number_of(object) else {
            return Value::Text { text: "".into(), length: 0 };
        };
        let (text, units) = self.strings.measured(name);
        let length = if units.most < USUAL_UNITS {
            units.count as u64
        } else {
            self.length(heap, object, units)
        };
        Value::Text { text, length }
    }

    /// The length of a text that V8 may have cut.
    fn length(&self, heap: &Heap<'_>, object: ObjectId, written: Units) -> u64 {
        let units = written.count as u64;
        let part = |label| Some(self.number(heap, target(heap, object, label)?));
        match (part(self.labels.length), part(self.labels.truncated)) {
            (Some(Value::Integer(length)), _) => u64::try_from(length).unwrap_or(units).max(units),
            (_, Some(Value::Boolean(false))) => units,
            _ if written.most < *self.most_units.get_or_init(|| self.longest(heap)) => units,
            _ => Value::UNKNOWN_LENGTH,
        }
    }

    /// The length of the longest text of the file, or the usual limit if that is more. A longer
    /// text shows that V8 had a higher limit; only texts of the returned length may be cut.
    fn longest(&self, heap: &Heap<'_>) -> usize {
        let is_text = |object: &ObjectId| heap.type_of(*object).kind == TypeKind::Text;
        let names = heap.objects().filter(is_text).filter_map(|text| self.name.get(text.index()));
        let is_long = |name: &u64| self.strings.extent(*name) >= USUAL_UNITS;
        let mut long: Vec<u64> = names.map(|&name| name.into()).filter(is_long).collect();
        long.sort_unstable();
        long.dedup();
        let lengths = long.into_iter().map(|name| self.strings.measured(name).1.count);
        lengths.max().unwrap_or_default().max(USUAL_UNITS)
    }

    /// The text of a concatenated string, whose two parts may be concatenated themselves. Joins at
    /// most as much as V8 writes of a text.
    fn joined<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        let (mut text, mut units) = (String::new(), 0_usize);
        let mut pending = vec![object];
        for _ in 0..MOST_PARTS {
            let Some(part) = pending.pop() else {
                return Value::Text { text: text.into(), length: units as u64 };
            };
            if is_joined(heap, part) {
                // The empty text belongs to V8 itself and may be left out of the snapshot.
                let Some(first) = target(heap, part, self.labels.first) else { break };
                pending.extend(target(heap, part, self.labels.second));
                pending.push(first);
                continue;
            }
            if heap.type_of(part).kind != TypeKind::Text {
                break;
            }
            let Value::Text { text: own, length } = self.text(heap, part) else { break };
            for character in own.chars() {
                units = units.saturating_add(character.len_utf16());
                if units > USUAL_UNITS {
                    return Value::Text { text: text.into(), length: Value::UNKNOWN_LENGTH };
                }
                text.push(character);
            }
            if length == Value::UNKNOWN_LENGTH {
                break;
            }
        }
        if text.is_empty() {
            Value::None
        } else {
            Value::Text { text: text.into(), length: Value::UNKNOWN_LENGTH }
        }
    }

    /// The number that a node represents. Only files with numeric values contain it, as the text of
    /// another node.
    fn number<'v>(&'v self, heap: &Heap<'_>, object: ObjectId) -> Value<'v> {
        let name = self.name(object);
        let named = if name.is_empty() { Value::None } else { Value::Name(name) };
        let Some(value) = target(heap, object, self.labels.value) else { return named };
        let text = self.name(value);
        match (&*text, text.parse(), text.parse()) {
            ("true", ..) => Value::Boolean(true),
            ("false", ..) => Value::Boolean(false),
            (_, Ok(integer), _) => Value::Integer(integer),
            (_, _, Ok(float)) => Value::Float(float),
            _ => named,
        }
    }

    /// Map or Set, if the class of an object is derived from one; empty if not. V8 names the prototype of a
    /// derived class after the base class.
    fn collection<'h>(&self, heap: &'h Heap<'_>, object: ObjectId) -> &'h str {
        let above = |object: &ObjectId| {
            let mut references = heap.references_of(*object).take(MOST_REFERENCES);
            let prototype = references.find(|other| other.label == self.labels.prototype);
            prototype.map(|prototype| prototype.target)
        };
        let prototypes = iter::successors(above(&object), above).take(MOST_PROTOTYPES);
        let mut names = prototypes.map(|prototype| heap.type_name(prototype));
        names.find(|name| matches!(*name, "Map" | "Set")).unwrap_or_default()
    }
}

impl ObjectValues for NodeNames<'_> {
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        match heap.type_of(object).kind {
            TypeKind::Text if is_joined(heap, object) => self.joined(heap, object),
            TypeKind::Text => self.text(heap, object),
            TypeKind::Number => self.number(heap, object),
            _ => {
                let name = self.name(object);
                if name.is_empty() || name == heap.type_name(object) || name == "Object" {
                    Value::None
                } else {
                    Value::Name(name)
                }
            }
        }
    }

    fn text_identity(&self, heap: &Heap<'_>, object: ObjectId, text: &str) -> u64 {
        let long = self.long_text(heap, object);
        long.map_or_else(|| hash(text.as_bytes()), |long| long as u64)
    }

    fn stored_text(&self, heap: &Heap<'_>, object: ObjectId) -> Option<u64> {
        let number = self.number_of(object)?;
        let is_text = heap.type_of(object).kind == TypeKind::Text && !is_joined(heap, object);
        // A text has no more units than bytes, so V8 did not cut it.
        (is_text && self.strings.extent(number) < USUAL_UNITS).then_some(number)
    }

    fn long_text(&self, heap: &Heap<'_>, object: ObjectId) -> Option<usize> {
        let long = self.strings.long_row(self.number_of(object)?)?;
        (heap.type_of(object).kind == TypeKind::Text && !is_joined(heap, object)).then_some(long)
    }

    fn long_texts(&self) -> usize {
        self.strings.long_count()
    }

    fn whole_text_hash(&self, heap: &Heap<'_>, object: ObjectId) -> Option<u64> {
        match self.number(heap, target(heap, object, self.labels.hash)?) {
            Value::Integer(hash) => Some(hash as u64),
            _ => None,
        }
    }

    /// The table of a Map or a Set is a field of these classes, also in objects of derived classes.
    fn fields(&self, heap: &Heap<'_>, object: ObjectId, each: &mut EachField<'_>) {
        let collection = OnceCell::new();
        let class = |reference: Reference| {
            if reference.label == self.labels.table {
                *collection.get_or_init(|| self.collection(heap, object))
            } else {
                ""
            }
        };
        fields_by_references(heap, object, class, |reference| self.held(heap, reference), each);
    }

    /// The number, if the target represents one, else the target.
    fn held(&self, heap: &Heap<'_>, reference: Reference) -> FieldValue<'static> {
        let object = reference.target;
        if heap.type_of(object).kind != TypeKind::Number {
            return FieldValue::Object(object);
        }
        match self.number(heap, object) {
            Value::Integer(value) => FieldValue::Integer(value),
            Value::Float(value) => FieldValue::Float(value),
            Value::Boolean(value) => FieldValue::Boolean(value),
            _ => FieldValue::Object(object),
        }
    }

    fn location(&self, heap: &Heap<'_>, object: ObjectId) -> Option<SourceLocation> {
        match self.originals.of_node(object.index()) {
            Some(original) => Some(original.location.clone()),
            None => self.locations.of_object(heap, object),
        }
    }

    fn reference_name(&self, heap: &Heap<'_>, row: usize) -> Option<String> {
        let key = self.tables.key_of(heap, row)?;
        Some(match self.value(heap, key) {
            Value::Text { text, length } if length == text.encode_utf16().count() as u64 => {
                format!("['{text}']")
            }
            Value::Integer(number) => format!("[{number}]"),
            _ => format!("[{} {}]", heap.type_name(key), heap.id(key)),
        })
    }
}

/// Whether an object is a concatenated string.
fn is_joined(heap: &Heap<'_>, object: ObjectId) -> bool {
    heap.names.text(heap.type_of(object).namespace) == "concatenated string"
}

/// The target of the first reference with a label.
fn target(heap: &Heap<'_>, object: ObjectId, label: Label) -> Option<ObjectId> {
    heap.references_of(object).find(|other| other.label == label).map(|other| other.target)
}
