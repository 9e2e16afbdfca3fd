//! Semidominators: how far up a path can begin that reaches an object past its ancestors in the tree of the search.

use super::search::Backward;
use crate::analysis::buckets::Buckets;

/// An object in the forest of those that are done: the ancestor up to which its path is compressed, and the smallest
/// semidominator on that path. Both lie side by side because both are needed at every step.
#[derive(Clone, Copy)]
struct Link {
    ancestor: u32,
    smallest: u32,
}

/// Semidominators by number. `semi` holds those that follow from references to larger numbers.
pub(super) fn semidominators(parent: &[u32], mut semi: Vec<u32>, backward: Backward) -> Vec<u32> {
    let sources = Buckets::of(parent.len(), backward.len(), || backward.iter());
    drop(backward);
    let mut links: Vec<Link> = parent.iter().zip(&semi).map(|(&ancestor, &smallest)| Link { ancestor, smallest }).collect();
    let mut path = Vec::new();
    for number in (1..parent.len() as u32).rev() {
        let mut smallest = semi[number as usize];
        for &source in sources.get(number) {
            smallest = smallest.min(evaluate(&mut links, &mut path, source, number));
        }
        semi[number as usize] = smallest;
        links[number as usize].smallest = smallest;
    }
    semi
}

/// The smallest semidominator on the path from `from` up to the last ancestor above `done`; all numbers above are done.
#[inline]
fn evaluate(links: &mut [Link], path: &mut Vec<u32>, from: u32, done: u32) -> u32 {
    let mut top = links[from as usize];
    let mut number = from;
    while top.ancestor > done {
        path.push(number);
        number = top.ancestor;
        top = links[number as usize];
    }
    while let Some(number) = path.pop() {
        let link = &mut links[number as usize];
        top.smallest = top.smallest.min(link.smallest);
        *link = top;
    }
    top.smallest
}
