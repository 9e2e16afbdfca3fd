//! The columns about types that objects and types have in common. Rows can be found by them and
//! read in their order.

use crate::model::heap::{Heap, Type, TypeId, TypeKind};
use crate::model::names::NameId;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::Rows;
use crate::tables::row_numbers::{Order, RowNumbers};
use std::sync::OnceLock;

/// Rows that each have a type.
pub(super) trait Typed: Send + Sync + Sized {
    fn types(&self) -> &TypeOrder<'_>;

    fn type_of(&self, row: usize) -> TypeId;

    /// The rows of some types, one type after the other.
    fn of_types(&self, types: Vec<TypeId>) -> RowNumbers;

    /// About the number of rows of a type.
    fn rows_of_type(&self) -> u64;
}

/// The columns `type`, `namespace` and `kind`.
pub(super) fn type_columns<R: Typed>() -> [ColumnOf<R>; 3] {
    fn row_type<R: Typed>(this: &R, row: usize) -> &Type {
        &this.types().heap.types[this.type_of(row).0 as usize]
    }
    [
        Column::name("type", "The name of the type")
            .codes(|this: &R, row| row_type(this, row).name.0)
            .text(|this, code, _| this.types().text(code))
            .found(Typed::rows_of_type, |this, key| {
                let types = key.text().map(|name| this.types().named(name).to_vec());
                this.of_types(types.unwrap_or_default())
            }),
        Column::name("namespace", "The package, library or module of the type")
            .or_empty()
            .codes(|this: &R, row| row_type(this, row).namespace.0)
            .text(|this, code, _| this.types().text(code)),
        Column::name("kind", "What the objects are: `instance`, `array`, `text` and others")
            .codes(|this: &R, row| row_type(this, row).kind as u32)
            .text(|_, code, _| TypeKind::ALL.get(code as usize).map_or("", |kind| kind.name())),
    ]
}

/// The types of a heap, sorted by name.
pub(super) struct TypeOrder<'h> {
    heap: &'h Heap<'h>,
    by_name: OnceLock<Vec<TypeId>>,
}

/// The text of a type in a column.
type TextOf = for<'h> fn(&'h Heap<'_>, &Type) -> &'h str;

impl<'h> TypeOrder<'h> {
    pub(super) fn of(heap: &'h Heap<'h>) -> Self {
        Self { heap, by_name: OnceLock::new() }
    }

    fn by_name(&self) -> &[TypeId] {
        self.by_name.get_or_init(|| {
            let mut types: Vec<TypeId> = (0..self.heap.types.len() as u32).map(TypeId).collect();
            types.sort_by_key(|id| self.name(*id));
            types
        })
    }

    fn name(&self, id: TypeId) -> &str {
        self.text(self.heap.types[id.0 as usize].name.0)
    }

    fn text(&self, name: u32) -> &str {
        self.heap.names.text(NameId(name))
    }

    fn named(&self, wanted: &str) -> &[TypeId] {
        let all = self.by_name();
        let rest = &all[all.partition_point(|id| self.name(*id) < wanted)..];
        &rest[..rest.partition_point(|id| self.name(*id) == wanted)]
    }

    /// All types in an order of the columns about types. `None` if another column is among them.
    pub(super) fn sorted(&self, by: &[Order<'_>]) -> Option<Vec<TypeId>> {
        let by: Vec<(TextOf, bool)> = by
            .iter()
            .map(|by| Some((text_of(by.column)?, by.is_descending)))
            .collect::<Option<_>>()?;
        let mut types = self.by_name().to_vec();
        types.sort_by(|a, b| {
            let [a, b] = [a, b].map(|id| &self.heap.types[id.0 as usize]);
            let compare = |(text, is_descending): &(TextOf, bool)| {
                let order = text(self.heap, a).cmp(text(self.heap, b));
                if *is_descending { order.reverse() } else { order }
            };
            by.iter().map(compare).find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        Some(types)
    }
}

/// All rows in an order of the columns about types, or of their numbers.
pub(super) fn ordered_by_type<R: Typed + Rows>(rows: &R, by: &[Order<'_>]) -> RowNumbers {
    match rows.types().sorted(by).filter(|_| !by.is_empty()) {
        Some(types) => rows.of_types(types),
        None => RowNumbers::Range(0..rows.len()),
    }
}

/// Whether an order has only columns about types.
pub(super) fn is_of_types(by: &[Order<'_>]) -> bool {
    by.iter().all(|by| text_of(by.column).is_some())
}

fn text_of(column: &str) -> Option<TextOf> {
    Some(match column {
        "type" => |heap, type_| heap.names.text(type_.name),
        "namespace" => |heap, type_| heap.names.text(type_.namespace),
        "kind" => |_, type_| type_.kind.name(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::heap::RootKind;

    #[test]
    fn codes_of_kinds_are_their_places() {
        assert!((0..).zip(TypeKind::ALL).all(|(code, kind)| kind as u32 == code));
        assert!((0..).zip(RootKind::ALL).all(|(code, kind)| kind as u32 == code));
    }
}
