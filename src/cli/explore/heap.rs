//! The views of heaps: documents as tables.

use super::doc::Doc;
use super::place::{Place, View};
use super::sheet::{
    Align::{Bar, Left, Right, Sentence},
    Cell, Row, Sheet, Tone, bar, bytes, column, name, number, part, share, toned,
};
use super::tree;
use crate::cli::size::{count, percent, size};
use crate::cli::terminal::{escaped, shown};
use serde_json::Value;

/// `top --suspects`: the owners of the memory, and the memory that could be saved.
pub(super) fn verdict(doc: &Value, _: &Place) -> Sheet {
    let suspects = doc.rows("suspects");
    let head = match suspects.first() {
        Some(first) => {
            let share = percent(first["share"].as_f64().unwrap_or_default());
            (Tone::Strong, format!("{share}  {}", escaped(first.text("message"))))
        }
        None => (Tone::Good, escaped(doc.text("message"))),
    };
    let mut rows: Vec<Row> = suspects.iter().map(suspect).collect();
    if let Some(first) = rows.first_mut() {
        // The head already shows its first line.
        first.detail.remove(0);
    }
    if rows.is_empty() {
        rows.extend([View::Types, View::Tree, View::Waste].map(elsewhere));
    }
    if !doc.rows("waste").is_empty() {
        rows.push(Row::heading("could be saved"));
        rows.extend(doc.rows("waste").iter().map(suspect));
    }
    Sheet {
        head: vec![head],
        columns: vec![
            column("BYTES", Right, 0),
            column("SHARE", Right, 0),
            column("", Bar, 76),
            column("WHAT", Sentence, 0),
        ],
        rows,
        foot: format!(
            "{} live · unreachable: {}",
            size(doc.number("total_bytes"), false),
            unreachable(doc)
        ),
        ..Sheet::default()
    }
}

/// A line that leads to another view, for heaps in which nothing stands out.
fn elsewhere(view: View) -> Row {
    let what = match view {
        View::Types => "types by retained size",
        View::Tree => "the dominator tree: what holds what",
        _ => "what could be saved",
    };
    let blank = Cell::default();
    Row {
        cells: vec![blank.clone(), blank.clone(), blank, toned(Tone::Link, what)],
        enter: Some(Place::new(view)),
        ..Row::default()
    }
}

/// A line of the verdict. Entering it leads to the object that holds the memory.
fn suspect(it: &Value) -> Row {
    let of_live = it["share"].as_f64().unwrap_or_default();
    let objects = [&it["holder"]["object"], &it["object"], &it["example"]];
    let object = objects.into_iter().find_map(Doc::id);
    let kind = objects.into_iter().find(|it| it.is_object()).map_or("", |it| it.text("type"));
    let message = escaped(it.text("message"));
    let mut detail = vec![(Tone::Plain, message.clone())];
    let made: Vec<String> = it.rows("consists_of").iter().map(consists).collect();
    if !made.is_empty() {
        detail.push((Tone::Dim, format!("mostly {}", made.join(", "))));
    }
    if it["path"].is_object() {
        detail.push((Tone::Dim, steps(&it["path"])));
    }
    if let Some(advice) = it["rule"]["advice"].as_str() {
        detail.push((Tone::Good, escaped(advice)));
    }
    let at = |id: &String| Place::of(View::Object, id, &format!("{} {id}", shown(kind)));
    let enter = match it.text("kind") {
        "threads" => Some(Place::new(View::Threads)),
        _ => object.as_ref().map(at),
    };
    Row {
        cells: vec![
            bytes(it.maybe("bytes")),
            share(of_live),
            bar(of_live),
            toned(Tone::Plain, message),
        ],
        enter,
        object,
        detail,
        ..Row::default()
    }
}

fn consists(it: &Value) -> String {
    let bytes = size(it.number("bytes"), false);
    format!("{} {} {bytes}", count(it.number("count")), shown(it.text("name")))
}

/// A path in a line.
fn steps(path: &Value) -> String {
    let mut line = escaped(path["root"].text("label"));
    for step in path.rows("steps") {
        let object = &step["object"];
        let name = object["name"].as_str().unwrap_or_else(|| object.text("type"));
        line.push_str(&format!(" → {} {}", shown(step.text("label")), shown(name)));
    }
    line.replace("→  ", "→ ")
}

