//! Types of objects, and labels of references, from the tables of the file.

use super::roots;
use crate::input::mvmheap::dump::{Dump, Snapshot};
use crate::input::mvmheap::tally::{FRAME, KINDS, OBJECT, STABLE, TYPE_OBJECT};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Label, TypeId, TypeKind};
use crate::model::names::Names;

/// The labels of all descriptions whose value is below the number of the snapshot's strings. Each
/// value has four, by kind: no name, the element, the string, and no name for the unknown kind.
pub(super) fn labels(dump: &Dump<'_>, snapshot: &Snapshot<'_>, names: &mut Names) -> Vec<Label> {
    let strings =
        (0..snapshot.sizes.strings.unwrap_or(0)).map_while(|index| dump.tables.string(index));
    let labels = (0..).zip(strings).flat_map(|(value, string)| {
        [Label::NONE, Label::index(value), Label::field(names.intern(&string)), Label::NONE]
    });
    labels.collect()
}

/// Adds the types of rows, from their kinds, types and frames. Also returns the number of rows
/// whose type or frame is not in the tables.
pub(super) fn add(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    kinds: &[u8],
    tofi: Vec<u32>,
    builder: &mut HeapBuilder<'_>,
) -> (Vec<TypeId>, u64) {
    let slots = Slots::new(dump, snapshot);
    let mut used = vec![false; slots.count()];
    let nameless: [bool; 16] = std::array::from_fn(|kind| roots::part(kind as u8).is_none());
    let mut untyped = 0u64;
    let mut rows = tofi;
    for (row, &kind) in rows.iter_mut().zip(kinds) {
        let slot = slots.slot(kind, *row);
        let is_nameless = nameless.get(usize::from(kind & 15)).is_some_and(|nameless| *nameless);
        untyped = untyped.wrapping_add(u64::from(slot < KINDS) & u64::from(is_nameless));
        if let Some(used) = used.get_mut(slot) {
            *used = true;
        }
        *row = slot as u32;
    }
    let unused = TypeId(u32::MAX);
    let ids: Vec<_> = (0..)
        .zip(used)
        .map(|(slot, used)| if used { slots.add(dump, slot, builder) } else { unused })
        .collect();
    let type_of =
        rows.into_iter().map(|slot| ids.get(slot as usize).copied().unwrap_or(unused)).collect();
    (type_of, untyped)
}

/// All possible types, numbered in sequence: one per kind for rows without a name, which is the
/// only one for parts of the root set; then the objects, type objects and STables of each type, and
/// the frames.
pub(super) struct Slots {
    types: usize,
    frames: usize,
    /// For each kind, the number of its names and its first slot. A table, because the processor
    /// cannot predict branches on kinds, which come in no order.
    names: [(u32, u32); 16],
}

impl Slots {
    pub(super) fn new(dump: &Dump<'_>, snapshot: &Snapshot<'_>) -> Self {
        let known = |size: Option<u64>, rows: usize| {
            usize::try_from(size.unwrap_or(0)).unwrap_or(rows).min(rows)
        };
        let types = known(snapshot.sizes.types, dump.tables.types.len());
        let frames = known(snapshot.sizes.frames, dump.tables.frames.len());
        let mut names = [(0, 0); 16];
        let mut slot = KINDS;
        for (kind, count) in
            [(OBJECT, types), (TYPE_OBJECT, types), (STABLE, types), (FRAME, frames)]
        {
            if let Some(names) = names.get_mut(kind as usize) {
                *names = (count as u32, slot as u32);
            }
            slot = slot.saturating_add(count);
        }
        Self { types, frames, names }
    }

    pub(super) fn count(&self) -> usize {
        self.types.saturating_mul(3).saturating_add(self.frames).saturating_add(KINDS)
    }

