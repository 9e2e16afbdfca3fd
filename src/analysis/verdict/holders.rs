//! The holders of an owner, as its program names them: `app.Cache.ENTRIES`, `keep.callbacks`.

use super::place::{ANY, FILE, Place, SCOPE};
use super::scene::Scene;
use super::via::frame_name;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::regions::{BLOCK, Targets, for_each_reference};
use crate::model::heap::{
    Heap, Label, LabelKind, ObjectId, Role, Root, RootKind, StackFrame, TypeKind, Value,
};
use crate::parallel;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The maximum number of field names in a label.
const MOST_PARTS: usize = 6;

/// The maximum number of objects on the path up to one with a name.
const MOST_UP: usize = 64;

/// The maximum number of objects with several holders on the path up. The best name counts.
const MOST_DETOURS: usize = 2;

/// The field of a function that holds its variables.
pub(super) const CONTEXT: &str = "context";

/// The field of code that holds its text.
pub(super) const SOURCE: &str = "source";

/// The maximum number of holders of one object to examine.
const MOST_HOLDERS: usize = 32;

/// The maximum number of holders of one type that refer to one object by one field.
const MOST_ALIKE: usize = 4;

/// The row of a reference, if it is known, and its label.
type Link = (Option<usize>, Label);

/// The references and roots that hold some objects.
pub(super) struct Holders {
    /// Target, source, label, and the place among the references of the source, sorted.
    references: Vec<(u32, ObjectId, Label, u32)>,
    roots: FxHashMap<ObjectId, u32>,
    /// Numbers of the objects whose references are known.
    known: FxHashSet<u32>,
    /// Numbers of objects whose unknown references are needed for a name.
    wanted: RefCell<BTreeSet<u32>>,
    /// References that have been searched.
    links: RefCell<FxHashMap<(ObjectId, ObjectId), Option<Link>>>,
}

impl Holders {
    /// Finds the holders of the objects with these numbers.
    pub(super) fn of(scene: &Scene<'_, '_>, numbers: impl Iterator<Item = u32>) -> Self {
        let mut holders = Self {
            references: Vec::new(),
            roots: FxHashMap::default(),
            known: FxHashSet::default(),
            wanted: RefCell::default(),
            links: RefCell::default(),
        };
        holders.add(scene, numbers);
        holders
    }

    /// Finds the holders of the objects in `wanted`. Returns `false` if there are none.
    pub(super) fn add_wanted(&mut self, scene: &Scene<'_, '_>) -> bool {
        let wanted = self.wanted.take();
        self.add(scene, wanted.iter().copied());
        !wanted.is_empty()
    }

    fn add(&mut self, scene: &Scene<'_, '_>, numbers: impl Iterator<Item = u32>) {
        let heap = scene.heap();
        let mut marked = ObjectSet::none(heap.len());
        let mut any = false;
        for number in numbers {
            if let Some(object) = scene.object(number).filter(|_| self.known.insert(number)) {
                any |= marked.insert(object);
            }
        }
        if !any {
            return;
        }
        let marked = Targets::of(marked);
        let objects = heap.len() as u32;
        let blocks = parallel::map((0..objects).step_by(BLOCK as usize), |first| {
            let block = first..first.saturating_add(BLOCK).min(objects);
            let mut found = Vec::new();
            for_each_reference(scene.survey.graph, block, &marked, |source, target, row| {
                let label = row.map_or(Label::NONE, |row| heap.label_of(source, row));
                if let Some(number) =
                    scene.number(target).filter(|_| scene.number(source).is_some())
                {
                    let first = scene.survey.graph.references.range(source).start;
                    let place = row.and_then(|row| u32::try_from(row - first).ok());
                    found.push((number, source, label, place.unwrap_or(u32::MAX)));
                }
            });
            found
        });
        blocks.into_iter().for_each(|mut found| self.references.append(&mut found));
        self.references.par_sort_unstable();
        for (row, root) in (0..).zip(&heap.roots) {
            if marked.contains(root.object) {
                let best = self.roots.entry(root.object).or_insert(row);
                if rank(root) < rank(&heap.roots[*best as usize]) {
                    *best = row;
                }
            }
        }
    }

