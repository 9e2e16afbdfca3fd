//! Instances with the names and values of their fields, for `cat`.
//!
//! HotSpot and Android write strings and classes before the instances that need them. The fields of
//! instances that precede their class in the file remain unknown.

use super::classes::{ClassDump, Field, Static};
use super::naming::Strings;
use super::objects::{Instance, Object};
use super::primitives::IdSize;
use super::records::{Body, HeapRec, Rec, Records};
use crate::error::Result;
use crate::input::read::{ReadOptions, Visitor};
use crate::java::class_name;
use crate::model::fields::{FieldSink, Record};
use rustc_hash::FxHashMap;

/// Passes every record to the visitor, instances with their fields.
pub fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let records = Records::new(bytes)?;
    let mut known = Known { ids: records.header().id_size, ..Known::default() };
    for (i, record) in records.enumerate() {
        let (offset, record) = record?;
        if i % 65536 == 0 {
            (options.progress)(offset);
        }
        known.add(&record);
        if visitor.record(offset, &Annotated { record, known: &known }).is_break() {
            break;
        }
    }
    Ok(())
}

/// A record, with the strings and classes that were read before it.
struct Annotated<'k, 'a> {
    record: Rec<'a>,
    known: &'k Known<'a>,
}

#[derive(Default)]
struct Known<'a> {
    ids: IdSize,
    strings: Strings<'a>,
    /// The string ids of class names, by class id.
    names: FxHashMap<u64, u64>,
    classes: FxHashMap<u64, ClassDump<'a>>,
}

impl<'a> Known<'a> {
    /// Stores a string or class. If several have the same id, the first one counts.
    #[inline]
    fn add(&mut self, record: &Rec<'a>) {
        match record {
            Rec::Top { body: Body::Utf8(string), .. } => {
                _ = self.strings.add(string.id, string.text)
            }
            Rec::Top { body: Body::LoadClass(class), .. } => {
                _ = self.names.entry(class.class).or_insert(class.name)
            }
            Rec::Heap(HeapRec::ClassDump(class)) => {
                _ = self.classes.entry(class.id).or_insert(*class)
            }
            _ => {}
        }
    }

    /// The fields of an instance with the class of each, as far as its data reaches.
    fn fields(&self, instance: &Instance<'a>) -> impl Iterator<Item = (u64, Static)> {
        let mut rest = instance.values;
        let classes = std::iter::successors(self.classes.get(&instance.class), |class| {
            self.classes.get(&class.super_class)
        });
        let fields = classes
            .take(MAX_DEPTH)
            .flat_map(|class| class.fields.iter().map(|field| (class.id, field)));
        fields.map_while(move |(class, Field { name, kind })| {
            let (value, after) = rest.split_at_checked(kind.size(self.ids))?;
            rest = after;
            Some((class, Static { name, kind, value: kind.value(value)? }))
        })
    }
}

/// The longest chain of superclasses that is followed, so that a cycle ends.
const MAX_DEPTH: usize = 64;

impl Record for Annotated<'_, '_> {
    fn name(&self) -> &'static str {
        self.record.name()
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        self.record.fields(sink);
        let Rec::Heap(HeapRec::Object(Object::Instance(instance))) = &self.record else { return };
        if !sink.wants_contents() {
            return;
        }
        let known = self.known;
        sink.list("field_values", known.fields(instance), |(class, field), sink| {
            let name = known.strings.text(known.names.get(&class).copied().unwrap_or(0));
            sink.text("class", class_name(name, false).as_bytes());
            sink.text("name", known.strings.text(field.name));
            field.pass_to(sink);
        });
    }
}
