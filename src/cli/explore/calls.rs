//! The views of profiles: functions, the call tree, callers, threads and time.

use super::doc::Doc;
use super::place::{Place, View};
use super::sheet::{
    Align::{Bar, Left, Right},
    Row, Sheet, Tone, bar, column, name, part, share, toned,
};
use super::tree;
use crate::cli::print::spark;
use crate::cli::size::{count, percent, quantity};
use crate::cli::terminal::{escaped, shown};
use crate::model::profile::Unit;
use serde_json::Value;

/// An amount in the unit that a document names.
pub(super) fn amount(value: i64, unit: &str) -> String {
    quantity(value, &Unit::named(unit), false)
}

/// `top`: functions by cost.
pub(super) fn functions(doc: &Value, place: &Place) -> Sheet {
    costs(doc, place, "FUNCTION", |row| {
        Some(Place::function(row.text("name"), row["namespace"].as_str()))
    })
}

/// `top --by thread`.
pub(super) fn by_thread(doc: &Value, place: &Place) -> Sheet {
    costs(doc, place, "THREAD", |row| {
        let options = vec!["--thread".to_owned(), row.text("name").to_owned()];
        Some(Place { options, title: row.text("name").to_owned(), ..Place::new(View::Calls) })
    })
}

fn costs(doc: &Value, place: &Place, what: &str, enter: impl Fn(&Value) -> Option<Place>) -> Sheet {
    let (unit, whole) = (doc.text("unit"), doc["total"].signed("value"));
    let part_of = |value: i64| if whole == 0 { 0.0 } else { value as f64 / whole as f64 };
    let row = |row: &Value| {
        let (own, total) = (row.signed("self"), row.signed("total"));
        let file = row["namespace"].as_str().map(shown).unwrap_or_default();
        Row {
            cells: vec![
                toned(Tone::Plain, amount(own, unit)),
                share(part_of(own)),
                bar(part_of(own)),
                toned(Tone::Plain, amount(total, unit)),
                share(part_of(total)),
                name(row.text("name")),
                toned(Tone::Dim, file.clone()),
            ],
            enter: enter(row),
            detail: vec![(Tone::Plain, shown(row.text("name"))), (Tone::Dim, file)],
            ..Row::default()
        }
    };
    let rows = Row::of_document(doc, place, row);
    let total = &doc["total"];
    Sheet {
        head: doc["verdict"].as_str().map(|it| (Tone::Strong, escaped(it))).into_iter().collect(),
        columns: vec![
            column("SELF", Right, 0),
            column("SHARE", Right, 0),
            column("", Bar, 90),
            column("TOTAL", Right, 0),
            column("SHARE", Right, 70),
            column(what, Left, 0),
            column("FILE", Left, 100),
        ],
        rows,
        foot: format!(
            "{} in {} samples",
            amount(total.signed("value"), unit),
            count(total.number("samples"))
        ),
        ..Sheet::default()
    }
}

/// `tree`: the calls below the line that was opened.
pub(super) fn calls(doc: &Value, place: &Place) -> Sheet {
    let nodes = tree::nodes(doc.rows("nodes"));
    let at = tree::find(&nodes, &place.inside);
    let Some(top) = nodes.get(at) else { return Sheet::default() };
    let row = |(index, node): (usize, &tree::Node)| {
        let has_calls = node.omitted > 0 || tree::children(&nodes, index).next().is_some();
        let inside = place.inside.iter().cloned().chain([node.key()]).collect();
        let enter = if has_calls {
            Place { inside, title: shown(&node.name), ..place.clone() }
        } else {
            Place::function(&node.name, node.namespace.as_deref())
        };
        Row {
            enter: Some(enter),
            ..call(node, doc.text("unit"), if has_calls { "▸ " } else { "  " })
        }
    };
    let mut rows: Vec<Row> = tree::children(&nodes, at).map(row).collect();
    rows.extend(Row::more(top.omitted, place));
    let own = amount(top.own as i64, doc.text("unit"));
    let head = format!(
        "{} in {} · {own} by itself",
        amount(top.total as i64, doc.text("unit")),
        shown(&top.name)
    );
    Sheet {
        head: vec![(Tone::Strong, head)],
        columns: call_columns(),
        rows,
        foot: format!("{} of all", percent(top.share)),
        ..Sheet::default()
    }
}

fn call_columns() -> Vec<super::sheet::Column> {
    vec![
        column("TOTAL", Right, 0),
        column("SHARE", Right, 0),
        column("", Bar, 76),
        column("SELF", Right, 0),
        column("CALLS", Left, 0),
        column("FILE", Left, 100),
    ]
}

