//! Redacted contents of objects.

use super::numbers::{ContentNumbers, hash, is_block};
use super::shape::Shape;
use crate::model::heap::{
    Array, EachElement, EachField, Field, FieldValue, Heap, Known, ObjectId, ObjectValues, Room,
    SourceLocation, Value,
};
use std::borrow::Cow;

/// Passes on the kinds and lengths that a reader decodes, and nothing else.
pub(super) struct RedactedValues<'a> {
    pub(super) inner: Box<dyn ObjectValues + 'a>,
    /// For [`Redaction::Hash`](super::Redaction::Hash).
    pub(super) numbers: Option<ContentNumbers>,
}

/// Longest block of zeros that is not allocated.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

impl RedactedValues<'_> {
    fn text(&self, text: &str) -> String {
        match &self.numbers {
            Some(numbers) => numbers.text(text),
            None => Shape::of_text(text).blank_text(),
        }
    }

    fn bytes(&self, heap: &Heap<'_>, object: ObjectId, bytes: &[u8]) -> Cow<'static, [u8]> {
        match &self.numbers {
            Some(numbers) if is_block(heap, object) && bytes.iter().any(|byte| *byte != 0) => {
                numbers.bytes(bytes).into()
            }
            _ => match ZEROS.get(..bytes.len()) {
                Some(zeros) => zeros.into(),
                None => vec![0; bytes.len()].into(),
            },
        }
    }
}

impl ObjectValues for RedactedValues<'_> {
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        match self.inner.value(heap, object) {
            Value::None => Value::None,
            Value::Boolean(_) => Value::Boolean(false),
            Value::Integer(_) => Value::Integer(0),
            Value::Float(_) => Value::Float(0.0),
            Value::Text { text, length } => Value::Text { text: self.text(&text).into(), length },
            Value::Length(length) => Value::Length(length),
            // Names of nodes hold source texts of patterns and attributes of elements (V8).
            Value::Name(_) => Value::Name(Cow::Borrowed("")),
            Value::Bytes(bytes) => Value::Bytes(self.bytes(heap, object, &bytes)),
        }
    }

    fn text_identity(&self, heap: &Heap<'_>, object: ObjectId, text: &str) -> u64 {
        match self.inner.value(heap, object) {
            Value::Text { text, .. } => hash(text.as_bytes()),
            _ => hash(text.as_bytes()),
        }
    }

    fn known(&self) -> Known {
        self.inner.known()
    }

    fn fields(&self, heap: &Heap<'_>, object: ObjectId, each: &mut EachField<'_>) {
        self.inner.fields(heap, object, &mut |field| {
            each(Field { value: redacted(field.value), ..field })
        });
    }

    fn field<'v>(
        &'v self,
        heap: &'v Heap<'_>,
        object: ObjectId,
        name: &str,
    ) -> Option<FieldValue<'v>> {
        self.inner.field(heap, object, name).map(redacted)
    }

    fn array(&self, heap: &Heap<'_>, object: ObjectId) -> Option<Array> {
        self.inner.array(heap, object)
    }

    fn room(&self, heap: &Heap<'_>, object: ObjectId) -> Option<Room> {
        self.inner.room(heap, object)
    }

    fn location(&self, heap: &Heap<'_>, object: ObjectId) -> Option<SourceLocation> {
        self.inner.location(heap, object)
    }

    fn elements(&self, heap: &Heap<'_>, object: ObjectId, start: u64, each: &mut EachElement<'_>) {
        self.inner.elements(heap, object, start, &mut |index, value| each(index, redacted(value)));
    }
}

/// Only references stay.
fn redacted(value: FieldValue<'_>) -> FieldValue<'_> {
    match value {
        FieldValue::Null | FieldValue::Object(_) | FieldValue::Address(_) => value,
        _ => FieldValue::Omitted,
    }
}
