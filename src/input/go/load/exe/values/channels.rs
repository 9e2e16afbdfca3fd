//! The contents of channels: queued elements in order, and waiting goroutines. Also the functions
//! of function values.
//!
//! A channel (`runtime.hchan`) has: word count, word capacity, buffer, u16 element size, u32 closed,
//! since 1.23 a timer, element type, index to send, index to receive, the first and the last waiting
//! receiver, the first and the last waiting sender. These are `runtime.sudog`: goroutine, next one,
//! and more (`runtime/chan.go`, `runtime/runtime2.go`).

use super::super::types::TypeRef;
use super::{Place, View};
use crate::model::heap::{EachField, Field, FieldValue};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// The most goroutines that are listed as waiting in one direction.
const MOST_WAITING: usize = 64;

impl<'v> View<'v, '_> {
    /// Passes the elements in a channel's buffer, the one that is received next first.
    pub(super) fn queued(
        &self,
        header: Place<'_>,
        element: TypeRef,
        count: u64,
        each: &mut EachField<'_>,
    ) -> ControlFlow<()> {
        let size = self.typed.types.size(element);
        let (Some(capacity), Some(buffer), Some(first)) =
            (self.word_of(header, 1), self.word_of(header, 2), self.word_after_type(header, 2))
        else {
            return ControlFlow::Continue(());
        };
        let Some(bytes) = self.bytes_at(buffer) else { return ControlFlow::Continue(()) };
        for number in 0..count.min(capacity) {
            let index = first.wrapping_add(number).checked_rem(capacity).unwrap_or(0);
            let offset = size.saturating_mul(index);
            self.flatten(&format!("[{number}]"), Place { bytes, offset, ty: element }, each)?;
        }
        ControlFlow::Continue(())
    }

    /// Passes the goroutines that wait to receive from a channel, and to send to it.
    pub(super) fn waiting(&self, header: Place<'_>, each: &mut EachField<'_>) -> ControlFlow<()> {
        for (queue, first) in [("receiver", 3), ("sender", 5)] {
            let mut next = self.word_after_type(header, first);
            for number in 0..MOST_WAITING {
                let Some(bytes) = next.and_then(|next| self.bytes_at(next)) else { break };
                let Some(goroutine) = self.word(bytes, 0).filter(|address| *address != 0) else {
                    break;
                };
                let name = &format!("{queue}[{number}]");
                let text = self.goroutine(goroutine);
                let value = match &text {
                    Some(text) => FieldValue::Text(text),
                    None => self.pointer(goroutine),
                };
                each(Field { class: "", name, type_name: "*runtime.g", value })?;
                next = self.word(bytes, self.typed.words.size).filter(|next| *next != 0);
            }
        }
        ControlFlow::Continue(())
    }

    /// The word of a channel's header this many words after its element type.
    fn word_after_type(&self, header: Place<'_>, number: u64) -> Option<u64> {
        let place = header.at(self.typed.channel_type_at, header.ty);
        self.word_of(place, number)
    }

    /// The number of the goroutine whose `runtime.g` is at an address, as shown in stacks.
    fn goroutine(&self, address: u64) -> Option<String> {
        let ty = self.typed.types.named("runtime.g")?;
        let id = self.typed.types.fields(ty).iter().find(|field| &*field.name == "goid")?;
        let place = Place { bytes: self.bytes_at(address)?, offset: id.offset, ty: id.ty };
        Some(format!("goroutine {}", self.number(place, 8)?))
    }

    /// The name of the function that a function value calls.
    pub(super) fn function(&self, value: u64) -> Option<Cow<'v, str>> {
        let entry = self.word(self.bytes_at(value)?, 0)?;
        let functions = &self.typed.functions;
        // Constants are read from the executable, and have its link addresses.
        functions.at(entry.wrapping_sub(self.typed.shifts.text)).or_else(|| functions.at(entry))
    }
}
