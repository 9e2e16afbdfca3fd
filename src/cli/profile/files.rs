//! File names, shortened as far as they remain distinguishable.

use crate::cli::terminal::shown;
use crate::model::profile::Profile;
use rustc_hash::FxHashSet;
use std::collections::HashMap;

/// The shortest distinguishable ends of paths, in whole names: `tokenize.py`, but `re/__init__.py`
/// if there is also `json/__init__.py`.
pub(crate) struct ShortFiles<'a>(HashMap<&'a str, &'a str>);

impl<'a> ShortFiles<'a> {
    pub(crate) fn of_profile(profile: &'a Profile, whole: bool) -> Self {
        Self::of_profiles(&[profile], whole)
    }

    /// Shortens the paths of the files of several profiles.
    pub(crate) fn of_profiles(profiles: &[&'a Profile], whole: bool) -> Self {
        let mut paths = Vec::new();
        for profile in profiles {
            let files: FxHashSet<_> = profile.frames.iter().map(|frame| frame.file).collect();
            paths.extend(files.into_iter().map(|file| profile.names.text(file)));
        }
        Self::of(paths.into_iter(), whole)
    }

    /// Shortens these paths, of which several may be equal. Keeps them whole if `whole` is true.
    pub(crate) fn of(paths: impl Iterator<Item = &'a str>, whole: bool) -> Self {
        let mut paths: Vec<&str> = paths.collect();
        // Paths with the same end are neighbours when they are compared backwards.
        let backwards = |path: &str| path.bytes().rev().collect::<Vec<u8>>();
        paths.sort_by_cached_key(|path| backwards(path));
        paths.dedup();
        let common = |one: &str, other: &str| {
            one.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count()
        };
        let mut short = HashMap::with_capacity(paths.len());
        for (i, path) in paths.iter().enumerate() {
            let before = i.checked_sub(1).map_or(0, |before| common(path, paths[before]));
            let after = paths.get(i + 1).map_or(0, |after| common(path, after));
            let known = |end: &str| {
                paths.binary_search_by_key(&backwards(end), |path| backwards(path)).is_ok()
            };
            short.insert(*path, if whole { path } else { end_of(path, before.max(after), known) });
        }
        Self(short)
    }

    /// A path as people see it.
    pub(crate) fn show(&self, path: &str) -> String {
        shown(self.0.get(path).copied().unwrap_or(path))
    }

    /// `name (file)`, or `name (file:line)`, or only the name if there is no file.
    pub(crate) fn name(&self, name: &str, file: &str, line: Option<u32>) -> String {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        let name = shown(name);
        match self.show(file).as_str() {
            "" => format!("{name}{line}"),
            file => format!("{name} ({file}{line})"),
        }
    }
}

/// The shortest end of a path that begins after a slash and, with that slash, is longer than the
/// `shared` bytes at the ends of other paths, and that is not a whole path itself.
fn end_of(path: &str, shared: usize, is_path: impl Fn(&str) -> bool) -> &str {
    let mut slashes = path.match_indices('/').map(|(at, _)| at + 1);
    let start = slashes.rfind(|start| {
        path.len() - start + 1 > shared && *start < path.len() && !is_path(&path[*start..])
    });
    start.and_then(|start| path.get(start..)).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_as_short_as_they_can_be_told_apart() {
        let paths = [
            "/lib/re/__init__.py",
            "/lib/json/__init__.py",
            "/lib/ast.py",
            "/lib/last.py",
            "<frozen site>",
            "x.py",
            "/a/x.py",
            "",
        ];
        let short = ShortFiles::of(paths.into_iter(), false);
        let shown: Vec<_> = paths.iter().map(|path| short.show(path)).collect();
        assert_eq!(
            shown,
            [
                "re/__init__.py",
                "json/__init__.py",
                "ast.py",
                "last.py",
                "<frozen site>",
                "x.py",
                "a/x.py",
                ""
            ]
        );
        let whole = ShortFiles::of(paths.into_iter(), true);
        assert_eq!(whole.show("/lib/ast.py"), "/lib/ast.py");
    }
}
