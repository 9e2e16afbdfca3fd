//! The first pass: how each object is written.
//!
//! Objects of one type and size share a class whose fields are all labels that occur among them, so
//! that a field that is null in some objects does not make a class of its own. If that takes more
//! room than the objects have, each sequence of labels gets a class. If there are too many
//! sequences or sizes, the type is written as arrays.

mod fields;
mod group;

use super::ephemerons::is_weak;
use super::filling::{Filling, NULLS};
use super::layout::Layout;
use super::share::Share;
use super::spill::External;
use crate::java::{FieldType, PRIMITIVES};
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, Type, TypeId, TypeKind, Value};
pub(super) use fields::Field;
use fields::fields;
use group::{Group, group};
use rustc_hash::FxHashMap;
use std::ops::Range;

const MOST_FIELDS: usize = 256;
/// The maximum size of an object with fields.
const LARGEST: u64 = 2048;
/// The maximum number of classes of one type.
const MOST_SHAPES: usize = 64;

/// The form in which each object is written.
pub(super) struct Plans {
    /// The row of each object's plan in `plans`.
    pub(super) of: Vec<u32>,
    pub(super) plans: Vec<Plan>,
}

pub(super) type Key = (Label, bool);

/// The form in which objects of a type and size are written.
pub(super) struct Plan {
    pub(super) form: Form,
    pub(super) type_id: TypeId,
    /// The object that is the class of the objects, if they keep it alive.
    pub(super) class: Option<ObjectId>,
    /// Bytes of each object; nothing for arrays and texts, whose sizes differ.
    pub(super) size: u64,
    /// The size that the class states, which is less if the budget of zeros did not suffice.
    pub(super) shown: u64,
    /// The contents of the objects besides references.
    pub(super) value: ValueKind,
    pub(super) external: External,
    /// The sorted keys of references. A key occurs as often as it does in one object.
    pub(super) keys: Vec<Key>,
    /// Whether the references of every object come in the order of the keys, and none is weak.
    pub(super) in_order: bool,
    /// The maximum number of references of one object, among objects that added a label.
    most: u32,
    /// For [`Form::Fields`], in the order of the instance's bytes.
    pub(super) fields: Vec<Field>,
    /// Row of the key that is the `referent` of the object itself.
    pub(super) referent: Option<u32>,
    pub(super) length: u64,
    /// Bytes of contents that no field holds.
    pub(super) unwritten: u64,
    /// Whether a field holds a part of the value.
    pub(super) reads_value: bool,
}

/// The kind of record that an object becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An instance with fields.
    Fields,
    /// Instances with fields, but the labels differ too much for one class.
    Mixed,
    /// An array of references.
    Array,
    /// A byte array with the contents.
    Bytes,
    /// An array of numbers, as which the type is known to Java.
    Numbers(FieldType),
    /// A `java.lang.String`.
    Text,
}

/// The kind of value that the objects have, as determined by the first object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ValueKind {
    None,
    Boolean,
    Integer,
    Float,
    Length,
    Text,
    Bytes,
    Name,
}

impl ValueKind {
    fn of(heap: &Heap<'_>, object: ObjectId) -> Self {
        match heap.value(object) {
            Value::None => Self::None,
            Value::Boolean(_) => Self::Boolean,
            Value::Integer(_) => Self::Integer,
            Value::Float(_) => Self::Float,
            Value::Length(_) => Self::Length,
            Value::Text { .. } => Self::Text,
            Value::Bytes(_) => Self::Bytes,
            Value::Name(_) => Self::Name,
        }
    }
}

impl Plans {
    pub(super) fn of(heap: &Heap<'_>, layout: &Layout, filling: &mut Filling) -> Self {
        let mut plans = group(heap, layout);
        plans.judge(layout);
        plans.bound_nulls(heap, layout);
        plans.split_mixed(heap);
        plans.limit_classes();
        for plan in plans.plans.iter_mut().filter(|plan| plan.form == Form::Fields) {
            fields(plan, heap, layout, filling);
        }
        plans
    }

    /// Finds plans whose labels together take more room than the objects have.
    fn judge(&mut self, layout: &Layout) {
        let size_of =
            |references: usize| layout.instance_size(references as u64 * layout.reference());
        for plan in self.plans.iter_mut().filter(|plan| plan.form == Form::Fields) {
            let external = usize::from(plan.external.has_array());
            if size_of(plan.keys.len() + external)
                > plan.size.max(size_of(plan.most as usize + external))
            {
                plan.form = Form::Mixed;
            }
        }
    }

