//! Strings and names of classes.

use rustc_hash::FxHashMap;

/// Bytes of a string that are kept. Names of Java are shorter; longer ones, used again and again,
/// would cost more than the size of the file justifies.
pub const MAX_NAME: usize = 4096;

/// The strings of a file by their ids.
#[derive(Clone, Debug, Default)]
pub struct Strings<'a>(FxHashMap<u64, &'a [u8]>);

impl<'a> Strings<'a> {
    /// Adds a string. The first one of an id counts; false if there was one.
    pub(super) fn add(&mut self, id: u64, text: &'a [u8]) -> bool {
        match self.0.entry(id) {
            std::collections::hash_map::Entry::Occupied(_) => false,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(text.get(..MAX_NAME).unwrap_or(text));
                true
            }
        }
    }

    /// The text of a string; empty if there is none.
    pub fn text(&self, id: u64) -> &'a [u8] {
        self.0.get(&id).copied().unwrap_or_default()
    }

    /// Whether there is such a string.
    pub fn contains(&self, id: u64) -> bool {
        self.0.contains_key(&id)
    }
}
