//! Texts, numbers and names of SVs, read when they are requested.

use super::graph::Graph;
use super::sv::{Body, kind};
use crate::model::heap::{Heap, ObjectId, ObjectValues, Value};
use std::borrow::Cow;

pub(super) struct Values<'a>(pub(super) Graph<'a>);

impl ObjectValues for Values<'_> {
    fn value<'v>(&'v self, _: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        let Some(sv) = self.0.sv(object) else { return Value::None };
        let words = self.0.layout.words;
        let flags = sv.flags(words);
        let [first, second] = sv.own.strings;
        let name = |name: Option<&'v [u8]>| {
            name.map_or(Value::None, |name| Value::Name(String::from_utf8_lossy(name)))
        };
        match (sv.kind, sv.body) {
            (kind::SCALAR, _) => {
                let mut header = sv.own.header.get(1..).unwrap_or_default();
                let integer = words.number(take(&mut header, words.uint_size()));
                // Between the two UINTs. A long double has more than eight bytes.
                let float = {
                    let length = header.len().saturating_sub(words.uint_size());
                    take(&mut header, length)
                };
                let length = words.number(header);
                match first.filter(|_| flags & 0x08 != 0) {
                    Some(text) => Value::Text { text: String::from_utf8_lossy(text), length },
                    None if flags & 0x04 != 0 && float.len() == 8 => {
                        Value::Float(f64::from_bits(words.number(float)))
                    }
                    None if flags & 0x03 == 0x01 && words.uint_size() == 4 => {
                        Value::Integer(i64::from(integer as i32))
                    }
                    None if flags & 0x03 == 0x01 => Value::Integer(integer as i64),
                    None if flags & 0x01 != 0 => {
                        i64::try_from(integer).map_or(Value::None, Value::Integer)
                    }
                    None => Value::None,
                }
            }
            (14, _) => Value::Boolean(true),
            (15, _) => Value::Boolean(false),
            (kind::STASH | kind::CLASS, _) => name(first),
            (kind::GLOB, _) => {
                self.0.glob_name(&sv).map_or(Value::None, |name| Value::Name(name.into()))
            }
            (kind::CODE, _) => match self.0.code_name(sv.address) {
                Some(name) => Value::Name(Cow::Owned(name)),
                None => name(second),
            },
            (_, Body::Elements(elements)) => Value::Length(elements.iter().len() as u64),
            (_, Body::Entries(count, _)) => Value::Length(count),
            _ => Value::None,
        }
    }
}

/// Takes up to this many bytes from the front.
fn take<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
    *bytes = rest;
    taken
}
