//! Single objects: the analyzed heap, objects in JSON, and messages about objects that do not
//! exist.

use super::held::Answers;
use super::load::damage;
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::glob::{Glob, TypeFilter};
use crate::analysis::graph::Graph;
use crate::analysis::waste::Measurements;
use crate::analysis::waste::contents::Read;
use crate::cli::args::FilterArgs;
use crate::cli::open::Input;
use crate::cli::print::Value as Json;
use crate::cli::status::UsageError;
use crate::cli::terminal::{show_path, shown};
use crate::input::load::Loaded;
use crate::model::heap::{Heap, Ids, ObjectId, TypeId, Value};

/// A heap with the analysis of its graph.
pub(crate) struct Analysed<'h, 'a> {
    pub(crate) heap: &'h Heap<'a>,
    pub(crate) graph: &'h Graph<'a>,
    analyses: &'h Answers<'a>,
}

impl<'a> Answers<'a> {
    /// The heap with its dominator tree.
    pub(crate) fn analysed(&self) -> Analysed<'_, 'a> {
        self.tree();
        self.reached()
    }

    /// The heap, with a dominator tree only once a retained size is requested.
    pub(crate) fn reached(&self) -> Analysed<'_, 'a> {
        Analysed { heap: &self.heap, graph: self.graph(), analyses: self }
    }
}

impl<'h, 'a> Analysed<'h, 'a> {
    /// Returns the dominator tree, which is computed on first use.
    pub(crate) fn tree(&self) -> &'h DominatorTree {
        self.analyses.tree()
    }

    /// The dominator tree, and the contents of all objects. Reads the contents and recognizes
    /// collections while the tree is computed, because the search for dominators uses one thread.
    pub(crate) fn tree_and_contents(&self) -> (&'h DominatorTree, Read) {
        // Computed first, with all threads, because both parts need it.
        self.graph.held_once();
        let read = || {
            self.analyses.collections();
            Read::of(self.heap, self.graph)
        };
        self.analyses.tree_with(read)
    }

    /// Measures what collections and contents waste.
    pub(crate) fn measured(&self, read: Read) -> Measurements {
        Measurements::of_read(self.heap, self.tree(), &self.analyses.collections(), read)
    }

    pub(crate) fn json(&self, object: ObjectId) -> Json<'h> {
        let mut fields = vec![
            ("id", self.heap.id(object).into()),
            ("type", self.heap.type_name(object).into()),
            ("namespace", Json::non_empty(self.namespace(object))),
            ("name", own_name(self.heap, object).into()),
            ("shallow_bytes", self.heap.shallow_bytes(object).into()),
            ("retained_bytes", self.retained(object).into()),
        ];
        fields.extend(self.generated_name(object).map(|name| ("generated_name", name.into())));
        Json::Map(fields)
    }

    /// The name that an object's type has in the code that ran, if a map renamed it.
    pub(crate) fn generated_name(&self, object: ObjectId) -> Option<&'h str> {
        self.heap.generated_types.get(&self.heap.type_id(object)).map(String::as_str)
    }

    pub(crate) fn namespace(&self, object: ObjectId) -> &'h str {
        self.heap.names.text(self.heap.type_of(object).namespace)
    }

    pub(crate) fn describe(&self, object: ObjectId) -> String {
        describe(self.heap, object)
    }

    pub(crate) fn retained(&self, object: ObjectId) -> u64 {
        self.tree().retained(object)
    }

    pub(crate) fn is_live(&self, object: ObjectId) -> bool {
        self.analyses.is_live(object)
    }

    /// Whether roots reach an object. `None` for an object that was not reached if unread data may
    /// hold it or the dump has no roots.
    pub(crate) fn reachable(&self, object: ObjectId) -> Option<bool> {
        match self.is_live(object) {
            true => Some(true),
            false if self.analyses.incomplete || self.heap.roots.is_empty() => None,
            false => Some(false),
        }
    }

    /// The reason why [`Self::reachable`] is `None` for some objects.
    pub(crate) fn unknown(&self) -> &'static str {
        match (self.analyses.incomplete, self.heap.roots.is_empty()) {
            (false, _) => "the dump has no roots",
            (true, true) => "the file is damaged, and no roots were read",
            (true, false) => "the file is damaged, and not all roots and references were read",
        }
    }

    /// The text in place of the retained size for an object that no root reaches.
    pub(crate) fn not_live(&self, object: ObjectId) -> &'static str {
        match self.reachable(object) {
            None => "unknown",
            Some(_) => "unreachable",
        }
    }
}

/// The object's own name, such as the name of a class. `None` if it has none.
pub(crate) fn own_name(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    if heap.class_object(object).is_some() {
        return Some(heap.shown_name(object).to_owned());
    }
    match heap.value(object) {
        Value::Name(name) if !name.is_empty() => Some(name.into_owned()),
        _ => None,
    }
}

/// Returns the type and the runtime's name for the object: `Library dart:core`; or the class that
/// it represents: `class Small`.
pub(crate) fn describe(heap: &Heap<'_>, object: ObjectId) -> String {
    if heap.class_object(object).is_some() {
        return shown(heap.shown_name(object));
    }
    let type_name = heap.type_name(object);
    match heap.value(object) {
        Value::Name(name) if !name.is_empty() => shown(&format!("{type_name} {name}")),
        _ => shown(type_name),
    }
}

/// Longer descriptions do not fit into a sentence.
const LONGEST_IN_SENTENCE: usize = 80;

