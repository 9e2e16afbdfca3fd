//! The declared keys, read from tables in Markdown, and compared with printed documents.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// A key of a document.
pub(super) struct Row {
    /// `rows[].name`
    pub(super) path: String,
    /// `string`, `null`, `object`, `map` (an object with any keys), `any`, the name of another section, or
    /// `array of` one of them.
    pub(super) kinds: Vec<String>,
    /// Whether no object lacks the key.
    pub(super) always: bool,
    pub(super) meaning: String,
}

/// A kind of document, or of objects in several documents.
pub(super) struct Section {
    /// `dumptool/top/1`, or `Object`
    pub(super) name: String,
    pub(super) text: String,
    pub(super) rows: Vec<Row>,
}

#[derive(Default)]
pub(super) struct Contract {
    text: String,
    pub(super) sections: Vec<Section>,
    /// By section and path: how often objects have the key, its kinds, and a command.
    seen: BTreeMap<(String, String), Seen>,
    /// By section and path of objects: their number.
    objects: BTreeMap<(String, String), u64>,
}

struct Seen {
    count: u64,
    kinds: Vec<String>,
    command: String,
}

const HEAD: &str = "| key | type | always | meaning |\n|---|---|---|---|\n";

impl Section {
    pub(super) fn is_document(&self) -> bool {
        self.name.starts_with("dumptool/")
    }

    pub(super) fn row(&self, path: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.path == path)
    }

    /// A line for each key, for comparisons.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |row: &Row| {
            let always = if row.always { "always" } else { "" };
            format!("{}\t{}\t{}\t{always}\n", self.name, row.path, row.kinds.join(" or "))
        };
        self.rows.iter().map(line).collect()
    }
}

impl Contract {
    pub(super) fn parse(text: &str) -> Self {
        let (text, rest) = text.split_once("\n## ").unwrap_or((text, ""));
        let mut contract = Self { text: text.to_owned(), ..Self::default() };
        for part in rest.split("\n## ").filter(|part| !part.is_empty()) {
            let (name, body) = part.split_once('\n').unwrap();
            let (text, table) = body.split_once(HEAD).unwrap_or((body, ""));
            let rows = table.lines().filter(|line| line.starts_with("| `")).map(|line| {
                let cells: Vec<_> = line.trim_matches('|').splitn(4, '|').map(str::trim).collect();
                let [path, kinds, always, meaning] = cells[..] else { panic!("{line}") };
                Row {
                    path: path.trim_matches('`').to_owned(),
                    kinds: kinds.split(" or ").map(str::to_owned).collect(),
                    always: always == "yes",
                    meaning: meaning.to_owned(),
                }
            });
            let (name, text) = (name.trim().to_owned(), text.trim().to_owned());
            contract.sections.push(Section { name, text, rows: rows.collect() });
        }
        contract
    }

    pub(super) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Takes in a printed document.
    pub(super) fn watch(&mut self, document: &Value, command: &str) {
        let name = document["schema"].as_str().unwrap_or_else(|| panic!("{command}: no schema"));
        let mut open = vec![(name.to_owned(), String::new(), document)];
        while let Some((section, path, value)) = open.pop() {
            let allowed = self.section(&section).and_then(|section| section.row(&path));
            let allowed = allowed.map_or(&[][..], |row| &row.kinds);
            let (kind, next) = kind(value, &path, allowed);
            let to = match next.first() {
                Some((Some(other), _, _)) => other.clone(),
                _ => section.clone(),
            };
            if !path.is_empty() {
                self.note(&section, &path, kind, command);
            }
            for (_, path, object) in next {
                *self.objects.entry((to.clone(), path.clone())).or_default() += 1;
                let dot = if path.is_empty() { "" } else { "." };
                let members = object.iter().rev();
                open.extend(
                    members.map(|(key, value)| (to.clone(), format!("{path}{dot}{key}"), value)),
                );
            }
        }
    }

    fn note(&mut self, section: &str, path: &str, kind: String, command: &str) {
        let key = (section.to_owned(), path.to_owned());
        let first = || Seen { count: 0, kinds: Vec::new(), command: command.to_owned() };
        let seen = self.seen.entry(key).or_insert_with(first);
        seen.count += 1;
        if !seen.kinds.contains(&kind) {
            seen.kinds.push(kind);
        }
    }

    /// Whether no object was printed without the key.
    fn is_always(&self, section: &str, path: &str) -> bool {
        let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
        let objects = self.objects.get(&(section.to_owned(), parent.to_owned()));
        let seen = self.seen.get(&(section.to_owned(), path.to_owned()));
        seen.is_none_or(|seen| Some(&seen.count) == objects)
    }

