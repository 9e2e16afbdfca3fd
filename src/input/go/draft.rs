//! The records that only the draft before 1.3 has: its tags 4 to 9.

use super::primitives::{string, uvarint};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::record::{record, records};
use crate::model::fields::FieldSink;

records! {
    /// A record with a layout that only the draft has.
    pub enum Draft<'a> {
        /// A pointer in a stack frame.
        4 "stack_root" StackRoot {
            /// The target address.
            pointer: u64 = uvarint("a stack root") => address,
            /// The frame, by its `sp`.
            sp: u64 = uvarint("a stack root's frame") => address
        },
        /// A pointer in a global variable.
        5 "data_root" DataRoot {
            /// The address of the root.
            found_at: u64 = uvarint("a data root's place") => address,
            /// The target address.
            pointer: u64 = uvarint("a data root") => address
        },
        /// A pointer from elsewhere.
        6 "other_root" OtherRoot {
            /// The target address.
            pointer: u64 = uvarint("a root") => address
        },
        /// A type.
        7 "type" Type(DraftType<'a>) = read(),
        /// A goroutine.
        8 "thread" Thread {
            /// Address of its `g`.
            addr: u64 = uvarint("a thread's address") => address,
            /// Its innermost frame, by its `sp`.
            sp: u64 = uvarint("a thread's stack pointer") => address
        },
        /// A stack frame.
        9 "stack_frame" StackFrame {
            /// Its lowest address.
            sp: u64 = uvarint("a frame's stack pointer") => address,
            /// The frame that called it. There is none with that `sp` at the bottom of the stack.
            parent_sp: u64 = uvarint("a frame's parent") => address,
            name: &'a [u8] = string("a frame's function") => text
        },
    }
}

record! {
    /// A type, in dumps of the layout before Go 1.3.
    pub struct DraftType<'a> {
        /// Address of its descriptor.
        addr: u64 = uvarint("a type address") => address,
        /// Bytes in a value.
        size: u64 = uvarint("a type's size") => unsigned,
        name: &'a [u8] = string("a type's name") => text,
        /// The offsets of the pointers in a value.
        pointers: Offsets<'a> = Offsets::read() => with(Offsets::pass_to),
    }
}

/// Offsets of pointers, which are decoded when they are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets<'a> {
    count: u64,
    encoded: &'a [u8],
}

impl<'a> Offsets<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let start = cursor.offset();
        let count = cursor.uleb128("a type's pointer count")?;
        if count > cursor.remaining() as u64 {
            return Err(Error::corrupt(start, format!("a type with {count} pointers"))
                .expected(format!("at most {} in the bytes that are left", cursor.remaining())));
        }
        let encoded = cursor.span(|cursor| {
            (0..count).try_for_each(|_| cursor.uleb128("a type's pointers").map(drop))
        })?;
        Ok(Self { count, encoded })
    }

    /// The offsets, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a> {
        let mut cursor = Cursor::new(self.encoded, 0);
        std::iter::from_fn(move || cursor.uleb128("an offset").ok())
    }

    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.unsigned("pointers", self.count);
        if sink.wants_contents() {
            sink.list("fields", self.iter(), |offset, sink| sink.unsigned("offset", offset));
        }
    }
}
