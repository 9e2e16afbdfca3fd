//! Names of types and edges.

use crate::model::distinct::Distinct;
use crate::model::heap::{Heap, Label, Type, TypeId, TypeKind};
use crate::model::names::NameId;
use rustc_hash::FxHashMap;

/// A composed name of edges: `+0x10`, `[3]`, `main.worker buf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// The function of a call frame.
    pub(super) function: Option<NameId>,
    pub(super) label: Label,
}

/// Composed names by the numbers under which edges refer to them, in the order of first use.
#[derive(Debug, Default)]
pub(super) struct Labels {
    places: Distinct<Place>,
    last: Option<(Place, u32)>,
}

impl Labels {
    /// The number of a name.
    #[inline]
    pub(super) fn number(&mut self, place: Place) -> u64 {
        if let Some((last, number)) = self.last
            && last == place
        {
            return number.into();
        }
        let number = self.places.number(place);
        self.last = Some((place, number));
        number.into()
    }

    /// All names, in the order of their numbers.
    pub(super) fn names<'s>(&'s self, heap: &'s Heap<'_>) -> impl Iterator<Item = String> + 's {
        self.places.all.iter().map(|place| {
            let label = place.label.text(&heap.names);
            match place.function.map(|function| heap.names.text(function)) {
                Some(function) if label.is_empty() => function.to_owned(),
                Some(function) => format!("{function} {label}"),
                None => label.into_owned(),
            }
        })
    }
}

/// The names for objects of types. Each name is stored once, because readers take strings of
/// different numbers for different types.
pub(super) struct TypeNames {
    pub(super) texts: Vec<String>,
    of: Vec<u32>,
}

impl TypeNames {
    pub(super) fn of(heap: &Heap<'_>) -> Self {
        let mut texts = Distinct::default();
        let classes = heap.classes.iter().map(|class| heap.names.text(class.name).to_owned());
        let of =
            type_names(heap).into_iter().chain(classes).map(|name| texts.number(name)).collect();
        Self { texts: texts.all, of }
    }

    /// The number of a type's name, or of that of a class object.
    #[inline]
    pub(super) fn number(&self, type_id: TypeId) -> usize {
        self.of[type_id.0 as usize] as usize
    }

    pub(super) fn text(&self, type_id: TypeId) -> &str {
        &self.texts[self.number(type_id)]
    }
}

/// The names for objects of each type: the type's name; with its namespace if several types have
/// the name, because readers put objects of equal names together; in parentheses if the objects
/// represent roots, as V8 writes those.
fn type_names(heap: &Heap<'_>) -> Vec<String> {
    let mut namespaces = FxHashMap::<NameId, Option<NameId>>::default();
    for Type { name, namespace, .. } in &heap.types {
        let known = namespaces.entry(*name).or_insert(Some(*namespace));
        if *known != Some(*namespace) {
            *known = None;
        }
    }
    let name = |type_: &Type| {
        let (name, namespace) = (heap.names.text(type_.name), heap.names.text(type_.namespace));
        match (type_.kind, name, namespaces.get(&type_.name)) {
            (_, "", _) => "<unnamed>".to_owned(),
            (TypeKind::Synthetic | TypeKind::Root, ..) if !name.starts_with('(') => {
                format!("({name})")
            }
            (_, _, Some(None)) if !namespace.is_empty() => format!("{name} ({namespace})"),
            _ => name.to_owned(),
        }
    };
    heap.types.iter().map(name).collect()
}
