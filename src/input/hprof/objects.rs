//! Objects: tags 21, 22, 23 and c3 of heap records.

use super::primitives::{IdSize, read_id, u4};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::record::record;
use crate::java::FieldType;
use crate::model::fields::{FieldSink, Record};

/// An object that is not a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object<'a> {
    Instance(Instance<'a>),
    ObjectArray(ObjectArray<'a>),
    PrimitiveArray(PrimitiveArray<'a>),
}

impl<'a> Object<'a> {
    /// Reads an object after its tag. `None` if the tag is not that of an object.
    #[inline]
    pub(super) fn read(tag: u8, cursor: &mut Cursor<'a>, ids: IdSize) -> Result<Option<Self>> {
        Ok(Some(match tag {
            0x21 => Self::Instance(Instance::read(cursor, ids)?),
            0x22 => Self::ObjectArray(ObjectArray::read(cursor, ids)?),
            0x23 => Self::PrimitiveArray(PrimitiveArray::read(cursor, ids, true)?),
            0xc3 => Self::PrimitiveArray(PrimitiveArray::read(cursor, ids, false)?),
            _ => return Ok(None),
        }))
    }

    /// The object at the start of `bytes`, tag included, and its length in bytes. `None` if the
    /// bytes begin with something else, or with a damaged object, for which [`Self::read`] returns
    /// an error.
    ///
    /// Three passes read all objects. This function keeps the object in registers and takes a third
    /// of the time of reading with a cursor and errors.
    #[inline(always)]
    pub(super) fn at_start(bytes: &'a [u8], ids: IdSize) -> Option<(Self, usize)> {
        match ids {
            IdSize::Four => Self::with_ids::<4>(bytes, ids),
            IdSize::Eight => Self::with_ids::<8>(bytes, ids),
        }
    }

    #[inline(always)]
    fn with_ids<const WIDTH: usize>(bytes: &'a [u8], ids: IdSize) -> Option<(Self, usize)> {
        let (&tag, bytes) = bytes.split_first()?;
        let (id, bytes) = bytes.split_first_chunk::<WIDTH>()?;
        let (trace, bytes) = bytes.split_first_chunk()?;
        let (id, trace) = (ids.at(id, 0), u32::from_be_bytes(*trace));
        let (object, length, head) = match tag {
            0x21 => {
                let (class, bytes) = bytes.split_first_chunk::<WIDTH>()?;
                let (length, bytes) = bytes.split_first_chunk()?;
                let values = bytes.get(..u32::from_be_bytes(*length) as usize)?;
                let class = ids.at(class, 0);
                (Self::Instance(Instance { id, trace, class, values }), values.len(), WIDTH)
            }
            0x22 => {
                let (count, bytes) = bytes.split_first_chunk()?;
                let (class, bytes) = bytes.split_first_chunk::<WIDTH>()?;
                let count = u32::from_be_bytes(*count);
                let elements = bytes.get(..(count as usize).checked_mul(WIDTH)?)?;
                let class = ids.at(class, 0);
                let array = ObjectArray { id, trace, count, class, elements };
                (Self::ObjectArray(array), elements.len(), WIDTH)
            }
            0x23 => {
                let (count, bytes) = bytes.split_first_chunk()?;
                let (&element, bytes) = bytes.split_first()?;
                let element = FieldType::of_tag(element)?;
                let size = element.width()?;
                let count = u32::from_be_bytes(*count);
                let contents = bytes.get(..(count as usize).checked_mul(size)?)?;
                let array = PrimitiveArray { id, trace, count, element, contents: Some(contents) };
                (Self::PrimitiveArray(array), contents.len(), 1)
            }
            _ => return None,
        };
        // Tag, id, trace and a length come before each.
        Some((object, length.checked_add(head)?.checked_add(WIDTH)?.checked_add(1 + 4 + 4)?))
    }

    /// The id of the object.
    #[inline]
    pub fn id(&self) -> u64 {
        match self {
            Self::Instance(instance) => instance.id,
            Self::ObjectArray(array) => array.id,
            Self::PrimitiveArray(array) => array.id,
        }
    }
}

impl Record for Object<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Instance(_) => "instance_dump",
            Self::ObjectArray(_) => "object_array",
            Self::PrimitiveArray(PrimitiveArray { contents: Some(_), .. }) => "primitive_array",
            Self::PrimitiveArray(_) => "primitive_array_no_data",
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match self {
            Self::Instance(instance) => instance.pass_to(sink),
            Self::ObjectArray(array) => array.pass_to(sink),
            Self::PrimitiveArray(array) => array.pass_to(sink),
        }
    }
}

record! {
    pub struct Instance<'a>(ids: IdSize) {
        id: u64 = read_id("an instance's id", ids) => address,
        /// Serial of the trace at which it was allocated.
        trace: u32 = u4("a trace serial") => unsigned,
        class: u64 = read_id("an instance's class", ids) => address,
        /// Values of its fields: its class first, then the superclass, and so on.
        values: &'a [u8] = values() => with(pass_values),
    }
}

record! {
    pub struct ObjectArray<'a>(ids: IdSize) {
        id: u64 = read_id("an array's id", ids) => address,
        /// Serial of the trace at which it was allocated.
        trace: u32 = u4("a trace serial") => unsigned,
        count: u32 = u4("an array's length") => unsigned,
        /// The array's class, not that of its elements.
        class: u64 = read_id("an array's class", ids) => address,
        elements: &'a [u8] = elements(count, ids) => contents,
    }
}

record! {
    pub struct PrimitiveArray<'a>(ids: IdSize, has_data: bool) {
        id: u64 = read_id("an array's id", ids) => address,
        /// Serial of the trace at which it was allocated.
        trace: u32 = u4("a trace serial") => unsigned,
        count: u32 = u4("an array's length") => unsigned,
        element: FieldType = element() => with(pass_element),
        /// The elements, big-endian. `None` in Android's records without data.
        contents: Option<&'a [u8]> = contents(size(count, element, ids)) if has_data => contents,
    }
}

impl PrimitiveArray<'_> {
    /// Bytes of its elements.
    #[inline]
    pub fn size(&self, ids: IdSize) -> u64 {
        size(self.count, self.element, ids)
    }
}

#[inline]
fn values<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let length = u4(cursor, "an instance's length")?;
    cursor.take(length.into(), "the fields of an instance")
}

fn pass_values<S: FieldSink>(values: &[u8], sink: &mut S) {
    sink.unsigned("length", values.len() as u64);
    sink.contents("values", values);
}

#[inline]
fn elements<'a>(cursor: &mut Cursor<'a>, count: u32, ids: IdSize) -> Result<&'a [u8]> {
    contents(cursor, u64::from(count).saturating_mul(ids.bytes() as u64))
}

#[inline]
fn contents<'a>(cursor: &mut Cursor<'a>, length: u64) -> Result<&'a [u8]> {
    cursor.take(length, "the elements of an array")
}

#[inline]
fn size(count: u32, element: FieldType, ids: IdSize) -> u64 {
    u64::from(count).saturating_mul(element.size(ids) as u64)
}

#[inline]
fn element(cursor: &mut Cursor<'_>) -> Result<FieldType> {
    let element = FieldType::read(cursor, "the type of an array's elements")?;
    if element == FieldType::Object {
        let error = Error::corrupt(
            cursor.offset().saturating_sub(1),
            "a primitive array has elements that are objects",
        );
        return Err(error.expected("a type of 4 to 11"));
    }
    Ok(element)
}

fn pass_element<S: FieldSink>(element: FieldType, sink: &mut S) {
    sink.text("element", element.name().as_bytes());
}
