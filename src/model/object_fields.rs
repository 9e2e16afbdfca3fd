//! The fields of an object as owned values, which display as text.

use super::heap::{FieldValue, Heap, ObjectId, Value};
use std::fmt;
use std::ops::ControlFlow;

/// A field of an object. Displays as `next = main.Node 0xc000012345`, `size = 3`, `name = "key"`.
pub struct ObjectField<'h> {
    heap: &'h Heap<'h>,
    class: String,
    name: String,
    type_name: String,
    value: StoredValue,
}

impl ObjectField<'_> {
    /// The class that declares the field. Empty if the file does not state it.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// The field's name. Empty if the file has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The declared type: `int`, or `object` for any reference of Java. Empty if the file does not
    /// state it.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The value.
    pub fn value(&self) -> FieldValue<'_> {
        self.value.get()
    }

    /// The object that the field refers to.
    pub fn object(&self) -> Option<ObjectId> {
        self.value.get().object()
    }

    #[cfg(feature = "cli")]
    pub(crate) fn stored(&self) -> &StoredValue {
        &self.value
    }
}

impl fmt::Display for ObjectField<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { heap, name, value, .. } = self;
        write!(out, "{name} = ")?;
        let Some(object) = self.object() else { return out.write_str(&value.text(heap)) };
        write!(out, "{} {}", heap.type_name(object), heap.id(object))?;
        match heap.value(object) {
            Value::Text { text, .. } => write!(out, " {text:?}"),
            _ => Ok(()),
        }
    }
}

/// The value of a field or element, independent of the lifetime of its source.
#[derive(Clone, Debug)]
pub(crate) enum StoredValue {
    Text(String),
    Other(FieldValue<'static>),
}

impl StoredValue {
    pub(crate) fn of(value: FieldValue<'_>) -> Self {
        match (value, value.owned()) {
            (FieldValue::Text(text), _) => Self::Text(text.to_owned()),
            (_, value) => Self::Other(value.unwrap_or(FieldValue::Omitted)),
        }
    }

    pub(crate) fn get(&self) -> FieldValue<'_> {
        match self {
            Self::Text(text) => FieldValue::Text(text),
            Self::Other(value) => *value,
        }
    }

    /// The value without the type of an object: `20000`, `'x'`, `0xfd5e2430`, `null`.
    pub(crate) fn text(&self, heap: &Heap<'_>) -> String {
        match self.get() {
            FieldValue::Text(text) => format!("{text:?}"),
            FieldValue::Null => "null".to_owned(),
            FieldValue::Object(object) => heap.id(object),
            FieldValue::Address(address) => format!("{address:#x}"),
            FieldValue::Boolean(value) => value.to_string(),
            FieldValue::Integer(value) => value.to_string(),
            FieldValue::Unsigned(value) => value.to_string(),
            FieldValue::Float(value) => format!("{value:?}"),
            FieldValue::Character(unit) => match char::from_u32(unit.into()) {
                Some(character) => format!("{character:?}"),
                None => format!("'\\u{unit:04x}'"),
            },
            FieldValue::Omitted => "(not in the dump)".to_owned(),
        }
    }
}

impl Heap<'_> {
    /// The fields of an object in the order of their declaration, those of its own class first. For
    /// a class object, its static fields.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/hprof/small_java17.hprof.zst");
    /// let dump = dumptool::open(path)?;
    /// let heap = dump.heap()?;
    /// let object = heap.find("0xfd5de2e0").expect("the heap has this object");
    /// for field in heap.fields(object) {
    ///     println!("{field}");
    /// }
    /// # Ok::<(), dumptool::Error>(())
    /// ```
    pub fn fields(&self, object: ObjectId) -> impl Iterator<Item = ObjectField<'_>> {
        let mut fields = Vec::new();
        self.each_field(object, |field| {
            let [class, name, type_name] =
                [field.class, field.name, field.type_name].map(str::to_owned);
            let value = StoredValue::of(field.value);
            fields.push(ObjectField { heap: self, class, name, type_name, value });
            ControlFlow::Continue(())
        });
        fields.into_iter()
    }
}
