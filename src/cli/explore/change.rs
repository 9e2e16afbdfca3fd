//! The views of changes: between snapshots, and between two files.

use super::calls::amount;
use super::doc::Doc;
use super::heap::{described, type_glob};
use super::place::{Place, View};
use super::sheet::{
    Align::{Bar, Left, Right},
    Cell, Row, Sheet, Tone, bar, bytes, column, name, number, part, toned,
};
use crate::cli::print::spark;
use crate::cli::size::{count, duration, signed_size};
use crate::cli::terminal::escaped;
use serde_json::Value;

/// `top --snapshot all`: what grew from snapshot to snapshot.
pub(super) fn growth(doc: &Value, place: &Place) -> Sheet {
    let row = |row: &Value| {
        let values: Vec<u64> = row.rows("bytes").iter().filter_map(Value::as_u64).collect();
        let grown = row.signed("growth_bytes");
        Row {
            cells: vec![
                changed(grown, signed_size(grown, false)),
                bytes(values.last().copied()),
                toned(Tone::Link, spark(&values)),
                name(row.text("name")),
            ],
            enter: Some(Place::objects_of(&type_glob(row))),
            detail: described(row),
            ..Row::default()
        }
    };
    let rows = Row::of_document(doc, place, row);
    Sheet {
        columns: vec![
            column("GROWTH", Right, 0),
            column("LAST", Right, 0),
            column("OVER TIME", Left, 0),
            column("TYPE", Left, 0),
        ],
        rows,
        foot: format!("{} snapshots", doc.rows("snapshots").len()),
        ..Sheet::default()
    }
}

/// A change with its sign and color.
fn changed(change: i64, text: String) -> Cell {
    match change {
        ..0 => toned(Tone::Good, text),
        0 => toned(Tone::Plain, text),
        1.. => toned(Tone::Bad, format!("+{text}")),
    }
}

/// `info`: the snapshots of the file. Entering one chooses it.
pub(super) fn snapshots(doc: &Value, _: &Place) -> Sheet {
    let all = doc["heap"].rows("snapshots");
    let most = all.iter().map(Doc::own_bytes).max().unwrap_or_default();
    let row = |it: &Value| Row {
        cells: vec![
            number(it.number("index")),
            toned(Tone::Dim, it.maybe("time_us").map_or_else(String::new, duration)),
            number(it.number("objects")),
            bytes(Some(it.own_bytes())),
            bar(part(it.own_bytes(), most)),
        ],
        enter: Some(Place::new(View::Verdict)),
        snapshot: it.maybe("index"),
        ..Row::default()
    };
    let sizes: Vec<u64> = all.iter().map(Doc::own_bytes).collect();
    Sheet {
        head: vec![(Tone::Link, spark(&sizes))],
        columns: vec![
            column("#", Right, 0),
            column("AT", Right, 0),
            column("OBJECTS", Right, 0),
            column("SIZE", Right, 0),
            column("", Bar, 0),
        ],
        rows: all.iter().map(row).collect(),
        foot: "Enter shows this snapshot in all views".to_owned(),
        ..Sheet::default()
    }
}

/// `diff`: what grew and shrank.
pub(super) fn diff(doc: &Value, place: &Place) -> Sheet {
    let is_profile = doc["unit"].is_string();
    let key = if is_profile { "self" } else { "retained_bytes" };
    let shape = |value: i64| {
        if is_profile { amount(value, doc.text("unit")) } else { signed_size(value, false) }
    };
    let most = doc.rows("rows").iter().map(|row| row["delta"].signed(key).unsigned_abs()).max();
    let row = |row: &Value| {
        let delta = row["delta"].signed(key);
        let enter = if is_profile {
            Place::function(row.text("name"), row["namespace"].as_str())
        } else {
            Place::objects_of(&type_glob(row))
        };
        Row {
            cells: vec![
                changed(delta, shape(delta)),
                bar(part(delta.unsigned_abs(), most.unwrap_or_default())),
                toned(Tone::Plain, shape(row["new"].signed(key))),
                if is_profile {
                    Cell::default()
                } else {
                    signed_count(row["delta"].signed("count"))
                },
                name(row.text("name")),
            ],
            enter: Some(enter),
            detail: described(row),
            ..Row::default()
        }
    };
    let rows = Row::of_document(doc, place, row);
    Sheet {
        head: doc["verdict"]
            .as_str()
            .map(|text| (Tone::Strong, escaped(text)))
            .into_iter()
            .collect(),
        columns: vec![
            column(if is_profile { "SELF ±" } else { "RETAINED ±" }, Right, 0),
            column("", Bar, 76),
            column("NOW", Right, 0),
            column("COUNT ±", Right, if is_profile { u16::MAX } else { 70 }),
            column(if is_profile { "FUNCTION" } else { "TYPE" }, Left, 0),
        ],
        rows,
        foot: format!("{} without change", count(doc.number("unchanged"))),
        ..Sheet::default()
    }
}

fn signed_count(change: i64) -> Cell {
    let sign = if change < 0 { "-" } else { "" };
    changed(change, format!("{sign}{}", count(change.unsigned_abs())))
}
