//! What came of rules, for programs and for people.

use super::super::args::{Common, OutputFormat};
use super::super::export;
use super::super::open::Input;
use super::super::size::{count, plural};
use super::super::status::Status;
use super::super::terminal::Terminal;
use crate::error::Error;
use crate::input::check::Finding;
use crate::input::info::DamageRow;
use serde::Serialize;

/// What came of a rule.
pub(super) struct Outcome {
    pub(super) finding: Finding,
    /// Why, if it is broken: what holds the objects, who calls the function.
    pub(super) note: Option<String>,
    /// Nothing has a name that the rule is about, in an older dump neither, so that it cannot be broken.
    pub(super) is_void: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    format: &'static str,
    ok: bool,
    damage: Option<DamageRow<'a>>,
    findings: Vec<Row<'a>>,
}

#[derive(Default, Serialize)]
struct Row<'a> {
    rule: &'a str,
    ok: bool,
    limit: u64,
    actual: u64,
    message: &'a str,
    note: Option<&'a str>,
}

/// Prints all findings; to people those of broken rules, unless they want more. Tells whether a rule is broken.
pub(super) fn print(
    outcomes: &[Outcome],
    input: &Input,
    damage: Option<&Error>,
    common: &Common,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let kept = outcomes.iter().all(|outcome| outcome.finding.ok);
    // A misspelt gate would be open for ever. That there is none of something may well be what was asked for.
    for outcome in outcomes.iter().filter(|outcome| outcome.is_void) {
        terminal.warn(&input.path, &outcome.finding.message);
    }
    let rows = || outcomes.iter().map(row);
    let text = match common.format {
        OutputFormat::Table => text(outcomes, damage.is_some(), common, terminal),
        OutputFormat::Json => {
            let document = Document {
                schema: "dumptool/check/1",
                file: input.path.display().to_string(),
                format: input.format.name(),
                // What could not be read may break a rule.
                ok: kept && damage.is_none(),
                damage: damage.map(DamageRow),
                findings: rows().collect(),
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => export::lines(&rows().collect::<Vec<_>>())?,
        OutputFormat::Csv => export::csv(rows())?,
    };
    super::super::print_text(&text, common)?;
    Ok(if kept { Status::Done } else { Status::Broken })
}

fn text(outcomes: &[Outcome], is_damaged: bool, common: &Common, terminal: &Terminal) -> String {
    let mut text = String::new();
    for Outcome { finding, note, .. } in outcomes.iter().filter(|outcome| common.verbose || !outcome.finding.ok) {
        let verdict = match (finding.ok, is_damaged) {
            (true, false) => terminal.good("ok  "),
            (true, true) => terminal.caution("?   "),
            (false, _) => terminal.bad("FAIL"),
        };
        text.push_str(&format!("{verdict}  {}\n", finding.message));
        if let Some(note) = note {
            text.push_str(&format!("      {}\n", terminal.dim(note)));
        }
    }
    let broken = outcomes.iter().filter(|outcome| !outcome.finding.ok).count() as u64;
    let rules = plural(outcomes.len() as u64, "rule", "rules");
    text.push_str(&match broken {
        0 if is_damaged => format!("{}: {rules} kept in what could be read\n", terminal.bad("damaged")),
        0 => format!("{}, {rules} kept\n", terminal.good("ok")),
        broken => format!("{} of {rules} broken\n", terminal.bad(&count(broken))),
    });
    text
}

fn row(outcome: &Outcome) -> Row<'_> {
    let Finding { rule, ok, limit, actual, message } = &outcome.finding;
    Row { rule, ok: *ok, limit: *limit, actual: *actual, message, note: outcome.note.as_deref() }
}
