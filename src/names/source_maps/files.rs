//! Finds the map of a script among the given files.

use super::map;
use crate::error::Result;
use crate::source::Source;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// The maximum number of files in the given folders, and the maximum depth of folders.
const MOST_FILES: usize = 1 << 16;
const DEEPEST: usize = 32;
/// The number of bytes at the end of a script that are searched for the comment about its map.
const COMMENT: usize = 4 << 10;

#[derive(Debug, Default)]
pub(super) struct Files {
    /// All files, in order.
    all: Vec<PathBuf>,
    /// The maps by the script names that they state.
    by_script: OnceLock<FxHashMap<String, Vec<PathBuf>>>,
}

/// The location of the map of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    File(PathBuf),
    /// In the script itself.
    Inline(PathBuf, Vec<u8>),
    /// Several fit equally well.
    Several(PathBuf, PathBuf),
    Nowhere,
}

impl Files {
    /// The given files, and those in the given folders and below.
    pub(super) fn new(places: &[PathBuf]) -> Self {
        let mut all = Vec::new();
        let mut open: Vec<(PathBuf, usize)> = Vec::new();
        for place in places {
            if place.is_dir() { open.push((place.clone(), 0)) } else { all.push(place.clone()) }
        }
        while let Some((folder, depth)) = open.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                // Links could lead anywhere, and in circles.
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && depth < DEEPEST {
                    open.push((entry.path(), depth.saturating_add(1)));
                } else if kind.is_file() && all.len() < MOST_FILES {
                    all.push(entry.path());
                }
            }
        }
        all.sort();
        all.dedup();
        Self { all, by_script: OnceLock::new() }
    }

    /// The map of the script with this URL or path: the file `name.map`, the file that the script
    /// itself names, or the map that names the script.
    pub(super) fn of_script(&self, url: &str) -> Found {
        let path = path_of(url);
        let Some(name) = path.rsplit('/').next().filter(|name| !name.is_empty()) else {
            return Found::Nowhere;
        };
        let map = format!("{name}.map");
        match nearest(self.called(&map), &format!("{path}.map")) {
            Found::Nowhere => {}
            found => return found,
        }
        if let Found::File(script) = nearest(self.called(name), &path)
            && let found @ (Found::File(_) | Found::Inline(..)) = self.named_by(&script)
        {
            return found;
        }
        let by_script = self.by_script.get_or_init(|| self.scripts());
        nearest(by_script.get(name).into_iter().flatten(), &path)
    }

    fn called<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f PathBuf> {
        self.all.iter().filter(move |file| file_name(file) == name)
    }

    /// The text of a source that a map names, if it is one of the given files.
    pub(super) fn source(&self, map: &Path, source: &str) -> Option<String> {
        let path = plain(&map.parent()?.join(source));
        self.all.binary_search(&path).ok()?;
        String::from_utf8(open(&path).ok()?.bytes().to_vec()).ok()
    }

    /// Returns the maps by the last part of the script names that they state.
    fn scripts(&self) -> FxHashMap<String, Vec<PathBuf>> {
        let mut by_script: FxHashMap<String, Vec<PathBuf>> = FxHashMap::default();
        for path in self.all.iter().filter(|path| is_map(path)) {
            let Ok(file) = open(path) else { continue };
            if let Some(script) = map::script_of(file.bytes()) {
                let name = script.rsplit('/').next().unwrap_or_default().to_owned();
                by_script.entry(name).or_default().push(path.clone());
            }
        }
        by_script
    }

    /// The map that the comment at the end of a script names, if it is a given file or in the script.
    fn named_by(&self, script: &Path) -> Found {
        let Some(reference) = open(script).ok().and_then(|file| reference(file.bytes())) else {
            return Found::Nowhere;
        };
        if let Some(data) = reference.strip_prefix("data:") {
            let map = inline(data).map(|map| Found::Inline(script.to_owned(), map));
            return map.unwrap_or(Found::Nowhere);
        }
        let reference = reference.split(['?', '#']).next().unwrap_or_default();
        let path = plain(&script.parent().unwrap_or(script).join(&*path_of(reference)));
        match self.all.binary_search(&path) {
            Ok(_) => Found::File(path),
            Err(_) => Found::Nowhere,
        }
    }
}

