//! The holders of an owner, as its program names them: `app.Cache.ENTRIES`, `keep.callbacks`.

use super::incoming::{Incoming, Pass};
use super::place::{FILE, Place};
use super::scene::Scene;
use super::way::{CONTEXT, Link, OUTER, Way, is_program};
use crate::analysis::object_set::ObjectSet;
use crate::model::heap::{Heap, Label, ObjectId, Role, Root, RootKind, StackFrame};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// The maximum number of objects on the path up to one with a name.
const MOST_UP: usize = 64;

/// The maximum number of objects with several holders on the path up. The best name counts.
const MOST_DETOURS: usize = 2;

/// The field of code that holds its text.
pub(super) const SOURCE: &str = "source";

/// The maximum number of holders of one object to examine.
const MOST_HOLDERS: usize = 32;

/// The maximum number of holders of one type that refer to one object by one field.
const MOST_ALIKE: usize = 4;

/// The references and roots that hold some objects.
pub(super) struct Holders {
    /// At most one of them is for an object.
    passes: Vec<Pass>,
    roots: FxHashMap<ObjectId, u32>,
    /// Numbers of objects whose unknown references are needed for a name.
    wanted: RefCell<BTreeSet<u32>>,
    /// See [`Holders::has_missed`].
    missed: Cell<bool>,
    /// References that have been searched.
    links: RefCell<FxHashMap<(ObjectId, ObjectId), Option<Link>>>,
}

impl Holders {
    /// Finds the holders of the objects with these numbers.
    pub(super) fn of(scene: &Scene<'_, '_>, numbers: impl Iterator<Item = u32>) -> Self {
        let mut holders = Self {
            passes: Vec::new(),
            roots: FxHashMap::default(),
            wanted: RefCell::default(),
            missed: Cell::default(),
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
        let mut new = ObjectSet::none(scene.survey.tree.len() + 1);
        let mut any = false;
        for number in numbers.filter(|number| !self.is_known(*number) && *number > 0) {
            any |= new.insert(ObjectId(number));
        }
        if !any {
            return;
        }
        let pass = Pass::over(scene, new);
        let heap = scene.heap();
        for (row, root) in (0..).zip(&heap.roots) {
            if scene.number(root.object).is_some_and(|number| pass.is_for(number)) {
                let best = self.roots.entry(root.object).or_insert(row);
                if rank(root) < rank(&heap.roots[*best as usize]) {
                    *best = row;
                }
            }
        }
        self.passes.push(pass);
    }

    fn is_known(&self, number: u32) -> bool {
        self.passes.iter().any(|pass| pass.is_for(number))
    }

    /// The references to an object from objects that it does not dominate.
    pub(super) fn of_number(
        &self,
        scene: &Scene<'_, '_>,
        number: u32,
    ) -> impl Iterator<Item = &Incoming> {
        let own = number..scene.end(number);
        self.all(number).iter().filter(move |held| !own.contains(&held.from))
    }

    /// All references to an object.
    fn all(&self, number: u32) -> &[Incoming] {
        let pass = self.passes.iter().find(|pass| pass.is_for(number));
        pass.map_or(&[], |pass| pass.to(number))
    }

    /// Whether the name of an object's holder names the object: if the object does not hold the
    /// holder, or if they are variables and a function that uses them, which tells their file.
    fn names(scene: &Scene<'_, '_>, number: u32, holder: &Incoming) -> bool {
        if !(number..scene.end(number)).contains(&holder.from) {
            return true;
        }
        let is_of_file = match scene.field(holder.label) {
            Some(CONTEXT) => scene.heap().location(holder.source).is_some(),
            field => field == Some(OUTER),
        };
        is_of_file && scene.role(holder.from) == Role::Closure
    }

    /// Marks an object for [`Self::add_wanted`] if its holders are not known.
    pub(super) fn want(&self, number: u32) {
        if !self.is_known(number) {
            self.wanted.borrow_mut().insert(number);
            self.missed.set(true);
        }
    }

    /// Whether objects whose holders are not known were needed since the last call.
    pub(super) fn has_missed(&self) -> bool {
        self.missed.take()
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
        let named = self.all(number).iter().filter(|held| Self::names(scene, number, held));
        let references = named.filter(|held| {
            let alike = seen.entry((scene.kin(held.from), held.label)).or_default();
            *alike += 1;
            *alike <= MOST_ALIKE
        });
        let places = references.take(MOST_HOLDERS).filter_map(|held| {
            let Incoming { source, label, place, .. } = *held;
            let row = scene.heap().references.range(source).nth(place as usize);
            let place = self.field(scene, source, (row, label), detours)?;
            if place.label.trim_end_matches(FILE).is_empty() {
                return None;
            }
            Some((false, place.is_vague || scene.role_of(source).is_part(), place))
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
        scene.field(self.link(scene, holder, held)?.1)
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
            let named = way.anchored(scene, field);
            match named.or_else(|| way.of_unnamed(scene)) {
                Some(Some(place))
                    if scene.role_of(way.at) == Role::Program
                        && place.may_go_on()
                        && !way.is_listened_to(scene) =>
                {
                    way.known.get_or_insert(place);
                }
                Some(place) => return way.better(place),
                None => {}
            }
            let Some(number) = scene.number(way.at) else { break };
            let up = scene.object(scene.dominator(number));
            let up = up.and_then(|up| Some((up, self.link(scene, up, way.at)?)));
            // A stack has no name, but the functions that use its variables have one.
            let is_stack = |up: &(ObjectId, Link)| {
                let is_unnamed = scene.field(up.1.1).is_none();
                scene.heap().is_made_up(up.0)
                    && is_unnamed
                    && scene.role_of(way.at) == Role::Closure
            };
            match up.filter(|up| !is_stack(up)) {
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
    /// The object around the source of a reference, or the source itself, and its number.
    #[inline]
    pub(super) fn of_source(&mut self, scene: &Scene<'_, '_>, held: &Incoming) -> (ObjectId, u32) {
        if !scene.role(held.from).is_part() {
            return (held.source, held.from);
        }
        let outside = self.of(scene, held.source);
        (outside, scene.number(outside).unwrap_or(0))
    }

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

/// A variable of a call, if it has a name, with the call: `local rows` and `load (views.py:5)`.
fn variable(heap: &Heap<'_>, root: &Root, frame: &StackFrame) -> (Option<String>, String) {
    let function = heap.names.text(frame.function);
    let Some(name) = root.label.field_name(&heap.names) else {
        return (None, function.to_owned());
    };
    let name = Some(format!("local {name}"));
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
            if let Some(Role::Variables(one)) = scene.named_role(&text) {
                // The runtime has global variables of its own, such as that with Ruby's VM.
                let is_program = !scene.role_of(root.object).is_hidden();
                return Some(Place::of(one.to_owned(), Some(is_program)));
            }
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
            Some(Place::variable(name.as_deref(), &format!("{call} in {text}"), Some(is_program)))
        }
        RootKind::Native if text.starts_with("held by ") => {
            Some(Place { is_local: true, ..Place::of(text, None) })
        }
        _ if heap.named_role(&text) == Some(Role::Program) => Some(Place::of(text, Some(true))),
        _ => None,
    }
}
