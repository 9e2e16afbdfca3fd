//! The records for `cat`: chunks, and events with their fields by name.

use super::chunk::{CHECKPOINT, Event, Header, METADATA, chunks};
use super::metadata::{Field, FieldUnit, Kind};
use super::values::{KnownTypes, Tables, Value};
use crate::error::Result;
use crate::input::read::{ReadOptions, Visitor};
use crate::model::calendar::rfc3339_of_nanoseconds as time;
use crate::model::fields::{FieldSink, Record};
use std::ops::ControlFlow;

pub(super) const RECORD_NAMES: &[&str] = &["chunk", "metadata", "checkpoint", "event"];

/// Elements of an array that are shown without `--contents`.
const SHOWN: u64 = 16;

enum JfrRecord<'t, 'a> {
    Chunk(&'t Header),
    Metadata(&'t Tables<'a>),
    Checkpoint,
    Event(&'t Tables<'a>, Event<'a>),
}

impl Record for JfrRecord<'_, '_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Chunk(_) => "chunk",
            Self::Metadata(_) => "metadata",
            Self::Checkpoint => "checkpoint",
            Self::Event(..) => "event",
        }
    }

    fn type_name(&self) -> Option<&str> {
        match self {
            Self::Event(tables, event) => tables.types.name(event.type_id),
            _ => None,
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match self {
            Self::Chunk(header) => {
                let version = format!("{}.{}", header.major, header.minor);
                sink.text("version", version.as_bytes());
                sink.unsigned("size", header.size);
                sink.text("start", time(header.start.into()).as_bytes());
                sink.unsigned("duration_ns", header.duration);
                sink.unsigned("ticks_per_second", header.ticks_per_second);
            }
            Self::Metadata(tables) => sink.unsigned("classes", tables.types.classes.len() as u64),
            Self::Checkpoint => {}
            Self::Event(tables, event) => show_event(tables, event, sink),
        }
    }
}

/// Gives every chunk and every event to the visitor. Fails with the first damage.
pub(in crate::input) fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let mut known = KnownTypes::new(options.mapping);
    for chunk in chunks(bytes) {
        let chunk = chunk?;
        if visitor.record(chunk.offset, &JfrRecord::Chunk(&chunk.header)).is_break() {
            return Ok(());
        }
        let (tables, damage) = Tables::read(chunk, &mut known)?;
        options.memory.check_bytes(chunk.offset, tables.bytes())?;
        let mut events = chunk.events();
        for (number, event) in events.by_ref().enumerate() {
            if number % 65536 == 0 {
                (options.progress)(event.offset);
            }
            let record = match event.type_id {
                METADATA => JfrRecord::Metadata(&tables),
                CHECKPOINT => JfrRecord::Checkpoint,
                _ => JfrRecord::Event(&tables, event),
            };
            if visitor.record(event.offset, &record) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
        if let Some(error) = damage.or(events.damage()).or(chunk.damage()) {
            return Err(error);
        }
    }
    Ok(())
}

fn show_event<S: FieldSink>(tables: &Tables<'_>, event: &Event<'_>, sink: &mut S) {
    let class = tables.types.find(event.type_id).and_then(|class| tables.types.class(class));
    let Some(class) = class else {
        sink.unsigned("type", event.type_id);
        return;
    };
    sink.text("type", class.name.as_bytes());
    let mut cursor = event.fields;
    for field in &class.fields {
        let Ok(value) = tables.value(field, &mut cursor) else { break };
        show(tables, field, value, sink, 0);
    }
}

/// Levels of values inside values that are shown.
const DEEPEST: u32 = 3;

