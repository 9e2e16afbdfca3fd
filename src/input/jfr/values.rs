//! Values of fields, and the pools that they refer to.

use super::chunk::{CHECKPOINT, Chunk, Event, METADATA};
use super::metadata::Step;
use super::metadata::{ClassId, DEEPEST, Field, Kind, Types};
use super::wire::{Text, skip_varints, varint};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::names::JavaMapping;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// A number or a boolean.
    Number(u64),
    Float(f64),
    Text(Text<'a>),
    Pooled(ClassId, u64),
    Fields(ClassId, Cursor<'a>),
    /// An array: the number of its elements, and the elements.
    Array(u64, Cursor<'a>),
}

impl Value<'_> {
    pub(super) fn number(&self) -> u64 {
        match *self {
            Self::Number(number) => number,
            _ => 0,
        }
    }
}

/// The types of a chunk and the places of its pools, known before its events are read.
pub(super) struct Tables<'a> {
    pub(super) chunk: Chunk<'a>,
    pub(super) types: Rc<Types>,
    pools: FxHashMap<ClassId, Pool>,
    /// The class whose pool has strings.
    strings: Option<ClassId>,
    pub(super) mapping: Option<&'a JavaMapping>,
}

#[derive(Default)]
struct Pool {
    /// The number of each value, and its offset from the start of the chunk.
    places: Vec<(u64, u32)>,
    /// The places by number, once a value is requested: nothing refers to most pools.
    by_number: OnceCell<FxHashMap<u64, u32>>,
}

impl Pool {
    fn place(&self, number: u64) -> Option<u32> {
        self.by_number.get_or_init(|| self.places.iter().copied().collect()).get(&number).copied()
    }
}

/// The types of the last chunks. Chunks of one program have equal metadata except for the time, and
/// the metadata is larger than the events of a short chunk.
#[derive(Default)]
pub(super) struct KnownTypes<'a> {
    kept: Vec<(&'a [u8], Rc<Types>)>,
    /// The names that a minified program had, for the tables of all chunks.
    mapping: Option<&'a JavaMapping>,
}

impl<'a> KnownTypes<'a> {
    /// No types yet, and the names that a minified program had.
    pub(super) fn new(mapping: Option<&'a JavaMapping>) -> Self {
        Self { kept: Vec::new(), mapping }
    }

    /// The number of different types to keep: one file may hold recordings of several programs.
    const KEPT: usize = 4;

    fn read(&mut self, metadata: &Event<'a>) -> Result<Rc<Types>> {
        let mut cursor = metadata.fields;
        for what in ["the start of metadata", "the duration of metadata", "the id of metadata"] {
            varint(&mut cursor, what)?;
        }
        let bytes = cursor.rest();
        if let Some((_, types)) = self.kept.iter().find(|(known, _)| *known == bytes) {
            return Ok(Rc::clone(types));
        }
        let types = Rc::new(Types::read(cursor, metadata.offset)?);
        self.kept.truncate(Self::KEPT.saturating_sub(1));
        self.kept.insert(0, (bytes, Rc::clone(&types)));
        Ok(types)
    }
}

/// Bytes of memory for a pooled value's place, including the table's spare room.
const BYTES_PER_VALUE: u64 = 64;

impl<'a> Tables<'a> {
    /// Reads the metadata and finds the pools of a chunk. Also returns the first damage; the events
    /// before it can be read. Fails if the chunk has no metadata that can be read.
    pub(super) fn read(
        chunk: Chunk<'a>,
        known: &mut KnownTypes<'a>,
    ) -> Result<(Self, Option<Error>)> {
        let (mut tables, checkpoints, mut damage) = Self::without_pools(chunk, known)?;
        for checkpoint in checkpoints {
            if let Err(error) = tables.read_checkpoint(checkpoint.fields) {
                damage.get_or_insert(error);
            }
        }
        Ok((tables, damage))
    }

    /// Reads the metadata of a chunk and leaves its pools empty. Also returns its checkpoints, and
    /// the damage if all events had to be searched for them. In a finished chunk, the header leads
    /// to the metadata and the checkpoints.
    pub(super) fn without_pools(
        chunk: Chunk<'a>,
        known: &mut KnownTypes<'a>,
    ) -> Result<(Self, Vec<Event<'a>>, Option<Error>)> {
        let mut damage = None;
        let (metadata, checkpoints) = match chunk.linked() {
            Some((metadata, checkpoints)) => (Some(metadata), checkpoints),
            None => {
                let (mut metadata, mut checkpoints) = (None, Vec::new());
                let mut events = chunk.events();
                for event in events.by_ref() {
                    match event.type_id {
                        METADATA => metadata = Some(event),
                        CHECKPOINT => checkpoints.push(event),
                        _ => {}
                    }
                }
                damage = events.damage();
                (metadata, checkpoints)
            }
        };
        let Some(metadata) = metadata else {
            return Err(damage.unwrap_or_else(|| {
                Error::truncated(chunk.offset, "a chunk without metadata")
                    .hint("the program ended before it wrote the chunk's metadata")
            }));
        };
        let types = known.read(&metadata)?;
        let strings = types.named("java.lang.String");
        let mapping = known.mapping;
        let tables = Self { strings, types, pools: FxHashMap::default(), chunk, mapping };
        Ok((tables, checkpoints, damage))
    }

