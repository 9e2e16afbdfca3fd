//! Cuts a JSON document to a size and keeps it JSON.

use std::collections::BTreeMap;

/// A document whose lists have only their first elements.
pub(super) struct Cut {
    pub(super) document: Vec<u8>,
    /// By the name of the lists: how many elements are shown, and how many there are.
    lists: BTreeMap<String, (usize, usize)>,
}

/// Cuts each list of a document to its first elements: as many, the same number in all lists, as
/// fit into `most` bytes. `None` if it does not fit without any.
///
/// The document is valid JSON; its bytes stay as they are.
pub(super) fn cut(document: &[u8], most: usize) -> Option<Cut> {
    let mut best = keep_first(0, document, most)?;
    let mut fits = 0;
    // A list with so many elements has more bytes.
    let mut too_many = most;
    while fits + 1 < too_many {
        let count = fits.midpoint(too_many);
        match keep_first(count, document, most) {
            Some(cut) => (best, fits) = (cut, count),
            None => too_many = count,
        }
    }
    Some(best)
}

impl Cut {
    /// Says what was left out.
    pub(super) fn note(&self, bytes: usize, most: usize) -> String {
        let lists: Vec<_> = self
            .lists
            .iter()
            .map(|(name, (shown, all))| format!("{shown} of {all} in {name}"))
            .collect();
        format!(
            "cut: the answer has {bytes} bytes, max_bytes is {most}; lists have their first \
             elements only: {}",
            lists.join(", ")
        )
    }
}

/// An object or a list that is open.
struct Level<'d> {
    is_list: bool,
    /// The last key of an object.
    key: &'d [u8],
    /// Elements of a list so far.
    elements: usize,
}

/// Cuts each list to `count` elements. `None` if the result has more than `most` bytes.
fn keep_first(count: usize, document: &[u8], most: usize) -> Option<Cut> {
    let mut cut = Cut { document: Vec::new(), lists: BTreeMap::new() };
    let mut levels: Vec<Level<'_>> = Vec::new();
    // The depth of the list whose rest is left out.
    let mut left_out: Option<usize> = None;
    let mut at = 0;
    while let Some(&byte) = document.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                at += string_length(&document[at..]);
                if let Some(level) = levels.last_mut()
                    && document.get(at) == Some(&b':')
                {
                    level.key = &document[start + 1..at - 1];
                }
            }
            b'{' | b'[' => {
                let is_empty = document[at..].trim_ascii_start().starts_with(b"]");
                let elements = usize::from(byte == b'[' && !is_empty);
                levels.push(Level { is_list: byte == b'[', key: b"", elements });
            }
            b',' => {
                if let Some(list) = levels.last_mut().filter(|level| level.is_list) {
                    list.elements += 1;
                    if list.elements > count {
                        left_out.get_or_insert(levels.len());
                    }
                }
            }
            b']' | b'}' => {
                let is_end = left_out == Some(levels.len());
                if let Some(level) = levels.pop()
                    && is_end
                {
                    left_out = None;
                    let all = level.elements;
                    let sums = cut.lists.entry(name(&levels)).or_default();
                    *sums = (sums.0 + count.min(all), sums.1 + all);
                    let before = document[..start].trim_ascii_end().len();
                    cut.document.extend_from_slice(&document[before..start]);
                }
            }
            _ => {}
        }
        if left_out.is_none() {
            cut.document.extend_from_slice(&document[start..at]);
        }
        if cut.document.len() > most {
            return None;
        }
        if byte == b'[' && count == 0 && levels.last().is_some_and(|level| level.elements > 0) {
            left_out.get_or_insert(levels.len());
        }
    }
    Some(cut)
}

/// The bytes of a string after its first quotation mark.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The name of a list below these levels: `paths[].steps`.
fn name(levels: &[Level<'_>]) -> String {
    let parts = levels.iter().map(|level| match level.is_list {
        true => "[]".to_owned(),
        false => format!(".{}", String::from_utf8_lossy(level.key)),
    });
    let name: String = parts.collect();
    match name.strip_prefix('.') {
        Some(name) => name.to_owned(),
        None if name.is_empty() => "the list".to_owned(),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn lists_keep_their_first_elements() {
        let document = br#"{
  "a,[": [],
  "rows": [
    {"x]": "\"],[", "y": [1, 2, 3]},
    {"x": 2, "y": [4]},
    3
  ],
  "end": true
}
"#;
        let cut = keep_first(1, document, 1000).unwrap();
        let seen: Value = serde_json::from_slice(&cut.document).unwrap();
        assert_eq!(seen, json!({"a,[": [], "rows": [{"x]": "\"],[", "y": [1]}], "end": true}));
        assert_eq!(
            cut.lists,
            BTreeMap::from([("rows".to_owned(), (1, 3)), ("rows[].y".to_owned(), (1, 3))])
        );
        let cut = keep_first(0, document, 1000).unwrap();
        let seen: Value = serde_json::from_slice(&cut.document).unwrap();
        assert_eq!(seen, json!({"a,[": [], "rows": [], "end": true}));
        assert_eq!(keep_first(9, document, 1000).unwrap().document, document);
    }

    #[test]
    fn a_cut_document_is_as_large_as_fits() {
        let rows: Vec<Value> = (0..100).map(|at| json!({"at": at, "of": [at, at]})).collect();
        let document = serde_json::to_vec_pretty(&json!({ "rows": rows })).unwrap();
        let mut before = 0;
        for most in (20..document.len()).step_by(7) {
            let Some(cut) = cut(&document, most) else {
                assert!(most < 30, "{most}");
                continue;
            };
            assert!(cut.document.len() <= most);
            let seen: Value = serde_json::from_slice(&cut.document).unwrap();
            let shown = seen["rows"].as_array().unwrap().len();
            assert!(shown >= before);
            before = shown;
            assert!(keep_first(shown + 1, &document, most).is_none());
            assert_eq!(cut.lists["rows"], (shown, 100));
        }
        assert!(before > 95);
    }
}