fn unreachable(doc: &Value) -> String {
    let gone = &doc["unreachable"];
    format!(
        "{} objects, {}",
        count(gone.number("count")),
        size(gone.number("shallow_bytes"), false)
    )
}

/// `top`: types, or groups of another kind.
pub(super) fn types(doc: &Value, place: &Place) -> Sheet {
    grouped(doc, place, "TYPE", |row| Some(Place::objects_of(&type_glob(row))))
}

/// A type in the syntax of `--type`.
pub(super) fn type_glob(row: &Value) -> String {
    match row["namespace"].as_str() {
        // Class names include the package; V8 uses the same name for several kinds of nodes.
        Some(namespace) if !row.text("name").starts_with(namespace) => {
            format!("{namespace}:{}", row.text("name"))
        }
        _ => row.text("name").to_owned(),
    }
}

/// `top --by root`.
pub(super) fn roots(doc: &Value, place: &Place) -> Sheet {
    let enter = |row: &Value| {
        let Some(kind) = row["namespace"].as_str() else {
            let inside = vec![tree::Node::root(row.text("name")).key()];
            return Some(Place {
                inside,
                title: row.text("name").to_owned(),
                ..Place::new(View::Tree)
            });
        };
        let options = vec!["--root".to_owned(), kind.to_owned()];
        Some(Place { options, title: kind.to_owned(), ..Place::new(View::Objects) })
    };
    grouped(doc, place, "ROOT", enter)
}

fn grouped(
    doc: &Value,
    place: &Place,
    what: &str,
    enter: impl Fn(&Value) -> Option<Place>,
) -> Sheet {
    let whole = doc["whole"].own_bytes();
    // The share is that of the column that rows are sorted by.
    let key = ["", "shallow_bytes", "count"].get(place.sort).copied().unwrap_or_default();
    let row = |row: &Value| {
        let held = row.maybe("retained_bytes");
        let of_whole = match key {
            "" => part(held.unwrap_or_else(|| row.own_bytes()), whole),
            key => part(row.number(key), doc["whole"].number(key)),
        };
        let cells = vec![
            bytes(held),
            share(of_whole),
            bar(of_whole),
            bytes(row.maybe("shallow_bytes")),
            number(row.number("count")),
            name(row.text("name")),
        ];
        Row { cells, enter: enter(row), detail: described(row), ..Row::default() }
    };
    let omitted = doc["omitted"].number("rows");
    let mut rows: Vec<Row> = doc.rows("rows").iter().map(row).collect();
    let foot = format!(
        "{} of {} · {} live · unreachable: {}",
        count(rows.len() as u64),
        count(rows.len() as u64 + omitted),
        size(whole, false),
        unreachable(doc)
    );
    rows.extend(Row::more(omitted, place));
    Sheet {
        columns: vec![
            column("RETAINED", Right, 0),
            column("SHARE", Right, 0),
            column("", Bar, 76),
            column("SHALLOW", Right, 70),
            column("COUNT", Right, 0),
            column(what, Left, 0),
        ],
        rows,
        foot,
        ..Sheet::default()
    }
}

/// The name in full, and its namespace.
pub(super) fn described(row: &Value) -> Vec<(Tone, String)> {
    let mut lines = vec![(Tone::Plain, shown(row.text("name")))];
    if let Some(namespace) = row["namespace"].as_str() {
        lines.push((Tone::Dim, shown(namespace)));
    }
    lines
}

