//! The writers: one for each output format. They see the model and nothing of the inputs.
//!
//! * of heaps: [`hprof`], [`heapsnapshot`], [`tables`], and of a few objects [`dot`];
//! * of profiles: [`austin`], [`mojo`];
//! * of [weighted stacks](crate::model::stacks), which profiles and dominator trees are: [`folded`], `flamegraph` (with the
//!   feature of that name), [`pprof`], [`speedscope`], [`firefox`], [`rows`];
//! * [`spool`] holds what has to wait for its place in an output; [`records`] shows records of any input.

pub mod austin;
pub mod dot;
pub mod firefox;
#[cfg(feature = "flamegraph")]
mod flame_tree;
#[cfg(feature = "flamegraph")]
pub mod flamegraph;
pub mod folded;
pub mod heapsnapshot;
pub mod hprof;
mod json;
mod lines;
pub mod loss;
pub mod mojo;
pub mod pprof;
pub mod records;
pub mod rows;
pub mod speedscope;
pub mod spool;
pub mod tables;
pub mod written;
