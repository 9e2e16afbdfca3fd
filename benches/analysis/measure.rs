//! Measures the analysis of one graph.

use crate::allocator::peak;
use crate::lengauer_tarjan;
use cpu_time::ThreadTime;
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live::live;
use dumptool::analysis::referrers::Referrers;
use dumptool::analysis::retained::Retained;
use dumptool::model::heap::Heap;

/// Medians of the CPU time of this thread, in seconds, and peaks of memory in bytes.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) live_objects: usize,
    pub(crate) live: f64,
    pub(crate) dominators: f64,
    pub(crate) lengauer_tarjan: f64,
    pub(crate) retained: f64,
    pub(crate) referrers: f64,
    pub(crate) bytes: usize,
    pub(crate) lengauer_tarjan_bytes: usize,
    pub(crate) all_bytes: usize,
}

/// Measures everything `rounds` times. The algorithms take turns, so that what else the machine
/// does slows all of them down.
pub(crate) fn measure(heap: &Heap<'_>, rounds: usize) -> Measured {
    let mut times: [Vec<f64>; 5] = Default::default();
    let mut measured = Measured::default();
    for _ in 0..rounds {
        let (answers, all_bytes) = peak(|| {
            let (found, seconds) = timed(|| live(&Graph::of(heap)));
            times[0].push(seconds);
            let ((dominators, seconds), bytes) =
                peak(|| timed(|| Dominators::of(&Graph::of(heap))));
            times[1].push(seconds);
            measured.bytes = bytes;
            let (retained, seconds) = timed(|| Retained::of(heap, &dominators));
            times[2].push(seconds);
            let (referrers, seconds) = timed(|| Referrers::of(heap.references()));
            times[3].push(seconds);
            assert_eq!(found.len(), dominators.len());
            (dominators, retained, referrers)
        });
        measured.all_bytes = all_bytes.max(measured.bytes);
        let dominators = answers.0;
        drop((answers.1, answers.2));
        let ((others, seconds), bytes) =
            peak(|| timed(|| lengauer_tarjan::dominators(heap, &Graph::of(heap))));
        times[4].push(seconds);
        measured.lengauer_tarjan_bytes = bytes;
        measured.live_objects = dominators.len();
        compare(heap, &dominators, &others);
    }
    let [live, dominators, retained, referrers, lengauer_tarjan] = times.map(median);
    Measured { live, dominators, retained, referrers, lengauer_tarjan, ..measured }
}

/// Two algorithms that have nothing in common but the graph find the same.
fn compare(heap: &Heap<'_>, dominators: &Dominators, others: &[u32]) {
    for object in heap.objects() {
        let expected = match dominators.dominator(object) {
            Some(dominator) => dominator.0,
            None if dominators.is_live(object) => heap.len() as u32,
            None => u32::MAX,
        };
        assert_eq!(others[object.index()], expected, "the dominator of {object:?}");
    }
}

fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let start = ThreadTime::now();
    let result = run();
    (result, start.elapsed().as_secs_f64())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
