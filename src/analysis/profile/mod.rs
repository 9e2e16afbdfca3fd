//! What a profile says when its stacks are asked: which functions cost what, who calls them, and what changed.
//!
//! * [`selected`]: the samples that are looked at, and the sums of their stacks;
//! * [`groups`]: which frames are one function, file or line;
//! * [`top()`]: what each function costs by itself and in all; [`changes()`]: the same of two profiles;
//! * [`call_tree`]: who calls whom, top-down, or around one function; [`pruned`]: the part of it that is worth a line;
//! * [`places()`]: where functions are met.
//!
//! All take time in proportion to the distinct stacks, however deep these are. All sums are kept as [`Values`], so that one
//! pass serves all metrics.
//!
//! [`Values`]: crate::model::profile::Values

pub mod call_tree;
pub mod changes;
pub mod groups;
pub mod places;
pub mod pruned;
pub mod selected;
pub mod top;

pub use call_tree::{CallNode, CallTree, Focus};
pub use changes::{ProfileChange, changes};
pub use groups::{FrameBy, GroupLabel, Groups};
pub use places::{Place, places};
pub use pruned::{PruneLimits, PrunedNode, prune};
pub use selected::{Selected, Sums, share_base};
pub use top::{Top, TopBy, TopRow, TopSums, top};
