//! Names of functions, source files and lines for addresses in machine code.
//!
//! [`Symbols`] finds the files of a profile's programs and libraries, and looks up its addresses in
//! their debug information (DWARF, with inlined functions) and symbol tables, all files at once.
//! Answers are kept, so that a series of profiles reads each file for new addresses only.
//!
//! A file is used if its build id is that of the profile. If the profile has none, the file must
//! not have changed since the recording. Addresses beyond the end of a symbol get no name, because
//! another function is there.

mod binary;
mod demangle;
mod dwarf;
mod files;
mod jit;
mod kernel;
mod table;
mod unwind;

use crate::error::Error;
use crate::input::load::{NameCode, Unwind};
use crate::model::names::Names;
use crate::model::profile::{Code, CodePlace, FrameGroups, FrameId, Profile, ProfileFrame};
use crate::parallel::{self, lock};
use crate::source::Source;
use files::{Files, Library};
use rustc_hash::FxHashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use unwind::Unwinder;

/// A function at an address, or one that was inlined there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Function {
    name: String,
    /// The source file; may be empty.
    file: String,
    /// The line, from 1; 0 if unknown.
    line: u32,
}

/// The functions at an address, outermost first. Empty if nothing is known of the address.
type Functions = Vec<Function>;

/// A file that was found for a library and not used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Unused {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason, in words that follow the path.
    pub reason: String,
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "symbols of {} are not used: {}", self.path.display(), self.reason)
    }
}

/// Looks up functions by addresses, with the files of this machine.
#[derive(Debug, Default)]
pub struct Symbols {
    files: Files,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: FxHashMap<Library, FxHashMap<u64, Functions>>,
    unused: Vec<Unused>,
}

impl Symbols {
    /// Searches these folders and files before those that the profile names.
    pub fn new(places: Vec<PathBuf>) -> Self {
        Self { files: Files::new(places), state: Mutex::default() }
    }

    /// Returns the files that were found and not used since the last call.
    pub fn take_unused(&self) -> Vec<Unused> {
        let mut unused = std::mem::take(&mut self.state().unused);
        unused.sort();
        unused.dedup();
        unused
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Looks up addresses that are not known yet, all libraries at once.
    fn look_up(&self, wanted: FxHashMap<Library, Vec<u64>>, recorded: Option<u64>) {
        let known = std::mem::take(&mut self.state().known);
        let jobs = wanted
            .into_iter()
            .map(|(library, mut places)| {
                let known = known.get(&library);
                places.retain(|place| known.is_none_or(|known| !known.contains_key(place)));
                places.sort_unstable();
                places.dedup();
                (library, places)
            })
            .filter(|(_, places)| !places.is_empty());
        let found = parallel::map(jobs, |(library, places)| {
            let mut unused = Vec::new();
            let functions = self.files.functions(&library, &places, recorded, &mut unused);
            (library, places, functions, unused)
        });
        let mut state = self.state();
        state.known = known;
        for (library, places, functions, unused) in found {
            state.known.entry(library).or_default().extend(places.into_iter().zip(functions));
            state.unused.extend(unused);
        }
    }
}

impl NameCode for Symbols {
    fn unwinder(&self) -> Option<Box<dyn Unwind + '_>> {
        Some(Box::new(Unwinder::new(&self.files)))
    }

    fn name_code(&self, profile: &mut Profile, keep_code: bool) {
        let Some(code) = profile.code.take() else { return };
        let mut wanted = FxHashMap::<Library, Vec<u64>>::default();
        let places = unnamed(&code);
        for &(_, ref library, place) in &places {
            wanted.entry(library.clone()).or_default().push(place);
        }
        self.look_up(wanted, recorded(profile));
        let state = self.state();
        let mut groups = FrameGroups::default();
        let mut places = places.into_iter().peekable();
        for (number, frame) in profile.frames.iter().enumerate() {
            let place = places.next_if(|(frame, ..)| frame.index() == number);
            let functions = place.and_then(|(_, library, place)| {
                state.known.get(&library)?.get(&place).filter(|functions| !functions.is_empty())
            });
            match functions {
                Some(functions) => {
                    let frames = functions.iter().map(|it| it.frame(*frame, &mut profile.names));
                    groups.name(frames.collect::<Vec<_>>());
                }
                None => groups.keep(*frame),
            }
        }
        profile.code = Some(code);
        profile.replace_frames(&groups, keep_code);
    }
}

impl Function {
    /// The frame of the function. Without a source file, the frame has the file of the unnamed
    /// frame: the library.
    fn frame(&self, unnamed: ProfileFrame, names: &mut Names) -> ProfileFrame {
        let file = if self.file.is_empty() { unnamed.file } else { names.intern(&self.file) };
        let function = names.intern(&self.name);
        ProfileFrame { function, file, line: self.line, ..unnamed }
    }
}

/// The frames without functions, each with its library and its place there.
fn unnamed(code: &Code) -> Vec<(FrameId, Library, u64)> {
    let libraries: Vec<Library> = code.mappings.iter().map(Library::of).collect();
    let row = |(number, place): (usize, &Option<CodePlace>)| {
        let place = place.filter(|place| place.lines == 0)?;
        let mapping = place.mapping? as usize;
        let library = libraries.get(mapping)?;
        let at = library.place(code.mappings.get(mapping)?, place.address)?;
        Some((FrameId(number as u32), library.clone(), at))
    };
    code.places.iter().enumerate().filter_map(row).collect()
}

/// The end of the recording, in seconds since 1970, if the profile states it.
fn recorded(profile: &Profile) -> Option<u64> {
    let number = |key: &str| profile.metadatum(key)?.parse::<u64>().ok();
    let start = number("time_nanos")?;
    Some(start.saturating_add(number("duration_nanos").unwrap_or(0)) / 1_000_000_000)
}

/// Opens a plain file.
fn open(path: &Path) -> Option<Source> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Source::open(path).ok()
}

/// The message of an error of a local file, without the parts that concern dumps.
fn reason(error: &Error) -> String {
    error.message().to_string()
}
