//! The source locations of functions, and of the constructors of objects.

use crate::input::heapsnapshot::document::Document;
use crate::input::heapsnapshot::meta::MAX_FIELDS;
use crate::input::json::Numbers;
use crate::model::heap::{Heap, LabelKind, ObjectId, SourceLocation, Value};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The most functions of a script that are examined for its name.
pub(super) const ASKED: usize = 64;

/// The locations of a snapshot.
pub(super) struct Locations<'a> {
    numbers: Option<Numbers<'a>>,
    fields: usize,
    /// Positions of object_index, script_id, line and column in a row.
    at: [usize; 4],
    node_fields: u64,
    /// Made at the first question for an object.
    index: OnceLock<Index>,
}

/// The locations by object, and the files of the scripts.
struct Index {
    /// Sorted by object; the first of several rows of an object comes first.
    rows: Vec<Location>,
    /// By script: the file, and how many functions were asked for it.
    scripts: FxHashMap<u64, (Option<String>, usize)>,
}

/// A row of `locations`. Line and column count from 0.
#[derive(Clone, Copy)]
pub(super) struct Location {
    pub(super) object: ObjectId,
    pub(super) script: u64,
    pub(super) line: u64,
    pub(super) column: u64,
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
            index: OnceLock::new(),
        }
    }

    pub(super) fn of_object(&self, heap: &Heap<'_>, object: ObjectId) -> Option<SourceLocation> {
        let index = self.index.get_or_init(|| Index::of(self, heap));
        let at = index.rows.partition_point(|row| row.object < object);
        let location = index.rows.get(at).filter(|row| row.object == object)?;
        let file = index.scripts.get(&location.script).and_then(|(file, _)| file.clone());
        Some(SourceLocation {
            file: file.unwrap_or_else(|| format!("script {}", location.script)),
            line: location.line.saturating_add(1),
            column: location.column.saturating_add(1),
        })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Location> {
        let mut numbers = self.numbers.clone();
        std::iter::from_fn(move || {
            let numbers = numbers.as_mut()?;
            let mut row = [0; MAX_FIELDS];
            for field in row.iter_mut().take(self.fields) {
                *field = numbers.unsigned().ok()??;
            }
            let [position, script, line, column] =
                self.at.map(|at| row.get(at).copied().unwrap_or(0));
            let node = position.checked_div(self.node_fields).unwrap_or(0);
            let object = ObjectId(u32::try_from(node).unwrap_or(u32::MAX));
            Some(Location { object, script, line, column })
        })
    }
}

impl Index {
    fn of(locations: &Locations<'_>, heap: &Heap<'_>) -> Self {
        let mut scripts = FxHashMap::<u64, (Option<String>, usize)>::default();
        let mut rows: Vec<_> = locations.rows().collect();
        for row in &rows {
            let (file, asked) = scripts.entry(row.script).or_default();
            let is_function =
                || row.object.index() < heap.len() && heap.type_name(row.object) == "Function";
            if file.is_none() && *asked < ASKED && is_function() {
                *asked = asked.saturating_add(1);
                *file = script(heap, row.object);
            }
        }
        rows.sort_by_key(|row| row.object);
        Self { rows, scripts }
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