    /// The references to an object from objects that it does not dominate.
    pub(super) fn of_number<'h>(
        &'h self,
        scene: &'h Scene<'_, '_>,
        number: u32,
    ) -> impl Iterator<Item = (ObjectId, Label)> + 'h {
        self.with_places(scene, number).map(|(source, label, _)| (source, label))
    }

    /// [`Holders::of_number`], with the places among the references of each object.
    fn with_places<'h>(
        &'h self,
        scene: &'h Scene<'_, '_>,
        number: u32,
    ) -> impl Iterator<Item = (ObjectId, Label, u32)> + 'h {
        let start = self.references.partition_point(|(target, ..)| *target < number);
        let own = number..scene.end(number);
        self.references[start..]
            .iter()
            .take_while(move |(target, ..)| *target == number)
            .map(|(_, source, label, place)| (*source, *label, *place))
            .filter(move |(source, ..)| {
                scene.number(*source).is_none_or(|from| !own.contains(&from))
            })
    }

    /// Marks an object for [`Self::add_wanted`] if its holders are not known.
    pub(super) fn want(&self, number: u32) {
        if !self.known.contains(&number) {
            self.wanted.borrow_mut().insert(number);
        }
    }

    /// The most informative root of an object.
    pub(super) fn root(&self, object: ObjectId) -> Option<u32> {
        self.roots.get(&object).copied()
    }

    /// The name of the place that holds an object.
    pub(super) fn place(&self, scene: &Scene<'_, '_>, number: u32) -> Option<Place> {
        self.place_within(scene, number, MOST_DETOURS)
    }

    fn place_within(&self, scene: &Scene<'_, '_>, number: u32, detours: usize) -> Option<Place> {
        self.want(number);
        let mut seen: FxHashMap<(u32, Label), usize> = FxHashMap::default();
        // Holders of one type and label mostly have similar names.
        let references = self.with_places(scene, number).filter(|(source, label, _)| {
            let kin = scene.number(*source).map_or(0, |number| scene.kin(number));
            let alike = seen.entry((kin, *label)).or_default();
            *alike += 1;
            *alike <= MOST_ALIKE
        });
        let places = references.take(MOST_HOLDERS).filter_map(|(source, label, place)| {
            let row = scene.heap().references.range(source).nth(place as usize);
            let place = self.field(scene, source, (row, label), detours)?;
            if place.label.trim_end_matches(FILE).is_empty() {
                return None;
            }
            Some((false, scene.role_of(source).is_part(), place))
        });
        let root = scene.object(number).and_then(|object| self.root(object));
        let root = root.and_then(|row| of_root(scene, &scene.heap().roots[row as usize]));
        // A field of the program is more informative than a variable, and a short name than a long
        // one, unless the label of a table inside the holder leaves out the field.
        let says = |(is_root, is_table, place): &(bool, bool, Place)| {
            let is_runtime = place.is_program != Some(true);
            (is_runtime, *is_root && place.is_local, *is_table, place.label.len())
        };
        let all = places.chain(root.map(|root| (true, false, root)));
        all.min_by_key(says).map(|(.., place)| place)
    }

    /// The reference from one object to another. Cached, because the upper parts of many paths are
    /// the same, and objects there may have very many references.
    fn link(&self, scene: &Scene<'_, '_>, from: ObjectId, to: ObjectId) -> Option<Link> {
        *self.links.borrow_mut().entry((from, to)).or_insert_with(|| {
            let row = scene.reference(from, to)?;
            Some((Some(row), scene.heap().label_of(from, row)))
        })
    }

    /// The name of the field by which an object holds another one.
    pub(super) fn field_name<'h>(
        &self,
        scene: &Scene<'h, '_>,
        holder: ObjectId,
        held: ObjectId,
    ) -> Option<&'h str> {
        match self.link(scene, holder, held)?.1.kind() {
            LabelKind::Field(name) => Some(scene.heap().names.text(name)),
            _ => None,
        }
    }

    /// The name of the object to which a reference of an object leads.
    pub(super) fn name(
        &self,
        scene: &Scene<'_, '_>,
        source: ObjectId,
        label: Label,
    ) -> Option<Place> {
        self.field(scene, source, (None, label), MOST_DETOURS)
    }

    fn field(
        &self,
        scene: &Scene<'_, '_>,
        source: ObjectId,
        link: Link,
        detours: usize,
    ) -> Option<Place> {
        let mut way = Way { at: source, link, inner: None, parts: Vec::new(), known: None };
        for _ in 0..MOST_UP {
            let Some(field) = way.pass(scene) else { break };
            match anchored(scene, way.at, field, &way.parts) {
                Some(Some(place))
                    if scene.role_of(way.at) == Role::Program && place.may_go_on() =>
                {
                    way.known.get_or_insert(place);
                }
                Some(place) => return way.better(place),
                None => {}
            }
            let Some(number) = scene.number(way.at) else { break };
            let up = scene.object(scene.dominator(number));
            match up.and_then(|up| Some((up, self.link(scene, up, way.at)?))) {
                Some((up, found)) => (way.inner, way.at, way.link) = (Some(way.at), up, found),
                None if detours == 0 => break,
                None => {
                    let named = self.place_within(scene, number, detours - 1);
                    let named = named.map(|mut named| {
                        way.parts.iter().rev().for_each(|part| named.append(scene, part));
                        named
                    });
                    return way.better(named);
                }
            }
        }
        way.better(None)
    }
}

/// The path up from a reference to an object with a name.
struct Way<'h> {
    at: ObjectId,
    link: Link,
    inner: Option<ObjectId>,
    /// The names and keys that were passed, the lowest first.
    parts: Vec<Cow<'h, str>>,
    /// A name that is known already, from the type of an object on the path.
    known: Option<Place>,
}

