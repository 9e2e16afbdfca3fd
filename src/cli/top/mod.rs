//! `top`: what holds the memory, or where the time goes.

mod growth;
mod heap;
mod profile;
mod suspects;

use super::args::{ByArg, TopArgs};
use super::session::Session;
use super::status::{Status, UsageError};
use crate::input::Kind;

/// Rows that are shown unless others are requested.
const ROWS: usize = 20;

pub(super) fn run(args: &TopArgs, session: &Session) -> anyhow::Result<Status> {
    let input = session.open(&args.file)?;
    match input.kind {
        Kind::Heap => {
            input.refuse(Kind::Profile, &[ByArg::given(args.by, Kind::Profile)])?;
            input.refuse(Kind::Profile, &args.profile.given())?;
            input.refuse(Kind::Profile, &[("--cum", args.cum)])?;
            match args.heap.suspects {
                true if !args.filter.filter().is_empty() => Err(UsageError::new(
                    "--type, --namespace and --exclude cannot be used with --suspects",
                )
                .into()),
                true => suspects::run(args, &input, session),
                false => heap::run(args, &input, session),
            }
        }
        Kind::Profile => {
            input.refuse(Kind::Heap, &heap_options(args))?;
            input.refuse(Kind::Heap, &args.filter.given())?;
            profile::run(args, &input, session)
        }
    }
}

fn heap_options(args: &TopArgs) -> Vec<(&'static str, bool)> {
    let heap = &args.heap;
    let own = [
        ByArg::given(args.by, Kind::Heap),
        ("--sort", heap.sort.is_some()),
        ("--objects", heap.objects.is_some()),
        ("--quick", heap.quick),
        ("--suspects", heap.suspects),
        ("--detached", heap.detached),
        ("--snapshot", heap.snapshot.is_some()),
    ];
    [&own[..], &heap.roots.given()].concat()
}
