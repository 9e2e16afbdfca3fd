//! Results as SARIF 2.1.0, the format of static analysis that GitHub code scanning and editors read.

use super::report::{Outcome, Report};
use crate::cli::print::print_json;
use crate::cli::session::Session;
use crate::cli::terminal::escaped;
use crate::output::syntax::percent_encoded;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Prints a run with all rules, and a result for each that fails: at the function that breaks it, or
/// else at the dump.
pub(super) fn print(reports: &[Report], session: &Session) -> anyhow::Result<()> {
    let outcomes = || reports.iter().flat_map(|report| &report.outcomes);
    let kinds: BTreeMap<&str, &str> =
        outcomes().map(|outcome| (outcome.finding.rule.as_str(), outcome.kind)).collect();
    let rules: Vec<Value> = kinds
        .iter()
        .map(|(rule, kind)| {
            json!({"id": rule, "shortDescription": {"text": escaped(rule)}, "properties": {"kind": kind}})
        })
        .collect();
    let results = reports.iter().flat_map(|report| {
        let broken = report.outcomes.iter().filter(|outcome| !outcome.finding.ok);
        broken.map(|outcome| {
            let number = kinds.range(..outcome.finding.rule.as_str()).count();
            result(outcome, number, &report.path)
        })
    });
    let damage = reports.iter().filter_map(|report| {
        let damage = report.damage.as_ref()?;
        let place = location(&report.path.to_string_lossy(), None);
        Some(
            json!({"level": "error", "message": {"text": damage.sentence()}, "locations": [place]}),
        )
    });
    let damage: Vec<Value> = damage.collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dumptool",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [{
                "executionSuccessful": damage.is_empty(),
                "toolExecutionNotifications": damage,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
        }],
    });
    print_json(session, &document)
}

fn result(outcome: &Outcome, rule: usize, dump: &Path) -> Value {
    let finding = &outcome.finding;
    let place = match &outcome.position {
        Some(position) => location(position.path(), position.line),
        None => location(&dump.to_string_lossy(), None),
    };
    let note = outcome.note.iter().map(|note| format!("; {}", escaped(note)));
    let text = escaped(&finding.message) + &note.collect::<String>();
    json!({
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": text},
        "locations": [place],
        "properties": {
            "file": dump.to_string_lossy(),
            "limit": finding.limit,
            "actual": finding.actual,
        },
    })
}

fn location(path: &str, line: Option<u32>) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(path)}});
    if let Some(line) = line {
        place["region"] = json!({"startLine": line});
    }
    json!({"physicalLocation": place})
}

/// Encodes a path, or the URL of a script, as a URI reference: relative if the path is relative.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let start = match (path.starts_with('/'), path.as_bytes().get(1)) {
        (true, _) => "file://",
        (_, Some(b':')) => "file:///",
        _ => "",
    };
    // A colon in the first part of a relative path would end a scheme.
    let is_absolute = !start.is_empty() || path.contains("://");
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || "/-._~".contains(c) || (c == ':' && is_absolute);
    start.to_owned() + &percent_encoded(&path, is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("src/a b.rs"), "src/a%20b.rs");
        assert_eq!(uri("node:fs"), "node%3Afs");
        assert_eq!(uri("/tmp/ä:1"), "file:///tmp/%C3%A4:1");
        assert_eq!(uri(r"C:\x.js"), "file:///C:/x.js");
        assert_eq!(uri("https://a/b.js"), "https://a/b.js");
    }
}
