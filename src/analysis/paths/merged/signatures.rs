//! The shapes of paths: nodes of a tree of steps. A group of steps that repeats leads back to the
//! end of its first occurrence.

use super::super::shortest::Shortest;
use super::super::{Origin, ReachedBy};
use super::alike::Alike;
use super::{LONGEST_GROUP, MergedLabel, MergedRoot, MergedStep, MergedSteps, Repeats};
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, RootKind, TypeId, TypeKind};
use crate::model::names::Names;
use rustc_hash::FxHashMap;

/// The number of steps in the first and in the last part of long paths.
pub(super) const HEAD: u32 = 6;

/// No signature, or no fold.
const NONE: u32 = u32::MAX;

pub(super) struct Signatures<'s, 'h, 'a> {
    heap: &'h Heap<'a>,
    shortest: &'s Shortest<'h, 'a>,
    alike: Alike,
    /// The end of the path to each object.
    of: Vec<Place>,
    nodes: Vec<Node>,
    roots: Vec<MergedRoot>,
    /// The node of each root.
    by_root: FxHashMap<MergedRoot, u32>,
    /// Where a step leads from a node.
    moves: FxHashMap<(u32, Step), Move>,
    folds: Vec<Fold>,
    /// Folds by the node that ends their group, and the number of its steps.
    fold_at: FxHashMap<(u32, usize), u32>,
    /// By node: the fold whose repetition passes the node.
    round: FxHashMap<u32, u32>,
    pending: Vec<(ObjectId, ReachedBy)>,
}

/// The end of the path to an object.
#[derive(Clone, Copy)]
struct Place {
    node: u32,
    /// The last fold on the path, and the number of times that its group has been passed.
    fold: u32,
    run: u32,
}

type Step = (MergedLabel, TypeId);

/// A root, or a step.
struct Node {
    step: Option<Step>,
    before: u32,
    /// The number of steps from the root to this node.
    depth: u32,
    root: u32,
    /// The node after [`HEAD`] steps, for those beyond it.
    head: u32,
}

#[derive(Clone, Copy)]
struct Move {
    to: u32,
    /// The fold that leads back, or none to a new node.
    fold: u32,
}

/// A group of steps that repeats directly.
struct Fold {
    /// Whether `most` is known: no other group repeats inside this one.
    is_counted: bool,
    most: u32,
}

impl<'s, 'h, 'a> Signatures<'s, 'h, 'a> {
    pub(super) fn new(shortest: &'s Shortest<'h, 'a>) -> Self {
        let nowhere = Place { node: NONE, fold: NONE, run: 1 };
        Self {
            heap: shortest.heap,
            shortest,
            alike: Alike::default(),
            of: vec![nowhere; shortest.heap.len()],
            nodes: Vec::new(),
            roots: Vec::new(),
            by_root: FxHashMap::default(),
            moves: FxHashMap::default(),
            folds: Vec::new(),
            fold_at: FxHashMap::default(),
            round: FxHashMap::default(),
            pending: Vec::new(),
        }
    }

