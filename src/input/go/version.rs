//! The layouts of a dump.

use crate::model::named::named;

/// Bytes of the line with which each dump begins, its newline included.
pub const MAGIC_LENGTH: usize = 16;

named! {
    /// A layout. Later ones compare greater.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Version {
        /// The draft of March 2014, which was never released. It has the magic of 1.3.
        Draft13 = "1.3-draft",
        /// Go 1.3.
        Go13 = "1.3",
        /// Go 1.4.
        Go14 = "1.4",
        /// Go 1.5.
        Go15 = "1.5",
        /// Go 1.6.
        Go16 = "1.6",
        /// Go 1.7 and all later ones: the magic was not changed any more.
        #[default]
        Go17 = "1.7",
    }
    /// The version as the format counts it: `1.3-draft`, `1.3` to `1.7`.
    pub fn name
}
