//! A loaded heap with its file, and what is found out about it, each once.

#[cfg(feature = "query")]
use crate::analysis::by_type::ObjectsByType;
use crate::analysis::collections::{CollectionShapes, Collections};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::dominators::Dominators;
use crate::analysis::graph::Graph;
use crate::analysis::histogram::Histogram;
use crate::analysis::largest::LargestByType;
use crate::analysis::live::live;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::paths::Path;
use crate::analysis::paths::several::{Distances, Several};
use crate::analysis::paths::shortest::{Shortest, ShortestLinks};
use crate::analysis::referrers::Referrers;
use crate::analysis::root_groups::RootGroups;
use crate::analysis::text_signatures::TextSignatures;
use crate::analysis::tree::{self, TreeLine, TreeOptions};
use crate::cli::args::{ByArg, ObjectsArg};
use crate::cli::memory::{Work, needs};
use crate::cli::open::Input;
use crate::cli::progress::Progress;
use crate::input::load::Loaded;
use crate::model::heap::ObjectId;
use self_cell::self_cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A heap that owns the file that it was loaded from. Its analyses are computed when they are first
/// asked for, and kept.
///
/// Analyses run on the global pool of threads. Ask for them from outside it: a thread of the pool
/// that waits for a result could be the one that has to compute it.
pub(crate) struct HeldHeap(Cell);

self_cell!(
    struct FileHeap {
        owner: Input,
        #[covariant]
        dependent: Loaded,
    }
);

self_cell!(
    struct Cell {
        owner: FileHeap,
        #[covariant]
        dependent: Analyses,
    }
);

/// The analyses of a heap.
pub(crate) struct Analyses<'h> {
    loaded: &'h Loaded<'h>,
    graph: Graph<'h>,
    tree: OnceLock<DominatorTree>,
    live: OnceLock<ObjectSet>,
    roots: OnceLock<RootGroups>,
    referrers: OnceLock<Referrers>,
    shortest: OnceLock<Arc<ShortestLinks>>,
    #[cfg(feature = "query")]
    by_type: OnceLock<Arc<ObjectsByType>>,
    distances: OnceLock<Distances>,
    shapes: OnceLock<Arc<CollectionShapes>>,
    texts: OnceLock<TextSignatures>,
    largest: OnceLock<LargestByType>,
    /// By what they group and count. There are few of each.
    histograms: Mutex<Vec<(HistogramKey, Histogram)>>,
    /// Lines over many objects, those that were requested last at the end.
    lines: Mutex<Vec<(LinesKey, Arc<[TreeLine]>)>>,
}

type HistogramKey = (ByArg, ObjectsArg);

/// The object below which the lines are, or the whole tree.
type LinesKey = (Option<ObjectId>, TreeOptions);

/// Fewer objects are looked at again in less time than a person notices.
const MANY: u32 = 100_000;
/// Trees whose lines are kept, and lines of each of them.
const KEPT_TREES: usize = 64;
const KEPT_LINES: usize = 1000;

impl HeldHeap {
    /// Loads a heap.
    ///
    /// # Errors
    /// Those of `load`.
    pub(crate) fn load<E>(
        input: Input,
        load: impl for<'i> FnOnce(&'i Input) -> Result<Loaded<'i>, E>,
    ) -> Result<Self, E> {
        let file = FileHeap::try_new(input, load)?;
        Ok(Self(Cell::new(file, |file| Analyses::of(file.borrow_dependent()))))
    }

    /// About the bytes that the heap and its analyses take.
    pub(crate) fn bytes(&self) -> u64 {
        let heap = &self.get().heap;
        let format = self.input().format;
        needs(Work::Analysis, format, heap.len() as u64, heap.references.len() as u64)
    }

    /// The file.
    pub(crate) fn input(&self) -> &Input {
        self.0.borrow_owner().borrow_owner()
    }

    /// The heap, and what is found out about it when it is asked for.
    pub(crate) fn get(&self) -> &Analyses<'_> {
        self.0.borrow_dependent()
    }
}

impl<'h> Analyses<'h> {
    fn of(loaded: &'h Loaded<'h>) -> Self {
        let _phase = Progress::new("building the graph", None);
        Self {
            loaded,
            graph: Graph::of(&loaded.heap),
            tree: OnceLock::new(),
            live: OnceLock::new(),
            roots: OnceLock::new(),
            referrers: OnceLock::new(),
            shortest: OnceLock::new(),
            #[cfg(feature = "query")]
            by_type: OnceLock::new(),
            distances: OnceLock::new(),
            shapes: OnceLock::new(),
            texts: OnceLock::new(),
            largest: OnceLock::new(),
            histograms: Mutex::default(),
            lines: Mutex::default(),
        }
    }

