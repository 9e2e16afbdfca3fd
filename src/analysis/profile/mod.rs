//! Analyses of profiles: which functions cost how much, who calls them, and what changed.
//!
//! * [`Selected`]: the chosen samples of a profile, and the sums of their stacks;
//! * [`ProfileFilter`]: samples and frames to leave out, by [`Pattern`]s;
//! * [`MergedProfile`]: several profiles as one;
//! * [`Groups`]: which frames count as one function, file or line;
//! * [`top()`]: the own and total cost of each function; [`changes()`]: the same for two profiles,
//!   even if one was recorded in [other folders](moved_folders);
//! * [`CallTree`]: who calls whom, top-down or around one function; [`prune()`]: the nodes worth
//!   showing;
//! * [`places()`]: where functions occur;
//! * [`in_time()`]: the calls in the order in which they were recorded;
//! * [`hottest()`] and [`slower()`]: the one-sentence summary of one profile, and of two.
//!
//! Every analysis takes time in proportion to the distinct stacks, however deep they are. Sums are
//! [`Values`], so that one pass serves all metrics.
//!
//! [`Values`]: crate::model::profile::Values

mod call_totals;
mod call_tree;
mod changes;
mod estimated;
mod filter;
mod groups;
mod merged;
mod moved;
mod pattern;
mod places;
mod pruned;
mod selected;
mod timeline;
mod top;
mod verdict;

pub use call_tree::{CallNode, CallTree, Focus};
pub use changes::{ProfileChange, changes};
pub use estimated::estimate_stacks;
pub use filter::ProfileFilter;
pub use groups::{FrameBy, GroupLabel, Groups};
pub use merged::{MergedProfile, NotMerged};
pub use moved::{MovedFolder, below, moved_folders};
pub use pattern::{LabelPattern, Pattern};
pub use places::{Place, places};
pub use pruned::{PruneLimits, PrunedNode, prune};
pub use selected::{Selected, Sums};
pub use timeline::{TimedCall, TimedItem, in_time};
pub use top::{Top, TopBy, TopRow, top};
pub use verdict::{Caller, HottestFunction, Slower, Words, hottest, slower};
