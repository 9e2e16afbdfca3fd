//! Labels of references: fields in place of offsets.

use super::super::objects::Objects;
use super::super::propagate::{Ground, Propagation};
use super::super::types::{Kind, TypeRef, Types};
use super::{Columns, path};
use crate::model::heap::{Label, LabelKind, ObjectId};
use crate::model::names::{NameId, Names};
use crate::parallel;
use rustc_hash::FxHashMap;

/// The most elements of an array whose fields get labels of their own. Later elements share the
/// labels of `[4096…]`, which name the field but not the index.
const MAX_NAMED_ELEMENTS: u64 = 1 << 12;

/// The number of objects whose references one thread names at a time. Does not affect labels.
const CHUNK: usize = 1 << 16;

impl Propagation<'_, '_, '_, '_> {
    /// Replaces offsets by the names of fields.
    ///
    /// All threads collect the positions of references. Then the label of each distinct position is
    /// made once, in the order of the objects.
    pub(in super::super) fn name_references(&self, columns: &mut Columns<'_>) {
        let (types, names) = (&self.types, &mut *columns.names);
        let (objects, ground, string) = (&self.objects, self.ground, self.string);
        let finder = Finder { objects, types, ground, string };
        let count = columns.type_of.len();
        let (first, mut rest) =
            (&columns.references.first, columns.references.label.as_mut_slice());
        let mut chunks = Vec::with_capacity(count.div_ceil(CHUNK));
        for row in (0..count).step_by(CHUNK) {
            let rows = row..row.saturating_add(CHUNK).min(count);
            let references = first.get(rows.end).saturating_sub(first.get(rows.start)) as usize;
            chunks.push((rows, rest.split_off_mut(..references).unwrap_or_default()));
        }
        let found = parallel::map(&mut chunks, |(rows, labels)| {
            let mut positions = Positions::default();
            let base = first.get(rows.start);
            for row in rows.clone() {
                let end = first.get(row.wrapping_add(1));
                let range =
                    [first.get(row), end].map(|position| position.wrapping_sub(base) as usize);
                let labels = labels.get_mut(range[0]..range[1]).unwrap_or_default();
                finder.find(ObjectId(row as u32), labels, &mut positions);
            }
            positions.list
        });
        let mut known: FxHashMap<Position, Label> = FxHashMap::default();
        let mut label =
            |position| *known.entry(position).or_insert_with(|| position.label(types, names));
        let named: Vec<Vec<Label>> = found
            .into_iter()
            .map(|positions| positions.into_iter().map(&mut label).collect())
            .collect();
        parallel::for_each(chunks.into_iter().zip(named), |((_, labels), named)| {
            for label in labels {
                if let LabelKind::Field(NameId(number)) = label.kind() {
                    *label = named.get(number as usize).copied().unwrap_or_default();
                }
            }
        });
    }
}

struct Finder<'p, 's, 'a> {
    objects: &'p Objects,
    types: &'p Types,
    ground: Ground<'p, 's, 'a>,
    string: TypeRef,
}

impl Finder<'_, '_, '_> {
    /// Replaces the labels of an object with the numbers of their positions, stored like names.
    fn find(&self, object: ObjectId, labels: &mut [Label], positions: &mut Positions) {
        let Some(typed) = self.objects.get(object).filter(|_| !labels.is_empty()) else { return };
        let Some(ty) = self.types.get(typed.ty).filter(|ty| ty.size > 0) else { return };
        let (size, has_parts) =
            (ty.size, matches!(ty.kind, Kind::Struct { .. } | Kind::Array { .. }));
        let (header, is_array) = (self.ground.header_of(object), typed.is_array(self.string));
        for label in labels {
            let LabelKind::Offset(offset) = label.kind() else { continue };
            let Some(inside) = u64::from(offset).checked_sub(header) else { continue };
            let index = inside.checked_div(size).unwrap_or(0);
            if !is_array && index > 0 {
                continue;
            }
            let shared = index.saturating_sub(MAX_NAMED_ELEMENTS).saturating_mul(size);
            *label = if shared > 0 && !has_parts {
                Label::index(index)
            } else {
                let offset = u64::from(offset).saturating_sub(shared) as u32;
                let (ty, header) = (typed.ty, header as u32);
                positions.number(Position { ty, is_array, header, offset })
            };
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Position {
    ty: TypeRef,
    is_array: bool,
    header: u32,
    /// The offset of the reference, from the start of the header.
    offset: u32,
}

impl Position {
    fn label(self, types: &Types, names: &mut Names) -> Label {
        let offset = u64::from(self.offset.wrapping_sub(self.header));
        let size = types.size(self.ty);
        let index = offset.checked_div(size).unwrap_or(0);
        let path = path(types, self.ty, offset.checked_rem(size).unwrap_or(0));
        match (self.is_array, path.strip_prefix('.').unwrap_or(&path)) {
            (true, "") => Label::index(index),
            (true, _) => {
                let later = if index == MAX_NAMED_ELEMENTS { "…" } else { "" };
                Label::field(names.intern(&format!("[{index}{later}]{path}")))
            }
            // The object is a single pointer.
            (false, "") => Label::index(0),
            (false, path) => Label::field(names.intern(path)),
        }
    }
}

/// Positions with numbers, in the order in which they were found.
#[derive(Default)]
struct Positions {
    list: Vec<Position>,
    numbers: FxHashMap<Position, Label>,
}

impl Positions {
    /// The number of a position, in the form of a label.
    fn number(&mut self, position: Position) -> Label {
        *self.numbers.entry(position).or_insert_with(|| {
            let number = NameId(self.list.len() as u32);
            self.list.push(position);
            Label::field(number)
        })
    }
}
