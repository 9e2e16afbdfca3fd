//! The facts about a finding that rules can test.

use crate::analysis::glob::Glob;
use crate::analysis::paths::Path;
use crate::analysis::threads::frames;
use crate::analysis::verdict::{Holder, Suspect, What};
use crate::cli::heap::path::root_text;
use crate::cli::heap::type_name;
use crate::input::Format;
use crate::model::heap::{Heap, ObjectId, Thread, TypeId, TypeKind, Value};
use std::cell::OnceCell;

/// Objects examined at each end of a path, because a path may be as long as the heap.
const MOST_STEPS: usize = 1000;

/// Objects at the end of a path whose values are examined.
const MOST_VALUES: usize = 32;

/// Threads of a finding that are examined.
const MOST_THREADS: usize = 64;

/// A finding with its heap and the path to it.
pub(crate) struct Facts<'f, 'a> {
    pub(crate) heap: &'f Heap<'a>,
    pub(crate) format: Format,
    pub(crate) suspect: &'f Suspect,
    /// The finding's share of the live heap, from 0 to 1.
    pub(crate) share: f64,
    /// Finds the path to the largest object.
    pub(crate) path: &'f dyn Fn() -> Option<Path>,
    pub(crate) steps: OnceCell<Vec<StepName>>,
}

/// A step of a path: an object, and the field by which it holds the next one.
pub(crate) struct StepName {
    object: Option<ObjectId>,
    namespace: String,
    /// The type, the class that a class object represents, or the kind and name of a root.
    name: String,
    /// The name followed by a dot and the field. `None` if the field is not known.
    with_field: Option<String>,
}

impl StepName {
    fn fits(&self, glob: &Glob) -> bool {
        let fits = |name: &String| glob.matches_type(name, &self.namespace);
        self.with_field.as_ref().is_some_and(fits) || fits(&self.name)
    }
}

impl Facts<'_, '_> {
    pub(super) fn is_of(&self, glob: &Glob) -> bool {
        match &self.suspect.what {
            What::Objects(_, Some(declared)) if glob.matches(declared) => true,
            What::Objects(type_id, _) | What::Threads(_, Some(type_id)) => {
                self.fits_type(*type_id, glob)
            }
            What::Threads(kind, None) => glob.matches(kind.name()),
        }
    }

    pub(super) fn contains(&self, glob: &Glob) -> bool {
        let parts = self.suspect.consists_of.iter().map(|part| part.of);
        parts.chain(self.suspect.with).any(|type_id| self.fits_type(type_id, glob))
    }

    pub(super) fn is_held_by(&self, glob: &Glob) -> bool {
        self.suspect.holders.iter().any(|holder| self.fits_holder(holder, glob))
    }

    /// Whether a holder that matches one of the patterns has at least so many entries.
    pub(super) fn has_holder_with(&self, globs: &[Glob], entries: u64) -> bool {
        self.suspect.holders.iter().any(|holder| {
            let references = || holder.object.map(|object| self.references(object));
            holder.entries.or_else(references).is_some_and(|count| count >= entries)
                && globs.iter().any(|glob| self.fits_holder(holder, glob))
        })
    }

    pub(super) fn has_function(&self, glob: &Glob) -> bool {
        let names = &self.heap.names;
        self.threads().any(|thread| {
            let creator = thread.created_by.map(|creation| creation.call.function);
            let functions = frames(self.heap, thread).iter().map(|frame| frame.function);
            functions.chain(creator).any(|function| glob.matches(names.text(function)))
        })
    }

    pub(super) fn has_state(&self, glob: &Glob) -> bool {
        self.threads().any(|thread| glob.matches(self.heap.names.text(thread.state)))
    }

    /// Whether steps of the path match the patterns in this order.
    pub(super) fn has_path(&self, globs: &[Glob]) -> bool {
        globs.is_empty() || {
            let mut steps = self.steps().iter();
            globs.iter().all(|glob| steps.any(|step| step.fits(glob)))
        }
    }

    /// Whether steps of the path match the patterns in this order, and the last of them leads to an
    /// object with at least so many references. Between the last two steps, no other matches the
    /// last pattern.
    pub(super) fn has_path_to(&self, globs: &[Glob], entries: u64) -> bool {
        let Some((last, before)) = globs.split_last() else { return false };
        let mut matched = 0;
        let mut is_next = before.is_empty();
        self.steps().windows(2).any(|pair| {
            let leads = is_next && pair[0].fits(last);
            is_next = before.is_empty() || is_next && !leads;
            let awaited = before.get(matched).or(before.last());
            if awaited.is_some_and(|glob| pair[0].fits(glob)) {
                matched = before.len().min(matched + 1);
                is_next = matched == before.len();
            }
            leads && pair[1].object.is_some_and(|object| self.references(object) >= entries)
        })
    }

    pub(super) fn has_value(&self, glob: &Glob) -> bool {
        let objects = self.steps().iter().rev().filter_map(|step| step.object);
        objects
            .take(MOST_VALUES)
            .any(|object| self.heap.fields(object).any(|field| glob.matches(&field.to_string())))
    }

    fn fits_holder(&self, holder: &Holder, glob: &Glob) -> bool {
        let type_id = holder.object.map(|object| self.heap.type_id(object));
        glob.matches(&holder.label) || type_id.is_some_and(|type_id| self.fits_type(type_id, glob))
    }

    fn references(&self, object: ObjectId) -> u64 {
        self.heap.references.range(object).len() as u64
    }

    fn fits_type(&self, type_id: TypeId, glob: &Glob) -> bool {
        let namespace = self.heap.names.text(self.heap.shown(type_id).namespace);
        glob.matches_type(type_name(self.heap, type_id), namespace)
    }

    fn threads(&self) -> impl Iterator<Item = &Thread> {
        let rows = self.suspect.threads.iter().take(MOST_THREADS);
        rows.filter_map(|row| self.heap.threads.get(*row as usize))
    }

    fn steps(&self) -> &[StepName] {
        self.steps.get_or_init(|| (self.path)().map(|path| self.named(&path)).unwrap_or_default())
    }

    fn named(&self, path: &Path) -> Vec<StepName> {
        let (kind, root) = root_text(self.heap, path.origin);
        let root = StepName {
            object: None,
            namespace: String::new(),
            name: format!("{} {root}", kind.name()),
            with_field: None,
        };
        let steps = path.steps.iter().enumerate();
        let left_out = MOST_STEPS..path.steps.len().saturating_sub(MOST_STEPS);
        let steps = steps.filter(|(at, _)| !left_out.contains(at)).map(|(at, step)| {
            let field = path.steps.get(at + 1).map(|next| next.by.text(self.heap));
            let (namespace, name) = self.name(step.object);
            let with_field = field.map(|field| format!("{name}.{field}"));
            StepName { object: Some(step.object), namespace, name, with_field }
        });
        [root].into_iter().chain(steps).collect()
    }

    /// The namespace and the name of an object's type, or of the class that the object represents.
    fn name(&self, object: ObjectId) -> (String, String) {
        let (heap, type_) = (self.heap, self.heap.type_of(object));
        let text = |name| heap.names.text(name).to_owned();
        if let Some(class) = heap.class_object(object) {
            let name = text(class.name);
            return (String::new(), name.strip_prefix("class ").unwrap_or(&name).to_owned());
        }
        match heap.value(object) {
            Value::Name(name) if type_.kind == TypeKind::Class => {
                (String::new(), name.into_owned())
            }
            _ => (text(type_.namespace), text(type_.name)),
        }
    }
}
