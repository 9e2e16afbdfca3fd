//! Folders that have another path in a newer profile: a second checkout, another virtual
//! environment, the next version of a runtime.

use crate::model::names::Names;
use crate::model::profile::Profile;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// A folder of the older profile whose files are in another folder in the newer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedFolder {
    /// The folder in the older profile, without the slash at its end.
    pub old: String,
    /// The folder in the newer profile.
    pub new: String,
    /// The number of files that are in both.
    pub files: u64,
}

/// Guesses which folders moved, the one with most files first.
///
/// Looks at files that only one of the profiles has. A folder moved if at least half of its files
/// have a counterpart in the other folder: a file with the same path below it and a function of the
/// same name.
pub fn moved_folders(old: &Profile, new: &Profile) -> Vec<MovedFolder> {
    let (old, new) = (functions(old), functions(new));
    let mut by_name: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for file in new.keys().filter(|file| !old.contains_key(*file)) {
        by_name.entry(file_name(file)).or_default().push(file);
    }
    let gone: Vec<&str> = old.keys().filter(|file| !new.contains_key(*file)).copied().collect();
    let mut files: FxHashMap<(&str, &str), u64> = FxHashMap::default();
    for file in &gone {
        // Names that are everywhere, like `__init__.py`, take quadratic time and prove nothing.
        let alike = by_name.get(file_name(file)).filter(|alike| alike.len() <= MOST_ALIKE);
        for other in alike.into_iter().flatten() {
            if old[file].iter().any(|function| new[other].contains(function)) {
                *files.entry(folders(file, other)).or_default() += 1;
            }
        }
    }
    let mut all: FxHashMap<&str, u64> = files.keys().map(|(folder, _)| (*folder, 0)).collect();
    for file in &gone {
        let parents = std::iter::successors(Some(*file), |path| Some(path.rsplit_once('/')?.0));
        for folder in parents.skip(1) {
            all.entry(folder).and_modify(|count| *count += 1);
        }
    }
    let mut moved: Vec<MovedFolder> = files
        .into_iter()
        .filter(|((old, _), files)| files.saturating_mul(2) >= all[old])
        .map(|((old, new), files)| MovedFolder { old: old.to_owned(), new: new.to_owned(), files })
        .collect();
    moved.sort_by(|a, b| {
        (Reverse(a.files), &a.old, &a.new).cmp(&(Reverse(b.files), &b.old, &b.new))
    });
    // A folder has one new place: the one with most files.
    let mut known = FxHashSet::default();
    moved.retain(|folder| known.insert(folder.old.clone()));
    moved
}

impl MovedFolder {
    /// The path of a file of the folder in the newer profile.
    pub fn new_path(&self, path: &str) -> Option<String> {
        Some(format!("{}/{}", self.new, below(path, &self.old)?))
    }
}

/// The path below a folder.
pub fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Files of one name that are compared with each other.
const MOST_ALIKE: usize = 16;

/// The names of the functions of each file.
fn functions(profile: &Profile) -> FxHashMap<&str, FxHashSet<&str>> {
    let mut functions: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
    for frame in profile.frames.iter().filter(|frame| frame.file != Names::EMPTY) {
        let (file, function) = (profile.names.text(frame.file), profile.names.text(frame.function));
        functions.entry(file).or_default().insert(function);
    }
    functions
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folders of two files without the names at their ends that are equal.
fn folders<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let (mut one, mut other) = (one, other);
    while let (Some((folder, name)), Some((other_folder, other_name))) =
        (one.rsplit_once('/'), other.rsplit_once('/'))
        && name == other_name
    {
        (one, other) = (folder, other_folder);
    }
    (one, other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::{FrameKind, ProfileBuilder, ProfileFrame};

    fn profile(functions: &[(&str, &str)]) -> Profile {
        let mut builder = ProfileBuilder::new(false);
        for (function, file) in functions {
            let (function, file) =
                (builder.name(function.as_bytes()), builder.name(file.as_bytes()));
            builder.frame(ProfileFrame { function, file, line: 0, kind: FrameKind::Code });
        }
        builder.finish()
    }

    #[test]
    fn checkouts_and_environments_are_matched_below_what_differs() {
        let old = [
            ("main", "/home/ann/shop/app.py"),
            ("scan", "/home/ann/shop/db/__init__.py"),
            ("get", "/env1/lib/python3.11/site-packages/requests/api.py"),
            ("loads", "/usr/lib/python3/json.py"),
        ];
        let new = [
            ("main", "/build/42/shop/app.py"),
            ("scan", "/build/42/shop/db/__init__.py"),
            ("get", "/env2/lib/python3.12/site-packages/requests/api.py"),
            ("loads", "/usr/lib/python3/json.py"),
        ];
        let moved = moved_folders(&profile(&old), &profile(&new));
        let expected =
            [("/home/ann", "/build/42", 2), ("/env1/lib/python3.11", "/env2/lib/python3.12", 1)]
                .map(|(old, new, files)| MovedFolder { old: old.into(), new: new.into(), files });
        assert_eq!(moved, expected);
        assert_eq!(moved[0].new_path("/home/ann/shop/app.py").as_deref(), Some(new[0].1));
        assert_eq!(moved[0].new_path("/home/anna/app.py"), None);
        let mut followed = profile(&old);
        followed.rename_files(|path| moved.iter().find_map(|folder| folder.new_path(path)));
        let names = |profile: &Profile| -> Vec<_> {
            let files = profile.frames.iter().map(|frame| frame.file);
            files.map(|file| profile.names.text(file).to_owned()).collect()
        };
        assert_eq!(names(&followed), new.map(|(_, file)| file));
    }

    #[test]
    fn other_files_of_the_same_name_did_not_move() {
        let old = profile(&[("load", "/a/x/__init__.py"), ("f", "/a/x/m.py"), ("g", "/a/x/n.py")]);
        let new = profile(&[("load", "/a/y/__init__.py"), ("f", "/a/y/p.py"), ("g", "/a/y/q.py")]);
        assert_eq!(moved_folders(&old, &new), [], "one file of three");
        let new = profile(&[("save", "/b/x/__init__.py")]);
        assert_eq!(moved_folders(&old, &new), [], "no function in common");
    }
}
