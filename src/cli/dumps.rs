//! Dumps that stay open between commands: each is read once, and its analyses are kept.

#[cfg(test)]
mod tests;

use super::args::{Common, KnownArgs, LoadArgs, Snapshot};
use super::heap::HeldHeap;
use super::lock;
use super::mappings::mapping_beside;
use super::open::{Input, Named};
use super::status::UsageError;
use super::terminal::show_path;
use crate::error::Error;
use crate::model::profile::Profile;
use crate::names::SourceMaps;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// Open dumps, the most recently used last.
pub(crate) struct Dumps {
    /// Returns whether commands may read a file.
    allowed: Box<dyn Fn(&Path) -> bool + Send + Sync>,
    /// Bytes that all dumps together may take. The dump in use may exceed the budget.
    budget: u64,
    pub(super) given: Given,
    dumps: Mutex<Vec<Arc<Dump>>>,
}

/// Options that apply to every command that is not given its own.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) roots: LoadArgs,
    pub(crate) common: Common,
    pub(crate) source_maps: Option<Arc<SourceMaps>>,
    pub(crate) known: KnownArgs,
}

/// An open file, with the files that names are taken from.
struct Dump {
    path: PathBuf,
    named: Named,
    versions: Vec<Version>,
    input: Mutex<Option<Input>>,
    /// Loaded heaps, with the options with which each was loaded.
    heaps: Mutex<Vec<(HeapKey, Arc<HeldHeap>)>>,
    profile: Mutex<Option<HeldProfile>>,
}

/// Whether a profile has all frames and whether it has its samples, the profile, and the damage
/// that ended its reading.
type HeldProfile = ((bool, bool), Arc<Profile>, Option<Error>);

/// The length of a file and the time of its last change. `None` if the file cannot be examined.
type Version = Option<(u64, Option<SystemTime>)>;

type HeapKey = (Option<Snapshot>, LoadArgs);

impl Dumps {
    /// Creates an empty set of dumps. `allowed` returns whether commands may read a file.
    pub(crate) fn new(
        given: Given,
        allowed: impl Fn(&Path) -> bool + Send + Sync + 'static,
        budget: u64,
    ) -> Arc<Self> {
        Arc::new(Self { allowed: Box::new(allowed), budget, given, dumps: Mutex::default() })
    }

    /// Returns the file at a path and opens it on first use.
    pub(super) fn input(
        &self,
        path: &Path,
        named: &Named,
        open: impl FnOnce() -> anyhow::Result<Input>,
    ) -> anyhow::Result<Input> {
        self.allow(path)?;
        let dump = self.dump(path, named);
        let mut kept = lock(&dump.input);
        if let Some(input) = &*kept {
            return Ok(input.clone());
        }
        let input = kept.insert(open()?).clone();
        drop(kept);
        self.make_room(&dump);
        Ok(input)
    }

    /// Adds the options that apply to every command that is not given its own. Fails with a
    /// [`UsageError`] if the command's own options name files that it may not read.
    pub(super) fn complete(&self, common: &mut Common) -> Result<(), UsageError> {
        let named = common.symbols.iter().chain(&common.mapping).chain(&common.old_mapping);
        let named = named.chain(&common.source_maps);
        named.map(PathBuf::as_path).try_for_each(|path| self.allow(path))?;
        let given = &self.given.common;
        common.from = common.from.or(given.from);
        common.max_memory = common.max_memory.or(given.max_memory);
        common.symbols.extend_from_slice(&given.symbols);
        common.mapping = common.mapping.take().or_else(|| given.mapping.clone());
        common.old_mapping = common.old_mapping.take().or_else(|| given.old_mapping.clone());
        if common.source_maps.is_empty() {
            common.source_maps.clone_from(&given.source_maps);
        }
        Ok(())
    }

    /// Discards the dumps whose files have changed since they were opened.
    pub(super) fn forget_changed(&self) {
        lock(&self.dumps).retain(|dump| dump.versions == dump.named.versions(&dump.path));
    }

    /// A dump whose file, or a file that its names are from, has changed since it was opened.
    pub(super) fn changed(&self) -> Option<PathBuf> {
        let dumps = lock(&self.dumps);
        let changed = dumps.iter().find(|dump| dump.versions != dump.named.versions(&dump.path));
        changed.map(|dump| dump.path.clone())
    }

