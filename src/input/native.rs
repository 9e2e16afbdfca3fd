//! The common parts of the readers of native heap profiles: lines of text, the allocators' own
//! functions, and summaries.

pub(super) mod addresses;
pub(super) mod allocators;
pub(super) mod frames;
pub(super) mod lines;
pub(super) mod maps;
pub(super) mod summary;
