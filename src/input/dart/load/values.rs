//! Values of objects, decoded from the file when they are requested.

use super::classes::Classes;
use super::row;
use crate::bytes::{Cursor, latin1};
use crate::input::dart::class::ClassKind;
use crate::input::dart::data::{Data, utf16};
use crate::input::dart::object::References;
use crate::input::dart::records::Records;
use crate::input::dart::word_size::WordSize;
use crate::model::heap::{
    EachElement, EachField, Field, FieldValue, Heap, Known, LabelKind, ObjectId, ObjectValues,
    Offsets, Value,
};

/// The objects' positions, and the facts needed to decode their data.
pub(super) struct DartValues<'a> {
    bytes: &'a [u8],
    positions: Offsets,
    /// The kind of each class, by type.
    kinds: Vec<ClassKind>,
    classes: Classes,
    word_size: WordSize,
    exported: bool,
}

impl<'a> DartValues<'a> {
    pub(super) fn new(
        bytes: &'a [u8],
        positions: Offsets,
        mut classes: Classes,
        records: &Records<'a>,
    ) -> Self {
        Self {
            bytes,
            positions,
            kinds: classes.kinds(),
            classes,
            word_size: records.word_size(),
            exported: records.is_devtools_export(),
        }
    }

    fn data(&self, object: ObjectId, kind: ClassKind) -> Option<Data<'a>> {
        self.read(object, kind).map(|(_, data, _)| data)
    }

    /// The class id of an object, its data, and the bytes after it.
    fn read(&self, object: ObjectId, kind: ClassKind) -> Option<(u64, Data<'a>, Cursor<'a>)> {
        if object.index() >= self.positions.len() {
            return None;
        }
        let mut cursor = Cursor::at(self.bytes, self.positions.get(object.index()));
        let class = cursor.uleb128("the class of an object").ok()?;
        cursor.uleb128("the size of an object").ok()?;
        let data =
            Data::read(&mut cursor, kind, &mut self.word_size.clone(), self.exported).ok()?;
        Some((class, data, cursor))
    }

    fn kind(&self, heap: &Heap<'a>, object: ObjectId) -> ClassKind {
        let type_id = heap.type_of.get(object.index());
        type_id
            .and_then(|type_id| self.kinds.get(type_id.0 as usize))
            .copied()
            .unwrap_or(ClassKind::Other)
    }

    /// The slots of an object with their labels.
    fn slots(
        &self,
        heap: &Heap<'a>,
        object: ObjectId,
    ) -> impl Iterator<Item = (LabelKind, FieldValue<'static>)> {
        let objects = heap.len() as u64;
        let value = move |id: u64| match id {
            id if (1..=objects).contains(&id) => FieldValue::Object(row(id)),
            // Small integers before Dart 2.19, and numbers that are stored in the object itself.
            _ => FieldValue::Omitted,
        };
        let read = self.read(object, self.kind(heap, object)).and_then(|(class, _, mut cursor)| {
            let count = cursor.uleb128("the reference count of an object").ok()?;
            Some((self.classes.get(class)?, References::at(count, cursor)))
        });
        let slots = read
            .into_iter()
            .flat_map(|(class, slots)| (0..).zip(slots.iter()).map(move |slot| (class, slot)));
        slots.map(move |(class, (slot, id))| (self.classes.label(class, slot).kind(), value(id)))
    }
}

impl ObjectValues for DartValues<'_> {
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        let kind = self.kind(heap, object);
        match self.data(object, kind) {
            None | Some(Data::None | Data::Null) => Value::None,
            Some(Data::Bool(value)) => Value::Boolean(value != 0),
            Some(Data::Int(value)) => Value::Integer(value),
            Some(Data::Double(value)) => Value::Float(value),
            Some(Data::Latin1(text)) => {
                Value::Text { text: latin1(text.units), length: text.length }
            }
            Some(Data::Utf16(text)) => {
                Value::Text { text: utf16(text.units).0.into(), length: text.length }
            }
            Some(Data::Length(length)) => Value::Length(length),
            Some(Data::Name(name)) => {
                let text = String::from_utf8_lossy(name);
                match kind {
                    // DevTools writes strings as names. A truncated string ends in three dots, and
                    // its length is lost.
                    ClassKind::String => {
                        Value::Text { length: text.encode_utf16().count() as u64, text }
                    }
                    _ => Value::Name(text),
                }
            }
        }
    }

    /// All slots with names, also those whose value is not in the file.
    fn fields(&self, heap: &Heap<'_>, object: ObjectId, each: &mut EachField<'_>) {
        for (label, value) in self.slots(heap, object) {
            let LabelKind::Field(name) = label else { continue };
            if each(Field { class: "", name: heap.names.text(name), type_name: "", value })
                .is_break()
            {
                return;
            }
        }
    }

    fn elements(&self, heap: &Heap<'_>, object: ObjectId, start: u64, each: &mut EachElement<'_>) {
        for (label, value) in self.slots(heap, object) {
            let LabelKind::Index(index) = label else { continue };
            if u64::from(index) >= start && each(index.into(), value).is_break() {
                return;
            }
        }
    }

    fn known(&self) -> Known {
        Known { texts: true, lengths: true, numbers: true, ..Known::default() }
    }
}
