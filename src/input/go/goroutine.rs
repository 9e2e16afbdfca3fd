//! Goroutines and what belongs to them: tags 4 (goroutine), 5 (stack frame), 9 (OS thread), 14 (defer), 15 (panic).

use super::fields::FieldList;
use super::primitives::{boolean, string};
use super::version::Version;
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::FieldSink;

/// The bit that is set in a status while the collector scans the stack.
const SCAN: u64 = 0x1000;

/// A goroutine that is not dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goroutine<'a> {
    /// Address of its `g`.
    pub addr: u64,
    /// Top of its stack: the stack pointer of its innermost frame.
    pub sp: u64,
    /// Its number.
    pub goid: u64,
    /// The program counter of the `go` statement that made it.
    pub gopc: u64,
    /// What it does: see [`Goroutine::status_name`].
    pub status: u64,
    /// Whether the runtime itself started it.
    pub system: bool,
    /// Always false since 1.4.
    pub background: bool,
    /// When it began to wait, in nanoseconds; often 0, because the collector fills it in late.
    pub waitsince: u64,
    /// Why it waits. Old text may be left when it does not wait.
    pub waitreason: &'a [u8],
    /// Address of the closure that it runs.
    pub ctxt: u64,
    /// Address of the OS thread (`m`) that runs it, 0 if none does.
    pub m: u64,
    /// Address of its innermost defer record.
    pub defer: u64,
    /// Address of its innermost panic record.
    pub panic: u64,
}

impl<'a> Goroutine<'a> {
    /// Reads a goroutine after its tag.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        Ok(Self {
            addr: cursor.uleb128("a goroutine's address")?,
            sp: cursor.uleb128("a goroutine's stack pointer")?,
            goid: cursor.uleb128("a goroutine id")?,
            gopc: cursor.uleb128("a goroutine's creator")?,
            status: cursor.uleb128("a goroutine's status")?,
            system: boolean(cursor, "a goroutine's system flag")?,
            background: boolean(cursor, "a goroutine's background flag")?,
            waitsince: cursor.uleb128("a goroutine's waiting time")?,
            waitreason: string(cursor, "a goroutine's wait reason")?,
            ctxt: cursor.uleb128("a goroutine's context")?,
            m: cursor.uleb128("a goroutine's thread")?,
            defer: cursor.uleb128("a goroutine's defer")?,
            panic: cursor.uleb128("a goroutine's panic")?,
        })
    }

    /// The name of the status without the bit that says that the stack is being scanned; None if it is not known.
    pub fn status_name(&self) -> Option<&'static str> {
        // The numbers of runtime2.go; 5 and 7 have not been in use since 1.4.
        match self.status & !SCAN {
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

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("addr", self.addr);
        sink.address("sp", self.sp);
        sink.unsigned("goid", self.goid);
        sink.address("gopc", self.gopc);
        sink.unsigned("status", self.status);
        if let Some(name) = self.status_name() {
            sink.text("status_name", name.as_bytes());
        }
        sink.boolean("system", self.system);
        sink.boolean("background", self.background);
        sink.unsigned("waitsince", self.waitsince);
        sink.text("waitreason", self.waitreason);
        sink.address("ctxt", self.ctxt);
        sink.address("m", self.m);
        sink.address("defer", self.defer);
        sink.address("panic", self.panic);
    }
}

/// A stack frame of the goroutine before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame<'a> {
    /// Its lowest address.
    pub sp: u64,
    /// 0 for the innermost frame.
    pub depth: u64,
    /// The frame that it called, by its `sp`; 0 for the innermost frame.
    pub child_sp: u64,
    /// Its memory, from `sp` up.
    pub contents: &'a [u8],
    /// Where its function begins.
    pub entry: u64,
    /// Where its function stands.
    pub pc: u64,
    /// Where its function will go on. None in dumps made before June 2014.
    pub contpc: Option<u64>,
    /// The name of its function.
    pub name: &'a [u8],
    /// Where its pointers are. The list is not sorted, may have duplicates, and may reach into the parent's arguments.
    pub fields: FieldList<'a>,
}

