//! Detects whether the stacks of parked virtual threads are missing.
//!
//! The stack of a parked virtual thread is an object, a `jdk.internal.vm.StackChunk`, whose
//! contents are not in the dump. JDK 25 writes such a stack as that of a thread whose object is the
//! `java.lang.VirtualThread`, with a root for each local variable. JDK 21 writes neither, so that
//! nothing in the file refers to objects that only those stacks hold.

use super::objects::Object;
use super::roots::Root;
use rustc_hash::FxHashSet;

/// Collects the evidence while the records of a file are read.
#[derive(Debug, Default)]
pub(super) struct VirtualThreads {
    chunk: Class,
    thread: Class,
    has_chunks: bool,
    threads: Vec<u64>,
}

/// A class that is searched by name. Both ids are 0 until found.
#[derive(Debug, Default)]
struct Class {
    name: u64,
    id: u64,
}

impl VirtualThreads {
    pub(super) fn see_string(&mut self, id: u64, text: &[u8]) {
        match text {
            b"jdk/internal/vm/StackChunk" => self.chunk.name = id,
            b"java/lang/VirtualThread" => self.thread.name = id,
            _ => {}
        }
    }

    /// Adds the next loaded class. Strings and classes come before objects in dumps of HotSpot.
    pub(super) fn see_class(&mut self, id: u64, name: u64) {
        for class in [&mut self.chunk, &mut self.thread] {
            if class.name == name && name != 0 && class.id == 0 {
                class.id = id;
            }
        }
    }

    /// Adds the next object.
    #[inline]
    pub(super) fn see(&mut self, object: &Object<'_>) {
        let Object::Instance(instance) = object else { return };
        if instance.class == self.thread.id && instance.class != 0 {
            self.threads.push(instance.id);
        }
        self.has_chunks |= instance.class == self.chunk.id;
    }

    /// Returns a copy with the classes found so far, but without instances.
    pub(super) fn classes(&self) -> Self {
        let again = |class: &Class| Class { ..*class };
        Self { chunk: again(&self.chunk), thread: again(&self.thread), ..Self::default() }
    }

    /// Adds the instances of a later part of the file.
    pub(super) fn append(&mut self, part: Self) {
        self.has_chunks |= part.has_chunks;
        self.threads.extend(part.threads);
    }

    /// Whether there are stacks of virtual threads, and no virtual thread has a root.
    pub(super) fn lack_stacks<'r>(&self, roots: impl IntoIterator<Item = &'r Root>) -> bool {
        if self.chunk.id == 0 || !self.has_chunks || self.threads.is_empty() {
            return false;
        }
        let rooted: FxHashSet<u64> = roots
            .into_iter()
            .filter(|root| root.trace().is_some())
            .map(|root| root.object)
            .collect();
        !self.threads.iter().any(|thread| rooted.contains(thread))
    }
}
