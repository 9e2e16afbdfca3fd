//! Roots, threads and their call frames: they keep objects alive from outside the heap.

use super::label::{Label, LabelKind};
use super::named::named;
use super::names::{NameId, Names};
use super::object::ObjectId;
use std::ops::Range;

named! {
    /// The kind of a root.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum RootKind {
        /// A global variable or a segment of them.
        Global = "global",
        /// A static field of a class.
        Static = "static",
        /// A variable or register in a call frame.
        Frame = "frame",
        /// A thread or goroutine itself, or a field of its record.
        Thread = "thread",
        /// A finalizer, or an object that a finalizable object refers to.
        Finalizer = "finalizer",
        /// A deferred call.
        Defer = "defer",
        /// A panic under way.
        Panic = "panic",
        /// An object that the virtual machine holds.
        Runtime = "runtime",
        /// A handle of native code.
        Native = "native",
        /// A class that is never unloaded.
        Class = "class",
        /// A monitor in use.
        Monitor = "monitor",
        /// An object of the old generation that refers to the young one.
        Generation = "generation",
        /// An object that nothing strong refers to, but that its runtime keeps: only weak references or
        /// the virtual machine know it.
        Unowned = "unowned",
        /// Another kind, or an unknown one.
        Other = "other",
    }
    /// The name in JSON.
    pub fn name
}

/// Something outside the heap that keeps an object alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The object that is kept alive.
    pub object: ObjectId,
    /// The kind of the root.
    pub kind: RootKind,
    /// The group of the root: `data`, `goroutine 17 [chan receive] main.worker`, `Permanent Roots`.
    pub group: NameId,
    /// The name, index or offset of the root in its group.
    pub label: Label,
    /// The call frame that it belongs to: a row of [`super::heap::Heap::frames`].
    pub frame: Option<u32>,
    /// The thread that it belongs to, with or without a frame: a row of
    /// [`super::heap::Heap::threads`].
    pub thread: Option<u32>,
    /// The variable that contains the root, if it may contain several: `main.cache`. Roots of one
    /// variable belong together.
    pub variable: Option<NameId>,
    /// Whether the root is known to be a reference: `false` for a word of a C stack that only looks
    /// like one.
    pub is_exact: bool,
}

impl Root {
    /// Creates a root without a label that belongs to no thread.
    pub fn new(object: ObjectId, kind: RootKind, group: NameId) -> Self {
        let label = Label::NONE;
        let (frame, thread, variable) = (None, None, None);
        Self { object, kind, group, label, frame, thread, variable, is_exact: true }
    }

    /// The display text: `data +0x1c0`, `Thread Roots: lang_hash`.
    pub fn text(&self, names: &Names) -> String {
        let (group, label) = (names.text(self.group), self.label.text(names));
        match (group.is_empty(), self.label.kind()) {
            (_, LabelKind::None) => group.to_owned(),
            (true, _) => label.into_owned(),
            (false, LabelKind::Field(_)) => format!("{group}: {label}"),
            (false, _) => format!("{group} {label}"),
        }
    }
}

named! {
    /// The kind of a thread.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum ThreadKind {
        /// A thread.
        Thread = "thread",
        /// A goroutine, which has no name.
        Goroutine = "goroutine",
        /// An isolate (Dart), which has a separate heap and static fields but no frames.
        Isolate = "isolate",
    }
    /// The name in JSON.
    pub fn name
}

/// A thread, goroutine or isolate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The kind.
    pub kind: ThreadKind,
    /// The thread's own name, or `goroutine 17 [chan receive]`.
    pub name: NameId,
    /// The number of the thread in its runtime.
    pub id: u64,
    /// The state, or the reason why the thread waits: `RUNNABLE`, `chan receive`. Empty if unknown.
    pub state: NameId,
    /// The minimum time that the thread has waited, in microseconds. `None` if unknown.
    pub wait_us: Option<u64>,
    /// The object of the thread, if there is one.
    pub object: Option<ObjectId>,
    /// The call frames, innermost first: rows of [`super::heap::Heap::frames`].
    pub frames: Range<u32>,
    /// The call that started the thread. `None` if unknown.
    pub created_by: Option<Creation>,
}

/// The call that started a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    /// The function that was running, and the location of the call.
    pub call: StackFrame,
    /// The number of the thread that made the call. `None` if unknown.
    pub thread: Option<u64>,
}

impl Thread {
    /// The display text: `goroutine 17 [chan receive]`, `thread main`, `isolate main`.
    pub fn text(&self, names: &Names) -> String {
        match self.kind {
            ThreadKind::Goroutine => names.text(self.name).to_owned(),
            kind => format!("{} {}", kind.name(), names.text(self.name)),
        }
    }
}

/// A call frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackFrame {
    /// The name of the function.
    pub function: NameId,
    /// The source file of the function; empty if unknown.
    pub file: NameId,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
}
