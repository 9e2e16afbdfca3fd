//! `find`: objects, or functions, that fit a description.

mod heap;
mod profile;

use super::args::{Common, FindArgs};
use super::kind::refuse_options_of;
use super::open::Input;
use super::status::Status;
use super::terminal::Terminal;
use crate::input::Kind;

pub(super) fn run(args: &FindArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let input = Input::open(&args.file, common)?;
    match input.kind {
        Kind::Heap => {
            refuse_options_of(Kind::Profile, &[("--line", args.line.is_some())], &input)?;
            refuse_options_of(Kind::Profile, &args.profile.given(), &input)?;
            heap::run(args, &input, common, terminal)
        }
        Kind::Profile => {
            refuse_options_of(Kind::Heap, &heap_options(args), &input)?;
            refuse_options_of(Kind::Heap, &args.heap.options.given(), &input)?;
            profile::run(args, &input, common, terminal)
        }
    }
}

fn heap_options(args: &FindArgs) -> [(&'static str, bool); 8] {
    let heap = &args.heap;
    [
        ("--min-size", heap.min_size.is_some()),
        ("--max-size", heap.max_size.is_some()),
        ("--min-retained", heap.min_retained.is_some()),
        ("--value", heap.value.is_some()),
        ("--root", heap.root.is_some()),
        ("--unreachable", heap.unreachable),
        ("--live", heap.live),
        ("--sort", heap.sort.is_some()),
    ]
}
