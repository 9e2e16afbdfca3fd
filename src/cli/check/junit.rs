//! Results as JUnit XML, which most services for continuous integration show.

use super::report::{Outcome, Report};
use crate::cli::print::to_output;
use crate::cli::session::Session;
use crate::cli::terminal::{escaped, show_path};
use crate::output::syntax::Xml;
use std::io::{self, Write};

/// Prints a suite for each file, with a case for each rule, and one with an error if the file is
/// damaged.
pub(super) fn print(reports: &[Report], session: &Session) -> anyhow::Result<()> {
    to_output(session, &mut |out| {
        let [tests, failures, errors] = reports.iter().map(counts).fold([0; 3], |sum, counts| {
            [sum[0] + counts[0], sum[1] + counts[1], sum[2] + counts[2]]
        });
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<testsuites name=\"dumptool check\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">"
        )?;
        reports.iter().try_for_each(|report| suite(report, out))?;
        writeln!(out, "</testsuites>")
    })
}

/// The numbers of cases, of failures, and of errors.
fn counts(report: &Report) -> [usize; 3] {
    let errors = usize::from(report.damage.is_some());
    let failures = report.outcomes.iter().filter(|outcome| !outcome.finding.ok).count();
    [report.outcomes.len() + errors, failures, errors]
}

fn suite(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let [tests, failures, errors] = counts(report);
    let file = show_path(&report.path);
    let file = Xml(&file);
    writeln!(
        out,
        "  <testsuite name=\"{file}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"0\">"
    )?;
    report.outcomes.iter().try_for_each(|outcome| case(outcome, &file, out))?;
    if let Some(damage) = &report.damage {
        let message = damage.sentence();
        writeln!(
            out,
            "    <testcase classname=\"{file}\" name=\"the file is complete\" time=\"0\">\n      <error message=\"{}\" type=\"{}\"/>\n    </testcase>",
            Xml(&message),
            damage.kind
        )?;
    }
    writeln!(out, "  </testsuite>")
}

fn case(outcome: &Outcome, file: &Xml<'_>, out: &mut dyn Write) -> io::Result<()> {
    let rule = escaped(&outcome.finding.rule);
    write!(out, "    <testcase classname=\"{file}\" name=\"{}\" time=\"0\"", Xml(&rule))?;
    if let Some(position) = &outcome.position {
        write!(out, " file=\"{}\"", Xml(&escaped(position.path())))?;
        if let Some(line) = position.line {
            write!(out, " line=\"{line}\"")?;
        }
    }
    if outcome.finding.ok {
        return writeln!(out, "/>");
    }
    let message = escaped(&outcome.finding.message);
    let note = outcome.note.as_deref().map(escaped).unwrap_or_default();
    writeln!(
        out,
        ">\n      <failure message=\"{}\" type=\"{}\">{}</failure>\n    </testcase>",
        Xml(&message),
        outcome.kind,
        Xml(&note)
    )
}
