//! Objects with fields: the places of references and values in an instance, found once for each
//! plan.

use super::class_table::Classes;
use super::ephemerons::is_weak;
use super::ids::IdSpace;
use super::layout::Layout;
use super::plan::{Field, Form, Key, Plan, Plans, ValueKind};
use super::records::{put_id, width};
use super::report::{HprofReport, LossKind, Losses};
use super::spill::External;
use crate::analysis::prefetch::prefetch;
use crate::java::FieldType;
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, Value};
use std::ops::Range;

/// The plans for all objects with fields. The data of an object lies in few places, which are
/// prefetched before its turn comes: objects come in no order of plans, and waiting for memory
/// would take most of the time.
pub(super) struct Instances {
    /// The instance of each plan.
    list: Vec<Instance>,
    /// One slot for each key of each plan.
    slots: Vec<Slot>,
    /// The position of the reference of each key, in bytes; parallel to `slots`.
    places: Vec<u32>,
    /// Fields that are not references, and their positions.
    values: Vec<(u32, Field)>,
}

/// One plan for objects, in one line of the processor's cache.
#[repr(align(64))]
pub(super) struct Instance {
    /// Id of the class.
    pub(super) class: u64,
    pub(super) length: u32,
    pub(super) form: Form,
    pub(super) value: ValueKind,
    pub(super) reads_value: bool,
    /// Whether references come in the order of the keys, which is then also the order of the slots.
    /// Otherwise the slots are those of an earlier object, because the next object mostly has the
    /// same labels or the first of them.
    in_order: bool,
    external_kind: External,
    /// The place of the first slot.
    first: usize,
    keys: u32,
    /// The number of slots in use, which come first.
    known: u32,
    /// Rows of `values`.
    values: Range<u32>,
    /// The position of the array of external bytes, in bytes.
    external: u32,
    /// The number of objects so far.
    count: u32,
}

/// The position of a reference in the fields, in bytes.
#[derive(Clone, Copy)]
struct Slot {
    label: Label,
    place: u32,
}

/// Buffers that are reused for each object.
#[derive(Default)]
pub(super) struct Scratch {
    /// References with their keys, sorted, and their places in the object.
    edges: Vec<(Key, u32)>,
    /// `WeakReference`s to write after the object, and their targets.
    pub(super) weak: Vec<(u64, ObjectId)>,
}

/// The data that writing references needs besides their plan.
pub(super) struct Surroundings<'o, 'a> {
    pub(super) heap: &'o Heap<'a>,
    pub(super) wide: bool,
    pub(super) ids: &'o mut IdSpace,
    pub(super) losses: &'o mut Losses,
    pub(super) scratch: &'o mut Scratch,
}

/// The number of objects ahead for which instances and slots are prefetched, if there are too many
/// instances for the processor's cache.
const AHEAD: (usize, usize) = (16, 8);
const MANY: usize = 4096;

impl Instances {
    pub(super) fn of(plans: &Plans, classes: &Classes, ids: &IdSpace, layout: &Layout) -> Self {
        let keys = plans.plans.iter().map(|plan| keys(plan).len()).sum();
        let mut instances = Self {
            list: Vec::with_capacity(plans.plans.len()),
            slots: Vec::with_capacity(keys),
            places: Vec::with_capacity(keys),
            values: Vec::new(),
        };
        for (plan, class) in plans.plans.iter().zip(&classes.of_plan) {
            instances.add(plan, ids.class(*class), layout);
        }
        instances
    }

    fn add(&mut self, plan: &Plan, class: u64, layout: &Layout) {
        let keys = keys(plan);
        let (first, first_value) = (self.places.len(), self.values.len() as u32);
        self.places.resize(first + keys.len(), 0);
        let places = &mut self.places[first..];
        let mut external = 0;
        let mut at = 0;
        for field in &plan.fields {
            match *field {
                Field::Reference(row) => places[row as usize] = at,
                Field::External => external = at,
                Field::Contents(..) | Field::Value(_) => self.values.push((at, *field)),
                Field::Pad(..) => {}
            }
            at += match *field {
                Field::Reference(_) | Field::External => layout.reference() as u32,
                Field::Value(basic) => width(basic),
                Field::Contents(_, count, basic) | Field::Pad(_, count, basic) => {
                    u32::from(count) * width(basic)
                }
            };
        }
        self.slots
            .extend(keys.iter().zip(&*places).map(|(&(label, _), &place)| Slot { label, place }));
        self.list.push(Instance {
            class,
            length: plan.length as u32,
            form: plan.form,
            value: plan.value,
            reads_value: plan.reads_value,
            in_order: plan.in_order && !plan.external.holds(),
            external_kind: plan.external,
            first,
            keys: keys.len() as u32,
            known: if plan.in_order && !plan.external.holds() { keys.len() as u32 } else { 0 },
            values: first_value..self.values.len() as u32,
            external,
            count: 0,
        });
    }

