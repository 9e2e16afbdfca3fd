//! The forest of the objects that are done. It answers queries for the least value on the path from
//! an object up to its root.
//!
//! Paths are compressed as they are walked (Tarjan, *Applications of Path Compression on Balanced
//! Trees*, 1979), without recursion.

/// The ancestor up to which the path of an object is compressed, and the least value on that path,
/// excluding the ancestor's. Both are stored side by side because both are needed at every step.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub(super) ancestor: u32,
    pub(super) least: u32,
}

/// The least value on the path from `from` up to the last ancestor above `done`; all numbers above
/// are done. A path may be as long as there are objects, so on the way up each link leads down, to
/// where the path came from.
#[inline]
pub(super) fn least(
    links: &mut [Link],
    from: u32,
    done: u32,
    lesser: impl Fn(u32, u32) -> u32,
) -> u32 {
    let mut top = links[from as usize];
    let (mut number, mut below) = (from, from);
    while top.ancestor > done {
        links[number as usize].ancestor = below;
        below = number;
        number = top.ancestor;
        top = links[number as usize];
    }
    while number != from {
        number = below;
        let link = &mut links[number as usize];
        below = link.ancestor;
        top.least = lesser(link.least, top.least);
        *link = top;
    }
    top.least
}
