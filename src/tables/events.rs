//! The table `events`.

use super::Table;
use super::column::{Column, ColumnOf};
use super::relation::{Relation, Rows, relation};
use crate::model::fields::Record;
use crate::output::records::RecordFormat;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::ops::Range;
use std::sync::Arc;

/// The types of events whose fields may contain secrets, such as command lines and passwords in the
/// environment.
const SECRET: [&str; 4] = [
    "jdk.InitialEnvironmentVariable",
    "jdk.InitialSystemProperty",
    "jdk.SystemProcess",
    "jdk.JVMInformation",
];

/// The events of a recording: their types, times, durations, threads and stacks, and all other
/// fields as JSON.
#[derive(Debug, Default)]
pub struct EventRows {
    rows: Vec<EventRow>,
    counted: usize,
    texts: Vec<Arc<str>>,
    codes: FxHashMap<Arc<str>, u32>,
    /// The time and the fields of each event, one after the other.
    own: String,
    /// The number of bytes of [`EventRows::texts`].
    bytes: u64,
    line: Vec<u8>,
}

#[derive(Debug)]
struct EventRow {
    kind: u32,
    duration: Option<i64>,
    thread: Option<u32>,
    method: Option<u32>,
    stack: Option<u32>,
    /// Offsets in [`EventRows::own`]: begin and end of the time, and end of the fields.
    own: [usize; 3],
}

impl EventRows {
    /// Adds a record, if it is an event.
    pub fn add(&mut self, record: &impl Record) {
        let Some(kind) = record.type_name() else { return };
        let format = RecordFormat { json: true, contents: true, ..RecordFormat::default() };
        self.line.clear();
        format.append(0, record, &mut self.line);
        // The line is a JSON object.
        let mut fields: Map<String, Value> = serde_json::from_slice(&self.line).unwrap_or_default();
        for key in ["offset", "record", "type"] {
            fields.remove(key);
        }
        let [time, sampled, thread] =
            ["startTime", "sampledThread", "eventThread"].map(|key| text(fields.remove(key)));
        let duration = fields.remove("duration_ns").and_then(|duration| duration.as_i64());
        let frames = fields.remove("stackTrace");
        let frames = frames.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut methods: Vec<&str> =
            frames.iter().filter_map(|frame| frame.get("method")?.as_str()).collect();
        let method = methods.first().map(|method| self.code(method));
        methods.reverse();
        let stack = (!methods.is_empty()).then(|| self.code(&methods.join(";")));
        let start = self.own.len();
        self.own.push_str(&time.unwrap_or_default());
        let middle = self.own.len();
        if !SECRET.contains(&kind) {
            self.own.push_str(&Value::Object(fields).to_string());
        }
        let kind = self.code(kind);
        let thread = sampled.or(thread).map(|name| self.code(&name));
        let own = [start, middle, self.own.len()];
        self.rows.push(EventRow { kind, duration, thread, method, stack, own });
    }

    /// Counts a record, if it is an event, without keeping it.
    pub fn count(&mut self, record: &impl Record) {
        self.counted += usize::from(record.type_name().is_some());
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> u64 {
        let rows = self.rows.len() as u64 * 3 / 2 * size_of::<EventRow>() as u64;
        rows + self.own.len() as u64 * 3 / 2 + self.bytes
    }

    fn code(&mut self, text: &str) -> u32 {
        if let Some(code) = self.codes.get(text) {
            return *code;
        }
        let (code, text) = (self.texts.len() as u32, Arc::<str>::from(text));
        self.bytes += text.len() as u64 + 100;
        self.texts.push(Arc::clone(&text));
        self.codes.insert(text, code);
        code
    }
}

fn text(value: Option<Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the table `events`.
pub fn of_events(rows: &EventRows) -> Box<dyn Relation + '_> {
    relation(Table::Events.name(), Events(rows))
}

/// The table `events`.
pub(super) struct Events<'r>(&'r EventRows);

fn coded<'r>(column: Column, code: fn(&EventRow) -> Option<u32>) -> ColumnOf<Events<'r>> {
    column
        .optional_codes(move |this: &Events<'_>, row| code(&this.0.rows[row]))
        .text(|this, code, _| &this.0.texts[code as usize])
}

/// A column of texts of single events. An empty text is null.
fn own<'r>(column: Column, range: fn([usize; 3]) -> Range<usize>) -> ColumnOf<Events<'r>> {
    column.or_null().of(move |this: &Events<'_>, rows, cells| {
        for row in &this.0.rows[rows] {
            let text = &this.0.own[range(row.own)];
            cells.optional_text(Some(text).filter(|text| !text.is_empty()));
        }
    })
}

impl Rows for Events<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::number("event", "The number of the event, in the order of the file")
                .numbers(|_: &Self, row| row as u64),
            coded(Column::name("type", "The type of the event"), |row| Some(row.kind)),
            own(Column::text("time", "When the event began, in UTC"), |[start, middle, _]| {
                start..middle
            }),
            Column::number("duration_ns", "How long the event took")
                .optional_numbers(|this: &Self, row| this.0.rows[row].duration),
            coded(Column::name("thread", "The thread of the event"), |row| row.thread),
            coded(Column::name("method", "The innermost method of the stack"), |row| row.method),
            coded(
                Column::name("stack", "The methods from the outermost one, joined by `;`"),
                |row| row.stack,
            ),
            own(Column::text("fields", "All other fields as a JSON object"), |[_, middle, end]| {
                middle..end
            }),
        ]
    }

    fn len(&self) -> usize {
        self.0.rows.len() + self.0.counted
    }
}
