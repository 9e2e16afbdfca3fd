//! The program that a file is about, as far as the beginning of the file identifies it.

use rustc_hash::FxHashMap;

/// The runtime and the build of the program that wrote a dump or profile.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// `Go`, `Java`; `None` if files of the format come from several runtimes.
    runtime: Option<&'static str>,
    /// Version and architecture of the runtime. Empty if the file does not state them.
    version: String,
    /// Addresses of types by name, where types have addresses (Go). A name may have several.
    types: FxHashMap<Vec<u8>, Vec<u64>>,
}

/// A difference between the origins of two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The files come from two runtimes, named older first.
    Runtimes(&'static str, &'static str),
    /// The runtimes differ in version or architecture, older first.
    Versions(String, String),
    /// Types have other addresses: other builds, or one build loaded at another address.
    TypeAddresses,
}

impl Provenance {
    /// Returns the origin of a file that states only its runtime.
    pub(super) fn of(runtime: &'static str) -> Self {
        Self { runtime: Some(runtime), ..Self::default() }
    }

    /// Sets the version and architecture.
    pub(super) fn version(self, version: String) -> Self {
        Self { version, ..self }
    }

    /// Adds the address of a type.
    pub(super) fn add_type(&mut self, name: &[u8], address: u64) {
        self.types.entry(name.to_owned()).or_default().push(address);
    }

    /// Returns how the origin of a newer file differs. Parts that one of the files does not state
    /// count as equal.
    pub fn difference(&self, newer: &Self) -> Option<Difference> {
        let (old, new) = (self.runtime?, newer.runtime?);
        if old != new {
            return Some(Difference::Runtimes(old, new));
        }
        if self.version != newer.version && !self.version.is_empty() && !newer.version.is_empty() {
            return Some(Difference::Versions(self.version.clone(), newer.version.clone()));
        }
        let moved = |(name, addresses): (&Vec<u8>, &Vec<u64>)| {
            newer.types.get(name).is_some_and(|new| addresses.iter().all(|at| !new.contains(at)))
        };
        self.types.iter().any(moved).then_some(Difference::TypeAddresses)
    }
}
