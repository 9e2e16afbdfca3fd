//! The stacks of a profile as rows: one for each thread and stack, or for each sample, as CSV or
//! JSON lines.
//!
//! In CSV a stack is one text: `outer (file:line);inner (file:line)`; in JSON it is an array of
//! frames.

use super::written::{Written, line_label};
use super::{Syntax, csv_error, json};
use crate::model::profile::{FrameId, Unit, ValueType};
use crate::model::stacks::{Entry, WeightedStacks};
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes all values. Fails when the output cannot be written.
pub fn write(stacks: &WeightedStacks, syntax: Syntax, out: &mut impl Write) -> io::Result<Written> {
    let mut written = Written::new(stacks);
    let frames: Vec<String> =
        (0..stacks.frames.len() as u32).map(|id| frame(stacks, FrameId(id), syntax)).collect();
    let mut stack = Vec::new();
    let mut count = |entry: &Entry<'_>, stack: &mut Vec<FrameId>| {
        stacks.stacks.outermost_first(entry.stack, stack);
        written.stacks += 1;
        written.add(entry.values);
    };
    match syntax {
        Syntax::Csv => {
            let mut csv = csv::Writer::from_writer(out);
            let times: &[_] = if stacks.in_order { &["start_us", "is_idle", "is_gc"] } else { &[] };
            let names: Vec<_> = stacks.values.iter().map(column).collect();
            let values = names.iter().map(|name| &**name);
            let columns = ["pid", "interpreter", "thread"]
                .iter()
                .chain(times)
                .copied()
                .chain(["stack"])
                .chain(values);
            csv.write_record(columns).map_err(csv_error)?;
            let mut field = String::new();
            for entry in stacks.iter() {
                count(&entry, &mut stack);
                csv_row(stacks, &entry, &stack, &frames, &mut field, &mut csv)
                    .map_err(csv_error)?;
            }
            csv.flush()?;
        }
        Syntax::Jsonl => {
            for entry in stacks.iter() {
                count(&entry, &mut stack);
                json_row(stacks, &entry, &stack, &frames, out)?;
            }
        }
    }
    Ok(written)
}

fn frame(stacks: &WeightedStacks, id: FrameId, syntax: Syntax) -> String {
    let frame = stacks.frame(id);
    match syntax {
        Syntax::Csv => line_label(stacks, frame, frame.line),
        Syntax::Jsonl => {
            let (function, file) = (stacks.function_name(id), stacks.text(frame.file));
            json::text(
                &serde_json::json!({ "function": function, "file": file, "line": frame.line, "kind": frame.kind.name() }),
            )
        }
    }
}

/// The name of a value. `time` alone is in microseconds, and other numbers are whole.
fn column(value: &ValueType) -> Cow<'_, str> {
    let is_time = &*value.name == "time" && value.unit != Unit::Microseconds;
    if is_time || value.unit.is_millionths() {
        return format!("{}_{}", value.name, value.unit.name()).into();
    }
    Cow::Borrowed(&value.name)
}

fn csv_row(
    stacks: &WeightedStacks,
    entry: &Entry<'_>,
    stack: &[FrameId],
    frames: &[String],
    field: &mut String,
    csv: &mut csv::Writer<impl Write>,
) -> csv::Result<()> {
    let track = &stacks.tracks[entry.track];
    for number in [track.pid, track.interpreter] {
        csv.write_field(number.map(|number| number.to_string()).unwrap_or_default())?;
    }
    csv.write_field(track.thread.as_deref().unwrap_or(&track.name))?;
    let mut integer = itoa::Buffer::new();
    if let Some(moment) = entry.moment {
        csv.write_field(integer.format(moment.start))?;
        csv.write_field(if moment.idle { "true" } else { "false" })?;
        csv.write_field(if moment.gc { "true" } else { "false" })?;
    }
    field.clear();
    for (i, frame) in stack.iter().enumerate() {
        field.push_str(if i > 0 { ";" } else { "" });
        field.push_str(&frames[frame.index()]);
    }
    csv.write_field(&*field)?;
    for value in entry.values {
        csv.write_field(integer.format(*value))?;
    }
    csv.write_record(None::<&[u8]>)
}

fn json_row(
    stacks: &WeightedStacks,
    entry: &Entry<'_>,
    stack: &[FrameId],
    frames: &[String],
    out: &mut impl Write,
) -> io::Result<()> {
    let track = &stacks.tracks[entry.track];
    // Ids of more than 64 bits are texts, because JSON numbers are too small for them.
    let number = |number: Option<i128>| match number.map(i64::try_from) {
        None => serde_json::Value::Null,
        Some(Ok(small)) => small.into(),
        Some(Err(_)) => number.map(|number| number.to_string()).into(),
    };
    json::value(out, "{\"pid\":", &number(track.pid))?;
    json::value(out, ",\"interpreter\":", &number(track.interpreter))?;
    json::value(out, ",\"thread\":", &track.thread.as_deref().unwrap_or(&track.name))?;
    if let Some(moment) = entry.moment {
        write!(
            out,
            ",\"start_us\":{},\"is_idle\":{},\"is_gc\":{}",
            moment.start, moment.idle, moment.gc
        )?;
    }
    for (value, number) in stacks.values.iter().zip(entry.values) {
        json::value(out, ",", &column(value))?;
        write!(out, ":{number}")?;
    }
    json::array(out, ",\"stack\":", stack, |out, frame| {
        out.write_all(frames[frame.index()].as_bytes())
    })?;
    out.write_all(b"}\n")
}
