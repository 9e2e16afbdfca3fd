//! Names of fields, unique within their class.

use super::labels::{field_name, part};
use super::plan::{Field, Plan, ValueKind};
use super::records::width;
use crate::java::FieldType;
use crate::model::heap::{Heap, Label};
use crate::model::names::{NameId, Names};
use rustc_hash::FxHashMap;

/// Names the fields of classes. Many classes have the same fields, so that names are made once.
#[derive(Default)]
pub(super) struct FieldNames {
    labels: FxHashMap<Label, NameId>,
    /// Names by the number that they contain.
    offsets: Numbered,
    pads: Numbered,
    unique: Unique,
    /// A buffer that is reused for each class.
    fields: Vec<(NameId, FieldType)>,
}

impl FieldNames {
    /// Returns names and types of the fields that a class declares itself.
    pub(super) fn of(
        &mut self,
        plan: &Plan,
        heap: &Heap<'_>,
        names: &mut Names,
    ) -> Vec<(NameId, FieldType)> {
        self.unique.begin();
        self.fields.clear();
        // The inherited field is the last.
        let own = plan.fields.len() - usize::from(plan.referent.is_some());
        for field in &plan.fields[..own] {
            match *field {
                Field::Reference(row) => {
                    let label = plan.keys[row as usize].0;
                    let name = *self
                        .labels
                        .entry(label)
                        .or_insert_with(|| names.intern(&field_name(label, &heap.names)));
                    self.add(name, FieldType::Object, names);
                }
                Field::External => self.add_text("~external", FieldType::Object, names),
                Field::Value(basic) if plan.value == ValueKind::Length => {
                    self.add_text("length", basic, names)
                }
                Field::Value(basic) => self.add_text("value", basic, names),
                Field::Contents(offset, count, basic) => {
                    for index in 0..u32::from(count) {
                        let name = self.offsets.name(offset + index * width(basic), |offset| {
                            names.intern(&format!("{offset:#x}"))
                        });
                        self.add(name, basic, names);
                    }
                }
                Field::Pad(place, count, basic) => {
                    for index in 0..u32::from(count) {
                        let name = self.pads.name(place + index * width(basic), |place| {
                            names.intern(&format!("~pad{place}"))
                        });
                        self.add(name, basic, names);
                    }
                }
            }
        }
        self.fields.clone()
    }

    fn add_text(&mut self, text: &str, basic: FieldType, names: &mut Names) {
        let name = names.intern(text);
        self.add(name, basic, names);
    }

    fn add(&mut self, name: NameId, basic: FieldType, names: &mut Names) {
        let name = self.unique.name(name, names);
        self.fields.push((name, basic));
    }
}

/// Names that contain a small number (up to some thousands).
#[derive(Default)]
struct Numbered(Vec<Option<NameId>>);

impl Numbered {
    fn name(&mut self, number: u32, make: impl FnOnce(u32) -> NameId) -> NameId {
        let row = number as usize;
        if row >= self.0.len() {
            self.0.resize(row + 1, None);
        }
        *self.0[row].get_or_insert_with(|| make(number))
    }
}

/// Makes names unique within a class: `next`, `next#2`.
#[derive(Default)]
pub(super) struct Unique {
    /// The number of the class that used each name last.
    used: Vec<u32>,
    class: u32,
    /// The number of times each name was used in this class, so that many equal ones do not take
    /// quadratic time.
    count: FxHashMap<NameId, u32>,
}

impl Unique {
    pub(super) fn begin(&mut self) {
        self.class += 1;
        self.count.clear();
    }

    /// Returns the name, or a name derived from it if the class already has the name.
    pub(super) fn name(&mut self, first: NameId, names: &mut Names) -> NameId {
        let mut name = first;
        while !self.use_up(name) {
            let count = self.count.entry(first).or_insert(1);
            *count += 1;
            let text = format!("{}#{count}", part(names.text(first)));
            name = names.intern(&text);
        }
        name
    }

    fn use_up(&mut self, name: NameId) -> bool {
        let row = name.0 as usize;
        if row >= self.used.len() {
            self.used.resize(row + 1, 0);
        }
        std::mem::replace(&mut self.used[row], self.class) != self.class
    }
}
