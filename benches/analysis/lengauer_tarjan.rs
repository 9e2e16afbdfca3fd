//! The algorithm that most tools for heaps use: Lengauer and Tarjan's with simple path compression,
//! on the numbers of the search, with the referrers of all objects.

use dumptool::analysis::graph::Graph;
use dumptool::model::heap::Heap;

const NONE: u32 = u32::MAX;

/// The immediate dominator of each object; the number of objects stands for the set of roots, and
/// [`u32::MAX`] for none.
pub(crate) fn dominators(heap: &Heap<'_>, graph: &Graph<'_>) -> Vec<u32> {
    let roots = heap.len();
    let referrers = Referrers::of(heap, graph);
    let mut tree = Tree::new(roots + 1);
    tree.search(graph, roots as u32);
    let is_start = {
        let mut is_start = vec![false; roots];
        graph.starts().iter().for_each(|start| is_start[start.index()] = true);
        is_start
    };
    for number in (1..tree.vertex.len()).rev() {
        let object = tree.vertex[number];
        let parent = tree.parent[object as usize];
        if is_start[object as usize] {
            tree.semi[object as usize] = 0;
        }
        for &source in referrers.of_object(object) {
            if tree.semi[source as usize] == NONE {
                continue;
            }
            let least = tree.evaluate(source);
            tree.semi[object as usize] = tree.semi[object as usize].min(tree.semi[least as usize]);
        }
        // Lists of objects by semidominator are linked through the objects.
        let semi = tree.vertex[tree.semi[object as usize] as usize] as usize;
        tree.next[object as usize] = std::mem::replace(&mut tree.bucket[semi], object);
        tree.ancestor[object as usize] = parent;
        let mut waiting = std::mem::replace(&mut tree.bucket[parent as usize], NONE);
        while waiting != NONE {
            let least = tree.evaluate(waiting);
            let smaller = tree.semi[least as usize] < tree.semi[waiting as usize];
            tree.dominator[waiting as usize] = if smaller { least } else { parent };
            waiting = tree.next[waiting as usize];
        }
    }
    for number in 1..tree.vertex.len() {
        let object = tree.vertex[number] as usize;
        if tree.dominator[object] != tree.vertex[tree.semi[object] as usize] {
            tree.dominator[object] = tree.dominator[tree.dominator[object] as usize];
        }
    }
    tree.dominator
}

/// Who keeps an object alive, in two columns.
struct Referrers {
    first: Vec<u32>,
    from: Vec<u32>,
}

impl Referrers {
    fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        let mut first = vec![0; heap.len() + 1];
        heap.objects()
            .flat_map(|object| graph.targets(object))
            .for_each(|target| first[target.index()] += 1);
        let mut sum = 0;
        for place in &mut first {
            sum += *place;
            *place = sum;
        }
        let mut from = vec![0; sum as usize];
        for object in heap.objects() {
            for target in graph.targets(object) {
                first[target.index()] -= 1;
                from[first[target.index()] as usize] = object.0;
            }
        }
        Self { first, from }
    }

    fn of_object(&self, object: u32) -> &[u32] {
        &self.from[self.first[object as usize] as usize..self.first[object as usize + 1] as usize]
    }
}

/// Columns by object; the last object is the set of roots.
struct Tree {
    vertex: Vec<u32>,
    parent: Vec<u32>,
    /// The number of the semidominator; at first the own one.
    semi: Vec<u32>,
    ancestor: Vec<u32>,
    least: Vec<u32>,
    bucket: Vec<u32>,
    next: Vec<u32>,
    dominator: Vec<u32>,
    path: Vec<u32>,
}

impl Tree {
    fn new(count: usize) -> Self {
        let none = || vec![NONE; count];
        Self {
            vertex: Vec::with_capacity(count),
            parent: none(),
            semi: none(),
            ancestor: none(),
            least: (0..count as u32).collect(),
            bucket: none(),
            next: none(),
            dominator: none(),
            path: Vec::new(),
        }
    }

    fn enter(&mut self, object: u32, parent: u32) {
        self.semi[object as usize] = self.vertex.len() as u32;
        self.parent[object as usize] = parent;
        self.vertex.push(object);
    }

    fn search(&mut self, graph: &Graph<'_>, roots: u32) {
        self.enter(roots, NONE);
        for &start in graph.starts() {
            if self.semi[start.index()] != NONE {
                continue;
            }
            self.enter(start.0, roots);
            let mut stack = vec![(start.0, graph.targets(start))];
            while let Some((from, targets)) = stack.last_mut() {
                let from = *from;
                match targets.find(|target| self.semi[target.index()] == NONE) {
                    Some(target) => {
                        self.enter(target.0, from);
                        stack.push((target.0, graph.targets(target)));
                    }
                    None => _ = stack.pop(),
                }
            }
        }
    }

    fn evaluate(&mut self, object: u32) -> u32 {
        if self.ancestor[object as usize] == NONE {
            return object;
        }
        let mut at = object;
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(object) = self.path.pop() {
            let above = self.ancestor[object as usize] as usize;
            if self.semi[self.least[above] as usize]
                < self.semi[self.least[object as usize] as usize]
            {
                self.least[object as usize] = self.least[above];
            }
            self.ancestor[object as usize] = self.ancestor[above];
        }
        self.least[object as usize]
    }
}
