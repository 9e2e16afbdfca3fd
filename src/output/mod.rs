//! The writers: one for each output format. They see the model and nothing of the inputs.
//!
//! * of heaps: [`hprof`];
//! * of profiles: [`austin`], [`mojo`];
//! * of [weighted stacks](crate::model::stacks), which profiles and dominator trees are: [`folded`], `flamegraph` (with the
//!   feature of that name), [`pprof`], [`speedscope`], [`firefox`], [`rows`];
//! * [`records`] shows records of any input.

pub mod austin;
pub mod firefox;
#[cfg(feature = "flamegraph")]
pub mod flamegraph;
pub mod folded;
pub mod hprof;
mod json;
pub mod mojo;
pub mod pprof;
pub mod records;
pub mod rows;
pub mod speedscope;
pub mod written;
