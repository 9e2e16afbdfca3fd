//! The heaviest stack of each function.

use super::top::outermost;
use super::{Groups, Selected};
use crate::model::profile::{Metric, StackId, ThreadId};

/// The heaviest stack that contains a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The thread of the heaviest stack.
    pub thread: ThreadId,
    /// The heaviest stack, with all its frames.
    pub stack: StackId,
    /// The part of it that ends with the function.
    pub until: StackId,
    /// The number of frames in that part.
    pub depth: u32,
}

/// Returns for each group its heaviest stack by the metric. `None` for groups without samples, and
/// in a profile with [calls](crate::model::profile::Profile::calls) instead of stacks.
pub fn places(selected: &Selected<'_>, groups: &Groups, metric: &Metric) -> Vec<Option<Place>> {
    if selected.profile.calls.is_some() {
        return vec![None; groups.labels().len()];
    }
    let stacks = &selected.profile.stacks;
    let depths = stacks.depths();
    // By stack: the heaviest row of all stacks that begin with it.
    let mut heaviest: Vec<Option<(u64, u32)>> = vec![None; stacks.len()];
    let rows: Vec<_> = selected.rows().collect();
    for (number, row) in (0u32..).zip(&rows) {
        let weight = row.values.get(metric).unsigned_abs();
        let heaviest = &mut heaviest[row.stack.index()];
        *heaviest = heavier(*heaviest, Some((weight, number)));
    }
    for stack in (1..stacks.len() as u32).rev().map(StackId) {
        let parent = stacks.parent(stack).index();
        heaviest[parent] = heavier(heaviest[parent], heaviest[stack.index()]);
    }
    let mut best: Vec<Option<(u64, u32)>> = vec![None; groups.labels().len()];
    let mut places = vec![None; groups.labels().len()];
    outermost(stacks, groups, |stack, group| {
        let before = best[group as usize];
        let now = heavier(before, heaviest[stack.index()]);
        if now != before {
            best[group as usize] = now;
            places[group as usize] = now.map(|(_, row)| {
                let row = &rows[row as usize];
                Place {
                    thread: row.thread,
                    stack: row.stack,
                    until: stack,
                    depth: depths[stack.index()],
                }
            });
        }
    });
    places
}

/// The heavier one; if both are equal, the one that is first in the file.
fn heavier(one: Option<(u64, u32)>, other: Option<(u64, u32)>) -> Option<(u64, u32)> {
    match (one, other) {
        (Some(one), Some(other))
            if (other.0, std::cmp::Reverse(other.1)) > (one.0, std::cmp::Reverse(one.1)) =>
        {
            Some(other)
        }
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}