    /// The number of signatures so far.
    pub(super) fn len(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// The signature of the path to an object. `None` if there is no path.
    pub(super) fn of(&mut self, object: ObjectId) -> Option<u32> {
        let (mut by, mut object) = (self.shortest.by(object)?, object);
        let mut place = loop {
            let known = self.of[object.index()];
            if known.node != NONE {
                break known;
            }
            self.pending.push((object, by));
            match self.shortest.before(object, by) {
                Some(before) if self.heap.is_made_up(before) => {
                    break self.start(self.made_up(before));
                }
                Some(before) => (by, object) = (self.shortest.by(before)?, before),
                None => {
                    let root = self.root_of(self.shortest.origin(object));
                    break self.start(root);
                }
            }
        };
        while let Some((object, by)) = self.pending.pop() {
            let step = (self.label(object, by), self.heap.merged_type(object));
            place = self.step(place, step);
            self.of[object.index()] = place;
        }
        Some(place.node)
    }

    pub(super) fn root(&self, node: u32) -> MergedRoot {
        self.roots[self.nodes[node as usize].root as usize]
    }

    pub(super) fn steps(&self, node: u32) -> MergedSteps {
        let Node { depth, head, .. } = self.nodes[node as usize];
        let head = if depth > HEAD { head } else { node };
        let last = self.up(node, depth.saturating_sub(HEAD).min(HEAD));
        MergedSteps {
            first: self.up(head, depth.min(HEAD)),
            omitted: depth.saturating_sub(2 * HEAD).into(),
            last,
        }
    }

    /// The last steps of the path to a node, in the order of the path.
    fn up(&self, mut node: u32, steps: u32) -> Vec<MergedStep> {
        let mut up = Vec::with_capacity(steps as usize);
        for _ in 0..steps {
            let Node { step: Some((label, of)), before, .. } = self.nodes[node as usize] else {
                break;
            };
            up.push(MergedStep { label, of, repeats: self.repeats(node) });
            node = before;
        }
        up.reverse();
        up
    }

    /// The longest group that ends in a node.
    fn repeats(&self, node: u32) -> Option<Repeats> {
        (1..=LONGEST_GROUP).rev().find_map(|steps| {
            let fold = &self.folds[*self.fold_at.get(&(node, steps))? as usize];
            Some(Repeats { steps, most: fold.is_counted.then_some(fold.most) })
        })
    }

    fn start(&mut self, root: MergedRoot) -> Place {
        let next = self.nodes.len() as u32;
        let node = *self.by_root.entry(root).or_insert(next);
        if node == next {
            let root_number = self.roots.len() as u32;
            self.roots.push(root);
            self.nodes.push(Node {
                step: None,
                before: NONE,
                depth: 0,
                root: root_number,
                head: NONE,
            });
        }
        Place { node, fold: NONE, run: 1 }
    }

    fn step(&mut self, from: Place, step: Step) -> Place {
        let Move { to, fold } = match self.moves.get(&(from.node, step)) {
            Some(known) => *known,
            None => self.explore(from.node, step),
        };
        if fold == NONE {
            return Place { node: to, ..from };
        }
        let run = if fold == from.fold { from.run.saturating_add(1) } else { 2 };
        let most = &mut self.folds[fold as usize].most;
        *most = run.max(*most);
        Place { node: to, fold, run }
    }

    /// Finds the node to which a new step leads: back to the end of its group if the step completes
    /// the same group again, otherwise to a new node.
    fn explore(&mut self, from: u32, step: Step) -> Move {
        let back = (1..=LONGEST_GROUP)
            .find_map(|group| Some((group, self.end_of_same(from, step, group)?)));
        let found = match back {
            Some((group, end)) => Move { to: end, fold: self.fold(from, end, group) },
            None => Move { to: self.add(from, step), fold: NONE },
        };
        self.moves.insert((from, step), found);
        found
    }

    /// The node that ends the group before the last `group` steps, of which `step` is the last, if
    /// both groups are the same.
    fn end_of_same(&self, from: u32, step: Step, group: usize) -> Option<u32> {
        let step_of = |node: u32| self.nodes.get(node as usize)?.step;
        let before = |node: u32| Some(self.nodes.get(node as usize)?.before);
        let mut end = from;
        for _ in 1..group {
            end = before(end)?;
        }
        if step_of(end)? != step {
            return None;
        }
        let (mut late, mut early) = (from, end);
        for _ in 1..group {
            early = before(early)?;
            if step_of(early)? != step_of(late)? {
                return None;
            }
            late = before(late)?;
        }
        Some(end)
    }

    /// The fold of the group of `group` steps that ends in `end` and is closed by way of `last`.
    fn fold(&mut self, last: u32, end: u32, group: usize) -> u32 {
        if let Some(known) = self.fold_at.get(&(end, group)) {
            return *known;
        }
        let fold = self.folds.len() as u32;
        let mut is_counted = true;
        let mut node = last;
        loop {
            is_counted &=
                !(1..=LONGEST_GROUP).any(|group| self.fold_at.contains_key(&(node, group)));
            if let Some(other) = self.round.insert(node, fold) {
                self.folds[other as usize].is_counted = false;
            }
            if node == end {
                break;
            }
            node = self.nodes[node as usize].before;
        }
        self.folds.push(Fold { is_counted, most: 1 });
        self.fold_at.insert((end, group), fold);
        fold
    }

    fn add(&mut self, before: u32, step: Step) -> u32 {
        let node = self.nodes.len() as u32;
        let Node { depth, root, head, .. } = self.nodes[before as usize];
        let depth = depth.saturating_add(1);
        let head = if depth == HEAD { node } else { head };
        self.nodes.push(Node { step: Some(step), before, depth, root, head });
        node
    }

    fn label(&mut self, object: ObjectId, by: ReachedBy) -> MergedLabel {
        match by {
            ReachedBy::Root => MergedLabel::One(Label::NONE),
            ReachedBy::Ephemeron => MergedLabel::Ephemeron,
            ReachedBy::Reference(row) => {
                let label = self.heap.label(row);
                let before = || self.shortest.before(object, by);
                match label.kind() {
                    LabelKind::Offset(_)
                        if before().is_some_and(|before| self.has_elements(before)) =>
                    {
                        MergedLabel::Element
                    }
                    _ => self.alike.merged(label, &self.heap.names),
                }
            }
        }
    }

    /// Whether an object whose references are labeled by offset is an array, or looks like one: no
    /// hand-written struct has so many pointers.
    fn has_elements(&self, object: ObjectId) -> bool {
        const MOST_FIELDS: usize = 16;
        self.heap.type_of(object).kind == TypeKind::Array
            || self.heap.references.range(object).len() > MOST_FIELDS
    }

    fn root_of(&mut self, origin: Origin) -> MergedRoot {
        match origin {
            Origin::Synthetic(object) => self.made_up(object),
            // Merged paths lead to live objects.
            Origin::Cycle => MergedRoot {
                kind: RootKind::Unowned,
                group: Names::EMPTY,
                label: MergedLabel::One(Label::NONE),
            },
            Origin::Root(row) => {
                let root = &self.heap.roots[row];
                let function = root
                    .frame
                    .and_then(|frame| self.heap.frames.get(frame as usize))
                    .map(|frame| frame.function);
                let label = self.alike.merged(root.label, &self.heap.names);
                MergedRoot { kind: root.kind, group: function.unwrap_or(root.group), label }
            }
        }
    }

    fn made_up(&self, object: ObjectId) -> MergedRoot {
        let label = MergedLabel::One(Label::NONE);
        MergedRoot { kind: RootKind::Runtime, group: self.heap.type_of(object).name, label }
    }
}