/// Whether a file may be a map.
pub(super) fn is_map(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "map" || extension == "json")
}

/// Opens a plain file. Fails if it cannot be read or is not a plain file.
pub(super) fn open(path: &Path) -> Result<Source> {
    let source = Source::open(path)?;
    source.damage().map_or(Ok(()), |damage| Err(damage.clone()))?;
    Ok(source)
}

/// The file whose path has the most folders at its end in common with the path of a script.
fn nearest<'f>(files: impl Iterator<Item = &'f PathBuf>, path: &str) -> Found {
    let (mut best, mut found) = (0, Found::Nowhere);
    for file in files {
        let text = file.to_string_lossy().replace('\\', "/");
        let common = text.rsplit('/').zip(path.rsplit('/')).take_while(|(a, b)| a == b).count();
        found = match found {
            Found::Nowhere => Found::File(file.clone()),
            _ if common > best => Found::File(file.clone()),
            Found::File(other) if common == best => Found::Several(other, file.clone()),
            found => found,
        };
        best = best.max(common);
    }
    found
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// The path of a URL, without query and fragment.
pub(super) fn path_of(url: &str) -> Cow<'_, str> {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path =
        if url.contains("://") { path.split(['?', '#']).next().unwrap_or_default() } else { path };
    if path.contains('%') || path.contains('\\') {
        Cow::Owned(unescaped(path).replace('\\', "/"))
    } else {
        Cow::Borrowed(path)
    }
}

/// Decodes escapes such as `%20`.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match value.filter(|_| first == b'%') {
            Some(value) => {
                bytes.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The value of the last `//# sourceMappingURL=` of a script.
fn reference(script: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"# sourceMappingURL=";
    let at = memchr::memmem::rfind(script, KEY)?.saturating_add(KEY.len());
    let value = script.get(at..)?;
    let end = memchr::memchr2(b'\n', b'\r', value).unwrap_or(value.len());
    // A map is long; the text after it in the script is short.
    let is_last = value.len().saturating_sub(end) < COMMENT;
    is_last.then(|| String::from_utf8_lossy(value.get(..end).unwrap_or_default()).trim().to_owned())
}

/// The contents of a `data:` URL.
fn inline(data: &str) -> Option<Vec<u8>> {
    let (kind, text) = data.split_once(',')?;
    if kind.ends_with(";base64") {
        super::vlq::base64(text.as_bytes())
    } else {
        Some(unescaped(text).into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_of_a_script_is_found_by_its_name_its_comment_or_the_map_itself() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let a = write("a/app.js.map", "{}");
        let b = write("b/app.js.map", "{}");
        write("b/chunk.js", "run()\n//# sourceMappingURL=../maps/7.map?v=1\n");
        let seven = write("maps/7.map", "{}");
        let inline = write("in.js", "x\n//# sourceMappingURL=data:application/json;base64,e30=");
        let said = write("maps/x.json", r#"{"version": 3, "file": "out/said.js", "mappings": ""}"#);
        write("far.js", "x\n//# sourceMappingURL=https://example.test/far.js.map");
        let files = Files::new(&[root.to_owned()]);
        let found = |url: &str| files.of_script(url);
        assert_eq!(found("file:///srv/a/app.js"), Found::File(a.clone()));
        assert_eq!(found("https://x.test/b/app.js?v=2#top"), Found::File(b.clone()));
        assert_eq!(found("/srv/c/app.js"), Found::Several(a, b));
        assert_eq!(found("/srv/b/chunk.js"), Found::File(seven));
        assert_eq!(found("in.js"), Found::Inline(inline, b"{}".to_vec()));
        assert_eq!(found("C:\\srv\\said.js"), Found::File(said));
        assert_eq!(found("far.js"), Found::Nowhere);
        assert_eq!(found("node:internal/main"), Found::Nowhere);
        assert_eq!(found(""), Found::Nowhere);
    }
}
