//! `check`: every invariant that a format promises, or limits that a dump has to keep.

mod heap;
mod invariants;
mod profile;
mod report;
mod rules;

use super::args::CheckArgs;
use super::session::Session;
use super::status::Status;
use crate::input::Kind;

pub(super) fn run(args: &CheckArgs, session: &Session) -> anyhow::Result<Status> {
    let input = session.open(&args.file)?;
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
