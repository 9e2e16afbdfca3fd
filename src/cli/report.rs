//! `report`: one HTML page about a dump, or about several.

use super::args::{OutputFormat, ReportArgs};
use super::destination::{Destination, is_stdout};
use super::page;
use super::session::Session;
use super::size::size;
use super::status::{OutputError, Status, UsageError};
use super::terminal::{show_path, tell};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

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
    let (page, status) = match page::page(args, session)? {
        (Some(page), status) => (page, status),
        (None, status) => return Ok(status),
    };
    let mut destination = Destination::create(&output, false, session)?;
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

/// `app.hprof.report.html` beside the last file that was given.
fn beside(args: &ReportArgs) -> PathBuf {
    let mut name = OsString::from(args.newest());
    name.push(".report.html");
    name.into()
}
