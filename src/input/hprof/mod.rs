//! Java heap dumps and profiles (`hprof`): versions 1.0.1 and 1.0.2 of the JDK, and 1.0.3 of
//! Android.
//!
//! ```text
//! file   = "JAVA PROFILE 1.0.N\0", u4 size of an id (4 or 8), u8 milliseconds since 1970, record*
//! record = u1 tag, u4 microseconds since the header's time, u4 length of the body, body
//! id     = an unsigned number of the header's size; all numbers are big-endian
//! ```
//!
//! | tag | record | body |
//! |---|---|---|
//! | 01 | utf8 | id, the rest is the text |
//! | 02 | load class | u4 serial, id class, u4 trace, id name |
//! | 03 | unload class | u4 serial |
//! | 04 | frame | id, id method, id signature, id source file, u4 class serial, i4 line |
//! | 05 | trace | u4 serial, u4 thread, u4 n, n id frame (innermost first) |
//! | 06 | alloc sites | u2 flags, u4 cutoff, u4 live bytes, u4 live instances, u8 bytes, u8 instances, u4 n, n 25 bytes |
//! | 07 | heap summary | u4 live bytes, u4 live instances, u8 bytes, u8 instances |
//! | 0a | start thread | u4 serial, id object, u4 trace, id name, id group, id parent group |
//! | 0b | end thread | u4 serial |
//! | 0c | heap dump | heap records (1.0.1) |
//! | 0d | cpu samples | u4 samples, u4 n, n { u4 samples, u4 trace } |
//! | 0e | control settings | u4 flags, u2 depth |
//! | 1c | heap dump segment | heap records (1.0.2), any number of segments in a row |
//! | 2c | heap dump end | empty; ends a row of segments |
//!
//! Heap records have a tag and no length:
//!
//! | tag | record | fields |
//! |---|---|---|
//! | ff, 05, 07 | root: unknown, sticky class, monitor used | id |
//! | 01 | root: JNI global | id, id of the handle |
//! | 02, 03 | root: JNI local, Java frame | id, u4 thread serial, i4 index in the thread's trace (-1: none) |
//! | 04, 06 | root: native stack, thread block | id, u4 thread serial |
//! | 08 | root: thread object | id, u4 thread serial, u4 trace |
//! | 20 | class dump | id, u4 trace, id super, id loader, id signers, id domain, id 0, id 0, u4 instance size, constants, statics, fields |
//! | 21 | instance dump | id, u4 trace, id class, u4 n, n bytes: fields of the class in its order, then those of its superclass, and so on |
//! | 22 | object array | id, u4 trace, u4 n, id array class, n id |
//! | 23 | primitive array | id, u4 trace, u4 n, u1 type, n elements |
//! | 89 to 8d, 90 | root (Android): interned string, finalizing, debugger, reference cleanup, VM internal, unreachable | id |
//! | 8e | root (Android): JNI monitor | id, u4 thread serial, i4 frame |
//! | fe | heap info (Android) | u4 heap, id name |
//! | c3 | primitive array without data (Android) | id, u4 trace, u4 n, u1 type |
//!
//! constants = u2 n, n { u2 index, u1 type, value };  statics = u2 n, n { id name, u1 type, value
//! }; fields = u2 n, n { id name, u1 type }, without those of the superclass. Types: 2 object, 4
//! boolean, 5 char, 6 float, 7 double, 8 byte, 9 short, 10 int, 11 long.
//!
//! The only mark of the end of a file is the end of the last row of segments. The size of an object
//! in the virtual machine is not in the file: see [`sizes`].
//!
//! Sources: `hotspot/share/services/heapDumper.cpp` of OpenJDK 17 and the comment at its top, the
//! readers of Eclipse MAT (26cff26) and VisualVM (518dd1f), `HprofRecordTag` of LeakCanary's shark
//! (0f7dbab) for Android's records, and dumps of OpenJDK 17. Android's records are known from its
//! readers only.

mod annotate;
mod class_cache;
pub mod classes;
mod direct;
mod fields;
pub mod header;
mod hidden;
pub mod histogram;
mod inference;
pub mod invariants;
mod labels;
pub mod layout;
pub mod load;
mod members;
pub mod naming;
mod neighbours;
pub mod objects;
mod omitted;
mod positions;
pub mod primitives;
pub mod profile;
pub mod records;
mod renaming;
pub mod roots;
mod rows;
mod scan;
mod segments;
mod shapes;
mod sites;
pub mod sizes;
pub mod statistics;
pub mod summary;
pub mod symbols;
mod thread_states;
pub mod threads;
mod types;
pub mod values;
mod virtual_threads;

use crate::input::origin::Provenance;
use crate::input::spec::{
    Detection, Format, FormatSpec, HeapReader, Identity, Origin, ProfileReader, Readers,
};
use crate::model::roles::{Role, Roles};
use Role::{
    Closure, Collection, Collided, Finalizer, Inside, Passage, Runtime, Task, Thread, ThreadLocal,
    Timer,
};

pub use annotate::for_each_record;
pub use histogram::histogram;
pub use invariants::check;
pub use load::load;
pub use profile::{kind, load_profile};
pub use records::{HeapRec, Rec, Records};

