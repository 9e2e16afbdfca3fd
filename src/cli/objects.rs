//! What the commands about single objects share: the analysed heap, objects as rows, and what to say when there is none.

use super::glob::Glob;
use super::open::Input;
use super::status::UsageError;
use super::terminal::{show_path, shown};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::graph::Graph;
use crate::model::heap::{Heap, Ids, ObjectId, TypeId, Value};
use serde::Serialize;

/// A heap, and what its graph says.
pub(super) struct Analysed<'h, 'a> {
    pub(super) heap: &'h Heap<'a>,
    pub(super) graph: Graph<'h>,
    pub(super) tree: DominatorTree,
}

/// An object in JSON.
#[derive(Default, Serialize)]
pub(super) struct ObjectRow {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) of: String,
    pub(super) namespace: String,
    pub(super) shallow_bytes: u64,
    pub(super) retained_bytes: u64,
}

/// A root in JSON.
#[derive(Serialize)]
pub(super) struct RootRow {
    pub(super) kind: &'static str,
    pub(super) label: String,
}

impl<'h, 'a> Analysed<'h, 'a> {
    pub(super) fn of(heap: &'h Heap<'a>) -> Self {
        let graph = Graph::of(heap);
        let tree = DominatorTree::of_graph(heap, &graph);
        Self { heap, graph, tree }
    }

    /// The object that the user named.
    ///
    /// # Errors
    /// When there is none: how the objects of this file are called.
    pub(super) fn find(&self, id: &str, input: &Input) -> Result<ObjectId, UsageError> {
        self.heap.find(id).ok_or_else(|| {
            let file = show_path(&input.path);
            UsageError::new(format!("no object {id} in {file}")).hint(called(self.heap))
        })
    }

    pub(super) fn row(&self, object: ObjectId) -> ObjectRow {
        ObjectRow {
            id: self.heap.id(object),
            of: self.type_name(object).to_owned(),
            namespace: self.heap.names.text(self.heap.type_of(object).namespace).to_owned(),
            shallow_bytes: self.heap.shallow.get(object.index()),
            retained_bytes: self.retained(object),
        }
    }

    pub(super) fn type_name(&self, object: ObjectId) -> &'h str {
        self.heap.names.text(self.heap.type_of(object).name)
    }

    /// The type, and what the runtime calls the object: `Class SplayTreeMap`, `java.lang.Class Small`.
    pub(super) fn describe(&self, object: ObjectId) -> String {
        let of = self.type_name(object);
        match self.heap.value(object) {
            Value::Name(name) if !name.is_empty() => shown(&format!("{of} {name}")),
            _ => shown(of),
        }
    }

    pub(super) fn retained(&self, object: ObjectId) -> u64 {
        self.tree.retained(object)
    }

    pub(super) fn is_live(&self, object: ObjectId) -> bool {
        self.tree.is_live(object)
    }
}

/// How the objects of a heap are called.
fn called(heap: &Heap<'_>) -> String {
    let Some(last) = heap.len().checked_sub(1) else { return "the dump has no objects".to_owned() };
    let (first, last) = (heap.id(ObjectId(0)), heap.id(ObjectId(last as u32)));
    match &heap.ids {
        Ids::Rows(_) => format!("objects of this file are called {first} to {last}"),
        Ids::Addresses(_) => format!("objects of this file are called by their address, from {first} to {last}"),
    }
}

/// Which types fit a pattern, by their row.
pub(super) fn matching_types(heap: &Heap<'_>, glob: &Glob) -> Vec<bool> {
    let types = heap.types.iter();
    types.map(|of| glob.matches_type(heap.names.text(of.name), heap.names.text(of.namespace))).collect()
}

/// Says that no type fits, and which names are near.
pub(super) fn no_such_type(heap: &Heap<'_>, text: &str) -> UsageError {
    let error = UsageError::new(format!("no type matches {text}"));
    let near = near(heap, text);
    match near.is_empty() {
        true => error.hint("`dumptool top` lists the types"),
        false => error.hint(format!("did you mean {}?", near.join(", "))),
    }
}

/// The names of types that contain the text, or differ from it in few letters; the nearest first.
fn near(heap: &Heap<'_>, text: &str) -> Vec<String> {
    const SHOWN: usize = 3;
    let wanted: String = text.chars().filter(|c| !"*?{}".contains(*c)).take(64).collect::<String>().to_lowercase();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut names: Vec<&str> = (0..heap.types.len() as u32).map(|row| type_name(heap, TypeId(row))).collect();
    names.sort_unstable();
    names.dedup();
    let distance = |name: &str| {
        let name = name.to_lowercase();
        let edits = edits(&wanted, &name);
        match name.contains(&wanted) || edits <= wanted.chars().count() / 3 {
            true => Some((!name.contains(&wanted), edits)),
            false => None,
        }
    };
    let mut near: Vec<_> = names.into_iter().filter_map(|name| Some((distance(name)?, name))).collect();
    near.sort_unstable();
    near.into_iter().take(SHOWN).map(|(_, name)| name.to_owned()).collect()
}

pub(super) fn type_name<'h>(heap: &'h Heap<'_>, of: TypeId) -> &'h str {
    heap.types.get(of.0 as usize).map_or("", |of| heap.names.text(of.name))
}

/// The number of letters to insert, remove or replace (Levenshtein). Long names are compared by their beginning.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
