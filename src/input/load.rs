//! Loading a heap or a profile: how, and what comes of it.

use super::Progress;
use crate::error::Error;
use crate::model::heap::Heap;
use crate::model::profile::Profile;

/// Which words of call frames count as pointers (Go).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootScan {
    /// Those that the dump lists.
    Precise,
    /// Those, and all words of a frame that a live word points into: variables whose address was taken are not listed.
    #[default]
    Default,
    /// All words of all frames.
    Conservative,
}

/// Which snapshot of a file with several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotChoice {
    /// The last complete one.
    #[default]
    Last,
    /// This one, from 0.
    Number(u64),
}

/// How to load.
#[derive(Clone, Copy)]
pub struct LoadOptions<'a> {
    /// Which snapshot.
    pub snapshot: SnapshotChoice,
    /// Which words of call frames count as pointers.
    pub roots: RootScan,
    /// Told how far the reader is.
    pub progress: Progress<'a>,
}

impl Default for LoadOptions<'_> {
    fn default() -> Self {
        Self { snapshot: SnapshotChoice::default(), roots: RootScan::default(), progress: &|_| {} }
    }
}

/// A heap, and what there is to say of the loading.
pub struct Loaded<'a> {
    /// What could be loaded.
    pub heap: Heap<'a>,
    /// What ended the reading early.
    pub damage: Option<Error>,
    /// The number of the snapshot.
    pub snapshot: u64,
}

/// How to load a profile.
#[derive(Clone, Copy)]
pub struct ProfileOptions<'a> {
    /// Keep every sample, and not only sums. Takes 12 to 16 bytes for each.
    pub keep_samples: bool,
    /// Told how far the reader is.
    pub progress: Progress<'a>,
}

impl Default for ProfileOptions<'_> {
    fn default() -> Self {
        Self { keep_samples: false, progress: &|_| {} }
    }
}

/// A profile, and what there is to say of the loading.
pub struct LoadedProfile {
    /// What could be loaded.
    pub profile: Profile,
    /// What ended the reading early.
    pub damage: Option<Error>,
}
