//! An object as a person sees it: what it is, what it holds, who holds it.

use super::super::args::{Common, ShowArgs};
use super::super::objects::Analysed;
use super::super::path::{headline, root_text};
use super::super::size::{count, plural, size};
use super::super::table::{Align, Table};
use super::super::terminal::Terminal;
use super::{Neighbours, value};
use crate::analysis::paths::Origin;
use crate::model::heap::{ObjectId, Reference, Value};

/// Lines of memory that are shown when nothing else is asked for.
const SHOWN_LINES: usize = 16;
/// Roots that are shown.
const SHOWN_ROOTS: usize = 5;

pub(super) fn text(
    analysed: &Analysed<'_, '_>,
    object: ObjectId,
    neighbours: &Neighbours,
    args: &ShowArgs,
    common: &Common,
    terminal: &Terminal,
) -> String {
    let heap = analysed.heap;
    let mut text = headline(analysed, object, common, terminal);
    text.push_str("\n\n");
    let value = heap.value(object);
    let mut facts = Table::new(&[Align::Left, Align::Left]);
    let namespace = heap.names.text(heap.type_of(object).namespace);
    if !namespace.is_empty() {
        facts.row(["namespace", namespace]);
    }
    if let Some(line) = value::line(&value) {
        facts.row(["value", &line]);
    }
    facts.row(["reachable", reachable(analysed, object)]);
    facts.row(["dominator".to_owned(), dominator(analysed, object, common)]);
    for row in neighbours.roots.iter().take(SHOWN_ROOTS) {
        let (kind, root) = root_text(heap, Origin::Root(*row));
        facts.row(["root".to_owned(), format!("{} {root}", kind.name())]);
    }
    if neighbours.roots.len() > SHOWN_ROOTS {
        facts.row(["".to_owned(), format!("showing {SHOWN_ROOTS} of {} roots", count(neighbours.roots.len() as u64))]);
    }
    text.push_str(&facts.render());
    if let Value::Bytes(bytes) = value
        && !bytes.is_empty()
    {
        text.push_str(&format!("\n{}\n", terminal.bold("contents")));
        text.push_str(&value::hex(analysed, object, bytes, common.rows(args.limit, SHOWN_LINES)));
    }
    let (references, referrers) = (&neighbours.references, &neighbours.referrers);
    text.push_str(&list("references", analysed, references, neighbours.all_references, common, terminal));
    text.push_str(&list("referrers", analysed, referrers, neighbours.all_referrers, common, terminal));
    text
}

fn reachable(analysed: &Analysed<'_, '_>, object: ObjectId) -> &'static str {
    match (analysed.is_live(object), analysed.heap.roots.is_empty()) {
        (true, _) => "yes",
        (false, true) => "not known: the dump has no roots",
        (false, false) => "no",
    }
}

fn dominator(analysed: &Analysed<'_, '_>, object: ObjectId, common: &Common) -> String {
    match analysed.tree.dominator(object) {
        Some(dominator) => {
            let retained = size(analysed.retained(dominator), common.bytes);
            format!("{} {}, retains {retained}", analysed.describe(dominator), analysed.heap.id(dominator))
        }
        None if analysed.is_live(object) => "none: roots, or several paths from them, hold it".to_owned(),
        None => "none".to_owned(),
    }
}

fn list(
    title: &str,
    analysed: &Analysed<'_, '_>,
    references: &[Reference],
    all: u64,
    common: &Common,
    terminal: &Terminal,
) -> String {
    let heap = analysed.heap;
    if references.is_empty() {
        return format!("\n{}: none\n", terminal.bold(title));
    }
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Left, Align::Right, Align::Left, Align::Left]);
    for reference in references {
        let object = reference.target;
        table.row([
            format!("{}{}", reference.label.text(&heap.names), if reference.weak { " (weak)" } else { "" }),
            analysed.describe(object),
            heap.id(object),
            size(heap.shallow.get(object.index()), common.bytes),
            match analysed.is_live(object) {
                true => format!("retains {}", size(analysed.retained(object), common.bytes)),
                false => "unreachable".to_owned(),
            },
            brief(analysed, object),
        ]);
    }
    let mut text = format!("\n{}\n{}", terminal.bold(title), table.render());
    if (references.len() as u64) < all {
        text.push_str(&format!("  showing {} of {}\n", count(references.len() as u64), plural(all, "reference", "references")));
    }
    text
}

/// The value of an object beside others: its beginning, as `show` of the object itself says the rest. Names are part of how
/// objects are called.
pub(in crate::cli) fn brief(analysed: &Analysed<'_, '_>, object: ObjectId) -> String {
    const WIDTH: usize = 60;
    let line = match analysed.heap.value(object) {
        Value::Name(_) => return String::new(),
        value => value::line(&value).unwrap_or_default(),
    };
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
