//! Roots: references that keep objects alive from outside the heap.

use super::primitives::{IdSize, i4, u4};
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::{FieldSink, Record};
use crate::model::heap::RootKind;

/// A kind of roots: its tag, its names and the fields after the id of the object.
#[derive(Debug, PartialEq, Eq)]
pub struct RootTag {
    tag: u8,
    pub name: &'static str,
    /// The name for display. Follows the name of the thread, if there is one.
    pub title: &'static str,
    pub kind: RootKind,
    rest: Rest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    Handle,
    Thread,
    ThreadAndFrame,
    ThreadAndTrace,
}

const fn root(
    tag: u8,
    name: &'static str,
    title: &'static str,
    kind: RootKind,
    rest: Rest,
) -> RootTag {
    RootTag { tag, name, title, kind, rest }
}

/// The kinds of roots, those of Android last.
pub static ROOT_TAGS: [RootTag; 16] = [
    root(0xff, "root_unknown", "unknown", RootKind::Other, Rest::Nothing),
    root(0x01, "root_jni_global", "JNI global", RootKind::Native, Rest::Handle),
    root(0x02, "root_jni_local", "JNI local", RootKind::Native, Rest::ThreadAndFrame),
    root(0x03, "root_java_frame", "Java frame", RootKind::Frame, Rest::ThreadAndFrame),
    root(0x04, "root_native_stack", "native stack", RootKind::Frame, Rest::Thread),
    root(0x05, "root_sticky_class", "system class", RootKind::Class, Rest::Nothing),
    root(0x06, "root_thread_block", "thread block", RootKind::Thread, Rest::Thread),
    root(0x07, "root_monitor_used", "busy monitor", RootKind::Monitor, Rest::Nothing),
    root(0x08, "root_thread_object", "thread", RootKind::Thread, Rest::ThreadAndTrace),
    root(0x89, "root_interned_string", "interned string", RootKind::Runtime, Rest::Nothing),
    root(0x8a, "root_finalizing", "finalizing", RootKind::Finalizer, Rest::Nothing),
    root(0x8b, "root_debugger", "debugger", RootKind::Runtime, Rest::Nothing),
    root(0x8c, "root_reference_cleanup", "reference cleanup", RootKind::Runtime, Rest::Nothing),
    root(0x8d, "root_vm_internal", "VM internal", RootKind::Runtime, Rest::Nothing),
    root(0x8e, "root_jni_monitor", "JNI monitor", RootKind::Monitor, Rest::ThreadAndFrame),
    root(0x90, "root_unreachable", "unreachable", RootKind::Other, Rest::Nothing),
];

/// A root and the object that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Position of its kind in [`ROOT_TAGS`].
    index: u8,
    /// The id of the object that the root keeps alive.
    pub object: u64,
    handle: u64,
    thread: u32,
    /// The index of the frame, or the serial of the trace, depending on the kind.
    last: i32,
}

impl Root {
    /// Reads a root after its tag. `None` if the tag is not that of a root.
    pub(super) fn read(tag: u8, cursor: &mut Cursor<'_>, ids: IdSize) -> Result<Option<Self>> {
        let Some((index, kind)) = (0..).zip(&ROOT_TAGS).find(|(_, kind)| kind.tag == tag) else {
            return Ok(None);
        };
        let object = ids.read(cursor, "the object of a root")?;
        let mut root = Self { index, object, handle: 0, thread: 0, last: -1 };
        match kind.rest {
            Rest::Nothing => {}
            Rest::Handle => root.handle = ids.read(cursor, "the handle of a root")?,
            Rest::Thread => root.thread = u4(cursor, "the thread of a root")?,
            Rest::ThreadAndFrame | Rest::ThreadAndTrace => {
                root.thread = u4(cursor, "the thread of a root")?;
                root.last = i4(cursor, "the frame of a root")?;
            }
        }
        Ok(Some(root))
    }

    /// The kind of the root.
    pub fn tag(&self) -> &'static RootTag {
        ROOT_TAGS.get(self.index()).unwrap_or(&ROOT_TAGS[0])
    }

    /// Position of its kind in [`ROOT_TAGS`].
    pub(super) fn index(&self) -> usize {
        self.index.into()
    }

    pub fn thread(&self) -> Option<u32> {
        matches!(self.tag().rest, Rest::Thread | Rest::ThreadAndFrame | Rest::ThreadAndTrace)
            .then_some(self.thread)
    }

    /// Its frame, counted from the innermost one of its thread.
    pub fn frame(&self) -> Option<u32> {
        (self.tag().rest == Rest::ThreadAndFrame)
            .then_some(self.last)
            .and_then(|frame| frame.try_into().ok())
    }

    /// Serial of the stack, if it is the root of a thread object.
    pub fn trace(&self) -> Option<u32> {
        (self.tag().rest == Rest::ThreadAndTrace).then_some(self.last as u32)
    }
}

impl Record for Root {
    fn name(&self) -> &'static str {
        self.tag().name
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        sink.address("object", self.object);
        match self.tag().rest {
            Rest::Nothing => {}
            Rest::Handle => sink.address("handle", self.handle),
            Rest::Thread => sink.unsigned("thread", self.thread.into()),
            Rest::ThreadAndFrame => {
                sink.unsigned("thread", self.thread.into());
                sink.signed("frame", self.last.into());
            }
            Rest::ThreadAndTrace => {
                sink.unsigned("thread", self.thread.into());
                sink.unsigned("trace", (self.last as u32).into());
            }
        }
    }
}
