//! `tree`: who holds what, or who calls what.

mod calls;
mod draw;
mod heap;
mod profile;

use super::args::{Common, TreeArgs};
use super::kind::refuse_options_of;
use super::open::Input;
use super::status::Status;
use super::terminal::Terminal;
use crate::input::Kind;

pub(super) fn run(args: &TreeArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let input = Input::open(&args.file, common)?;
    match input.kind {
        Kind::Heap => {
            refuse_options_of(Kind::Profile, &[("--focus", args.focus.is_some())], &input)?;
            refuse_options_of(Kind::Profile, &args.profile.given(), &input)?;
            heap::run(args, &input, common, terminal)
        }
        Kind::Profile => {
            refuse_options_of(Kind::Heap, &[("--by", args.by.is_some())], &input)?;
            refuse_options_of(Kind::Heap, &args.heap.given(), &input)?;
            profile::run(args, &input, common, terminal)
        }
    }
}
