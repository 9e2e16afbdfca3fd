//! Classes of the JVM whose objects have more fields in memory than a dump lists.

use super::fields::Widths;

/// A change that the JVM makes to a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hidden {
    /// Fields that every version since 11 injects.
    pub fields: Widths,
    /// Whether the objects are larger than their fields by an amount that depends on the version.
    /// Then the distance of a single neighbour is enough evidence of the size.
    pub larger: bool,
    /// Whether the objects have a stack after their fields, so that they differ in size.
    pub chunk: bool,
    /// Whether, up to JDK 14, references come first and the gap before a long stays empty.
    pub fixed: bool,
}

const fn fields(references: u64, longs: u64, ints: u64, bytes: u64) -> Widths {
    Widths { references, longs, ints, shorts: 0, bytes }
}

/// Virtual threads that are not running keep their stacks in objects of this class (JDK 21 and
/// later).
const CHUNK: &str = "jdk.internal.vm.StackChunk";

/// Fields that the JVM injects in all versions from 11 to 25 (`*_INJECTED_FIELDS` in
/// `hotspot/share/classfile/javaClasses.hpp`; pointers count as longs).
const INJECTED: [(&str, Widths); 7] = [
    // klass, array_klass; oop_size, static_oop_field_count; protection_domain, signers, source_file
    // (up to 14 init_lock).
    ("java.lang.Class", fields(3, 2, 2, 0)),
    ("java.lang.ClassLoader", fields(0, 1, 0, 0)),
    ("java.lang.Module", fields(0, 1, 0, 0)),
    ("java.lang.invoke.MemberName", fields(0, 1, 0, 0)),
    ("java.lang.invoke.ResolvedMethodName", fields(0, 1, 0, 0)),
    // cont; pc; maxThawingSize; flags.
    (CHUNK, fields(1, 1, 1, 1)),
    // vmdependencies, last_cleanup.
    ("java.lang.invoke.MethodHandleNatives$CallSiteContext", fields(0, 2, 0, 0)),
];

/// Classes with injected fields in some versions, or with fields that `@Contended` keeps apart from
/// others.
const LARGER: [&str; 13] = [
    "java.lang.Thread",
    "java.lang.VirtualThread",
    "java.lang.InternalError",
    "java.lang.StackFrameInfo",
    "java.util.concurrent.ConcurrentHashMap$CounterCell",
    "java.util.concurrent.Exchanger$Node",
    "java.util.concurrent.Exchanger$Slot",
    "java.util.concurrent.ForkJoinPool",
    "java.util.concurrent.ForkJoinPool$WorkQueue",
    "java.util.concurrent.SubmissionPublisher$BufferedSubscription",
    "java.util.concurrent.atomic.Striped64$Cell",
    "jdk.internal.foreign.abi.NativeEntryPoint",
    "jdk.internal.invoke.NativeEntryPoint",
];

/// Classes whose field offsets the C++ code of the JVM knows, up to JDK 14 (`layout_fields` in
/// `classFileParser.cpp`).
const FIXED: [&str; 16] = [
    "java.lang.AssertionStatusDirectives",
    "java.lang.Class",
    "java.lang.ClassLoader",
    "java.lang.ref.Reference",
    "java.lang.ref.SoftReference",
    "java.lang.StackTraceElement",
    "java.lang.String",
    "java.lang.Throwable",
    "java.lang.Boolean",
    "java.lang.Character",
    "java.lang.Float",
    "java.lang.Double",
    "java.lang.Byte",
    "java.lang.Short",
    "java.lang.Integer",
    "java.lang.Long",
];

/// Returns the change that the JVM makes to the class with this name.
pub(super) fn hidden(name: &[u8]) -> Hidden {
    if !name.starts_with(b"java") && !name.starts_with(b"jdk") {
        return Hidden::default();
    }
    let injected = INJECTED.iter().find(|(class, _)| is(name, class));
    Hidden {
        fields: injected.map_or(Widths::default(), |(_, fields)| *fields),
        larger: injected.is_some() || LARGER.iter().any(|class| is(name, class)),
        chunk: is(name, CHUNK),
        fixed: FIXED.iter().any(|class| is(name, class)),
    }
}

/// Whether the name of a class, with dots or slashes, is this one.
pub(super) fn is(name: &[u8], dotted: &str) -> bool {
    name.len() == dotted.len()
        && name.iter().zip(dotted.bytes()).all(|(&a, b)| a == b || (a == b'/' && b == b'.'))
}
