//! The analyses of a loaded heap, each computed once, when it is first asked for.

use crate::analysis::by_type::ObjectsByType;
use crate::analysis::collections::{CollectionShapes, Collections};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::graph::Graph;
use crate::analysis::largest::LargestByType;
use crate::analysis::live::live;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::paths::Path;
use crate::analysis::paths::cycle;
use crate::analysis::paths::distances::RootDistances;
use crate::analysis::paths::several::Several;
use crate::analysis::paths::shortest::{Shortest, ShortestLinks};
use crate::analysis::referrers::Referrers;
use crate::analysis::root_groups::RootGroups;
use crate::analysis::text_signatures::TextSignatures;
use crate::analysis::tree::{self, TreeLine, TreeOptions};
use crate::analysis::verdict::{Grown, Surveyed, TracedOwner, Verdict, grown, owners};
use crate::input::load::Loaded;
use crate::model::heap::ObjectId;
use crate::parallel::lock;
use crate::parallel::on_demand::OnDemand;
use crate::phases;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

/// The analyses of a heap. Each is computed when it is first asked for, and kept.
///
/// Analyses run on the global pool of threads. Ask for them from outside it: threads of the pool do not
/// wait for each other, so several of them may compute the same result.
///
/// ```
/// use dumptool::{Analyses, LoadOptions};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst");
/// let dump = dumptool::open(path)?;
/// let loaded = dump.load_heap(LoadOptions::default())?;
/// let analyses = Analyses::of(&loaded);
/// let heap = &loaded.heap;
/// let largest = heap.objects().max_by_key(|object| analyses.tree().retained(*object)).expect("the heap has objects");
/// if let Some(path) = analyses.shortest().path(largest) {
///     println!("{}", path.text(heap));
/// }
/// # Ok::<(), dumptool::Error>(())
/// ```
pub struct Analyses<'h> {
    loaded: &'h Loaded<'h>,
    graph: Graph<'h>,
    kept: Kept,
}

/// The results computed so far.
#[derive(Default)]
struct Kept {
    tree: OnDemand<DominatorTree>,
    live: OnDemand<ObjectSet>,
    roots: OnDemand<RootGroups>,
    referrers: OnDemand<Referrers>,
    shortest: OnDemand<Arc<ShortestLinks>>,
    by_type: OnDemand<Arc<ObjectsByType>>,
    distances: OnDemand<RootDistances>,
    shapes: OnDemand<Arc<CollectionShapes>>,
    texts: OnDemand<TextSignatures>,
    largest: OnDemand<LargestByType>,
    verdict: OnDemand<Verdict>,
    /// Lines of large subtrees, the most recently requested last.
    lines: Mutex<Vec<(LinesKey, Arc<[TreeLine]>)>>,
}

type LinesKey = (Option<ObjectId>, TreeOptions);

/// The lines of a subtree are kept from this many objects on. Those of smaller ones are computed again
/// faster than a person notices.
const MANY: u32 = 100_000;
/// The maximum number of subtrees whose lines are kept, and of lines of each.
const KEPT_TREES: usize = 64;
const KEPT_LINES: usize = 1000;

impl<'h> Analyses<'h> {
    /// Builds the graph of a heap.
    pub fn of(loaded: &'h Loaded<'h>) -> Self {
        let _phase = phases::begin("building the graph");
        Self { loaded, graph: Graph::of(&loaded.heap), kept: Kept::default() }
    }

