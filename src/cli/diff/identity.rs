//! `diff --objects`: which objects are new and which are gone, by id, address, or class and
//! identity hash.

use super::{document, side_json, with_rows};
use crate::analysis::diff::Side;
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::identity::{Fate, Identified, fates};
use crate::cli::args::DiffArgs;
use crate::cli::heap::{Analysed, load, no_such_type, report_loaded};
use crate::cli::open::{Identity, Input};
use crate::cli::print::{Align, Columns, Shown, Value, print};
use crate::cli::session::Session;
use crate::cli::size::{count, showing};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::show_path;
use crate::model::heap::{Heap, ObjectId};

/// Maximum number of new objects per class that JSON lists, if there are several classes.
const EXAMPLES: usize = 20;
/// Maximum number of new objects that JSON lists for a single class, so that a page can mark them.
const MOST_EXAMPLES: usize = 1000;

/// A class with new or gone objects.
struct Row<'a> {
    fate: &'a Fate,
    new_bytes: u64,
    gone_bytes: u64,
    /// The new objects that retain most.
    largest: Vec<ObjectId>,
}

pub(super) fn run(
    args: &DiffArgs,
    old: &Input,
    new: &Input,
    session: &Session,
) -> anyhow::Result<Status> {
    if args.by.is_some() || args.sort.is_some() {
        return Err(UsageError::new(
            "--by and --sort cannot be used with --objects, which compares objects by class",
        )
        .into());
    }
    let instead = "omit --objects to compare types";
    let (old_hashes, new_hashes) = (hashes(old, instead)?, hashes(new, instead)?);
    if old.format != new.format {
        let error = UsageError::new("--objects cannot compare dumps of different formats");
        return Err(error.hint("omit --objects to compare types").into());
    }
    let roots = &args.heap.roots;
    let held_old = load(session, "diff", old, args.heap.snapshot.map(|pair| pair.old), roots)?;
    let held_new = load(session, "diff", new, args.heap.snapshot.map(|pair| pair.new), roots)?;
    let (loaded_old, loaded_new) = (held_old.get(), held_new.get());
    let mut all = fates(
        Identified { heap: &loaded_old.heap, hashes: old_hashes.as_deref() },
        Identified { heap: &loaded_new.heap, hashes: new_hashes.as_deref() },
    );
    let filter = args.filter.filter();
    all.retain(|fate| filter.selects(&fate.name, &fate.namespace));
    let is_sound = loaded_old.damage.is_none() && loaded_new.damage.is_none();
    if all.is_empty() && !filter.is_empty() && is_sound {
        return Err(no_such_type(&args.filter, Vec::new()).into());
    }
    let analysed = loaded_new.analysed();
    let most = if all.len() == 1 { MOST_EXAMPLES } else { EXAMPLES };
    let changed = all.iter().filter(|fate| !fate.new.is_empty() || !fate.gone.is_empty());
    let mut rows: Vec<Row<'_>> =
        changed.map(|fate| Row::of(fate, &loaded_old.heap, &analysed, most)).collect();
    rows.sort_by_key(|row| {
        std::cmp::Reverse((
            row.new_bytes.max(row.gone_bytes),
            row.fate.new.len() as u64 + row.fate.gone.len() as u64,
        ))
    });
    let shown = session.shown(&rows, args.limit, super::ROWS).0;
    let document = || {
        let document = document(old, new)
            .with("old_snapshot", loaded_old.snapshot)
            .with("new_snapshot", loaded_new.snapshot)
            .with("by", "type")
            .with("objects", "identity")
            .with("filter", args.filter.json())
            .with("verdict", Value::Null)
            .with("grown", Value::Null)
            .with("old_total", all_of(&loaded_old.heap))
            .with("new_total", all_of(&loaded_new.heap));
        with_rows(document, rows.len() - shown.len(), (all.len() - rows.len()) as u64)
    };
    let by_hash = new_hashes.is_some();
    let footer = || footer(&all, by_hash, rows.len(), shown.len());
    print(session, document, shown, &columns(&analysed, by_hash, session), &Shown::Table(&footer))?;
    Ok(report_loaded(session, old, loaded_old).max(report_loaded(session, new, loaded_new)))
}

