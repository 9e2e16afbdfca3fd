//! `types`: one row for each type.

use super::order::{Property, TypeOrder, properties};
use crate::analysis::histogram::retained_by_type;
use crate::cli::heap::HeldHeap;
use crate::cli::query::relation::{At, Cell, Key, Lookup, Order, Relation, Rows};
use crate::model::heap::ObjectId;
use crate::model::sum::Sum;
use std::sync::{Arc, OnceLock};

/// The columns, by number: those of `Table::Types`.
mod column {
    pub(super) const NUMBER: usize = 0;
    pub(super) const TYPE: usize = 1;
    pub(super) const NAMESPACE: usize = 2;
    pub(super) const KIND: usize = 3;
    pub(super) const COUNT: usize = 4;
    pub(super) const SHALLOW: usize = 5;
    pub(super) const EXTERNAL: usize = 6;
    pub(super) const LIVE_COUNT: usize = 7;
    pub(super) const LIVE_SHALLOW: usize = 8;
    pub(super) const LIVE_EXTERNAL: usize = 9;
    pub(super) const RETAINED: usize = 10;
}

pub(super) struct Types {
    held: Arc<HeldHeap>,
    order: Arc<TypeOrder>,
    all: OnceLock<Vec<Sum>>,
    live: OnceLock<Vec<Sum>>,
    retained: OnceLock<Vec<u64>>,
}

impl Types {
    pub(super) fn of(held: &Arc<HeldHeap>, order: &Arc<TypeOrder>) -> Self {
        Self {
            held: Arc::clone(held),
            order: Arc::clone(order),
            all: OnceLock::new(),
            live: OnceLock::new(),
            retained: OnceLock::new(),
        }
    }

    /// The sums of the objects of each type that count.
    fn sums(&self, counts: impl Fn(ObjectId) -> bool) -> Vec<Sum> {
        let heap = &self.held.get().heap;
        let mut sums = vec![Sum::default(); heap.types.len()];
        let mut external = heap.external.iter().peekable();
        for object in heap.objects() {
            let outside = external.next_if(|(of, _)| *of == object).map_or(0, |(_, bytes)| *bytes);
            if counts(object) {
                let shallow = heap.shallow.get(object.index());
                sums[heap.type_id(object).0 as usize].add(shallow, outside);
            }
        }
        sums
    }

    fn all(&self, row: usize) -> Sum {
        let sums = self.all.get_or_init(|| self.sums(|_| true));
        sums.get(row).copied().unwrap_or_default()
    }

    fn live(&self, row: usize) -> Sum {
        let live = || {
            let tree = self.held.get().tree();
            self.sums(|object| tree.is_live(object))
        };
        self.live.get_or_init(live).get(row).copied().unwrap_or_default()
    }

    fn retained(&self, row: usize) -> Option<u64> {
        let loaded = self.held.get();
        let retained = || retained_by_type(&loaded.heap, loaded.tree());
        self.retained.get_or_init(retained).get(row).copied()
    }
}

impl Relation for Types {
    fn len(&self) -> u64 {
        self.held.get().heap.types.len() as u64
    }

    fn cell<'c>(&'c self, at: At<'_>, column: usize, _: &'c mut String) -> Cell<'c> {
        let (heap, row) = (&self.held.get().heap, at.index());
        let Some(of) = heap.types.get(row) else { return Cell::Null };
        match column {
            column::NUMBER => at.row.into(),
            column::TYPE | column::NAMESPACE | column::KIND => {
                Property::of(column, column::TYPE).map(|property| property.text(heap, of)).into()
            }
            column::COUNT => self.all(row).count.into(),
            column::SHALLOW => self.all(row).shallow_bytes.into(),
            column::EXTERNAL => self.all(row).external_bytes.into(),
            column::LIVE_COUNT => self.live(row).count.into(),
            column::LIVE_SHALLOW => self.live(row).shallow_bytes.into(),
            column::LIVE_EXTERNAL => self.live(row).external_bytes.into(),
            column::RETAINED => self.retained(row).into(),
            _ => Cell::Null,
        }
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![Lookup { column: column::NUMBER, rows: 1 }, Lookup { column: column::TYPE, rows: 2 }]
    }

    fn find(&self, column: usize, key: Key<'_>) -> Rows {
        match (column, key) {
            (column::TYPE, Key::Text(name)) => {
                let found = self.order.named(&self.held.get().heap, name).iter();
                Rows::List(found.map(|of| u64::from(of.0)).collect::<Vec<_>>().into_iter())
            }
            _ => self.row(key),
        }
    }

    fn has_order(&self, by: &[Order]) -> bool {
        properties(by, column::TYPE).is_some()
    }

    fn ordered(&self, by: &[Order]) -> Option<Rows> {
        if by.is_empty() {
            return Some(Rows::Range(0..self.len()));
        }
        let types = self.order.sorted(&self.held.get().heap, &properties(by, column::TYPE)?);
        Some(Rows::List(types.iter().map(|of| u64::from(of.0)).collect::<Vec<_>>().into_iter()))
    }
}