    /// The strong references of the heap.
    pub fn graph(&self) -> &Graph<'h> {
        &self.graph
    }

    /// The dominator tree.
    pub fn tree(&self) -> &DominatorTree {
        self.kept.tree.get_or_compute(|| self.compute_tree())
    }

    /// The dominator tree, and the result of `other`, which runs while the tree is computed.
    pub fn tree_with<R: Send>(&self, other: impl FnOnce() -> R + Send) -> (&DominatorTree, R) {
        self.kept.tree.get_with(|| self.compute_tree(), other)
    }

    fn compute_tree(&self) -> DominatorTree {
        let _phase = phases::begin("computing dominators");
        DominatorTree::of_graph(&self.heap, &self.graph)
    }

    /// The dominator tree, if it has been asked for.
    pub fn known_tree(&self) -> Option<&DominatorTree> {
        self.kept.tree.get()
    }

    /// Whether the roots reach an object. Uses the dominator tree if it was computed before, but does
    /// not compute it.
    pub fn is_live(&self, object: ObjectId) -> bool {
        match self.known_tree() {
            Some(tree) => tree.is_live(object),
            None => self.kept.live.get_or_compute(|| live(&self.graph)).contains(object),
        }
    }

    /// The dominator tree, and the groups of roots.
    pub fn tree_and_roots(&self) -> (&DominatorTree, &RootGroups) {
        let tree = self.tree();
        let find = || RootGroups::of_dominators(&self.heap, &self.graph, &tree.dominators);
        (tree, self.kept.roots.get_or_compute(find))
    }

    /// Keeps the groups of roots that another analysis found as a by-product.
    pub fn keep_roots(&self, roots: RootGroups) -> &RootGroups {
        self.kept.roots.get_or_compute(|| roots)
    }

    /// The referrers of each object.
    pub fn referrers(&self) -> &Referrers {
        self.kept.referrers.get_or_compute(|| Referrers::of(&self.heap.references))
    }

    /// The shortest path to each object.
    pub fn shortest(&self) -> Shortest<'_, 'h> {
        let links = self
            .kept
            .shortest
            .get_or_compute(|| Arc::clone(Shortest::of(&self.heap, &self.graph).links()));
        Shortest::again(&self.heap, links)
    }

    /// The objects of each type.
    pub fn by_type(&self) -> &Arc<ObjectsByType> {
        self.kept.by_type.get_or_compute(|| Arc::new(ObjectsByType::of(&self.heap)))
    }

    /// The shortest paths to these objects. A heap that stays searches for all, and only once.
    pub fn shortest_to(
        &self,
        objects: impl Iterator<Item = ObjectId>,
        stays: bool,
    ) -> Shortest<'_, 'h> {
        if stays || self.kept.shortest.get().is_some() {
            self.shortest()
        } else {
            let dominators = self.known_tree().map(|tree| &tree.dominators);
            Shortest::of_objects(&self.heap, &self.graph, dominators, objects.collect())
        }
    }

    /// The `k` shortest paths to an object; for an unreachable one, a cycle that keeps it.
    pub fn paths(&self, object: ObjectId, k: usize) -> Vec<Path> {
        if !self.is_live(object) && !self.incomplete && !self.heap.roots.is_empty() {
            let is_live = |object| self.is_live(object);
            return cycle(&self.heap, self.referrers(), is_live, object).into_iter().collect();
        }
        if k == 1 {
            return self.shortest().path(object).into_iter().collect();
        }
        let (heap, graph) = (&self.heap, &self.graph);
        let distances = self.kept.distances.get_or_compute(|| RootDistances::of(heap, graph));
        let (referrers, dominators) = (self.referrers(), &self.tree().dominators);
        let several = Several { heap, graph, distances, referrers, dominators };
        several.paths(object, k, || self.shortest())
    }

    /// The collections.
    pub fn collections(&self) -> Collections<'_, 'h> {
        let find = || Arc::clone(Collections::of(&self.heap).shapes());
        Collections::again(&self.heap, self.kept.shapes.get_or_compute(find))
    }

    /// The objects, types and variables that hold the memory.
    pub fn verdict(&self) -> &Verdict {
        self.kept.verdict.get_or_compute(|| self.survey(Verdict::of))
    }

    /// Like [`Self::verdict`], and the result of `other`, which runs meanwhile.
    pub fn verdict_with<R: Send>(&self, other: impl FnOnce() -> R + Send) -> (&Verdict, R) {
        self.kept.verdict.get_with(|| self.survey(Verdict::of), other)
    }

    /// The owners of the memory, also smaller ones, to find out which of them grew.
    pub fn owners(&self) -> Vec<TracedOwner> {
        self.survey(owners)
    }

    /// Returns the owner among `newer`, those of a newer heap, that grew most since this one.
    pub fn grown(&self, newer: &[TracedOwner]) -> Option<Grown> {
        self.survey(|measured, collections| grown(measured, collections, newer))
    }

    fn survey<T>(&self, look: impl FnOnce(Surveyed<'_, '_>, &Collections<'_, '_>) -> T) -> T {
        let (heap, graph, tree) = (&self.heap, &self.graph, self.tree());
        let _phase = phases::begin("looking for owners");
        look(Surveyed { heap, graph, tree }, &self.collections())
    }

    /// A short signature of each object's text. A search reads only the texts whose signature
    /// matches.
    pub fn texts(&self) -> &TextSignatures {
        self.kept.texts.get_or_compute(|| TextSignatures::of(&self.heap))
    }

    /// The objects of each type that retain most.
    pub fn largest(&self) -> &LargestByType {
        self.kept.largest.get_or_compute(|| LargestByType::of(&self.heap, self.tree()))
    }

    /// The objects of each type that retain most, if they were computed before. To look at all objects
    /// once is faster than to compute them.
    pub fn known_largest(&self) -> Option<&LargestByType> {
        self.kept.largest.get()
    }

    /// The lines of the dominator tree below an object, or of all of it.
    pub fn lines(&self, object: Option<ObjectId>, options: TreeOptions) -> Arc<[TreeLine]> {
        let key = (object, options);
        let mut kept = lock(&self.kept.lines);
        if let Some(place) = kept.iter().position(|(known, _)| *known == key) {
            let again = kept.remove(place);
            let lines = Arc::clone(&again.1);
            kept.push(again);
            return lines;
        }
        drop(kept);
        let tree = self.tree();
        let lines: Arc<[TreeLine]> = match object {
            Some(object) => tree::lines_below_object(&self.heap, tree, object, options).into(),
            None => tree::lines(&self.heap, tree, self.tree_and_roots().1, options).into(),
        };
        let number = object.map_or(Some(0), |object| tree.dominators.number(object));
        let objects = number.map_or(0, |number| tree.dominators.end(number) - number);
        if objects >= MANY && lines.len() <= KEPT_LINES {
            let mut kept = lock(&self.kept.lines);
            kept.push((key, Arc::clone(&lines)));
            if kept.len() > KEPT_TREES {
                kept.remove(0);
            }
        }
        lines
    }

    /// Returns at most `most` objects that dominate the most others, of those whose lines are kept.
    pub fn heads(&self, most: usize) -> Vec<ObjectId> {
        let dominators = &self.tree().dominators;
        let objects = |number: u32| dominators.end(number) - number;
        let mut open = BinaryHeap::from([(objects(0), Reverse(0))]);
        let mut heads = Vec::new();
        while heads.len() < most
            && let Some((_, Reverse(number))) = open.pop()
        {
            let object = dominators.object(number);
            heads.extend(object.filter(|object| !self.heap.is_made_up(*object)));
            let children = dominators.children(number).filter(|child| objects(*child) >= MANY);
            open.extend(children.map(|child| (objects(child), Reverse(child))));
        }
        heads
    }
}

/// The loaded heap, as the reader returned it.
impl<'h> Deref for Analyses<'h> {
    type Target = Loaded<'h>;

    fn deref(&self) -> &Loaded<'h> {
        self.loaded
    }
}