impl<'a> Row<'a> {
    fn of(fate: &'a Fate, old: &Heap<'_>, new: &Analysed<'_, '_>, most: usize) -> Self {
        let bytes = |heap: &Heap<'_>, objects: &[ObjectId]| {
            objects
                .iter()
                .fold(0_u64, |sum, object| sum.saturating_add(heap.shallow.get(object.index())))
        };
        Self {
            fate,
            new_bytes: bytes(new.heap, &fate.new),
            gone_bytes: bytes(old, &fate.gone),
            largest: largest(&fate.new, new, most),
        }
    }
}

/// The objects that retain most, at most `most` of them.
fn largest(objects: &[ObjectId], heap: &Analysed<'_, '_>, most: usize) -> Vec<ObjectId> {
    let order = |object: &ObjectId| (std::cmp::Reverse(heap.retained(*object)), *object);
    let mut largest = objects.to_vec();
    if largest.len() > most {
        largest.select_nth_unstable_by_key(most, order);
        largest.truncate(most);
    }
    largest.sort_unstable_by_key(order);
    largest
}

fn columns<'c>(
    new: &'c Analysed<'_, '_>,
    by_hash: bool,
    session: &'c Session,
) -> Columns<'c, Row<'c>> {
    let uncertain = if by_hash { "unknown" } else { "doubtful" };
    let retains =
        |object| session.terminal.dim(&format!("retains {}", session.size(new.retained(object))));
    Columns::new(session)
        .text("name", "TYPE", |row: &Row| &row.fate.name)
        .value("namespace", |row| Value::non_empty(&row.fate.namespace))
        .number("kept", "KEPT", |row| row.fate.kept)
        .number("new", "NEW", |row| row.fate.new.len())
        .number("gone", "GONE", |row| row.fate.gone.len())
        .number("unknown", "NO HASH", |row| row.fate.unknown)
        .number("doubtful", "DOUBTFUL", |row| row.fate.doubtful)
        .bytes("new_shallow_bytes", "SHALLOW", |row| row.new_bytes)
        .value("gone_shallow_bytes", |row| row.gone_bytes)
        .json("largest", |row| row.largest.first().map(|object| new.json(*object)))
        .json("examples", |row| {
            row.largest.iter().map(|object| new.json(*object)).collect::<Vec<_>>()
        })
        .cell("largest_new", "LARGEST NEW ONE", Align::Left, move |row| {
            row.largest.first().map_or_else(String::new, |object| {
                format!("{} {}", new.heap.id(*object), retains(*object))
            })
        })
        .table(&["new", "new_shallow_bytes", "gone", "kept", uncertain, "name", "largest_new"])
        .minor(&[uncertain, "kept"])
}

fn footer(all: &[Fate], by_hash: bool, rows: usize, shown: usize) -> String {
    let sum = |read: fn(&Fate) -> u64| count(all.iter().map(read).sum());
    let what = "types with new or gone objects";
    let types = showing(shown, rows, what, what);
    let rest = if by_hash {
        format!("{} objects without identity hash ignored", sum(|fate| fate.unknown))
    } else {
        format!("{} doubtful: their type or size has changed", sum(|fate| fate.doubtful))
    };
    format!(
        "{types}; {} new, {} gone, {} kept; {rest}\n",
        sum(|fate| fate.new.len() as u64),
        sum(|fate| fate.gone.len() as u64),
        sum(|fate| fate.kept),
    )
}

/// Count and size of all compared objects, live or not, in JSON.
fn all_of(heap: &Heap<'_>) -> Value<'static> {
    let total = Histogram::of(heap, None, GroupBy::Type, Scope::All).total;
    side_json(&Side { sum: total, retained_bytes: None })
}

/// The identity hash codes of a dump. `None` if ids identify its objects. Fails with a
/// [`UsageError`] if nothing identifies its objects, with `instead` as the hint.
pub(super) fn hashes(input: &Input, instead: &str) -> anyhow::Result<Option<Vec<u32>>> {
    match input.identity()? {
        Identity::Ids => Ok(None),
        Identity::Hashes(hashes) => Ok(Some(hashes)),
        Identity::Nothing => {
            let file = show_path(&input.path);
            let message = format!("nothing in {file} identifies objects in another dump");
            Err(UsageError::new(message).hint(instead).into())
        }
    }
}
