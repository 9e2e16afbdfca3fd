//! The source locations of functions, and of the constructors of objects.

use crate::input::heapsnapshot::document::Document;
use crate::input::heapsnapshot::meta::MAX_FIELDS;
use crate::input::json::Numbers;
use crate::model::heap::{Heap, LabelKind, ObjectId, SourceLocation, Value};

/// The most functions of a script that are examined for its name.
pub(super) const ASKED: usize = 64;

/// The locations of a snapshot. The file is read again for each request.
pub(super) struct Locations<'a> {
    numbers: Option<Numbers<'a>>,
    fields: usize,
    /// Positions of object_index, script_id, line and column in a row.
    at: [usize; 4],
    node_fields: u64,
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
        }
    }

    pub(super) fn of_object(&self, heap: &Heap<'_>, object: ObjectId) -> Option<SourceLocation> {
        let location = self.rows().find(|row| row.object == object)?;
        let of_script = self.rows().filter(|row| row.script == location.script);
        let functions = of_script.filter(|row| {
            row.object.index() < heap.len() && heap.type_name(row.object) == "Function"
        });
        let file = functions.take(ASKED).find_map(|row| script(heap, row.object));
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
