//! `diff BASE BEFORE AFTER`: objects born between the first two heaps and alive in the third.

use super::identity::hashes;
use crate::analysis::identity::{Identified, Tracker};
use crate::analysis::object_set::ObjectSet;
use crate::analysis::together::{Part, Together};
use crate::cli::args::DiffArgs;
use crate::cli::heap::path::{one_line, outline};
use crate::cli::heap::{Answers, HeldHeap, load, no_such_type, report_loaded};
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Document, Shown, Value, print};
use crate::cli::session::Session;
use crate::cli::size::{count, plural};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::{show_path, shown};
use crate::input::Kind;
use crate::model::heap::ObjectId;
use crate::model::roles::Role;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// The objects whose types have one name.
struct Row<'r> {
    namespace: &'r str,
    /// The objects born between the first two heaps, with their sizes in the second.
    born: Option<&'r Part>,
    /// The born objects that are alive in the third heap.
    survived: &'r Part,
    /// The survivor that retains most, and what holds it.
    largest: Option<(String, String, Vec<String>)>,
}

/// Compares three heaps of one process. One heap at a time is in memory.
pub(super) fn run(
    args: &DiffArgs,
    inputs: [&Input; 3],
    session: &Session,
) -> anyhow::Result<Status> {
    accept(args, inputs)?;
    let [base, before, after] = inputs;
    let (mut status, mut has_types) = (Status::Done, false);
    let mut opened = |input: &Input| -> anyhow::Result<_> {
        let hashes = hashes(input, "use `dumptool growth` to compare types over several dumps")?;
        let held = load(session, "diff", input, None, &args.heap.roots)?;
        status = status.max(report_loaded(session, input, held.get()));
        has_types |= args.filter.filter().types(&held.get().heap).contains(&true);
        Ok((held, hashes))
    };
    let (held, hash) = opened(base)?;
    let mut tracker = Tracker::new(identified(&held, hash.as_deref()));
    drop(held);
    let (held, hash) = opened(before)?;
    let born = tracker.born(identified(&held, hash.as_deref()));
    let born = together(held.get(), &born).parts;
    let born: FxHashMap<&str, &Part> = born.iter().map(|part| (part.name.as_str(), part)).collect();
    drop(held);
    let (held, hash) = opened(after)?;
    if !has_types && status == Status::Done {
        return Err(no_such_type(&args.filter, Vec::new()).into());
    }
    let last = held.get();
    let mut alive = tracker.survivors(identified(&held, hash.as_deref()));
    retain_selected(args, last, &mut alive);
    let mut survived = together(last, &alive);
    survived.parts.sort_by(|a, b| {
        let order = |part: &Part| Reverse((part.retained_bytes, part.sum.bytes()));
        order(a).cmp(&order(b)).then_with(|| a.name.cmp(&b.name))
    });
    let (parts, left) = session.shown(&survived.parts, args.limit, super::ROWS);
    let rows = rows(parts, &born, last, &alive, session);
    let sentence = sentence(rows.first(), &survived, inputs, session);
    let document = || {
        Document::new("dumptool/diff/1", &after.path)
            .with("base", show_path(&base.path))
            .with("before", show_path(&before.path))
            .with("after", show_path(&after.path))
            .with("filter", args.filter.json())
            .with("verdict", sentence.as_str())
            .rows("rows")
            .with("omitted", Value::from([("rows", left.len().into())]))
    };
    let footer = || {
        let types = plural(survived.parts.len() as u64, "type", "types");
        format!("showing {} of {types} with survivors\n", count(rows.len() as u64))
    };
    print(session, document, &rows, &columns(session), &Shown::Headed(&sentence, &footer))?;
    Ok(status)
}

/// Refuses options that need two dumps, and inputs that are not heaps of one format.
fn accept(args: &DiffArgs, inputs: [&Input; 3]) -> Result<(), UsageError> {
    let given = super::heap_options(args).into_iter().chain(args.profile.given());
    let given = given.map(|(name, given)| (name.to_owned(), given));
    let given = super::heap_choices(args).into_iter().chain(given);
    let loading = args.heap.roots.given();
    let only_two = |(name, given): &(String, bool)| {
        *given && !loading.iter().any(|(of_loading, _)| of_loading == name)
    };
    if let Some((name, _)) = given.into_iter().find(only_two) {
        return Err(UsageError::new(format!("{name} applies to two dumps, not to three")));
    }
    for input in inputs {
        if input.kind != Kind::Heap || input.format != inputs[0].format {
            let file = show_path(&input.path);
            let hint = "use `dumptool growth` for files of other kinds";
            return Err(UsageError::new(format!(
                "three dumps are compared object by object: {file} is not a heap of the first one's format"
            ))
            .hint(hint));
        }
    }
    Ok(())
}

fn identified<'h>(held: &'h HeldHeap, hashes: Option<&'h [u32]>) -> Identified<'h, 'h> {
    Identified { heap: &held.get().heap, hashes }
}

