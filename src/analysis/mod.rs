//! Analyses of heaps and profiles.
//!
//! A [`Graph`] holds the strong references of a heap. Built on it are:
//!
//! * [`DominatorTree`]: the dominator of each live object, and its retained bytes;
//! * [`Histogram`]: objects and bytes by type, namespace, size or [group of roots](RootGroups);
//! * [`shortest_path`] and [`paths`]: why an object is alive; [`Referrers`]: which objects refer to
//!   it;
//! * [`tree`]: the lines of a dominator tree worth showing; [`dominator_stacks`]: the tree as
//!   weighted stacks;
//! * [`Threads`]: threads by equal stacks, and what they keep alive;
//! * [`collections`]: lists, sets and maps of the runtimes' libraries with their entries;
//! * [`text_signatures`]: summaries of texts, to search many times;
//! * [`suspects`]: likely leaks; [`waste`]: memory that could be saved;
//! * [`live`] and [`unreachable`](mod@unreachable): the objects that the roots do and do not reach;
//! * [`together`]: what all objects of some types keep alive, counted once; [`glob`]: patterns that
//!   select types;
//! * [`diff`], [`growth`] and [`identity`]: comparisons of two or more heaps.
//!
//! [`profile`] analyzes profiles: functions by cost, call trees, changes. [`memory_estimate`]
//! returns the memory that an analysis needs.
//!
//! Every function here is a pure function of the model, does not recurse over data, and returns the
//! same result for any number of threads.

mod buckets;
pub mod by_type;
pub mod collections;
#[doc(hidden)]
pub mod core_tree;
pub mod diff;
pub mod dominator_stacks;
#[doc(hidden)]
pub mod dominator_tree;
#[doc(hidden)]
pub mod dominators;
mod ephemerons;
mod estimate;
mod flood;
mod frontier;
pub mod glob;
#[doc(hidden)]
pub mod graph;
pub mod growth;
#[doc(hidden)]
pub mod histogram;
pub mod identity;
#[doc(hidden)]
pub mod largest;
pub mod live;
mod made_up;
#[doc(hidden)]
pub mod object_set;
mod owned;
pub mod owners;
pub mod paths;
pub(crate) mod prefetch;
mod preorder;
pub mod profile;
#[doc(hidden)]
pub mod referrers;
mod regions;
#[doc(hidden)]
pub mod retained;
#[doc(hidden)]
pub mod root_groups;
mod sites;
pub mod suspects;
pub mod text_signatures;
pub mod threads;
pub mod together;
pub mod tree;
pub mod unreachable;
pub mod waste;

pub use dominator_tree::DominatorTree;
pub use estimate::{counting_estimate, memory_estimate};
pub use graph::Graph;
pub use histogram::{GroupBy, Histogram, HistogramRow, Scope};
pub use object_set::ObjectSet;
pub use paths::shortest_path;
pub use referrers::Referrers;
pub use root_groups::{HeldBy, RootGroup, RootGroups};
pub use threads::{ThreadGroup, Threads};
