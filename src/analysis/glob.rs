//! Patterns for names: `*` matches any characters, `?` one, `{a,b}` either. Brackets are part of
//! names (`[]uint8`) and match themselves.

use crate::model::heap::Heap;
use serde::Deserialize;

/// A pattern for names. It matches whole names, and always the name that equals its text:
/// `{name, mail}` is the name of a type of V8.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub struct Glob {
    text: String,
    alternatives: Vec<Vec<char>>,
}

/// The maximum number of alternatives. Several pairs of braces multiply their alternatives.
const MOST_ALTERNATIVES: usize = 256;

impl Glob {
    /// Parses a pattern. Every text is a valid pattern.
    pub fn new(text: &str) -> Self {
        let mut open = vec![text.to_owned()];
        let mut alternatives = Vec::new();
        while let Some(text) = open.pop() {
            match braces(&text) {
                Some((start, end)) if open.len() + alternatives.len() < MOST_ALTERNATIVES => {
                    let each = text[start + 1..end].split(',');
                    open.extend(
                        each.map(|middle| [&text[..start], middle, &text[end + 1..]].concat()),
                    );
                }
                _ => alternatives.push(text.chars().collect()),
            }
        }
        Self { text: text.to_owned(), alternatives }
    }

    /// Returns `true` if the pattern matches the whole name.
    pub fn matches(&self, name: &str) -> bool {
        let chars: Vec<char> = name.chars().collect();
        self.text == name || self.alternatives.iter().any(|pattern| fits(pattern, &chars))
    }

    /// Returns `true` if the pattern matches a type: its name, or its namespace and name with a
    /// colon or a dot between them.
    pub fn matches_type(&self, name: &str, namespace: &str) -> bool {
        let full =
            |between| !namespace.is_empty() && self.matches(&[namespace, between, name].concat());
        self.matches(name) || full(":") || full(".")
    }
}

impl From<String> for Glob {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

/// Selects types by patterns. The default selects all.
#[derive(Clone, Debug, Default)]
pub struct TypeFilter {
    /// Types whose name, or `namespace:name`, matches.
    pub of: Option<Glob>,
    /// Types whose namespace matches.
    pub namespace: Option<Glob>,
    /// Types to leave out: those whose name, namespace or `namespace:name` matches.
    pub exclude: Option<Glob>,
}

impl TypeFilter {
    /// Returns `true` if the filter selects every type.
    pub fn is_empty(&self) -> bool {
        self.of.is_none() && self.namespace.is_none() && self.exclude.is_none()
    }

    /// Returns `true` if the filter selects a type.
    pub fn selects(&self, name: &str, namespace: &str) -> bool {
        self.of.as_ref().is_none_or(|glob| glob.matches_type(name, namespace))
            && self.namespace.as_ref().is_none_or(|glob| glob.matches(namespace))
            && self
                .exclude
                .as_ref()
                .is_none_or(|glob| !glob.matches_type(name, namespace) && !glob.matches(namespace))
    }

    /// Returns whether the filter selects each type of a heap, by
    /// [`TypeId`](crate::model::heap::TypeId).
    pub fn types(&self, heap: &Heap<'_>) -> Vec<bool> {
        let text = |name| heap.names().text(name);
        heap.types().iter().map(|of| self.selects(text(of.name), text(of.namespace))).collect()
    }
}

/// Returns the first pair of braces with a comma and no other braces between them. Braces without a
/// comma are part of names: `struct {}`.
fn braces(text: &str) -> Option<(usize, usize)> {
    text.match_indices('{').find_map(|(start, _)| {
        let end = start + text[start..].find('}')?;
        let inner = &text[start + 1..end];
        (inner.contains(',') && !inner.contains('{')).then_some((start, end))
    })
}

/// Matches without recursion: on a mismatch, the last star takes one more character. Earlier stars
/// never have to be tried again.
fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((after, taken)) => {
                    star = Some((after, taken + 1));
                    (p, n) = (after, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        for (glob, name, expected) in [
            ("main.Node", "main.Node", true),
            ("main.Node", "main.Node2", false),
            ("main.*", "main.Node", true),
            ("*Node", "*main.Node", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("?Map", "_Map", true),
            ("?Map", "Map", false),
            ("[]uint8*", "[]uint8 (pointer-free, 24 B)", true),
            ("{_List,_GrowableList}", "_GrowableList", true),
            ("{_List,_Map}*{a,b}", "_Mapxb", true),
            ("{_List,_Map}*{a,b}", "_Mapxc", false),
            ("struct {}", "struct {}", true),
            ("{name, mail}", "{name, mail}", true),
            ("", "", true),
            ("*", "", true),
            ("**", "grüße", true),
            ("gr?ße", "grüße", true),
        ] {
            assert_eq!(Glob::new(glob).matches(name), expected, "{glob} {name}");
        }
    }

    #[test]
    fn globs_match_types_with_their_namespaces() {
        assert!(Glob::new("_List").matches_type("_List", "dart:core"));
        assert!(Glob::new("dart:core:_List").matches_type("_List", "dart:core"));
        assert!(Glob::new("app.Session").matches_type("Session", "app"));
        assert!(Glob::new("object:{name, mail}").matches_type("{name, mail}", "object"));
        assert!(!Glob::new(":Session").matches_type("Session", ""));
    }
}
