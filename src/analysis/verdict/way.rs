//! The path up from an object to one with a name.

use super::place::{ANY, FILE, Place, SCOPE};
use super::scene::Scene;
use super::via::frame_name;
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, Role, RootKind, TypeKind, Value};
use std::borrow::Cow;

/// The field of a function that holds its variables.
pub(super) const CONTEXT: &str = "context";

/// The field of a function's variables that holds those of the function around it.
pub(super) const OUTER: &str = "previous";

/// The variable for the object of a method, whose type is more informative.
const THIS: &str = "this";

/// The maximum number of field names in a label.
const MOST_PARTS: usize = 6;

/// The row of a reference, if it is known, and its label.
pub(super) type Link = (Option<usize>, Label);

/// The path up from a reference to an object with a name.
pub(super) struct Way<'h> {
    pub(super) at: ObjectId,
    pub(super) link: Link,
    pub(super) inner: Option<ObjectId>,
    /// The names and keys that were passed, the lowest first.
    pub(super) parts: Vec<Cow<'h, str>>,
    /// A name that is known already, from the type of an object on the path.
    pub(super) known: Option<Place>,
}

impl<'h> Way<'h> {
    /// Passes the object at the present end of the path. Returns the field by which this object
    /// holds the previous one. `None` if the path ends here.
    pub(super) fn pass(&mut self, scene: &Scene<'h, '_>) -> Option<&'h str> {
        let (row, label) = self.link;
        let field = scene.field(label).unwrap_or_default();
        let role = passage(scene, self.at).unwrap_or(scene.role_of(self.at));
        let is_hidden = |role: Option<Role>| role == Some(Role::Hidden);
        // Labels that are not fields begin with `<`, and so do properties whose key is a symbol.
        let is_made_up = field.starts_with('<') && !field.starts_with("<symbol ");
        // The object around an object of the runtime, such as the executor around a task, has better names.
        let is_around = scene.named_role(field) == Some(Role::Passage) && role != Role::Program;
        if is_made_up || is_around || is_hidden(Some(role)) || is_hidden(scene.named_role(field)) {
            return None;
        }
        if self.is_to_outer_scope(scene, field) {
            return Some(field);
        }
        let inner = self.inner.map(|inner| scene.role_of(inner));
        let is_part = inner.is_some_and(|inner| match role {
            // A class may hold a plain array.
            Role::Program | Role::Record | Role::Passage => false,
            Role::Collection(_) => inner.is_part() || matches!(inner, Role::Collection(_)),
            _ => inner.is_part(),
        });
        let key = row.filter(|_| !role.is_part()).and_then(|row| scene.heap().reference_key(row));
        if self.parts.len() < MOST_PARTS && (key.is_some() || !is_part) {
            if let Some(key) = key {
                self.parts.push(key.into());
            } else if role == Role::Closure && field == CONTEXT {
                self.parts.push(SCOPE.into());
            } else if !field.is_empty() && (!role.is_part() || scene.heap().has_attributes(self.at))
            {
                if scene.named_role(field) != Some(Role::Inside) {
                    self.parts.push(field.into());
                }
            } else if role.is_part() && self.inner.is_some() {
                self.parts.push(ANY.into());
            }
        }
        Some(field)
    }

    /// Whether the reference leads from the variables of a function to those of the one around it.
    fn is_to_outer_scope(&self, scene: &Scene<'h, '_>, field: &str) -> bool {
        let is_alike = |held: ObjectId| scene.heap().type_id(held) == scene.heap().type_id(self.at);
        field == OUTER
            && scene.role_of(self.at) == Role::Closure
            && self.held(scene).is_none_or(is_alike)
    }

    /// The object to which the reference at the present end of the path leads.
    fn held(&self, scene: &Scene<'h, '_>) -> Option<ObjectId> {
        self.inner.or_else(|| Some(scene.heap().references.target(self.link.0?)))
    }

    /// Whether the present end of the path holds its listeners, whose name says all.
    pub(super) fn is_listened_to(&self, scene: &Scene<'h, '_>) -> bool {
        self.held(scene).is_some_and(|held| scene.role_of(held) == Role::Listeners)
    }

    /// The name at the present end of the path, if one begins there. The outer `None` means that the name
    /// continues with the holder of the object.
    pub(super) fn anchored(&self, scene: &Scene<'h, '_>, field: &str) -> Option<Option<Place>> {
        let at = self.at;
        let of_part = match self.held(scene).map(|held| scene.role_of(held)) {
            Some(Role::Listeners) => {
                let listeners = format!("listeners of {}", scene.heap().type_name(at));
                Some(Place::of(listeners, Some(true)))
            }
            Some(Role::Method) => of_method(scene, at),
            _ => None,
        };
        of_part.map(Some).or_else(|| by_role(scene, at, field, &self.parts))
    }

    /// The name of the object itself, if the file does not tell the names of its variables (Ruby).
    pub(super) fn of_unnamed(&self, scene: &Scene<'h, '_>) -> Option<Option<Place>> {
        let is_unnamed = self.link.1.kind() == LabelKind::None && self.parts.is_empty();
        let is_own = !scene.has_labels && scene.role_of(self.at) == Role::Program;
        (is_unnamed && is_own).then(|| {
            let name = scene.heap().type_name(self.at);
            let place = Place::of(format!("a variable of {name}"), Some(is_program(scene, name)));
            Some(Place { is_local: true, is_vague: true, ..place })
        })
    }

    /// The name from further up if it is exact and the program's, otherwise the known one, or that
    /// of a variable.
    pub(super) fn better(mut self, place: Option<Place>) -> Option<Place> {
        if let Some(known) = self.known.take() {
            let exact = place.filter(|place| {
                let path = place.label.rsplit(FILE).next().unwrap_or_default();
                let is_short = path.matches('.').count() < MOST_PARTS;
                place.is_program == Some(true)
                    && !place.is_local
                    && is_short
                    && !place.label.contains(ANY)
            });
            return Some(exact.unwrap_or(known));
        }
        place.or_else(|| {
            let scope = self.parts.iter().position(|part| part == SCOPE)?;
            let label = self.parts[..scope].iter().rev().cloned().collect::<Vec<_>>().join(".");
            (scope > 0).then_some(Place::of(label, None))
        })
    }
}

