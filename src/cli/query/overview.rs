//! The overview of tables with their columns, functions, and examples.

use super::examples::{Example, OF_HEAPS, OF_PROFILES, OF_TWO_HEAPS, OF_TWO_PROFILES};
use super::files::{FileTables, NEW, OLD};
use crate::cli::print::{Columns, Document, Shown, Value, print};
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::output::syntax::shell_word;
use crate::tables::{Column, Relation};
use std::path::Path;

/// Prints the tables of a file, or of two. Fails when standard output cannot be written.
pub(super) fn print_overview(
    files: &[FileTables],
    paths: &[&Path],
    session: &Session,
) -> anyhow::Result<()> {
    let entries: Vec<Entry<'_>> = match files {
        [old, new] => entries(old, Some(OLD)).chain(entries(new, Some(NEW))).collect(),
        files => files.iter().flat_map(|file| entries(file, None)).collect(),
    };
    let examples = examples(files);
    let rows: Vec<Row<'_>> = entries
        .iter()
        .flat_map(|entry| {
            entry.relation.columns().into_iter().map(|column| Row { table: &entry.name, column })
        })
        .collect();
    let document = || {
        let file = paths.last().copied().unwrap_or(Path::new(""));
        Document::new("dumptool/query/1", file)
            .with("tables", entries.iter().map(Entry::json).collect::<Vec<_>>())
            .with(
                "examples",
                examples.iter().map(|example| example_json(example)).collect::<Vec<_>>(),
            )
    };
    let text = || text(&entries, &examples, paths, session);
    let columns = Columns::new(session)
        .text("table", "TABLE", |row: &Row<'_>| row.table)
        .text("column", "COLUMN", |row| row.column.name.as_ref())
        .text("type", "TYPE", |row| row.column.kind.sql());
    print(session, document, &rows, &columns, &Shown::Text(&text))
}

/// A table with its name in SQL.
struct Entry<'t> {
    name: String,
    relation: &'t dyn Relation,
}

struct Row<'e> {
    table: &'e str,
    column: &'e Column,
}

fn entries<'t>(
    file: &'t FileTables,
    schema: Option<&'static str>,
) -> impl Iterator<Item = Entry<'t>> {
    file.tables.iter().map(move |shared| {
        let name = shared.name();
        let name = schema.map_or(name.to_owned(), |schema| format!("{schema}.{name}"));
        Entry { name, relation: shared.relation() }
    })
}

impl Entry<'_> {
    fn json(&self) -> Value<'_> {
        let column = |(number, column): (usize, &Column)| {
            let name = Value::from(column.name.clone().into_owned());
            Value::from([
                ("name", name),
                ("type", column.kind.sql().into()),
                ("unit", column.unit.into()),
                ("meaning", column.doc.into()),
                ("indexed", self.relation.lookup_cost(number).is_some().into()),
            ])
        };
        Value::from([
            ("name", self.name.as_str().into()),
            ("rows", self.relation.len().into()),
            (
                "columns",
                self.relation
                    .columns()
                    .into_iter()
                    .enumerate()
                    .map(column)
                    .collect::<Vec<_>>()
                    .into(),
            ),
        ])
    }
}

fn example_json(example: &Example) -> Value<'static> {
    Value::from([("title", example.title.into()), ("sql", example.sql.into())])
}

fn examples(files: &[FileTables]) -> Vec<&'static Example> {
    let heaps = files.iter().filter(|file| file.heap.is_some()).count();
    match (files.len(), heaps) {
        (2, 2) => vec![&OF_TWO_HEAPS],
        (2, 0) => vec![&OF_TWO_PROFILES],
        (1, 1) => OF_HEAPS.iter().collect(),
        (1, 0) => OF_PROFILES.iter().collect(),
        _ => Vec::new(),
    }
}

fn text(
    entries: &[Entry<'_>],
    examples: &[&Example],
    paths: &[&Path],
    session: &Session,
) -> String {
    let mut text = String::new();
    for Entry { name, relation } in entries {
        let columns = relation.columns();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_ref()).collect();
        let rows = plural(relation.len() as u64, "row", "rows");
        text.push_str(&format!("{}: {rows}\n", session.terminal.bold(name)));
        text.push_str(&format!("  {}\n", names.join(", ")));
    }
    if paths.len() == 2 {
        text.push_str("A name without old. or new. refers to the newer file.\n");
    }
    if entries.iter().any(|entry| entry.relation.name() == "objects") {
        let functions = session.terminal.bold("functions");
        text.push_str(&format!("{functions}\n  path(id), value(id), field(id, name)\n"));
    }
    let files: Vec<String> =
        paths.iter().map(|path| shell_word(&path.display().to_string())).collect();
    for Example { title, sql } in examples {
        let title = session.terminal.bold(title);
        text.push_str(&format!("\n{title}\n  dumptool query {} \"{sql}\"\n", files.join(" ")));
    }
    text
}
