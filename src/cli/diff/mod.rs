//! `diff`: what grew and shrank.

mod heap;
mod identity;
mod profile;

use super::args::{ByArg, DiffArgs};
use super::open::Input;
use super::print::{Document, Value};
use super::session::Session;
use super::status::{Status, UsageError};
use super::terminal::show_path;
use crate::input::Kind;

/// Rows that are shown unless others are asked for.
const ROWS: usize = 20;

pub(super) fn run(args: &DiffArgs, session: &Session) -> anyhow::Result<Status> {
    let range = args.heap.snapshot.is_some_and(|snapshot| snapshot.range);
    let new = match (&args.new, range) {
        (Some(new), _) => new,
        (None, true) => &args.old,
        (None, false) => {
            let error = UsageError::new("diff requires two files, or two snapshots of one file");
            return Err(error
                .hint("use `dumptool diff OLD NEW` or `dumptool diff FILE --snapshot A..B`")
                .into());
        }
    };
    let old = session.open(&args.old)?;
    let new = session.open(new)?;
    match (old.kind, new.kind) {
        (Kind::Heap, Kind::Heap) => {
            old.refuse(Kind::Profile, &[ByArg::given(args.by, Kind::Profile)])?;
            old.refuse(Kind::Profile, &args.profile.given())?;
            heap::run(args, &old, &new, session)
        }
        (Kind::Profile, Kind::Profile) => {
            old.refuse(Kind::Heap, &heap_options(args))?;
            old.refuse(Kind::Heap, &args.filter.given())?;
            profile::run(args, &old, &new, session)
        }
        (old_kind, _) => {
            let (heap, profile) = if old_kind == Kind::Heap { (&old, &new) } else { (&new, &old) };
            let (heap, profile) = (show_path(&heap.path), show_path(&profile.path));
            Err(UsageError::new(format!(
                "cannot compare a heap ({heap}) with a profile ({profile})"
            ))
            .into())
        }
    }
}

fn heap_options(args: &DiffArgs) -> Vec<(&'static str, bool)> {
    let heap = &args.heap;
    let own = [
        ByArg::given(args.by, Kind::Heap),
        ("--sort", heap.sort.is_some()),
        ("--objects", heap.objects.is_some()),
        ("--quick", heap.quick),
        ("--snapshot", heap.snapshot.is_some()),
    ];
    [&own[..], &heap.roots.given()].concat()
}

/// The document of a comparison.
fn document<'a>(old: &Input, new: &Input) -> Document<'a> {
    let path = |input: &Input| input.path.display().to_string();
    Document::new("dumptool/diff/1", &new.path).with("old", path(old)).with("new", path(new))
}

/// Adds the rows, and what they leave out.
fn with_rows(document: Document<'_>, omitted: usize, unchanged: u64) -> Document<'_> {
    document
        .rows("rows")
        .with("omitted", Value::from([("rows", omitted.into())]))
        .with("unchanged", unchanged)
}
