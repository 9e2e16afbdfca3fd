//! Names of places that hold objects, which grow by a field at a time.

use super::scene::Scene;
use crate::model::heap::Role;
use std::borrow::Cow;

/// Stands for any element of a collection.
pub(super) const ANY: &str = "[*]";

/// Stands for the way from a function to its variables.
pub(super) const SCOPE: &str = "(): ";

/// Between the name of a file and what is in it.
pub(super) const FILE: &str = ": ";

/// A name for a place that holds objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// `app.Cache.ENTRIES`.
    pub(super) label: String,
    /// Whether the name belongs to the program and not to its runtime. `None` if that is not known.
    pub(super) is_program: Option<bool>,
    /// Whether it is a variable of a call frame.
    pub(super) is_local: bool,
}

impl Place {
    /// Whether an object above may give a better name.
    pub(super) fn may_go_on(&self) -> bool {
        !self.label.contains(ANY)
    }

    /// Whether it is among the variables of a function.
    pub(super) fn is_in_scope(&self) -> bool {
        self.label.contains(SCOPE)
    }

    /// Adds the name of a field, or of a way without one.
    pub(super) fn append(&mut self, scene: &Scene<'_, '_>, part: &str) {
        let label = &mut self.label;
        let listens = |name: &str| scene.named_role(name) == Some(Role::Listeners);
        match part {
            ANY => insert(label, ANY),
            SCOPE if self.is_program != Some(true) => label.clear(),
            SCOPE => match label.find(FILE) {
                // A variable of a file.
                Some(file) => label.truncate(file + FILE.len()),
                None => label.push_str(SCOPE),
            },
            _ => match label.rsplit_once('.').filter(|(_, last)| listens(last)) {
                Some((of, _)) => *label = format!("listeners of '{part}' of {of}"),
                None => {
                    if !label.is_empty() && !label.ends_with(FILE) {
                        insert(label, ".");
                    }
                    insert(label, part);
                }
            },
        }
    }
}

/// Adds to the way that a label begins with: `local rows` in `local rows of handle in thread main`.
fn insert(label: &mut String, part: &str) {
    let is_variable = label.starts_with("local ") || label.starts_with("a variable");
    let end = label.find(" of ").filter(|_| is_variable);
    label.insert_str(end.unwrap_or(label.len()), part);
}

/// A name with `[*]` for each index: `ring[*].items` for `ring[17].items`, as an array within an
/// object of Go has for each element.
pub(super) fn without_indexes(name: &str) -> Cow<'_, str> {
    if !name.contains('[') {
        return name.into();
    }
    let (mut pattern, mut rest) = (String::with_capacity(name.len()), name);
    while let Some(open) = rest.find('[') {
        let (before, after) = rest.split_at(open + 1);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (index, left) = after.split_at(digits);
        // A label of Go may stand for all later elements: `[4096…]`.
        let left = if left.starts_with("…]") { left.trim_start_matches('…') } else { left };
        let is_index = digits > 0 && left.starts_with(']');
        pattern.push_str(before);
        pattern.push_str(if is_index { "*" } else { index });
        rest = left;
    }
    pattern.push_str(rest);
    pattern.into()
}

#[cfg(test)]
mod tests {
    use super::{insert, without_indexes};

    #[test]
    fn elements_of_one_array_have_one_pattern() {
        for (name, pattern) in [
            ("ring[17].items[3]", "ring[*].items[*]"),
            ("[4096…].items", "[*].items"),
            ("cache", "cache"),
            ("map[string]int", "map[string]int"),
            ("[4x] [", "[4x] ["),
        ] {
            assert_eq!(without_indexes(name), pattern);
        }
    }

    #[test]
    fn fields_of_variables_stand_before_the_function() {
        for (label, part, expected) in [
            ("app.Cache", ".ENTRIES", "app.Cache.ENTRIES"),
            ("local rows of load (db.py:4)", "[*]", "local rows[*] of load (db.py:4)"),
            ("a variable of run in thread t-1", ".queue", "a variable.queue of run in thread t-1"),
            ("listeners of 'data' of server", ".log", "listeners of 'data' of server.log"),
        ] {
            let mut label = label.to_owned();
            insert(&mut label, part);
            assert_eq!(label, expected);
        }
    }
}
