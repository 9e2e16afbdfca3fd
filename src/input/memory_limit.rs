//! The memory that reading may take.

use crate::error::{Error, Result};
use crate::model::profile::ProfileBuilder;

/// The memory that a profile may take. The size of its stacks is known only when they are there, so
/// the loader stops where it becomes more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The limit in bytes.
    pub most: u64,
    /// Bytes per stack that the analysis of the profile will need in addition to the profile.
    pub per_stack: u64,
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self::NONE
    }
}

impl MemoryLimit {
    /// Any amount.
    pub const NONE: Self = Self { most: u64::MAX, per_stack: 0 };

    /// Refuses a profile that takes too much.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] with what the profile needs so far.
    #[inline]
    pub(super) fn check(&self, offset: u64, builder: &ProfileBuilder, besides: u64) -> Result<()> {
        let stacks = (builder.stacks().len() as u64).saturating_mul(self.per_stack);
        self.check_bytes(offset, builder.bytes().saturating_add(stacks).saturating_add(besides))
    }

    /// Refuses tables that take too much, before there is a profile.
    ///
    /// # Errors
    /// As [`MemoryLimit::check`].
    #[inline]
    pub(crate) fn check_bytes(&self, offset: u64, needed: u64) -> Result<()> {
        if needed <= self.most { Ok(()) } else { Err(Error::memory(offset, needed)) }
    }
}
