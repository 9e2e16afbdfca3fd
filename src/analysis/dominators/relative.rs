//! Dominators from semidominators in O(n log n) for any graph, as in the second half of Lengauer
//! and Tarjan's algorithm.
//!
//! The relative dominator of an object is the object with the smallest semidominator on the path in
//! the search tree from the object up to its own semidominator, which is excluded. If both have the
//! same semidominator, it is the immediate dominator, too; otherwise both objects have the same
//! immediate dominator (Lengauer and Tarjan 1979, corollary 1).

use super::forest::{Link, least};
use crate::analysis::buckets::Buckets;

/// Immediate dominators by number, 0 for number 0. All semidominators are final.
pub(super) fn dominators(parent: &[u32], mut semi: Vec<u32>) -> Vec<u32> {
    // Relative dominators have smaller numbers, so their dominators are known by then. An object
    // with the same semidominator is its own relative dominator, so that semidominator is its
    // dominator.
    for (number, relative) in relative_dominators(parent, &semi).into_iter().enumerate() {
        semi[number] = semi[relative as usize];
    }
    semi
}

/// Relative dominators by number. When the turn of a semidominator comes, exactly the larger
/// numbers are linked, so that paths end below it.
fn relative_dominators(parent: &[u32], semi: &[u32]) -> Vec<u32> {
    let count = parent.len();
    let of_semi = Buckets::of(count, count.saturating_sub(1), || {
        semi.iter().zip(0..).skip(1).map(|(&semi, number)| (semi, number))
    });
    let mut links: Vec<Link> =
        parent.iter().zip(0..).map(|(&ancestor, least)| Link { ancestor, least }).collect();
    // Returns the number with the smaller semidominator.
    let lesser = |a: u32, b: u32| if semi[a as usize] <= semi[b as usize] { a } else { b };
    let mut relative = vec![0; count];
    for done in (0..count as u32).rev() {
        for &number in of_semi.get(done) {
            relative[number as usize] = least(&mut links, number, done, lesser);
        }
    }
    relative
}
