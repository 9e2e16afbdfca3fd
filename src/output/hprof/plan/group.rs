//! Groups the objects of each type and size, and collects their labels.

use super::{
    Form, LARGEST, MOST_FIELDS, Plan, Plans, collect_kept, collect_keys, elements, is_array,
};
use crate::analysis::prefetch::prefetch;
use crate::java::FieldType;
use crate::model::heap::{Heap, Label, ObjectId, TypeId, TypeKind};
use crate::output::hprof::layout::Layout;
use crate::output::hprof::spill::{External, INSIDE};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Objects that have the same plan unless it turns out to be [`Form::Mixed`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Group {
    pub(super) type_id: TypeId,
    pub(super) size: u64,
    pub(super) external: External,
    pub(super) array: bool,
    /// Whether there are references, for contents and texts only: these are written as such if
    /// there are none.
    pub(super) references: bool,
}

/// Facts about a type.
struct Known {
    kind: TypeKind,
    /// The kind of Java array that its objects become.
    elements: Option<FieldType>,
    /// Plans of the most recent objects, indexed by the result of [`slot`].
    recent: [u32; 4],
}

/// Selects an entry of `recent`: objects of a type mostly repeat one size, or a few sizes in turn.
#[inline]
fn slot(size: u64, external: bool) -> usize {
    ((size / 16 + u64::from(external)) % 4) as usize
}

/// Labels of a group that most of its objects have. An object with only these labels adds nothing
/// to the plan. They are all known labels as long as every object has them in order, and otherwise
/// those of an earlier object.
struct Seen {
    group: Group,
    /// Whether the objects are written with fields, as far as is known.
    fields: bool,
    /// [`Plan::in_order`] of the plan.
    in_order: bool,
    /// The maximum number of references of an object that adds nothing, unless it has all of the
    /// labels: [`Plan::most`] of the plan.
    most: u16,
    /// The number of labels, the room for them, and their beginning in [`Grouping::labels`].
    count: u16,
    room: u16,
    first: usize,
}

/// The number of objects ahead for which groups and labels are prefetched, if there are too many
/// groups for the processor's cache.
const AHEAD: (usize, usize) = (16, 8);
const MANY: usize = 4096;

/// Assigns one plan, with the labels of all its objects, to each type and size.
pub(super) fn group(heap: &Heap<'_>, layout: &Layout) -> Plans {
    let mut grouping = Grouping::new(heap, layout);
    let mut plan_of = Vec::with_capacity(heap.len());
    let mut external = heap.external.iter().filter(|(_, bytes)| *bytes > 0).peekable();
    for object in heap.objects() {
        grouping.expect(object);
        let bytes = external.next_if(|(owner, _)| *owner == object).map_or(0, |(_, bytes)| *bytes);
        plan_of.push(grouping.add(object, bytes));
    }
    Plans { of: plan_of, plans: grouping.plans }
}

struct Grouping<'h, 'a> {
    heap: &'h Heap<'a>,
    layout: &'h Layout,
    types: Vec<Known>,
    groups: FxHashMap<Group, u32>,
    /// The labels seen for each plan.
    seen: Vec<Seen>,
    labels: Vec<Label>,
    plans: Vec<Plan>,
    /// A buffer that is reused for each object.
    keys: Vec<super::Key>,
}

impl<'h, 'a> Grouping<'h, 'a> {
    fn new(heap: &'h Heap<'a>, layout: &'h Layout) -> Self {
        let types = heap.types.iter().map(|type_| Known {
            kind: type_.kind,
            elements: elements(heap, type_),
            recent: [u32::MAX; 4],
        });
        Self {
            heap,
            layout,
            types: types.collect(),
            groups: FxHashMap::default(),
            seen: Vec::new(),
            labels: Vec::new(),
            plans: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Prefetches the data of the objects after this one, which are not sorted by type.
    #[inline]
    fn expect(&self, object: ObjectId) {
        if self.seen.len() < MANY {
            return;
        }
        let recent = |ahead: usize| {
            let soon = object.index() + ahead;
            let of_type = &self.types[self.heap.type_of.get(soon)?.0 as usize];
            Some(of_type.recent[slot(self.heap.shallow.get(soon), false)])
        };
        if let Some(row) = recent(AHEAD.0) {
            prefetch(&self.seen, row as usize);
        }
        if let Some(seen) = recent(AHEAD.1).and_then(|row| self.seen.get(row as usize)) {
            prefetch(&self.labels, seen.first);
        }
    }

    /// Assigns an object its plan and adds its labels to the plan.
    #[inline]
    fn add(&mut self, object: ObjectId, external: u64) -> u32 {
        let heap = self.heap;
        let type_id = heap.type_id(object);
        let size = heap.shallow.get(object.index());
        let rows = heap.fields_of(object);
        let known = &self.types[type_id.0 as usize];
        let mut array =
            known.elements.is_some() || is_array(heap, known.kind, object, size, rows.clone());
        let external = if external == 0 {
            External::None
        } else {
            self.external(object, external, &mut array)
        };
        let inside = if external == External::Inside { INSIDE } else { 0 };
        let group = Group {
            // The size of an array is in its length.
            size: if array { 0 } else { size + inside },
            type_id,
            external,
            array,
            references: (array || known.kind == TypeKind::Text) && !rows.is_empty(),
        };
        let known = &self.types[type_id.0 as usize];
        let recent = known.recent[slot(group.size, external.has_array())];
        let row = match self.seen.get(recent as usize) {
            Some(seen) if seen.group == group => recent,
            _ => self.find(object, group),
        };
        if external.holds() {
            self.learn_kept(object, row);
            return row;
        }
        let seen = &self.seen[row as usize];
        if seen.fields && !seen.has(&self.labels, heap, object, rows) {
            self.learn(object, row);
        }
        row
    }

    /// Returns the form of the external bytes of an object. An object that keeps its references
    /// there is not an array itself.
    fn external(&self, object: ObjectId, bytes: u64, array: &mut bool) -> External {
        let size = self.heap.shallow.get(object.index());
        let rows = self.heap.fields_of(object);
        let labels = self.heap.labels(object, rows.clone());
        let width = self.layout.reference();
        let plan = |header: u64| {
            External::of(bytes, size.saturating_sub(header), width, rows.len(), &labels)
        };
        match plan(if *array { self.layout.least_array() } else { self.layout.header() }) {
            // An array has room for these, or is too large for fields.
            External::Inside if *array => External::Bytes,
            External::Elements | External::References if size > LARGEST => External::Bytes,
            External::Elements | External::References => {
                *array = false;
                plan(self.layout.header())
            }
            external => external,
        }
    }

    /// Adds the labels of the references that an object keeps to its plan.
    fn learn_kept(&mut self, object: ObjectId, row: u32) {
        let plan = &mut self.plans[row as usize];
        if plan.form == Form::Fields {
            collect_kept(self.heap, object, plan.external, &mut self.keys);
            plan.most = plan.most.max(self.keys.len() as u32);
            plan.merge(&self.keys);
        }
        if plan.keys.len() > MOST_FIELDS {
            plan.form = Form::Mixed;
            plan.keys = Vec::new();
        }
    }

    fn find(&mut self, object: ObjectId, group: Group) -> u32 {
        let of_type = &mut self.types[group.type_id.0 as usize];
        let row = *self.groups.entry(group).or_insert_with(|| {
            let plan = Plan::new(self.heap, object, &group, of_type.elements);
            let fields = plan.form == Form::Fields && !group.external.holds();
            self.seen.push(Seen {
                group,
                fields,
                in_order: true,
                most: 0,
                count: 0,
                room: 0,
                first: 0,
            });
            self.plans.push(plan);
            self.plans.len() as u32 - 1
        });
        of_type.recent[slot(group.size, group.external.has_array())] = row;
        row
    }

    fn learn(&mut self, object: ObjectId, row: u32) {
        let (plan, seen) = (&mut self.plans[row as usize], &mut self.seen[row as usize]);
        let in_order = collect_keys(self.heap, object, &mut self.keys);
        plan.in_order &= in_order;
        // Objects with all labels that are known so far do not count: the plan has room for them.
        if !in_order || self.keys != plan.keys {
            plan.most = plan.most.max(self.keys.len() as u32);
            plan.merge(&self.keys);
        }
        if plan.keys.len() > MOST_FIELDS {
            plan.form = Form::Mixed;
            plan.keys = Vec::new();
            // Later objects are not examined.
            plan.in_order = false;
            seen.fields = false;
            return;
        }
        (seen.most, seen.in_order) = (plan.most as u16, plan.in_order);
        let references = &self.heap.references;
        let rows = self.heap.fields_of(object);
        match plan.in_order {
            true => seen.set(&mut self.labels, plan.keys.iter().map(|&(label, _)| label)),
            false if references.any_weak(rows.clone()) => seen.count = 0,
            false => {
                let labels = self.heap.labels(object, rows.clone());
                let own = rows.enumerate();
                let own = own.map(|(place, _)| labels.get(place).copied().unwrap_or(Label::NONE));
                seen.set(&mut self.labels, own)
            }
        }
    }
}

impl Seen {
    /// Whether an object has these labels, and none of its references in these rows is weak. If the
    /// labels are not in order, they must be the object's first labels.
    #[inline]
    fn has(&self, labels: &[Label], heap: &Heap<'_>, object: ObjectId, rows: Range<usize>) -> bool {
        let (count, known) = (rows.len(), usize::from(self.count));
        if count == 0 {
            return true;
        }
        if count > known || (count < known && count > usize::from(self.most)) {
            return false;
        }
        let known = &labels[self.first..][..known];
        let own = heap.labels(object, rows.clone());
        // Without labels, references differ only in their number.
        let same = own.is_empty()
            || if self.in_order { is_part(&own, known) } else { *own == known[..count] };
        same && !heap.references.any_weak(rows)
    }

    fn set(&mut self, labels: &mut Vec<Label>, own: impl ExactSizeIterator<Item = Label>) {
        let count = own.len();
        if count > usize::from(self.room) {
            let room = count.next_power_of_two();
            (self.first, self.room) = (labels.len(), room as u16);
            labels.resize(labels.len() + room, Label::NONE);
        }
        self.count = count as u16;
        labels[self.first..][..count].iter_mut().zip(own).for_each(|(place, label)| *place = label);
    }
}

/// Whether a list contains all labels, as often as they occur, in the same order. The loop branches
/// only on the length of the list: the processor could not predict which fields are null.
#[inline]
fn is_part(labels: &[Label], list: &[Label]) -> bool {
    let Some(last) = labels.len().checked_sub(1) else { return true };
    let found = list.iter().fold(0, |found, known| {
        found + usize::from((found <= last) & (labels[found.min(last)] == *known))
    });
    found > last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_each_label_as_often_as_it_is_there() {
        let labels = |offsets: &[u64]| {
            offsets.iter().map(|&offset| Label::offset(offset)).collect::<Vec<_>>()
        };
        let list = labels(&[0, 8, 8, 16]);
        for part in [&[][..], &[0], &[16], &[0, 16], &[8, 8], &[0, 8, 8, 16]] {
            assert!(is_part(&labels(part), &list), "{part:?}");
        }
        for other in [&[4][..], &[24], &[0, 0], &[8, 8, 8], &[16, 8], &[0, 8, 8, 16, 16]] {
            assert!(!is_part(&labels(other), &list), "{other:?}");
        }
    }
}
