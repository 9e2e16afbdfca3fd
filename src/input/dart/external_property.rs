//! External properties: memory outside the heap that an object owns.

use super::{str, uleb};
use crate::input::record::record;

record! {
    /// One persistent handle with a finalizer. An object may have several.
    pub struct ExternalProperty<'a> {
        /// The object that owns the memory.
        object_id: u64 = uleb("the object of an external property") => unsigned,
        /// Bytes; may be 0, and mapped files are usually not counted.
        external_size: u64 = uleb("the size of an external property") => unsigned,
        /// Symbol of the native finalizer, or `Unknown native function`.
        name: &'a [u8] = str("the name of an external property") => text,
    }
}