/// Reads the origin from the header.
pub(super) fn origin(bytes: &[u8]) -> Provenance {
    Records::new(bytes).map(|records| records.header().origin()).unwrap_or_default()
}

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Hprof,
    name: "hprof",
    title: "Java heap dump (hprof)",
    versions: "1.0.1, 1.0.2, 1.0.3 (Android)",
    extensions: &["hprof"],
    detection: Detection::Magics(&[
        b"JAVA PROFILE 1.0.1\0",
        b"JAVA PROFILE 1.0.2\0",
        b"JAVA PROFILE 1.0.3\0",
    ]),
    origin: Origin::Read(origin),
    record_names: &[records::Body::NAMES, HEAP_RECORD_NAMES],
    info: summary::info,
    check,
    readers: Readers::Both {
        heap: HeapReader {
            load,
            histogram,
            least_bytes: (4, 1),
            roles: ROLES,
            identity: Identity::Nothing,
        },
        profile: ProfileReader { load: load_profile, has_order: false },
        kind,
    },
};

const HEAP_RECORD_NAMES: &[&str] = &[
    "root_unknown",
    "root_jni_global",
    "root_jni_local",
    "root_java_frame",
    "root_native_stack",
    "root_sticky_class",
    "root_thread_block",
    "root_monitor_used",
    "root_thread_object",
    "class_dump",
    "instance_dump",
    "object_array",
    "primitive_array",
    "root_interned_string",
    "root_finalizing",
    "root_debugger",
    "root_reference_cleanup",
    "root_vm_internal",
    "root_jni_monitor",
    "root_unreachable",
    "heap_info",
    "primitive_array_no_data",
];

/// The roles of the classes of a JVM and of Android, by OpenJDK 8 to 25, the standard libraries of
/// Kotlin and Scala, and common libraries of collections and caches. Collections are known by their
/// fields as well, see `analysis/collections`.
const ROLES: Roles = &[
    ("java.lang.ThreadLocal$ThreadLocalMap$Entry", ThreadLocal),
    ("java.lang.ThreadLocal$*", Inside),
    ("java.lang.Thread", Thread),
    ("java.lang.VirtualThread", Thread),
    ("java.lang.ThreadBuilders$BoundVirtualThread", Thread),
    ("java.util.concurrent.ForkJoinWorkerThread", Thread),
    ("java.lang.VirtualThread$*", Inside),
    ("java.lang.Thread$*", Inside),
    ("jdk.internal.vm.*", Inside),
    ("java.lang.ref.Finalizer", Finalizer),
    ("java.lang.ref.*", Inside),
    ("*$$Lambda*", Closure),
    // The field of an inner class that holds the object around it.
    ("this$*", Passage),
    ("java.util.TimerTask", Timer),
    ("java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask", Timer),
    ("java.util.concurrent.FutureTask", Task),
    ("java.util.concurrent.CompletableFuture", Task),
    ("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", Collection("queue")),
    ("java.util.concurrent.DelayQueue", Collection("queue")),
    ("java.util.concurrent.LinkedTransferQueue", Collection("queue")),
    ("java.util.HashMap$TreeNode", Collided),
    ("java.util.concurrent.ConcurrentHashMap$TreeNode", Collided),
    ("java.util.concurrent.ConcurrentHashMap$TreeBin", Collided),
    ("java.util.*Node", Inside),
    ("java.util.*$*Entry", Inside),
    ("java.util.*$*Index", Inside),
    ("java.util.*$Itr", Inside),
    ("java.util.concurrent.Executors$RunnableAdapter", Inside),
    ("java.util.concurrent.CompletableFuture$*", Inside),
    ("scala.collection.*Node", Inside),
    ("scala.collection.immutable.$colon$colon", Inside),
    // Guava.
    ("com.google.common.cache.LocalCache", Collection("cache")),
    ("com.google.common.cache.LocalCache$Local*Cache", Collection("cache")),
    ("com.google.common.cache.LocalCache$*", Inside),
    ("com.google.common.collect.MapMakerInternalMap", Collection("map")),
    ("com.google.common.collect.MapMakerInternalMap$*", Inside),
    ("com.google.common.collect.Linked*Multimap$*", Inside),
    ("com.google.common.collect.*Entry", Inside),
    ("com.google.common.collect.*Entry$*", Inside),
    ("com.google.common.eventbus.Subscriber", Inside),
    ("com.google.common.eventbus.Subscriber$*", Inside),
    // Caffeine. The first letters of nodes are the strength of the references to key and value.
    ("com.github.benmanes.caffeine.cache.*oundedLocalCache$*Cache", Collection("cache")),
    ("com.github.benmanes.caffeine.cache.PD*", Inside),
    ("com.github.benmanes.caffeine.cache.PS*", Inside),
    ("com.github.benmanes.caffeine.cache.PW*", Inside),
    ("com.github.benmanes.caffeine.cache.FD*", Inside),
    ("com.github.benmanes.caffeine.cache.FS*", Inside),
    ("com.github.benmanes.caffeine.cache.FW*", Inside),
    // Apache Commons Collections 3 and 4.
    ("org.apache.commons.collections*Entry", Inside),
    // Ehcache 2.
    ("net.sf.ehcache.store.chm.SelectableConcurrentHashMap", Collection("cache")),
    ("net.sf.ehcache.store.chm.*", Inside),
    ("net.sf.ehcache.Element", Inside),
    ("java.*", Runtime),
    ("javax.*", Runtime),
    ("jdk.*", Runtime),
    ("sun.*", Runtime),
    ("com.sun.*", Runtime),
    ("kotlin.*", Runtime),
    ("scala.*", Runtime),
    ("android.*", Runtime),
    ("dalvik.*", Runtime),
    ("libcore.*", Runtime),
];
