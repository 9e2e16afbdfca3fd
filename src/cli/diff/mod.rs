//! `diff`: what grew and shrank.

mod document;
mod heap;
mod identity;
mod profile;
mod text;

use super::args::{ByArg, Common, DiffArgs};
use super::kind::refuse_options_of;
use super::open::Input;
use super::status::{Status, UsageError};
use super::terminal::{Terminal, show_path};
use crate::input::Kind;

/// Rows that are shown unless others are asked for.
const ROWS: usize = 20;

pub(super) fn run(args: &DiffArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let range = args.heap.snapshot.is_some_and(|snapshot| snapshot.range);
    let new = match (&args.new, range) {
        (Some(new), _) => new,
        (None, true) => &args.old,
        (None, false) => {
            let error = UsageError::new("diff needs two files, or two snapshots of one");
            return Err(error.hint("diff OLD NEW, or diff FILE --snapshot A..B").into());
        }
    };
    let old = Input::open(&args.old, common)?;
    let new = Input::open(new, common)?;
    match (old.kind, new.kind) {
        (Kind::Heap, Kind::Heap) => {
            refuse_options_of(Kind::Profile, &[ByArg::given(args.by, Kind::Profile)], &old)?;
            refuse_options_of(Kind::Profile, &args.profile.given(), &old)?;
            heap::run(args, &old, &new, common, terminal)
        }
        (Kind::Profile, Kind::Profile) => {
            refuse_options_of(Kind::Heap, &heap_options(args), &old)?;
            profile::run(args, &old, &new, common, terminal)
        }
        (old_kind, _) => {
            let (heap, profile) = if old_kind == Kind::Heap { (&old, &new) } else { (&new, &old) };
            let (heap, profile) = (show_path(&heap.path), show_path(&profile.path));
            Err(UsageError::new(format!("{heap} is a heap and {profile} a profile: they cannot be compared")).into())
        }
    }
}

fn heap_options(args: &DiffArgs) -> [(&'static str, bool); 6] {
    let heap = &args.heap;
    [
        ByArg::given(args.by, Kind::Heap),
        ("--sort", heap.sort.is_some()),
        ("--objects", heap.objects.is_some()),
        ("--quick", heap.quick),
        ("--snapshot", heap.snapshot.is_some()),
        ("--roots", heap.roots.given()),
    ]
}
