//! Semidominators: the smallest number at which a path can begin that reaches an object while
//! avoiding its ancestors in the search tree.

use super::backward::SortedParts;
use super::forest::{Link, least};
use rayon::prelude::*;

/// Semidominators by number. `semi` holds those that follow from references to larger numbers.
pub(super) fn semidominators(
    parent: &[u32],
    mut semi: Vec<u32>,
    backward: SortedParts,
) -> Vec<u32> {
    let link = |(&ancestor, &least)| Link { ancestor, least };
    let mut links: Vec<Link> = parent.par_iter().zip(&semi).map(link).collect();
    let next = |link: &Link| link.ancestor;
    backward.for_each_block_backward(links.len(), |first, sources| {
        sources.for_each_backward(&mut links, next, |key, sources, links| {
            let number = first + key;
            let mut smallest = semi[number as usize];
            for &source in sources {
                smallest = smallest.min(least(links, source, number, u32::min));
            }
            semi[number as usize] = smallest;
            links[number as usize].least = smallest;
        });
    });
    semi
}
