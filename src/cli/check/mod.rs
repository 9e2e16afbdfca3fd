//! `check`: every invariant that a format promises, or limits that a dump has to keep.

mod github;
mod heap;
mod invariants;
mod junit;
mod measure;
mod profile;
mod report;
mod rules;
mod runs;
mod sarif;
mod threads;

use super::args::{CheckArgs, OutputFormat};
use super::open::Input;
use super::print::{Columns, Shown, print, print_documents, print_text};
use super::session::Session;
use super::status::{self, Status, UsageError};
use super::terminal::show_path;
use crate::input::Kind;
use report::{Outcome, Report, with_columns};
use std::path::{Path, PathBuf};

pub(super) fn run(args: &CheckArgs, session: &Session) -> anyhow::Result<Status> {
    let files = args.files();
    if files.is_empty() {
        let error = UsageError::new("no file to check");
        return Err(error.hint("write the newer files before --against").into());
    }
    if args.is_repeated() {
        let report = runs::check(args, session)?;
        let status = report.status;
        print_all(vec![report], false, session)?;
        return Ok(status);
    }
    let mut reports = Vec::new();
    let mut unread = Status::Done;
    for path in files {
        match check(path, args, session) {
            Ok(report) => reports.push(report),
            Err(error) if files.len() == 1 => return Err(error),
            // An unreadable file does not prevent the check of the others.
            Err(error) => unread = unread.max(status::report(&error, &session.terminal)),
        }
    }
    let status = reports.iter().map(|report| report.status).fold(unread, Status::max);
    print_all(reports, files.len() > 1, session)?;
    Ok(status)
}

fn check(path: &Path, args: &CheckArgs, session: &Session) -> anyhow::Result<Report> {
    let input = session.open(path)?.at(args.heap.snapshot);
    require_options(args, &input)?;
    match (args.rules.given(), input.kind) {
        (false, _) => invariants::run(args, &input, session),
        (true, Kind::Heap) => heap::run(args, &input, session),
        (true, Kind::Profile) => profile::run(args, &input, session),
    }
}

/// Refuses a file of another kind than the one it is compared with.
fn require_kind(input: &Input, kind: Kind) -> Result<(), UsageError> {
    let path = show_path(&input.path);
    match kind {
        _ if input.kind == kind => Ok(()),
        Kind::Heap => Err(UsageError::new(format!("{path} is a profile, not a heap"))),
        Kind::Profile => Err(UsageError::new(format!("{path} is a heap, not a profile"))),
    }
}

/// Refuses options that the file does not have, or that have no effect without a rule.
fn require_options(args: &CheckArgs, input: &Input) -> anyhow::Result<()> {
    match input.kind {
        Kind::Heap => {
            input.refuse(Kind::Profile, &[("--normalize", args.rules.normalize)])?;
            input.refuse(Kind::Profile, &args.profile.given())?;
        }
        Kind::Profile => {
            input.refuse(Kind::Heap, &args.heap.given())?;
            input.refuse(Kind::Heap, &[("--none-suspect", args.rules.none_suspect.is_some())])?;
        }
    }
    args.known.only_with("--none-suspect", args.rules.none_suspect.is_some())?;
    if !args.rules.given() {
        // Invariants are about the whole file, so options that select a part have no effect.
        let of_heaps = args.heap.given().into_iter().filter(|(name, _)| *name != "--layout");
        let options = of_heaps.chain(args.profile.given());
        if let Some((name, _)) = options.into_iter().find(|(_, given)| *given) {
            let error = UsageError::new(format!("{name} needs a rule, such as --max"));
            return Err(error.hint("without rules, check verifies the format of the file").into());
        }
    }
    Ok(())
}

/// Prints the reports. Several files are an array in JSON, and a column elsewhere.
fn print_all(mut reports: Vec<Report>, several: bool, session: &Session) -> anyhow::Result<()> {
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
