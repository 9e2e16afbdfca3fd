//! The fields of a class: references, then the known contents or the value, then padding up to the
//! size.

use super::{Plan, ValueKind};
use crate::java::FieldType;
use crate::model::heap::{Heap, LabelKind};
use crate::output::hprof::filling::Filling;
use crate::output::hprof::layout::Layout;

/// One field of a class, or several consecutive ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Field {
    /// The reference of this row of [`Plan::keys`].
    Reference(u32),
    /// The array that represents external bytes.
    External,
    /// Memory at this offset, as this many numbers of a type.
    Contents(u32, u16, FieldType),
    /// The value of the object.
    Value(FieldType),
    /// Zeros at this position of the instance, as this many numbers of a type.
    Pad(u32, u16, FieldType),
}

/// Number types, the widest first.
const NUMBERS: [(FieldType, u64); 4] =
    [(FieldType::Long, 8), (FieldType::Int, 4), (FieldType::Short, 2), (FieldType::Byte, 1)];

pub(super) fn fields(plan: &mut Plan, heap: &Heap<'_>, layout: &Layout, filling: &mut Filling) {
    let references =
        (plan.keys.len() + usize::from(plan.external.has_array())) as u64 * layout.reference();
    let mut room = plan.size.saturating_sub(layout.header() + references);
    plan.keys.shrink_to_fit();
    plan.referent = plan.keys.iter().position(|&(_, weak)| weak).map(|row| row as u32);
    plan.length = references;
    let before = room;
    let mut fields: Vec<Field> = Vec::new();
    match plan.value {
        ValueKind::Bytes => {
            let word = if heap.pointer_size == 4 { 4 } else { 8 };
            let covered = contents(plan, word, &mut room, &mut fields);
            plan.unwritten = plan.size.saturating_sub(covered);
            plan.length += before - room;
        }
        value => {
            fields.extend(own_references(plan).map(Field::Reference));
            if let Some((field, width)) = value_field(value, plan.size, room) {
                fields.push(field);
                plan.length += width;
                room = room.saturating_sub(width);
            }
        }
    }
    if plan.external.has_array() {
        fields.push(Field::External);
    }
    let cut = cut_pads(room, layout, filling);
    room -= cut;
    plan.shown -= cut;
    plan.length += room;
    let mut place = plan.size - room.min(plan.size);
    for (basic, width) in NUMBERS {
        let count = room / width;
        if count > 0 {
            fields.push(Field::Pad(place as u32, count as u16, basic));
        }
        place += count * width;
        room %= width;
    }
    // Inherited fields come last.
    fields.extend(plan.referent.map(Field::Reference));
    fields.shrink_to_fit();
    plan.reads_value =
        fields.iter().any(|field| matches!(field, Field::Contents(..) | Field::Value(_)));
    plan.fields = fields;
}

/// Returns the bytes of padding that exceed the limits: for each object, and for the fields of
/// another class. Sizes stay multiples of 8.
fn cut_pads(room: u64, layout: &Layout, filling: &mut Filling) -> u64 {
    let cut = room.saturating_sub(filling.limit);
    if filling.take_class_fields((room - cut) / 8 * (layout.reference() + 1)) {
        cut.next_multiple_of(8).min(room)
    } else {
        room / 8 * 8
    }
}

/// Rows of the references that are fields of the class itself.
fn own_references(plan: &Plan) -> impl Iterator<Item = u32> + use<> {
    let referent = plan.referent;
    (0..plan.keys.len() as u32).filter(move |&row| Some(row) != referent)
}

/// Adds fields in the order of memory: references at their offsets, and numbers for all other words
/// as long as there is space. Returns the number of bytes of memory that they cover.
fn contents(plan: &Plan, word: u64, room: &mut u64, fields: &mut Vec<Field>) -> u64 {
    let word_of = |row: u32| match plan.keys[row as usize].0.kind() {
        LabelKind::Offset(offset) => u64::from(offset) / word * word,
        // References without an offset come first.
        _ => 0,
    };
    let is_placed = |row: u32| matches!(plan.keys[row as usize].0.kind(), LabelKind::Offset(_));
    // Keys are sorted, offsets last.
    let mut references = (0..plan.keys.len() as u32).peekable();
    let push = |row: u32, fields: &mut Vec<Field>| {
        if Some(row) != plan.referent {
            fields.push(Field::Reference(row));
        }
    };
    while let Some(row) = references.next_if(|&row| !is_placed(row)) {
        push(row, fields);
    }
    let mut covered = 0;
    let mut at = 0;
    while at < plan.size {
        let next = (at + word).min(plan.size);
        let mut is_reference = false;
        while let Some(row) = references.next_if(|&row| word_of(row) <= at) {
            push(row, fields);
            is_reference = true;
        }
        if is_reference {
            covered += next - at;
            at = next;
            continue;
        }
        for (basic, width) in NUMBERS.into_iter().filter(|&(_, width)| width <= word) {
            while at + width <= next && *room >= width {
                add_contents(at as u32, basic, width, fields);
                covered += width;
                *room -= width;
                at += width;
            }
        }
        at = next;
    }
    references.for_each(|row| push(row, fields));
    covered
}

/// Adds a number: to the run of the last field if it continues that run, otherwise as a new field.
fn add_contents(at: u32, basic: FieldType, width: u64, fields: &mut Vec<Field>) {
    if let Some(Field::Contents(start, count, last)) = fields.last_mut()
        && *last == basic
        && u64::from(*start) + u64::from(*count) * width == u64::from(at)
    {
        *count += 1;
        return;
    }
    fields.push(Field::Contents(at, 1, basic));
}

/// A field for a value that is a number, if there is room, and its width. Objects without a size,
/// such as small integers of Dart, get a field, too: no reader shows a size of 0.
fn value_field(value: ValueKind, size: u64, room: u64) -> Option<(Field, u64)> {
    let (basic, width) = match value {
        ValueKind::Integer => (FieldType::Long, 8),
        ValueKind::Float => (FieldType::Double, 8),
        ValueKind::Boolean => (FieldType::Boolean, 1),
        ValueKind::Length if room >= 8 => (FieldType::Long, 8),
        ValueKind::Length => (FieldType::Int, 4),
        _ => return None,
    };
    (room >= width || size == 0).then_some((Field::Value(basic), width))
}
