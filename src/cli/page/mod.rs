//! The HTML page about a dump, or about several, which `report` writes and `serve` shows.

mod growth;
mod heap;
mod profile;
mod tables;

use super::args::ReportArgs;
use super::open::Input;
use super::session::Session;
use super::size::count;
use super::status::{Status, UsageError};
use crate::input::Kind;
use crate::output::report::{BarPart, Report, Tone};
use crate::output::syntax::shell_word;
use growth::Grown;

/// Builds the page. The page is `None` if a heap lost its roots to damage.
pub(super) fn page(
    args: &ReportArgs,
    session: &Session,
) -> anyhow::Result<(Option<String>, Status)> {
    let old = match args.files.as_slice() {
        [first, _, ..] => Some(session.open_old(first)?.at(args.heap.snapshot)),
        _ => None,
    };
    let input = session.open(args.newest())?.at(args.heap.snapshot);
    if old.as_ref().is_some_and(|old| old.kind != input.kind) {
        return Err(different_kinds());
    }
    match input.kind {
        Kind::Heap => input.refuse(Kind::Profile, &args.profile.given())?,
        Kind::Profile => {
            input.refuse(Kind::Heap, &[&args.heap.given()[..], &args.known.given()].concat())?;
        }
    }
    let grown = match &old {
        Some(old) => growth::over_files(args, (old, &input), session)?,
        None => growth::over_snapshots(args, &input, session)?,
    };
    let files = args.files.len();
    let names = &*session.common.public_names();
    let subject = Subject { input: &input, old: old.as_ref(), files, grown: grown.as_ref(), names };
    let (page, status) = match input.kind {
        Kind::Heap => heap::page(args, subject, session)?,
        Kind::Profile => profile::page(args, subject, session)?,
    };
    Ok((page, grown.map_or(status, |grown| status.max(grown.status))))
}

/// The dumps that a page is about.
#[derive(Clone, Copy)]
struct Subject<'s> {
    /// The newest file.
    input: &'s Input,
    /// The oldest file, which the newest is compared with. `None` for a single file.
    old: Option<&'s Input>,
    /// The number of all files, including those between the oldest and the newest.
    files: usize,
    /// The types or functions of more than two files, or of several snapshots of one.
    grown: Option<&'s Grown>,
    /// The options that give names, each after a space.
    names: &'s str,
}

impl Subject<'_> {
    /// Adds the table and the curve of the growth, if there are any.
    fn add_growth(&self, report: &mut Report, lines: usize) {
        if let Some(grown) = self.grown {
            let table = grown.table(report, table_rows(lines));
            report.tables.push(table);
            report.curves.push(grown.curve());
            report.snapshots.clone_from(&grown.snapshots);
        }
    }
}

fn different_kinds() -> anyhow::Error {
    UsageError::new("report compares heap dumps or profiles, not both").into()
}

/// The warning on a page about a profile that has calls and no stacks.
const ESTIMATED: &str = "stacks are estimated from the calls between functions; costs of functions by themselves are exact";

/// An empty report on a file.
fn report(
    args: &ReportArgs,
    kind: &'static str,
    Subject { input, old, names, .. }: Subject<'_>,
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
    report.sql = args.live && cfg!(feature = "query");
    report.given = args.profile.pairs();
    let of_profile = args.profile.words().into_iter().map(|word| format!(" {}", shell_word(&word)));
    report.reading = args.heap.public_words() + names;
    report.options = of_profile.collect();
    report.filters = args.profile.narrow.json().and_then(|on| serde_json::to_value(on).ok());
    let words = args.profile.narrow.words();
    if !words.is_empty() {
        report.warnings.push(format!("only a part of the profile is shown:{words}"));
    }
    if args.profile.estimate {
        report.warnings.push(ESTIMATED.to_owned());
    }
    if let Some(title) = &args.title {
        report.file.clone_from(title);
        report.old = None;
    }
    report
}

/// Number of lines in the first attempt, which makes a page of about 400 KiB.
const LINES: usize = 6_000;

/// Maximum number of rows of a table on a page whose trees have `lines` lines.
fn table_rows(lines: usize) -> usize {
    lines / 10
}

/// Builds pages with fewer and fewer lines until one is small enough. `build` returns a page whose
/// trees have at most the given number of lines. Fails when even a page with hardly any lines is
/// too large.
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
        // Lines take most of a page; the rest of it does not shrink.
        let share = args.max_size as f64 / length as f64;
        lines = ((lines as f64 * share * 0.9) as usize).clamp(10, lines - lines / 10);
    }
}

/// Maximum number of parts of a bar, besides the rest.
const PARTS: usize = 8;
/// Smallest part of a bar, as a fraction (1/n): a smaller one has no room for a letter.
const LEAST_PART: u64 = 60;

/// The first rows as parts of a bar, those that shrank on the right, and then the rest. `rest`
/// makes the last part, given the remaining width and the width of all rows.
fn bar<T>(
    rows: &[T],
    width: impl Fn(&T) -> u64,
    part: impl Fn(&T) -> BarPart,
    rest: impl FnOnce(u64, u64) -> BarPart,
) -> Vec<BarPart> {
    let all = rows.iter().fold(0, |sum: u64, row| sum.saturating_add(width(row)));
    let wide = rows.iter().filter(|row| width(row) > all / LEAST_PART).take(PARTS);
    let mut parts: Vec<BarPart> = wide.map(part).collect();
    parts.sort_by_key(|part| part.tone == Tone::Down);
    let left = parts.iter().fold(all, |left, part| left.saturating_sub(part.width));
    parts.extend((left > 0).then(|| rest(left, all)));
    parts
}

/// The note on how much of a tree the page shows. `None` if it shows all.
fn cut_note(tree: &str, shown: usize, left_out: usize) -> Option<String> {
    (left_out > 0).then(|| {
        format!(
            "The {tree} shows the {} largest of its {} lines.",
            count(shown as u64),
            count((shown + left_out) as u64)
        )
    })
}

/// The last line of the page.
fn made_by(report: &Report, subject: Subject<'_>) -> String {
    let between = if subject.files > 2 { "… " } else { "" };
    let old = report.old.as_ref().map(|old| format!("{old} {between}")).unwrap_or_default();
    format!(
        "Made by dumptool {} report {old}{}{}{}",
        env!("CARGO_PKG_VERSION"),
        report.quoted,
        report.reading,
        report.options
    )
}
