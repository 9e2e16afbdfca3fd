//! Declares options, and the structures that several of them share.

use crate::error::{Error, Result};
use crate::model::profile::ProfileBuilder;

/// Declares a structure of options with its default and a function that sets each of them.
macro_rules! options {
    (
        $(#[$meta:meta])*
        pub struct $name:ident<$life:lifetime> {$(
            $(#[$doc:meta])*
            $field:ident: $Type:ty = $default:expr,
        )+}
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[non_exhaustive]
        pub struct $name<$life> {$(
            $(#[$doc])*
            pub $field: $Type,
        )+}

        impl<$life> $name<$life> {$(
            #[doc = concat!("Sets [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
            #[must_use]
            pub fn $field(self, $field: $Type) -> Self {
                Self { $field, ..self }
            }
        )+}

        impl Default for $name<'_> {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }
    };
}

pub(super) use options;

/// A JVM's layout of objects, as far as the user states it (hprof). All numbers are bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutChoice {
    /// The size of a reference: 4 or 8.
    pub references: Option<u64>,
    /// The size of an object's header: 8, 12 or 16.
    pub header: Option<u64>,
    /// The alignment of object addresses: a power of two from 8 to 256.
    pub alignment: Option<u64>,
}

/// The memory that a profile may take. The size of its stacks is known only once they are loaded,
/// so the loader stops where the profile exceeds the limit.
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

    /// Refuses a profile that takes too much. Fails with `ErrorKind::Memory` with what the
    /// profile needs so far.
    #[inline]
    pub(super) fn check(&self, offset: u64, builder: &ProfileBuilder, besides: u64) -> Result<()> {
        let stacks = (builder.stacks().len() as u64).saturating_mul(self.per_stack);
        self.check_bytes(offset, builder.bytes().saturating_add(stacks).saturating_add(besides))
    }

    /// Refuses tables that take too much, before there is a profile.
    #[inline]
    pub(crate) fn check_bytes(&self, offset: u64, needed: u64) -> Result<()> {
        if needed <= self.most { Ok(()) } else { Err(Error::memory(offset, needed)) }
    }
}
