//! Redacted contents of objects.

use super::numbers::{ContentNumbers, is_block};
use super::shape::Shape;
use crate::model::heap::{
    Array, EachElement, EachField, EachLabel, Field, FieldValue, Heap, Known, ObjectId,
    ObjectValues, Room, SourceLocation, Value,
};
use crate::model::values::hash;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// Passes on only the kinds and lengths that a reader decodes.
pub(super) struct RedactedValues<'a> {
    inner: Box<dyn ObjectValues + 'a>,
    /// The numbers of contents, for [`Redaction::Hash`](super::Redaction::Hash).
    numbers: Option<ContentNumbers>,
    /// The replacements for long texts. Many objects may share one.
    long: Vec<OnceLock<String>>,
}

/// The zeros of blocks that are short enough not to be allocated.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

impl<'a> RedactedValues<'a> {
    pub(super) fn new(inner: Box<dyn ObjectValues + 'a>, numbers: Option<ContentNumbers>) -> Self {
        let long = vec![OnceLock::new(); inner.long_texts()];
        Self { inner, numbers, long }
    }

    fn text_of(&self, heap: &Heap<'_>, object: ObjectId, text: &str) -> Cow<'_, str> {
        let long = self.inner.long_text(heap, object).and_then(|long| self.long.get(long));
        match long {
            Some(known) => known.get_or_init(|| self.text(text)).as_str().into(),
            None => self.text(text).into(),
        }
    }

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
            Value::Text { text, length } => {
                Value::Text { text: self.text_of(heap, object, &text), length }
            }
            Value::Length(length) => Value::Length(length),
            // Names of nodes hold source texts of patterns and attributes of elements (V8).
            Value::Name(_) => Value::Name(Cow::Borrowed("")),
            Value::Bytes(bytes) => Value::Bytes(self.bytes(heap, object, &bytes)),
        }
    }

    fn labels(
        &self,
        heap: &Heap<'_>,
        object: ObjectId,
        places: Range<usize>,
        each: &mut EachLabel<'_>,
    ) {
        self.inner.labels(heap, object, places, each);
    }

    fn text_identity(&self, heap: &Heap<'_>, object: ObjectId, text: &str) -> u64 {
        match self.inner.value(heap, object) {
            Value::Text { text, .. } => self.inner.text_identity(heap, object, &text),
            _ => hash(text.as_bytes()),
        }
    }

    fn long_text(&self, heap: &Heap<'_>, object: ObjectId) -> Option<usize> {
        self.inner.long_text(heap, object)
    }

    fn long_texts(&self) -> usize {
        self.inner.long_texts()
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

    fn slots_save(&self, heap: &Heap<'_>, object: ObjectId) -> Option<u64> {
        self.inner.slots_save(heap, object)
    }

    fn location(&self, heap: &Heap<'_>, object: ObjectId) -> Option<SourceLocation> {
        self.inner.location(heap, object)
    }

    fn elements(&self, heap: &Heap<'_>, object: ObjectId, start: u64, each: &mut EachElement<'_>) {
        self.inner.elements(heap, object, start, &mut |index, value| each(index, redacted(value)));
    }
}

/// Keeps only references.
fn redacted(value: FieldValue<'_>) -> FieldValue<'_> {
    match value {
        FieldValue::Null | FieldValue::Object(_) | FieldValue::Address(_) => value,
        _ => FieldValue::Omitted,
    }
}
