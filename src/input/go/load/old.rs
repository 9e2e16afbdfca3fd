//! Types of the draft and of 1.3, which contain the positions of the pointers of their objects.
//!
//! An object has the address of a type and a kind: 0 one value, 1 an array of values, 2 a channel
//! with the values as its elements, 127 anything (every aligned word may be a pointer). Without a
//! type it has no pointers.

use super::shape::Shape;
use crate::input::go::draft::DraftType;
use crate::input::go::fields::{Field, FieldKind};
use crate::input::go::object::Typed;
use crate::input::go::version::Version;
use rustc_hash::{FxHashMap, FxHashSet};
use std::num::Saturating;

/// Words before the elements of a channel in the draft, which does not state the number: its reader
/// used 88 bytes of 8-byte words.
const DRAFT_CHANNEL_WORDS: u64 = 11;
/// The kind of objects that are scanned conservatively.
const CONSERVATIVE: u64 = 127;

/// All types, and all pairs of a type and a kind that objects have.
#[derive(Default)]
pub(super) struct OldTypes {
    types: FxHashMap<u64, OldType>,
    uses: FxHashMap<(u64, u64), u32>,
    layouts: Vec<OldLayout>,
    dropped_fields: Saturating<u64>,
}

struct OldType {
    name: String,
    size: u64,
    fields: Vec<Field>,
}

#[derive(Default)]
pub(super) struct OldLayout {
    /// The type's name. `None` if only the object size is known.
    pub(super) name: Option<String>,
    /// Whether the number of elements varies.
    pub(super) array: bool,
    /// Whether every word may be a pointer.
    conservative: bool,
    /// Whether the type has no record.
    pub(super) unknown: bool,
    typed: Typed,
    start: u64,
    stride: u64,
    fields: Vec<Field>,
}

impl OldTypes {
    /// Adds a type record. If several have the same address, the first one counts.
    pub(super) fn add_type(
        &mut self,
        address: u64,
        size: u64,
        name: &[u8],
        fields: impl Iterator<Item = Field>,
    ) {
        self.types.entry(address).or_insert_with(|| OldType {
            name: String::from_utf8_lossy(name).into_owned(),
            size,
            fields: fields.collect(),
        });
    }

    pub(super) fn add_draft_type(&mut self, record: &DraftType<'_>) {
        let fields = record.pointers.iter().map(|offset| Field { kind: FieldKind::Ptr, offset });
        self.add_type(record.addr, record.size, record.name, fields);
    }

    /// Records that an object has this type and kind.
    pub(super) fn used(&mut self, typed: Typed) {
        let typed = with_known_kind(typed);
        let next = self.uses.len() as u32;
        self.uses.entry((typed.type_addr, typed.kind)).or_insert_with(|| {
            self.layouts.push(OldLayout { typed, ..OldLayout::default() });
            next
        });
    }

    pub(super) fn finish(&mut self, version: Version, pointer_size: u64, hchan_size: Option<u64>) {
        if version > Version::Go13 {
            *self = Self::default();
            return;
        }
        for record in self.types.values_mut() {
            // With at most one field for each word an array cannot have more pointers than its
            // memory has words.
            let fields = record.fields.len();
            let mut seen = FxHashSet::default();
            record.fields.retain(|field| {
                let end =
                    field.offset.saturating_add(field.kind.words().saturating_mul(pointer_size));
                end <= record.size
                    && seen.insert(field.offset.checked_div(pointer_size).unwrap_or(field.offset))
            });
            // Sorted, the fields that lie in a shorter object come first.
            record.fields.sort_by_key(|field| field.offset);
            self.dropped_fields += fields.saturating_sub(record.fields.len()) as u64;
        }
        let channel = hchan_size.unwrap_or(pointer_size.saturating_mul(DRAFT_CHANNEL_WORDS));
        for layout in &mut self.layouts {
            let Typed { type_addr, kind } = layout.typed;
            if kind == CONSERVATIVE && version == Version::Go13 {
                layout.conservative = true;
                continue;
            }
            let Some(record) = self.types.get(&type_addr) else {
                layout.unknown = type_addr != 0;
                continue;
            };
            layout.array = matches!(kind, 1 | 2);
            layout.name = Some(match kind {
                1 => format!("[]{}", record.name),
                2 => format!("chan {}", record.name),
                _ => record.name.clone(),
            });
            layout.start = if kind == 2 { channel } else { 0 };
            layout.stride = record.size;
            layout.fields.clone_from(&record.fields);
        }
    }

    /// The number of dropped fields: those that reach beyond their type, and repeated ones.
    pub(super) fn dropped_fields(&self) -> u64 {
        self.dropped_fields.0
    }

    pub(super) fn number(&self, typed: Typed) -> u32 {
        let typed = with_known_kind(typed);
        self.uses.get(&(typed.type_addr, typed.kind)).copied().unwrap_or(0)
    }

    pub(super) fn layout(&self, number: u32) -> Option<&OldLayout> {
        self.layouts.get(number as usize)
    }
}

/// Replaces an unknown kind, which is damage, with that of a single value. This limits the layouts
/// of a type to four.
fn with_known_kind(typed: Typed) -> Typed {
    Typed { kind: if matches!(typed.kind, 1 | 2 | CONSERVATIVE) { typed.kind } else { 0 }, ..typed }
}

impl OldLayout {
    fn is_typed(&self) -> bool {
        self.name.is_some()
    }

    /// The shape of an object of this size, by the number of the layout.
    pub(super) fn shape(&self, number: u32, size: u64) -> Shape {
        match (self.is_typed(), self.conservative) {
            (true, _) => Shape::Old { number },
            (false, true) => Shape::Conservative { size },
            (false, false) => Shape::Plain { size },
        }
    }

    /// The fields of an object of this size, in order.
    pub(super) fn fields(&self, size: u64, pointer_size: u64) -> impl Iterator<Item = Field> + '_ {
        let all_words = words_in(size, pointer_size);
        let words = if self.conservative { all_words } else { 0 };
        // An object may be shorter than its type. Offsets beyond its end are not fields.
        let most = usize::try_from(all_words).unwrap_or(usize::MAX);
        let every = (0..words).map(move |word| Field {
            kind: FieldKind::Ptr,
            offset: word.wrapping_mul(pointer_size),
        });
        let repeated = (0..self.elements(size)).flat_map(move |element| {
            let base = self.start.saturating_add(element.saturating_mul(self.stride));
            self.fields.iter().take(most).map(move |field| Field {
                kind: field.kind,
                offset: base.saturating_add(field.offset),
            })
        });
        every.chain(repeated)
    }

    pub(super) fn count(&self, size: u64, pointer_size: u64) -> u64 {
        if self.conservative {
            words_in(size, pointer_size)
        } else {
            self.elements(size)
                .saturating_mul(self.fields.len() as u64)
                .min(words_in(size, pointer_size))
        }
    }

    fn elements(&self, size: u64) -> u64 {
        match (self.fields.is_empty(), self.array) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => size.saturating_sub(self.start).checked_div(self.stride).unwrap_or(0),
        }
    }
}

/// The number of whole words in `size` bytes.
fn words_in(size: u64, pointer_size: u64) -> u64 {
    size.checked_div(pointer_size).unwrap_or(size)
}
