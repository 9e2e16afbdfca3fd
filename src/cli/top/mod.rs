//! `top`: the types that hold the memory, or the functions that take the time.

mod growth;
mod heap;
mod profile;
mod suspects;
mod wasted;

use super::args::{ByArg, Snapshots, TopArgs};
use super::expand::expanded;
use super::profile::not_profiles;
use super::recording;
use super::session::Session;
use super::status::{Status, UsageError};
use crate::input::{Format, Kind};

/// The default number of rows.
const ROWS: usize = 20;

pub(super) fn run(args: &TopArgs, session: &Session) -> anyhow::Result<Status> {
    let snapshot = args.heap.snapshot.and_then(Snapshots::one);
    let (first, mut more) = expanded(&args.file, session)?;
    for path in &args.more {
        let (first, others) = expanded(path, session)?;
        more.push(first);
        more.extend(others);
    }
    let input = session.open(&first)?.at(snapshot);
    args.known.only_with("--suspects", args.heap.suspects)?;
    if !more.is_empty() && (input.kind == Kind::Heap || args.heap.suspects) {
        return Err(not_profiles(&input).into());
    }
    match input.kind {
        Kind::Heap => {
            input.refuse(Kind::Profile, &[ByArg::given(args.by, Kind::Profile)])?;
            input.refuse(Kind::Profile, &args.profile.given())?;
            input.refuse(Kind::Profile, &[("--cum", args.cum), ("--each", args.each)])?;
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
            if input.format == Format::Massif {
                let all = args.heap.snapshot == Some(Snapshots::All);
                let refused = input.refuse(Kind::Heap, &[("--snapshot all", all)]);
                refused.map_err(|error| {
                    error.hint("--snapshot N and --snapshot last show one snapshot")
                })?;
            }
            input.refuse(Kind::Heap, &args.filter.given())?;
            input.refuse(Kind::Heap, &args.known.given())?;
            if args.heap.suspects && input.format == Format::Jfr {
                return recording::suspects(args, &input, session);
            }
            input.refuse(Kind::Heap, &[ByArg::given(args.by, Kind::Heap)])?;
            if args.heap.suspects && wasted::has(input.format) {
                let options = heap_options(args).into_iter();
                let others =
                    options.filter(|(name, _)| !["--suspects", "--snapshot"].contains(name));
                input.refuse(Kind::Heap, &others.collect::<Vec<_>>())?;
                return wasted::run(args, &input, session);
            }
            input.refuse(Kind::Heap, &heap_options(args))?;
            profile::run(args, (&input, &more), session)
        }
    }
}

fn heap_options(args: &TopArgs) -> Vec<(&'static str, bool)> {
    let heap = &args.heap;
    let own = [
        ("--sort", heap.sort.is_some()),
        ("--objects", heap.objects.is_some()),
        ("--quick", heap.quick),
        ("--suspects", heap.suspects),
        ("--detached", heap.detached),
        ("--snapshot", heap.snapshot.is_some()),
    ];
    [&own[..], &heap.roots.given()].concat()
}
