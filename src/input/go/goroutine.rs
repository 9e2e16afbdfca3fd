//! Goroutines and related records: tags 4 (goroutine), 5 (stack frame), 9 (OS thread), 14 (defer),
//! 15 (panic).

use super::fields::FieldList;
use super::primitives::{boolean, pass_contents, string, uvarint};
use super::version::Version;
use crate::input::record::record;
use crate::model::fields::FieldSink;

/// The bit that is set in a status while the collector scans the stack.
const SCAN: u64 = 0x1000;

record! {
    /// A goroutine that is not dead.
    pub struct Goroutine<'a> {
        /// Address of its `g`.
        addr: u64 = uvarint("a goroutine's address") => address,
        /// Top of its stack: the stack pointer of its innermost frame.
        sp: u64 = uvarint("a goroutine's stack pointer") => address,
        /// Its number.
        goid: u64 = uvarint("a goroutine id") => unsigned,
        /// The program counter of the `go` statement that made it.
        gopc: u64 = uvarint("a goroutine's creator") => address,
        /// Its state: see [`Goroutine::status_name`].
        status: u64 = uvarint("a goroutine's status") => with(pass_status),
        /// Whether the runtime itself started it.
        system: bool = boolean("a goroutine's system flag") => boolean,
        /// Always false since 1.4.
        background: bool = boolean("a goroutine's background flag") => boolean,
        /// When it began to wait, in nanoseconds; often 0, because the collector fills it in late.
        waitsince: u64 = uvarint("a goroutine's waiting time") => unsigned,
        /// Why it waits. Old text may be left when it does not wait.
        waitreason: &'a [u8] = string("a goroutine's wait reason") => text,
        /// Address of the closure that it runs.
        ctxt: u64 = uvarint("a goroutine's context") => address,
        /// Address of the OS thread (`m`) that runs it, 0 if none does.
        m: u64 = uvarint("a goroutine's thread") => address,
        /// Address of its innermost defer record.
        defer: u64 = uvarint("a goroutine's defer") => address,
        /// Address of its innermost panic record.
        panic: u64 = uvarint("a goroutine's panic") => address,
    }
}

impl Goroutine<'_> {
    /// The name of the status, ignoring the bit that marks a stack scan. `None` if it is unknown.
    pub fn status_name(&self) -> Option<&'static str> {
        status_name(self.status)
    }
}

fn pass_status<S: FieldSink>(status: u64, sink: &mut S) {
    sink.unsigned("status", status);
    if let Some(name) = status_name(status) {
        sink.text("status_name", name.as_bytes());
    }
}

fn status_name(status: u64) -> Option<&'static str> {
    // The numbers of runtime2.go; 5 and 7 have not been in use since 1.4.
    match status & !SCAN {
        0 => Some("idle"),
        1 => Some("runnable"),
        2 => Some("running"),
        3 => Some("syscall"),
        4 => Some("waiting"),
        6 => Some("dead"),
        8 => Some("copystack"),
        9 => Some("preempted"),
        10 => Some("leaked"),
        11 => Some("deadextra"),
        _ => None,
    }
}

record! {
    /// A stack frame of the goroutine before it.
    pub struct StackFrame<'a>(version: Version, has_contpc: bool) {
        /// Its lowest address.
        sp: u64 = uvarint("a frame's stack pointer") => address,
        /// 0 for the innermost frame.
        depth: u64 = uvarint("a frame's depth") => unsigned,
        /// The frame that it called, by its `sp`; 0 for the innermost frame.
        child_sp: u64 = uvarint("a frame's child") => address,
        /// Its memory, from `sp` up.
        contents: &'a [u8] = string("a frame's contents") => with(pass_contents),
        /// The address of the first instruction of its function.
        entry: u64 = uvarint("a frame's entry") => address,
        /// The address of the current instruction.
        pc: u64 = uvarint("a frame's program counter") => address,
        /// The address where its function will continue. `None` in dumps made before June 2014.
        contpc: Option<u64> = uvarint("a frame's continuation") if has_contpc => address,
        name: &'a [u8] = string("a frame's function") => text,
        /// The offsets of its pointers. The list is not sorted, may have duplicates, and may reach
        /// into the parent's arguments.
        fields: FieldList<'a> = FieldList::read(version) => with(FieldList::pass_to),
    }
}

record! {
    /// A thread of the operating system.
    pub struct OsThread {
        /// Address of its `m`.
        addr: u64 = uvarint("a thread's address") => address,
        /// Its number in the runtime.
        id: u64 = uvarint("a thread's id") => unsigned,
        /// Its number in the operating system.
        procid: u64 = uvarint("a thread's system id") => unsigned,
    }
}

record! {
    /// A deferred call of the goroutine before it.
    pub struct Defer {
        /// Its address, on the stack since Go 1.13 where the compiler can.
        addr: u64 = uvarint("a defer's address") => address,
        g: u64 = uvarint("a defer's goroutine") => address,
        /// The address of its arguments. From 1.5 on, the stack pointer of the frame that defers.
        argp: u64 = uvarint("a defer's arguments") => address,
        /// The program counter of the `defer` statement.
        pc: u64 = uvarint("a defer's program counter") => address,
        /// The closure; 0 for an open-coded defer since Go 1.13.
        funcval: u64 = uvarint("a defer's closure") => address,
        /// The code of the closure.
        code: u64 = uvarint("a defer's code") => address,
        /// The next outer defer.
        link: u64 = uvarint("a defer's link") => address,
    }
}

record! {
    /// A panic of the goroutine before it.
    pub struct Panic {
        addr: u64 = uvarint("a panic's address") => address,
        g: u64 = uvarint("a panic's goroutine") => address,
        /// Type of the argument.
        arg_type: u64 = uvarint("a panic's type") => address,
        /// Data word of the argument.
        arg_data: u64 = uvarint("a panic's data") => address,
        /// The deferred call that runs; always 0 since 1.4.
        defer: u64 = uvarint("a panic's defer") => address,
        /// The next outer panic.
        link: u64 = uvarint("a panic's link") => address,
    }
}
