//! Prints the results of rules.

use crate::cli::args::OutputFormat;
use crate::cli::open::Input;
use crate::cli::print::{Columns, Document, Shown, Value, markdown, print, to_stdout};
use crate::cli::session::Session;
use crate::cli::size::{count, plural};
use crate::cli::status::{OutputError, Status};
use crate::cli::terminal::{escaped, show_path};
use crate::error::Error;
use crate::input::check::Finding;
use std::io::Write;

/// The result of a rule.
pub(super) struct Outcome {
    pub(super) finding: Finding,
    /// Why, if it is broken: what holds the objects, who calls the function.
    pub(super) note: Option<String>,
    /// Nothing has a name that the rule is about, in an older dump neither, so that it cannot be broken.
    pub(super) is_void: bool,
}

/// What ended the reading of a file early: of the one that is checked, or of the older one.
#[derive(Clone, Copy)]
pub(super) struct Damage<'a> {
    pub(super) input: &'a Input,
    pub(super) error: &'a Error,
}

/// The results of all rules.
#[derive(Clone, Copy)]
pub(super) struct Verdict<'a> {
    pub(super) input: &'a Input,
    pub(super) damage: Option<Damage<'a>>,
    pub(super) ok: bool,
    /// What is as the runtime writes it, but has to be known.
    pub(super) warnings: &'a [String],
}

/// Prints all findings; to people those of broken rules, unless they want more. Tells whether a rule is broken.
pub(super) fn print_outcomes(
    outcomes: &[Outcome],
    input: &Input,
    damage: Option<Damage<'_>>,
    session: &Session,
) -> anyhow::Result<Status> {
    let kept = outcomes.iter().all(|outcome| outcome.finding.ok);
    // A misspelt gate would be open for ever. That there is none of something may well be what was asked for.
    for outcome in outcomes.iter().filter(|outcome| outcome.is_void) {
        session.terminal.warn(&input.path, &outcome.finding.message);
    }
    // What could not be read may break a rule.
    let verdict = Verdict { input, damage, ok: kept && damage.is_none(), warnings: &[] };
    let columns = columns(session, |outcome: &Outcome| &outcome.finding).text("note", "NOTE", |outcome| outcome.note.as_ref());
    let text = || text(outcomes, verdict, session);
    print_verdict(verdict, outcomes, &columns, |outcome| &outcome.finding, &text, session)?;
    Ok(if kept { Status::Done } else { Status::Broken })
}

/// The columns of findings.
pub(super) fn columns<'a, T>(session: &'a Session, of: fn(&T) -> &Finding) -> Columns<'a, T> {
    Columns::new(session)
        .text("rule", "RULE", move |row| &of(row).rule)
        .text("ok", "OK", move |row| of(row).ok)
        .shown_as(move |row| (if of(row).ok { "ok" } else { "FAIL" }).to_owned())
        .value("limit", move |row| of(row).limit)
        .value("actual", move |row| of(row).actual)
        .text("message", "MESSAGE", move |row| &of(row).message)
        .table(&["ok", "rule", "message", "note"])
}

/// Prints findings in the format that was asked for.
pub(super) fn print_verdict<'a, T>(
    verdict: Verdict<'_>,
    rows: &'a [T],
    columns: &Columns<'a, T>,
    finding: fn(&T) -> &Finding,
    text: &dyn Fn() -> String,
    session: &Session,
) -> anyhow::Result<()> {
    let Verdict { input, damage, ok, warnings } = verdict;
    if session.common.format == OutputFormat::Github {
        return print_annotations(verdict, rows, columns, finding);
    }
    let document = || {
        Document::new("dumptool/check/1", &input.path)
            .with("format", input.format.name())
            .with("ok", ok)
            .with("damage", damage.map(|damage| damage_json(&damage)))
            .rows("findings")
            .with("warnings", warnings.iter().map(|warning| warning.clone().into()).collect::<Vec<Value<'_>>>())
    };
    print(session, document, rows, columns, &Shown::Text(text))
}

fn damage_json(Damage { input, error: damage }: &Damage<'_>) -> Value<'static> {
    Value::from([
        ("offset", damage.offset().into()),
        ("kind", damage.kind().name().into()),
        ("message", damage.message().to_string().into()),
        ("file", input.path.to_string_lossy().into_owned().into()),
    ])
}

/// Prints an annotation of GitHub Actions for each broken rule, and a table of all rules, which becomes part of the summary of the
/// job if there is one.
fn print_annotations<'a, T>(
    verdict: Verdict<'_>,
    rows: &'a [T],
    columns: &Columns<'a, T>,
    finding: fn(&T) -> &Finding,
) -> anyhow::Result<()> {
    let file = show_path(&verdict.input.path);
    let title = property(&format!("dumptool check {file}"));
    let mut table = Vec::new();
    writeln!(table, "\n{}: {}\n", markdown::text(&file), if verdict.ok { "ok" } else { "failed" })?;
    markdown::table(columns, rows, &mut table)?;
    to_stdout(|out| {
        for finding in rows.iter().map(finding).filter(|finding| !finding.ok) {
            writeln!(out, "::error title={title}::{}", data(&escaped(&finding.message)))?;
        }
        if let Some(Damage { input, error }) = verdict.damage {
            writeln!(out, "::error title={title}::{}", data(&format!("{}: {}", show_path(&input.path), error.headline())))?;
        }
        out.write_all(&table)
    })?;
    if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
        let summary = std::fs::OpenOptions::new().append(true).create(true).open(&path);
        let written = summary.and_then(|mut summary| summary.write_all(&table));
        written.map_err(|error| OutputError::new(path.as_ref(), error))?;
    }
    Ok(())
}

/// The message of an annotation, in which GitHub decodes these three.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of an annotation, which ends at a comma or colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

fn text(outcomes: &[Outcome], Verdict { input, damage, .. }: Verdict<'_>, session: &Session) -> String {
    let terminal = &session.terminal;
    let mut text = String::new();
    for Outcome { finding, note, .. } in outcomes.iter().filter(|outcome| session.common.verbose || !outcome.finding.ok) {
        let verdict = match (finding.ok, damage.is_some()) {
            (true, false) => terminal.good("ok  "),
            (true, true) => terminal.caution("?   "),
            (false, _) => terminal.bad("FAIL"),
        };
        text.push_str(&format!("{verdict}  {}\n", escaped(&finding.message)));
        if let Some(note) = note {
            text.push_str(&format!("      {}\n", terminal.dim(note)));
        }
    }
    let broken = outcomes.iter().filter(|outcome| !outcome.finding.ok).count() as u64;
    let rules = plural(outcomes.len() as u64, "rule", "rules");
    text.push_str(&match broken {
        0 => match damage {
            None => format!("{}, {rules} passed\n", terminal.good("ok")),
            Some(damage) => {
                let of =
                    if damage.input.path == input.path { String::new() } else { format!(" of {}", show_path(&damage.input.path)) };
                format!("{}: {rules} checked up to the damage{of}, all passed\n", terminal.bad("damaged"))
            }
        },
        broken => format!("{} of {} rules failed\n", terminal.bad(&count(broken)), count(outcomes.len() as u64)),
    });
    text
}
