//! `show`: everything about one object.

mod contents;
mod origin;

use super::args::{OutputFormat, ShowArgs};
use super::heap::path::{headline, named_root, root_json, root_text};
use super::heap::{Analysed, find_object, open_heap, report_loaded, value};
use super::print::{Align, Columns, Document, Shown, Table, Value as Json, print, to_json};
use super::session::Session;
use super::size::{count, left_out};
use super::status::Status;
use super::terminal::shown;
use crate::analysis::paths::Origin;
use crate::cli::heap::Answers;
use crate::model::heap::{ObjectId, Reference, Value};
use contents::Contents;

pub(super) fn run(args: &ShowArgs, session: &Session) -> anyhow::Result<Status> {
    let instead = Some("`dumptool tree --focus GLOB` shows callers and callees");
    let (input, held) = open_heap(session, "show", &args.file, &args.heap, instead)?;
    let loaded = held.get();
    let analysed = loaded.analysed();
    let object = find_object(&loaded.heap, &args.object, &input)?;
    let neighbours = Neighbours::of(loaded, object, session.rows(args.limit, SHOWN), session);
    let contents = Contents::of(&analysed, loaded.collections(), object, args.entries);
    let rows: Vec<Row> = neighbours.rows().collect();
    let document = || {
        let roots = neighbours.roots.iter().map(|row| root_text(analysed.heap, Origin::Root(*row)));
        let roots: Vec<Json> = roots.map(|(kind, label)| root_json(kind, label)).collect();
        let (references, referrers) = (neighbours.references.len(), neighbours.referrers.len());
        let omitted = [
            ("references", (neighbours.all_references - references as u64).into()),
            ("fields", contents.omitted_fields().into()),
            ("referrers", (neighbours.all_referrers - referrers as u64).into()),
            ("elements", contents.omitted_elements().into()),
            ("entries", contents.omitted_entries().into()),
        ];
        let document = Document::new("dumptool/show/1", &args.file);
        described(
            document.with("snapshot", loaded.snapshot),
            &analysed,
            object,
            &contents,
            args.limit,
        )
        .with("roots", roots)
        .some_rows("references", 0..references)
        .some_rows("referrers", references..usize::MAX)
        .with("omitted", Json::from(omitted))
    };
    let text = || text(&analysed, object, &neighbours, &contents, args, session);
    let is_json = session.common.format == OutputFormat::Json;
    print(session, document, &rows, &columns(&analysed, is_json, session), &Shown::Text(&text))?;
    Ok(report_loaded(session, &input, loaded))
}

/// Maximum number of entries, elements and references of an object on a page without a server.
const STORED: u64 = 12;
const STORED_FIELDS: usize = 40;

/// The document of `show` for an object, without its roots and referrers, which only a pass over
/// all roots and references would find.
pub(super) fn stored(
    loaded: &Answers<'_>,
    analysed: &Analysed<'_, '_>,
    object: ObjectId,
    session: &Session,
) -> serde_json::Value {
    let mut contents = Contents::of(analysed, loaded.collections(), object, Some(STORED));
    contents.limit_fields(STORED_FIELDS);
    let all = analysed.heap.references_of(object);
    let omitted = [
        ("references", (all.len() as u64).saturating_sub(STORED).into()),
        ("fields", contents.omitted_fields().into()),
        ("elements", contents.omitted_elements().into()),
        ("entries", contents.omitted_entries().into()),
    ];
    let rows: Vec<Row> = all.take(STORED as usize).map(Row::reference).collect();
    let document = described(Document::default(), analysed, object, &contents, Some(STORED));
    let document = document.rows("references").with("omitted", Json::from(omitted));
    to_json(&document, &rows, &columns(analysed, true, session))
}

/// Adds the data of the object itself and its dominator. A limit of 0 shows all bytes.
fn described<'d>(
    document: Document<'d>,
    analysed: &'d Analysed<'_, '_>,
    object: ObjectId,
    contents: &'d Contents<'_, '_, '_>,
    limit: Option<u64>,
) -> Document<'d> {
    let dominator = analysed.tree().dominator(object);
    document
        .with("object", analysed.json(object))
        .with("external_bytes", analysed.heap.external_bytes(object))
        .with("reachable", analysed.reachable(object))
        .with("dominator", dominator.map(|dominator| analysed.json(dominator)))
        .with("location", origin::location_json(analysed.heap, object))
        .with("allocation", origin::allocation_json(analysed.heap, object))
        .with("value", value::json(analysed.heap, object, limit))
        .with("fields", contents.fields_json())
        .with("elements", contents.elements_json())
        .with("collection", contents.collection_json())
        .with("entries", contents.entries_json())
}

