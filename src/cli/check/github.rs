//! Results as annotations of GitHub Actions.

use super::report::{Position, Report, with_columns};
use crate::cli::print::{Columns, markdown, to_output, write_markdown};
use crate::cli::session::Session;
use crate::cli::status::OutputError;
use crate::cli::terminal::{escaped, show_path};
use std::io::Write;

/// Prints an annotation of GitHub Actions for each broken rule, and a table of all rules, which
/// becomes part of the summary of the job if there is one.
pub(super) fn print(report: &Report, session: &Session) -> anyhow::Result<()> {
    let file = show_path(&report.path);
    let title = property(&format!("dumptool check {file}"));
    let place = |position: &Position| {
        let line = position.line.map(|line| format!("line={line},")).unwrap_or_default();
        format!("file={},{line}", property(&escaped(position.path())))
    };
    let columns = with_columns(Columns::new(session), |outcome| outcome);
    let mut table = Vec::new();
    writeln!(table, "\n{}: {}\n", markdown::text(&file), if report.ok { "ok" } else { "failed" })?;
    write_markdown(&columns, &report.outcomes, &mut table)?;
    to_output(session, &mut |out| {
        for outcome in report.outcomes.iter().filter(|outcome| !outcome.finding.ok) {
            let place = outcome.position.as_ref().map(place).unwrap_or_default();
            let message = data(&escaped(&outcome.finding.message));
            writeln!(out, "::error {place}title={title}::{message}")?;
        }
        if let Some(damage) = &report.damage {
            writeln!(out, "::error title={title}::{}", data(&damage.sentence()))?;
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

/// Encodes the message of an annotation, in which GitHub decodes these three sequences.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Encodes a property of an annotation, which a comma or colon would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
