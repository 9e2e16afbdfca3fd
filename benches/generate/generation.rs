//! The generation of the generated inputs, which is a part of their names.

/// To be raised when a generator changes.
pub(crate) const GENERATION: u32 = 2;
