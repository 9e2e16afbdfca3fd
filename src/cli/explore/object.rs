//! The views of single objects: `show`, `path` and `find`.

use super::doc::Doc;
use super::place::{Place, View};
use super::sheet::{
    Align::{Left, Right},
    Cell, Row, Sheet, Tone, bytes, column, name, toned,
};
use crate::cli::size::{count, plural, size};
use crate::cli::terminal::shown;
use serde_json::Value;

/// A row about an object. Entering the row leads to the object.
pub(super) fn row(object: &Value, cells: Vec<Cell>) -> Row {
    let id = object.id();
    let enter = id.as_ref().map(|id| Place::of(View::Object, id, &title(object)));
    Row { cells, enter, object: id, ..Row::default() }
}

/// The name of an object in the breadcrumb.
fn title(object: &Value) -> String {
    format!("{} {}", called(object), object.text("id"))
}

fn called(object: &Value) -> String {
    shown(object["name"].as_str().unwrap_or_else(|| object.text("type")))
}

/// A value as it is shown: texts in quotes.
fn brief(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => format!("\"{}\"", shown(text)),
        Value::Object(_) => content(value),
        other => shown(&other.to_string()),
    }
}

/// The value of an object, which has a kind.
fn content(value: &Value) -> String {
    match (value.text("kind"), value["text"].as_str().or_else(|| value["value"].as_str())) {
        // The title of the object already contains its name.
        ("name", _) => String::new(),
        ("description" | "float", Some(text)) => shown(text),
        (_, Some(text)) if value["complete"] == false => format!("\"{}…\"", shown(text)),
        (_, Some(text)) => format!("\"{}\"", shown(text)),
        ("bytes", None) => bytes_of(value.text("hex"), value.number("length")),
        ("length", None) => plural(value.number("value"), "element", "elements"),
        (_, None) => brief(&value["value"]),
    }
}

/// Bytes in groups of two digits.
fn bytes_of(hex: &str, length: u64) -> String {
    let pair = |pair: &[u8]| pair.iter().map(|digit| char::from(*digit)).collect::<String>();
    let pairs: Vec<String> = hex.as_bytes().chunks(2).map(pair).collect();
    format!("{}: {}", size(length, false), pairs.join(" "))
}

/// `show`: fields, entries, references and referrers.
pub(super) fn object(doc: &Value, place: &Place) -> Sheet {
    let object = &doc["object"];
    let state = if doc["reachable"] == false { " · unreachable" } else { "" };
    let sizes = format!(
        "{}, retains {}{state}",
        size(object.number("shallow_bytes"), false),
        size(object.number("retained_bytes"), false)
    );
    let mut head = vec![(Tone::Strong, format!("{}: {sizes}", title(object)))];
    let value = brief(&doc["value"]);
    if !value.is_empty() {
        head.push((Tone::Plain, value));
    }
    let mut rows = Vec::new();
    let mut section = |title: String, all: Vec<Row>| {
        if !all.is_empty() {
            rows.push(Row::heading(title));
            rows.extend(all);
        }
    };
    let all = |key: &str, row: fn(&Value) -> Row| doc.rows(key).iter().map(row).collect::<Vec<_>>();
    section("fields".into(), all("fields", field));
    section(collection(doc), doc.rows("entries").iter().enumerate().map(entry).collect());
    section("elements".into(), doc.rows("elements").iter().enumerate().map(element).collect());
    section("held by".into(), held_by(doc));
    section("referrers".into(), all("referrers", reference));
    section("references".into(), all("references", reference));
    let omitted = ["references", "fields", "referrers", "elements", "entries"];
    let omitted = omitted.into_iter().map(|key| doc["omitted"].number(key)).sum();
    rows.extend(Row::more(omitted, place));
    Sheet {
        head,
        columns: vec![
            column("RETAINED", Right, 0),
            column("SHALLOW", Right, 90),
            column("NAME", Left, 0),
            column("VALUE", Left, 0),
        ],
        rows,
        foot: "p path from a root · T what it retains".to_owned(),
        ..Sheet::default()
    }
}

fn collection(doc: &Value) -> String {
    let kind = doc["collection"]["kind"].as_str().unwrap_or("entries");
    match doc["collection"].maybe("size") {
        Some(size) => format!("{}, {} entries", shown(kind), count(size)),
        None => shown(kind),
    }
}

/// The roots and the dominator of an object.
fn held_by(doc: &Value) -> Vec<Row> {
    let root = |root: &Value| Row {
        cells: vec![
            Cell::default(),
            Cell::default(),
            toned(Tone::Warn, "root"),
            name(root["label"].as_str().or_else(|| root.as_str()).unwrap_or_default()),
        ],
        ..Row::default()
    };
    let mut rows: Vec<Row> = doc.rows("roots").iter().map(root).collect();
    if doc["dominator"].is_object() {
        rows.push(to("dominator", &doc["dominator"]));
    }
    rows
}

