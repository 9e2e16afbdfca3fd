//! `check`: every invariant that a format promises, or limits that a dump has to keep.

mod heap;
mod invariants;
mod profile;
mod report;
mod rules;

use super::args::{CheckArgs, Common};
use super::kind::refuse_options_of;
use super::open::Input;
use super::status::Status;
use super::terminal::Terminal;
use crate::input::Kind;

pub(super) fn run(args: &CheckArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let input = Input::open(&args.file, common)?;
    match input.kind {
        Kind::Heap => refuse_options_of(Kind::Profile, &args.profile.given(), &input)?,
        Kind::Profile => refuse_options_of(Kind::Heap, &args.heap.given(), &input)?,
    }
    match (args.rules.given(), input.kind) {
        (false, _) => invariants::run(&input, common, terminal),
        (true, Kind::Heap) => heap::run(args, &input, common, terminal),
        (true, Kind::Profile) => profile::run(args, &input, common, terminal),
    }
}