/// Groups the live ones of these objects by type name. The memory that a part of another object
/// retains, such as the table of a map that grew, counts for the objects below that part.
fn together(loaded: &Answers<'_>, objects: &ObjectSet) -> Together {
    let heap = &loaded.heap;
    let held = (!heap.roots.is_empty()).then(|| (loaded.graph(), loaded.tree()));
    let roles = heap.type_roles();
    let is_named = |object| {
        let role = roles[heap.type_id(object).0 as usize];
        !role.is_part() && !role.is_hidden() && !matches!(role, Role::Runtime | Role::Passage)
    };
    let is_member = |object| objects.contains(object);
    Together::of_objects(heap, held, is_member, |object| is_member(object) && is_named(object))
}

/// Keeps only the objects whose types the options select.
fn retain_selected(args: &DiffArgs, loaded: &Answers<'_>, objects: &mut ObjectSet) {
    let (heap, filter) = (&loaded.heap, args.filter.filter());
    let text = |name| heap.names.text(name);
    let selected: Vec<bool> = heap
        .types
        .iter()
        .map(|type_| filter.selects(text(type_.name), text(type_.namespace)))
        .collect();
    heap.objects()
        .filter(|object| !selected[heap.type_id(*object).0 as usize])
        .for_each(|object| objects.remove(object));
}

fn rows<'r>(
    parts: &'r [Part],
    born: &FxHashMap<&str, &'r Part>,
    last: &'r Answers<'_>,
    alive: &ObjectSet,
    session: &Session,
) -> Vec<Row<'r>> {
    let (heap, analysed) = (&last.heap, last.analysed());
    let mut largest: FxHashMap<&str, (u64, ObjectId)> = FxHashMap::default();
    for object in heap.objects().filter(|object| alive.contains(*object) && last.is_live(*object)) {
        let name = heap.names.text(heap.types[heap.type_id(object).0 as usize].name);
        let retained = analysed.retained(object);
        let most = largest.entry(name).or_insert((retained, object));
        if retained > most.0 {
            *most = (retained, object);
        }
    }
    let wanted = || parts.iter().filter_map(|part| largest.get(part.name.as_str()));
    let shortest =
        last.shortest_to(wanted().map(|(_, object)| *object), session.resident.is_some());
    let row = |part: &'r Part| {
        let example = largest.get(part.name.as_str()).map(|(_, object)| *object);
        let namespace = example.map_or("", |object| {
            heap.names.text(heap.types[heap.type_id(object).0 as usize].namespace)
        });
        let largest = example.and_then(|object| {
            let path = shortest.path(object)?;
            let (line, steps) = (one_line(&analysed, &path), outline(session, &analysed, &path));
            Some((heap.id(object), line, steps))
        });
        Row { namespace, born: born.get(part.name.as_str()).copied(), survived: part, largest }
    };
    parts.iter().map(row).collect()
}

/// `1.5 MiB: 200 Session born between a and b are alive in c, held by static app.SESSIONS (of 8 000
/// such objects)`.
fn sentence(
    first: Option<&Row<'_>>,
    survived: &Together,
    inputs: [&Input; 3],
    session: &Session,
) -> String {
    let [base, before, after] = inputs.map(|input| show_path(&input.path));
    let Some(row) = first else {
        return format!("nothing that was born between {base} and {before} is alive in {after}");
    };
    let Part { name, sum, retained_bytes } = row.survived;
    let holder = row.largest.as_ref().and_then(|(_, path, _)| path.rsplit_once(" → "));
    let held_by = holder.map_or(String::new(), |(holder, _)| format!(", held by {holder}"));
    format!(
        "{}: {} {} born between {base} and {before} are alive in {after}{held_by} (of {} such objects)",
        session.size((*retained_bytes).max(sum.bytes())),
        count(sum.count),
        shown(name),
        count(survived.sum.count),
    )
}

fn columns<'a>(session: &'a Session) -> Columns<'a, Row<'a>> {
    let born = |row: &Row<'_>| row.born.cloned().unwrap_or_else(|| Part::none(&row.survived.name));
    Columns::new(session)
        .text("name", "TYPE", |row: &Row| &row.survived.name)
        .value("namespace", |row| Value::non_empty(row.namespace))
        .number("born.count", "BORN", move |row| born(row).sum.count)
        .value("born.shallow_bytes", move |row| born(row).sum.shallow_bytes)
        .value("born.retained_bytes", move |row| born(row).retained_bytes)
        .number("survived.count", "SURVIVED", |row| row.survived.sum.count)
        .bytes("survived.shallow_bytes", "SHALLOW", |row| row.survived.sum.shallow_bytes)
        .bytes("survived.retained_bytes", "RETAINED", |row| row.survived.retained_bytes)
        .value("holder.label", |row| row.largest.as_ref().map(|(_, path, _)| path.clone()))
        .value("example", |row| row.largest.as_ref().map(|(object, ..)| object.clone()))
        .json("path", |row| {
            row.largest.as_ref().map(|(.., steps)| {
                steps.iter().map(|step| Value::from(step.clone())).collect::<Vec<_>>()
            })
        })
        .cell("held_by", "LARGEST, AND WHAT HOLDS IT", Align::Left, |row| {
            row.largest
                .as_ref()
                .map_or_else(String::new, |(object, path, _)| format!("{object}  {path}"))
        })
        .table(&[
            "survived.retained_bytes",
            "survived.shallow_bytes",
            "survived.count",
            "born.count",
            "name",
            "held_by",
        ])
        .minor(&["survived.shallow_bytes", "born.count"])
}