fn call(node: &tree::Node, unit: &str, before: &str) -> Row {
    let file = node.namespace.as_deref().map(shown).unwrap_or_default();
    Row {
        cells: vec![
            toned(Tone::Plain, amount(node.total as i64, unit)),
            share(node.share),
            bar(node.share),
            toned(Tone::Plain, amount(node.own as i64, unit)),
            toned(Tone::Plain, format!("{before}{}", shown(&node.name))),
            toned(Tone::Dim, file.clone()),
        ],
        detail: vec![(Tone::Plain, shown(&node.name)), (Tone::Dim, file)],
        ..Row::default()
    }
}

/// `tree --focus`: who calls a function, and what it calls.
pub(super) fn sandwich(doc: &Value, place: &Place) -> Sheet {
    let mut rows = Vec::new();
    for (title, key) in [("called by", "callers"), ("calls", "nodes")] {
        rows.push(Row::heading(title));
        let nodes = tree::nodes(doc.rows(key));
        let deepest = |node: &tree::Node| "  ".repeat(node.depth.saturating_sub(1).min(30));
        rows.extend(nodes.iter().filter(|node| node.depth > 0).map(|node| Row {
            enter: Some(Place::function(&node.name, node.namespace.as_deref())),
            ..call(node, doc.text("unit"), &deepest(node))
        }));
        rows.extend(Row::more(nodes.iter().map(|node| node.omitted).sum(), place));
    }
    let top = tree::nodes(doc.rows("nodes")).into_iter().next().unwrap_or_default();
    let head = format!(
        "{}: {}, {} of all",
        shown(&top.name),
        amount(top.total as i64, doc.text("unit")),
        percent(top.share)
    );
    Sheet { head: vec![(Tone::Strong, head)], columns: call_columns(), rows, ..Sheet::default() }
}

/// `tree` of a profile or of a heap as a flame graph.
pub(super) fn flame(doc: &Value, _: &Place) -> Sheet {
    let boxes = tree::nodes(doc.rows("nodes"));
    let unit = doc["unit"].as_str().unwrap_or("bytes");
    let row = |node: &tree::Node| {
        let enter = match (&node.object, unit) {
            (Some(id), _) => Some(Place::of(View::Object, id, &shown(&node.title()))),
            (None, _) if node.kind.is_empty() && node.depth > 0 => {
                Some(Place::function(&node.name, node.namespace.as_deref()))
            }
            _ => None,
        };
        let what = format!(
            "{}  {}  {}",
            amount(node.total as i64, unit),
            percent(node.share),
            shown(&node.title())
        );
        let detail = vec![
            (Tone::Plain, what),
            (Tone::Dim, node.namespace.as_deref().map(shown).unwrap_or_default()),
        ];
        Row {
            cells: vec![name(&node.title())],
            enter,
            object: node.object.clone(),
            detail,
            ..Row::default()
        }
    };
    let rows = boxes.iter().map(row).collect();
    Sheet {
        rows,
        boxes,
        foot: "Enter zooms, Backspace out, o opens".to_owned(),
        ..Sheet::default()
    }
}

/// Number of slots of the timeline.
const SLOTS: usize = 40;

/// Samples by thread over time.
pub(super) fn timeline(doc: &Value, _: &Place) -> Sheet {
    let most = doc.rows("rows").iter().map(|row| row.number("samples")).max().unwrap_or_default();
    let row = |row: &Value| {
        let mut slots = vec![0; SLOTS];
        for slot in row.text("slots").split(' ') {
            if let Some((at, n)) = slot.split_once(':')
                && let (Ok(at), Ok(n)) = (at.parse::<usize>(), n.parse())
                && let Some(place) = slots.get_mut(at)
            {
                *place = n;
            }
        }
        let options = vec!["--thread".to_owned(), row.text("thread").to_owned()];
        Row {
            cells: vec![
                toned(Tone::Plain, count(row.number("samples"))),
                bar(part(row.number("samples"), most)),
                toned(Tone::Link, spark(&slots)),
                name(row.text("thread")),
            ],
            enter: Some(Place {
                options,
                title: shown(row.text("thread")),
                ..Place::new(View::Calls)
            }),
            ..Row::default()
        }
    };
    let rows: Vec<Row> = doc.rows("rows").iter().map(row).collect();
    let head = if rows.is_empty() {
        vec![(Tone::Warn, "this profile has no times".to_owned())]
    } else {
        Vec::new()
    };
    let foot = match doc.rows("rows").first().map_or(1, |row| row.number("every")) {
        0 | 1 => String::new(),
        every => format!("estimated from one of {} samples", count(every)),
    };
    Sheet {
        head,
        columns: vec![
            column("SAMPLES", Right, 0),
            column("", Bar, 100),
            column("FROM BEGINNING TO END", Left, 0),
            column("THREAD", Left, 0),
        ],
        rows,
        foot,
        ..Sheet::default()
    }
}