    #[inline]
    pub(super) fn slot(&self, kind: u8, tofi: u32) -> usize {
        let (count, first) = self.names.get(usize::from(kind & 15)).copied().unwrap_or_default();
        let slot = if tofi < count { first.wrapping_add(tofi) } else { kind.into() };
        slot as usize
    }

    pub(super) fn add(
        &self,
        dump: &Dump<'_>,
        slot: usize,
        builder: &mut HeapBuilder<'_>,
    ) -> TypeId {
        let Some(named) = slot.checked_sub(KINDS) else { return add_nameless(slot as u8, builder) };
        match (named.checked_div(self.types).unwrap_or(3).min(3), named) {
            (kind @ 0..3, _) => {
                let row = dump.tables.types.get(named.wrapping_sub(kind.wrapping_mul(self.types)));
                let text = |string: Option<u64>| {
                    string.and_then(|string| dump.tables.string(string)).unwrap_or_default()
                };
                add_type(
                    kind,
                    &text(row.map(|row| row.name)),
                    &text(row.map(|row| row.repr)),
                    builder,
                )
            }
            (_, named) => {
                let name = frame_name(dump, named.saturating_sub(self.types.saturating_mul(3)));
                builder.add_type(&name, "", TypeKind::Frame)
            }
        }
    }
}

/// `kind` is 0 for objects, 1 for type objects, 2 for STables.
fn add_type(kind: usize, name: &str, repr: &str, builder: &mut HeapBuilder<'_>) -> TypeId {
    let package = package_of(name);
    let type_id = match kind {
        0 => builder.add_type(name, package, object_kind(repr)),
        1 => builder.add_type(&format!("{name} (type object)"), package, TypeKind::Class),
        _ => builder.add_type(&format!("STable<{name}>"), package, TypeKind::Class),
    };
    builder.set_representation(repr);
    type_id
}

/// The package of a type: `Perl6::Metamodel` for `Perl6::Metamodel::ClassHOW+{<anon>}`. Empty if it
/// has none.
fn package_of(name: &str) -> &str {
    let end = name.find(['[', '(', '+', '<', ' ']).unwrap_or(name.len());
    name.get(..end).and_then(|path| path.rsplit_once("::")).map_or("", |(package, _)| package)
}

/// The kind of an object, by its representation.
fn object_kind(repr: &str) -> TypeKind {
    match repr {
        "MVMString" | "P6str" => TypeKind::Text,
        "P6int" | "P6num" | "P6bigint" => TypeKind::Number,
        "VMArray" | "MVMArray" | "MultiDimArray" | "CArray" | "MVMMultiDimArray" | "MVMCArray" => {
            TypeKind::Array
        }
        _ => TypeKind::Instance,
    }
}

/// The name, file and line of a frame. Frames without a name are common.
fn frame_name(dump: &Dump<'_>, frame: usize) -> String {
    let [name, _, file] = dump.tables.frames.get(frame).copied().unwrap_or([u64::MAX; 3]);
    let line = dump.tables.lines.get(frame).copied().unwrap_or(0);
    let text = |string| dump.tables.string(string).unwrap_or_default();
    let name = Some(text(name)).filter(|name| !name.is_empty());
    format!("{} ({}:{line})", name.as_deref().unwrap_or("<anon>"), text(file))
}

fn add_nameless(kind: u8, builder: &mut HeapBuilder<'_>) -> TypeId {
    match (u64::from(kind), roots::part(kind)) {
        (_, Some((name, _))) => builder.add_type(name, "", TypeKind::Root),
        (OBJECT, _) => builder.add_type("<unknown type>", "", TypeKind::Instance),
        (TYPE_OBJECT, _) => builder.add_type("<unknown type> (type object)", "", TypeKind::Class),
        (STABLE, _) => builder.add_type("STable<<unknown type>>", "", TypeKind::Class),
        (FRAME, _) => builder.add_type("<unknown frame>", "", TypeKind::Frame),
        _ => builder.add_type("<unknown kind>", "", TypeKind::Instance),
    }
}