/// The default number of references and of referrers.
const SHOWN: usize = 20;

/// The references and referrers of an object to show.
struct Neighbours {
    references: Vec<Reference>,
    all_references: u64,
    /// References to the object. The `target` of each is the object that refers to it.
    referrers: Vec<Reference>,
    all_referrers: u64,
    roots: Vec<usize>,
}

impl Neighbours {
    fn of(loaded: &Answers<'_>, object: ObjectId, most: usize, session: &Session) -> Self {
        let heap = &loaded.heap;
        let references = heap.references_of(object);
        let all_references = references.len() as u64;
        let to_it = |from: ObjectId| {
            let to_object =
                heap.references_of(from).filter(move |reference| reference.target == object);
            to_object.map(move |reference| Reference { target: from, ..reference })
        };
        let (referrers, all_referrers) = match session.resident {
            // The list contains an object once for each of its references.
            Some(_) => {
                let all = loaded.referrers().of_object(object);
                let count = all.len() as u64;
                let mut last = None;
                let each = all.filter(|from| last.replace(*from) != Some(*from));
                (each.flat_map(to_it).take(most).collect(), count)
            }
            // One pass over all references takes no memory. Inverting them pays only for a program
            // that answers several requests.
            None => {
                let targets = |from| heap.references.targets(from);
                let each = heap.objects().filter(|from| targets(*from).contains(&object));
                let (mut referrers, mut count) = (Vec::new(), 0);
                for referrer in each.flat_map(to_it) {
                    count += 1;
                    if referrers.len() < most {
                        referrers.push(referrer);
                    }
                }
                (referrers, count)
            }
        };
        Self {
            references: references.take(most).collect(),
            all_references,
            referrers,
            all_referrers,
            roots: (0..heap.roots.len()).filter(|row| heap.roots[*row].object == object).collect(),
        }
    }
}

/// A reference, and whether it is from the object or to it.
struct Row {
    direction: &'static str,
    reference: Reference,
}

impl Row {
    fn reference(reference: Reference) -> Self {
        Self { direction: "reference", reference }
    }
}

impl Neighbours {
    fn rows(&self) -> impl Iterator<Item = Row> {
        let referrer = |reference: &Reference| Row { direction: "referrer", reference: *reference };
        let references = self.references.iter().copied().map(Row::reference);
        references.chain(self.referrers.iter().map(referrer))
    }
}

/// Columns of references and referrers. A document has a list for each direction, in which absent
/// labels are null.
fn columns<'a>(
    analysed: &'a Analysed<'_, '_>,
    is_document: bool,
    session: &'a Session,
) -> Columns<'a, Row> {
    let heap = analysed.heap;
    let label = |row: &Row| row.reference.label.text(&heap.names).into_owned();
    let columns = Columns::new(session);
    let columns = if is_document {
        columns.value("label", move |row: &Row| Some(label(row)).filter(|label| !label.is_empty()))
    } else {
        columns
            .text("direction", "DIRECTION", |row: &Row| row.direction)
            .text("label", "LABEL", label)
    };
    columns
        .text("weak", "WEAK", |row| row.reference.weak)
        .shown_as(|row| if row.reference.weak { "weak".to_owned() } else { String::new() })
        .text("id", "OBJECT", |row| heap.id(row.reference.target))
        .text("type", "TYPE", |row| heap.type_name(row.reference.target))
        .shown_as(|row| analysed.describe(row.reference.target))
        .value("namespace", |row| Json::non_empty(analysed.namespace(row.reference.target)))
        .bytes("shallow_bytes", "SHALLOW", |row| heap.shallow_bytes(row.reference.target))
        .bytes("retained_bytes", "RETAINED", |row| analysed.retained(row.reference.target))
}

/// The default number of lines of memory.
const SHOWN_LINES: usize = 16;
const SHOWN_ROOTS: usize = 5;

