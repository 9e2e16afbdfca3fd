//! Groups of roots, and the objects that one group alone keeps alive.

use super::flood::{ALL, Flood, NOTHING};
use super::graph::Graph;
use super::made_up::MadeUp;
use crate::model::heap::{Heap, LabelKind, ObjectId, Root, RootKind, ThreadKind};
use rustc_hash::FxHashMap;

/// Roots that belong together: a thread with all its frames, a variable, a table of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RootGroup {
    /// The kind of the roots.
    pub kind: RootKind,
    /// The display name: `data +0x1c0`, `goroutine 17 [chan receive]`.
    pub name: String,
}

/// What keeps an object alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// No group: the object is unreachable or synthetic.
    None,
    /// One group: an index into [`RootGroups::groups`].
    Group(u32),
    /// Several groups.
    Several,
}

/// The groups of a heap's roots, and the holder of each object. 4 bytes for each object.
#[derive(Clone, Debug)]
pub struct RootGroups {
    /// The groups, in the order of the roots.
    pub groups: Vec<RootGroup>,
    /// By object: [`NOTHING`], [`ALL`], or [`FIRST`] plus the group.
    holder: Vec<u32>,
}

const FIRST: u32 = 1;

impl RootGroups {
    /// Follows the strong references from each group. The holder of an object changes at most twice, from none to one and
    /// from one to several, so the work is at most twice the graph.
    ///
    /// Objects that the writer of the dump made up are passed over: roots name what they refer to.
    pub fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        let made_up = MadeUp::of(heap, graph);
        let mut groups = Vec::new();
        let mut numbers: FxHashMap<RootGroup, u32> = FxHashMap::default();
        let mut number_of = |group: RootGroup| {
            *numbers.entry(group).or_insert_with_key(|group| {
                groups.push(group.clone());
                groups.len() as u32 - 1
            })
        };
        let mut flood = Flood::new(heap, graph, &made_up, |_| ALL);
        let holds = |root: &&Root| made_up.is_held(root.object) && !made_up.contains(root.object);
        for root in heap.roots.iter().filter(holds) {
            flood.reach(root.object, FIRST + number_of(group(heap, root)));
        }
        flood.follow();
        // What made-up objects refer to without a root that names it.
        let mut in_order = made_up.list.clone();
        in_order.sort_unstable();
        for object in in_order {
            for target in graph.targets(object) {
                if flood.holder[target.index()] == NOTHING && !made_up.contains(target) {
                    let name = heap.names.text(heap.type_of(object).name).to_owned();
                    flood.reach(target, FIRST + number_of(RootGroup { kind: RootKind::Other, name }));
                    flood.follow();
                }
            }
        }
        Self { groups, holder: flood.holder }
    }

    /// What keeps an object alive.
    #[inline]
    pub fn holder(&self, object: ObjectId) -> HeldBy {
        match self.holder[object.index()] {
            NOTHING => HeldBy::None,
            ALL => HeldBy::Several,
            group => HeldBy::Group(group - FIRST),
        }
    }

    /// The display name of what keeps an object alive.
    pub fn name(&self, object: ObjectId) -> &str {
        match self.holder(object) {
            HeldBy::None => "nothing",
            HeldBy::Several => "held by more than one root",
            HeldBy::Group(group) => &self.groups[group as usize].name,
        }
    }
}

/// Roots of one thread belong together, and so do elements of one table. A variable is a group of its own.
fn group(heap: &Heap<'_>, root: &Root) -> RootGroup {
    let thread = root.thread.and_then(|row| heap.threads.get(row as usize));
    // The roots of an isolate are its static fields: variables.
    if let Some(thread) = thread.filter(|thread| thread.kind != ThreadKind::Isolate) {
        return RootGroup { kind: RootKind::Thread, name: thread.text(&heap.names) };
    }
    let name = match (root.kind, root.label.kind()) {
        (RootKind::Frame | RootKind::Thread, _) | (_, LabelKind::Index(_)) => heap.names.text(root.group).to_owned(),
        _ => root.text(&heap.names),
    };
    RootGroup { kind: root.kind, name }
}
