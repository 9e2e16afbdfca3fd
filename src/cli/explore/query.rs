//! The view of SQL.

use super::doc::Doc;
use super::place::{Place, View};
use super::sheet::{
    Align::{Left, Right},
    Cell, Row, Sheet, Tone, column, name, number, toned,
};
use crate::cli::terminal::shown;
use serde_json::Value;

/// `query`: the rows of an answer. A row with the id of an object leads to it.
pub(super) fn rows(doc: &Value, _: &Place) -> Sheet {
    let keys: Vec<&str> = doc.rows("columns").iter().filter_map(Value::as_str).collect();
    let cell = |value: &Value| match value {
        Value::Null => toned(Tone::Dim, "null"),
        Value::String(text) => name(text),
        value => value.as_u64().map_or_else(|| name(&value.to_string()), number),
    };
    let row = |row: &Value| {
        let cells: Vec<Cell> = keys.iter().map(|key| cell(&row[*key])).collect();
        let id = row["id"].as_str().map(str::to_owned);
        let enter = id.as_ref().map(|id| Place::of(View::Object, id, id));
        Row { cells, enter, object: id, ..Row::default() }
    };
    let all = doc.rows("rows");
    let align = |key: &str| match all.iter().any(|row| row[key].is_string()) {
        true => Left,
        false => Right,
    };
    let complete = if doc["complete"] == false { " · cut short" } else { "" };
    Sheet {
        columns: keys.iter().map(|key| column(&shown(key), align(key), 0)).collect(),
        rows: all.iter().map(row).collect(),
        foot: format!("{} rows{complete}", all.len()),
        ..Sheet::default()
    }
}
