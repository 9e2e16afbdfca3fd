//! The records that only the draft before 1.3 has: tags 4 to 9 of its numbering.

use super::primitives::string;
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::model::fields::FieldSink;

/// A record of the draft whose layout no release has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draft<'a> {
    /// A pointer in a stack frame.
    StackRoot {
        /// What it points to.
        pointer: u64,
        /// The frame, by its `sp`.
        sp: u64,
    },
    /// A pointer in a global variable.
    DataRoot {
        /// Where it stands.
        found_at: u64,
        /// What it points to.
        pointer: u64,
    },
    /// A pointer from elsewhere.
    OtherRoot {
        /// What it points to.
        pointer: u64,
    },
    /// A type.
    Type(DraftType<'a>),
    /// A goroutine.
    Thread {
        /// Address of its `g`.
        addr: u64,
        /// Its innermost frame, by its `sp`.
        sp: u64,
    },
    /// A stack frame.
    StackFrame {
        /// Its lowest address.
        sp: u64,
        /// The frame that called it. There is none with that `sp` at the bottom of the stack.
        parent_sp: u64,
        /// Its function.
        name: &'a [u8],
    },
}

/// A type of the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftType<'a> {
    /// Address of its descriptor.
    pub addr: u64,
    /// Bytes in a value.
    pub size: u64,
    /// Its name.
    pub name: &'a [u8],
    /// Number of pointers in a value.
    pub pointer_count: u64,
    encoded: &'a [u8],
}

impl<'a> DraftType<'a> {
    /// Offsets of the pointers in a value, ascending.
    pub fn offsets(&self) -> impl Iterator<Item = u64> + use<'a> {
        let mut cursor = Cursor::new(self.encoded, 0);
        std::iter::from_fn(move || cursor.uleb128("an offset").ok())
    }

    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let addr = cursor.uleb128("a type address")?;
        let size = cursor.uleb128("a type's size")?;
        let name = string(cursor, "a type's name")?;
        let start = cursor.offset();
        let pointer_count = cursor.uleb128("a type's pointer count")?;
        if pointer_count > cursor.remaining() as u64 {
            return Err(Error::corrupt(start, format!("a type with {pointer_count} pointers"))
                .expected(format!("at most {} in the bytes that are left", cursor.remaining())));
        }
        let offsets = cursor.rest();
        for _ in 0..pointer_count {
            cursor.uleb128("a type's pointers")?;
        }
        let encoded = offsets.get(..offsets.len().saturating_sub(cursor.remaining())).unwrap_or_default();
        Ok(Self { addr, size, name, pointer_count, encoded })
    }
}

impl<'a> Draft<'a> {
    /// Reads the record of a tag. None: the tag is none of these.
    pub(super) fn read(cursor: &mut Cursor<'a>, tag: u64) -> Result<Option<Self>> {
        Ok(Some(match tag {
            4 => Self::StackRoot { pointer: cursor.uleb128("a stack root")?, sp: cursor.uleb128("a stack root's frame")? },
            5 => Self::DataRoot { found_at: cursor.uleb128("a data root's place")?, pointer: cursor.uleb128("a data root")? },
            6 => Self::OtherRoot { pointer: cursor.uleb128("a root")? },
            7 => Self::Type(DraftType::read(cursor)?),
            8 => Self::Thread { addr: cursor.uleb128("a thread's address")?, sp: cursor.uleb128("a thread's stack pointer")? },
            9 => Self::StackFrame {
                sp: cursor.uleb128("a frame's stack pointer")?,
                parent_sp: cursor.uleb128("a frame's parent")?,
                name: string(cursor, "a frame's function")?,
            },
            _ => return Ok(None),
        }))
    }

    /// The name of the record.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::StackRoot { .. } => "stack_root",
            Self::DataRoot { .. } => "data_root",
            Self::OtherRoot { .. } => "other_root",
            Self::Type(_) => "type",
            Self::Thread { .. } => "thread",
            Self::StackFrame { .. } => "stack_frame",
        }
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        match *self {
            Self::StackRoot { pointer, sp } => {
                sink.address("pointer", pointer);
                sink.address("sp", sp);
            }
            Self::DataRoot { found_at, pointer } => {
                sink.address("found_at", found_at);
                sink.address("pointer", pointer);
            }
            Self::OtherRoot { pointer } => sink.address("pointer", pointer),
            Self::Type(ref record) => {
                sink.address("addr", record.addr);
                sink.unsigned("size", record.size);
                sink.text("name", record.name);
                sink.unsigned("pointers", record.pointer_count);
                if sink.wants_contents() {
                    sink.list("fields", record.offsets(), |offset, sink| sink.unsigned("offset", offset));
                }
            }
            Self::Thread { addr, sp } => {
                sink.address("addr", addr);
                sink.address("sp", sp);
            }
            Self::StackFrame { sp, parent_sp, name } => {
                sink.address("sp", sp);
                sink.address("parent_sp", parent_sp);
                sink.text("name", name);
            }
        }
    }
}
