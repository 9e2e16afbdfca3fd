//! Strings and names of classes.

use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The most bytes of a string that are kept. Names in Java are shorter. Longer names, used again
/// and again, would cost more memory than the size of the file justifies.
pub const MAX_NAME: usize = 4096;

/// The strings of a file by their ids.
#[derive(Clone, Debug, Default)]
pub struct Strings<'a> {
    texts: FxHashMap<u64, Cow<'a, [u8]>>,
    /// The original names of fields by class and string, if a mapping gave them.
    fields: FxHashMap<(u64, u64), Box<str>>,
    /// The number of texts that were added and are not in the file.
    added: u64,
}

impl<'a> Strings<'a> {
    /// Adds a string. Returns `false` and adds nothing if there is a string with the same id.
    pub(super) fn add(&mut self, id: u64, text: &'a [u8]) -> bool {
        match self.texts.entry(id) {
            std::collections::hash_map::Entry::Occupied(_) => false,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(text.get(..MAX_NAME).unwrap_or(text).into());
                true
            }
        }
    }

    /// The text of a string; empty if there is none.
    pub fn text(&self, id: u64) -> &[u8] {
        self.texts.get(&id).map_or(b"", |text| text)
    }

    /// The name of a field that a class declares: its original one, if it has been renamed.
    #[inline]
    pub(super) fn field(&self, class: u64, id: u64) -> &[u8] {
        if self.fields.is_empty() {
            return self.text(id);
        }
        self.fields.get(&(class, id)).map_or_else(|| self.text(id), |name| name.as_bytes())
    }

    /// Adds a text that is not in the file, and returns an id for it that no string has.
    pub(super) fn add_own(&mut self, text: &str) -> u64 {
        loop {
            let id = u64::MAX.wrapping_sub(self.added);
            self.added = self.added.wrapping_add(1);
            if !self.contains(id) {
                let text = text.as_bytes();
                let text = text.get(..MAX_NAME).unwrap_or(text).to_vec();
                self.texts.insert(id, text.into());
                return id;
            }
        }
    }

    /// Renames a field that a class declares.
    pub(super) fn rename_field(&mut self, class: u64, id: u64, name: &str) {
        self.fields.entry((class, id)).or_insert_with(|| name.into());
    }

    /// Whether a string with this id is known.
    pub fn contains(&self, id: u64) -> bool {
        self.texts.contains_key(&id)
    }
}
