//! `report`: one HTML page about a dump, or about several.

use super::address::is_address;
use super::args::{OutputFormat, ReportArgs};
use super::destination::{Destination, is_stdout};
use super::page;
use super::session::Session;
use super::status::{OutputError, Status, UsageError};
use super::terminal::{show_path, tell};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &ReportArgs, session: &Session) -> anyhow::Result<Status> {
    session.only(&[OutputFormat::Table], "report writes HTML; its data is JSON inside the page")?;
    let newest = args.newest();
    let output = match &args.output {
        Some(output) => output.clone(),
        None if newest == Path::new("-") || is_address(newest) => {
            let message = "report needs -o OUT when it reads standard input or an address";
            return Err(UsageError::new(message).into());
        }
        None => beside(newest),
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
        let size = session.size(page.len() as u64);
        tell("", &format!("{}: {size}", show_path(&output)));
    }
    Ok(status)
}

/// `app.hprof.report.html` beside the last file that was given.
fn beside(newest: &Path) -> PathBuf {
    let mut name = OsString::from(newest);
    name.push(".report.html");
    name.into()
}