/// `tree`: the lines directly below the line that was opened.
pub(super) fn tree(doc: &Value, place: &Place) -> Sheet {
    let nodes = tree::nodes(doc.rows("nodes"));
    let at = tree::find(&nodes, &place.inside);
    let Some(top) = nodes.get(at) else { return Sheet::default() };
    let mut rows = Vec::new();
    if top.kind == "group" {
        let blank = Cell::default;
        let (what, enter) = match members(&nodes, at) {
            Some(sql) => ("one by one", Place::of(View::Query, &sql, &shown(&top.title()))),
            None => ("all objects of this type", Place::objects_of(&top.name)),
        };
        rows.push(Row {
            cells: vec![blank(), blank(), blank(), blank(), toned(Tone::Link, what)],
            enter: Some(enter),
            ..Row::default()
        });
    }
    rows.extend(
        tree::children(&nodes, at).map(|(index, node)| branch(&nodes, index, node, top, place)),
    );
    rows.extend(Row::more(top.omitted, place).map(|row| Row {
        detail: vec![(Tone::Dim, format!("{} in them", size(top.omitted_bytes, false)))],
        ..row
    }));
    let head = format!(
        "{} retained by {} · {} its own",
        size(top.total, false),
        shown(&top.title()),
        size(top.own, false)
    );
    Sheet {
        head: vec![(Tone::Strong, head)],
        columns: vec![
            column("RETAINED", Right, 0),
            column("SHARE", Right, 0),
            column("", Bar, 0),
            column("OWN", Right, 90),
            column("WHAT", Left, 0),
        ],
        rows,
        foot: format!(
            "{} of {} {}",
            percent(top.share),
            size(nodes.first().map_or(0, |node| node.total), false),
            if place.argument.is_some() { "that the object retains" } else { "live" }
        ),
        ..Sheet::default()
    }
}

/// SQL for the objects of a group. `None` if no object is above the group, or without `query`.
fn members(nodes: &[tree::Node], group: usize) -> Option<String> {
    let text = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let mut types = Vec::new();
    let mut at = nodes.get(group)?;
    while at.kind == "group" {
        types.push(text(&at.name));
        at = nodes.get(at.parent?)?;
    }
    let holder = at.object.as_ref().filter(|_| cfg!(feature = "query") && at.kind == "object")?;
    let mut above = format!("(select object from objects where id = {})", text(holder));
    let innermost = types.remove(0);
    for type_name in types.iter().rev() {
        above = format!(
            "(select object from objects where type = {type_name} and dominator in {above})"
        );
    }
    Some(format!(
        "select id, retained_bytes, shallow_bytes, value(id) as value from objects \
         where type = {innermost} and dominator in {above} order by retained_bytes desc"
    ))
}

fn branch(
    nodes: &[tree::Node],
    index: usize,
    node: &tree::Node,
    top: &tree::Node,
    place: &Place,
) -> Row {
    let has_more = node.omitted > 0 || tree::children(nodes, index).next().is_some();
    let label =
        if node.label.is_empty() { String::new() } else { format!("{}  ", shown(&node.label)) };
    let id = node.object.as_deref().map_or_else(String::new, |id| format!(" {id}"));
    let what = format!("{label}{}{id}", shown(&node.title()));
    let title = shown(&node.title()) + &id;
    let enter = match (&node.object, has_more) {
        (Some(id), true) if node.kind == "object" => {
            Place { type_glob: None, ..Place::of(View::Tree, id, &title) }
        }
        (Some(id), _) if node.kind == "object" => Place::of(View::Object, id, &title),
        (_, true) => {
            let inside = place.inside.iter().cloned().chain([node.key()]).collect();
            Place { inside, title, ..place.clone() }
        }
        _ => Place::objects_of(&node.name),
    };
    let mark = if has_more { "▸ " } else { "  " };
    Row {
        cells: vec![
            bytes(Some(node.total)),
            share(node.share),
            bar(part(node.total, top.total)),
            bytes(Some(node.own)),
            toned(Tone::Plain, format!("{mark}{what}")),
        ],
        enter: Some(enter),
        object: node.object.clone(),
        detail: vec![(Tone::Plain, what)],
        ..Row::default()
    }
}

