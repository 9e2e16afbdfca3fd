//! Suspects in words: likely leaks and waste, each with the path that keeps it alive.

use super::held::Analyses;
use super::{Analysed, path, type_name, value};
use crate::analysis::paths::shortest::Shortest;
use crate::analysis::suspects::Suspect;
use crate::analysis::suspects::holders::Holder;
use crate::analysis::suspects::siblings::Siblings;
use crate::analysis::suspects::wasted::{Duplicates, Sparse};
use crate::cli::print::Columns;
use crate::cli::session::Session;
use crate::cli::size::{count, percent, plural};
use crate::cli::terminal::{self, shown};
use crate::model::heap::{Heap, ObjectId, Value};
use crate::output::report::ReportSuspect;

/// Describes suspects.
pub(crate) struct Suspects<'r, 'h, 'a> {
    analysed: &'r Analysed<'h, 'a>,
    shortest: Shortest<'h, 'a>,
    session: &'r Session,
}

impl<'r, 'h, 'a> Suspects<'r, 'h, 'a> {
    /// Describes these suspects, and no others.
    pub(crate) fn new(
        loaded: &'h Analyses<'a>,
        analysed: &'r Analysed<'h, 'a>,
        suspects: &[Suspect],
        session: &'r Session,
    ) -> Self {
        let objects = suspects.iter().filter_map(Suspect::object);
        let shortest = loaded.shortest_to(objects, session.resident.is_some());
        Self { analysed, shortest, session }
    }

    fn heap(&self) -> &'h Heap<'a> {
        self.analysed.heap
    }

