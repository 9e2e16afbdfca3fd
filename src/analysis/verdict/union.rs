//! The memory that several owners hold together, each byte counted once.
//!
//! No member of a group dominates memory that two members share. A flood from the roots that stops
//! at the members does not reach the memory that only they reach.

use super::Surveyed;
use super::partition::Partition;
use super::scene::Scene;
use crate::analysis::flood::{ALL, Flood, Ground, Held, NOTHING, Objects};
use crate::analysis::live::{Edges, reach};
use crate::analysis::made_up::MadeUp;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::regions::Regions;
use crate::analysis::threads::by_stack;
use crate::model::heap::{ObjectId, Root};

/// The graph between the highest owners of a heap.
pub(super) struct Owners<'s> {
    made_up: MadeUp,
    /// `None` if there are so many owners that contracting their subtrees to regions saves nothing.
    regions: Option<Regions<'s>>,
}

impl<'s> Owners<'s> {
    pub(super) fn of(scene: &Scene<'s, '_>, partition: &Partition) -> Self {
        let Surveyed { heap, graph, tree } = scene.survey;
        let made_up = MadeUp::of(heap, graph);
        let alone = |number| partition.is_open(number);
        let regions = Regions::around(graph, &tree.dominators, &made_up, alone);
        Self { made_up, regions }
    }

    /// The bytes of each group, including objects that several of its members share. Groups contain
    /// numbers of owners. Objects that several groups share belong to none of them.
    pub(super) fn bytes(
        &self,
        scene: &Scene<'_, '_>,
        groups: &[&[u32]],
        partition: &Partition,
    ) -> Vec<u64> {
        match &self.regions {
            Some(regions) => {
                let held = self.flood(scene, regions, groups);
                let mut bytes = vec![0_u64; groups.len()];
                regions.for_each_head(|number, region| {
                    let own = if partition.is_open(number) {
                        scene.own(number)
                    } else {
                        scene.bytes(number)
                    };
                    add(&mut bytes, held.holder(region), own);
                });
                bytes
            }
            None => {
                let made_up = &self.made_up;
                let ground = Objects { graph: scene.survey.graph, made_up };
                let held = self.flood(scene, &ground, groups);
                let mut bytes = vec![0_u64; groups.len()];
                ground.for_each_held(&held, |object, holder| {
                    add(&mut bytes, holder, scene.heap().own_bytes(object));
                });
                bytes
            }
        }
    }

    /// The number of the group, and 1, that holds each node. [`NOTHING`] for nodes that roots reach without
    /// the groups, [`ALL`] for those that several groups hold.
    fn flood(&self, scene: &Scene<'_, '_>, ground: &impl Ground, groups: &[&[u32]]) -> Held {
        let nodes = |group: &[u32]| {
            let objects = group.iter().filter_map(|number| scene.object(*number));
            objects.filter_map(|object| ground.node(object)).collect::<Vec<u32>>()
        };
        let members: Vec<Vec<u32>> = groups.iter().map(|group| nodes(group)).collect();
        let mut closed = ObjectSet::none(ground.len());
        let nodes = members.iter().flatten().map(|node| ObjectId(*node));
        nodes.chain(ground.closed().iter().copied()).for_each(|node| _ = closed.insert(node));
        let (heap, graph) = (scene.heap(), scene.survey.graph);
        let starts = graph.starts().iter().copied();
        let roots =
            heap.roots.iter().map(|root| root.object).filter(|root| self.made_up.is_held(*root));
        let made_up = self.made_up.list.iter().flat_map(|object| graph.targets(*object));
        let starts = starts.chain(roots).chain(made_up);
        reach(ground, starts.filter_map(|object| ground.node(object)), &mut closed);
        let rest = Closed { ground, closed: &closed };
        let mut flood = Flood::new(&rest, &[], |_| ALL);
        for (group, members) in (1..).zip(&members) {
            members.iter().for_each(|node| flood.start(*node, group));
        }
        flood.follow();
        flood.held()
    }

    /// The owners that only threads with one stack reach: by number in the order of `tops`, the
    /// group of [`by_stack`], or [`ALL`].
    pub(super) fn by_threads(&self, scene: &Scene<'_, '_>, tops: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let heap = scene.heap();
        let group_of = by_stack(heap);
        let holder = match &self.regions {
            Some(regions) => self.flood_threads(scene, regions, &group_of, tops),
            None => {
                let ground = Objects { graph: scene.survey.graph, made_up: &self.made_up };
                self.flood_threads(scene, &ground, &group_of, tops)
            }
        };
        (group_of, holder)
    }

