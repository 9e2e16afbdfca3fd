//! `objects`: one row for each object.

use super::order::{Property, TypeOrder, properties};
use crate::analysis::by_type::ObjectsByType;
use crate::analysis::live::live;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::paths::distances::RootDistances;
use crate::cli::heap::HeldHeap;
use crate::cli::query::relation::{At, Cell, Key, Lookup, Order, Relation, Rows};
use crate::model::heap::{Ids, ObjectId, TypeId};
use std::sync::{Arc, OnceLock};
use std::vec;

/// The columns, by number: those of `Table::Objects`.
mod column {
    pub(super) const OBJECT: usize = 0;
    pub(super) const ID: usize = 1;
    pub(super) const TYPE: usize = 2;
    pub(super) const NAMESPACE: usize = 3;
    pub(super) const KIND: usize = 4;
    pub(super) const SHALLOW: usize = 5;
    pub(super) const EXTERNAL: usize = 6;
    pub(super) const RETAINED: usize = 7;
    pub(super) const DOMINATOR: usize = 8;
    pub(super) const REACHABLE: usize = 9;
    pub(super) const DISTANCE: usize = 10;
    pub(super) const TYPE_SOURCE: usize = 11;
}

pub(super) struct Objects {
    held: Arc<HeldHeap>,
    order: Arc<TypeOrder>,
    /// For queries that ask what is reachable and nothing else of the dominator tree.
    live: OnceLock<ObjectSet>,
    /// Rows by the number that the file gives objects, where those are in random order.
    by_number: OnceLock<Vec<u32>>,
    distances: OnceLock<RootDistances>,
}

impl Objects {
    pub(super) fn of(held: &Arc<HeldHeap>, order: &Arc<TypeOrder>) -> Self {
        Self {
            held: Arc::clone(held),
            order: Arc::clone(order),
            live: OnceLock::new(),
            by_number: OnceLock::new(),
            distances: OnceLock::new(),
        }
    }

    fn is_live(&self, object: ObjectId) -> bool {
        let loaded = self.held.get();
        match loaded.known_tree() {
            Some(tree) => tree.is_live(object),
            None => self.live.get_or_init(|| live(loaded.graph())).contains(object),
        }
    }

    /// The object with an id. An address inside one is found as well.
    fn object(&self, id: &str) -> Option<u32> {
        let heap = &self.held.get().heap;
        let Ids::Numbers(numbers) = &heap.ids else {
            return heap.find(id).map(|object| object.0);
        };
        let number: u64 = id.strip_prefix('#')?.parse().ok()?;
        let by_number = self.by_number.get_or_init(|| {
            let mut rows: Vec<u32> = (0..heap.len() as u32).collect();
            rows.sort_by_key(|row| numbers.get(*row as usize));
            rows
        });
        let number_of = |row: &u32| numbers.get(*row as usize);
        let place = by_number.binary_search_by_key(&number, number_of).ok()?;
        by_number.get(place).copied()
    }

    fn members(&self, types: Vec<TypeId>) -> Rows {
        let members = Arc::clone(self.held.get().by_type());
        Rows::Each(Box::new(Members { members, types: types.into_iter(), of: None, place: 0 }))
    }
}

impl Relation for Objects {
    fn len(&self) -> u64 {
        self.held.get().heap.len() as u64
    }

    #[inline]
    fn cell<'c>(&'c self, at: At<'_>, column: usize, text: &'c mut String) -> Cell<'c> {
        let loaded = self.held.get();
        let (heap, object) = (&loaded.heap, ObjectId(at.row as u32));
        match column {
            column::OBJECT => object.0.into(),
            column::ID => {
                heap.append_id(object, text);
                Cell::Text(text)
            }
            column::TYPE | column::NAMESPACE | column::KIND => Property::of(column, column::TYPE)
                .map(|property| property.text(heap, heap.type_of(object)))
                .into(),
            column::SHALLOW => heap.shallow.get(object.index()).into(),
            column::EXTERNAL => heap.external_bytes(object).into(),
            column::RETAINED => loaded.tree().retained(object).into(),
            column::DOMINATOR => loaded.tree().dominator(object).map(|object| object.0).into(),
            column::REACHABLE => self.is_live(object).into(),
            column::DISTANCE => self
                .distances
                .get_or_init(|| RootDistances::of(heap, loaded.graph()))
                .of_object(object)
                .into(),
            column::TYPE_SOURCE => heap.type_source(heap.type_id(object)).name().into(),
            _ => Cell::Null,
        }
    }

    fn lookups(&self) -> Vec<Lookup> {
        let heap = &self.held.get().heap;
        let of_type = heap.len() as u64 / heap.types.len().max(1) as u64 + 1;
        vec![
            Lookup { column: column::OBJECT, rows: 1 },
            Lookup { column: column::ID, rows: 2 },
            Lookup { column: column::TYPE, rows: of_type },
        ]
    }

    fn find(&self, column: usize, key: Key<'_>) -> Rows {
        match (column, key) {
            (column::OBJECT, key) => self.row(key),
            (column::ID, Key::Text(id)) => Rows::one(self.object(id)),
            (column::TYPE, Key::Text(name)) => {
                self.members(self.order.named(&self.held.get().heap, name).to_vec())
            }
            _ => Rows::none(),
        }
    }

    fn has_order(&self, by: &[Order]) -> bool {
        matches!(by, [] | [Order { column: column::OBJECT, is_descending: false }])
            || properties(by, column::TYPE).is_some()
    }

    fn ordered(&self, by: &[Order]) -> Option<Rows> {
        match properties(by, column::TYPE) {
            Some(by) if !by.is_empty() => {
                Some(self.members(self.order.sorted(&self.held.get().heap, &by)))
            }
            _ => self.has_order(by).then(|| Rows::Range(0..self.len())),
        }
    }

    fn prepare(&self, columns: u64) {
        // The tree also says what is reachable: one search instead of two.
        if columns & (1 << column::RETAINED | 1 << column::DOMINATOR) != 0 {
            self.held.get().tree();
        }
    }
}

/// The objects of some types, one type after the other.
struct Members {
    members: Arc<ObjectsByType>,
    types: vec::IntoIter<TypeId>,
    of: Option<TypeId>,
    place: usize,
}

impl Iterator for Members {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(object) = self.of.and_then(|of| self.members.get(of, self.place)) {
                self.place += 1;
                return Some(object.0);
            }
            self.of = Some(self.types.next()?);
            self.place = 0;
        }
    }
}
