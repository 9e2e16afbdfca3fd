//! Dumps that stay open between commands: a loaded dump answers the command lines of the program.
//!
//! [`Resident::answer`] takes the words of a command line, runs the same code as the process would,
//! and returns what it would print. Only the loading differs: a dump is read once and its analyses
//! are kept.

mod held;
#[cfg(test)]
mod tests;

pub(crate) use held::{Analyses, HeldHeap};

use super::args::{Cli, Command, LoadArgs, ObjectsArg, OutputFormat, Snapshot};
use super::heap::histogram::histogram;
use super::open::Input;
use super::session::{Output, Session};
use super::status::{self, Status, UsageError};
use super::terminal::show_path;
use crate::analysis::glob::TypeFilter;
use crate::error::Error;
use crate::input::Format;
use crate::model::profile::Profile;
use clap::Parser;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Open dumps, the most recently used last.
pub(crate) struct Resident {
    /// Returns whether commands may read a file.
    allowed: Box<dyn Fn(&Path) -> bool + Send + Sync>,
    /// Bytes that all dumps together may take. The one that is in use may take more.
    budget: u64,
    given: Given,
    dumps: Mutex<Vec<Arc<Dump>>>,
}

/// Options that hold for all commands which do not have them.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) roots: LoadArgs,
    pub(crate) from: Option<Format>,
    pub(crate) max_memory: Option<u64>,
}

/// The output of a command.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: Status,
    /// The result, which the process would write to standard output.
    pub(crate) result: Vec<u8>,
    /// Warnings and errors, which it would write to standard error.
    pub(crate) messages: String,
}

/// An open file.
struct Dump {
    path: PathBuf,
    version: Version,
    input: Mutex<Option<Input>>,
    /// With the options that they were loaded with.
    heaps: Mutex<Vec<(HeapKey, Arc<HeldHeap>)>>,
    /// With the damage that ended the reading.
    profile: Mutex<Option<(Arc<Profile>, Option<Error>)>>,
}

/// The length of a file and when it was last written. `None` if the system does not tell.
type Version = Option<(u64, Option<SystemTime>)>;

type HeapKey = (Option<Snapshot>, LoadArgs);

impl Resident {
    /// Opens nothing yet. `allowed` tells which files commands may read.
    pub(crate) fn new(
        given: Given,
        allowed: impl Fn(&Path) -> bool + Send + Sync + 'static,
        budget: u64,
    ) -> Arc<Self> {
        Arc::new(Self { allowed: Box::new(allowed), budget, given, dumps: Mutex::default() })
    }

    /// Runs a command: `["top", "app.hprof", "--format", "json"]`. Several threads may ask at once.
    ///
    /// Only commands that show something can be asked; the others, and wrong arguments, are answered
    /// with [`Status::Usage`]. The answer is the same whoever asked before.
    pub(crate) fn answer<W: Into<OsString>>(
        self: &Arc<Self>,
        words: impl IntoIterator<Item = W>,
    ) -> Answer {
        let words = ["dumptool".into()].into_iter().chain(words.into_iter().map(Into::into));
        let Cli { command, mut common } = match Cli::try_parse_from(words) {
            Ok(cli) => cli,
            Err(error) => return Answer::usage(error.to_string()),
        };
        if !command.only_shows() || common.format == OutputFormat::Github {
            return Answer::usage("error: this command writes files and cannot be asked\n".into());
        }
        common.from = common.from.or(self.given.from);
        common.max_memory = common.max_memory.or(self.given.max_memory);
        run(&command, Session::kept(common, Some(Arc::clone(self))))
    }

    /// The file at a path, which is opened the first time.
    pub(super) fn input(
        &self,
        path: &Path,
        open: impl FnOnce() -> Result<Input, status::InputError>,
    ) -> anyhow::Result<Input> {
        self.allow(path)?;
        let dump = self.dump(path);
        let mut kept = lock(&dump.input);
        if let Some(input) = &*kept {
            return Ok(input.clone());
        }
        let input = kept.insert(open()?).clone();
        drop(kept);
        self.make_room(&dump);
        Ok(input)
    }

    /// Forgets the dumps whose files have been written since they were opened.
    pub(super) fn forget_changed(&self) {
        lock(&self.dumps).retain(|dump| dump.version == version(&dump.path));
    }

