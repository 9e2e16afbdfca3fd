//! `check`: every invariant that a format promises, or limits that a dump has to keep.

mod heap;
mod invariants;
mod profile;
mod report;
mod rules;

use super::args::CheckArgs;
use super::session::Session;
use super::status::{self, Status};
use crate::input::Kind;
use report::Report;
use std::path::Path;

pub(super) fn run(args: &CheckArgs, session: &Session) -> anyhow::Result<Status> {
    let mut reports = Vec::new();
    let mut unread = Status::Done;
    for path in &args.files {
        match check(path, args, session) {
            Ok(report) => reports.push(report),
            Err(error) if args.files.len() == 1 => return Err(error),
            // One unreadable file does not keep the others from being checked.
            Err(error) => unread = unread.max(status::report(&error, &session.terminal)),
        }
    }
    let status = reports.iter().map(|report| report.status).fold(unread, Status::max);
    report::print_all(reports, args.files.len() > 1, session)?;
    Ok(status)
}

fn check(path: &Path, args: &CheckArgs, session: &Session) -> anyhow::Result<Report> {
    let input = session.open(path)?;
    match input.kind {
        Kind::Heap => input.refuse(Kind::Profile, &args.profile.given())?,
        Kind::Profile => input.refuse(Kind::Heap, &args.heap.given())?,
    }
    match (args.rules.given(), input.kind) {
        (false, _) => invariants::run(&input, session),
        (true, Kind::Heap) => heap::run(args, &input, session),
        (true, Kind::Profile) => profile::run(args, &input, session),
    }
}