/// `threads`: threads by their stacks.
pub(super) fn threads(doc: &Value, place: &Place) -> Sheet {
    let whole = doc.rows("groups").iter().map(|it| it.number("thread_retained_bytes")).max();
    let row = |(index, group): (usize, &Value)| {
        let held = group.number("thread_retained_bytes");
        let calls: Vec<String> =
            group.rows("frames").iter().map(|it| shown(it.text("function"))).collect();
        let stack = calls.join(" ← ");
        let title = group["name"].as_str().unwrap_or_else(|| group.text("kind"));
        let mut called = shown(title);
        if group.number("count") > 1 {
            called = format!("{called} ×{}", count(group.number("count")));
        }
        Row {
            cells: vec![
                bytes(Some(held)),
                bytes(group.maybe("retained_bytes")),
                bar(part(held, whole.unwrap_or_default())),
                toned(Tone::Plain, called.clone()),
                toned(Tone::Dim, shown(group.text("state"))),
                toned(Tone::Plain, stack.clone()),
            ],
            enter: Some(Place {
                view: View::Thread,
                inside: vec![index.to_string()],
                title: called,
                ..place.clone()
            }),
            detail: vec![(Tone::Plain, stack)],
            ..Row::default()
        }
    };
    let rows: Vec<Row> = doc.rows("groups").iter().enumerate().map(row).collect();
    Sheet {
        columns: vec![
            column("RETAINED", Right, 0),
            column("ONLY HERE", Right, 110),
            column("", Bar, 76),
            column("THREAD", Left, 0),
            column("STATE", Left, 90),
            column("STACK", Left, 0),
        ],
        foot: format!("{} threads", count(doc.number("threads"))),
        rows,
        ..Sheet::default()
    }
}

/// The frames of a thread, and the objects in them.
pub(super) fn thread(doc: &Value, place: &Place) -> Sheet {
    let index = place.inside.first().and_then(|index| index.parse().ok()).unwrap_or(0_usize);
    let frames =
        doc.rows("groups").get(index).map(|group| group.rows("frames")).unwrap_or_default();
    let mut rows = Vec::new();
    for frame in frames {
        let line = frame.maybe("line").map_or_else(String::new, |line| format!(":{line}"));
        let file = frame["file"]
            .as_str()
            .map_or_else(String::new, |file| format!("  {}{line}", shown(file)));
        rows.push(Row {
            cells: vec![
                Cell::default(),
                toned(Tone::Strong, shown(frame.text("function")) + &file),
            ],
            ..Row::default()
        });
        for local in frame.rows("locals") {
            let object = &local["object"];
            let what = format!(
                "  {} {} {}",
                shown(local.text("name")),
                shown(object.text("type")),
                object.text("id")
            );
            rows.push(super::object::row(
                object,
                vec![bytes(object.maybe("retained_bytes")), name(&what)],
            ));
        }
    }
    Sheet {
        columns: vec![column("RETAINED", Right, 0), column("FRAME", Left, 0)],
        rows,
        ..Sheet::default()
    }
}

/// `waste`: the memory that could be saved.
pub(super) fn waste(doc: &Value, place: &Place) -> Sheet {
    let mut rows = Vec::new();
    let mut omitted = 0;
    for kind in doc.rows("kinds") {
        let title = kind.text("kind").replace('_', " ");
        rows.push(Row::heading(format!(
            "{title}: {} in {}: {}",
            size(kind.number("bytes"), false),
            count(kind.number("count")),
            escaped(kind.text("method"))
        )));
        for row in kind.rows("rows") {
            let text = row["text"]
                .as_str()
                .map_or_else(String::new, |text| format!("  \"{}\"", shown(text)));
            let what = format!("{}{text}", shown(row.text("name")));
            let object = row["example"].as_str().map(str::to_owned);
            rows.push(Row {
                cells: vec![
                    bytes(row.maybe("bytes")),
                    number(row.number("count")),
                    toned(Tone::Plain, what.clone()),
                ],
                enter: object.as_ref().map(|id| Place::of(View::Object, id, id)),
                object,
                detail: vec![(Tone::Plain, what)],
                ..Row::default()
            });
        }
        omitted += kind["omitted"].number("rows");
    }
    rows.extend(Row::more(omitted, place));
    let (all, live) = (doc.number("total_bytes"), doc.number("live_bytes"));
    Sheet {
        head: vec![(
            Tone::Strong,
            format!(
                "{} could be saved, {} of {} live",
                size(all, false),
                percent(part(all, live)),
                size(live, false)
            ),
        )],
        columns: vec![
            column("BYTES", Right, 0),
            column("COUNT", Right, 0),
            column("WHAT", Left, 0),
        ],
        rows,
        ..Sheet::default()
    }
}
