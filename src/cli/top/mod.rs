//! `top`: what holds the memory, or where the time goes.

pub(super) mod document;
mod growth;
pub(super) mod heap;
mod profile;
pub(super) mod quick;
mod suspects;

pub(super) use profile::by_of;

use super::args::{ByArg, Common, TopArgs};
use super::kind::refuse_options_of;
use super::open::Input;
use super::status::Status;
use super::terminal::Terminal;
use crate::input::Kind;

/// Rows that are shown unless others are asked for.
const ROWS: usize = 20;

pub(super) fn run(args: &TopArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let input = Input::open(&args.file, common)?;
    match input.kind {
        Kind::Heap => {
            refuse_options_of(Kind::Profile, &[ByArg::given(args.by, Kind::Profile)], &input)?;
            refuse_options_of(Kind::Profile, &args.profile.given(), &input)?;
            refuse_options_of(Kind::Profile, &[("--cum", args.cum)], &input)?;
            match args.heap.suspects {
                true => suspects::run(args, &input, common, terminal),
                false => heap::run(args, &input, common, terminal),
            }
        }
        Kind::Profile => {
            refuse_options_of(Kind::Heap, &heap_options(args), &input)?;
            profile::run(args, &input, common, terminal)
        }
    }
}

fn heap_options(args: &TopArgs) -> [(&'static str, bool); 7] {
    let heap = &args.heap;
    [
        ByArg::given(args.by, Kind::Heap),
        ("--sort", heap.sort.is_some()),
        ("--objects", heap.objects.is_some()),
        ("--quick", heap.quick),
        ("--suspects", heap.suspects),
        ("--snapshot", heap.snapshot.is_some()),
        ("--roots", heap.roots.given()),
    ]
}
