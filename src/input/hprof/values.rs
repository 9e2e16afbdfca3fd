//! The values of whole objects: texts, numbers, bytes. Decoded from the file on demand. Fields are
//! in `members`.

use super::hidden::is;
use super::layout::Class;
use super::objects::{Instance, Object};
use super::positions::Positions;
use super::primitives::{IdSize, Value as FieldValue};
use super::records::{HeapRec, read_heap_record};
use super::scan::Scan;
use crate::bytes::{Cursor, latin1};
use crate::java::FieldType;
use crate::model::addresses::Addresses;
use crate::model::heap::{Heap, Ids, ObjectId, TypeId, TypeKind, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The positions of all records that values are decoded from.
pub(super) struct Contents<'a> {
    bytes: &'a [u8],
    pub(super) ids: IdSize,
    /// The position of the record of each object.
    positions: Positions,
    /// The decoder of each type; `None` for types without a value.
    decoders: Vec<Option<Decoder>>,
    /// Types that class objects represent, by id.
    classes: FxHashMap<u64, TypeId>,
    /// Whether UTF-16 in byte arrays, which has the byte order of the machine, is big-endian.
    big_endian_texts: bool,
}

/// The kind of value that the objects of a class have.
#[derive(Clone, Copy, Debug)]
enum Decoder {
    Text(TextFields),
    Number { offset: usize, kind: FieldType },
}

/// The offsets of the fields of a java.lang.String, which differ between versions of the JDK.
#[derive(Clone, Copy, Debug)]
struct TextFields {
    value: usize,
    /// Since JDK 9: a byte that is 0 for Latin-1 and 1 for UTF-16.
    coder: Option<usize>,
    /// Up to JDK 6: offset and count of the text's characters in `value`.
    part: Option<(usize, usize)>,
}

/// The kind of a class with this name. The caller distinguishes arrays.
pub(super) fn kind(name: &[u8]) -> TypeKind {
    const NUMBERS: [&str; 8] =
        ["Boolean", "Character", "Float", "Double", "Byte", "Short", "Integer", "Long"];
    if is(name, "java.lang.String") {
        return TypeKind::Text;
    }
    if is(name, "java.lang.Class") {
        return TypeKind::Class;
    }
    let boxed = |number: &&str| {
        name.get(10..) == Some(number.as_bytes())
            && is(name.get(..10).unwrap_or_default(), "java.lang.")
    };
    if NUMBERS.iter().any(boxed) { TypeKind::Number } else { TypeKind::Instance }
}

impl<'a> Contents<'a> {
    /// Finds the decoders. `type_of` is the type of each class, in the order of the table.
    pub(super) fn new(
        bytes: &'a [u8],
        scan: &Scan<'a>,
        positions: Positions,
        type_of: &[TypeId],
    ) -> Self {
        let decoder = |class: &Class| {
            let field = |name: &[u8]| class.own_field(name, &scan.strings, scan.ids);
            let int = |name| {
                field(name).filter(|(_, kind)| *kind == FieldType::Int).map(|(offset, _)| offset)
            };
            let (value, value_type) = field(b"value")?;
            match kind(scan.strings.text(class.name)) {
                TypeKind::Text if value_type == FieldType::Object => {
                    Some(Decoder::Text(TextFields {
                        value,
                        coder: field(b"coder").map(|(offset, _)| offset),
                        part: int(b"offset").zip(int(b"count")),
                    }))
                }
                TypeKind::Number if value_type != FieldType::Object => {
                    Some(Decoder::Number { offset: value, kind: value_type })
                }
                _ => None,
            }
        };
        let types =
            type_of.iter().map(|of| of.0 as usize).max().map_or(0, |last| last.saturating_add(1));
        let mut decoders = vec![None; types];
        for (class, of) in scan.classes.iter().zip(type_of) {
            if let Some(of) = decoders.get_mut(of.0 as usize) {
                *of = decoder(class).or(*of);
            }
        }
        Self {
            bytes,
            ids: scan.ids,
            decoders,
            classes: scan
                .classes
                .iter()
                .zip(type_of)
                .map(|(class, type_id)| (class.dump.id, *type_id))
                .collect(),
            positions,
            big_endian_texts: is_big_endian(scan),
        }
    }

    fn decoder(&self, of: TypeId) -> Option<&Decoder> {
        self.decoders.get(of.0 as usize)?.as_ref()
    }