    /// The options to load a heap with.
    pub(super) fn options<'o>(
        &'o self,
        snapshot: Option<Snapshot>,
        options: &'o LoadArgs,
    ) -> (Option<Snapshot>, &'o LoadArgs) {
        let is_plain = *options == LoadArgs::default();
        (snapshot.or(self.given.snapshot), if is_plain { &self.given.roots } else { options })
    }

    /// The heap of a file, which is loaded the first time that it is requested with these options.
    pub(super) fn heap(
        &self,
        path: &Path,
        (snapshot, options): (Option<Snapshot>, &LoadArgs),
        load: impl FnOnce() -> anyhow::Result<HeldHeap>,
    ) -> anyhow::Result<Arc<HeldHeap>> {
        let dump = self.dump(path);
        // Who asks meanwhile waits for this one instead of loading another one.
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

    /// Computes for the loaded heaps what first looks at them need. Returns the ids of the objects
    /// above most others in the heap that was used last, at most so many.
    pub(super) fn prepare(&self, heads: usize) -> Vec<String> {
        let mut ids = Vec::new();
        let dumps = lock(&self.dumps).clone();
        let heaps = dumps.iter().flat_map(|dump| lock(&dump.heaps).clone());
        for (_, heap) in heaps {
            heap.get().prepare(|loaded, by| {
                // What cannot be grouped in this way is refused when it is asked for.
                let all = TypeFilter::default();
                drop(histogram(loaded, by, ObjectsArg::Live, &all, heap.input()));
            });
            let loaded = heap.get();
            ids = loaded.heads(heads).into_iter().map(|head| loaded.heap.id(head)).collect();
        }
        ids
    }

    /// The profile of a file, and the damage that ended its reading.
    pub(super) fn profile(
        &self,
        path: &Path,
        load: impl FnOnce() -> anyhow::Result<(Arc<Profile>, Option<Error>)>,
    ) -> anyhow::Result<(Arc<Profile>, Option<Error>)> {
        let dump = self.dump(path);
        let mut kept = lock(&dump.profile);
        if let Some(profile) = &*kept {
            return Ok(profile.clone());
        }
        let profile = kept.insert(load()?).clone();
        drop(kept);
        self.make_room(&dump);
        Ok(profile)
    }

    /// Refuses a file that may not be read.
    ///
    /// # Errors
    /// A [`UsageError`] with the path.
    pub(super) fn allow(&self, path: &Path) -> Result<(), UsageError> {
        match (self.allowed)(path) {
            true => Ok(()),
            false => Err(UsageError::new(format!("{} may not be read here", show_path(path)))),
        }
    }

    /// The dump at a path, which becomes the most recently used one.
    fn dump(&self, path: &Path) -> Arc<Dump> {
        let mut dumps = lock(&self.dumps);
        let dump = match dumps.iter().position(|dump| dump.path == path) {
            Some(place) => dumps.remove(place),
            None => Arc::new(Dump {
                path: path.to_owned(),
                version: version(path),
                input: Mutex::default(),
                heaps: Mutex::default(),
                profile: Mutex::default(),
            }),
        };
        dumps.push(Arc::clone(&dump));
        dump
    }

    /// Forgets the dumps that were not used for longest until the others fit, and then other
    /// snapshots of the dump in use. Commands that still use one of them keep it until they are done.
    fn make_room(&self, used: &Arc<Dump>) {
        let mut dumps = lock(&self.dumps);
        let mut all: u64 = dumps.iter().map(|dump| dump.bytes()).fold(0, u64::saturating_add);
        while all > self.budget {
            let is_other = |dump: &Arc<Dump>| !Arc::ptr_eq(dump, used) && dump.bytes() > 0;
            let Some(place) = dumps.iter().position(is_other) else { break };
            all = all.saturating_sub(dumps.remove(place).bytes());
        }
        drop(dumps);
        // Who loads another one of them makes room when it is done.
        let Ok(mut heaps) = used.heaps.try_lock() else { return };
        while all > self.budget && heaps.len() > 1 {
            all = all.saturating_sub(heaps.remove(0).1.bytes());
        }
    }
}

/// Runs a command whose result and messages are kept.
fn run(command: &Command, session: Session) -> Answer {
    // A panic is a defect of one command. It must not end the program that answers others.
    let run = || super::run(command, &session);
    let status = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(done) => done.unwrap_or_else(|error| status::report(&error, &session.terminal)),
        Err(_) => {
            session.terminal.tell("error:", "the command failed because of a defect");
            Status::Unwritable
        }
    };
    let status = match status {
        Status::Damaged if session.common.lenient => Status::Done,
        status => status,
    };
    let messages = session.terminal.told();
    let result = match session.output {
        Output::Kept(kept) => kept.into_inner().unwrap_or_else(PoisonError::into_inner),
        Output::Stdout => Vec::new(),
    };
    Answer { status, result, messages }
}

impl Dump {
    /// About the bytes of memory that it takes: its heaps with their analyses, and the file if it
    /// had to be decompressed. A loaded profile takes about as much as its file. What is being
    /// loaded does not count: its bytes are not known yet.
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

fn version(path: &Path) -> Version {
    let file = std::fs::metadata(path).ok()?;
    Some((file.len(), file.modified().ok()))
}

impl Answer {
    fn usage(messages: String) -> Self {
        Self { status: Status::Usage, result: Vec::new(), messages }
    }
}

impl Command {
    /// Whether the command only shows something about dumps.
    fn only_shows(&self) -> bool {
        match self {
            Self::Info(_)
            | Self::Top(_)
            | Self::Tree(_)
            | Self::Path(_)
            | Self::Show(_)
            | Self::Find(_)
            | Self::Diff(_)
            | Self::Growth(_)
            | Self::Check(_)
            | Self::Threads(_)
            | Self::Waste(_)
            | Self::Formats => true,
            Self::Cat(_)
            | Self::Query(_)
            | Self::Report(_)
            | Self::Serve(_)
            | Self::Mcp(_)
            | Self::Convert(_)
            | Self::Completions(_)
            | Self::Man => false,
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