    /// Makes plans mixed whose objects leave more references null than the budget allows. One
    /// object with many labels would otherwise widen every small object of its type and size.
    fn bound_nulls(&mut self, heap: &Heap<'_>, layout: &Layout) {
        let reference = layout.reference();
        let is_wide =
            |plan: &Plan| plan.form == Form::Fields && plan.keys.len() as u64 * reference > NULLS.1;
        let widths: Vec<u64> = self
            .plans
            .iter()
            .map(|plan| if is_wide(plan) { plan.keys.len() as u64 } else { 0 })
            .collect();
        if widths.iter().all(|&width| width == 0) {
            return;
        }
        let mut nulls = vec![0; widths.len()];
        let mut objects = 0;
        for (object, &row) in heap.objects().zip(&self.of) {
            let width = widths[row as usize];
            if width > 0 {
                objects += 1;
                nulls[row as usize] +=
                    width.saturating_sub(heap.references.range(object).len() as u64) * reference;
            }
        }
        let mut share = Share::default();
        nulls.iter().for_each(|&bytes| share.add(bytes));
        let limit = share.limit(NULLS.0 + NULLS.1 * objects);
        for (plan, _) in self.plans.iter_mut().zip(&nulls).filter(|&(_, &bytes)| bytes > limit) {
            plan.form = Form::Mixed;
        }
    }

    /// Assigns a plan to each sequence of labels of mixed objects, or makes all of them arrays if
    /// there are too many sequences.
    fn split_mixed(&mut self, heap: &Heap<'_>) {
        let mut shapes: FxHashMap<u32, FxHashMap<Vec<Key>, u32>> = FxHashMap::default();
        let mixed = |plans: &[Plan], row: u32| plans[row as usize].form == Form::Mixed;
        if !self.plans.iter().any(|plan| plan.form == Form::Mixed) {
            return;
        }
        let mut keys = Vec::new();
        for object in heap.objects() {
            let row = self.of[object.index()];
            if !mixed(&self.plans, row) {
                continue;
            }
            collect_kept(heap, object, self.plans[row as usize].external, &mut keys);
            let of_plan = shapes.entry(row).or_default();
            if of_plan.contains_key(&keys) {
                continue;
            }
            if of_plan.len() >= MOST_SHAPES {
                self.plans[row as usize].give_up_fields();
                continue;
            }
            of_plan.insert(keys.clone(), self.plans.len() as u32);
            let plan = self.plans[row as usize].with_keys(keys.clone());
            self.plans.push(plan);
        }
        for object in heap.objects() {
            let row = self.of[object.index()];
            if mixed(&self.plans, row) {
                collect_kept(heap, object, self.plans[row as usize].external, &mut keys);
                if let Some(&shape) = shapes.get(&row).and_then(|shapes| shapes.get(&keys)) {
                    self.of[object.index()] = shape;
                }
            }
        }
        // Objects that became arrays after all no longer use their shapes.
        for (row, shapes) in &shapes {
            if self.plans[*row as usize].form != Form::Mixed {
                shapes.values().for_each(|&shape| self.plans[shape as usize].form = Form::Mixed);
            }
        }
    }

    /// Writes types that would have too many classes as arrays.
    fn limit_classes(&mut self) {
        let mut classes: FxHashMap<TypeId, usize> = FxHashMap::default();
        for plan in self.plans.iter().filter(|plan| plan.form == Form::Fields) {
            *classes.entry(plan.type_id).or_default() += 1;
        }
        for plan in self.plans.iter_mut().filter(|plan| plan.form == Form::Fields) {
            // An object smaller than the smallest array would grow.
            if classes[&plan.type_id] > MOST_SHAPES && plan.size >= 16 {
                plan.give_up_fields();
            }
        }
    }
}

impl Plan {
    fn new(heap: &Heap<'_>, first: ObjectId, group: &Group, numbers: Option<FieldType>) -> Self {
        let value = ValueKind::of(heap, first);
        let mut plan = Self::with(group.type_id, group.size, value, group.external, Vec::new());
        plan.class = heap.class_of(first);
        let is_plain = !group.references && group.external == External::None;
        let is_text = || value == ValueKind::Text && heap.type_of(first).kind == TypeKind::Text;
        plan.form = match numbers {
            Some(basic) if is_plain => Form::Numbers(basic),
            _ if is_plain && is_text() => Form::Text,
            _ if is_plain && group.array && value == ValueKind::Bytes => Form::Bytes,
            _ if group.array => Form::Array,
            _ => Form::Fields,
        };
        plan
    }

