//! Groups of roots, and the objects that one group alone keeps alive.

use super::dominators::Dominators;
use super::flood::{ALL, Flood, Ground, NOTHING, Objects};
use super::graph::Graph;
use super::made_up::MadeUp;
use super::regions::{RegionTops, Regions};
use crate::model::heap::{Heap, LabelKind, ObjectId, Root, RootKind, ThreadKind};
use crate::model::names::Names;
use crate::parallel;
use rustc_hash::FxHashMap;

/// Roots that belong together: a thread with all its frames, a variable, a table of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RootGroup {
    /// The kind of the roots.
    pub kind: RootKind,
    /// The display name: `data +0x1c0`, `goroutine 17 [chan receive]`.
    pub name: String,
}

/// The kind of root that keeps an object alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// No group: the object is unreachable or synthetic.
    None,
    /// One group: an index into [`RootGroups::groups`].
    Group(u32),
    /// Several groups of one kind: an index into [`RootGroups::kinds`].
    Kind(u32),
    /// Several groups of different kinds.
    Several,
}

/// The groups of a heap's roots, and the holder of each object: 2 bytes for each region of the dominator
/// tree, or for each object where regions save nothing. 4 bytes if there are more than 65,000 groups.
#[derive(Clone, Debug)]
pub struct RootGroups {
    /// The groups, in the order of the roots.
    pub groups: Vec<RootGroup>,
    /// Groups of one kind: `several threads`, `several globals of main`, `several static fields of
    /// isolate main`.
    pub kinds: Vec<RootGroup>,
    holders: Holders,
    /// The regions that have a holder. `None` if each object has one.
    regions: Option<RegionTops>,
}

/// Holders: [`NOTHING`], [`FIRST`] plus the group, [`LAST`] less the kind, or [`ALL`].
#[derive(Clone, Debug)]
enum Holders {
    /// The lower half of each, if these differ.
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

const FIRST: u32 = 1;
const LAST: u32 = ALL - 1;
/// More groups and kinds need [`Holders::Wide`].
const MOST_NARROW: usize = 65_000;

/// The ground over which holders are followed from the roots: regions of the dominator tree where
/// they save work, all objects otherwise.
pub struct Lands<'d> {
    pub(super) made_up: MadeUp,
    pub(super) regions: Option<Regions<'d>>,
}

impl Lands<'static> {
    /// Uses all objects.
    pub(super) fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        Self { made_up: MadeUp::of(heap, graph), regions: None }
    }
}

impl<'d> Lands<'d> {
    /// Uses the regions of the dominator tree, if there are few enough.
    pub fn of_dominators(heap: &Heap<'_>, graph: &Graph<'_>, dominators: &'d Dominators) -> Self {
        let made_up = MadeUp::of(heap, graph);
        let regions = Regions::of(graph, dominators, &made_up);
        Self { made_up, regions }
    }
}

