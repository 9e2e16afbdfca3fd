//! `report`: one HTML page about a dump, or about several.

mod growth;
mod heap;
mod profile;
mod tables;

use super::args::{OutputFormat, ReportArgs};
use super::destination::{Destination, is_stdout};
use super::open::Input;
use super::session::Session;
use super::size::{count, size};
use super::status::{OutputError, Status, UsageError};
use super::terminal::{show_path, tell};
use crate::input::Kind;
use crate::output::report::Report;
use growth::Grown;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &ReportArgs, session: &Session) -> anyhow::Result<Status> {
    session.only(&[OutputFormat::Table], "report writes HTML; its data is JSON inside the page")?;
    let output = match (&args.output, args.newest().to_str()) {
        (Some(output), _) => output.clone(),
        (None, Some("-")) => {
            return Err(UsageError::new("report needs -o OUT when it reads standard input").into());
        }
        (None, _) => beside(args),
    };
    // A heap that lost its roots to damage has no page; the damage was reported.
    let (page, status) = match page(args, session)? {
        (Some(page), status) => (page, status),
        (None, status) => return Ok(status),
    };
    if let Some(older) = args.files.iter().rev().skip(1).find(|file| is_same(file, &output)) {
        return Err(UsageError::new(format!(
            "{} is an input and would be replaced by the page",
            show_path(older)
        ))
        .into());
    }
    let mut destination = Destination::create(&output, args.newest(), false)?;
    destination.write_all(page.as_bytes()).map_err(|error| OutputError::new(&output, error))?;
    destination.commit()?;
    if !session.common.quiet && !is_stdout(&output) {
        tell(
            "",
            &format!("{}: {}", show_path(&output), size(page.len() as u64, session.common.bytes)),
        );
    }
    Ok(status)
}

/// The page, unless a heap lost its roots to damage.
pub(super) fn page(
    args: &ReportArgs,
    session: &Session,
) -> anyhow::Result<(Option<String>, Status)> {
    let old = match args.files.as_slice() {
        [first, _, ..] => Some(session.open(first)?),
        _ => None,
    };
    let input = session.open(args.newest())?;
    if old.as_ref().is_some_and(|old| old.kind != input.kind) {
        return Err(different_kinds());
    }
    let grown = match &old {
        Some(old) => growth::over_files(args, (old, &input), session)?,
        None => growth::over_snapshots(args, &input, session)?,
    };
    let files = args.files.len();
    let subject = Subject { input: &input, old: old.as_ref(), files, grown: grown.as_ref() };
    let (page, status) = match input.kind {
        Kind::Heap => heap::page(args, subject, session)?,
        Kind::Profile => profile::page(args, subject, session)?,
    };
    Ok((page, grown.map_or(status, |grown| status.max(grown.status))))
}

/// The dumps that a page is about.
#[derive(Clone, Copy)]
struct Subject<'s> {
    /// The newest.
    input: &'s Input,
    /// The one that it is compared with.
    old: Option<&'s Input>,
    /// The number of these and of those between.
    files: usize,
    /// The types or functions of all of them, if there are more than two.
    grown: Option<&'s Grown>,
}

impl Subject<'_> {
    /// Adds the table over several dumps, if there are several.
    fn add_growth(&self, report: &mut Report, lines: usize) {
        if let Some(grown) = self.grown {
            let table = grown.table(report, table_rows(lines));
            report.tables.push(table);
        }
    }
}

fn different_kinds() -> anyhow::Error {
    UsageError::new("report compares heap dumps or profiles, not both").into()
}

/// Whether a file and an output are the same file.
fn is_same(file: &Path, output: &Path) -> bool {
    file.canonicalize().is_ok_and(|file| output.canonicalize().is_ok_and(|output| file == output))
}

/// `app.hprof.report.html` beside the last file that was given.
fn beside(args: &ReportArgs) -> PathBuf {
    let mut name = OsString::from(args.newest());
    name.push(".report.html");
    name.into()
}

/// An empty report on a file.
fn report(
    args: &ReportArgs,
    kind: &'static str,
    Subject { input, old, .. }: Subject<'_>,
    unit: &str,
) -> Report {
    let name = |input: &Input| {
        input
            .path
            .file_name()
            .map_or_else(|| "standard input".to_owned(), |name| name.to_string_lossy().into_owned())
    };
    let mut report =
        Report::new(kind, &name(input), input.format.title().to_owned(), unit.to_owned());
    report.live = args.live;
    report.old = old.map(name);
    report.options = args.heap.public_words();
    if let Some(title) = &args.title {
        report.file.clone_from(title);
        report.old = None;
    }
    report
}

/// Lines that the first attempt has: a page of about 1 MiB.
const LINES: usize = 20_000;

/// Rows that a table has beside a tree of so many lines.
fn table_rows(lines: usize) -> usize {
    (lines / 10).min(2000)
}

/// Builds pages with fewer and fewer lines until one is small enough. `build` returns a page for at
/// most so many lines of each tree.
///
/// # Errors
/// When even a page with hardly any lines is too large.
fn fitting(
    args: &ReportArgs,
    mut build: impl FnMut(usize) -> Report,
) -> Result<String, UsageError> {
    let mut lines = LINES;
    loop {
        let page = build(lines).page();
        let length = page.len() as u64;
        if length <= args.max_size {
            return Ok(page);
        }
        if lines <= 10 {
            let error = UsageError::new(format!("a report needs at least {} bytes", count(length)));
            return Err(error.hint("raise --max-size"));
        }
        // Lines take most of a page; the rest of it stays.
        let share = args.max_size as f64 / length as f64;
        lines = ((lines as f64 * share * 0.9) as usize).clamp(10, lines - lines / 10);
    }
}

/// Says how much of a tree the page has.
fn cut_note(tree: &str, shown: usize, all: usize) -> Option<String> {
    (shown < all).then(|| {
        format!(
            "The {tree} shows the {} largest of its {} lines.",
            count(shown as u64),
            count(all as u64)
        )
    })
}

/// The last line of the page.
fn made_by(report: &Report, subject: Subject<'_>) -> String {
    let between = if subject.files > 2 { "… " } else { "" };
    let old = report.old.as_ref().map(|old| format!("{old} {between}")).unwrap_or_default();
    format!(
        "Made by dumptool {} report {old}{}{}",
        env!("CARGO_PKG_VERSION"),
        report.quoted,
        report.options
    )
}
