//! The mappings of minified Java programs that a command may use.

use super::args::Common;
use super::lock;
use super::status::InputError;
use crate::input::Format;
use crate::names::JavaMapping;
use crate::source::Source;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The formats that name classes of Java.
pub(super) const FORMATS: &[Format] = &[Format::Hprof, Format::Jfr];

/// The mappings that have been read, by path.
#[derive(Default)]
pub(crate) struct Mappings(Mutex<FxHashMap<PathBuf, Arc<JavaMapping>>>);

/// The build that a dump is from, when two dumps are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// The build of the older dump, which `--old-mapping` applies to.
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

/// The path of the mapping beside a dump, used if no option names a mapping.
pub(super) fn mapping_beside(dump: &Path) -> PathBuf {
    dump.with_file_name("mapping.txt")
}

impl Mappings {
    /// Reads a mapping, or returns it if it has been read before. Fails with an [`InputError`] if
    /// it cannot be read.
    pub(super) fn read(&self, path: &Path) -> Result<Arc<JavaMapping>, InputError> {
        let mut known = lock(&self.0);
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
