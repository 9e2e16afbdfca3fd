//! Threads, grouped by equal stacks, with the objects that only they keep alive.

use super::dominators::Dominators;
use super::flood::{ALL, Flood, Ground, Objects};
use super::graph::Graph;
use super::made_up::MadeUp;
use super::root_groups::Lands;
use crate::model::heap::{Heap, ObjectId, StackFrame, Thread, ThreadKind};
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;

/// Threads with equal stacks that were started by the same call, in the same state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadGroup {
    /// Rows of [`Heap::threads`], in their order.
    pub threads: Vec<u32>,
    /// Count and bytes of the objects that only threads of the group keep alive, through their
    /// frames and through the runtime's data about them.
    pub retained: Sum,
}

/// The threads of a heap.
#[derive(Clone, Debug)]
pub struct Threads {
    /// The groups, those that retain most bytes first, then those with most threads.
    pub groups: Vec<ThreadGroup>,
    /// Count and bytes of the objects that each thread alone keeps alive, by row of [`Heap::threads`].
    pub retained: Vec<Sum>,
    /// By row of [`Heap::threads`]: the threads that alone keep the thread's object alive.
    objects: Vec<HeldBy>,
    /// Rows of [`Heap::roots`] that belong to frames, sorted by frame.
    locals: Vec<(u32, u32)>,
}

/// The smallest set of threads that alone keeps the object of a thread alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum HeldBy {
    /// Something else keeps the object alive, too, or the thread has no object.
    Others,
    Group,
    Thread,
}

impl Threads {
    /// Groups the threads of a heap by their stacks, or puts each into a group of its own.
    ///
    /// A thread retains the objects that only it reaches. A group retains the objects that only
    /// threads of the group reach.
    pub fn of(heap: &Heap<'_>, graph: &Graph<'_>, each: bool) -> Self {
        Self::over(&Lands::of(heap, graph), heap, graph, each)
    }

    /// Like [`Self::of`], but uses the dominators of the heap, which takes less work.
    pub fn of_dominators(
        heap: &Heap<'_>,
        graph: &Graph<'_>,
        dominators: &Dominators,
        each: bool,
    ) -> Self {
        Self::over(&Lands::of_dominators(heap, graph, dominators), heap, graph, each)
    }

    /// Like [`Self::of`], with [`Lands`] that have already been computed.
    pub fn over(lands: &Lands<'_>, heap: &Heap<'_>, graph: &Graph<'_>, each: bool) -> Self {
        let group_of = if each { (0..heap.threads.len() as u32).collect() } else { by_stack(heap) };
        let count = group_of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut groups = vec![ThreadGroup::default(); count];
        (0..)
            .zip(&group_of)
            .for_each(|(thread, group)| groups[*group as usize].threads.push(thread));
        let mut retained = vec![Sum::default(); group_of.len()];
        let row = |(row, thread): (usize, &Thread)| Some((thread.object?, row));
        let rows: FxHashMap<_, _> = heap.threads.iter().enumerate().filter_map(row).collect();
        let mut objects = vec![HeldBy::Others; group_of.len()];
        let add = |object: ObjectId, holder: u32| {
            let (shallow, external) =
                (heap.shallow.get(object.index()), heap.external_bytes(object));
            let (group, held_by) =
                match Some(holder as usize - 1).filter(|row| *row < group_of.len()) {
                    Some(thread) => {
                        retained[thread].add(shallow, external);
                        (group_of[thread], HeldBy::Thread)
                    }
                    None => (ALL - 1 - holder, HeldBy::Group),
                };
            if let Some(row) = rows.get(&object) {
                objects[*row] = held_by;
            }
            groups[group as usize].retained.add(shallow, external);
        };
        if !heap.threads.is_empty() {
            let made_up = &lands.made_up;
            match &lands.regions {
                Some(regions) => hold(regions, heap, graph, made_up, &group_of, add),
                None => hold(&Objects { graph, made_up }, heap, graph, made_up, &group_of, add),
            }
        }
        groups
            .sort_by_key(|group| std::cmp::Reverse((group.retained.bytes(), group.threads.len())));
        let rows = (0u32..).zip(&heap.roots);
        let mut locals: Vec<_> = rows.filter_map(|(row, root)| Some((root.frame?, row))).collect();
        locals.sort_unstable();
        Self { groups, retained, objects, locals }
    }

    /// Bytes that the thread in a row of [`Heap::threads`] keeps alive: those that only it reaches,
    /// and those that its object retains. `of_object` returns the retained bytes of an object.
    pub fn bytes(&self, heap: &Heap<'_>, row: u32, of_object: impl Fn(ObjectId) -> u64) -> u64 {
        let only_here = self.retained[row as usize].bytes();
        only_here.saturating_add(self.of_object(heap, row, HeldBy::Thread, of_object))
    }

    /// Bytes that a group of threads keeps alive, computed like [`Self::bytes`].
    pub fn group_bytes(
        &self,
        heap: &Heap<'_>,
        group: &ThreadGroup,
        of_object: impl Fn(ObjectId) -> u64,
    ) -> u64 {
        let rows = group.threads.iter();
        let of_objects = rows.map(|row| self.of_object(heap, *row, HeldBy::Group, &of_object));
        of_objects.fold(group.retained.bytes(), u64::saturating_add)
    }

