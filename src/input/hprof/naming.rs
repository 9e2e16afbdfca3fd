//! Strings and names of classes.

use crate::java::PRIMITIVES;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

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

/// The name of a class as in Java's source: `java.lang.String[]` for `[Ljava/lang/String;`,
/// `int[][]` for `[[I`.
///
/// Files that dumptool wrote have names of other languages, whose slashes stay: there
/// `keep_slashes` is set. The few classes that every reader of the format expects are in `java/`
/// even there.
pub fn class_name(name: &[u8], keep_slashes: bool) -> Cow<'_, str> {
    let dimensions = name.iter().take_while(|&&byte| byte == b'[').count();
    let element = name.get(dimensions..).unwrap_or_default();
    let dotted = |name| {
        let text = String::from_utf8_lossy(name);
        if text.contains('/') && (!keep_slashes || text.starts_with("java/")) {
            Cow::Owned(text.replace('/', "."))
        } else {
            text
        }
    };
    let element = match element {
        _ if dimensions == 0 => return dotted(name),
        [b'L', inner @ .., b';'] => dotted(inner),
        [letter] => match PRIMITIVES.into_iter().find(|kind| kind.descriptor() == *letter) {
            Some(kind) => kind.name().into(),
            None => return dotted(name),
        },
        _ => return dotted(name),
    };
    Cow::Owned(format!("{element}{}", "[]".repeat(dimensions)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (name, shown) in [
            ("java/lang/String", "java.lang.String"),
            ("java.lang.String", "java.lang.String"),
            ("[Ljava/lang/String;", "java.lang.String[]"),
            ("[[I", "int[][]"),
            ("byte[]", "byte[]"),
            ("[Q", "[Q"),
            ("[", "["),
            ("", ""),
        ] {
            assert_eq!(class_name(name.as_bytes(), false), shown);
        }
        assert_eq!(class_name(b"*encoding/json.Decoder", true), "*encoding/json.Decoder");
        assert_eq!(class_name(b"[Lnet/http.conn;", true), "net/http.conn[]");
    }
}
