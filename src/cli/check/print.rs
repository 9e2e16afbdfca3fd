//! Prints the results of rules in the format that was requested.

use super::report::{Outcome, Report, with_columns};
use super::{github, junit, sarif};
use crate::cli::args::OutputFormat;
use crate::cli::print::{Columns, Shown, print, print_documents, print_text};
use crate::cli::session::Session;
use std::path::PathBuf;

/// Prints the reports. Several files are an array in JSON, and a
/// column elsewhere.
pub(super) fn print_all(
    mut reports: Vec<Report>,
    several: bool,
    session: &Session,
) -> anyhow::Result<()> {
    match session.common.format {
        OutputFormat::Table => {
            return reports.iter().try_for_each(|report| print_text(session, &report.text));
        }
        OutputFormat::Github => {
            return reports.iter().try_for_each(|report| github::print(report, session));
        }
        OutputFormat::Junit => return junit::print(&reports, session),
        OutputFormat::Sarif => return sarif::print(&reports, session),
        _ => {}
    }
    let mut rows = Vec::new();
    let mut ranges = Vec::new();
    for report in &mut reports {
        let first = rows.len();
        let path = report.path.clone();
        rows.extend(report.outcomes.drain(..).map(|outcome| (path.clone(), outcome)));
        ranges.push(first..rows.len());
    }
    let columns = match (several, session.common.format) {
        (false, _) | (_, OutputFormat::Json) => Columns::new(session),
        _ => Columns::new(session)
            .text("file", "FILE", |(path, _): &(PathBuf, Outcome)| path.display().to_string()),
    };
    let columns = with_columns(columns, |(_, outcome)| outcome);
    let mut documents = reports.iter().zip(ranges).map(|(report, range)| report.document(range));
    match session.common.format {
        OutputFormat::Json if several => {
            print_documents(session, &documents.collect::<Vec<_>>(), &rows, &columns)
        }
        _ => print(
            session,
            || documents.next().unwrap_or_default(),
            &rows,
            &columns,
            &Shown::Text(&String::new),
        ),
    }
}
