//! The view of SQL.

use super::doc::Doc;
use super::place::{Place, View};
use super::sheet::{
    Align::{Left, Right, Sentence},
    Cell, Row, Sheet, Tone, column, name, number, toned,
};
use crate::cli::size::count;
use crate::cli::terminal::shown;
use serde_json::Value;

/// `query`: the rows of an answer. A row with the id of an object leads to it.
pub(super) fn rows(doc: &Value, place: &Place) -> Sheet {
    if place.argument.is_none() {
        return tables(doc);
    }
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
    let align = |key: &str| if all.iter().any(|row| row[key].is_string()) { Left } else { Right };
    let mut rows: Vec<Row> = all.iter().map(row).collect();
    if doc["complete"] == false {
        rows.push(Row::next("… more (Enter)".to_owned(), place));
    }
    Sheet {
        columns: keys.iter().map(|key| column(&shown(key), align(key), 0)).collect(),
        rows,
        foot: format!("{} rows", count(all.len() as u64)),
        ..Sheet::default()
    }
}

/// `query` without SQL: the tables. Entering a table leads to its first rows.
fn tables(doc: &Value) -> Sheet {
    let row = |table: &Value| {
        let (table_name, columns) = (table.text("name"), table.rows("columns"));
        let columns: Vec<String> = columns.iter().map(|it| shown(it.text("name"))).collect();
        let columns = columns.join(", ");
        Row {
            cells: vec![
                name(table_name),
                number(table.number("rows")),
                toned(Tone::Plain, columns.clone()),
            ],
            enter: Some(Place::of(
                View::Query,
                &format!("select * from \"{table_name}\""),
                table_name,
            )),
            detail: vec![(Tone::Plain, columns)],
            ..Row::default()
        }
    };
    Sheet {
        columns: vec![
            column("TABLE", Left, 0),
            column("ROWS", Right, 0),
            column("COLUMNS", Sentence, 0),
        ],
        rows: doc.rows("tables").iter().map(row).collect(),
        foot: "Enter shows the rows of a table, : asks".to_owned(),
        ..Sheet::default()
    }
}
