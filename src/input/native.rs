//! The common parts of the readers of native heap profiles: lines of text, the allocators' own
//! functions, and summaries.
//!
//! Loading fails when the profile takes more memory than it may. A file of which nothing can be read
//! gives an empty profile with its damage.

pub(super) mod addresses;
pub(super) mod allocators;
pub(super) mod frames;
pub(super) mod lines;
pub(super) mod maps;
pub(super) mod summary;