    /// Approximate memory of the tables in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let values = self.pools.values().map(|pool| pool.places.len() as u64);
        values.fold(0, u64::saturating_add).saturating_mul(BYTES_PER_VALUE)
    }

    fn read_checkpoint(&mut self, mut cursor: Cursor<'a>) -> Result<()> {
        for what in ["the start of a checkpoint", "a duration", "the offset of a checkpoint"] {
            varint(&mut cursor, what)?;
        }
        cursor.u8("the kind of a checkpoint")?;
        let pools = varint(&mut cursor, "the number of pools")?;
        for _ in 0..pools {
            let offset = cursor.offset();
            let id = varint(&mut cursor, "the class of a pool")?;
            let class = self.types.find(id).ok_or_else(|| {
                Error::corrupt(offset, format!("a pool of the unknown class {id}"))
                    .expected("a class of the chunk's metadata")
            })?;
            let mut pool = self.pools.remove(&class).unwrap_or_default();
            let read = self.read_pool(class, &mut cursor, &mut pool.places);
            self.pools.insert(class, pool);
            read?;
        }
        Ok(())
    }

    fn read_pool(
        &self,
        class: ClassId,
        cursor: &mut Cursor<'a>,
        places: &mut Vec<(u64, u32)>,
    ) -> Result<()> {
        let count = varint(cursor, "the number of pooled values")?;
        for _ in 0..count {
            let id = varint(cursor, "the number of a pooled value")?;
            let place = cursor.offset().wrapping_sub(self.chunk.offset);
            let place = u32::try_from(place)
                .map_err(|_| Error::unsupported(cursor.offset(), "a chunk of more than 4 GiB"))?;
            self.skip(class, cursor, 0)?;
            places.push((id, place));
        }
        Ok(())
    }

    fn skip(&self, class: ClassId, cursor: &mut Cursor<'a>, depth: u32) -> Result<()> {
        let Some(described) = self.types.class(class) else { return Err(unknown(cursor.offset())) };
        if depth > DEEPEST {
            return Err(Error::corrupt(cursor.offset(), "values that contain each other")
                .expected(format!("at most {DEEPEST} levels")));
        }
        let depth = depth.wrapping_add(1);
        for step in &described.steps {
            match *step {
                Step::Numbers(count) => skip_varints(cursor, count)?,
                Step::Bytes(count) => drop(cursor.take(count, "a number")?),
                Step::Text => drop(Text::read(cursor)?),
                Step::Value(class) => self.skip(class, cursor, depth)?,
                Step::NumberArray => {
                    let count = varint(cursor, "the length of an array")?;
                    skip_varints(cursor, count)?;
                }
                Step::Array(class) => self.skip_array(class, cursor, depth)?,
            }
        }
        Ok(())
    }

    fn skip_array(&self, class: ClassId, cursor: &mut Cursor<'a>, depth: u32) -> Result<()> {
        let count = varint(cursor, "the length of an array")?;
        match self.types.class(class).map(|class| class.steps.as_slice()) {
            // Values without bytes are not visited.
            Some([]) => Ok(()),
            Some([Step::Numbers(each)]) => skip_varints(cursor, count.saturating_mul(*each)),
            _ => (0..count).try_for_each(|_| self.skip(class, cursor, depth)),
        }
    }

    fn skip_field(&self, field: &Field, cursor: &mut Cursor<'a>) -> Result<()> {
        match (field.is_array, field.is_pooled) {
            (false, true) => skip_varints(cursor, 1),
            (false, false) => self.skip(field.class, cursor, 0),
            (true, true) => {
                let count = varint(cursor, "the length of an array")?;
                skip_varints(cursor, count)
            }
            (true, false) => self.skip_array(field.class, cursor, 0),
        }
    }

    #[inline]
    pub(super) fn value(&self, field: &Field, cursor: &mut Cursor<'a>) -> Result<Value<'a>> {
        if field.is_array {
            let (count, elements) = self.array(field, *cursor)?;
            self.skip_field(field, cursor)?;
            return Ok(Value::Array(count, elements));
        }
        self.element(field, cursor)
    }

    /// The number of elements of an array, and where they begin. Elements without bytes are left
    /// out, because no bytes of the file bound their number.
    pub(super) fn array(&self, field: &Field, mut cursor: Cursor<'a>) -> Result<(u64, Cursor<'a>)> {
        let count = varint(&mut cursor, "the length of an array")?;
        let steps = self.types.class(field.class).map(|class| class.steps.as_slice());
        Ok((if steps == Some(&[]) && !field.is_pooled { 0 } else { count }, cursor))
    }

    /// Reads one element of an array, or the value of a field that is not an array.
    #[inline]
    pub(super) fn element(&self, field: &Field, cursor: &mut Cursor<'a>) -> Result<Value<'a>> {
        if field.is_pooled {
            let id = varint(cursor, "the number of a pooled value")?;
            return Ok(Value::Pooled(field.class, id));
        }
        let Some(class) = self.types.class(field.class) else {
            return Err(unknown(cursor.offset()));
        };
        Ok(match class.kind {
            Kind::Byte => Value::Number(cursor.u8("a byte")?.into()),
            Kind::Number => Value::Number(varint(cursor, "a number")?),
            Kind::Float => {
                let bits = cursor.u32::<byteorder::BE>("a number")?;
                Value::Float(f32::from_bits(bits).into())
            }
            Kind::Double => Value::Float(f64::from_bits(cursor.u64::<byteorder::BE>("a number")?)),
            Kind::Text => Value::Text(Text::read(cursor)?),
            Kind::Fields => {
                let start = *cursor;
                self.skip(field.class, cursor, 0)?;
                Value::Fields(field.class, start)
            }
        })
    }

    /// The values of the fields of a class up to the one at a position.
    pub(super) fn first_values(
        &self,
        class: ClassId,
        last: usize,
        cursor: &mut Cursor<'a>,
        values: &mut Vec<Value<'a>>,
    ) -> Result<()> {
        values.clear();
        let fields = self.types.class(class).map_or(&[][..], |class| &class.fields);
        for field in fields.iter().take(last.saturating_add(1)) {
            values.push(self.value(field, cursor)?);
        }
        Ok(())
    }

    /// The values of all fields of a class, in the order of its fields.
    pub(super) fn values(
        &self,
        class: ClassId,
        cursor: &mut Cursor<'a>,
        values: &mut Vec<Value<'a>>,
    ) -> Result<()> {
        self.first_values(class, usize::MAX, cursor, values)
    }

    /// The field of a value with this name. `None` if the class has no such field, or the value is
    /// missing: recordings refer to pooled values that they do not contain.
    pub(super) fn field(&self, value: Value<'a>, name: &str) -> Option<Value<'a>> {
        let (field, mut cursor) = self.field_at(value, name)?;
        self.value(field, &mut cursor).ok()
    }

    /// The field of a value with this name, and where its bytes begin. `None` as for
    /// [`Tables::field`].
    pub(super) fn field_at(&self, value: Value<'a>, name: &str) -> Option<(&Field, Cursor<'a>)> {
        let (class, mut cursor) = self.resolve(value)?;
        let class = self.types.class(class)?;
        let wanted = class.position(name)?;
        for field in class.fields.get(..wanted)? {
            self.skip_field(field, &mut cursor).ok()?;
        }
        Some((class.fields.get(wanted)?, cursor))
    }

    /// The fields of an event. `None` if the metadata does not describe its type.
    pub(super) fn event(&self, event: Event<'a>) -> Option<Value<'a>> {
        Some(Value::Fields(self.types.find(event.type_id)?, event.fields))
    }

    /// The number in the field of a value with this name, or 0.
    pub(super) fn number(&self, value: Value<'a>, name: &str) -> u64 {
        self.field(value, name).map_or(0, |field| field.number())
    }

    /// Returns the class of a value, pooled or not, and a cursor at its fields.
    pub(super) fn resolve(&self, value: Value<'a>) -> Option<(ClassId, Cursor<'a>)> {
        match value {
            Value::Pooled(class, id) => {
                let place = self.pools.get(&class)?.place(id)?;
                Some((class, self.chunk.at(place as usize)))
            }
            Value::Fields(class, cursor) => Some((class, cursor)),
            _ => None,
        }
    }

    /// The text of a string value, also of a pooled one.
    pub(super) fn text(&self, value: Value<'a>) -> Option<Cow<'a, str>> {
        let text = match value {
            Value::Text(Text::Pooled(id)) => {
                let (_, mut cursor) = self.resolve(Value::Pooled(self.strings?, id))?;
                Text::read(&mut cursor).ok()?
            }
            Value::Text(text) => text,
            Value::Pooled(..) => {
                let (class, mut cursor) = self.resolve(value)?;
                if self.types.class(class)?.kind != Kind::Text {
                    return self.text_of_only_field(value);
                }
                Text::read(&mut cursor).ok()?
            }
            _ => return None,
        };
        text.decode()
    }

    /// The text of a value whose class has one field, such as a symbol.
    fn text_of_only_field(&self, value: Value<'a>) -> Option<Cow<'a, str>> {
        let (class, mut cursor) = self.resolve(value)?;
        let [field] = self.types.class(class)?.fields.as_slice() else { return None };
        match self.value(field, &mut cursor).ok()? {
            Value::Text(text) => self.text(Value::Text(text)),
            _ => None,
        }
    }
}

#[cold]
fn unknown(offset: u64) -> Error {
    Error::corrupt(offset, "a value of an unknown class").expected("a class of the metadata")
}