/// A row that shows an object after a label, such as a field name.
fn to(label: &str, object: &Value) -> Row {
    let cells = vec![
        bytes(object.maybe("retained_bytes")),
        bytes(object.maybe("shallow_bytes")),
        name(label),
        toned(Tone::Link, title(object)),
    ];
    row(object, cells)
}

/// A row that shows a value after a label. The value may be an object or not.
fn valued(label: &str, value: &Value, object: &Value) -> Row {
    if object.is_object() {
        let mut row = to(label, object);
        if let (false, Some(last)) = (value.is_null(), row.cells.last_mut()) {
            last.text = format!("{}  {}", brief(value), last.text);
        }
        row
    } else {
        let text = if value.is_null() { "null".to_owned() } else { brief(value) };
        let cells = vec![Cell::default(), Cell::default(), name(label), toned(Tone::Plain, text)];
        Row { cells, ..Row::default() }
    }
}

fn field(field: &Value) -> Row {
    valued(field.text("name"), &field["value"], &field["object"])
}

fn entry((index, entry): (usize, &Value)) -> Row {
    let key = &entry["key"];
    let label = match brief(&key["value"]) {
        _ if key.is_null() => format!("[{index}]"),
        none if none.is_empty() && key["object"].is_object() => title(&key["object"]),
        key => key,
    };
    let value = &entry["value"];
    valued(&label, &value["value"], &value["object"])
}

fn element((index, element): (usize, &Value)) -> Row {
    let index = format!("[{}]", element.maybe("index").unwrap_or(index as u64));
    if element.is_object() {
        valued(&index, &element["value"], &element["object"])
    } else {
        valued(&index, element, &Value::Null)
    }
}

fn reference(reference: &Value) -> Row {
    let weak = if reference["weak"] == true { " (weak)" } else { "" };
    to(&format!("{}{weak}", reference.text("label")), reference)
}

/// `path`: why an object is alive.
pub(super) fn path(doc: &Value, place: &Place) -> Sheet {
    let mut rows = Vec::new();
    for path in doc.rows("paths") {
        rows.push(Row::heading(shown(path["root"].text("label"))));
        for (depth, step) in path.rows("steps").iter().enumerate() {
            let object = &step["object"];
            let (indent, label) = ("  ".repeat(depth.min(20)), shown(step.text("label")));
            let between = if label.is_empty() { "" } else { "  " };
            let what = format!("{indent}└ {label}{between}{}", title(object));
            let cells = vec![
                bytes(object.maybe("retained_bytes")),
                bytes(object.maybe("shallow_bytes")),
                toned(Tone::Plain, what.clone()),
            ];
            rows.push(Row { detail: vec![(Tone::Plain, what)], ..row(object, cells) });
        }
    }
    // The document does not state whether there are more paths than these.
    let object = &doc["object"];
    let head = match doc.rows("paths").len() {
        0 => format!("{}: no path from a root", title(object)),
        paths => format!("{}: {paths} shortest paths from roots", title(object)),
    };
    let foot = place.argument.as_deref().map_or_else(String::new, shown);
    Sheet {
        head: vec![(Tone::Strong, head)],
        columns: vec![
            column("RETAINED", Right, 0),
            column("SHALLOW", Right, 90),
            column("PATH", Left, 0),
        ],
        rows,
        foot,
        ..Sheet::default()
    }
}

/// `find`: objects one by one.
pub(super) fn objects(doc: &Value, place: &Place) -> Sheet {
    // In a profile, the same command finds functions.
    if doc["rows"].is_array() {
        return super::calls::functions(doc, place);
    }
    let found = |object: &Value| {
        let cells = vec![
            bytes(object.maybe("retained_bytes")),
            bytes(object.maybe("shallow_bytes")),
            toned(Tone::Link, object.text("id")),
            toned(Tone::Plain, format!("{}  {}", called(object), brief(&object["value"]))),
        ];
        row(object, cells)
    };
    let (total, omitted) = (&doc["total"], doc["omitted"].number("count"));
    let mut rows: Vec<Row> = doc.rows("objects").iter().map(found).collect();
    let foot = format!(
        "{} of {} objects; {} shallow in total",
        count(rows.len() as u64),
        count(total.number("count")),
        size(total.number("shallow_bytes"), false)
    );
    rows.extend(Row::more(omitted, place));
    Sheet {
        columns: vec![
            column("RETAINED", Right, 0),
            column("SHALLOW", Right, 70),
            column("OBJECT", Left, 0),
            column("TYPE", Left, 0),
        ],
        rows,
        foot,
        ..Sheet::default()
    }
}
