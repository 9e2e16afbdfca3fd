//! Roots in groups, and which objects only one group keeps alive.

use super::graph::Graph;
use super::held::is_synthetic;
use crate::model::heap::{Heap, LabelKind, ObjectId, Root, RootKind, Thread};
use rustc_hash::FxHashMap;

/// Roots that belong together: a thread with all its frames, a variable, a table of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RootGroup {
    /// Why they are roots.
    pub kind: RootKind,
    /// As people see it: `data +0x1c0`, `goroutine 17 [chan receive]`.
    pub name: String,
}

/// What keeps an object alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nothing.
    None,
    /// Roots of one group alone: a row of [`RootGroups::groups`].
    Group(u32),
    /// Roots of several groups.
    Several,
}

/// The groups of a heap's roots, and the holder of each object. 4 bytes for each object.
#[derive(Clone, Debug)]
pub struct RootGroups {
    /// The groups, in the order of the roots.
    pub groups: Vec<RootGroup>,
    /// By object: [`NOTHING`], [`SEVERAL`], or [`FIRST`] plus the group.
    holder: Vec<u32>,
}

const NOTHING: u32 = 0;
const SEVERAL: u32 = 1;
const FIRST: u32 = 2;

impl RootGroups {
    /// Follows the strong references from each group. The holder of an object changes at most twice, from none to one and
    /// from one to several, so the work is at most twice the graph.
    ///
    /// Objects that the writer of the dump made up are passed over: roots name what they refer to.
    pub fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        let mut flood = Flood { heap, graph, holder: vec![NOTHING; heap.len()], pending: Vec::new() };
        let mut groups = Vec::new();
        let mut numbers: FxHashMap<RootGroup, u32> = FxHashMap::default();
        let mut number_of = |group: RootGroup, groups: &mut Vec<RootGroup>| {
            *numbers.entry(group).or_insert_with_key(|group| {
                groups.push(group.clone());
                groups.len() as u32 - 1
            })
        };
        let made_up = heap.root_object();
        for root in heap.roots.iter().filter(|root| !is_synthetic(heap, root.object)) {
            let group = number_of(group(heap, root), &mut groups);
            flood.from(root.object, FIRST + group);
        }
        // What made-up objects refer to without a root that names it.
        if let Some(root) = made_up {
            for object in live_synthetic(heap, graph, root) {
                for target in graph.targets(object) {
                    if !is_synthetic(heap, target) && flood.holder[target.index()] == NOTHING {
                        let name = heap.names.text(heap.type_of(object).name).to_owned();
                        let group = number_of(RootGroup { kind: RootKind::Other, name }, &mut groups);
                        flood.from(target, FIRST + group);
                    }
                }
            }
        }
        Self { groups, holder: flood.holder }
    }

    /// What keeps an object alive.
    #[inline]
    pub fn holder(&self, object: ObjectId) -> Holder {
        match self.holder[object.index()] {
            NOTHING => Holder::None,
            SEVERAL => Holder::Several,
            group => Holder::Group(group - FIRST),
        }
    }

    /// The name of an object's holder, for people.
    pub fn name(&self, object: ObjectId) -> &str {
        match self.holder(object) {
            Holder::None => "nothing",
            Holder::Several => "several roots",
            Holder::Group(group) => &self.groups[group as usize].name,
        }
    }
}

/// Made-up objects that can be reached over made-up objects alone, in ascending order.
fn live_synthetic(heap: &Heap<'_>, graph: &Graph<'_>, root: ObjectId) -> Vec<ObjectId> {
    let mut found = std::collections::BTreeSet::from([root]);
    let mut pending = vec![root];
    while let Some(object) = pending.pop() {
        pending.extend(graph.targets(object).filter(|target| is_synthetic(heap, *target) && found.insert(*target)));
    }
    found.into_iter().collect()
}

/// Roots of one thread belong together, and so do elements of one table. A variable is a group of its own.
fn group(heap: &Heap<'_>, root: &Root) -> RootGroup {
    let thread = root.frame.and_then(|frame| thread_of(&heap.threads, frame));
    let name = match (thread, root.kind, root.label.kind()) {
        (Some(thread), ..) => heap.names.text(thread.name).to_owned(),
        (None, RootKind::Frame | RootKind::Thread, _) | (None, _, LabelKind::Index(_)) => heap.names.text(root.group).to_owned(),
        (None, ..) => root.text(&heap.names),
    };
    // What belongs to a thread is one group, whether its frames or its record hold it.
    let kind = if thread.is_some() { RootKind::Thread } else { root.kind };
    RootGroup { kind, name }
}

/// Frames of threads are ranges in ascending order, as loaders append them.
fn thread_of(threads: &[Thread], frame: u32) -> Option<&Thread> {
    let index = threads.partition_point(|thread| thread.frames.end <= frame);
    threads.get(index).filter(|thread| thread.frames.contains(&frame))
}

struct Flood<'h, 'a> {
    heap: &'h Heap<'a>,
    graph: &'h Graph<'h>,
    holder: Vec<u32>,
    pending: Vec<ObjectId>,
}

impl Flood<'_, '_> {
    fn from(&mut self, object: ObjectId, holder: u32) {
        self.reach(object, holder);
        while let Some(object) = self.pending.pop() {
            let holder = self.holder[object.index()];
            let graph = self.graph;
            graph.targets(object).for_each(|target| self.reach(target, holder));
        }
    }

    #[inline]
    fn reach(&mut self, object: ObjectId, holder: u32) {
        let known = self.holder[object.index()];
        if known == SEVERAL || known == holder {
            return;
        }
        // Made-up objects are looked up only when an object is new: they are few, and types are far away in memory.
        if known == NOTHING && is_synthetic(self.heap, object) {
            return;
        }
        self.holder[object.index()] = if known == NOTHING { holder } else { SEVERAL };
        self.pending.push(object);
    }
}
