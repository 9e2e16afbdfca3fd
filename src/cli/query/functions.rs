//! The functions of SQL that ask about an object: `path`, `value` and `field`.

use super::files::{FileTables, NEW, OLD};
use crate::cli::heap::HeldHeap;
use crate::cli::heap::path::with_ids;
use crate::cli::heap::value::whole_text;
use crate::model::heap::{FieldValue, Heap, ObjectId, Value};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Error, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Maximum number of bytes that a value contains, as in the JSON of `show`.
const MOST_BYTES: usize = 4096;

type Heaps = Arc<[Option<Arc<HeldHeap>>]>;

/// Adds the functions to a connection. With two files, an optional last argument selects the file:
/// `'old'` or `'new'` (the default).
pub(super) fn add(connection: &Connection, files: &[FileTables]) -> Result<()> {
    let heaps: Heaps = files.iter().map(|file| file.heap.clone()).collect();
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, arguments) in [(c"path", 1), (c"value", 1), (c"field", 2)] {
        for schema in 0..=1 {
            let heaps = Arc::clone(&heaps);
            let answer = move |context: &Context<'_>| -> Result<Sql> {
                let held = heap(&heaps, context, (schema == 1).then_some(arguments))?;
                let Some(id) = text(context, 0)? else { return Ok(Sql::Null) };
                let Some(object) = held.get().heap.find(&id) else { return Ok(Sql::Null) };
                match name.to_bytes() {
                    b"path" => Ok(path(held, object)),
                    b"value" => Ok(value(&held.get().heap, object)),
                    _ => Ok(text(context, 1)?
                        .map_or(Sql::Null, |name| field(&held.get().heap, object, &name))),
                }
            };
            let count = i32::try_from(arguments + schema).unwrap_or(-1);
            connection.create_scalar_function(name, count, flags, answer)?;
        }
    }
    Ok(())
}

fn heap<'h>(
    heaps: &'h [Option<Arc<HeldHeap>>],
    context: &Context<'_>,
    schema: Option<usize>,
) -> Result<&'h Arc<HeldHeap>> {
    let wanted = schema.map(|place| text(context, place)).transpose()?.flatten();
    let place = match (wanted.as_deref(), heaps.len()) {
        (None | Some(NEW), 2) | (None, 1) => heaps.len() - 1,
        (Some(OLD), 2) => 0,
        (_, 2) => return Err(failed("the file must be 'old' or 'new'")),
        _ => return Err(failed("'old' and 'new' need two files")),
    };
    heaps
        .get(place)
        .and_then(Option::as_ref)
        .ok_or_else(|| failed("path, value and field need a heap dump"))
}

fn failed(message: &str) -> Error {
    Error::UserFunctionError(message.into())
}

/// An argument as text. A number is an id as well: `path(12)`.
fn text(context: &Context<'_>, place: usize) -> Result<Option<String>> {
    Ok(match context.get::<Sql>(place)? {
        Sql::Text(text) => Some(text),
        Sql::Integer(number) => Some(number.to_string()),
        Sql::Null | Sql::Real(_) | Sql::Blob(_) => None,
    })
}

/// The shortest path from a root on one line; null for what no root reaches.
fn path(held: &HeldHeap, object: ObjectId) -> Sql {
    let loaded = held.get();
    let path = loaded.shortest().path(object);
    path.map_or(Sql::Null, |path| Sql::Text(with_ids(&loaded.heap, &path)))
}

/// The text, number or truth value of an object, or the beginning of its bytes; null if the file
/// has none.
fn value(heap: &Heap<'_>, object: ObjectId) -> Sql {
    match heap.value(object) {
        Value::None => Sql::Null,
        Value::Boolean(value) => Sql::Integer(value.into()),
        Value::Integer(value) => Sql::Integer(value),
        Value::Float(value) => Sql::Real(value),
        Value::Text { text, .. } => Sql::Text(text.into_owned()),
        Value::Name(name) => Sql::Text(name.into_owned()),
        Value::Length(length) => integer(length),
        Value::Bytes(bytes) => match whole_text(heap, object) {
            Some(text) => Sql::Text(text),
            None => Sql::Blob(bytes[..bytes.len().min(MOST_BYTES)].to_vec()),
        },
    }
}

/// The value of the first field with a name: a number, a text, or the id of an object; null if the
/// object has no such field.
fn field(heap: &Heap<'_>, object: ObjectId, name: &str) -> Sql {
    let mut found = Sql::Null;
    heap.each_field(object, |field| {
        if field.name != name {
            return ControlFlow::Continue(());
        }
        found = match field.value {
            FieldValue::Object(object) => Sql::Text(heap.id(object)),
            FieldValue::Address(address) => Sql::Text(format!("{address:#x}")),
            FieldValue::Boolean(value) => Sql::Integer(value.into()),
            FieldValue::Integer(value) => Sql::Integer(value),
            FieldValue::Unsigned(value) => integer(value),
            FieldValue::Float(value) => Sql::Real(value),
            FieldValue::Character(unit) => Sql::Text(String::from_utf16_lossy(&[unit])),
            FieldValue::Text(text) => Sql::Text(text.to_owned()),
            FieldValue::Null | FieldValue::Omitted => Sql::Null,
        };
        ControlFlow::Break(())
    });
    found
}

fn integer(number: u64) -> Sql {
    Sql::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}
