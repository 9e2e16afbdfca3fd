//! Labels that differ in nothing but indices, such as `[3].owner` and `[12].owner`.

use super::MergedLabel;
use crate::model::heap::{Label, LabelKind};
use crate::model::names::{NameId, Names};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Merges labels that differ only in indices.
#[derive(Default)]
pub(super) struct Alike {
    merged: FxHashMap<NameId, MergedLabel>,
    /// The first name of each kind, keyed by the text that all names of the kind have in common.
    first: FxHashMap<String, NameId>,
}

impl Alike {
    /// Returns the common label of a label and all those like it.
    pub(super) fn merged(&mut self, label: Label, names: &Names) -> MergedLabel {
        match label.kind() {
            LabelKind::Index(_) => MergedLabel::Element,
            // V8 names the slots of its hash tables by number.
            LabelKind::Field(name) if is_number(names.text(name)) => MergedLabel::Element,
            LabelKind::Field(name) => match self.merged.entry(name) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(match without_indices(names.text(name)) {
                    Some(text) => {
                        let first = *self.first.entry(text).or_insert(name);
                        MergedLabel::OfElement(Label::field(first))
                    }
                    None => MergedLabel::One(label),
                }),
            },
            _ => MergedLabel::One(label),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A text with `[*]` in place of each index; `None` if it has none.
pub fn without_indices(text: &str) -> Option<String> {
    let mut parts = text.split('[');
    let mut result = parts.next()?.to_owned();
    let mut found = false;
    for part in parts {
        let after = part.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let is_index = after.len() < part.len() && after.starts_with(']');
        found |= is_index;
        result.push_str(if is_index { "[*" } else { "[" });
        result.push_str(if is_index { after } else { part });
    }
    found.then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_indices_are_replaced() {
        let text = |text| without_indices(text);
        assert_eq!(text("[3].slots[12].elem").as_deref(), Some("[*].slots[*].elem"));
        assert_eq!(text("main.Pair[string,[2]int]").as_deref(), Some("main.Pair[string,[*]int]"));
        for other in ["owner", "[]", "[x]", "[3", "a]", "[3a]", ""] {
            assert_eq!(text(other), None, "{other}");
        }
    }
}