    pub(super) fn options<'o>(
        &'o self,
        snapshot: Option<Snapshot>,
        options: &'o LoadArgs,
    ) -> (Option<Snapshot>, &'o LoadArgs) {
        let is_plain = *options == LoadArgs::default();
        (snapshot.or(self.given.snapshot), if is_plain { &self.given.roots } else { options })
    }

    /// Returns the heap of a file and loads it on the first request with these options.
    pub(super) fn heap(
        &self,
        input: &Input,
        (snapshot, options): (Option<Snapshot>, &LoadArgs),
        load: impl FnOnce() -> anyhow::Result<HeldHeap>,
    ) -> anyhow::Result<Arc<HeldHeap>> {
        let dump = self.dump(&input.path, &input.named);
        // Other requests for this heap wait here instead of loading it again.
        let mut heaps = lock(&dump.heaps);
        let is_same = |(key, _): &(HeapKey, _)| key.0 == snapshot && key.1 == *options;
        if let Some(place) = heaps.iter().position(is_same) {
            let kept = heaps.remove(place);
            let heap = Arc::clone(&kept.1);
            heaps.push(kept);
            return Ok(heap);
        }
        let heap = Arc::new(load()?);
        heaps.push(((snapshot, options.clone()), Arc::clone(&heap)));
        drop(heaps);
        self.make_room(&dump);
        Ok(heap)
    }

    pub(super) fn heaps(&self) -> Vec<Arc<HeldHeap>> {
        let dumps = lock(&self.dumps).clone();
        let heaps_of = |dump: &Arc<Dump>| {
            lock(&dump.heaps).iter().map(|(_, heap)| Arc::clone(heap)).collect::<Vec<_>>()
        };
        dumps.iter().flat_map(heaps_of).collect()
    }

    /// The profile of a file, and the damage that ended its reading.
    pub(super) fn profile(
        &self,
        input: &Input,
        (all_frames, samples): (bool, bool),
        load: impl FnOnce() -> anyhow::Result<(Arc<Profile>, Option<Error>)>,
    ) -> anyhow::Result<(Arc<Profile>, Option<Error>)> {
        let dump = self.dump(&input.path, &input.named);
        let mut kept = lock(&dump.profile);
        // A profile with samples has the same sums as one without, so it serves both.
        if let Some(((all, has_samples), profile, damage)) = &*kept
            && *all == all_frames
            && (*has_samples || !samples)
        {
            return Ok((Arc::clone(profile), damage.clone()));
        }
        let (profile, damage) = load()?;
        *kept = Some(((all_frames, samples), Arc::clone(&profile), damage.clone()));
        drop(kept);
        self.make_room(&dump);
        Ok((profile, damage))
    }

    /// Refuses a file that may not be read. Fails with a [`UsageError`] that has the path.
    pub(super) fn allow(&self, path: &Path) -> Result<(), UsageError> {
        if (self.allowed)(path) {
            Ok(())
        } else {
            Err(UsageError::new(format!("{} may not be read here", show_path(path))))
        }
    }

    /// Returns the dump at a path and makes it the most recently used one.
    fn dump(&self, path: &Path, named: &Named) -> Arc<Dump> {
        let mut dumps = lock(&self.dumps);
        let is_meant = |dump: &Arc<Dump>| dump.path == path && dump.named == *named;
        let dump = match dumps.iter().position(is_meant) {
            Some(place) => dumps.remove(place),
            None => Arc::new(Dump {
                path: path.to_owned(),
                versions: named.versions(path),
                named: named.clone(),
                input: Mutex::default(),
                heaps: Mutex::default(),
                profile: Mutex::default(),
            }),
        };
        dumps.push(Arc::clone(&dump));
        dump
    }

    /// Discards the least recently used dumps until the others fit, and then other snapshots of the
    /// dump in use. Commands that still use a discarded dump keep it until they are done.
    fn make_room(&self, used: &Arc<Dump>) {
        let mut dumps = lock(&self.dumps);
        let mut all: u64 = dumps.iter().map(|dump| dump.bytes()).fold(0, u64::saturating_add);
        while all > self.budget {
            let is_other = |dump: &Arc<Dump>| !Arc::ptr_eq(dump, used) && dump.bytes() > 0;
            let Some(place) = dumps.iter().position(is_other) else { break };
            all = all.saturating_sub(dumps.remove(place).bytes());
        }
        drop(dumps);
        // If another snapshot is being loaded, the lock is taken; its loader makes room afterwards.
        let Ok(mut heaps) = used.heaps.try_lock() else { return };
        while all > self.budget && heaps.len() > 1 {
            all = all.saturating_sub(heaps.remove(0).1.bytes());
        }
    }
}

impl Dump {
    /// The approximate memory in bytes: the heaps with their analyses, and the file if it had to be
    /// decompressed. A loaded profile takes about as much as its file. Heaps and profiles that are
    /// being loaded do not count, because their sizes are not known yet.
    fn bytes(&self) -> u64 {
        let sum = |heaps: MutexGuard<'_, Vec<(HeapKey, Arc<HeldHeap>)>>| {
            heaps.iter().map(|(_, heap)| heap.bytes()).fold(0, u64::saturating_add)
        };
        let heaps = self.heaps.try_lock().map_or(0, sum);
        let is_profile = self.profile.try_lock().is_ok_and(|profile| profile.is_some());
        let file = self.input.try_lock().map_or(0, |input| {
            input.as_ref().map_or(0, |input| {
                let copies =
                    u64::from(input.source.compression().is_some()) + u64::from(is_profile);
                copies.saturating_mul(input.bytes().len() as u64)
            })
        });
        heaps.saturating_add(file)
    }
}

impl Named {
    /// The versions of a dump and of all files that its names may be from.
    fn versions(&self, path: &Path) -> Vec<Version> {
        let version = |path: &Path| {
            let file = std::fs::metadata(path).ok()?;
            Some((file.len(), file.modified().ok()))
        };
        let beside = mapping_beside(path);
        let named = self.mapping.iter().chain(&self.source_maps).chain(&self.symbols);
        [path, &beside].into_iter().chain(named.map(PathBuf::as_path)).map(version).collect()
    }
}