    pub(crate) fn columns<'c>(&'c self) -> Columns<'c, Suspect> {
        let id = |suspect: &Suspect| {
            suspect.object().map(|object| self.heap().id(object)).unwrap_or_default()
        };
        let path = |suspect: &Suspect| {
            Some(path::json(self.analysed, &self.shortest.path(suspect.object()?)?))
        };
        Columns::new(self.session)
            .value("kind", |suspect: &'c Suspect| kind(suspect))
            .bytes("bytes", "BYTES", |suspect| suspect.bytes())
            .number("share", "SHARE", |suspect| self.share(suspect.bytes()))
            .shown_as(|suspect| percent(self.share(suspect.bytes())))
            .value("count", objects)
            .json("object", |suspect| suspect.object().map(|object| self.analysed.json(object)))
            .flat("object", "OBJECT", id)
            .text("message", "SUSPECT", |suspect| self.messages(suspect).join("; "))
            .json("path", path)
            .flat("path", "HELD BY", |suspect| self.path(suspect).unwrap_or_default())
            .table(&["bytes", "share", "message", "object", "path"])
    }

    pub(crate) fn text(&self, found: &[Suspect], most: usize) -> String {
        let live = self.session.size(self.analysed.tree().live_bytes());
        if found.is_empty() {
            return format!(
                "no suspects: no object or type dominates the {live} live heap; `dumptool tree` shows who holds what\n"
            );
        }
        let mut text = String::new();
        for suspect in &found[..most] {
            let bytes = self.session.size(suspect.bytes());
            let mut messages = self.messages(suspect).into_iter();
            let first = messages.next().unwrap_or_default();
            let numbers = format!(
                "{}  {:>7}  ",
                self.session.terminal.bold(&format!("{bytes:>11}")),
                percent(self.share(suspect.bytes()))
            );
            text.push_str(&terminal::hanging(&numbers, &first, terminal::columns()));
            text.push('\n');
            let mut line = |line: &str| text.push_str(&format!("{:22}{line}\n", ""));
            messages.for_each(|message| line(&message));
            if let Some(path) = self.path(suspect) {
                line(&self.session.terminal.dim(&path));
            }
            text.push('\n');
        }
        let suspects = plural(found.len() as u64, "suspect", "suspects");
        text.push_str(&format!(
            "showing {} of {suspects} in the {live} live heap; `dumptool path` shows why they are alive\n",
            count(most as u64)
        ));
        text
    }

    fn share(&self, bytes: u64) -> f64 {
        let share = bytes as f64 / self.analysed.tree().live_bytes().max(1) as f64;
        (share * 1e4).round() / 1e4
    }

    /// A suspect on a page.
    pub(crate) fn on_page(&self, suspect: &Suspect) -> ReportSuspect {
        let path = suspect.object().and_then(|object| self.shortest.path(object));
        ReportSuspect {
            bytes: suspect.bytes(),
            share: self.share(suspect.bytes()),
            message: self.messages(suspect).join("; "),
            path: path
                .map(|path| path::outline(self.session, self.analysed, &path))
                .unwrap_or_default(),
        }
    }

    fn path(&self, suspect: &Suspect) -> Option<String> {
        Some(path::one_line(self.analysed, &self.shortest.path(suspect.object()?)?))
    }

    /// The suspicion, then details.
    fn messages(&self, suspect: &Suspect) -> Vec<String> {
        match suspect {
            Suspect::Holder(holder) => self.holder(holder),
            Suspect::Siblings(siblings) => self.siblings(siblings),
            Suspect::Duplicates(duplicates) => self.duplicates(duplicates),
            Suspect::Sparse(sparse) => self.sparse(sparse),
        }
    }

    fn named(&self, object: ObjectId) -> String {
        format!("{} {}", self.analysed.describe(object), self.heap().id(object))
    }

    fn holder(&self, holder: &Holder) -> Vec<String> {
        let named = self.named(holder.object);
        let first = match holder.chain {
            1 => format!("held by one {named}"),
            chain => {
                format!("held by a chain of {}, from {named}", plural(chain, "object", "objects"))
            }
        };
        let mostly_own = holder.own >= holder.retained.div_ceil(2);
        let inside = holder.inside.filter(|_| !mostly_own).map(|group| {
            let of = shown(type_name(self.heap(), group.of));
            format!(
                "mostly {} {of}, which retain {}",
                count(group.count),
                self.session.size(group.bytes)
            )
        });
        let own = mostly_own
            .then(|| format!("{} of it is the object itself", self.session.size(holder.own)));
        [
            Some(first),
            inside.filter(|_| holder.chain == 1),
            own.filter(|_| holder.own < holder.retained),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn siblings(&self, siblings: &Siblings) -> Vec<String> {
        let of = shown(type_name(self.heap(), siblings.group.of));
        vec![format!(
            "in {} {of} below one {}",
            count(siblings.group.count),
            self.named(siblings.owner)
        )]
    }

    fn duplicates(&self, duplicates: &Duplicates) -> Vec<String> {
        let what = if duplicates.texts { "equal texts" } else { "equal blocks of bytes" };
        let values = plural(duplicates.values, "value", "values");
        let first = format!(
            "wasted by {what}: {} have one of {values}",
            plural(duplicates.objects, "object", "objects")
        );
        let worst = duplicates.worst.iter().map(|copies| {
            let wasted = self.session.size(copies.wasted);
            format!("{} × {} ({wasted})", count(copies.count), self.content(copies.example))
        });
        std::iter::once(first).chain(worst).collect()
    }

    /// The kind of duplicate.
    fn content(&self, object: ObjectId) -> String {
        let heap = self.heap();
        match heap.value(object) {
            Value::Bytes(bytes) => {
                let shown = bytes.trim_ascii_end();
                let end = shown.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                let size = self.session.size(bytes.len() as u64);
                match std::str::from_utf8(&shown[..end]) {
                    _ if end == 0 => format!("{size} of zeros, such as {}", self.named(object)),
                    Ok(text) if !text.contains(|c: char| c.is_control() && !c.is_whitespace()) => {
                        format!(
                            "{:?} in {size}, such as {}",
                            text.chars().take(40).collect::<String>(),
                            self.named(object)
                        )
                    }
                    _ => format!("{size}, such as {}", self.named(object)),
                }
            }
            _ => value::brief(self.heap(), object),
        }
    }

    fn sparse(&self, sparse: &Sparse) -> Vec<String> {
        let of = shown(type_name(self.heap(), sparse.of));
        vec![
            format!(
                "unused in {} of {} {of}: {} of {} places are taken",
                count(sparse.count),
                count(sparse.all),
                count(sparse.used),
                count(sparse.capacity)
            ),
            format!("emptiest: {}", self.named(sparse.example)),
        ]
    }
}

fn kind(suspect: &Suspect) -> &'static str {
    match suspect {
        Suspect::Holder(_) => "holder",
        Suspect::Siblings(_) => "siblings",
        Suspect::Duplicates(duplicates) if duplicates.texts => "duplicate_texts",
        Suspect::Duplicates(_) => "duplicate_bytes",
        Suspect::Sparse(_) => "empty_collections",
    }
}

fn objects(suspect: &Suspect) -> u64 {
    match suspect {
        Suspect::Holder(holder) => holder.chain,
        Suspect::Siblings(siblings) => siblings.group.count,
        Suspect::Duplicates(duplicates) => duplicates.objects,
        Suspect::Sparse(sparse) => sparse.count,
    }
}
