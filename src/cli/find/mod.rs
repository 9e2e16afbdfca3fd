//! `find`: objects, or functions, that fit a description.

mod heap;
mod profile;

use super::args::FindArgs;
use super::session::Session;
use super::status::Status;
use crate::input::Kind;

pub(super) fn run(args: &FindArgs, session: &Session) -> anyhow::Result<Status> {
    let input = session.open(&args.file)?.at(args.heap.options.snapshot);
    match input.kind {
        Kind::Heap => {
            input.refuse(Kind::Profile, &[("--line", args.line.is_some())])?;
            input.refuse(Kind::Profile, &args.profile.given())?;
            heap::run(args, &input, session)
        }
        Kind::Profile => {
            input.refuse(Kind::Heap, &heap_options(args))?;
            input.refuse(Kind::Heap, &args.heap.options.given())?;
            profile::run(args, &input, session)
        }
    }
}

fn heap_options(args: &FindArgs) -> [(&'static str, bool); 10] {
    let heap = &args.heap;
    [
        ("--detached", heap.detached),
        ("--min-size", heap.min_size.is_some()),
        ("--max-size", heap.max_size.is_some()),
        ("--min-retained", heap.min_retained.is_some()),
        ("--value", heap.value.is_some()),
        ("--root", heap.root.is_some()),
        ("--unreachable", heap.unreachable),
        ("--live", heap.live),
        ("--sort", heap.sort.is_some()),
        ("--no-retained", heap.no_retained),
    ]
}
