//! Analyses of heaps and profiles, and the types of their answers.
//!
//! [`Analyses`](crate::Analyses) computes those of a heap when they are first asked for. A [`Graph`]
//! holds the strong references of a heap. Built on it are:
//!
//! * [`DominatorTree`]: the dominator of each live object, and its retained bytes;
//! * [`Histogram`]: objects and bytes by type, namespace, size or [group of roots](RootGroups);
//! * [`shortest_path`] and [`shortest_paths`]: why an object is alive; [`Referrers`]: which objects
//!   refer to it;
//! * [`Threads`]: threads by equal stacks, and what they keep alive;
//! * [`Verdict`]: what holds the memory, in a few sentences; [`Waste`]: memory that could be saved;
//! * [`live`](live()): the objects that the roots reach;
//! * [`TypeFilter`]: patterns that select types;
//! * [`compare_histograms`]: what has changed between two heaps.
//!
//! Every function here is a pure function of the model, does not recurse over data, and returns the
//! same result for any number of threads.

mod buckets;
#[doc(hidden)]
pub mod by_type;
#[doc(hidden)]
pub mod collections;
#[doc(hidden)]
pub mod core_tree;
#[doc(hidden)]
pub mod diff;
#[doc(hidden)]
pub mod dominator_stacks;
#[doc(hidden)]
pub mod dominator_tree;
#[doc(hidden)]
pub mod dominators;
mod ephemerons;
mod estimate;
mod flood;
mod frontier;
#[doc(hidden)]
pub mod glob;
#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod growth;
#[doc(hidden)]
pub mod histogram;
mod hubs;
#[doc(hidden)]
pub mod identity;
#[doc(hidden)]
pub mod largest;
#[doc(hidden)]
pub mod live;
mod made_up;
#[doc(hidden)]
pub mod object_set;
mod owned;
#[doc(hidden)]
pub mod owners;
#[doc(hidden)]
pub mod paths;
pub(crate) mod prefetch;
mod preorder;
#[doc(hidden)]
pub mod profile;
#[doc(hidden)]
pub mod readable;
#[doc(hidden)]
pub mod referrers;
mod regions;
#[doc(hidden)]
pub mod retained;
#[doc(hidden)]
pub mod root_groups;
pub(crate) mod set_bits;
mod sites;
#[doc(hidden)]
pub mod text_signatures;
#[doc(hidden)]
pub mod threads;
#[doc(hidden)]
pub mod together;
#[doc(hidden)]
pub mod tree;
#[doc(hidden)]
pub mod unreachable;
#[doc(hidden)]
pub mod verdict;
#[doc(hidden)]
pub mod waste;

pub use diff::{Delta, HistogramChange, changes as compare_histograms};
pub use dominator_tree::DominatorTree;
#[doc(hidden)]
pub use estimate::{counting_estimate, memory_estimate};
pub use glob::TypeFilter;
pub use graph::Graph;
pub use histogram::{GroupBy, Histogram, HistogramRow, Scope};
pub use live::live;
pub use object_set::ObjectSet;
pub use paths::several::several as shortest_paths;
pub use paths::{Origin, Path, ReachedBy, Step, shortest_path};
pub use referrers::Referrers;
pub use root_groups::{HeldBy, RootGroup, RootGroups};
pub use threads::{ThreadGroup, Threads};
pub use verdict::{Suspect, SuspectKind, Verdict};
pub use waste::{Waste, WasteKind, WasteRow};
