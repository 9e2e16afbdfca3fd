//! Objects with fields: where in an instance everything stands, found once for each plan.

use super::classes::Classes;
use super::ids::IdSpace;
use super::layout::Layout;
use super::plan::{Field, Form, Key, Plan, Plans, is_weak};
use super::records::{put_id, width};
use super::report::{Losses, Lost, Report};
use crate::java::FieldType;
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, Value};
use std::ops::Range;

/// How the objects of one plan are written, in little memory: they come in no order of plans.
pub(super) struct Instance {
    /// Id of the class.
    pub(super) class: u64,
    /// Bytes of the fields.
    pub(super) length: usize,
    pub(super) reads_value: bool,
    /// Where the references begin, if they come in the order of the keys and follow each other.
    run: Option<u32>,
    keys: u32,
    /// Objects so far.
    count: u64,
    places: Box<Places>,
}

/// Where fields stand, in bytes.
#[derive(Default)]
struct Places {
    /// Of the reference of each key.
    references: Vec<u32>,
    values: Vec<(u32, Field)>,
    external: u32,
    /// The last labels that came in another order than the keys, and the rows of their keys.
    labels: Vec<Label>,
    rows: Vec<u32>,
}

/// Lists that are used again for each object.
#[derive(Default)]
pub(super) struct Scratch {
    /// References with their keys, sorted, and their places in the object.
    edges: Vec<(Key, u32)>,
    /// `WeakReference`s to write after the object, and what they refer to.
    pub(super) weak: Vec<(u64, ObjectId)>,
}

/// What references need besides their plan.
pub(super) struct Surroundings<'o, 'a> {
    pub(super) heap: &'o Heap<'a>,
    pub(super) wide: bool,
    pub(super) ids: &'o mut IdSpace,
    pub(super) losses: &'o mut Losses,
    pub(super) scratch: &'o mut Scratch,
}

/// One for each plan; those of other forms have their class only.
pub(super) fn instances(plans: &Plans, classes: &Classes, ids: &IdSpace, layout: &Layout) -> Vec<Instance> {
    let instance = |(row, plan): (u32, &Plan)| {
        let places = if plan.form == Form::Fields { Places::of(plan, layout) } else { Places::default() };
        let width = layout.reference() as u32;
        let follow = places.references.windows(2).all(|pair| pair[1] == pair[0] + width);
        let first = places.references.first().copied().unwrap_or(0);
        Instance {
            class: ids.class(classes.of_plan(row)),
            length: plan.length as usize,
            reads_value: plan.reads_value(),
            run: (plan.in_order && follow).then_some(first),
            keys: plan.keys.len() as u32,
            count: 0,
            places: Box::new(places),
        }
    };
    (0..).zip(&plans.plans).map(instance).collect()
}

impl Instance {
    /// Puts the ids of an object's references where the plan has them. Returns how many references there are.
    #[inline]
    pub(super) fn fill_references(
        &mut self,
        object: ObjectId,
        plan: &Plan,
        fields: &mut [u8],
        around: &mut Surroundings<'_, '_>,
    ) -> u64 {
        self.count += 1;
        if self.keys == 0 {
            return 0;
        }
        let rows = around.heap.references.range(object);
        let count = rows.len();
        match self.run {
            Some(first) if count == self.keys as usize => {
                let width = if around.wide { 8 } else { 4 };
                let slots = fields[first as usize..][..count * width].chunks_exact_mut(width);
                for (slot, &target) in slots.zip(&around.heap.references.target[rows]) {
                    put_id(slot, 0, around.ids.object(target), around.wide);
                }
            }
            _ if plan.in_order => self.places.fill_in_order(rows, plan, fields, around),
            _ => self.places.fill(object, plan, fields, around),
        }
        count as u64
    }

    /// Puts the number or the memory of an object into its fields, and the array of its external bytes.
    #[inline]
    pub(super) fn fill_values(
        &self,
        value: &Value<'_>,
        external: Option<u64>,
        fields: &mut [u8],
        around: &mut Surroundings<'_, '_>,
    ) {
        if let Some(id) = external {
            put_id(fields, self.places.external as usize, id, around.wide);
        }
        for &(place, field) in &self.places.values {
            let place = &mut fields[place as usize..];
            match field {
                Field::Contents(offset, count, basic) => {
                    put_contents(place, value, offset as usize, count.into(), basic, around.heap.big_endian);
                }
                Field::Value(basic) if put_number(place, value, basic) => {}
                Field::Value(_) => around.losses.add(Lost::Value, 1),
                Field::Reference(_) | Field::External | Field::Pad(..) => {}
            }
        }
    }

