//! JSON Schema of the declared documents.

use super::contract::{Contract, Row, Section};
use serde_json::{Map, Value, json};

/// The schema of a kind of document.
pub(super) fn of(section: &Section, contract: &Contract) -> Value {
    let mut schema = object(section, "");
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": section.name,
    });
    schema["properties"]["schema"]["const"] = section.name.clone().into();
    let mut definitions = Map::new();
    let mut open = names(section);
    while let Some(name) = open.pop() {
        if definitions.contains_key(&name) {
            continue;
        }
        let section = contract.section(&name).unwrap_or_else(|| panic!("no section {name}"));
        definitions.insert(name, object(section, ""));
        open.extend(names(section));
    }
    let mut whole = head.as_object().unwrap().clone();
    whole.append(schema.as_object_mut().unwrap());
    if !definitions.is_empty() {
        whole.insert("$defs".into(), definitions.into());
    }
    whole.into()
}

/// The other sections that a section names.
fn names(section: &Section) -> Vec<String> {
    let kinds = section.rows.iter().flat_map(|row| &row.kinds);
    let kinds = kinds.map(|kind| kind.trim_start_matches("array of "));
    kinds.filter(|kind| kind.starts_with(char::is_uppercase)).map(str::to_owned).collect()
}

fn object(section: &Section, prefix: &str) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for row in &section.rows {
        let Some(key) = row.path.strip_prefix(prefix).filter(|key| !key.contains('.')) else {
            continue;
        };
        properties.insert(key.into(), property(section, row));
        if row.always {
            required.push(key);
        }
    }
    json!({ "type": "object", "required": required, "properties": properties })
}

fn property(section: &Section, row: &Row) -> Value {
    let of = |kind: &String| of_kind(section, kind, &row.path);
    let mut schemas: Vec<Value> = row.kinds.iter().map(of).collect();
    let mut schema = match &mut schemas[..] {
        [schema] => schema.take(),
        [schema, null] if *null == json!({ "type": "null" }) && schema["type"].is_string() => {
            schema["type"] = json!([schema["type"], "null"]);
            schema.take()
        }
        _ => json!({ "anyOf": schemas }),
    };
    schema["description"] = row.meaning.replace('`', "").into();
    schema
}

fn of_kind(section: &Section, kind: &str, path: &str) -> Value {
    if let Some(element) = kind.strip_prefix("array of ") {
        let items = of_kind(section, element, &format!("{path}[]"));
        return json!({ "type": "array", "items": items });
    }
    match kind {
        "any" => json!({}),
        "map" => json!({ "type": "object" }),
        "object" => object(section, &format!("{path}.")),
        name if name.starts_with(char::is_uppercase) => {
            json!({ "$ref": format!("#/$defs/{name}") })
        }
        kind => json!({ "type": kind }),
    }
}

/// The text of a schema: values that fit on a line are on one.
pub(super) fn text(schema: &Value) -> String {
    let mut out = String::new();
    write(schema, 0, &mut out);
    out + "\n"
}

fn write(value: &Value, depth: usize, out: &mut String) {
    let line = value.to_string();
    let Some(members) = value.as_object().filter(|_| line.len() > 160) else {
        return out.push_str(&line);
    };
    out.push('{');
    for (at, (key, value)) in members.iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str(&" ".repeat(2 * depth + 2));
        out.push_str(&format!("{}: ", Value::from(key.as_str())));
        write(value, depth + 1, out);
    }
    out.push_str(&format!("\n{}}}", " ".repeat(2 * depth)));
}
