//! The layout of a JVM's objects, as the user states it.

/// A JVM's layout of objects, as far as the user states it (hprof). All numbers are bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutChoice {
    /// A reference: 4 or 8.
    pub references: Option<u64>,
    /// The header of an object: 8, 12 or 16.
    pub header: Option<u64>,
    /// The number of which addresses are multiples: a power of two from 8 to 256.
    pub alignment: Option<u64>,
}
