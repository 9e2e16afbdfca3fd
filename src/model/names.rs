//! Interned strings: each text is kept once and referred to by a number.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A string of [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// The strings of a heap. The empty string is always there, as [`Names::EMPTY`].
#[derive(Clone, Debug)]
pub struct Names {
    texts: Vec<Arc<str>>,
    by_text: FxHashMap<Arc<str>, NameId>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Self { texts: Vec::new(), by_text: FxHashMap::default() };
        names.intern("");
        names
    }
}

impl Names {
    /// The empty string.
    pub const EMPTY: NameId = NameId(0);

    /// The number of a text, which is new if the text is.
    pub fn intern(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.by_text.get(text) {
            return id;
        }
        let id = NameId(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.by_text.insert(text, id);
        id
    }

    /// As [`Names::intern`], for bytes that ought to be UTF-8.
    pub fn intern_bytes(&mut self, text: &[u8]) -> NameId {
        self.intern(&String::from_utf8_lossy(text))
    }

    /// The text of a number.
    pub fn text(&self, id: NameId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Never: the empty string is always there.
    pub fn is_empty(&self) -> bool {
        false
    }
}
