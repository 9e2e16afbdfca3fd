//! What a heap says when its graph is asked: what is alive, what holds it, and how much would go with it.
//!
//! * [`graph`]: the strong references and where they begin;
//! * [`live`]: what can be reached over them, as an [`object_set`]; [`unreachable`](mod@unreachable): what the others hang from;
//! * [`dominator_tree`]: which object all paths to another one pass, and so which object retains how much;
//! * [`dominator_stacks`]: the same as a profile, for everything that shows profiles;
//! * [`paths`]: how it is reached from the roots, with labels;
//! * [`referrers`]: references backwards;
//! * [`histogram`] counts by type, namespace, size or root ([`root_groups`]); [`tree`] chooses what to show of the dominator
//!   tree; [`diff`] compares two histograms, [`identity`] single objects, and [`growth`] histograms of many snapshots;
//! * [`suspects`]: what looks like a leak or a waste;
//! * [`memory_estimate`]: what all of this will take.
//!
//! And what a [`profile`] says when its stacks are asked.
//!
//! Everything here is a pure function of the model, does not recurse over data, and gives the same result for any number of
//! threads.

mod buckets;
pub mod diff;
pub mod dominator_stacks;
pub mod dominator_tree;
#[doc(hidden)]
pub mod dominators;
mod ephemerons;
mod estimate;
mod frontier;
pub mod graph;
pub mod growth;
pub mod histogram;
pub mod identity;
pub mod live;
mod made_up;
pub mod object_set;
pub mod paths;
pub(crate) mod prefetch;
pub mod preorder;
pub mod profile;
pub mod referrers;
#[doc(hidden)]
pub mod retained;
pub mod root_groups;
pub mod suspects;
pub mod tree;
pub mod unreachable;

pub use estimate::memory_estimate;
