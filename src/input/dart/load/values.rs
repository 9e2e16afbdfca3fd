//! Values of objects, decoded from the file when they are asked for.

use crate::bytes::Cursor;
use crate::input::dart::class::ClassKind;
use crate::input::dart::data::{Data, latin1, utf16};
use crate::input::dart::records::Records;
use crate::input::dart::word_size::WordSize;
use crate::model::heap::{Heap, Known, ObjectId, ObjectValues, Offsets, Value};

/// Where the objects are, and what their data depends on.
pub(super) struct DartValues<'a> {
    bytes: &'a [u8],
    positions: Offsets,
    /// By type.
    kinds: Vec<ClassKind>,
    word_size: WordSize,
    exported: bool,
}

impl<'a> DartValues<'a> {
    pub(super) fn new(bytes: &'a [u8], positions: Offsets, kinds: Vec<ClassKind>, records: &Records<'a>) -> Self {
        Self { bytes, positions, kinds, word_size: records.word_size(), exported: records.is_devtools_export() }
    }

    fn data(&self, object: ObjectId, kind: ClassKind) -> Option<Data<'a>> {
        if object.index() >= self.positions.len() {
            return None;
        }
        let mut cursor = Cursor::at(self.bytes, self.positions.get(object.index()));
        cursor.uleb128("the class of an object").ok()?;
        cursor.uleb128("the size of an object").ok()?;
        Data::read(&mut cursor, kind, &mut self.word_size.clone(), self.exported).ok()
    }
}

impl<'a> ObjectValues<'a> for DartValues<'a> {
    fn value(&self, heap: &Heap<'a>, object: ObjectId) -> Value<'a> {
        let type_id = heap.type_of.get(object.index());
        let kind = type_id.and_then(|type_id| self.kinds.get(type_id.0 as usize)).copied().unwrap_or(ClassKind::Other);
        match self.data(object, kind) {
            None | Some(Data::None | Data::Null) => Value::None,
            Some(Data::Bool(value)) => Value::Boolean(value != 0),
            Some(Data::Int(value)) => Value::Integer(value),
            Some(Data::Double(value)) => Value::Float(value),
            Some(Data::Latin1(text)) => Value::Text { text: latin1(text.units), length: text.length },
            Some(Data::Utf16(text)) => Value::Text { text: utf16(text.units).0.into(), length: text.length },
            Some(Data::Length(length)) => Value::Length(length),
            Some(Data::Name(name)) => {
                let text = String::from_utf8_lossy(name);
                match kind {
                    // DevTools writes strings as names. What it cut ends in three dots; the length is lost.
                    ClassKind::String => Value::Text { length: text.encode_utf16().count() as u64, text },
                    _ => Value::Name(text),
                }
            }
        }
    }

    fn known(&self) -> Known {
        Known { texts: true, lengths: true, numbers: true, ..Known::default() }
    }
}
