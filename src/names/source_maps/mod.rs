//! Source maps: the original functions, classes, files and lines of bundled and shortened
//! JavaScript.
//!
//! [`files`] finds the map of a script by file names; nothing is fetched from a network. [`map`]
//! converts a place in the script to a place in a source, and [`function`] finds the name of the
//! function or class there.

mod files;
mod function;
mod map;
mod text;
mod vlq;

use crate::error::{Error, Result};
use crate::parallel::lock;
use files::{Files, Found};
use map::SourceMap;
use rustc_hash::FxHashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use vlq::Place;

/// The source maps of some files and folders. Maps in folders are read when a script needs them.
#[derive(Debug, Default)]
pub struct SourceMaps {
    files: Files,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    maps: FxHashMap<PathBuf, Option<Arc<SourceMap>>>,
    scripts: FxHashMap<String, Option<Arc<Script>>>,
    problems: Vec<MapProblem>,
}

/// A script with a map.
#[derive(Debug)]
struct Script {
    map: Arc<SourceMap>,
    /// The sources of the map, relative to the script.
    files: Vec<Arc<str>>,
}

/// The source of a function or class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The name of the function or class. `None` if neither the map nor the source has one.
    pub name: Option<String>,
    /// The source file.
    pub file: Arc<str>,
    /// The line in the source, from 1.
    pub line: u32,
    /// The column in the source, from 1.
    pub column: u32,
}

/// A map that was found and could not be used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MapProblem {
    /// The file.
    pub path: PathBuf,
    /// The reason, in words that follow the path.
    pub reason: String,
}

impl fmt::Display for MapProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "source map {} is not used: {}", self.path.display(), self.reason)
    }
}

impl SourceMaps {
    /// Searches these files and folders. Fails with the first path that cannot be read, or file
    /// that is neither a source map nor a script.
    pub fn new(places: &[PathBuf]) -> Result<Self, (PathBuf, Error)> {
        let files = Files::new(places);
        let mut maps = FxHashMap::default();
        for place in places {
            let failed = |error| (place.clone(), error);
            let is_folder = std::fs::metadata(place)
                .map_err(|error| failed(Error::io(error, "cannot open")))?
                .is_dir();
            if !is_folder && (files::is_map(place) || !is_script(place)) {
                maps.insert(place.clone(), Some(Arc::new(read(place, &files).map_err(failed)?)));
            }
        }
        let state = State { maps, ..State::default() };
        Ok(Self { files, state: Mutex::new(state) })
    }

    /// The source of the function that begins at a line and a column of a script, from 0.
    /// `generated` is its name in the script.
    pub fn function(&self, url: &str, line: u64, column: u64, generated: &str) -> Option<Original> {
        let (script, place) = (self.script(url)?, place(line, column)?);
        let found = function::find(&script.map, place, generated)?;
        script.original(found.segment, found.name)
    }

    /// The source of a line of a script, from 0, if all of the line comes from one line.
    pub fn line(&self, url: &str, line: u64) -> Option<Original> {
        let (script, line) = (self.script(url)?, u32::try_from(line).ok()?);
        let mut segments =
            script.map.line(line).iter().filter(|segment| segment.source != vlq::NONE);
        let first = segments.next()?;
        let is_same = |segment: &vlq::Segment| {
            (segment.source, segment.original.line) == (first.source, first.original.line)
        };
        if !segments.all(is_same) {
            return None;
        }
        script.original(first, None)
    }

    /// The text of a source that [`Self::function`] named in [`Original::file`], of a known script.
    pub fn source_text(&self, file: &str) -> Option<String> {
        let state = self.state();
        let mut scripts: Vec<_> = state.scripts.iter().collect();
        scripts.sort_by_key(|(url, _)| url.as_str());
        scripts.into_iter().find_map(|(_, script)| {
            let script = script.as_ref()?;
            let source = script.files.iter().position(|known| **known == *file)?;
            script.map.source_text(source).map(str::to_owned)
        })
    }

    /// Whether a script has a map.
    pub fn has(&self, url: &str) -> bool {
        self.script(url).is_some()
    }

    /// Whether any script that was looked up has a map.
    pub fn is_used(&self) -> bool {
        self.state().scripts.values().any(Option::is_some)
    }

    /// Returns the reasons why maps could not be used since the last call.
    pub fn take_problems(&self) -> Vec<MapProblem> {
        let mut problems = std::mem::take(&mut self.state().problems);
        problems.sort();
        problems.dedup();
        problems
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn script(&self, url: &str) -> Option<Arc<Script>> {
        let mut state = self.state();
        if let Some(known) = state.scripts.get(url) {
            return known.clone();
        }
        let script = state.map_of(&self.files, url).map(|map| {
            let files = map.sources().map(|source| resolved(url, source).into()).collect();
            Arc::new(Script { map, files })
        });
        state.scripts.insert(url.to_owned(), script.clone());
        script
    }
}

impl State {
    fn map_of(&mut self, files: &Files, url: &str) -> Option<Arc<SourceMap>> {
        let (path, map) = match files.of_script(url) {
            Found::Nowhere => return None,
            Found::Several(one, other) => {
                let reason = format!("{} fits {url} as well", other.display());
                self.problems.push(MapProblem { path: one, reason });
                return None;
            }
            Found::Inline(path, bytes) => {
                let map = parse(&bytes, &path, files);
                (path, map)
            }
            Found::File(path) => {
                if let Some(known) = self.maps.get(&path) {
                    return known.clone();
                }
                let map = read(&path, files);
                (path, map)
            }
        };
        let map = match map {
            Ok(map) => Some(Arc::new(map)),
            Err(error) => {
                self.problems.push(MapProblem { path: path.clone(), reason: error.to_string() });
                None
            }
        };
        self.maps.insert(path, map.clone());
        map
    }
}

impl Script {
    fn original(&self, segment: &vlq::Segment, name: Option<String>) -> Option<Original> {
        let file = Arc::clone(self.files.get(segment.source as usize)?);
        let Place { line, column } = segment.original;
        Some(Original {
            name,
            file,
            line: line.saturating_add(1),
            column: column.saturating_add(1),
        })
    }
}

fn read(path: &Path, files: &Files) -> Result<SourceMap> {
    parse(files::open(path)?.bytes(), path, files)
}

/// Reads a map, and adds the texts of missing sources that are among the given files.
fn parse(bytes: &[u8], path: &Path, files: &Files) -> Result<SourceMap> {
    let mut map = SourceMap::parse(bytes)?;
    map.complete(|source| files.source(path, source));
    Ok(map)
}

fn is_script(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["js", "mjs", "cjs", "jsx", "ts"].contains(&extension)
}

fn place(line: u64, column: u64) -> Option<Place> {
    Some(Place { line: u32::try_from(line).ok()?, column: u32::try_from(column).ok()? })
}

/// The path of a source relative to its script, without `.` and `..`.
fn resolved(url: &str, source: &str) -> String {
    let is_absolute = source.starts_with('/') || source.contains("://");
    let folder = url.rfind('/').map_or("", |at| url.get(..=at).unwrap_or_default());
    let whole = if is_absolute { source.to_owned() } else { format!("{folder}{source}") };
    let rooted = whole.find("://").map_or(0, |at| {
        let start = at.saturating_add(3);
        let host = whole.get(start..).and_then(|rest| rest.find('/'));
        start.saturating_add(host.unwrap_or(0))
    });
    let (root, path) = whole.split_at_checked(rooted).unwrap_or_default();
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !["", ".."].contains(last)) => _ = parts.pop(),
            ".." if parts == [""] => {}
            part => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}