/// A variable that the code of a method uses, named after the class of the method. A singleton class is the
/// class of one object, mostly of another class: `#<Class:app.Plugin>`.
/// `None` if the object is no class.
fn of_method(scene: &Scene<'_, '_>, class: ObjectId) -> Option<Place> {
    if scene.heap().type_of(class).kind != TypeKind::Class {
        return None;
    }
    let Value::Name(name) = scene.heap().value(class) else { return None };
    let owner = name.strip_prefix("#<Class:").and_then(|name| name.strip_suffix('>'));
    let within = match owner {
        Some(owner) => format!("a class method of {owner}"),
        None => format!("a method of {name}"),
    };
    let is_program = is_program(scene, owner.unwrap_or(&name));
    Some(Place::variable(None, &within, Some(is_program)))
}

/// The name at an object whose role begins one: a class, a global object or an object of the program.
fn by_role(
    scene: &Scene<'_, '_>,
    at: ObjectId,
    field: &str,
    parts: &[Cow<'_, str>],
) -> Option<Option<Place>> {
    let heap = scene.heap();
    if let Some(class) = heap.class_object(at) {
        let name = heap.names.text(class.name);
        let name = name.strip_prefix("class ").unwrap_or(name);
        return Some(Some(joined(scene, Some(name), parts)));
    }
    if heap.type_of(at).kind == TypeKind::Class
        && let Value::Name(name) = heap.value(at)
    {
        return Some(Some(match parts {
            // Ruby writes the names of neither constants nor class variables.
            [] => Place::of(format!("a constant of {name}"), Some(true)),
            _ => joined(scene, Some(&name), parts),
        }));
    }
    if let (Some(Role::Sigil(sigil)), [inner @ .., _]) = (scene.named_role(field), parts)
        && let Value::Name(name) = heap.value(at)
    {
        return Some(Some(joined_as(scene, format!("{sigil}{name}"), Some(true), inner)));
    }
    match scene.role_of(at) {
        Role::Passage if heap.type_of(at).kind == TypeKind::Class => Some(None),
        Role::Passage if field.is_empty() => None,
        Role::Passage => {
            let is_program = !heap.is_made_up(at) && is_program(scene, field);
            Some(Some(joined_as(scene, String::new(), Some(is_program), parts)))
        }
        Role::Frame if is_running(heap, at) => Some(None),
        Role::Frame => {
            let name = frame_name(scene, at)?;
            let variable = joined_as(scene, String::new(), Some(true), parts);
            let way = format!("local {}", variable.label);
            Some(
                (!parts.is_empty())
                    .then(|| Place::variable(Some(&way), &name, variable.is_program)),
            )
        }
        Role::Closure if field == CONTEXT && !parts.is_empty() => scope(scene, at, parts),
        Role::Variables(one) if parts.is_empty() => {
            Some(Some(Place::of(one.to_owned(), Some(true))))
        }
        Role::File(name) => {
            let file = file_name(scene, at, name)?;
            Some(Some(joined_as(scene, file + FILE, Some(true), parts)))
        }
        Role::Program | Role::Timer | Role::Task | Role::Loader if !parts.is_empty() => {
            Some(Some(joined(scene, Some(heap.type_name(at)), parts)))
        }
        _ => None,
    }
}

/// The name of a variable that a function uses. The function is only one of many paths to it, and all
/// of them are in one file. Variables of the runtime have no file, and so has `this`.
fn scope(
    scene: &Scene<'_, '_>,
    function: ObjectId,
    parts: &[Cow<'_, str>],
) -> Option<Option<Place>> {
    scene.heap().location(function)?;
    let inner = parts.strip_suffix(&[Cow::Borrowed(SCOPE)]).unwrap_or(parts);
    let file = file_of(scene, function).filter(|_| inner.last().is_none_or(|name| name != THIS));
    Some(file.map(|(file, is_library)| {
        let is_program = inner.last().is_none_or(|variable| is_program(scene, variable));
        let place = joined_as(scene, file + FILE, Some(is_program), inner);
        Place { is_local: is_library, is_vague: is_library, ..place }
    }))
}

/// The file of a function, without folders, and whether it belongs to an installed library. `None` for
/// a file of the runtime.
pub(super) fn file_of(scene: &Scene<'_, '_>, function: ObjectId) -> Option<(String, bool)> {
    let path = scene.heap().location(function)?.file;
    let file = path.rsplit(['/', '\\']).next().filter(|file| !file.is_empty())?;
    let role = scene.heap().named_role(&path);
    (role != Some(Role::Hidden)).then(|| (file.to_owned(), role == Some(Role::Runtime)))
}

/// The role of an object of the runtime that only leads to another one, such as a proxy of JavaScript.
fn passage(scene: &Scene<'_, '_>, at: ObjectId) -> Option<Role> {
    if scene.role_of(at) != Role::Hidden {
        return None;
    }
    let Value::Name(name) = scene.heap().value(at) else { return None };
    scene.named_role(&name).filter(|role| *role == Role::Passage)
}

/// Whether a call frame is one of a running thread, whose roots name its variables.
fn is_running(heap: &Heap<'_>, frame: ObjectId) -> bool {
    heap.roots.iter().any(|root| root.object == frame && root.kind == RootKind::Frame)
}

/// The name of the file that an object represents, without folders.
fn file_name(scene: &Scene<'_, '_>, at: ObjectId, field: &str) -> Option<String> {
    let heap = scene.heap();
    let is_name = |label: Label| scene.field(label) == Some(field);
    let mut names = heap.references_of(at).filter(|reference| is_name(reference.label));
    let Value::Text { text, .. } = heap.value(names.next()?.target) else { return None };
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}

fn joined(scene: &Scene<'_, '_>, anchor: Option<&str>, parts: &[Cow<'_, str>]) -> Place {
    let is_program = anchor.map(|anchor| is_program(scene, anchor));
    joined_as(scene, anchor.unwrap_or_default().to_owned(), is_program, parts)
}

fn joined_as(
    scene: &Scene<'_, '_>,
    label: String,
    is_program: Option<bool>,
    parts: &[Cow<'_, str>],
) -> Place {
    let mut place = Place::of(label, is_program);
    parts.iter().rev().for_each(|part| place.append(scene, part));
    place
}

pub(super) fn is_program(scene: &Scene<'_, '_>, name: &str) -> bool {
    scene.named_role(name).is_none_or(|role| role == Role::Program)
}
