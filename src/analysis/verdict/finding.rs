//! The facts about an owner that holds a large part of a heap.

use crate::model::heap::{ObjectId, ThreadKind, TypeId};

/// An owner of a large part of the live heap.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The kind of owner.
    pub kind: SuspectKind,
    /// Bytes that would be freed with the owner.
    pub bytes: u64,
    /// The objects in which the memory accumulates.
    pub what: What,
    /// The number of these objects.
    pub count: u64,
    /// The places that hold the objects, those that hold most first.
    pub holders: Vec<Holder>,
    /// Retained bytes of one of the objects.
    pub each: EachSize,
    /// The type of the program's objects that each object holds, unless it is their own type.
    pub with: Option<TypeId>,
    /// The suspended call that holds the objects, or the function whose closures they are:
    /// `local rows of load (views.py:5) in the traceback of ValueError`.
    pub via: Option<String>,
    /// The threads that hold the objects, as rows of
    /// [`Heap::threads`](crate::model::heap::Heap::threads).
    pub threads: Vec<u32>,
    /// The types that take most of the memory, by their own bytes.
    pub consists_of: Vec<Portion>,
    /// The largest of the objects.
    pub example: ObjectId,
    /// Whether the owner belongs to the runtime and not to the program.
    pub is_runtime: bool,
}

/// The kind of owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SuspectKind {
    /// A collection with many entries.
    Collection,
    /// Many objects of one type that no single object holds.
    Many,
    /// Threads, with their stacks or thread-local variables.
    Threads,
    /// Class loaders with their classes.
    Loaders,
    /// Objects that hold each other in a row.
    Chain,
    /// Objects that hold each other in a tree.
    Tree,
    /// Timers.
    Timers,
    /// Tasks that wait for a thread.
    Tasks,
    /// Functions with the variables that they use.
    Closures,
    /// DOM nodes that are not attached to a document.
    Detached,
    /// Texts that keep larger texts alive.
    Slices,
    /// Memory outside of the managed heap.
    External,
    /// Objects that wait for their finalizers.
    Finalizers,
    /// Keys of a hash table with equal hashes.
    Collisions,
    /// Objects that no root reaches in a runtime that counts references: a leak.
    Leaked,
    /// Objects in cycles that no root reaches, which the collector has not yet freed.
    Cycles,
    /// A single object that is large itself.
    Large,
    /// A single object that holds different things.
    Single,
}

impl SuspectKind {
    /// All kinds.
    pub const ALL: [Self; 18] = [
        Self::Collection,
        Self::Many,
        Self::Threads,
        Self::Loaders,
        Self::Chain,
        Self::Tree,
        Self::Timers,
        Self::Tasks,
        Self::Closures,
        Self::Detached,
        Self::Slices,
        Self::External,
        Self::Finalizers,
        Self::Collisions,
        Self::Leaked,
        Self::Cycles,
        Self::Large,
        Self::Single,
    ];

    /// Whether no root reaches the objects, so that they are not among the live ones.
    pub fn is_unreached(self) -> bool {
        matches!(self, Self::Leaked | Self::Cycles)
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::Many => "many",
            Self::Threads => "threads",
            Self::Loaders => "loaders",
            Self::Chain => "chain",
            Self::Tree => "tree",
            Self::Timers => "timers",
            Self::Tasks => "tasks",
            Self::Closures => "closures",
            Self::Detached => "detached",
            Self::Slices => "slices",
            Self::External => "external",
            Self::Finalizers => "finalizers",
            Self::Collisions => "collisions",
            Self::Leaked => "leaked",
            Self::Cycles => "cycles",
            Self::Large => "large",
            Self::Single => "single",
        }
    }
}

/// The objects that a finding is about.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Objects of a type, with the element type that an array declares if that is more informative.
    Objects(TypeId, Option<String>),
    /// Threads with one stack, and the type of their objects.
    Threads(ThreadKind, Option<TypeId>),
}

/// The end of a label that represents several places with names of their own.
pub const AND_OTHERS: &str = " and others";

/// A place that holds objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Holder {
    /// The name of the place in the program: `app.Cache.ENTRIES`. Empty if it has none.
    pub label: String,
    /// The collection, or the object that holds the objects, if it is one.
    pub object: Option<ObjectId>,
    /// The word for the collection: `map`.
    pub noun: &'static str,
    /// The number of entries that the collection states, or that were counted.
    pub entries: Option<u64>,
}

impl Holder {
    /// Whether a name or an object is known.
    pub(super) fn is_known(&self) -> bool {
        !self.label.is_empty() || self.object.is_some()
    }
}

/// The sizes of several objects, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EachSize {
    /// The smallest.
    pub min: u64,
    /// The middle one.
    pub median: u64,
    /// The largest.
    pub max: u64,
}

/// The objects of one type in a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portion {
    /// The type.
    pub of: TypeId,
    /// The number of objects.
    pub count: u64,
    /// Their own bytes.
    pub bytes: u64,
}
