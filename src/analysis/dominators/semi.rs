//! Semidominators: how far up a path can begin that reaches an object past its ancestors in the
//! tree of the search.

use super::backward::Backward;
use super::forest::{Link, least};
use crate::analysis::buckets::Buckets;

/// Semidominators by number. `semi` holds those that follow from references to larger numbers.
pub(super) fn semidominators(parent: &[u32], mut semi: Vec<u32>, backward: Backward) -> Vec<u32> {
    let link = |(&ancestor, &least)| Link { ancestor, least };
    let (sources, mut links) = rayon::join(
        || Buckets::of(parent.len(), backward.len(), || backward.iter()),
        || -> Vec<Link> { parent.iter().zip(&semi).map(link).collect() },
    );
    drop(backward);
    let mut path = Vec::new();
    let next = |link: &Link| link.ancestor;
    sources.for_each_backward(&mut links, next, |number, sources, links| {
        let mut smallest = semi[number as usize];
        for &source in sources {
            smallest = smallest.min(least(links, &mut path, source, number, u32::min));
        }
        semi[number as usize] = smallest;
        links[number as usize].least = smallest;
    });
    semi
}