    fn with_keys(&self, keys: Vec<Key>) -> Self {
        Self {
            in_order: self.in_order,
            class: self.class,
            ..Self::with(self.type_id, self.size, self.value, self.external, keys)
        }
    }

    /// Creates a plan whose fields are not known yet.
    fn with(
        type_id: TypeId,
        size: u64,
        value: ValueKind,
        external: External,
        keys: Vec<Key>,
    ) -> Self {
        Self {
            form: Form::Fields,
            type_id,
            class: None,
            size,
            shown: size,
            value,
            external,
            most: keys.len() as u32,
            keys,
            in_order: true,
            fields: Vec::new(),
            referent: None,
            length: 0,
            unwritten: 0,
            reads_value: false,
        }
    }

    /// Whether the objects have a value that no field holds.
    pub(super) fn loses_value(&self) -> bool {
        !self.reads_value && !matches!(self.value, ValueKind::None | ValueKind::Bytes)
    }

    /// Writes the objects as arrays, because there are too many classes. Where external bytes hold
    /// references, they then hold all of them, and the objects themselves need one class.
    fn give_up_fields(&mut self) {
        if self.external.holds() {
            (self.external, self.form, self.keys) =
                (External::References, Form::Fields, Vec::new());
            return;
        }
        self.form = if self.is_bytes() { Form::Bytes } else { Form::Array };
    }

    /// Whether the objects are memory with known contents and without references.
    fn is_bytes(&self) -> bool {
        self.value == ValueKind::Bytes && self.keys.is_empty() && self.external == External::None
    }

    /// Adds the keys of an object. Both lists are sorted, and a key counts as often as it occurs.
    fn merge(&mut self, keys: &[Key]) {
        if self.keys == keys {
            return;
        }
        let mut own = 0;
        for &key in keys {
            while self.keys.get(own).is_some_and(|&known| known < key) {
                own += 1;
            }
            if self.keys.get(own) != Some(&key) {
                self.keys.insert(own, key);
            }
            own += 1;
        }
    }
}

/// The kind of element, if a type is one of Java's arrays of numbers, such as `byte[]`.
fn elements(heap: &Heap<'_>, type_: &Type) -> Option<FieldType> {
    let is_javas = type_.kind == TypeKind::Bytes
        && heap.big_endian
        && heap.names.text(type_.namespace).is_empty();
    let name = heap.names.text(type_.name).strip_suffix("[]").filter(|_| is_javas)?;
    PRIMITIVES.into_iter().find(|kind| kind.name() == name)
}

/// Whether an object of a kind, with its references in these rows, is too large for fields, or has
/// elements.
#[inline]
fn is_array(
    heap: &Heap<'_>,
    kind: TypeKind,
    object: ObjectId,
    size: u64,
    range: Range<usize>,
) -> bool {
    if size > LARGEST || range.len() > MOST_FIELDS {
        return true;
    }
    if kind == TypeKind::Array && size >= 16 {
        // Small contents are written as fields, so that they keep the name of their type.
        return !range.is_empty()
            || heap.values.is_none()
            || !matches!(heap.value(object), Value::Bytes(_));
    }
    let labels = heap.labels(object, range);
    let is_index = |label: &&Label| matches!(label.kind(), LabelKind::Index(_));
    // The last reference nearly always decides: elements come last.
    labels.last().filter(is_index).is_some()
        && labels.iter().filter(is_index).count() * 2 > labels.len()
}

/// Sorted labels of an object's references. Returns whether they were sorted already and none is
/// weak.
fn collect_keys(heap: &Heap<'_>, object: ObjectId, keys: &mut Vec<Key>) -> bool {
    keys.clear();
    let mut strong = true;
    keys.extend(heap.references_at(object, heap.fields_of(object)).map(|reference| {
        strong &= !reference.weak;
        (reference.label, is_weak(heap, object, &reference))
    }));
    let sorted = keys.is_sorted();
    if !sorted {
        keys.sort_unstable();
    }
    sorted && strong
}

/// Like [`collect_keys`], without the references that are in the external bytes of an object.
fn collect_kept(heap: &Heap<'_>, object: ObjectId, external: External, keys: &mut Vec<Key>) {
    collect_keys(heap, object, keys);
    keys.retain(|&(label, _)| external.keeps(label));
}
