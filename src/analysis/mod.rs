//! What a heap says when its graph is asked: what is alive, what holds it, and how much would go with it.
//!
//! * [`graph`]: the strong references and where they begin;
//! * [`live`]: what can be reached over them;
//! * [`dominators`]: which object all paths to another one pass, and so who holds how much ([`retained`]);
//! * [`dominator_stacks`]: the same as a profile, for everything that shows profiles;
//! * [`paths`]: how it is reached from the roots, with labels;
//! * [`referrers`]: references backwards;
//! * [`suspects`]: what looks like a leak or a waste.
//!
//! Everything here is a pure function of the model, does not recurse over data, and gives the same result for any number of
//! threads.

mod buckets;
pub mod dominator_stacks;
pub mod dominators;
pub mod graph;
pub mod live;
pub mod paths;
pub mod referrers;
pub mod retained;
pub mod suspects;
