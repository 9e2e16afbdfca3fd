//! What a heap says when its graph is asked: what is alive, what holds it, and how much would go with it.
//!
//! * [`graph`]: the strong references and where they begin;
//! * [`live`]: what can be reached over them;
//! * [`dominators`]: which object all paths to another one pass, and so who holds how much ([`retained`]);
//! * [`referrers`]: references backwards.
//!
//! And what a [`profile`] says when its stacks are asked.
//!
//! Everything here is a pure function of the model, does not recurse over data, and gives the same result for any number of
//! threads.

mod buckets;
pub mod dominators;
pub mod graph;
pub mod live;
pub mod profile;
pub mod referrers;
pub mod retained;