    pub(super) fn record(&self, object: ObjectId) -> Option<HeapRec<'a>> {
        let mut cursor = Cursor::at(self.bytes, self.positions.get(object));
        match Object::at_start(cursor.rest(), self.ids) {
            Some((object, _)) => Some(HeapRec::Object(object)),
            None => read_heap_record(&mut cursor, self.ids).ok(),
        }
    }

    pub(super) fn instance(&self, object: ObjectId) -> Option<Instance<'a>> {
        match self.record(object)? {
            HeapRec::Object(Object::Instance(instance)) => Some(instance),
            _ => None,
        }
    }

    /// The text of a java.lang.String or an array of chars, by its id, with its length in code
    /// units.
    pub(super) fn text(&self, id: u64, addresses: &Addresses) -> Option<(Cow<'a, str>, u64)> {
        match self.record(addresses.at(id)?)? {
            HeapRec::Object(Object::Instance(instance)) => {
                match self.classes.get(&instance.class).and_then(|type_id| self.decoder(*type_id)) {
                    Some(Decoder::Text(fields)) => self.string(&instance, fields, addresses),
                    _ => None,
                }
            }
            HeapRec::Object(Object::PrimitiveArray(array)) if array.element == FieldType::Char => {
                utf16(array.contents?, true)
            }
            _ => None,
        }
    }

    fn string(
        &self,
        instance: &Instance<'a>,
        fields: &TextFields,
        addresses: &Addresses,
    ) -> Option<(Cow<'a, str>, u64)> {
        let array = self.record(addresses.at(self.ids.at(instance.values, fields.value))?)?;
        let HeapRec::Object(Object::PrimitiveArray(array)) = array else { return None };
        let contents = array.contents?;
        match array.element {
            FieldType::Byte => match fields.coder.and_then(|coder| instance.values.get(coder)) {
                None | Some(0) => Some((latin1(contents), contents.len() as u64)),
                Some(_) => utf16(contents, self.big_endian_texts),
            },
            FieldType::Char => {
                let number =
                    |offset: usize| match FieldType::Int.value(instance.values.get(offset..)?)? {
                        FieldValue::Integer(number) => usize::try_from(number).ok(),
                        _ => None,
                    };
                // Android keeps a flag in the lowest bit of its count, but has no offset.
                let part = fields.part.and_then(|(offset, count)| {
                    let start = number(offset)?.checked_mul(2)?;
                    contents.get(start..start.checked_add(number(count)?.checked_mul(2)?)?)
                });
                utf16(part.unwrap_or(contents), true)
            }
            _ => None,
        }
    }
}

impl<'a> Contents<'a> {
    pub(super) fn value(&self, heap: &Heap<'a>, object: ObjectId) -> Value<'a> {
        let Ids::Addresses(addresses) = &heap.ids else { return Value::None };
        let Some(type_id) = heap.type_of.get(object.index()) else { return Value::None };
        match self.record(object) {
            Some(HeapRec::Object(Object::Instance(instance))) => match self.decoder(type_id) {
                Some(Decoder::Text(fields)) => match self.string(&instance, fields, addresses) {
                    Some((text, length)) => Value::Text { text, length },
                    None => Value::None,
                },
                Some(Decoder::Number { offset, kind }) => {
                    match kind.value(instance.values.get(*offset..).unwrap_or_default()) {
                        Some(FieldValue::Boolean(value)) => Value::Boolean(value),
                        Some(FieldValue::Integer(value)) => Value::Integer(value),
                        Some(FieldValue::Float(value)) => Value::Float(value),
                        Some(FieldValue::Object(_)) | None => Value::None,
                    }
                }
                None => Value::None,
            },
            Some(HeapRec::Object(Object::ObjectArray(array))) => Value::Length(array.count.into()),
            Some(HeapRec::Object(Object::PrimitiveArray(array))) => match array.contents {
                Some(contents) => Value::Bytes(contents.into()),
                None => Value::Length(array.count.into()),
            },
            Some(HeapRec::ClassDump(class)) => {
                let name = self
                    .classes
                    .get(&class.id)
                    .and_then(|type_id| heap.types.get(type_id.0 as usize));
                name.map_or(Value::None, |named| {
                    Value::Name(heap.names.text(named.name).to_owned().into())
                })
            }
            _ => Value::None,
        }
    }
}

/// Whether the machine was big-endian. The JDK has a static field with the shift of the first byte
/// of a char.
fn is_big_endian(scan: &Scan<'_>) -> bool {
    let class = scan.classes.named("java.lang.StringUTF16", &scan.strings);
    class.is_some_and(|class| {
        class.dump.statics.iter().any(|field| {
            scan.strings.text(field.name) == b"HI_BYTE_SHIFT"
                && field.value == FieldValue::Integer(8)
        })
    })
}

fn utf16<'a>(bytes: &[u8], big_endian: bool) -> Option<(Cow<'a, str>, u64)> {
    let unit = |pair: &[u8]| {
        let pair = [*pair.first()?, *pair.get(1)?];
        Some(if big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
    };
    let units: Vec<u16> = bytes.chunks_exact(2).filter_map(unit).collect();
    Some((String::from_utf16_lossy(&units).into(), units.len() as u64))
}
