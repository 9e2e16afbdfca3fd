//! The shortest paths to many objects, merged by what they look like: the same root variable, and the same types over the
//! same labels. Elements are alike whatever their index, frames of one function whatever their thread, and a run of one type
//! over one label is one step however long it is.

use super::shortest::Shortest;
use super::{Origin, ReachedBy, label};
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, RootKind, TypeId, TypeKind};
use crate::model::names::NameId;
use rustc_hash::FxHashMap;

/// Paths that look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Where they begin.
    pub root: MergedRoot,
    /// What they pass, at least one step; the last one is of the objects asked for.
    pub steps: Vec<MergedStep>,
    /// Objects that they lead to.
    pub count: u64,
    /// Shallow and external bytes of these.
    pub bytes: u64,
    /// The first of these.
    pub example: ObjectId,
}

/// Roots that look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MergedRoot {
    /// Why they are roots.
    pub kind: RootKind,
    /// What they belong to: the function if that is a frame, otherwise the root's own group.
    pub group: NameId,
    /// Which of the group.
    pub label: MergedLabel,
}

/// Labels that look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MergedLabel {
    /// This one, or none.
    One(Label),
    /// An element.
    Element,
    /// The value of an ephemeron.
    Ephemeron,
}

/// A step of paths that look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedStep {
    /// How it is reached.
    pub label: MergedLabel,
    /// The type of what is reached.
    pub of: TypeId,
    /// Some of the paths have several of these in a row.
    pub repeated: bool,
}

/// Merges the shortest paths to objects; those with most bytes first. Objects that cannot be reached are left out. Takes
/// 4 bytes for each object of the heap, and no more time for long paths than for short ones, as each step is looked at once.
pub fn merged(shortest: &Shortest<'_, '_>, objects: impl Iterator<Item = ObjectId>) -> Vec<Merged> {
    let heap = shortest.heap;
    let mut signatures = Signatures { heap, shortest, of: vec![NONE; heap.len()], all: Vec::new(), numbers: FxHashMap::default() };
    let mut found: FxHashMap<u32, Merged> = FxHashMap::default();
    let mut pending = Vec::new();
    for object in objects {
        let Some(signature) = signatures.of(object, &mut pending) else { continue };
        let bytes = heap.shallow.get(object.index()).saturating_add(heap.external(object));
        let merged = found.entry(signature).or_insert_with(|| Merged {
            root: signatures.root(signature),
            steps: Vec::new(),
            count: 0,
            bytes: 0,
            example: object,
        });
        merged.count += 1;
        merged.bytes = merged.bytes.saturating_add(bytes);
    }
    let mut all: Vec<Merged> =
        found.into_iter().map(|(signature, merged)| Merged { steps: signatures.steps(signature), ..merged }).collect();
    all.sort_unstable_by_key(|merged| (std::cmp::Reverse((merged.bytes, merged.count)), merged.example));
    all
}

/// No signature yet.
const NONE: u32 = u32::MAX;

/// What the path to an object looks like: a root, or a signature and one step more.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Signature {
    Root(MergedRoot),
    Step(u32, MergedLabel, TypeId),
}

struct Signatures<'s, 'h, 'a> {
    heap: &'h Heap<'a>,
    shortest: &'s Shortest<'h, 'a>,
    /// By object.
    of: Vec<u32>,
    /// With whether the last step is repeated.
    all: Vec<(Signature, bool)>,
    numbers: FxHashMap<Signature, u32>,
}

impl Signatures<'_, '_, '_> {
    fn of(&mut self, object: ObjectId, pending: &mut Vec<(ObjectId, ReachedBy)>) -> Option<u32> {
        let (mut by, mut object) = (self.shortest.by(object)?, object);
        let mut signature = loop {
            if self.of[object.index()] != NONE {
                break self.of[object.index()];
            }
            pending.push((object, by));
            match self.shortest.before(object, by) {
                Some(before) if self.heap.is_made_up(before) => break self.number(Signature::Root(self.made_up(before))),
                Some(before) => (by, object) = (self.shortest.by(before)?, before),
                None => {
                    let root = self.root_of(self.shortest.origin(object));
                    break self.number(Signature::Root(root));
                }
            }
        };
        while let Some((object, by)) = pending.pop() {
            signature = self.step(signature, self.label(object, by), self.heap.type_of[object.index()]);
            self.of[object.index()] = signature;
        }
        Some(signature)
    }

    fn step(&mut self, before: u32, label: MergedLabel, of: TypeId) -> u32 {
        let (last, repeated) = &mut self.all[before as usize];
        if matches!(last, Signature::Step(_, last, type_id) if *last == label && *type_id == of) {
            *repeated = true;
            return before;
        }
        self.number(Signature::Step(before, label, of))
    }

    fn number(&mut self, signature: Signature) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(signature).or_insert(next);
        if number == next {
            self.all.push((signature, false));
        }
        number
    }

    fn label(&self, object: ObjectId, by: ReachedBy) -> MergedLabel {
        match by {
            ReachedBy::Root => MergedLabel::One(Label::NONE),
            ReachedBy::Ephemeron => MergedLabel::Ephemeron,
            ReachedBy::Reference(row) => {
                let label = label(self.heap, row);
                let before = || self.shortest.before(object, by);
                match label.kind() {
                    LabelKind::Index(_) => MergedLabel::Element,
                    LabelKind::Offset(_) if before().is_some_and(|before| self.has_elements(before)) => MergedLabel::Element,
                    _ => MergedLabel::One(label),
                }
            }
        }
    }

    /// Whether an object whose references are called by their offsets is an array, or looks like one: no struct that people
    /// write has so many pointers.
    fn has_elements(&self, object: ObjectId) -> bool {
        const MOST_FIELDS: usize = 16;
        self.heap.type_of(object).kind == TypeKind::Array || self.heap.references.range(object).len() > MOST_FIELDS
    }

    fn root_of(&self, origin: Origin) -> MergedRoot {
        match origin {
            Origin::Synthetic(object) => self.made_up(object),
            Origin::Root(row) => {
                let root = &self.heap.roots[row];
                let function = root.frame.and_then(|frame| self.heap.frames.get(frame as usize)).map(|frame| frame.function);
                let label = match root.label.kind() {
                    LabelKind::Index(_) => MergedLabel::Element,
                    _ => MergedLabel::One(root.label),
                };
                MergedRoot { kind: root.kind, group: function.unwrap_or(root.group), label }
            }
        }
    }

    fn made_up(&self, object: ObjectId) -> MergedRoot {
        let label = MergedLabel::One(Label::NONE);
        MergedRoot { kind: RootKind::Runtime, group: self.heap.type_of(object).name, label }
    }

    fn root(&self, mut signature: u32) -> MergedRoot {
        loop {
            match self.all[signature as usize].0 {
                Signature::Root(root) => return root,
                Signature::Step(before, ..) => signature = before,
            }
        }
    }

    fn steps(&self, mut signature: u32) -> Vec<MergedStep> {
        let mut steps = Vec::new();
        while let (Signature::Step(before, label, of), repeated) = self.all[signature as usize] {
            steps.push(MergedStep { label, of, repeated });
            signature = before;
        }
        steps.reverse();
        steps
    }
}
