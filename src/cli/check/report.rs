//! The results of rules.

use super::rules::Rule;
use crate::cli::args::{CheckArgs, NarrowOptions};
use crate::cli::open::Input;
use crate::cli::print::{Columns, Document, Value};
use crate::cli::session::Session;
use crate::cli::size::{count, plural};
use crate::cli::status::Status;
use crate::cli::terminal::{escaped, show_path};
use crate::error::Error;
use crate::input::Format;
use crate::input::check::{CheckWarning, Finding};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The findings in one file.
pub(super) struct Report {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    pub(super) status: Status,
    pub(super) ok: bool,
    pub(super) damage: Option<Damage>,
    /// Peculiarities of the runtime that users should know about.
    pub(super) warnings: Vec<CheckWarning>,
    pub(super) outcomes: Vec<Outcome>,
    pub(super) filters: NarrowOptions,
    /// The finding as text for people.
    pub(super) text: String,
}

/// The result of a rule.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) finding: Finding,
    /// The kind of the rule, in JSON.
    pub(super) kind: &'static str,
    /// The explanation of a failed rule: what holds the objects, or who calls the function.
    pub(super) note: Option<String>,
    /// The source of a function that breaks the rule.
    pub(super) position: Option<Position>,
    /// The numbers of repeated runs.
    pub(super) runs: Option<Runs>,
    /// Whether nothing matches the rule, in the older dump either, so that the rule cannot fail.
    pub(super) is_void: bool,
}

/// The numbers of repeated runs, and how far they scatter.
#[derive(Clone)]
pub(super) struct Runs {
    pub(super) new: Vec<u64>,
    pub(super) old: Vec<u64>,
    pub(super) noise: u64,
}

/// A place in a source file.
pub(super) struct Position {
    pub(super) file: String,
    pub(super) line: Option<u32>,
}

impl Outcome {
    /// Compares a number with the limit of a rule.
    pub(super) fn new(rule: &Rule, limit: u64, actual: u64, message: String) -> Self {
        let (text, ok) = (rule.text.clone(), actual <= limit);
        let finding = Finding { rule: text, ok, limit, actual, message };
        Self { finding, kind: rule.kind.name(), ..Self::default() }
    }
}

impl Runs {
    fn json(&self) -> Value<'static> {
        let list = |numbers: &[u64]| numbers.iter().map(|number| (*number).into()).collect();
        let (new, old): (Vec<Value<'_>>, Vec<Value<'_>>) = (list(&self.new), list(&self.old));
        Value::from([("noise", self.noise.into()), ("new", new.into()), ("old", old.into())])
    }
}

impl Position {
    /// The file's path, relative to the current folder if below it, as repository tools expect.
    pub(super) fn path(&self) -> &str {
        let folder = std::env::current_dir().unwrap_or_default();
        let file = self.file.strip_prefix("file://").unwrap_or(&self.file);
        let below = Path::new(file).strip_prefix(folder).ok().and_then(Path::to_str);
        below.filter(|below| !below.is_empty()).unwrap_or(file)
    }
}

/// The damage that ended the reading of a file early: of the one that is checked, or of the older
/// one.
#[derive(Clone)]
pub(super) struct Damage {
    path: PathBuf,
    offset: Option<u64>,
    pub(super) kind: &'static str,
    message: String,
    headline: String,
}

impl Damage {
    pub(super) fn of(input: &Input, error: &Error) -> Self {
        Self {
            path: input.path.clone(),
            offset: error.offset(),
            kind: error.kind().name(),
            message: error.message(),
            headline: error.headline(),
        }
    }

    /// The file, and the damage in one sentence.
    pub(super) fn sentence(&self) -> String {
        format!("{}: {}", show_path(&self.path), self.headline)
    }

    fn json(&self) -> Value<'_> {
        Value::from([
            ("offset", self.offset.into()),
            ("kind", self.kind.into()),
            ("message", (&self.message).into()),
            ("file", self.path.to_string_lossy().into_owned().into()),
        ])
    }
}

impl Report {
    /// The results of rules. `status` is that of the inputs.
    pub(super) fn of_rules(
        input: &Input,
        mut outcomes: Vec<Outcome>,
        damage: Option<Damage>,
        status: Status,
        args: &CheckArgs,
        session: &Session,
    ) -> Self {
        // A rule with a misspelt name would always pass, hence the warning. Rules of `--none` may
        // be meant to match nothing.
        for outcome in outcomes.iter_mut().filter(|outcome| outcome.is_void) {
            if args.rules.strict {
                outcome.finding.ok = false
            } else {
                session.terminal.warn(&input.path, &outcome.finding.message)
            }
        }
        let kept = outcomes.iter().all(|outcome| outcome.finding.ok);
        let status = status.max(if kept { Status::Done } else { Status::Broken });
        let prefix = if args.files().len() > 1 && !args.is_repeated() {
            format!("{}: ", show_path(&input.path))
        } else {
            String::new()
        };
        let text = text(&outcomes, input, damage.as_ref(), &prefix, session);
        // Data that could not be read may break a rule.
        Self {
            path: input.path.clone(),
            format: input.format,
            status,
            ok: kept && damage.is_none(),
            damage,
            warnings: Vec::new(),
            outcomes,
            filters: args.profile.narrow.clone(),
            text,
        }
    }

    pub(super) fn document(&self, rows: Range<usize>) -> Document<'_> {
        self.filters
            .describe(Document::new("dumptool/check/1", &self.path))
            .with("format", self.format.name())
            .with("ok", self.ok)
            .with("damage", self.damage.as_ref().map(Damage::json))
            .some_rows("findings", rows)
            .with(
                "warnings",
                self.warnings
                    .iter()
                    .map(|warning| warning.to_string().into())
                    .collect::<Vec<Value<'_>>>(),
            )
    }
}

pub(super) fn with_columns<'a, T>(
    columns: Columns<'a, T>,
    read: fn(&T) -> &Outcome,
) -> Columns<'a, T> {
    columns
        .text("rule", "RULE", move |row| &read(row).finding.rule)
        .value("kind", move |row| read(row).kind)
        .text("ok", "OK", move |row| read(row).finding.ok)
        .shown_as(move |row| (if read(row).finding.ok { "ok" } else { "FAIL" }).to_owned())
        .value("limit", move |row| read(row).finding.limit)
        .value("actual", move |row| read(row).finding.actual)
        .text("message", "MESSAGE", move |row| &read(row).finding.message)
        .text("note", "NOTE", move |row| read(row).note.as_ref())
        .json("runs", move |row| read(row).runs.as_ref().map(Runs::json))
        .table(&["file", "ok", "rule", "message", "note"])
}

fn text(
    outcomes: &[Outcome],
    input: &Input,
    damage: Option<&Damage>,
    prefix: &str,
    session: &Session,
) -> String {
    let terminal = &session.terminal;
    let mut text = String::new();
    for Outcome { finding, note, .. } in
        outcomes.iter().filter(|outcome| session.common.verbose || !outcome.finding.ok)
    {
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
            None => format!("{prefix}{}, {rules} passed\n", terminal.good("ok")),
            Some(damage) => {
                let file = if damage.path == input.path {
                    String::new()
                } else {
                    format!(" of {}", show_path(&damage.path))
                };
                format!(
                    "{prefix}{}: {rules} checked up to the damage{file}, all passed\n",
                    terminal.bad("damaged")
                )
            }
        },
        broken => format!(
            "{prefix}{} of {} rules failed\n",
            terminal.bad(&count(broken)),
            count(outcomes.len() as u64)
        ),
    });
    text
}
