//! Interned strings: each text is kept once and referred to by a number.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A string of [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// The strings of a heap or a profile. The empty string is always there, as [`Names::EMPTY`].
///
/// Texts longer than [`Names::LONGEST`] bytes are truncated and end with their length. Rows may
/// repeat a name that the file contains once, so long names would make outputs disproportionate.
#[derive(Clone, Debug)]
pub struct Names {
    texts: Vec<Arc<str>>,
    by_text: FxHashMap<Arc<str>, NameId>,
    cut: u64,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Self { texts: Vec::new(), by_text: FxHashMap::default(), cut: 0 };
        names.intern("");
        names
    }
}

impl Names {
    /// The empty string.
    pub const EMPTY: NameId = NameId(0);

    /// Maximum length of a text in bytes; longer texts are truncated.
    pub const LONGEST: usize = 4096;

    /// Returns the number of a text, and adds the text if it is new.
    #[inline]
    pub fn intern(&mut self, text: &str) -> NameId {
        if text.len() > Self::LONGEST {
            return self.intern_cut(text);
        }
        self.intern_whole(text)
    }

    #[cold]
    fn intern_cut(&mut self, text: &str) -> NameId {
        let kept = &text[..text.floor_char_boundary(Self::LONGEST)];
        let before = self.texts.len();
        let id = self.intern_whole(&format!("{kept}… ({} bytes)", text.len()));
        self.cut += u64::from(self.texts.len() > before);
        id
    }

    /// The number of texts that were cut.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    fn intern_whole(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.by_text.get(text) {
            return id;
        }
        let id = NameId(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.by_text.insert(text, id);
        id
    }

    /// The numbers of all texts except the empty one.
    pub(crate) fn ids(&self) -> impl Iterator<Item = NameId> + use<> {
        (1..self.texts.len() as u32).map(NameId)
    }

    /// Replaces the texts of these numbers. No other number may have one of the new texts, unless
    /// it is empty.
    pub(crate) fn replace(&mut self, texts: Vec<(NameId, String)>) {
        for (id, _) in &texts {
            let text = &self.texts[id.0 as usize];
            if self.by_text.get(text) == Some(id) {
                self.by_text.remove(text);
            }
        }
        for (id, text) in texts {
            let text: Arc<str> = text.into();
            self.texts[id.0 as usize] = Arc::clone(&text);
            self.by_text.entry(text).or_insert(id);
        }
    }

    /// Like [`Names::intern`], for bytes that should be UTF-8.
    pub fn intern_bytes(&mut self, text: &[u8]) -> NameId {
        self.intern(&String::from_utf8_lossy(text))
    }

    /// The number of a text. `None` if there is no such text.
    pub fn find(&self, text: &str) -> Option<NameId> {
        self.by_text.get(text).copied()
    }

    /// The text of a number.
    pub fn text(&self, id: NameId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// The text of a number, as a shared reference that can be kept.
    pub fn shared(&self, id: NameId) -> Arc<str> {
        self.texts.get(id.0 as usize).map_or_else(|| "".into(), Arc::clone)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns `false`, because the empty string always exists.
    pub fn is_empty(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_once_and_say_how_long_they_were() {
        let mut names = Names::default();
        let long = "é".repeat(Names::LONGEST);
        let id = names.intern(&long);
        assert_eq!((names.intern(&long), names.cut()), (id, 1));
        let (kept, length) = names.text(id).split_once('…').unwrap();
        assert_eq!((kept.len(), length), (Names::LONGEST, " (8192 bytes)"));
        let whole = "x".repeat(Names::LONGEST);
        let id = names.intern(&whole);
        assert_eq!((names.text(id), names.cut()), (&*whole, 1));
    }
}