    /// Bytes that the object of a thread retains; 0 if it is among the objects counted already,
    /// because they then include all that it retains. Otherwise they include nothing of it. Go
    /// keeps the object of a goroutine for the next one, so that does not count.
    fn of_object(
        &self,
        heap: &Heap<'_>,
        row: u32,
        counted: HeldBy,
        of_object: impl Fn(ObjectId) -> u64,
    ) -> u64 {
        let thread = &heap.threads[row as usize];
        let counts = thread.kind != ThreadKind::Goroutine && self.objects[row as usize] < counted;
        thread.object.filter(|_| counts).map_or(0, of_object)
    }

    /// The roots in a call frame: rows of [`Heap::roots`].
    pub fn locals(&self, frame: u32) -> impl Iterator<Item = usize> + '_ {
        let start = self.locals.partition_point(|(row, _)| *row < frame);
        self.locals[start..]
            .iter()
            .take_while(move |(row, _)| *row == frame)
            .map(|(_, row)| *row as usize)
    }
}

/// The group of each thread. Threads of one kind, in one state, with equal frames, and started by
/// the same call are in one group.
pub fn by_stack(heap: &Heap<'_>) -> Vec<u32> {
    let mut groups = FxHashMap::default();
    let key = |thread: &Thread| {
        let creator = thread.created_by.map(|creation| creation.call);
        (thread.kind, thread.state, creator, frames(heap, thread))
    };
    heap.threads
        .iter()
        .zip(0u32..)
        .map(|(thread, row)| {
            // Threads without frames are not known to do the same.
            let is_known = !thread.frames.is_empty();
            if is_known { *groups.entry(key(thread)).or_insert(row) } else { row }
        })
        .scan((FxHashMap::default(), 0), |(numbers, next), first| {
            Some(*numbers.entry(first).or_insert_with(|| {
                *next += 1;
                *next - 1
            }))
        })
        .collect()
}

/// The frames of a thread, innermost first.
pub fn frames<'h>(heap: &'h Heap<'_>, thread: &Thread) -> &'h [StackFrame] {
    heap.frames.get(thread.frames.start as usize..thread.frames.end as usize).unwrap_or_default()
}

/// Calls `each` with the objects that a thread or a group of threads alone holds, and which: a thread
/// plus 1, or `ALL - 1` less a group.
fn hold(
    ground: &impl Ground,
    heap: &Heap<'_>,
    graph: &Graph<'_>,
    made_up: &MadeUp,
    group_of: &[u32],
    each: impl FnMut(ObjectId, u32),
) {
    let wider = |holder: u32| match group_of.get(holder as usize - 1) {
        Some(group) => ALL - 1 - group,
        None => ALL,
    };
    let mut flood = Flood::new(ground, ground.closed(), wider);
    // Other roots go first, so that threads skip the objects that these reach.
    for of_threads in [false, true] {
        for root in heap
            .roots
            .iter()
            .filter(|root| root.thread.is_some() == of_threads && made_up.is_held(root.object))
        {
            flood.reach(root.object, root.thread.map_or(ALL, |thread| thread + 1));
        }
        flood.follow();
    }
    // Targets of synthetic objects without a root that names them.
    for &object in &made_up.list {
        graph.targets(object).for_each(|target| flood.reach_first(target, ALL));
    }
    flood.for_each_held(each);
}

/// The folder of Python's standard library and its installed packages.
const PYTHON: &str = "/lib/python";

/// Returns the functions of the program in a stack, innermost first, each with the number of
/// consecutive calls. Library frames at both ends are omitted, unless there are no others.
pub fn program_functions<'h>(heap: &'h Heap<'_>, thread: &Thread) -> Vec<(&'h str, u32)> {
    let names = |frame: &StackFrame| (heap.names.text(frame.function), heap.names.text(frame.file));
    program_calls(&frames(heap, thread).iter().map(names).collect::<Vec<_>>())
}

/// Like [`program_functions`], for functions with their files, innermost first.
pub fn program_calls<'n>(frames: &[(&'n str, &'n str)]) -> Vec<(&'n str, u32)> {
    let own = |(function, file): &(&str, &str)| !is_library(function) && !file.contains(PYTHON);
    let range = match (frames.iter().position(own), frames.iter().rposition(own)) {
        (Some(first), Some(last)) => first..last + 1,
        _ => 0..frames.len(),
    };
    let mut calls: Vec<(&str, u32)> = Vec::new();
    for (function, _) in &frames[range] {
        match calls.last_mut() {
            Some((last, times)) if last == function => *times += 1,
            _ => calls.push((function, 1)),
        }
    }
    calls
}

/// Whether a function belongs to the runtime or its library: such frames show how a thread waits,
/// not for what.
pub(super) fn is_library(function: &str) -> bool {
    const PREFIXES: [&str; 8] =
        ["runtime.", "runtime/", "internal/", "sync.", "java.", "jdk.", "sun.", "com.sun."];
    PREFIXES.iter().any(|prefix| function.starts_with(prefix))
}
