//! Analyses of profiles: which functions cost how much, who calls them, and what changed.
//!
//! * [`Selected`]: the chosen samples of a profile, and the sums of their stacks;
//! * [`Groups`]: which frames count as one function, file or line;
//! * [`top()`]: the own and total cost of each function; [`changes()`]: the same for two profiles;
//! * [`CallTree`]: who calls whom, top-down or around one function; [`prune()`]: the nodes worth
//!   showing;
//! * [`places()`]: where functions occur.
//!
//! Every analysis takes time in proportion to the distinct stacks, however deep they are. Sums are
//! [`Values`], so that one pass serves all metrics.
//!
//! [`Values`]: crate::model::profile::Values

mod call_tree;
mod changes;
mod groups;
mod places;
mod pruned;
mod selected;
mod top;

pub use call_tree::{CallNode, CallTree, Focus};
pub use changes::{ProfileChange, changes};
pub use groups::{FrameBy, GroupLabel, Groups};
pub use places::{Place, places};
pub use pruned::{PruneLimits, PrunedNode, prune};
pub use selected::{Selected, Sums, share_base};
pub use top::{Top, TopBy, TopRow, TopSums, top};