    /// Declares what was printed, without meanings.
    pub(super) fn learn(&mut self) {
        for ((name, path), seen) in &self.seen {
            let always = self.is_always(name, path);
            if self.sections.iter().all(|section| section.name != *name) {
                let (name, text) = (name.clone(), String::new());
                self.sections.push(Section { name, text, rows: Vec::new() });
            }
            let section = self.sections.iter_mut().find(|section| section.name == *name).unwrap();
            if section.row(path).is_none() {
                let row = Row { path: path.clone(), kinds: vec![], always, meaning: String::new() };
                section.rows.push(row);
            }
            let row = section.rows.iter_mut().find(|row| row.path == *path).unwrap();
            row.always &= always;
            row.kinds.extend(
                seen.kinds
                    .iter()
                    .filter(|kind| !fits(kind, &row.kinds))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
            let named = row.kinds.clone();
            row.kinds.retain(|kind| {
                kind != "array" || !named.iter().any(|kind| kind.starts_with("array of"))
            });
        }
    }

    /// What is wrong about the declarations.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for ((name, path), Seen { kinds, command, .. }) in &self.seen {
            let Some(row) = self.section(name).and_then(|section| section.row(path)) else {
                problems.push(format!("{name} {path} is not declared: {command}"));
                continue;
            };
            let other: Vec<_> = kinds.iter().filter(|kind| !fits(kind, &row.kinds)).collect();
            if !other.is_empty() {
                problems.push(format!("{name} {path} is also {other:?}"));
            }
            if row.always && !self.is_always(name, path) {
                problems.push(format!("{name} {path} is not always there"));
            }
            if row.meaning.is_empty() {
                problems.push(format!("{name} {path} has no meaning"));
            }
        }
        problems
    }
}

/// Whether a printed value may be there.
fn fits(kind: &str, allowed: &[String]) -> bool {
    let has = |kind: &str| allowed.iter().any(|allowed| allowed == kind);
    has(kind)
        || has("any")
        || kind == "integer" && has("number")
        || kind == "array" && allowed.iter().any(|allowed| allowed.starts_with("array of"))
        || kind == "array of integer" && has("array of number")
}

/// An object with keys of its own: the section that declares them if it is another one, and its path.
type Inner<'v> = (Option<String>, String, &'v Map<String, Value>);

/// The kind of a value, and the objects in it whose keys are declared.
fn kind<'v>(value: &'v Value, path: &str, allowed: &[String]) -> (String, Vec<Inner<'v>>) {
    if let Value::Array(items) = value {
        let element = allowed.iter().find_map(|kind| kind.strip_prefix("array of "));
        let allowed: Vec<String> = element.map(str::to_owned).into_iter().collect();
        if element == Some("any") {
            return ("array of any".into(), Vec::new());
        }
        let mut kinds = Vec::new();
        let mut inner = Vec::new();
        for item in items {
            let (kind, objects) = kind(item, &format!("{path}[]"), &allowed);
            inner.extend(objects);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        return match &kinds[..] {
            [] => ("array".into(), inner),
            [kind] => (format!("array of {kind}"), inner),
            _ => ("array of any".into(), Vec::new()),
        };
    }
    let Value::Object(members) = value else { return (scalar(value).into(), Vec::new()) };
    if allowed.iter().any(|kind| kind == "map") {
        return ("map".into(), Vec::new());
    }
    let is_name = |kind: &&String| kind.starts_with(char::is_uppercase);
    match allowed.iter().find(is_name) {
        Some(name) => (name.clone(), vec![(Some(name.clone()), String::new(), members)]),
        None => ("object".into(), vec![(None, path.to_owned(), members)]),
    }
}

fn scalar(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Number(number) if number.is_f64() => "number",
        _ => "integer",
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.text.trim_end())?;
        for section in &self.sections {
            write!(out, "\n## {}\n\n{}\n\n{HEAD}", section.name, section.text)?;
            let mut rows: Vec<&Row> = section.rows.iter().collect();
            // What a document is comes first, and a key before those in it.
            rows.sort_by_key(|row| (row.path != "schema", row.path != "file", &row.path));
            for Row { path, kinds, always, meaning } in rows {
                let always = if *always { "yes" } else { "" };
                writeln!(out, "| `{path}` | {} | {always} | {meaning} |", kinds.join(" or "))?;
            }
        }
        Ok(())
    }
}