impl RootGroups {
    /// Follows the strong references from each group. The holder of an object changes at most three
    /// times, from none to one, to one kind and to several, so the work is at most three times the
    /// graph.
    ///
    /// Synthetic objects are skipped: roots name their targets.
    pub fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        Self::over(Lands::of(heap, graph), heap, graph)
    }

    /// Like [`Self::of`], but uses the dominators of the heap, which takes less work.
    pub fn of_dominators(heap: &Heap<'_>, graph: &Graph<'_>, dominators: &Dominators) -> Self {
        Self::over(Lands::of_dominators(heap, graph, dominators), heap, graph)
    }

    /// Like [`Self::of`], with [`Lands`] that have already been computed.
    pub fn over(lands: Lands<'_>, heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        let Lands { made_up, regions } = lands;
        let mut groups = match &regions {
            Some(regions) => Self::follow(regions, heap, graph, &made_up),
            None => Self::follow(&Objects { graph, made_up: &made_up }, heap, graph, &made_up),
        };
        groups.regions = regions.map(Regions::into_tops);
        groups
    }

    fn follow(ground: &impl Ground, heap: &Heap<'_>, graph: &Graph<'_>, made_up: &MadeUp) -> Self {
        let mut numbers = Numbers::default();
        let holds = |root: &&Root| made_up.is_held(root.object) && !made_up.contains(root.object);
        let of_roots: Vec<(ObjectId, u32)> = heap
            .roots
            .iter()
            .filter(holds)
            .map(|root| {
                (root.object, FIRST + numbers.group(group(heap, root), || kind(heap, root)))
            })
            .collect();
        // Targets of synthetic objects without a root that names them.
        let mut unnamed = made_up.list.clone();
        unnamed.sort_unstable();
        let unnamed: Vec<(ObjectId, u32)> = unnamed
            .into_iter()
            .map(|object| {
                let name = heap.names.text(heap.type_of(object).name).to_owned();
                let number = numbers.group(RootGroup { kind: RootKind::Other, name }, || {
                    plain_kind(RootKind::Other)
                });
                (object, FIRST + number)
            })
            .collect();
        let Numbers { groups, kinds, kind_of, .. } = numbers;
        let wider =
            |holder: u32| kind_of.get((holder - FIRST) as usize).map_or(ALL, |kind| LAST - kind);
        let mut flood = Flood::new(ground, ground.closed(), wider);
        of_roots.into_iter().for_each(|(object, group)| flood.reach(object, group));
        flood.follow();
        for (object, group) in unnamed {
            graph.targets(object).for_each(|target| flood.reach_first(target, group));
        }
        let held = flood.held();
        let holders = if groups.len() + kinds.len() <= MOST_NARROW {
            Holders::Narrow(parallel::column(held.len(), |first, narrow| {
                let narrow = narrow.iter_mut().zip(first as u32..);
                narrow.for_each(|(narrow, node)| *narrow = held.holder(node) as u16);
            }))
        } else {
            Holders::Wide((0..held.len() as u32).map(|node| held.holder(node)).collect())
        };
        Self { groups, kinds, holders, regions: None }
    }

    /// The kind of root that keeps an object alive. `dominators` are those of the heap.
    #[inline]
    pub fn holder(&self, dominators: &Dominators, object: ObjectId) -> HeldBy {
        let node = match &self.regions {
            None => Some(object.0),
            Some(regions) => dominators.number(object).and_then(|number| regions.region(number)),
        };
        let Some(node) = node else { return HeldBy::None };
        let holder = match &self.holders {
            Holders::Wide(holders) => holders[node as usize],
            Holders::Narrow(holders) => match holders[node as usize].into() {
                holder if holder < FIRST + self.groups.len() as u32 => holder,
                from_the_end => from_the_end | u32::from(u16::MAX) << 16,
            },
        };
        match holder {
            NOTHING => HeldBy::None,
            ALL => HeldBy::Several,
            kind if LAST - kind < self.kinds.len() as u32 => HeldBy::Kind(LAST - kind),
            group => HeldBy::Group(group - FIRST),
        }
    }

    /// Returns the display name of the roots that keep an object alive.
    pub fn name(&self, dominators: &Dominators, object: ObjectId) -> &str {
        match self.holder(dominators, object) {
            HeldBy::None => "nothing",
            HeldBy::Several => "held by more than one root",
            HeldBy::Kind(kind) => &self.kinds[kind as usize].name,
            HeldBy::Group(group) => &self.groups[group as usize].name,
        }
    }
}

/// Groups and kinds by number.
#[derive(Default)]
struct Numbers {
    groups: Vec<RootGroup>,
    kinds: Vec<RootGroup>,
    /// The kind of each group.
    kind_of: Vec<u32>,
    group_numbers: FxHashMap<RootGroup, u32>,
    kind_numbers: FxHashMap<RootGroup, u32>,
}

impl Numbers {
    fn group(&mut self, group: RootGroup, kind: impl FnOnce() -> RootGroup) -> u32 {
        if let Some(known) = self.group_numbers.get(&group) {
            return *known;
        }
        let number = self.groups.len() as u32;
        let kinds = &mut self.kinds;
        let kind = *self.kind_numbers.entry(kind()).or_insert_with_key(|kind| {
            kinds.push(kind.clone());
            kinds.len() as u32 - 1
        });
        self.kind_of.push(kind);
        self.groups.push(group.clone());
        self.group_numbers.insert(group, number);
        number
    }
}

/// Roots of one thread belong together, and so do elements of one table and parts of one variable.
fn group(heap: &Heap<'_>, root: &Root) -> RootGroup {
    let thread = root.thread.and_then(|row| heap.threads.get(row as usize));
    // The roots of an isolate are its static fields: variables.
    if let Some(thread) = thread.filter(|thread| thread.kind != ThreadKind::Isolate) {
        return RootGroup { kind: RootKind::Thread, name: thread.text(&heap.names) };
    }
    let name = match (root.kind, root.label.kind(), root.variable) {
        (_, _, Some(variable)) => heap.names.text(variable).to_owned(),
        (RootKind::Frame | RootKind::Thread, ..) | (_, LabelKind::Index(_), _) => {
            heap.names.text(root.group).to_owned()
        }
        _ => root.text(&heap.names),
    };
    RootGroup { kind: root.kind, name }
}

