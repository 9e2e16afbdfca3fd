//! Loading one snapshot into the model.
//!
//! Row n becomes object n. This includes the rows that represent parts of the root set, which have
//! size 0 and refer to each other, but to which no other row refers. Row 0 is the first root, so
//! that everything is reached from it as in the VM. The targets of the rows of the root set are
//! also listed as roots, under the names of these rows.
//!
//! Columns are decoded in parallel and narrowed on the way. References are not in the order of
//! rows: those of a row begin at `colrfstr`. The columns of rows are therefore decoded first, and
//! each reference goes to its place as soon as it is decoded, so that no column is held twice.

mod histogram;
mod order;
mod references;
mod roots;
mod rows;
mod threads;
mod types;

use super::dump::{COLLECTABLES, Data, Dump, REFERENCES, Snapshot};
use crate::error::{Error, Result};
use crate::input::load::{LoadOptions, Loaded, SnapshotChoice, no_snapshot};
use crate::input::read::Progress;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Ids, ObjectId, WarningKind};
pub use histogram::histogram;
use std::sync::atomic::{AtomicU64, Ordering};
use threads::Threads;

/// Loads a snapshot: the one with the requested number, or else the last complete one. If none is
/// complete, loads the last one that has all columns.
pub fn load<'a>(bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    let mut dump = Dump::read(bytes)?;
    let (number, mut builder) = first_readable(&mut dump, bytes, options, load_snapshot)?;
    let later = dump.snapshots.len().saturating_sub(number).saturating_sub(1);
    if options.snapshot == SnapshotChoice::Last {
        builder.warn(WarningKind::DamagedSnapshots, later as u64);
    }
    let heap = builder.finish(Ids::Rows(0), None);
    Ok(Loaded { damage: dump.damage, snapshot: number as u64, ..Loaded::of(heap) })
}

/// Reads the first candidate that can be read, and returns its number with the result. If earlier
/// candidates failed, the first error becomes the damage of the file.
fn first_readable<'a, T>(
    dump: &mut Dump<'a>,
    bytes: &[u8],
    options: LoadOptions<'_>,
    read: impl Fn(&Dump<'a>, &Snapshot<'a>, Progress<'_>) -> Result<T>,
) -> Result<(usize, T)> {
    let mut failure = None;
    for number in candidates(dump, options.snapshot, bytes.len() as u64)? {
        let Some(snapshot) = dump.snapshots.get(number) else { continue };
        match read(dump, snapshot, options.progress) {
            Ok(found) => {
                dump.note(failure);
                return Ok((number, found));
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.or(dump.damage.take()).unwrap_or_else(|| cut(bytes.len() as u64)))
}

/// The snapshots to try, in this order.
fn candidates(dump: &Dump<'_>, choice: SnapshotChoice, end: u64) -> Result<Vec<usize>> {
    let count = dump.snapshots.len();
    match choice {
        SnapshotChoice::Number(number) => {
            match usize::try_from(number).ok().filter(|&number| number < count) {
                Some(number) => Ok(vec![number]),
                None if count == 0 => Err(cut(end)),
                None => Err(no_snapshot(number, count as u64)),
            }
        }
        SnapshotChoice::Last => {
            let backwards = |complete: bool| {
                (0..count).rev().filter(move |&i| {
                    dump.snapshots.get(i).is_some_and(|snapshot| snapshot.complete == complete)
                })
            };
            let whole = |&i: &usize| {
                dump.snapshots.get(i).is_some_and(|snapshot| missing_column(snapshot).is_none())
            };
            Ok(backwards(true).chain(backwards(false).filter(whole)).collect())
        }
    }
}

#[cold]
fn cut(end: u64) -> Error {
    Error::truncated(end, "the input ends before the first complete snapshot")
}

fn missing_column(snapshot: &Snapshot<'_>) -> Option<&'static str> {
    match &snapshot.data {
        Data::Blocks(_) => COLLECTABLES
            .iter()
            .chain(&REFERENCES)
            .copied()
            .find(|name| snapshot.block(name).is_none()),
        Data::Sections { coll: Some(_), refs: Some(_) } => None,
        Data::Sections { refs: None, .. } => Some("refs"),
        Data::Sections { .. } => Some("coll"),
    }
}

#[cold]
fn not_whole(snapshot: &Snapshot<'_>, name: &str) -> Error {
    let what = format!("the snapshot is incomplete: \"{name}\" is missing");
    Error::truncated(snapshot.end, what).hint("another snapshot of the file may be complete")
}

fn load_snapshot<'a>(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    progress: Progress<'_>,
) -> Result<HeapBuilder<'a>> {
    if let Some(name) = missing_column(snapshot) {
        return Err(not_whole(snapshot, name));
    }
    let progress = Steps { done: AtomicU64::new(snapshot.start), progress };
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let labels = types::labels(dump, snapshot, builder.names());
    let (mut rows, order) = rows::read(dump, snapshot, &progress)?;
    // What represents roots is no object with bytes of its own; MoarVM writes 0, a damaged file may not.
    let kind = |object: &ObjectId| rows.kinds.get(object.index()).copied();
    rows.external.retain(|(object, _)| kind(object).and_then(roots::part).is_none());
    let (references, unnamed) =
        references::read(dump, snapshot, rows.first, &order, &labels, &progress)?;
    drop(order);
    let threads = Threads::of(&rows.kinds, &rows.tofi, &references);
    let (type_of, untyped) = types::add(dump, snapshot, &rows.kinds, rows.tofi, &mut builder);
    let heap = builder.heap();
    (heap.type_of, heap.shallow, heap.external, heap.references) =
        (type_of.into(), rows.shallow, rows.external, references);
    threads.add(dump, &mut builder);
    roots::add(&mut builder, &rows.kinds, &threads);
    builder.warn(WarningKind::UnknownLabels, unnamed);
    builder.warn(WarningKind::UnknownTypesOrFrames, untyped);
    Ok(builder)
}

/// The progress of all decompressing threads together.
struct Steps<'a> {
    done: AtomicU64,
    progress: Progress<'a>,
}

impl Steps<'_> {
    fn add(&self, bytes: u64) {
        (self.progress)(self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes));
    }
}