    fn flood_threads(
        &self,
        scene: &Scene<'_, '_>,
        ground: &impl Ground,
        group_of: &[u32],
        tops: &[u32],
    ) -> Vec<u32> {
        let heap = scene.heap();
        let mut flood = Flood::new(ground, ground.closed(), |_| ALL);
        let group = |root: &Root| {
            let group = root.thread.and_then(|thread| group_of.get(thread as usize));
            group.map_or(ALL, |group| group + 1)
        };
        // Other roots go first, so that threads skip the objects that these reach.
        for of_threads in [false, true] {
            let held = heap.roots.iter().filter(|root| self.made_up.is_held(root.object));
            for root in held.filter(|root| of_threads == (group(root) != ALL)) {
                flood.reach(root.object, group(root));
            }
            flood.follow();
        }
        let targets =
            self.made_up.list.iter().flat_map(|object| scene.survey.graph.targets(*object));
        targets.for_each(|target| flood.reach_first(target, ALL));
        let held = flood.held();
        let owner = |number: &u32| {
            let node = scene.object(*number).and_then(|object| ground.node(object));
            node.map_or(ALL, |node| held.holder(node))
        };
        tops.iter().map(owner).collect()
    }
}

fn add(bytes: &mut [u64], holder: u32, own: u64) {
    if !matches!(holder, NOTHING | ALL)
        && let Some(sum) = bytes.get_mut(holder as usize - 1)
    {
        *sum = sum.saturating_add(own);
    }
}

/// A graph without the edges that lead to some nodes.
struct Closed<'g, G> {
    ground: &'g G,
    closed: &'g ObjectSet,
}

impl<G: Edges> Edges for Closed<'_, G> {
    fn len(&self) -> usize {
        self.ground.len()
    }

    #[inline]
    fn for_each_target(&self, node: u32, mut each: impl FnMut(u32)) {
        self.ground.for_each_target(node, |target| {
            if !self.closed.contains(ObjectId(target)) {
                each(target);
            }
        });
    }

    fn prefetch(&self, node: u32) {
        self.ground.prefetch(node);
    }

    fn prefetch_targets(&self, node: u32) {
        self.ground.prefetch_targets(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::collections::Collections;
    use crate::analysis::dominator_tree::DominatorTree;
    use crate::analysis::graph::Graph;
    use crate::model::builder::HeapBuilder;
    use crate::model::heap::{Heap, Ids, Label, RootKind, TypeKind};
    use crate::model::names::Names;
    use proptest::prelude::*;
    use rustc_hash::FxHashSet;

    fn heap(edges: &[Vec<u32>], roots: &[u32]) -> Heap<'static> {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let type_id = builder.add_type("app.T", "", TypeKind::Instance);
        for (object, targets) in (0_u64..).zip(edges) {
            builder.add_object(type_id, object + 1);
            targets.iter().for_each(|to| builder.add_reference(ObjectId(*to), Label::NONE, false));
        }
        for root in roots {
            builder.add_root(Root::new(ObjectId(*root), RootKind::Global, Names::EMPTY));
        }
        builder.finish(Ids::Rows(0), None)
    }

    /// The objects that some objects lead to without any of `closed`.
    fn led_to(graph: &Graph<'_>, from: &[ObjectId], closed: &[ObjectId]) -> FxHashSet<ObjectId> {
        let mut found = FxHashSet::default();
        let mut open = from.to_vec();
        while let Some(object) = open.pop() {
            if found.insert(object) {
                open.extend(graph.targets(object).filter(|target| !closed.contains(target)));
            }
        }
        found
    }

    /// Bytes of the objects that the roots do not reach without the members of any group, and the members
    /// of one group only do.
    fn naive(heap: &Heap<'_>, graph: &Graph<'_>, groups: &[Vec<ObjectId>; 2]) -> [u64; 2] {
        let members = groups.concat();
        let starts = graph.starts().iter().copied().filter(|start| !members.contains(start));
        let of_roots = led_to(graph, &starts.collect::<Vec<_>>(), &members);
        let held = groups.each_ref().map(|group| led_to(graph, group, &members));
        [0, 1].map(|group| {
            let own = held[group].difference(&held[1 - group]);
            own.filter(|object| !of_roots.contains(object))
                .map(|object| heap.own_bytes(*object))
                .sum()
        })
    }

    proptest! {
        #[test]
        fn a_group_holds_what_is_lost_without_it(
            edges in (30_u32..600).prop_flat_map(|objects| {
                prop::collection::vec(prop::collection::vec(0..objects, 0..4), objects as usize)
            }),
            roots in prop::collection::vec(0_u32..30, 1..6),
            chosen in prop::collection::vec(0..9_usize, 600),
            regions: bool,
        ) {
            let heap = heap(&edges, &roots);
            let graph = Graph::of(&heap);
            let tree = DominatorTree::of_graph(&heap, &graph);
            let measured = Surveyed { heap: &heap, graph: &graph, tree: &tree };
            let scene = Scene::new(measured, &Collections::of(&heap));
            let partition = Partition::of(&scene, u64::MAX);
            let mut owners = Owners::of(&scene, &partition);
            if !regions {
                owners.regions = None;
            }
            // Few owners are members, so that roots reach many objects without them.
            let object = |number: u32| scene.object(number).unwrap();
            let members = [0, 1].map(|group| {
                let tops = partition.tops.iter().copied();
                tops.filter(|top| chosen[object(*top).index()] == group).collect::<Vec<u32>>()
            });
            let objects = members.each_ref().map(|members| members.iter().map(|top| object(*top)).collect());
            let bytes = owners.bytes(&scene, &members.each_ref().map(Vec::as_slice), &partition);
            prop_assert_eq!(bytes, naive(&heap, &graph, &objects));
        }
    }
}