/// The kind of a root: that of its group, and the isolate of a static field or the package of a
/// global variable.
fn kind(heap: &Heap<'_>, root: &Root) -> RootGroup {
    match root.thread.and_then(|row| heap.threads.get(row as usize)) {
        Some(thread) if thread.kind == ThreadKind::Isolate => {
            let name = format!("several static fields of {}", thread.text(&heap.names));
            return RootGroup { kind: RootKind::Static, name };
        }
        Some(thread) if thread.kind == ThreadKind::Goroutine => {
            return RootGroup { kind: RootKind::Thread, name: "several goroutines".to_owned() };
        }
        Some(_) => return plain_kind(RootKind::Thread),
        None => {}
    }
    match (root.kind, root.label.kind()) {
        (RootKind::Global, LabelKind::Field(name)) if root.group == Names::EMPTY => {
            match package(heap.names.text(name)) {
                Some(package) => RootGroup {
                    kind: RootKind::Global,
                    name: format!("several globals of {package}"),
                },
                None => plain_kind(RootKind::Global),
            }
        }
        _ => plain_kind(root.kind),
    }
}

/// The package of a Go variable: `encoding/json` of `encoding/json.cache`.
fn package(variable: &str) -> Option<&str> {
    let after_slash = variable.rfind('/').map_or(0, |slash| slash + 1);
    let end = after_slash + variable[after_slash..].find('.')?;
    Some(&variable[..end])
}

fn plain_kind(kind: RootKind) -> RootGroup {
    let name = match kind {
        RootKind::Global => "several globals",
        RootKind::Static => "several static fields",
        RootKind::Frame => "several call frames",
        RootKind::Thread => "several threads",
        RootKind::Finalizer => "several finalizers",
        RootKind::Defer => "several deferred calls",
        RootKind::Panic => "several panics",
        RootKind::Runtime => "several roots of the runtime",
        RootKind::Native => "several native handles",
        RootKind::Class => "several system classes",
        RootKind::Monitor => "several monitors",
        RootKind::Generation => "several objects of the old generation",
        RootKind::Unowned => "several objects without an owner",
        RootKind::Other => "several other roots",
    };
    RootGroup { kind, name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::builder::HeapBuilder;
    use crate::model::heap::{Ids, Label, TypeKind};

    /// Objects that one variable each holds, and a last one that all of them share.
    fn held(variables: u32) -> Heap<'static> {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let type_id = builder.add_type("app.T", "", TypeKind::Instance);
        for object in 0..variables {
            builder.add_object(type_id, 8);
            builder.add_reference(ObjectId(variables), Label::NONE, false);
            let name = builder.names().intern(&format!("main.v{object}"));
            let root = Root::new(ObjectId(object), RootKind::Global, Names::EMPTY);
            builder.add_root(Root { label: Label::field(name), ..root });
        }
        builder.add_object(type_id, 8);
        builder.finish(Ids::Rows(0), None)
    }

    #[test]
    fn any_number_of_groups_is_told_apart() {
        for variables in [2, 40_000, 70_000] {
            let heap = held(variables);
            let graph = Graph::of(&heap);
            let (groups, dominators) = (RootGroups::of(&heap, &graph), Dominators::of(&graph));
            for object in [0, variables - 1] {
                assert_eq!(groups.holder(&dominators, ObjectId(object)), HeldBy::Group(object));
                assert_eq!(groups.name(&dominators, ObjectId(object)), format!("main.v{object}"));
            }
            assert_eq!(groups.holder(&dominators, ObjectId(variables)), HeldBy::Kind(0));
        }
    }

    #[test]
    fn packages_end_at_the_first_dot_after_the_path() {
        assert_eq!(package("main.orders"), Some("main"));
        assert_eq!(package("encoding/json.fieldCache.m"), Some("encoding/json"));
        assert_eq!(package("gopkg.in/yaml.v3.cache"), Some("gopkg.in/yaml"));
        assert_eq!(package("counter"), None);
    }
}
