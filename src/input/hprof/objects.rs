//! Objects: tags 21, 22, 23 and c3 of heap records.

use super::primitives::{IdSize, u4};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::java::FieldType;
use crate::model::fields::FieldSink;

/// An object that is no class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is named as its contents")]
pub enum Object<'a> {
    Instance(Instance<'a>),
    ObjectArray(ObjectArray<'a>),
    PrimitiveArray(PrimitiveArray<'a>),
}

impl<'a> Object<'a> {
    /// Reads an object after its tag; None if the tag is that of something else.
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

    /// Its id.
    #[inline]
    pub fn id(&self) -> u64 {
        match self {
            Self::Instance(instance) => instance.id,
            Self::ObjectArray(array) => array.id,
            Self::PrimitiveArray(array) => array.id,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Instance(_) => "instance_dump",
            Self::ObjectArray(_) => "object_array",
            Self::PrimitiveArray(PrimitiveArray { contents: Some(_), .. }) => "primitive_array",
            Self::PrimitiveArray(_) => "primitive_array_no_data",
        }
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        match self {
            Self::Instance(instance) => instance.say(sink),
            Self::ObjectArray(array) => array.say(sink),
            Self::PrimitiveArray(array) => array.say(sink),
        }
    }
}

/// An instance of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance<'a> {
    /// Its id.
    pub id: u64,
    /// Serial of the trace at which it was allocated.
    pub trace: u32,
    /// Its class.
    pub class: u64,
    /// Values of its fields: its class first, then the superclass, and so on.
    pub values: &'a [u8],
}

impl<'a> Instance<'a> {
    #[inline]
    fn read(cursor: &mut Cursor<'a>, ids: IdSize) -> Result<Self> {
        let id = ids.read(cursor, "an instance's id")?;
        let trace = u4(cursor, "a trace serial")?;
        let class = ids.read(cursor, "an instance's class")?;
        let length = u4(cursor, "an instance's length")?;
        Ok(Self { id, trace, class, values: cursor.take(length.into(), "the fields of an instance")? })
    }

    fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("id", self.id);
        sink.unsigned("trace", self.trace.into());
        sink.address("class", self.class);
        sink.unsigned("length", self.values.len() as u64);
        sink.contents("values", self.values);
    }
}

/// An array of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectArray<'a> {
    /// Its id.
    pub id: u64,
    /// Serial of the trace at which it was allocated.
    pub trace: u32,
    /// Number of elements.
    pub count: u32,
    /// Its class (not that of its elements).
    pub class: u64,
    /// Ids of the elements.
    pub elements: &'a [u8],
}

impl<'a> ObjectArray<'a> {
    #[inline]
    fn read(cursor: &mut Cursor<'a>, ids: IdSize) -> Result<Self> {
        let id = ids.read(cursor, "an array's id")?;
        let trace = u4(cursor, "a trace serial")?;
        let count = u4(cursor, "an array's length")?;
        let class = ids.read(cursor, "an array's class")?;
        let elements = cursor.take(u64::from(count).saturating_mul(ids.bytes() as u64), "the elements of an array")?;
        Ok(Self { id, trace, count, class, elements })
    }

    fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("id", self.id);
        sink.unsigned("trace", self.trace.into());
        sink.unsigned("count", self.count.into());
        sink.address("class", self.class);
        sink.contents("elements", self.elements);
    }
}

/// An array of primitive values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimitiveArray<'a> {
    /// Its id.
    pub id: u64,
    /// Serial of the trace at which it was allocated.
    pub trace: u32,
    /// Number of elements.
    pub count: u32,
    /// Their type.
    pub element: FieldType,
    /// The elements, big-endian. None in Android's records without data.
    pub contents: Option<&'a [u8]>,
}

impl<'a> PrimitiveArray<'a> {
    #[inline]
    fn read(cursor: &mut Cursor<'a>, ids: IdSize, has_data: bool) -> Result<Self> {
        let id = ids.read(cursor, "an array's id")?;
        let trace = u4(cursor, "a trace serial")?;
        let count = u4(cursor, "an array's length")?;
        let element = FieldType::read(cursor, "the type of an array's elements")?;
        if element == FieldType::Object {
            let error = Error::corrupt(cursor.offset().saturating_sub(1), "a primitive array has elements that are objects");
            return Err(error.expected("a type of 4 to 11"));
        }
        let length = u64::from(count).saturating_mul(element.size(ids) as u64);
        let contents = if has_data { Some(cursor.take(length, "the elements of an array")?) } else { None };
        Ok(Self { id, trace, count, element, contents })
    }

    /// Bytes of its elements.
    #[inline]
    pub fn size(&self, ids: IdSize) -> u64 {
        u64::from(self.count).saturating_mul(self.element.size(ids) as u64)
    }

    fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("id", self.id);
        sink.unsigned("trace", self.trace.into());
        sink.unsigned("count", self.count.into());
        sink.text("element", self.element.name().as_bytes());
        if let Some(contents) = self.contents {
            sink.contents("contents", contents);
        }
    }
}
