//! `diff`: what grew and shrank.

mod heap;
mod identity;
mod profile;
mod survivors;

use super::args::{ByArg, DiffArgs, DiffSort};
use super::minified::warn_if_minified;
use super::open::Input;
use super::print::{Document, Value};
use super::session::Session;
use super::status::{Status, UsageError};
use super::terminal::show_path;
use crate::analysis::diff::Side;
use crate::input::origin::Difference;
use crate::input::{self, Format, Kind};
use crate::output::syntax::shell_word;

/// The default number of rows.
const ROWS: usize = 20;

pub(super) fn run(args: &DiffArgs, session: &Session) -> anyhow::Result<Status> {
    if !args.more.is_empty() {
        return Err(too_many(args).into());
    }
    if let (Some(before), Some(after)) = (&args.new, &args.after) {
        args.known.only_with("two heaps by type", false)?;
        let (base, before) = (session.open_old(&args.old)?, session.open(before)?);
        return survivors::run(args, [&base, &before, &session.open(after)?], session);
    }
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
    let old = session.open_old(&args.old)?;
    let new = session.open(new)?;
    let origin = |input: &Input| input::origin(input.format, input.bytes());
    let difference = origin(&old).difference(&origin(&new));
    match (old.kind, new.kind) {
        (Kind::Heap, Kind::Heap) => {
            old.refuse(Kind::Profile, &[ByArg::given(args.by, Kind::Profile)])?;
            old.refuse(Kind::Profile, &args.profile.given())?;
            old.refuse(Kind::Profile, &[DiffSort::given(args.sort, Kind::Profile)])?;
            let trims = !args.trim_path.is_empty();
            let own = [("--normalize", args.normalize), ("--trim-path", trims)];
            old.refuse(Kind::Profile, &own)?;
            difference.iter().for_each(|difference| warn(difference, &new, session));
            if args.new.is_some() {
                warn_if_minified(&old, &new, session);
            }
            let by_layout = difference.is_some() && old.format == new.format;
            heap::run(args, &old, &new, by_layout, session)
        }
        (Kind::Profile, Kind::Profile) => {
            old.refuse(Kind::Heap, &heap_choices(args))?;
            old.refuse(Kind::Heap, &heap_options(args))?;
            old.refuse(Kind::Heap, &args.filter.given())?;
            difference.iter().for_each(|difference| warn(difference, &new, session));
            warn_if_minified(&old, &new, session);
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

fn too_many(args: &DiffArgs) -> UsageError {
    let files = [&args.old].into_iter().chain(&args.new).chain(&args.after).chain(&args.more);
    let words: Vec<String> = files.map(|file| shell_word(&file.display().to_string())).collect();
    UsageError::new("diff compares two or three files; growth compares any number")
        .hint(format!("use `dumptool growth {}`", words.join(" ")))
}

/// Warns that two files come from different programs.
fn warn(difference: &Difference, new: &Input, session: &Session) {
    let (what, matched) = match new.kind {
        Kind::Heap => ("dump", "types are matched by name"),
        Kind::Profile => ("profile", "functions are matched by name"),
    };
    let by_layout = match new.format {
        Format::Go => ", unnamed types by layout",
        _ => "",
    };
    let message = match difference {
        Difference::Runtimes(old, new) => {
            format!("{new} {what}, but the old one is of {old}; {matched} only")
        }
        Difference::Versions(old, new) => {
            format!("{what} of {new}, but the old one is of {old}; {matched}{by_layout}")
        }
        Difference::TypeAddresses => {
            format!("another build, or loaded at other addresses; {matched}{by_layout}")
        }
    };
    session.terminal.warn(&new.path, &message);
}

/// The choices of `--by` and `--sort` that only heaps have, each with whether it was given.
fn heap_choices(args: &DiffArgs) -> [(String, bool); 2] {
    [ByArg::given(args.by, Kind::Heap), DiffSort::given(args.sort, Kind::Heap)]
}

fn heap_options(args: &DiffArgs) -> Vec<(&'static str, bool)> {
    let heap = &args.heap;
    let own = [
        ("--objects", heap.objects.is_some()),
        ("--quick", heap.quick),
        ("--snapshot", heap.snapshot.is_some()),
    ];
    [&own[..], &heap.roots.given(), &args.known.given()].concat()
}

fn document<'a>(old: &Input, new: &Input) -> Document<'a> {
    let path = |input: &Input| input.path.display().to_string();
    Document::new("dumptool/diff/1", &new.path).with("old", path(old)).with("new", path(new))
}

/// Adds the rows, and the numbers of omitted and unchanged rows.
fn with_rows(document: Document<'_>, omitted: usize, unchanged: u64) -> Document<'_> {
    document
        .rows("rows")
        .with("omitted", Value::from([("rows", omitted.into())]))
        .with("unchanged", unchanged)
}

fn side_json(side: &Side) -> Value<'static> {
    Value::from([
        ("count", side.sum.count.into()),
        ("shallow_bytes", side.sum.shallow_bytes.into()),
        ("external_bytes", side.sum.external_bytes.into()),
        ("retained_bytes", side.retained_bytes.into()),
    ])
}
