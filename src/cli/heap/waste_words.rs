//! Waste in words: equal values, and collections that are mostly empty.

use super::{Analysed, type_name, value};
use crate::analysis::waste::outstanding::{Duplicates, Outstanding, Sparse};
use crate::cli::print::Value as Json;
use crate::cli::session::Session;
use crate::cli::size::{count, percent, plural};
use crate::cli::terminal::{self, shown};
use crate::model::heap::{Heap, ObjectId, Value};

pub(crate) struct WasteWords<'r, 'h, 'a> {
    pub(crate) analysed: &'r Analysed<'h, 'a>,
    pub(crate) session: &'r Session,
}

impl<'h, 'a> WasteWords<'_, 'h, 'a> {
    fn heap(&self) -> &'h Heap<'a> {
        self.analysed.heap
    }

    pub(crate) fn json(&self, waste: &Outstanding) -> Json<'h> {
        Json::from([
            ("kind", kind(waste).into()),
            ("bytes", waste.bytes().into()),
            ("share", self.share(waste.bytes()).into()),
            ("count", waste.count().into()),
            ("object", waste.example().map(|object| self.analysed.json(object)).into()),
            ("message", self.messages(waste).join("; ").into()),
        ])
    }

    pub(crate) fn lines(&self, waste: &Outstanding) -> String {
        let bytes = self.session.size(waste.bytes());
        let mut messages = self.messages(waste).into_iter();
        let first = messages.next().unwrap_or_default();
        let numbers = format!("{bytes:>11}  {:>7}  ", percent(self.share(waste.bytes())));
        let mut text = terminal::hanging(&numbers, &first, terminal::columns());
        text.push('\n');
        messages.for_each(|message| text.push_str(&format!("{:22}{message}\n", "")));
        text
    }

    fn share(&self, bytes: u64) -> f64 {
        let share = bytes as f64 / self.analysed.tree().live_bytes().max(1) as f64;
        (share * 1e4).round() / 1e4
    }

    fn messages(&self, waste: &Outstanding) -> Vec<String> {
        match waste {
            Outstanding::Duplicates(duplicates) => self.duplicates(duplicates),
            Outstanding::Sparse(sparse) => self.sparse(sparse),
        }
    }

    fn named(&self, object: ObjectId) -> String {
        format!("{} {}", self.analysed.describe(object), self.heap().id(object))
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
        let type_name = shown(type_name(self.heap(), sparse.of));
        vec![
            format!(
                "unused in {} of {} {type_name}: {} of {} places are taken",
                count(sparse.count),
                count(sparse.all),
                count(sparse.used),
                count(sparse.capacity)
            ),
            format!("emptiest: {}", self.named(sparse.example)),
        ]
    }
}

fn kind(waste: &Outstanding) -> &'static str {
    match waste {
        Outstanding::Duplicates(duplicates) if duplicates.texts => "duplicate_texts",
        Outstanding::Duplicates(_) => "duplicate_bytes",
        Outstanding::Sparse(_) => "empty_collections",
    }
}