fn text(
    analysed: &Analysed<'_, '_>,
    object: ObjectId,
    neighbours: &Neighbours,
    contents: &Contents<'_, '_, '_>,
    args: &ShowArgs,
    session: &Session,
) -> String {
    let heap = analysed.heap;
    let mut text = headline(session, analysed, object);
    text.push_str("\n\n");
    let value = heap.value(object);
    text.push_str(
        &facts(analysed, object, (&value, contents), &neighbours.roots, session).render(),
    );
    text.push_str(&contents.text(session));
    if let Value::Bytes(bytes) = value
        && !bytes.is_empty()
        && !contents.has_numbers()
    {
        text.push_str(&format!("\n{}\n", session.terminal.bold("contents")));
        text.push_str(&value::hex(analysed, object, &bytes, session.rows(args.limit, SHOWN_LINES)));
    }
    // Fields and elements have been shown already.
    let is_part = contents.is_part();
    let others = heap.references_of(object).filter(|reference| !is_part(reference));
    let all = others.clone().count() as u64;
    if all > 0 || contents.is_empty() {
        let others: Vec<_> = others.take(session.rows(args.limit, SHOWN)).collect();
        text.push_str(&list("references", analysed, &others, all, session));
    }
    let (referrers, all) = (&neighbours.referrers, neighbours.all_referrers);
    text + &list("referrers", analysed, referrers, all, session)
}

/// The facts about an object except its contents.
fn facts(
    analysed: &Analysed<'_, '_>,
    object: ObjectId,
    (value, contents): (&Value<'_>, &Contents<'_, '_, '_>),
    roots: &[usize],
    session: &Session,
) -> Table {
    let heap = analysed.heap;
    let mut facts = Table::new(&[Align::Left, Align::Left]);
    let namespace = analysed.namespace(object);
    if !namespace.is_empty() {
        facts.row(["namespace", &shown(namespace)]);
    }
    match heap.representation(heap.type_id(object)) {
        "" => {}
        representation => facts.row(["representation", &shown(representation)]),
    }
    if let Some(line) = value::description(heap, object)
        .or_else(|| value::line(value))
        .or_else(|| Some(value::brief(heap, object)).filter(|brief| !brief.is_empty()))
    {
        facts.row(["value", &line]);
    }
    if let Some(collection) = contents.collection() {
        facts.row(["collection", &collection]);
    }
    origin::add(&mut facts, heap, object);
    facts.row(["reachable", &reachable(analysed, object)]);
    facts.row(["dominator".to_owned(), dominator(analysed, object, session)]);
    for row in roots.iter().take(SHOWN_ROOTS) {
        let (kind, root) = root_text(heap, Origin::Root(*row));
        facts.row(["root".to_owned(), named_root(kind, &root)]);
    }
    if roots.len() > SHOWN_ROOTS {
        let shown = format!("showing {SHOWN_ROOTS} of {} roots", count(roots.len() as u64));
        facts.row(["".to_owned(), shown]);
    }
    facts
}

fn reachable(analysed: &Analysed<'_, '_>, object: ObjectId) -> String {
    match analysed.reachable(object) {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => format!("unknown ({})", analysed.unknown()),
    }
}

fn dominator(analysed: &Analysed<'_, '_>, object: ObjectId, session: &Session) -> String {
    match analysed.tree().dominator(object) {
        Some(dominator) => {
            let retained = session.size(analysed.retained(dominator));
            format!(
                "{} {}, retains {retained}",
                analysed.describe(dominator),
                analysed.heap.id(dominator)
            )
        }
        None if !analysed.is_live(object) => "none".to_owned(),
        None if analysed.heap.roots.iter().any(|root| root.object == object) => {
            "none (held by a root)".to_owned()
        }
        None => "none (held by more than one root or path)".to_owned(),
    }
}

/// Returns the retained bytes of an object, for a column of its own.
fn retains(analysed: &Analysed<'_, '_>, object: ObjectId, session: &Session) -> String {
    if analysed.is_live(object) {
        format!("retains {}", session.size(analysed.retained(object)))
    } else {
        analysed.not_live(object).to_owned()
    }
}

fn list(
    title: &str,
    analysed: &Analysed<'_, '_>,
    references: &[Reference],
    all: u64,
    session: &Session,
) -> String {
    let heap = analysed.heap;
    if references.is_empty() {
        return format!("\n{}: none\n", session.terminal.bold(title));
    }
    let mut table = Table::new(&[
        Align::Left,
        Align::Right,
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Left,
    ]);
    for reference in references {
        let object = reference.target;
        table.row([
            format!(
                "{}{}",
                shown(&reference.label.text(&heap.names)),
                if reference.weak { " (weak)" } else { "" }
            ),
            heap.id(object),
            analysed.describe(object),
            session.size(heap.shallow_bytes(object)),
            retains(analysed, object, session),
            value::brief(heap, object),
        ]);
    }
    let left_out = left_out(references.len(), all as usize, "reference", "references");
    format!("\n{}\n{}{left_out}", session.terminal.bold(title), table.render())
}
