//! Names of fields, unique within their class.

use super::labels::field_name;
use super::plan::{Field, FieldName};
use super::records::Basic;
use crate::model::heap::{Heap, Label};
use crate::model::names::{NameId, Names};
use rustc_hash::FxHashMap;

/// Names the fields of classes. Many classes have the same fields, so that names are made once.
#[derive(Default)]
pub(super) struct FieldNames {
    labels: FxHashMap<Label, NameId>,
    offsets: FxHashMap<u32, NameId>,
    pads: FxHashMap<u32, NameId>,
    unique: Unique,
}

impl FieldNames {
    /// Names and types of the fields of a class.
    pub(super) fn of(&mut self, fields: &[Field], heap: &Heap<'_>, names: &mut Names) -> Vec<(NameId, Basic)> {
        self.unique.begin();
        let named = fields.iter().map(|field| {
            let name = match field.name {
                FieldName::Label(label) => {
                    *self.labels.entry(label).or_insert_with(|| names.intern(&field_name(label, &heap.names)))
                }
                FieldName::Offset(offset) => *self.offsets.entry(offset).or_insert_with(|| names.intern(&format!("{offset:#x}"))),
                FieldName::Pad(offset) => *self.pads.entry(offset).or_insert_with(|| names.intern(&format!("~pad{offset}"))),
                FieldName::External => names.intern("~external"),
                FieldName::Value => names.intern("value"),
                FieldName::Length => names.intern("length"),
            };
            (self.unique.name(name, names), field.kind.basic())
        });
        named.collect()
    }
}

/// Makes names unique within a class: `next`, `next#2`.
#[derive(Default)]
pub(super) struct Unique {
    /// For each name: the number of the class that used it last.
    used: Vec<u32>,
    class: u32,
    /// How often each name has come in this class, so that many equal ones do not take quadratic time.
    count: FxHashMap<NameId, u32>,
}

impl Unique {
    /// Begins another class.
    pub(super) fn begin(&mut self) {
        self.class += 1;
        self.count.clear();
    }

    /// The name, or one that is made of it if the class has it already.
    pub(super) fn name(&mut self, first: NameId, names: &mut Names) -> NameId {
        let mut name = first;
        while !self.use_up(name) {
            let count = self.count.entry(first).or_insert(1);
            *count += 1;
            let text = format!("{}#{count}", names.text(first));
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