    /// Counts the objects that were written, of which all have one size.
    pub(super) fn account(&self, plan: &Plan, layout: &Layout, report: &mut Report, losses: &mut Losses) {
        report.add_many(self.count, plan.size);
        losses.add_many(Lost::RoundedInstance, self.count, layout.instance_size(plan.length).saturating_sub(plan.size));
        losses.add_many(Lost::Contents, self.count, plan.unwritten);
        losses.add(Lost::Value, if plan.loses_value() { self.count } else { 0 });
    }
}

impl Places {
    fn of(plan: &Plan, layout: &Layout) -> Self {
        let mut places = Self { references: vec![0; plan.keys.len()], ..Self::default() };
        let mut at = 0;
        for field in &plan.fields {
            let width = match *field {
                Field::Reference(row) => {
                    places.references[row as usize] = at;
                    layout.reference() as u32
                }
                Field::External => {
                    places.external = at;
                    layout.reference() as u32
                }
                Field::Contents(_, count, basic) => {
                    places.values.push((at, *field));
                    u32::from(count) * width(basic)
                }
                Field::Value(basic) => {
                    places.values.push((at, *field));
                    width(basic)
                }
                Field::Pad(_, count, basic) => u32::from(count) * width(basic),
            };
            at += width;
        }
        places.references.shrink_to_fit();
        places
    }

    /// References that come in the order of the keys, of which some are null.
    fn fill_in_order(&self, rows: Range<usize>, plan: &Plan, fields: &mut [u8], around: &Surroundings<'_, '_>) {
        let references = &around.heap.references;
        let mut key = 0;
        for row in rows {
            let label = references.label.get(row).copied().unwrap_or(Label::NONE);
            while plan.keys.get(key).is_some_and(|&(known, _)| known < label) {
                key += 1;
            }
            let Some(&place) = self.references.get(key) else { break };
            put_id(fields, place as usize, around.ids.object(references.target[row]), around.wide);
            key += 1;
        }
    }

    fn fill(&mut self, object: ObjectId, plan: &Plan, fields: &mut [u8], around: &mut Surroundings<'_, '_>) {
        let references = &around.heap.references;
        let rows = references.range(object);
        let any_weak = references.any_weak(rows.clone());
        let labels = references.label.get(rows.clone()).unwrap_or_default();
        if !any_weak && !labels.is_empty() && self.labels.starts_with(labels) {
            for (&key, &target) in self.rows.iter().zip(&references.target[rows]) {
                put_id(fields, self.references[key as usize] as usize, around.ids.object(target), around.wide);
            }
            return;
        }
        let edges = &mut around.scratch.edges;
        edges.clear();
        for (index, reference) in (0..).zip(references.of(object)) {
            let weak = reference.weak && is_weak(around.heap, object, &reference);
            around.losses.add(Lost::Ephemeron, (reference.weak && !weak).into());
            edges.push(((reference.label, weak), index));
        }
        // By the place in the object, too: equal keys stay in their order.
        edges.sort_unstable();
        self.labels.clear();
        self.rows.clear();
        if !any_weak {
            self.labels.extend_from_slice(labels);
            self.rows.resize(labels.len(), 0);
        }
        let mut row = 0;
        for &(key, index) in edges.iter() {
            while plan.keys.get(row).is_some_and(|&known| known < key) {
                row += 1;
            }
            let Some(&place) = self.references.get(row) else { break };
            if let Some(known) = self.rows.get_mut(index as usize) {
                *known = row as u32;
            }
            let target = references.target[rows.start + index as usize];
            let mut id = around.ids.object(target);
            if key.1 && plan.referent == Some(row as u32) {
                around.losses.add(Lost::WeakLabel, (key.0.kind() != LabelKind::None).into());
            } else if key.1 {
                id = around.ids.fresh();
                around.scratch.weak.push((id, target));
            }
            put_id(fields, place as usize, id, around.wide);
            row += 1;
        }
    }
}

/// Numbers out of the memory of an object, in hprof's byte order. Memory that is not there counts as 0.
fn put_contents(place: &mut [u8], value: &Value<'_>, offset: usize, count: usize, basic: FieldType, big_endian: bool) {
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

/// Puts a value that is a number. False: it is none.
fn put_number(place: &mut [u8], value: &Value<'_>, basic: FieldType) -> bool {
    match (value, basic) {
        (Value::Integer(value), FieldType::Long) => place[..8].copy_from_slice(&value.to_be_bytes()),
        (Value::Float(value), FieldType::Double) => place[..8].copy_from_slice(&value.to_bits().to_be_bytes()),
        (Value::Boolean(value), FieldType::Boolean) => place[0] = (*value).into(),
        (Value::Length(value), FieldType::Long) => place[..8].copy_from_slice(&value.to_be_bytes()),
        (Value::Length(value), FieldType::Int) => {
            place[..4].copy_from_slice(&((*value).min(i32::MAX as u64) as u32).to_be_bytes());
        }
        _ => return false,
    }
    true
}
