//! Where objects were allocated, in formats that record it.

use super::heap::ObjectId;
use super::root::StackFrame;
use super::sum::Sum;
use std::ops::Range;

/// The allocation sites of a heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationSites {
    /// The sites.
    pub sites: Vec<AllocationSite>,
    /// The frames of all sites.
    pub frames: Vec<StackFrame>,
    /// The site of each object for which it is known: a row of `sites`, sorted by object.
    pub of: Vec<(ObjectId, u32)>,
}

/// A stack that allocates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationSite {
    /// Its frames, innermost first: rows of [`AllocationSites::frames`].
    pub frames: Range<u32>,
    /// The live objects that the site has allocated, if the file counts them. They may be a sample.
    pub live: Option<Sum>,
}
