//! The names and frames that the keys of a MOJO file refer to.
//!
//! Keys are pointers of the profiled process, so they mean something only together with the process
//! of the last STACK: two processes use the same keys for different things. They are defined again
//! when memory is reused, and a frame binds its names when it is defined, not when it is referred
//! to.
//!
//! The user of the keys decides how to keep names and frames: as text, or as rows of a profile.

use rustc_hash::FxHashMap;

/// The definitions met so far: names `N` and frames `F`.
#[derive(Debug)]
pub(super) struct Keys<N, F> {
    /// The first one holds what was defined before any STACK.
    processes: Vec<Process<N, F>>,
    by_pid: FxHashMap<i128, u32>,
    current: usize,
    /// The latest definition of a key in any process.
    last: Process<N, F>,
}

#[derive(Debug)]
struct Process<N, F> {
    strings: FxHashMap<u64, N>,
    frames: FxHashMap<u64, F>,
}

impl<N, F> Default for Process<N, F> {
    fn default() -> Self {
        Self { strings: FxHashMap::default(), frames: FxHashMap::default() }
    }
}

impl<N, F> Default for Keys<N, F> {
    fn default() -> Self {
        Self {
            processes: vec![Process::default()],
            by_pid: FxHashMap::default(),
            current: 0,
            last: Process::default(),
        }
    }
}

/// The placeholder for an undefined name.
pub(super) const UNRESOLVED: &[u8] = b"<unresolved>";
pub(super) const UNKNOWN: &[u8] = b"<unknown>";

/// The name of a key that is defined nowhere: key 0 is empty and key 1 is `<unknown>`.
pub(super) fn undefined(key: u64) -> &'static [u8] {
    match key {
        0 => b"",
        1 => UNKNOWN,
        _ => UNRESOLVED,
    }
}

impl<N: Copy, F: Copy> Keys<N, F> {
    #[inline]
    pub(super) fn process(&mut self, pid: i128) -> u32 {
        *self.by_pid.entry(pid).or_insert_with(|| {
            let number = self.processes.len() as u32;
            self.processes.push(Process::default());
            number
        })
    }

    /// A STACK of this process begins: it is the scope of what follows.
    #[inline]
    pub(super) fn enter(&mut self, process: u32) {
        self.current = process as usize;
    }

    /// Defines a string for the current process.
    pub(super) fn define_string(&mut self, key: u64, name: N) {
        self.last.strings.insert(key, name);
        if let Some(process) = self.processes.get_mut(self.current) {
            process.strings.insert(key, name);
        }
    }

    /// Defines a frame for the current process, and gives what the key meant there before.
    pub(super) fn define_frame(&mut self, key: u64, frame: F) -> Option<F> {
        self.last.frames.insert(key, frame);
        self.processes.get_mut(self.current)?.frames.insert(key, frame)
    }

    /// The string that the current process defined.
    pub(super) fn string(&self, key: u64) -> Option<N> {
        self.processes.get(self.current)?.strings.get(&key).copied()
    }

    /// The frame that the current process defined.
    #[inline]
    pub(super) fn frame(&self, key: u64) -> Option<F> {
        self.processes.get(self.current)?.frames.get(&key).copied()
    }

    /// A string that the current process did not define. First those defined before any STACK
    /// (austinp 3.4.0), then the latest one of any process: mojo-compress defines everything once,
    /// under the first process.
    pub(super) fn string_elsewhere(&self, key: u64) -> Option<N> {
        let before_any_stack = self.processes.first()?.strings.get(&key);
        before_any_stack.or_else(|| self.last.strings.get(&key)).copied()
    }

    /// Like [`Self::string_elsewhere`], for a frame.
    pub(super) fn frame_elsewhere(&self, key: u64) -> Option<F> {
        let before_any_stack = self.processes.first()?.frames.get(&key);
        before_any_stack.or_else(|| self.last.frames.get(&key)).copied()
    }

    /// Distinct processes that had a STACK.
    pub(super) fn process_count(&self) -> u64 {
        self.by_pid.len() as u64
    }

    /// Distinct frames: keys of each process.
    pub(super) fn frame_count(&self) -> u64 {
        self.processes.iter().map(|process| process.frames.len() as u64).sum()
    }

    /// Distinct strings: keys of each process.
    pub(super) fn string_count(&self) -> u64 {
        self.processes.iter().map(|process| process.strings.len() as u64).sum()
    }
}