    /// The strong references of the heap.
    pub(crate) fn graph(&self) -> &Graph<'h> {
        &self.graph
    }

    /// The dominator tree.
    pub(crate) fn tree(&self) -> &DominatorTree {
        self.tree.get_or_init(|| self.compute_tree())
    }

    /// The dominator tree, if it has been asked for.
    pub(crate) fn known_tree(&self) -> Option<&DominatorTree> {
        self.tree.get()
    }

    /// Whether the roots reach an object. Does not compute the dominator tree, but asks it if it is
    /// there.
    pub(crate) fn is_live(&self, object: ObjectId) -> bool {
        match self.known_tree() {
            Some(tree) => tree.is_live(object),
            None => self.live.get_or_init(|| live(&self.graph)).contains(object),
        }
    }

    fn compute_tree(&self) -> DominatorTree {
        let phase = Progress::new("computing dominators", None);
        let dominators = Dominators::of(&self.graph);
        drop(phase);
        let _phase = Progress::new("adding up retained sizes", None);
        DominatorTree::of_dominators(&self.heap, dominators)
    }

    /// The dominator tree, and the groups of roots.
    pub(crate) fn tree_and_roots(&self) -> (&DominatorTree, &RootGroups) {
        let tree = self.tree();
        let of = || RootGroups::of_dominators(&self.heap, &self.graph, &tree.dominators);
        (tree, self.roots.get_or_init(of))
    }

    /// Keeps the groups of roots of somebody who found them on the way to something else.
    pub(crate) fn keep_roots(&self, roots: RootGroups) -> &RootGroups {
        self.roots.get_or_init(|| roots)
    }

    /// The referrers of each object.
    pub(crate) fn referrers(&self) -> &Referrers {
        self.referrers.get_or_init(|| Referrers::of(&self.heap.references))
    }

    /// The shortest path to each object.
    pub(crate) fn shortest(&self) -> Shortest<'_, 'h> {
        let links =
            self.shortest.get_or_init(|| Arc::clone(Shortest::of(&self.heap, &self.graph).links()));
        Shortest::again(&self.heap, links)
    }

    /// The objects of each type.
    #[cfg(feature = "query")]
    pub(crate) fn by_type(&self) -> &Arc<ObjectsByType> {
        self.by_type.get_or_init(|| Arc::new(ObjectsByType::of(&self.heap)))
    }

    /// The shortest paths to these objects. A heap that stays searches for all, and only once.
    pub(crate) fn shortest_to(
        &self,
        objects: impl Iterator<Item = ObjectId>,
        stays: bool,
    ) -> Shortest<'_, 'h> {
        match stays || self.shortest.get().is_some() {
            true => self.shortest(),
            false => Shortest::of_objects(&self.heap, &self.graph, objects.collect()),
        }
    }

    /// The `k` shortest paths to an object.
    pub(crate) fn paths(&self, object: ObjectId, k: usize) -> Vec<Path> {
        if k == 1 {
            return self.shortest().path(object).into_iter().collect();
        }
        let (heap, graph) = (&self.heap, &self.graph);
        let distances = self.distances.get_or_init(|| Distances::of(heap, graph));
        let several = Several { heap, graph, distances, referrers: self.referrers() };
        several.paths(object, k, || self.shortest())
    }

    /// The collections.
    pub(crate) fn collections(&self) -> Collections<'_, 'h> {
        let of = || Arc::clone(Collections::of(&self.heap).shapes());
        Collections::again(&self.heap, self.shapes.get_or_init(of))
    }

    /// A summary of each object's text, with which most objects need no look.
    pub(crate) fn texts(&self) -> &TextSignatures {
        self.texts.get_or_init(|| TextSignatures::of(&self.heap))
    }

    /// The objects of each type that retain most, if they are known. Without them a look at all
    /// objects takes less time than to find them.
    pub(crate) fn known_largest(&self) -> Option<&LargestByType> {
        self.largest.get()
    }

    /// The histogram that `count` computes for these groups and objects.
    pub(crate) fn histogram<E>(
        &self,
        key: HistogramKey,
        count: impl FnOnce() -> Result<Histogram, E>,
    ) -> Result<Histogram, E> {
        let known = |kept: &[(HistogramKey, Histogram)]| {
            Some(kept.iter().find(|(of, _)| *of == key)?.1.clone())
        };
        if let Some(histogram) = known(&lock(&self.histograms)) {
            return Ok(histogram);
        }
        // Others are not to wait for this one.
        let histogram = count()?;
        self.keep_histogram(key, &histogram);
        Ok(histogram)
    }

    /// Keeps a histogram of somebody who counted for something else.
    pub(crate) fn keep_histogram(&self, key: HistogramKey, histogram: &Histogram) {
        let mut kept = lock(&self.histograms);
        if kept.iter().all(|(of, _)| *of != key) {
            kept.push((key, histogram.clone()));
        }
    }

    /// The lines of the dominator tree below an object, or of all of it.
    pub(crate) fn lines(&self, object: Option<ObjectId>, options: TreeOptions) -> Arc<[TreeLine]> {
        let key = (object, options);
        let mut kept = lock(&self.lines);
        if let Some(place) = kept.iter().position(|(of, _)| *of == key) {
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
            let mut kept = lock(&self.lines);
            kept.push((key, Arc::clone(&lines)));
            if kept.len() > KEPT_TREES {
                kept.remove(0);
            }
        }
        lines
    }

    /// Computes what first looks at groups, at single objects, at those of a type, and searches for
    /// texts need, one after the other. `group` counts the objects by one of the groups.
    pub(crate) fn prepare(&self, group: impl Fn(&Self, ByArg)) {
        self.tree_and_roots();
        group(self, ByArg::Type);
        self.tree().types_for(&self.heap, u64::MAX);
        self.referrers();
        self.shortest();
        self.collections();
        self.largest.get_or_init(|| LargestByType::of(&self.heap, self.tree()));
        for by in [ByArg::Namespace, ByArg::Root, ByArg::SizeClass] {
            group(self, by);
        }
        self.texts();
    }

    /// The objects above most others, as far as the lines below them would be kept.
    pub(crate) fn heads(&self, most: usize) -> Vec<ObjectId> {
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

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The loaded heap, as the reader returned it.
impl<'h> Deref for Analyses<'h> {
    type Target = Loaded<'h>;

    fn deref(&self) -> &Loaded<'h> {
        self.loaded
    }
}