fn show<'a, S: FieldSink>(
    tables: &Tables<'a>,
    field: &Field,
    value: Value<'a>,
    sink: &mut S,
    depth: u32,
) {
    let name = field.name.as_str();
    match value {
        Value::Number(number) => show_number(tables, field, number, sink),
        Value::Float(number) => sink.float(name, number),
        Value::Text(_) => {
            if let Some(text) = tables.text(value) {
                sink.text(name, text.as_bytes());
            }
        }
        Value::Pooled(_, id) => match named(tables, value) {
            Some(text) => sink.text(name, text.as_bytes()),
            None => match tables.field(value, "frames") {
                Some(frames) => show_frames(tables, name, frames, sink),
                None if id == 0 => {}
                None => sink.unsigned(name, id),
            },
        },
        Value::Fields(class, mut cursor) if depth < DEEPEST => {
            let fields = tables.types.class(class).map_or(&[][..], |class| &class.fields);
            let values: Vec<_> = fields
                .iter()
                .map_while(|field| Some((field, tables.value(field, &mut cursor).ok()?)))
                .collect();
            sink.list(name, std::iter::once(values), |values, sink| {
                for (field, value) in values {
                    show(tables, field, value, sink, depth.saturating_add(1));
                }
            });
        }
        Value::Array(count, mut cursor) if depth < DEEPEST => {
            let most = if sink.wants_contents() { count } else { count.min(SHOWN) };
            let elements = (0..most).map_while(|_| tables.element(field, &mut cursor).ok());
            let elements: Vec<_> = elements.collect();
            sink.list(name, elements.into_iter(), |value, sink| {
                show(tables, field, value, sink, depth.saturating_add(1));
            });
        }
        Value::Fields(..) | Value::Array(..) => {}
    }
}

/// Shows a number in the form of its class and its unit.
fn show_number<S: FieldSink>(tables: &Tables<'_>, field: &Field, number: u64, sink: &mut S) {
    let name = field.name.as_str();
    let header = &tables.chunk.header;
    // The JVM's marker for a missing time.
    if field.unit != FieldUnit::None && number as i64 == i64::MIN {
        return;
    }
    match field.unit {
        FieldUnit::TimestampTicks => sink.text(name, time(header.time(number)).as_bytes()),
        FieldUnit::TimestampMillis => {
            let nanoseconds = i128::from(number as i64).saturating_mul(1_000_000);
            sink.text(name, time(nanoseconds).as_bytes());
        }
        FieldUnit::Ticks => sink.signed(&format!("{name}_ns"), header.nanoseconds(number).into()),
        FieldUnit::Nanoseconds(each) => {
            let all = i128::from(number as i64).saturating_mul(each.into());
            sink.signed(&format!("{name}_ns"), all);
        }
        FieldUnit::None => {
            let class = tables.types.class(field.class).map_or("", |class| &class.name);
            match class {
                "boolean" => sink.boolean(name, number != 0),
                "byte" => sink.signed(name, (number as i8).into()),
                "short" => sink.signed(name, (number as i16).into()),
                "int" => sink.signed(name, (number as i32).into()),
                _ => sink.signed(name, (number as i64).into()),
            }
        }
    }
}

/// The name of a pooled value that has one.
fn named<'a>(tables: &Tables<'a>, value: Value<'a>) -> Option<String> {
    let Value::Pooled(class, _) = value else { return None };
    let class = tables.types.class(class)?;
    if class.kind == Kind::Text {
        return tables.text(value).map(std::borrow::Cow::into_owned);
    }
    match class.name.as_str() {
        "java.lang.Thread" => tables.thread_name(value),
        "java.lang.Class" => tables.class_name(value),
        "jdk.types.Method" => tables.method_name(value),
        _ => tables.word(value),
    }
}

fn show_frames<'a, S: FieldSink>(tables: &Tables<'a>, name: &str, frames: Value<'a>, sink: &mut S) {
    let Value::Array(count, mut cursor) = frames else { return };
    let class = tables.types.named("jdk.types.StackFrame");
    let Some(class) = class else { return };
    let most = if sink.wants_contents() { count } else { count.min(SHOWN) };
    let mut values = Vec::new();
    let read = (0..most).map_while(|_| {
        let start = cursor;
        tables.values(class, &mut cursor, &mut values).ok()?;
        Some(Value::Fields(class, start))
    });
    let frames: Vec<_> = read.collect();
    sink.list(name, frames.into_iter(), |frame, sink| {
        let method = tables.field(frame, "method").and_then(|method| tables.method_name(method));
        sink.text("method", method.unwrap_or_default().as_bytes());
        if let Some(line) =
            tables.field(frame, "lineNumber").filter(|line| line.number() as i32 > 0)
        {
            sink.signed("line", (line.number() as i32).into());
        }
    });
}
