//! Names of places that hold objects. A name is extended by one field at a time.

use super::scene::Scene;
use crate::model::heap::Role;
use std::borrow::Cow;

/// Stands for any element of a collection.
pub(super) const ANY: &str = "[*]";

/// Stands for the path from a function to its variables.
pub(super) const SCOPE: &str = "(): ";

/// Separates the name of a file from that of a variable in it.
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
    /// Whether other names say more: of an object without fields, or a variable of a library.
    pub(super) is_vague: bool,
    /// The byte at which fields are added, if not at the end of the label: after the variable, at
    /// 10 in `local rows of handle in thread main`. 0 if the variable has no name and the label no
    /// fields, as in `a variable of handle in thread main`.
    pub(super) end: Option<usize>,
}

impl Place {
    /// Creates a name that is not a variable.
    pub(super) fn of(label: String, is_program: Option<bool>) -> Self {
        Self { label, is_program, is_local: false, is_vague: false, end: None }
    }

    /// A variable, such as `local rows`, of the call `within`: `load (views.py:5) in thread main`.
    pub(super) fn variable(name: Option<&str>, within: &str, is_program: Option<bool>) -> Self {
        let label = format!("{} of {within}", name.unwrap_or("a variable"));
        let end = Some(name.map_or(0, str::len));
        Self { label, is_program, is_local: true, is_vague: false, end }
    }

    /// Whether an object above may give a better name.
    pub(super) fn may_go_on(&self) -> bool {
        !self.label.contains(ANY)
    }

    /// Whether it is among the variables of a function.
    pub(super) fn is_in_scope(&self) -> bool {
        self.label.contains(SCOPE)
    }

    /// Appends the name of a field, a key, or the sign of a path without a name.
    pub(super) fn append(&mut self, scene: &Scene<'_, '_>, part: &str) {
        let listens = |name: &str| scene.named_role(name) == Some(Role::Listeners);
        match part {
            key if key.starts_with('[') => self.insert(key),
            SCOPE => {
                self.end = None;
                match self.label.find(FILE) {
                    _ if self.is_program != Some(true) => self.label.clear(),
                    // A variable of a file.
                    Some(file) => self.label.truncate(file + FILE.len()),
                    None => self.label.push_str(SCOPE),
                }
            }
            _ => match self.label.rsplit_once('.').filter(|(_, last)| listens(last)) {
                Some((owner, _)) => {
                    (self.label, self.end) = (format!("listeners of '{part}' of {owner}"), None);
                }
                None => {
                    let is_first = self.label.is_empty() || self.end == Some(0);
                    if !is_first && !self.label.ends_with(FILE) {
                        self.insert(".");
                    }
                    self.insert(part);
                }
            },
        }
    }

    /// Inserts a part at the end of the path.
    fn insert(&mut self, part: &str) {
        if self.end == Some(0) {
            self.label.insert_str(0, " in ");
        }
        self.label.insert_str(self.end.unwrap_or(self.label.len()), part);
        self.end = self.end.map(|end| end + part.len());
    }
}

/// The name with `[*]` for each index and each text that is a key: `ring[*].items` for
/// `ring[17].items`. Arrays inside a Go object have a label for each element.
pub(super) fn without_indexes(name: &str) -> Cow<'_, str> {
    if !name.contains('[') {
        return name.into();
    }
    let (mut pattern, mut rest) = (String::with_capacity(name.len()), name);
    while let Some(open) = rest.find('[') {
        let (before, after) = rest.split_at(open + 1);
        let key = after.strip_prefix('\'').and_then(|text| text.find("']"));
        let digits = || after.bytes().take_while(u8::is_ascii_digit).count();
        let (index, left) = after.split_at(key.map_or_else(digits, |end| end + 2));
        // A label of Go may stand for all later elements: `[4096…]`.
        let left = if left.starts_with("…]") { left.trim_start_matches('…') } else { left };
        let is_index = !index.is_empty() && left.starts_with(']');
        pattern.push_str(before);
        pattern.push_str(if is_index { "*" } else { index });
        rest = left;
    }
    pattern.push_str(rest);
    pattern.into()
}

#[cfg(test)]
mod tests {
    use super::{Place, without_indexes};

    #[test]
    fn elements_of_one_array_have_one_pattern() {
        for (name, pattern) in [
            ("ring[17].items[3]", "ring[*].items[*]"),
            ("[4096…].items", "[*].items"),
            ("cache['a'].rows", "cache[*].rows"),
            ("cache", "cache"),
            ("map[string]int", "map[string]int"),
            ("[4x] [", "[4x] ["),
        ] {
            assert_eq!(without_indexes(name), pattern);
        }
    }

    #[test]
    fn fields_of_variables_stand_before_the_function() {
        let mut variable = Place::variable(Some("local rows"), "load (db.py:4)", None);
        variable.insert("[*]");
        variable.insert(".of");
        assert_eq!(variable.label, "local rows[*].of of load (db.py:4)");
        let mut unnamed = Place::variable(None, "Pool.run", None);
        unnamed.insert("workers");
        unnamed.insert("[*]");
        assert_eq!(unnamed.label, "workers[*] in a variable of Pool.run");
        let mut field = Place::of("local area of the program".to_owned(), None);
        field.insert(".ENTRIES");
        assert_eq!(field.label, "local area of the program.ENTRIES");
    }
}
