//! The source locations of functions, and of the constructors of objects.

use super::nodes::narrow;
use crate::input::heapsnapshot::document::Document;
use crate::input::heapsnapshot::meta::MAX_FIELDS;
use crate::input::heapsnapshot::rows::{Part, Rows};
use crate::input::json::Numbers;
use crate::model::heap::{Heap, LabelKind, ObjectId, SourceLocation, Value};
use crate::parallel::on_demand::OnDemand;
use crate::parallel::{self, lock};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Mutex;

/// The most functions of a script that are examined for its name.
pub(super) const ASKED: usize = 64;

/// The locations of a snapshot.
pub(super) struct Locations<'a> {
    numbers: Option<Numbers<'a>>,
    fields: usize,
    /// Positions of object_index, script_id, line and column in a row.
    at: [usize; 4],
    node_fields: u64,
    /// The rows, sorted, which the first question for an object reads.
    sorted: OnDemand<Vec<Location>>,
    /// The files of the scripts for which there was a question.
    files: Mutex<FxHashMap<u32, Option<String>>>,
}

/// A row of `locations`. Line and column count from 0. 16 bytes, because there may be millions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Location {
    pub(super) object: ObjectId,
    pub(super) script: u32,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl<'a> Locations<'a> {
    pub(super) fn of(document: &Document<'a>) -> Self {
        let names = &document.meta.names.location_fields;
        let find = |name: &str| names.iter().position(|field| field == name);
        let at = ["object_index", "script_id", "line", "column"].map(find);
        let known = at.iter().all(Option::is_some) && names.len() <= MAX_FIELDS;
        Self {
            numbers: document.locations.clone().filter(|_| known),
            fields: names.len(),
            at: at.map(Option::unwrap_or_default),
            node_fields: document.meta.node.count as u64,
            sorted: OnDemand::default(),
            files: Mutex::default(),
        }
    }

    pub(super) fn of_object(&self, heap: &Heap<'_>, object: ObjectId) -> Option<SourceLocation> {
        let sorted = self.sorted();
        let at = sorted.partition_point(|row| row.object < object);
        let location = sorted.get(at).filter(|row| row.object == object)?;
        let mut files = lock(&self.files);
        let file = files.entry(location.script).or_insert_with(|| {
            let is_function = |row: &&Location| {
                row.script == location.script
                    && row.object.index() < heap.len()
                    && heap.type_name(row.object) == "Function"
            };
            let functions = sorted.iter().filter(is_function).take(ASKED);
            functions.map(|row| script(heap, row.object)).find_map(|file| file)
        });
        Some(SourceLocation {
            file: file.clone().unwrap_or_else(|| format!("script {}", location.script)),
            line: u64::from(location.line).saturating_add(1),
            column: u64::from(location.column).saturating_add(1),
        })
    }

    /// The rows, sorted by object.
    fn sorted(&self) -> &[Location] {
        self.sorted.get_or_compute(|| {
            let mut rows = self.rows();
            rows.par_sort_unstable();
            rows
        })
    }

    /// The rows in the order of the file, up to the first that is damaged.
    pub(super) fn rows(&self) -> Vec<Location> {
        let rows = Rows::of(self.numbers.as_ref(), self.fields);
        let parts = parallel::map(&rows.parts, |part: &Part<'_>| {
            let mut found = Vec::with_capacity(part.rows);
            let outcome = part.read(self.fields, |_, row| found.push(self.row(row)));
            (found, outcome.is_ok())
        });
        let whole = parts.iter().take_while(|(_, is_whole)| *is_whole).count();
        let parts = parts.into_iter().take(whole.saturating_add(1));
        parallel::joined(parts.map(|(found, _)| found).collect())
    }

    fn row(&self, row: &[u64; MAX_FIELDS]) -> Location {
        let [position, script, line, column] = self.at.map(|at| row.get(at).copied().unwrap_or(0));
        let node = position.checked_div(self.node_fields).unwrap_or(0);
        let [node, script, line, column] = [node, script, line, column].map(narrow);
        Location { object: ObjectId(node), script, line, column }
    }
}

/// The name of a function's script: of its `shared` part, whose script (`script_or_debug_info`
/// before V8 13) has the name.
fn script(heap: &Heap<'_>, function: ObjectId) -> Option<String> {
    let field = |object: ObjectId, names: &[&str]| {
        let mut references = heap.references_of(object);
        let is_meant = |label| match label {
            LabelKind::Field(name) => names.contains(&heap.names().text(name)),
            _ => false,
        };
        references.find(|reference| is_meant(reference.label.kind())).map(|found| found.target)
    };
    let shared = field(function, &["shared"])?;
    let script = field(shared, &["script", "script_or_debug_info"])?;
    match heap.value(field(script, &["name"])?) {
        Value::Text { text, .. } if !text.is_empty() => Some(text.into_owned()),
        _ => None,
    }
}
