//! Cuts a JSON document to a size so that it remains valid JSON.

use crate::input::json::{Scanner, Token};
use std::collections::BTreeMap;

/// A document whose lists contain only their first elements.
pub(super) struct Cut {
    pub(super) document: Vec<u8>,
    /// The numbers of elements that are shown and that exist, by name of the lists.
    lists: BTreeMap<String, (usize, usize)>,
}

/// Cuts all lists of a document to the same number of first elements, the largest number that fits
/// into `most` bytes. Returns `None` if the document does not fit even with empty lists.
///
/// The document must be valid JSON. The bytes that remain are not changed.
pub(super) fn cut(document: &[u8], most: usize) -> Option<Cut> {
    let mut best = keep_first(0, document, most)?;
    let mut fits = 0;
    // A list with that many elements takes more than `most` bytes.
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
    /// Describes the elements that were left out.
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
    let mut json = Scanner::new(document, 0);
    let mut copied = 0;
    while let Some(token) = json.token().ok()? {
        let end = json.offset() as usize;
        let is_value = !matches!(token, Token::Key(_) | Token::EndObject | Token::EndArray);
        if let Some(list) = levels.last_mut().filter(|level| level.is_list && is_value) {
            list.elements += 1;
            if list.elements > count {
                left_out.get_or_insert(levels.len());
            }
        }
        match token {
            Token::BeginObject | Token::BeginArray => {
                levels.push(Level { is_list: token == Token::BeginArray, key: b"", elements: 0 });
            }
            Token::Key(key) => levels.last_mut()?.key = key.raw(),
            Token::EndObject | Token::EndArray => {
                let is_end = left_out == Some(levels.len());
                let all = levels.pop()?.elements;
                if is_end {
                    left_out = None;
                    let sums = cut.lists.entry(name(&levels)).or_default();
                    *sums = (sums.0 + count.min(all), sums.1 + all);
                    copied = document[..end - 1].trim_ascii_end().len();
                }
            }
            _ => {}
        }
        if left_out.is_none() {
            cut.document.extend_from_slice(&document[copied..end]);
            copied = end;
        }
        if cut.document.len() > most {
            return None;
        }
    }
    cut.document.extend_from_slice(&document[copied..]);
    (cut.document.len() <= most).then_some(cut)
}

/// The name of a list below these levels: `paths[].steps`.
fn name(levels: &[Level<'_>]) -> String {
    let parts = levels.iter().map(|level| {
        if level.is_list {
            "[]".to_owned()
        } else {
            format!(".{}", String::from_utf8_lossy(level.key))
        }
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
