//! Dominators from semidominators in O(n log n) for any graph, as in the second half of Lengauer and Tarjan's algorithm.
//!
//! Of the path in the tree of the search from an object up to its semidominator, which itself does not count, let the
//! relative dominator be the object with the smallest semidominator. If that is the same semidominator, it is the immediate
//! dominator, too; otherwise both objects have the same immediate dominator (Lengauer and Tarjan 1979, corollary 1).

use crate::analysis::buckets::Buckets;

/// An object in the forest of those that are done: the ancestor up to which its path is compressed, and who has the smallest
/// semidominator on that path.
#[derive(Clone, Copy)]
struct Link {
    ancestor: u32,
    least: u32,
}

/// Immediate dominators by number, 0 for number 0. All semidominators are final.
pub(super) fn dominators(parent: &[u32], mut semi: Vec<u32>) -> Vec<u32> {
    // Relative dominators have smaller numbers, so their dominators are known by then. One that has the same semidominator is
    // its own relative dominator, so that its dominator is this semidominator.
    for (number, relative) in relative_dominators(parent, &semi).into_iter().enumerate() {
        semi[number] = semi[relative as usize];
    }
    semi
}

/// Relative dominators by number. When the turn of a semidominator comes, exactly the larger numbers are linked, so that
/// paths end below it.
fn relative_dominators(parent: &[u32], semi: &[u32]) -> Vec<u32> {
    let count = parent.len();
    let of_semi = Buckets::of(count, count.saturating_sub(1), || semi.iter().copied().zip(0..).skip(1));
    let mut links: Vec<Link> = parent.iter().zip(0..).map(|(&ancestor, least)| Link { ancestor, least }).collect();
    let mut relative = vec![0; count];
    let mut path = Vec::new();
    for done in (0..count as u32).rev() {
        for &number in of_semi.get(done) {
            relative[number as usize] = evaluate(&mut links, semi, &mut path, number, done);
        }
    }
    relative
}

/// Who has the smallest semidominator on the path from `from` up to the last ancestor above `done`.
fn evaluate(links: &mut [Link], semi: &[u32], path: &mut Vec<u32>, from: u32, done: u32) -> u32 {
    let mut top = links[from as usize];
    let mut number = from;
    while top.ancestor > done {
        path.push(number);
        number = top.ancestor;
        top = links[number as usize];
    }
    while let Some(number) = path.pop() {
        let link = &mut links[number as usize];
        if semi[link.least as usize] <= semi[top.least as usize] {
            top.least = link.least;
        }
        *link = top;
    }
    top.least
}