    /// The form in which objects of the plan in this row are written.
    #[inline]
    pub(super) fn get(&self, row: usize) -> &Instance {
        &self.list[row]
    }

    /// Prefetches the data of the objects after this one.
    #[inline]
    pub(super) fn expect(&self, rows: &[u32], object: ObjectId) {
        if self.list.len() < MANY {
            return;
        }
        if let Some(&row) = rows.get(object.index() + AHEAD.0) {
            prefetch(&self.list, row as usize);
        }
        if let Some(&row) = rows.get(object.index() + AHEAD.1) {
            prefetch(&self.slots, self.list[row as usize].first);
        }
    }

    /// Writes the ids of an object's references to their positions in the plan of this row. Returns
    /// the number of references.
    #[inline]
    pub(super) fn fill_references(
        &mut self,
        object: ObjectId,
        row: usize,
        plan: &Plan,
        fields: &mut [u8],
        around: &mut Surroundings<'_, '_>,
    ) -> u64 {
        let instance = &mut self.list[row];
        instance.count += 1;
        if instance.keys == 0 {
            return 0;
        }
        if instance.external_kind.holds() {
            self.fill_in_any_order(object, row, plan, fields, around);
            return around.scratch.edges.len() as u64;
        }
        let references = &around.heap.references;
        let rows = around.heap.fields_of(object);
        let (count, known) = (rows.len(), instance.known as usize);
        let targets = &references.target[rows.clone()];
        let labels = around.heap.labels(object, rows.clone());
        let slots = &self.slots[instance.first..][..known];
        if instance.in_order && !labels.is_empty() {
            fill_in_order(&labels, targets, slots, fields, around);
        } else if instance.in_order || starts_with(slots, &labels) && !references.any_weak(rows) {
            for (slot, &target) in slots.iter().zip(targets) {
                put_id(fields, slot.place as usize, around.ids.object(target), around.wide);
            }
        } else {
            self.fill_in_any_order(object, row, plan, fields, around);
        }
        count as u64
    }

    /// Finds the place of each reference by its key, and updates the slots.
    fn fill_in_any_order(
        &mut self,
        object: ObjectId,
        row: usize,
        plan: &Plan,
        fields: &mut [u8],
        around: &mut Surroundings<'_, '_>,
    ) {
        let references = &around.heap.references;
        let rows = around.heap.fields_of(object);
        let any_weak = references.any_weak(rows.clone());
        let labels = around.heap.labels(object, rows.clone());
        let edges = &mut around.scratch.edges;
        edges.clear();
        let external = self.list[row].external_kind;
        for (index, reference) in (0..)
            .zip(around.heap.references_at(object, rows.clone()))
            .filter(|(_, reference)| external.keeps(reference.label))
        {
            let weak = reference.weak && is_weak(around.heap, object, &reference);
            around.losses.add(LossKind::Ephemeron, (reference.weak && !weak).into());
            edges.push(((reference.label, weak), index));
        }
        // Also sorted by the place in the object, so that equal keys stay in their order.
        edges.sort_unstable();
        let instance = &mut self.list[row];
        let keys = instance.first..instance.first + instance.keys as usize;
        let (slots, places) = (&mut self.slots[keys.clone()], &self.places[keys]);
        instance.known =
            if any_weak || external.holds() { 0 } else { instance.keys.min(labels.len() as u32) };
        let mut key_row = 0;
        for &(key, index) in edges.iter() {
            while plan.keys.get(key_row).is_some_and(|&known| known < key) {
                key_row += 1;
            }
            let Some(&place) = places.get(key_row) else { break };
            if let Some(slot) = slots.get_mut(index as usize) {
                *slot = Slot { label: key.0, place };
            }
            let target = references.target[rows.start + index as usize];
            let mut id = around.ids.object(target);
            if key.1 && plan.referent == Some(key_row as u32) {
                around.losses.add(LossKind::WeakLabel, (key.0.kind() != LabelKind::None).into());
            } else if key.1 {
                id = around.ids.fresh();
                around.scratch.weak.push((id, target));
            }
            put_id(fields, place as usize, id, around.wide);
            key_row += 1;
        }
    }

