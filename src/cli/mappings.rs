//! The mappings of minified Java programs that a command may use.

use super::args::Common;
use super::memory::reading_limit;
use super::open::Input;
use super::session::Session;
use super::status::InputError;
use super::terminal::show_path;
use crate::input::{self, Format, ReadOptions};
use crate::names::JavaMapping;
use crate::source::Source;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The formats that name classes of Java.
const FORMATS: &[Format] = &[Format::Hprof, Format::Jfr];

/// The mappings that have been read, by path.
#[derive(Default)]
pub(crate) struct Mappings(Mutex<FxHashMap<PathBuf, Arc<JavaMapping>>>);

/// The build that a dump is of, where two are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// The one of `--old-mapping`.
    Old,
    New,
}

impl Build {
    /// The option with the mapping of a build, and its value.
    pub(super) fn mapping(self, common: &Common) -> (&'static str, Option<&PathBuf>) {
        match (self, &common.old_mapping) {
            (Self::Old, Some(path)) => ("--old-mapping", Some(path)),
            _ => ("--mapping", common.mapping.as_ref()),
        }
    }
}

/// The formats whose summary says that names look minified.
const MINIFIED: &[Format] =
    &[Format::Hprof, Format::Heapsnapshot, Format::Cpuprofile, Format::Heapprofile];

/// Warns that two inputs are compared by names of a minifier, which gives each build other ones.
pub(super) fn warn_if_minified(old: &Input, new: &Input, session: &Session) {
    let is_named = |input: &Input| input.mapping.is_some() || session.source_maps().is_some();
    let short_names = |input: &Input| {
        if session.common.quiet || is_named(input) || !MINIFIED.contains(&input.format) {
            return None;
        }
        let memory = reading_limit(input, &session.common);
        let options = ReadOptions { memory, ..ReadOptions::default() };
        input::short_names(input.format, input.bytes(), options)
    };
    let Some(warning) = short_names(new).filter(|_| short_names(old).is_some()) else { return };
    let message = format!("{warning}; without them, one name may mean two things in two builds");
    session.terminal.warn(&new.path, &message);
}

/// Where the mapping of a dump is if no option names it.
pub(super) fn mapping_beside(dump: &Path) -> PathBuf {
    dump.with_file_name("mapping.txt")
}

impl Mappings {
    /// The mapping of a dump: the one of the options, otherwise the file `mapping.txt` beside it,
    /// which is printed.
    ///
    /// # Errors
    /// A usage error if the dump has no classes of Java; an [`InputError`] if the mapping cannot
    /// be read.
    pub(super) fn of(
        &self,
        input: &Input,
        build: Build,
        session: &Session,
    ) -> anyhow::Result<Option<Arc<JavaMapping>>> {
        let (name, path) = build.mapping(&session.common);
        let is_given = path.is_some() && session.gives(|common| build.mapping(common));
        input.only(FORMATS, name, is_given)?;
        let is_java = FORMATS.contains(&input.format);
        if let Some(path) = path.filter(|_| is_java) {
            return self.read(path).map(Some);
        }
        let beside = mapping_beside(&input.path);
        if !is_java
            || input.path == Path::new("-")
            || !beside.is_file()
            || session.allow(&beside).is_err()
        {
            return Ok(None);
        }
        match self.read(&beside) {
            Ok(mapping) => {
                session
                    .terminal
                    .warn(&input.path, &format!("names are those of {}", show_path(&beside)));
                Ok(Some(mapping))
            }
            // The file was not given: whatever it is, it is not for this dump.
            Err(_) => Ok(None),
        }
    }

    fn read(&self, path: &Path) -> anyhow::Result<Arc<JavaMapping>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mapping) = known.get(path) {
            return Ok(Arc::clone(mapping));
        }
        let source = Source::open(path).map_err(|error| InputError::new(path, error))?;
        let mapping = JavaMapping::new(source.bytes());
        let mapping = mapping.map_err(|error| InputError::new(path, error))?;
        let mapping = Arc::new(mapping);
        known.insert(path.to_owned(), Arc::clone(&mapping));
        Ok(mapping)
    }
}
