//! Roots, threads and their call frames: they keep objects alive from outside the heap.

use super::label::{Label, LabelKind};
use super::names::{NameId, Names};
use super::object::ObjectId;
use std::ops::Range;

/// The kind of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RootKind {
    /// A global variable or a segment of them.
    Global,
    /// A static field of a class.
    Static,
    /// A variable or register in a call frame.
    Frame,
    /// A thread or goroutine itself, or a field of its record.
    Thread,
    /// A finalizer, or an object that a finalizable object refers to.
    Finalizer,
    /// A deferred call.
    Defer,
    /// A panic under way.
    Panic,
    /// An object that the virtual machine holds.
    Runtime,
    /// A handle of native code.
    Native,
    /// A class that is never unloaded.
    Class,
    /// A monitor in use.
    Monitor,
    /// An object of the old generation that refers to the young one.
    Generation,
    /// An object that nothing strong refers to, but that its runtime keeps: only weak references or
    /// the virtual machine know it.
    Unowned,
    /// Another kind, or an unknown one.
    Other,
}

impl RootKind {
    /// All kinds of roots.
    pub const ALL: [Self; 14] = [
        Self::Global,
        Self::Static,
        Self::Frame,
        Self::Thread,
        Self::Finalizer,
        Self::Defer,
        Self::Panic,
        Self::Runtime,
        Self::Native,
        Self::Class,
        Self::Monitor,
        Self::Generation,
        Self::Unowned,
        Self::Other,
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Static => "static",
            Self::Frame => "frame",
            Self::Thread => "thread",
            Self::Finalizer => "finalizer",
            Self::Defer => "defer",
            Self::Panic => "panic",
            Self::Runtime => "runtime",
            Self::Native => "native",
            Self::Class => "class",
            Self::Monitor => "monitor",
            Self::Generation => "generation",
            Self::Unowned => "unowned",
            Self::Other => "other",
        }
    }
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
    /// The variable that it is a part of, if several roots may be: `main.cache`. Roots of one
    /// variable belong together.
    pub variable: Option<NameId>,
    /// Whether the root is known to be a reference: `false` for a word of a C stack that only looks
    /// like one.
    pub is_exact: bool,
}

impl Root {
    /// A root without a label of its own that belongs to no thread.
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

/// The kind of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ThreadKind {
    /// A thread.
    Thread,
    /// A goroutine, which has no name.
    Goroutine,
    /// An isolate (Dart), which has a separate heap and static fields but no frames.
    Isolate,
}

impl ThreadKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Goroutine => "goroutine",
            Self::Isolate => "isolate",
        }
    }
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
    /// The state, or the reason why it waits: `RUNNABLE`, `chan receive`. Empty if that is not
    /// known.
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
    /// The function, and where the call is.
    pub call: StackFrame,
    /// The number of the thread that ran it. `None` if unknown.
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
    /// 1-based; 0 is unknown.
    pub line: u32,
}