    /// Writes the number or the memory of an object into its fields, and the reference to the array
    /// of its external bytes. `row` is that of its plan.
    #[inline]
    pub(super) fn fill_values(
        &self,
        row: usize,
        value: &Value<'_>,
        external: Option<u64>,
        fields: &mut [u8],
        around: &mut Surroundings<'_, '_>,
    ) {
        let instance = &self.list[row];
        if let Some(id) = external {
            put_id(fields, instance.external as usize, id, around.wide);
        }
        for &(place, field) in
            &self.values[instance.values.start as usize..instance.values.end as usize]
        {
            let place = &mut fields[place as usize..];
            match field {
                Field::Contents(offset, count, basic) => {
                    put_contents(
                        place,
                        value,
                        offset as usize,
                        count.into(),
                        basic,
                        around.heap.big_endian,
                    );
                }
                Field::Value(basic) if put_number(place, value, basic) => {}
                Field::Value(_) => around.losses.add(LossKind::Value, 1),
                Field::Reference(_) | Field::External | Field::Pad(..) => {}
            }
        }
    }

    /// Counts the written objects. All objects of a plan have one size.
    pub(super) fn account(
        &self,
        plans: &Plans,
        layout: &Layout,
        report: &mut HprofReport,
        losses: &mut Losses,
    ) {
        for (plan, instance) in plans.plans.iter().zip(&self.list) {
            let count = u64::from(instance.count);
            report.add_many(count, plan.shown);
            losses.add_many(
                LossKind::RoundedInstance,
                count,
                layout.instance_size(plan.length).saturating_sub(plan.shown),
            );
            losses.add_many(LossKind::CutSize, count, plan.size - plan.shown);
            losses.add_many(LossKind::Contents, count, plan.unwritten);
            losses.add(LossKind::Value, if plan.loses_value() { count } else { 0 });
        }
    }
}

/// Writes references that come in the order of the slots, some of which are null. The loop branches
/// only on the number of slots, because the processor could not predict which slots are null.
#[inline]
fn fill_in_order(
    labels: &[Label],
    targets: &[ObjectId],
    slots: &[Slot],
    fields: &mut [u8],
    around: &Surroundings<'_, '_>,
) {
    let Some(last) = labels.len().min(targets.len()).checked_sub(1) else { return };
    let mut next = 0;
    for slot in slots {
        let row = next.min(last);
        let is_there = (next <= last) & (labels[row] == slot.label);
        put_id(
            fields,
            slot.place as usize,
            around.ids.object(targets[row]) * u64::from(is_there),
            around.wide,
        );
        next += usize::from(is_there);
    }
}

/// The references of a plan that have fields.
fn keys(plan: &Plan) -> &[Key] {
    if plan.form == Form::Fields { &plan.keys } else { &[] }
}

/// Whether the slots begin with these labels. There is at least one label.
#[inline]
fn starts_with(slots: &[Slot], labels: &[Label]) -> bool {
    let same = || slots.iter().zip(labels).all(|(slot, label)| slot.label == *label);
    !labels.is_empty() && labels.len() <= slots.len() && same()
}

/// Writes numbers from the memory of an object in hprof's byte order. Missing memory counts as 0.
fn put_contents(
    place: &mut [u8],
    value: &Value<'_>,
    offset: usize,
    count: usize,
    basic: FieldType,
    big_endian: bool,
) {
    let width = width(basic) as usize;
    let bytes = match value {
        Value::Bytes(bytes) => bytes.get(offset..).unwrap_or_default(),
        _ => &[],
    };
    let known = &bytes[..bytes.len().min(count * width) / width * width];
    let place = &mut place[..known.len()];
    match (big_endian, basic) {
        (false, FieldType::Long) => put_swapped::<8>(place, known),
        (false, FieldType::Int) => put_swapped::<4>(place, known),
        (false, FieldType::Short) => put_swapped::<2>(place, known),
        _ => place.copy_from_slice(known),
    }
}

/// Numbers of `N` bytes whose last byte is the most significant.
#[inline]
fn put_swapped<const N: usize>(place: &mut [u8], bytes: &[u8]) {
    for (place, number) in place.as_chunks_mut::<N>().0.iter_mut().zip(bytes.as_chunks::<N>().0) {
        *place = *number;
        place.reverse();
    }
}

/// Writes a value that is a number. Returns `false` for other values.
fn put_number(place: &mut [u8], value: &Value<'_>, basic: FieldType) -> bool {
    let number = match (value, basic) {
        (Value::Integer(value), FieldType::Long) => *value as u64,
        (Value::Float(value), FieldType::Double) => value.to_bits(),
        (Value::Boolean(value), FieldType::Boolean) => (*value).into(),
        (Value::Length(value), FieldType::Long) => *value,
        (Value::Length(value), FieldType::Int) => (*value).min(i32::MAX as u64),
        _ => return false,
    };
    let width = width(basic) as usize;
    place[..width].copy_from_slice(&number.to_be_bytes()[8 - width..]);
    true
}
