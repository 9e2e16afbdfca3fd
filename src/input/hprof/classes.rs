//! Classes: tag 20 of heap records.

use super::primitives::{IdSize, Value, u4};
use crate::bytes::Cursor;
use crate::error::Result;
use crate::java::FieldType;
use crate::model::fields::FieldSink;
use byteorder::BE;

/// A class. Absent ids are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassDump<'a> {
    pub id: u64,
    /// Serial of a trace.
    pub trace: u32,
    /// The superclass; 0 only for java.lang.Object.
    pub super_class: u64,
    pub loader: u64,
    pub signers: u64,
    pub domain: u64,
    /// HotSpot: bytes of all fields, inherited ones included, as in the file. Others:
    /// the size of an object.
    pub instance_size: u32,
    /// Constants of the pool; all writers leave them out.
    pub constants: Statics<'a>,
    /// Static fields with their values.
    pub statics: Statics<'a>,
    /// Fields of the class's objects, without inherited ones.
    pub fields: Fields<'a>,
}

impl<'a> ClassDump<'a> {
    /// Reads a class after its tag.
    pub(super) fn read(cursor: &mut Cursor<'a>, ids: IdSize) -> Result<Self> {
        let id = ids.read(cursor, "a class id")?;
        let trace = u4(cursor, "a trace serial")?;
        let super_class = ids.read(cursor, "a superclass")?;
        let loader = ids.read(cursor, "a class loader")?;
        let signers = ids.read(cursor, "the signers of a class")?;
        let domain = ids.read(cursor, "a protection domain")?;
        cursor.take((ids.bytes() as u64).saturating_mul(2), "the reserved ids of a class")?;
        Ok(Self {
            id,
            trace,
            super_class,
            loader,
            signers,
            domain,
            instance_size: u4(cursor, "the instance size of a class")?,
            constants: Statics::read(cursor, ids, 2)?,
            statics: Statics::read(cursor, ids, ids.bytes())?,
            fields: Fields::read(cursor, ids)?,
        })
    }

    pub(super) fn pass_to<S: FieldSink>(&self, sink: &mut S) {
        sink.address("id", self.id);
        sink.unsigned("trace", self.trace.into());
        sink.address("super", self.super_class);
        sink.address("loader", self.loader);
        sink.address("signers", self.signers);
        sink.address("domain", self.domain);
        sink.unsigned("instance_size", self.instance_size.into());
        sink.unsigned("constants", self.constants.count.into());
        sink.unsigned("statics", self.statics.count.into());
        sink.unsigned("fields", self.fields.count.into());
        if sink.wants_contents() {
            sink.list("constant_list", self.constants.iter(), |constant, sink| {
                sink.unsigned("index", constant.name);
                constant.pass_to(sink);
            });
            sink.list("static_list", self.statics.iter(), |field, sink| {
                sink.address("name", field.name);
                field.pass_to(sink);
            });
            sink.list("field_list", self.fields.iter(), |field, sink| {
                sink.address("name", field.name);
                sink.text("type", field.kind.name().as_bytes());
            });
        }
    }
}

/// Static fields or constants, decoded on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statics<'a> {
    pub count: u16,
    bytes: &'a [u8],
    ids: IdSize,
    /// Bytes of an entry's name: those of an id, or 2 for the index of a constant.
    name_size: usize,
}

/// A static field or a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Static {
    /// The id of the string with the field's name. For a constant, its index.
    pub name: u64,
    pub kind: FieldType,
    pub value: Value,
}

impl Static {
    pub(super) fn pass_to<S: FieldSink>(&self, sink: &mut S) {
        sink.text("type", self.kind.name().as_bytes());
        match self.value {
            Value::Object(id) => sink.address("value", id),
            Value::Boolean(value) => sink.boolean("value", value),
            Value::Integer(value) => sink.signed("value", value.into()),
            Value::Float(value) => sink.float("value", value),
        }
    }
}

impl<'a> Statics<'a> {
    fn read(cursor: &mut Cursor<'a>, ids: IdSize, name_size: usize) -> Result<Self> {
        let count = cursor.u16::<BE>("a number of static fields")?;
        let bytes = cursor.span(|cursor| {
            (0..count).try_for_each(|_| {
                cursor.take(name_size as u64, "the name of a static field")?;
                let kind = FieldType::read(cursor, "the type of a static field")?;
                cursor.take(kind.size(ids) as u64, "the value of a static field").map(drop)
            })
        })?;
        Ok(Self { count, bytes, ids, name_size })
    }

    /// The static fields in the order of the file, with their values.
    pub fn iter(&self) -> impl Iterator<Item = Static> + use<'a> {
        let mut cursor = Cursor::new(self.bytes, 0);
        let (ids, name_size) = (self.ids, self.name_size);
        std::iter::from_fn(move || {
            let name = match name_size {
                2 => cursor.u16::<BE>("an index").ok()?.into(),
                _ => ids.read(&mut cursor, "a name").ok()?,
            };
            let kind = FieldType::read(&mut cursor, "a type").ok()?;
            let value = kind.value(cursor.take(kind.size(ids) as u64, "a value").ok()?)?;
            Some(Static { name, kind, value })
        })
    }
}

/// Fields of objects, decoded on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<'a> {
    pub count: u16,
    bytes: &'a [u8],
    ids: IdSize,
}

/// A field of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// String with its name.
    pub name: u64,
    pub kind: FieldType,
}

impl<'a> Fields<'a> {
    fn read(cursor: &mut Cursor<'a>, ids: IdSize) -> Result<Self> {
        let count = cursor.u16::<BE>("a number of fields")?;
        let bytes = cursor.span(|cursor| {
            (0..count).try_for_each(|_| {
                cursor.take(ids.bytes() as u64, "the name of a field")?;
                FieldType::read(cursor, "the type of a field").map(drop)
            })
        })?;
        Ok(Self { count, bytes, ids })
    }

    /// The fields in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = Field> + use<'a> {
        let mut cursor = Cursor::new(self.bytes, 0);
        let ids = self.ids;
        std::iter::from_fn(move || {
            let name = ids.read(&mut cursor, "a name").ok()?;
            Some(Field { name, kind: FieldType::read(&mut cursor, "a type").ok()? })
        })
    }
}
