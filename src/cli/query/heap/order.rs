//! Types by name: finds them, and puts them in the order of a query.

use crate::cli::query::relation::Order;
use crate::model::heap::{Heap, Type, TypeId};

/// The types of a heap, sorted by name.
pub(super) struct TypeOrder {
    by_name: Vec<TypeId>,
}

/// A property of a type that is a column of `objects` and of `types`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Name,
    Namespace,
    Kind,
}

impl Property {
    /// The property in a column of a table whose column `name` is that of the name: namespace and
    /// kind follow it.
    pub(super) fn of(column: usize, name: usize) -> Option<Self> {
        [Self::Name, Self::Namespace, Self::Kind].get(column.checked_sub(name)?).copied()
    }

    /// The text in the tables.
    #[inline]
    pub(super) fn text<'h>(self, heap: &'h Heap<'_>, of: &Type) -> &'h str {
        match self {
            Self::Name => heap.names.text(of.name),
            Self::Namespace => heap.names.text(of.namespace),
            Self::Kind => of.kind.name(),
        }
    }
}

impl TypeOrder {
    pub(super) fn of(heap: &Heap<'_>) -> Self {
        let mut by_name: Vec<TypeId> = (0..heap.types.len() as u32).map(TypeId).collect();
        by_name.sort_by_key(|of| name(heap, *of));
        Self { by_name }
    }

    /// The types with a name.
    pub(super) fn named(&self, heap: &Heap<'_>, wanted: &str) -> &[TypeId] {
        let start = self.by_name.partition_point(|of| name(heap, *of) < wanted);
        let rest = &self.by_name[start..];
        &rest[..rest.partition_point(|of| name(heap, *of) == wanted)]
    }

    /// All types in an order of properties. `true` represents descending.
    pub(super) fn sorted(&self, heap: &Heap<'_>, by: &[(Property, bool)]) -> Vec<TypeId> {
        let mut types = self.by_name.clone();
        types.sort_by(|a, b| {
            let [a, b] = [a, b].map(|of| &heap.types[of.0 as usize]);
            let compare = |(property, is_descending): &(Property, bool)| {
                let order = property.text(heap, a).cmp(property.text(heap, b));
                if *is_descending { order.reverse() } else { order }
            };
            by.iter().map(compare).find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        types
    }
}

fn name<'h>(heap: &'h Heap<'_>, of: TypeId) -> &'h str {
    heap.names.text(heap.types[of.0 as usize].name)
}

/// The properties of an order by columns, as for [`Property::of`]; `None` if another column is among
/// them.
pub(super) fn properties(by: &[Order], name: usize) -> Option<Vec<(Property, bool)>> {
    by.iter().map(|by| Some((Property::of(by.column, name)?, by.is_descending))).collect()
}