/// Like [`describe`], for a sentence: a long C++ name has no template arguments, as in
/// `blink::HeapVectorBacking<…>`.
pub(crate) fn describe_briefly(heap: &Heap<'_>, object: ObjectId) -> String {
    let text = describe(heap, object);
    let is_template = |before: &str| before.ends_with(|last: char| last.is_alphanumeric());
    match text.split_once('<').filter(|(before, _)| is_template(before)) {
        Some((template, _)) if text.len() > LONGEST_IN_SENTENCE => format!("{template}<…>"),
        _ => text,
    }
}

/// The object that the user named. Fails if there is none, with the form that ids have in this
/// file.
pub(crate) fn find_object(
    heap: &Heap<'_>,
    id: &str,
    input: &Input,
) -> Result<ObjectId, UsageError> {
    heap.find(id).ok_or_else(|| {
        let file = show_path(&input.path);
        UsageError::new(format!("no object {id} in {file}"))
            .hint(class_called(heap, id).unwrap_or_else(|| called(heap)))
    })
}

/// Describes the class object with this name, whose fields are the static ones of the class.
pub(crate) fn class_called(heap: &Heap<'_>, name: &str) -> Option<String> {
    let is_called = |shown: &str| shown == name || shown.strip_prefix("class ") == Some(name);
    let class = heap.classes.iter().find(|class| is_called(heap.names.text(class.name)))?;
    Some(format!("class {} is the object {}", shown(name), heap.id(class.object)))
}

/// Describes the ids of the objects of a heap.
fn called(heap: &Heap<'_>) -> String {
    let Some(last) = heap.len().checked_sub(1) else { return "the dump has no objects".to_owned() };
    let (first, last) = (heap.id(ObjectId(0)), heap.id(ObjectId(last as u32)));
    // In a shell, # would begin a comment; an id is also valid without it.
    let (first, last) = (first.trim_start_matches('#'), last.trim_start_matches('#'));
    match &heap.ids {
        Ids::Rows(_) => format!("objects in this file are numbered {first} to {last}"),
        Ids::Numbers(_) => {
            format!("objects in this file have numbers in no order, such as {first} and {last}")
        }
        Ids::Addresses(_) => format!("objects in this file have addresses from {first} to {last}"),
    }
}

/// Returns which types match a pattern, by row of the type.
pub(crate) fn matching_types(heap: &Heap<'_>, glob: &Glob) -> Vec<bool> {
    TypeFilter { of: Some(glob.clone()), ..TypeFilter::default() }.types(heap)
}

/// The types that the options of the user select, by their row. They may have no objects. Fails if
/// no type of the file matches, and all of it could be read.
pub(crate) fn known_types(
    loaded: &Loaded<'_>,
    input: &Input,
    filter: &FilterArgs,
) -> Result<Vec<bool>, UsageError> {
    let types = filter.filter().types(&loaded.heap);
    if filter.filter().is_empty() || types.contains(&true) || damage(input, loaded).is_some() {
        return Ok(types);
    }
    let rows = 0..types.len() as u32;
    Err(no_such_type(filter, rows.map(|row| type_name(&loaded.heap, TypeId(row))).collect()))
}

/// The error for options that match no type, with similar names.
pub(crate) fn no_such_type(filter: &FilterArgs, names: Vec<&str>) -> UsageError {
    let FilterArgs { type_glob, namespace, exclude } = filter;
    let text = type_glob.as_ref().or(namespace.as_ref()).or(exclude.as_ref());
    let text = text.map_or("", String::as_str);
    let error = UsageError::new(format!("no type matches {text}"));
    let near = near(names, text);
    if near.is_empty() {
        error.hint("`dumptool top` lists the types")
    } else {
        error.hint(format!("did you mean {}?", near.join(", ")))
    }
}

fn first(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

/// The names of types that contain the text, or differ from it in few letters; the nearest first.
fn near(mut names: Vec<&str>, text: &str) -> Vec<String> {
    const SHOWN: usize = 3;
    let wanted: String =
        text.chars().filter(|c| !"*?{}".contains(*c)).take(64).collect::<String>().to_lowercase();
    if wanted.is_empty() {
        return Vec::new();
    }
    names.sort_unstable();
    names.dedup();
    let distance = |name: &str| {
        let name = name.to_lowercase();
        let edits = strsim::levenshtein(&wanted, first(&name, 64));
        if name.contains(&wanted) || edits <= wanted.chars().count() / 3 {
            Some((!name.contains(&wanted), edits))
        } else {
            None
        }
    };
    let mut near: Vec<_> =
        names.into_iter().filter_map(|name| Some((distance(name)?, name))).collect();
    near.sort_unstable();
    near.into_iter().take(SHOWN).map(|(_, name)| shown(name)).collect()
}

pub(crate) fn type_name<'h>(heap: &'h Heap<'_>, row: TypeId) -> &'h str {
    heap.names.text(heap.shown(row).name)
}

#[cfg(test)]
mod tests {
    use super::describe_briefly;
    use crate::model::builder::HeapBuilder;
    use crate::model::heap::{Ids, ObjectId, TypeKind};

    #[test]
    fn long_templates_have_no_arguments_in_a_sentence() {
        let long = "a::Pair".repeat(20);
        for (name, expected) in [
            ("a::Pair<int>", "a::Pair<int>".to_owned()),
            (&format!("a::Vector<{long}>"), "a::Vector<…>".to_owned()),
            (&format!("<div class={long}>"), format!("<div class={long}>")),
        ] {
            let mut builder = HeapBuilder::with_capacity(0, 0);
            let type_id = builder.add_type(name, "", TypeKind::Instance);
            builder.add_object(type_id, 8);
            let heap = builder.finish(Ids::Rows(0), None);
            assert_eq!(describe_briefly(&heap, ObjectId(0)), expected);
        }
    }
}
