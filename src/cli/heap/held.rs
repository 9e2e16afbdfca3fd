//! A loaded heap with its file and its analyses, each of which is computed once.

use crate::analyses::Analyses;
use crate::analysis::histogram::Histogram;
use crate::cli::args::{ByArg, ObjectsArg};
use crate::cli::lock;
use crate::cli::memory::{Work, needs};
use crate::cli::open::Input;
use crate::input::load::Loaded;
use self_cell::self_cell;
use std::ops::Deref;
use std::sync::Mutex;

/// A heap that owns the file that it was loaded from. Each analysis is computed on first use and
/// kept.
///
/// Analyses run on the global thread pool. Do not request them from a thread of the pool: a thread
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
        dependent: Answers,
    }
);

/// The analyses of a heap, and its histograms by grouping and by counted objects.
pub(crate) struct Answers<'h> {
    analyses: Analyses<'h>,
    /// A list and not a map, because there are few groupings and choices of objects.
    histograms: Mutex<Vec<(HistogramKey, Histogram)>>,
}

type HistogramKey = (ByArg, ObjectsArg);

impl HeldHeap {
    pub(crate) fn load<E>(
        input: Input,
        load: impl for<'i> FnOnce(&'i Input) -> Result<Loaded<'i>, E>,
    ) -> Result<Self, E> {
        let file = FileHeap::try_new(input, load)?;
        Ok(Self(Cell::new(file, |file| Answers::of(file.borrow_dependent()))))
    }

    /// The approximate memory of the heap and its analyses, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let heap = &self.get().heap;
        let format = self.input().format;
        needs(Work::Analysis, format, heap.len() as u64, heap.references.len() as u64)
    }

    pub(crate) fn input(&self) -> &Input {
        self.0.borrow_owner().borrow_owner()
    }

    /// The heap with its analyses, which are computed on first use.
    pub(crate) fn get(&self) -> &Answers<'_> {
        self.0.borrow_dependent()
    }
}

impl<'h> Answers<'h> {
    fn of(loaded: &'h Loaded<'h>) -> Self {
        Self { analyses: Analyses::of(loaded), histograms: Mutex::default() }
    }

    /// The histogram for a grouping and a choice of objects. Calls `count` on first use only.
    pub(crate) fn histogram<E>(
        &self,
        key: HistogramKey,
        count: impl FnOnce() -> Result<Histogram, E>,
    ) -> Result<Histogram, E> {
        let known = |kept: &[(HistogramKey, Histogram)]| {
            Some(kept.iter().find(|(known, _)| *known == key)?.1.clone())
        };
        if let Some(histogram) = known(&lock(&self.histograms)) {
            return Ok(histogram);
        }
        // Requests for other histograms must not wait for this one, so the lock is not held.
        let histogram = count()?;
        self.keep_histogram(key, &histogram);
        Ok(histogram)
    }

    /// Keeps a histogram that was counted for another purpose.
    pub(crate) fn keep_histogram(&self, key: HistogramKey, histogram: &Histogram) {
        let mut kept = lock(&self.histograms);
        if kept.iter().all(|(known, _)| *known != key) {
            kept.push((key, histogram.clone()));
        }
    }

    /// Computes one analysis after the other that groups, single objects, the objects of a type and
    /// searches for text need. `group` counts the objects by a grouping.
    pub(crate) fn prepare(&self, group: impl Fn(&Self, ByArg)) {
        self.tree_and_roots();
        group(self, ByArg::Type);
        self.tree().types(&self.heap);
        self.referrers();
        self.shortest();
        self.collections();
        self.largest();
        for by in [ByArg::Namespace, ByArg::Root, ByArg::SizeClass] {
            group(self, by);
        }
        self.texts();
    }
}

impl<'h> Deref for Answers<'h> {
    type Target = Analyses<'h>;

    fn deref(&self) -> &Analyses<'h> {
        &self.analyses
    }
}