impl<'h> Way<'h> {
    /// Passes the object at the present end of the path. Returns the field by which this object
    /// holds the previous one. `None` if the path ends here.
    fn pass(&mut self, scene: &Scene<'h, '_>) -> Option<&'h str> {
        let (row, label) = self.link;
        let field = match label.kind() {
            LabelKind::Field(name) => scene.heap().names.text(name),
            _ => "",
        };
        let role = scene.role_of(self.at);
        let is_hidden = |role: Option<Role>| role == Some(Role::Hidden);
        // Labels that are not fields begin with `<`, and so do properties whose key is a symbol.
        let is_made_up = field.starts_with('<') && !field.starts_with("<symbol ");
        if is_made_up || is_hidden(Some(role)) || is_hidden(scene.named_role(field)) {
            return None;
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

    /// The name from further up if it is exact and the program's, otherwise the known one, or that
    /// of a variable.
    fn better(mut self, place: Option<Place>) -> Option<Place> {
        if let Some(known) = self.known.take() {
            let exact = place.filter(|place| {
                let is_short = place.label.matches('.').count() < MOST_PARTS;
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

/// The name at an object that begins one: a class, a global object or an object of the program. The
/// outer `None` means that the name continues with the holder of the object.
fn anchored(
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
            Some((!parts.is_empty()).then(|| Place::variable(&way, &name, variable.is_program)))
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

/// Whether a call frame is one of a running thread, whose roots name its variables.
fn is_running(heap: &Heap<'_>, frame: ObjectId) -> bool {
    heap.roots.iter().any(|root| root.object == frame && root.kind == RootKind::Frame)
}

/// The name of the file that an object represents, without folders.
fn file_name(scene: &Scene<'_, '_>, at: ObjectId, field: &str) -> Option<String> {
    let heap = scene.heap();
    let is_name = |label: Label| match label.kind() {
        LabelKind::Field(name) => heap.names.text(name) == field,
        _ => false,
    };
    let mut names = heap.references_of(at).filter(|reference| is_name(reference.label));
    let Value::Text { text, .. } = heap.value(names.next()?.target) else { return None };
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The order of roots: those with more informative names come first.
fn rank(root: &Root) -> u8 {
    match root.kind {
        RootKind::Global | RootKind::Static => 0,
        RootKind::Frame => 1,
        RootKind::Thread => 2,
        _ => 3,
    }
}

/// Finds the collections around their internal objects. Results are kept, so that a long chain of
/// nodes is passed only once.
#[derive(Default)]
pub(super) struct Outsides(FxHashMap<ObjectId, ObjectId>);

impl Outsides {
    /// The object around an internal object of a collection, or the object itself.
    pub(super) fn of(&mut self, scene: &Scene<'_, '_>, object: ObjectId) -> ObjectId {
        let (mut at, mut passed) = (object, Vec::new());
        while scene.role_of(at).is_part() {
            if let Some(known) = self.0.get(&at) {
                at = *known;
                break;
            }
            passed.push(at);
            let up = scene.number(at).and_then(|number| scene.object(scene.dominator(number)));
            match up {
                Some(up) => at = up,
                None => break,
            }
        }
        passed.into_iter().for_each(|inside| _ = self.0.insert(inside, at));
        at
    }
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

fn is_program(scene: &Scene<'_, '_>, name: &str) -> bool {
    scene.named_role(name).is_none_or(|role| role == Role::Program)
}

/// A variable of a call, with the call: `local rows` and `load (views.py:5)`.
fn variable(heap: &Heap<'_>, root: &Root, frame: &StackFrame) -> (String, String) {
    let function = heap.names.text(frame.function);
    let LabelKind::Field(name) = root.label.kind() else {
        return ("a variable".to_owned(), function.to_owned());
    };
    let name = format!("local {}", heap.names.text(name));
    match heap.names.text(frame.file).rsplit(['/', '\\']).next() {
        Some(file) if frame.line > 0 => (name, format!("{function} ({file}:{})", frame.line)),
        _ => (name, function.to_owned()),
    }
}

fn of_root(scene: &Scene<'_, '_>, root: &Root) -> Option<Place> {
    let heap = scene.heap();
    let text = root.text(&heap.names);
    match root.kind {
        RootKind::Global | RootKind::Static => {
            let is_program = is_program(scene, &text);
            Some(Place::of(text, Some(is_program)))
        }
        RootKind::Frame | RootKind::Thread => {
            let thread = heap.threads.get(root.thread? as usize)?;
            let frame = root.frame.and_then(|frame| heap.frames.get(frame as usize));
            let frame = frame.filter(|frame| !heap.names.text(frame.function).is_empty());
            let text = thread.text(&heap.names);
            let Some(frame) = frame else {
                // A thread holds data of its own.
                let role = scene.role_of(root.object);
                let is_program = !matches!(role, Role::Runtime | Role::Thread);
                return Some(Place { is_local: true, ..Place::of(text, Some(is_program)) });
            };
            let (name, call) = variable(heap, root, frame);
            let is_program = is_program(scene, heap.names.text(frame.function));
            Some(Place::variable(&name, &format!("{call} in {text}"), Some(is_program)))
        }
        RootKind::Native if text.starts_with("held by ") => {
            Some(Place { is_local: true, ..Place::of(text, None) })
        }
        _ if heap.named_role(&text) == Some(Role::Program) => Some(Place::of(text, Some(true))),
        _ => None,
    }
}