impl<'a> StackFrame<'a> {
    /// Reads a frame after its tag.
    pub(super) fn read(cursor: &mut Cursor<'a>, version: Version, has_contpc: bool) -> Result<Self> {
        Ok(Self {
            sp: cursor.uleb128("a frame's stack pointer")?,
            depth: cursor.uleb128("a frame's depth")?,
            child_sp: cursor.uleb128("a frame's child")?,
            contents: string(cursor, "a frame's contents")?,
            entry: cursor.uleb128("a frame's entry")?,
            pc: cursor.uleb128("a frame's program counter")?,
            contpc: if has_contpc { Some(cursor.uleb128("a frame's continuation")?) } else { None },
            name: string(cursor, "a frame's function")?,
            fields: FieldList::read(cursor, version)?,
        })
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("sp", self.sp);
        sink.unsigned("depth", self.depth);
        sink.address("child_sp", self.child_sp);
        sink.unsigned("size", self.contents.len() as u64);
        sink.contents("contents", self.contents);
        sink.address("entry", self.entry);
        sink.address("pc", self.pc);
        if let Some(contpc) = self.contpc {
            sink.address("contpc", contpc);
        }
        sink.text("name", self.name);
        self.fields.say(sink);
    }
}

/// An OS thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsThread {
    /// Address of its `m`.
    pub addr: u64,
    /// Its number in the runtime.
    pub id: u64,
    /// Its number in the operating system.
    pub procid: u64,
}

impl OsThread {
    /// Reads a thread after its tag.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            addr: cursor.uleb128("a thread's address")?,
            id: cursor.uleb128("a thread's id")?,
            procid: cursor.uleb128("a thread's system id")?,
        })
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("addr", self.addr);
        sink.unsigned("id", self.id);
        sink.unsigned("procid", self.procid);
    }
}

/// A deferred call of the goroutine before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defer {
    /// Its address, on the stack since Go 1.13 where the compiler can.
    pub addr: u64,
    /// The goroutine.
    pub g: u64,
    /// Where its arguments are; from 1.5 on the stack pointer of the frame that defers.
    pub argp: u64,
    /// The program counter of the `defer` statement.
    pub pc: u64,
    /// The closure; 0 for an open-coded defer since Go 1.13.
    pub funcval: u64,
    /// The code of the closure.
    pub code: u64,
    /// The next outer defer.
    pub link: u64,
}

impl Defer {
    /// Reads a deferred call after its tag.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            addr: cursor.uleb128("a defer's address")?,
            g: cursor.uleb128("a defer's goroutine")?,
            argp: cursor.uleb128("a defer's arguments")?,
            pc: cursor.uleb128("a defer's program counter")?,
            funcval: cursor.uleb128("a defer's closure")?,
            code: cursor.uleb128("a defer's code")?,
            link: cursor.uleb128("a defer's link")?,
        })
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("addr", self.addr);
        sink.address("g", self.g);
        sink.address("argp", self.argp);
        sink.address("pc", self.pc);
        sink.address("funcval", self.funcval);
        sink.address("code", self.code);
        sink.address("link", self.link);
    }
}

/// A panic of the goroutine before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panic {
    /// Its address.
    pub addr: u64,
    /// The goroutine.
    pub g: u64,
    /// Type of the argument.
    pub arg_type: u64,
    /// Data word of the argument.
    pub arg_data: u64,
    /// The deferred call that runs; always 0 since 1.4.
    pub defer: u64,
    /// The next outer panic.
    pub link: u64,
}

impl Panic {
    /// Reads a panic after its tag.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            addr: cursor.uleb128("a panic's address")?,
            g: cursor.uleb128("a panic's goroutine")?,
            arg_type: cursor.uleb128("a panic's type")?,
            arg_data: cursor.uleb128("a panic's data")?,
            defer: cursor.uleb128("a panic's defer")?,
            link: cursor.uleb128("a panic's link")?,
        })
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("addr", self.addr);
        sink.address("g", self.g);
        sink.address("arg_type", self.arg_type);
        sink.address("arg_data", self.arg_data);
        sink.address("defer", self.defer);
        sink.address("link", self.link);
    }
}
