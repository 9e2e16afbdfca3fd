//! Objects of the JDK's value classes as readable text: `RED`, `2024-02-29`, `thread-7`.
//!
//! `forms` is a table of classes with the text of each; no code here depends on a particular class.

mod forms;
mod numbers;

use crate::analysis::collections::get;
use crate::model::heap::{FieldValue, Heap, ObjectId, Value};
use forms::FORMS;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::{LazyLock, OnceLock};

/// The way in which the objects of a class are written.
#[derive(Clone, Copy)]
enum Form {
    /// Text with fields in braces. `{a.b}` is a field of a field, `{a|b}` whichever exists, and
    /// `{a:02}` has leading zeros. A part in angle brackets is left out if one of its fields is
    /// missing, null or empty; without such a field elsewhere there is no text at all.
    Fields(&'static str),
    /// The field `value`, unless `isPresent` says that there is none.
    Optional,
    /// Computed.
    Made(fn(&Heap<'_>, ObjectId) -> Option<String>),
}

/// The maximum depth of nested objects that are written.
const DEPTH: u8 = 3;
/// The maximum number of fields of a record that are written.
const PARTS: usize = 16;
/// The maximum number of characters of a text inside another one.
const MOST: usize = 1000;

/// Returns the text that stands for an object. `None` if the class is not known, and for strings
/// and numbers, whose value is in [`Heap::value`].
pub fn text(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    text_within(heap, object, DEPTH)
}

fn text_within(heap: &Heap<'_>, object: ObjectId, depth: u8) -> Option<String> {
    match form(heap, object) {
        Some(Form::Fields(template)) => fill(heap, object, template, depth),
        Some(Form::Optional) => optional(heap, object, depth),
        Some(Form::Made(made)) => made(heap, object),
        None => record(heap, object, depth),
    }
}

/// The value of an optional, or text for an empty one: `OptionalInt.empty`.
fn optional(heap: &Heap<'_>, object: ObjectId, depth: u8) -> Option<String> {
    let value = heap.field(object, "value")?;
    let is_absent = heap.field(object, "isPresent") == Some(FieldValue::Boolean(false));
    if !is_absent && value != FieldValue::Null {
        return value_text(heap, value, depth);
    }
    let name = heap.type_name(object).rsplit('.').next().unwrap_or_default();
    Some(format!("{name}.empty"))
}

/// A record in the form of its `toString`: `Point[x=1, y=2]`.
fn record(heap: &Heap<'_>, object: ObjectId, depth: u8) -> Option<String> {
    if !is_record(heap, object) {
        return None;
    }
    let mut parts = Vec::new();
    heap.each_field(object, |field| {
        let text = value_text(heap, field.value, depth).unwrap_or_else(|| "null".to_owned());
        parts.push(format!("{}={text}", field.name));
        if parts.len() < PARTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let name = heap.type_name(object).rsplit(['.', '$']).next().unwrap_or_default();
    Some(format!("{name}[{}]", parts.join(", ")))
}

fn is_record(heap: &Heap<'_>, object: ObjectId) -> bool {
    let Some(class) = heap.class_of(object) else { return false };
    let mut references = heap.references_of(class);
    references
        .find(|reference| reference.label.text(&heap.names) == "<super>")
        .is_some_and(|parent| heap.shown_name(parent.target) == "class java.lang.Record")
}

/// Whether the objects of each type of a heap have such texts, determined once per type.
pub struct ReadableTypes(Vec<OnceLock<bool>>);

impl ReadableTypes {
    /// Creates the table, with nothing determined yet.
    pub fn of(heap: &Heap<'_>) -> Self {
        Self(vec![OnceLock::new(); heap.types.len()])
    }

    /// Like [`text`], but skips objects of types that have no text.
    pub fn text(&self, heap: &Heap<'_>, object: ObjectId) -> Option<String> {
        let is_readable = || form(heap, object).is_some() || is_record(heap, object);
        let known = self.0.get(heap.type_id(object).0 as usize)?;
        known.get_or_init(is_readable).then(|| text(heap, object))?
    }
}

/// The form of a class, or of the class that declares fields of the object.
fn form(heap: &Heap<'_>, object: ObjectId) -> Option<Form> {
    static BY_CLASS: LazyLock<FxHashMap<&str, Form>> =
        LazyLock::new(|| FORMS.iter().copied().collect());
    let form_of = |class: &str| BY_CLASS.get(class).copied();
    if let Some(form) = form_of(heap.type_name(object)) {
        return Some(form);
    }
    let mut found = None;
    heap.each_field(object, |field| {
        found = form_of(field.class);
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

fn fill(heap: &Heap<'_>, object: ObjectId, template: &str, depth: u8) -> Option<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '<']) {
        text.push_str(&rest[..at]);
        let (end, inside) = (if rest[at..].starts_with('{') { '}' } else { '>' }, &rest[at + 1..]);
        let (part, after) = inside.split_once(end)?;
        match end {
            '>' => text.push_str(&fill(heap, object, part, depth).unwrap_or_default()),
            _ => text.push_str(&placed(heap, object, part, depth)?),
        }
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

/// The text of a field, which `path` names, optionally with a width.
fn placed(heap: &Heap<'_>, object: ObjectId, path: &str, depth: u8) -> Option<String> {
    let (path, width) = path.split_once(':').unwrap_or((path, ""));
    let text = value_text(heap, get(heap, object, path)?, depth)?;
    let width: usize = width.parse().unwrap_or(0);
    (!text.is_empty()).then(|| format!("{text:0>width$}"))
}

fn value_text(heap: &Heap<'_>, value: FieldValue<'_>, depth: u8) -> Option<String> {
    Some(match value {
        FieldValue::Null | FieldValue::Omitted | FieldValue::Address(_) => return None,
        FieldValue::Object(object) => return object_text(heap, object, depth),
        FieldValue::Boolean(value) => value.to_string(),
        FieldValue::Integer(value) => value.to_string(),
        FieldValue::Unsigned(value) => value.to_string(),
        FieldValue::Float(value) => value.to_string(),
        FieldValue::Character(unit) => char::from_u32(unit.into())?.to_string(),
        FieldValue::Text(text) => text.to_owned(),
    })
}

/// The text of an object within that of another: its type if there is no better one.
fn object_text(heap: &Heap<'_>, object: ObjectId, depth: u8) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    if let Some(text) = text_within(heap, object, depth) {
        return Some(text);
    }
    let text: Cow<'_, str> = match heap.value(object) {
        Value::Text { text, .. } | Value::Name(text) => text,
        Value::Boolean(value) => value.to_string().into(),
        Value::Integer(value) => value.to_string().into(),
        Value::Float(value) => value.to_string().into(),
        Value::Bytes(bytes) => String::from_utf8(bytes.into_owned()).ok()?.into(),
        Value::None | Value::Length(_) => heap.type_name(object).into(),
    };
    Some(text.chars().take(MOST).collect())
}
