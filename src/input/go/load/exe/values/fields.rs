//! The fields of a value: structs and arrays inside it flattened, lengths, dynamic types.

use super::super::types::{Kind, TypeRef};
use super::{Place, View};
use crate::model::heap::{EachField, Field, FieldValue};
use std::ops::ControlFlow;

/// The most elements of an array that are flattened into fields.
const ELEMENTS: u64 = 8;
/// The most entries of a map that are passed as fields.
const ENTRIES: u64 = 64;
/// The deepest nesting of structs and arrays.
const MAX_DEPTH: u32 = 24;
/// The most parts of a value that are read.
const MAX_PARTS: usize = 1 << 12;

impl View<'_, '_> {
    /// Passes the fields of a value, those of structs and arrays inside it flattened.
    pub(super) fn flatten(
        &self,
        name: &str,
        place: Place<'_>,
        each: &mut EachField<'_>,
    ) -> ControlFlow<()> {
        let types = &self.typed.types;
        let mut open = vec![(name.to_owned(), place, 0u32)];
        for _ in 0..MAX_PARTS {
            let Some((name, place, depth)) = open.pop() else { break };
            let Some(described) = types.get(place.ty) else { continue };
            match &described.kind {
                _ if depth >= MAX_DEPTH => {}
                _ if self.typed.is_simple(place.ty) => self.one(&name, place, each)?,
                Kind::Struct { fields } => {
                    for field in fields.iter().rev().take(MAX_PARTS) {
                        let dot = if name.is_empty() { "" } else { "." };
                        open.push((
                            format!("{name}{dot}{}", field.name),
                            place.at(field.offset, field.ty),
                            depth.saturating_add(1),
                        ));
                    }
                }
                Kind::Array { element, length } => {
                    let size = types.size(*element);
                    for index in (0..(*length).min(ELEMENTS)).rev() {
                        let at = place.at(size.saturating_mul(index), *element);
                        open.push((format!("{name}[{index}]"), at, depth.saturating_add(1)));
                    }
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }

    /// Passes the fields of the first structs or arrays in an array.
    pub(super) fn flatten_array(
        &self,
        place: Place<'_>,
        count: u64,
        each: &mut EachField<'_>,
    ) -> ControlFlow<()> {
        let size = self.typed.types.size(place.ty);
        for index in 0..count.min(ELEMENTS) {
            let element = place.at(size.saturating_mul(index), place.ty);
            self.flatten(&format!("[{index}]"), element, each)?;
        }
        ControlFlow::Continue(())
    }

    /// Passes a simple value, with lengths, and with the dynamic type of an interface.
    fn one(&self, name: &str, place: Place<'_>, each: &mut EachField<'_>) -> ControlFlow<()> {
        let Some(described) = self.typed.types.get(place.ty) else {
            return ControlFlow::Continue(());
        };
        let (name, type_name) =
            (if name.is_empty() { "value" } else { name }, described.name.as_str());
        if let Kind::Interface { .. } = described.kind {
            return self.interface(name, type_name, place, each);
        }
        if described.kind == Kind::Function
            && let Some(value) = self.word_of(place, 0)
            && let Some(function) = self.function(value)
        {
            let type_name = &format!("func {function}");
            return each(Field { class: "", name, type_name, value: self.pointer(value) });
        }
        let passed =
            self.scalar(place, &mut |value| each(Field { class: "", name, type_name, value }));
        passed.unwrap_or(ControlFlow::Continue(()))?;
        let known = |(part, length): (&str, Option<u64>)| Some((format!("{name}.{part}"), length?));
        self.lengths(place).into_iter().filter_map(known).try_for_each(|(name, length)| {
            let value = FieldValue::Unsigned(length);
            each(Field { class: "", name: &name, type_name: "int", value })
        })
    }

    /// `len` and `cap` of slices and channels, `len` of maps.
    fn lengths(&self, place: Place<'_>) -> [(&'static str, Option<u64>); 2] {
        let header = || {
            let bytes = self.bytes_at(self.word_of(place, 0)?)?;
            Some(Place { bytes, offset: 0, ty: place.ty })
        };
        let (length, capacity) = match self.typed.types.get(place.ty).map(|ty| &ty.kind) {
            Some(Kind::Slice { .. }) => (self.word_of(place, 1), self.word_of(place, 2)),
            Some(Kind::Map { .. }) => (header().and_then(|header| self.length(header)), None),
            Some(Kind::Channel { .. }) => (
                header().and_then(|header| self.length(header)),
                header().and_then(|header| self.word_of(header, 1)),
            ),
            _ => (None, None),
        };
        [("len", length), ("cap", capacity)]
    }

    /// Passes the value in an interface, under the name of its dynamic type.
    fn interface(
        &self,
        name: &str,
        declared: &str,
        place: Place<'_>,
        each: &mut EachField<'_>,
    ) -> ControlFlow<()> {
        let (first, data) =
            (self.word_of(place, 0).unwrap_or(0), self.word_of(place, 1).unwrap_or(0));
        let mut field = |type_name: &str, value: FieldValue<'_>| {
            each(Field { class: "", name, type_name, value })
        };
        let Some(ty) = self.typed.dynamic(first).filter(|_| first != 0) else {
            return field(declared, self.pointer(data));
        };
        let Some(described) = self.typed.types.get(ty) else { return ControlFlow::Continue(()) };
        let held = if described.direct {
            Some(place.at(self.typed.words.size, ty))
        } else {
            self.bytes_at(data).map(|bytes| Place { bytes, offset: 0, ty })
        };
        let is_value =
            self.typed.is_simple(ty) && !matches!(described.kind, Kind::Interface { .. });
        let passed = held
            .filter(|_| is_value)
            .and_then(|held| self.scalar(held, &mut |value| field(&described.name, value)));
        passed.unwrap_or_else(|| field(&described.name, self.pointer(data)))
    }

    /// Passes the length of a map or channel, given its header. For maps, also passes the first
    /// entries; for channels, the queued elements and the waiting goroutines.
    pub(super) fn header(
        &self,
        header: Place<'_>,
        whole: TypeRef,
        each: &mut EachField<'_>,
    ) -> ControlFlow<()> {
        let header = Place { ty: whole, ..header };
        let mut field = |name: &str, value: u64| {
            each(Field { class: "", name, type_name: "int", value: FieldValue::Unsigned(value) })
        };
        let Some(length) = self.length(header) else { return ControlFlow::Continue(()) };
        field("len", length)?;
        match self.typed.types.get(whole).map(|ty| &ty.kind) {
            Some(Kind::Channel { element }) => {
                field("cap", self.word_of(header, 1).unwrap_or(0))?;
                self.queued(header, *element, length.min(ENTRIES), each)?;
                self.waiting(header, each)
            }
            Some(Kind::Map { group, .. }) => {
                let mut left = ENTRIES;
                self.entries(header, *group, &mut |key, element| {
                    left = match left.checked_sub(1) {
                        Some(left) => left,
                        None => return ControlFlow::Break(()),
                    };
                    self.flatten(&format!("[{}]", self.brief(key)), element, each)
                })
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
