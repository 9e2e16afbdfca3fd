//! The memory that several owners hold together, each byte counted once.
//!
//! No member of a group dominates memory that two members share. A flood from the roots that stops
//! at the members does not reach the memory that only they reach.

use super::Surveyed;
use super::partition::Partition;
use super::scene::Scene;
use crate::analysis::flood::{ALL, Flood, Ground, NOTHING, Objects};
use crate::analysis::made_up::MadeUp;
use crate::analysis::regions::Regions;
use crate::analysis::threads::by_stack;
use crate::model::heap::ObjectId;

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
                let holder = self.flood(scene, regions, groups);
                let mut bytes = vec![0_u64; groups.len()];
                regions.for_each_head(|number, region| {
                    let own = if partition.is_open(number) {
                        scene.own(number)
                    } else {
                        scene.bytes(number)
                    };
                    add(&mut bytes, holder[region as usize], own);
                });
                bytes
            }
            None => {
                let made_up = &self.made_up;
                let ground = Objects { graph: scene.survey.graph, made_up };
                let holder = self.flood(scene, &ground, groups);
                let mut bytes = vec![0_u64; groups.len()];
                for (object, holder) in scene.heap().objects().zip(holder) {
                    if !matches!(holder, NOTHING | ALL) {
                        add(&mut bytes, holder, scene.heap().own_bytes(object));
                    }
                }
                bytes
            }
        }
    }

    /// The holder of each node: [`ALL`], or the number of a group and 1.
    fn flood(&self, scene: &Scene<'_, '_>, ground: &impl Ground, groups: &[&[u32]]) -> Vec<u32> {
        let mut kept = vec![false; ground.len()];
        let nodes = |group: &[u32]| {
            let objects = group.iter().filter_map(|number| scene.object(*number));
            objects.filter_map(|object| ground.node(object)).collect::<Vec<u32>>()
        };
        let members: Vec<Vec<u32>> = groups.iter().map(|group| nodes(group)).collect();
        members.iter().flatten().for_each(|node| kept[*node as usize] = true);
        let closed = Closed { ground, kept: &kept };
        let mut flood = Flood::new(&closed, |_| ALL);
        let (heap, graph) = (scene.heap(), scene.survey.graph);
        let starts = graph.starts().iter().copied();
        let roots =
            heap.roots.iter().map(|root| root.object).filter(|root| self.made_up.is_held(*root));
        let made_up = self.made_up.list.iter().flat_map(|object| graph.targets(*object));
        for object in starts.chain(roots).chain(made_up) {
            if closed.node(object).is_some_and(|node| !kept[node as usize]) {
                flood.reach(object, ALL);
            }
        }
        // What these reach, the groups leave alone.
        flood.follow();
        for (group, members) in (1..).zip(&members) {
            members.iter().for_each(|node| flood.start(*node, group));
        }
        flood.follow();
        flood.holders()
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
        let mut flood = Flood::new(ground, |_| ALL);
        for root in heap.roots.iter().filter(|root| self.made_up.is_held(root.object)) {
            let thread = root.thread.and_then(|thread| group_of.get(thread as usize));
            flood.reach(root.object, thread.map_or(ALL, |group| group + 1));
        }
        flood.follow();
        let targets =
            self.made_up.list.iter().flat_map(|object| scene.survey.graph.targets(*object));
        targets.for_each(|target| flood.reach_first(target, ALL));
        let holders = flood.holders();
        let owner = |number: &u32| {
            let node = scene.object(*number).and_then(|object| ground.node(object));
            node.map_or(ALL, |node| holders[node as usize])
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
    kept: &'g [bool],
}

impl<G: Ground> Ground for Closed<'_, G> {
    fn len(&self) -> usize {
        self.ground.len()
    }

    fn node(&self, object: ObjectId) -> Option<u32> {
        self.ground.node(object)
    }

    #[inline]
    fn for_each_target(&self, node: u32, mut each: impl FnMut(u32)) {
        self.ground.for_each_target(node, |target| {
            if !self.kept[target as usize] {
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

    fn for_each_held(&self, holder: &[u32], each: impl FnMut(ObjectId, u32)) {
        self.ground.for_each_held(holder, each);
    }

    fn by_object<T: Copy + Default + Send>(
        &self,
        holder: &[u32],
        of: impl Fn(u32) -> T + Sync,
    ) -> Vec<T> {
        self.ground.by_object(holder, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::collections::Collections;
    use crate::analysis::dominator_tree::DominatorTree;
    use crate::analysis::graph::Graph;
    use crate::model::builder::HeapBuilder;
    use crate::model::heap::{Heap, Ids, Label, Root, RootKind, TypeKind};
    use crate::model::names::Names;
    use proptest::prelude::*;

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

    /// Bytes of the live objects that the roots do not reach without the members.
    fn naive(
        heap: &Heap<'_>,
        graph: &Graph<'_>,
        tree: &DominatorTree,
        members: &[ObjectId],
    ) -> u64 {
        let mut reached = vec![false; heap.len()];
        let mut open: Vec<ObjectId> = graph.starts().to_vec();
        while let Some(object) = open.pop() {
            if !members.contains(&object) && !std::mem::replace(&mut reached[object.index()], true)
            {
                open.extend(graph.targets(object));
            }
        }
        let lost =
            heap.objects().filter(|object| tree.is_live(*object) && !reached[object.index()]);
        lost.map(|object| heap.shallow_bytes(object)).sum()
    }

    proptest! {
        #[test]
        fn a_group_holds_what_is_lost_without_it(
            edges in prop::collection::vec(prop::collection::vec(0_u32..30, 0..3), 30),
            roots in prop::collection::vec(0_u32..30, 1..6),
            chosen in prop::collection::vec(any::<bool>(), 30),
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
            let is_chosen = |number: &&u32| chosen[scene.object(**number).unwrap().index()];
            let members: Vec<u32> = partition.tops.iter().filter(is_chosen).copied().collect();
            let objects: Vec<ObjectId> = members.iter().filter_map(|top| scene.object(*top)).collect();
            let bytes = owners.bytes(&scene, &[&members], &partition);
            prop_assert_eq!(bytes[0], naive(&heap, &graph, &tree, &objects));
        }
    }
}
