//! The fields of a class: references, then what is known of the contents or the value, then pads up to the size.

use super::{Key, Plan, ValueKind};
use crate::model::heap::{Heap, Label, LabelKind};
use crate::output::hprof::layout::Layout;
use crate::output::hprof::records::Basic;

/// A field of a class.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Field {
    pub(in super::super) name: FieldName,
    pub(in super::super) kind: FieldKind,
}

/// What a field is called.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum FieldName {
    /// By a reference.
    Label(Label),
    /// By its place in memory: `0x18`.
    Offset(u32),
    /// By its place in the instance: `~pad24`.
    Pad(u32),
    /// `~external`.
    External,
    /// `value`.
    Value,
    /// `length`.
    Length,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum FieldKind {
    /// The reference of this row of [`Plan::keys`].
    Reference(u32),
    /// The array that stands for external bytes.
    External,
    /// Bytes of memory from this offset, as a number of this type.
    Contents(u32, Basic),
    /// The value of the object.
    Value(Basic),
    /// Zeros.
    Pad(Basic),
}

impl FieldKind {
    /// Its type.
    pub(in super::super) fn basic(self) -> Basic {
        match self {
            Self::Reference(_) | Self::External => Basic::Object,
            Self::Contents(_, basic) | Self::Value(basic) | Self::Pad(basic) => basic,
        }
    }
}

/// Number types, the widest first.
const NUMBERS: [(Basic, u64); 4] = [(Basic::Long, 8), (Basic::Int, 4), (Basic::Short, 2), (Basic::Byte, 1)];

/// Finds the fields of a plan.
pub(super) fn fields(plan: &mut Plan, heap: &Heap<'_>, layout: &Layout) {
    let references = (plan.keys.len() + usize::from(plan.external)) as u64 * layout.reference();
    let mut room = plan.size.saturating_sub(layout.header() + references);
    plan.referent = plan.keys.iter().position(|&(_, weak)| weak);
    let mut fields: Vec<Field> = Vec::new();
    for (row, &(label, _)) in plan.keys.iter().enumerate().filter(|&(row, _)| Some(row) != plan.referent) {
        fields.push(Field { name: FieldName::Label(label), kind: FieldKind::Reference(row as u32) });
    }
    match plan.value {
        ValueKind::Bytes => {
            let word = if heap.pointer_size == 4 { 4 } else { 8 };
            let covered = contents(plan.size, word, &plan.keys, &mut room, &mut fields);
            plan.unwritten = plan.size.saturating_sub(covered);
            fields.sort_by_key(|field| offset(field.name));
        }
        value => fields.extend(value_field(value, plan.size, &mut room)),
    }
    if plan.external {
        fields.push(Field { name: FieldName::External, kind: FieldKind::External });
    }
    let mut place = plan.size.saturating_sub(room);
    let first_pad = fields.len();
    plan.padding = room;
    for (basic, width) in NUMBERS {
        while room >= width {
            fields.push(Field { name: FieldName::Pad(place as u32), kind: FieldKind::Pad(basic) });
            place += width;
            room -= width;
        }
    }
    plan.pads = first_pad..fields.len();
    plan.length = fields.iter().map(|field| width(field.kind.basic(), layout)).sum();
    if let Some(row) = plan.referent {
        // Inherited fields come last.
        fields.push(Field { name: FieldName::Label(plan.keys[row].0), kind: FieldKind::Reference(row as u32) });
        plan.length += layout.reference();
    }
    plan.reads_value = fields.iter().any(|field| matches!(field.kind, FieldKind::Contents(..) | FieldKind::Value(_)));
    plan.fields = fields;
}

/// Fields for the words that are no references, as long as there is room. Returns how many bytes of memory are said.
fn contents(size: u64, word: u64, keys: &[Key], room: &mut u64, fields: &mut Vec<Field>) -> u64 {
    let mut pointers = keys.iter().filter_map(|(label, _)| match label.kind() {
        LabelKind::Offset(offset) => Some(u64::from(offset) / word * word),
        _ => None,
    });
    let mut pointer = pointers.next();
    let mut covered = 0;
    let mut at = 0;
    while at < size {
        while pointer.is_some_and(|pointer| pointer < at) {
            pointer = pointers.next();
        }
        let next = (at + word).min(size);
        if pointer == Some(at) {
            covered += next - at;
            at = next;
            continue;
        }
        for (basic, width) in NUMBERS.into_iter().filter(|&(_, width)| width <= word) {
            while at + width <= next && *room >= width {
                fields.push(Field { name: FieldName::Offset(at as u32), kind: FieldKind::Contents(at as u32, basic) });
                covered += width;
                *room -= width;
                at += width;
            }
        }
        at = next;
    }
    covered
}

/// A field for a value that is a number, if there is room. Objects without a size, such as small integers of Dart, get one
/// all the same: no reader shows them as nothing.
fn value_field(value: ValueKind, size: u64, room: &mut u64) -> Option<Field> {
    let (name, basic, width) = match value {
        ValueKind::Integer => (FieldName::Value, Basic::Long, 8),
        ValueKind::Float => (FieldName::Value, Basic::Double, 8),
        ValueKind::Boolean => (FieldName::Value, Basic::Boolean, 1),
        ValueKind::Length if *room >= 8 => (FieldName::Length, Basic::Long, 8),
        ValueKind::Length => (FieldName::Length, Basic::Int, 4),
        _ => return None,
    };
    if *room < width && size > 0 {
        return None;
    }
    *room = room.saturating_sub(width);
    Some(Field { name, kind: FieldKind::Value(basic) })
}

fn offset(name: FieldName) -> u64 {
    match name {
        FieldName::Offset(offset) => offset.into(),
        FieldName::Label(label) => match label.kind() {
            LabelKind::Offset(offset) => offset.into(),
            _ => 0,
        },
        _ => u64::MAX,
    }
}

/// Bytes of a field.
pub(in super::super) fn width(basic: Basic, layout: &Layout) -> u64 {
    match basic {
        Basic::Object => layout.reference(),
        Basic::Boolean | Basic::Byte => 1,
        Basic::Char | Basic::Short => 2,
        Basic::Int => 4,
        Basic::Double | Basic::Long => 8,
    }
}
