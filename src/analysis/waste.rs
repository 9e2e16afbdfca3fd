//! Memory that a program could save: equal texts and arrays, empty and roomy collections, zeros,
//! boxed numbers.
//!
//! * `contents`: texts and blocks of bytes that are equal, all zero, or zero at the end;
//! * `rooms`: collections and arrays with more slots than entries;
//! * `owners`: the fields that hold wasted objects.
//!
//! Only live objects count, and each in one kind only: arrays of collections are not blocks, arrays
//! of texts belong to their texts, and blocks of zeros are not duplicates.

pub mod contents;
pub mod outstanding;
pub mod owners;
pub mod rooms;

use super::collections::Collections;
use super::dominator_tree::DominatorTree;
use super::graph::Graph;
use crate::model::heap::{Heap, ObjectId, TypeId, TypeKind};
use crate::model::named::named;
use crate::parallel;
use contents::Contents;
use owners::{Owner, Owners};
use rooms::{Measured, Rooms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::ops::Range;

named! {
    /// A kind of waste.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum WasteKind {
        /// Texts with equal contents.
        DuplicateText = "duplicate_text",
        /// Arrays and blocks with equal contents.
        DuplicateArray = "duplicate_array",
        /// Collections without entries.
        EmptyCollection = "empty_collection",
        /// Collections, buffers and arrays with unused places.
        SpareCapacity = "spare_capacity",
        /// Arrays and blocks of zeros.
        Zeros = "zeros",
        /// Numbers that are objects.
        Boxed = "boxed",
        /// Instances with room for attributes that their class does not declare (Python).
        Slots = "slots",
    }
    /// The name in JSON.
    pub fn name
}

impl WasteKind {
    /// The kind in words.
    pub fn title(self) -> &'static str {
        match self {
            Self::DuplicateText => "equal texts",
            Self::DuplicateArray => "equal arrays",
            Self::EmptyCollection => "empty collections",
            Self::SpareCapacity => "spare capacity",
            Self::Zeros => "zeros",
            Self::Boxed => "boxed numbers",
            Self::Slots => "instances without __slots__",
        }
    }

    /// Returns a description of how the bytes are computed.
    pub fn method(self) -> &'static str {
        match self {
            Self::DuplicateText => {
                "retained bytes of texts with equal contents, except the largest of each"
            }
            Self::DuplicateArray => {
                "retained bytes of arrays and blocks of at least 16 bytes with equal contents, except the largest of each"
            }
            Self::EmptyCollection => "retained bytes of collections without entries",
            Self::SpareCapacity => {
                "the part of the array that the entries do not need (a hash table needs the power of two above 4/3 of its entries); \
                 arrays whose second half is zero or null"
            }
            Self::Zeros => {
                "shallow bytes of arrays and blocks of at least 16 bytes that are all zero"
            }
            Self::Boxed => "shallow bytes of numbers stored as objects",
            Self::Slots => {
                "estimate: bytes of instances and their __dict__, without 4 words each and one for each attribute, \
                 which is what __slots__ need"
            }
        }
    }
}

/// The waste in a heap, by kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Waste {
    /// The waste of each kind, in the order of [`WasteKind::ALL`].
    pub parts: Vec<WastePart>,
}

/// The waste of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct WastePart {
    /// The kind of waste.
    pub kind: WasteKind,
    /// Whether the dump contains the data from which the kind is computed. Otherwise the kind has
    /// no rows.
    pub known: bool,
    /// The number of objects that waste memory, including the ones that would be kept.
    pub count: u64,
    /// Bytes that could be saved.
    pub bytes: u64,
    /// Rows by value for duplicates and by type for the other kinds, sorted by bytes, largest
    /// first.
    pub rows: Vec<WasteRow>,
    /// The fields that hold the objects, sorted by bytes, largest first. An object counts for the
    /// first field that refers to it.
    pub owners: Vec<WasteOwner>,
}

/// Objects with one value, or of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WasteRow {
    /// The type of the example, and of all if they are grouped by it.
    pub of: TypeId,
    /// The number of objects.
    pub count: u64,
    /// Bytes that could be saved.
    pub bytes: u64,
    /// The first object with the value, or the one that wastes most.
    pub example: ObjectId,
    /// The fill of all collections of the type, where their capacity is known.
    pub fill: Option<Fill>,
}

/// The fill of the collections of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// The number of collections of the type, including those that waste nothing.
    pub all: u64,
    /// Places in their arrays.
    pub capacity: u64,
    /// Places that are taken.
    pub used: u64,
}

/// A field that holds objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WasteOwner {
    /// The field that holds the objects.
    pub owner: Owner,
    /// The number of objects that it holds.
    pub count: u64,
    /// Bytes that could be saved.
    pub bytes: u64,
    /// The first of the objects.
    pub example: ObjectId,
}

/// The measurements from which waste and some suspects are computed.
pub struct Measurements {
    /// Collections and arrays.
    pub rooms: Rooms,
    /// Texts and blocks of bytes.
    pub contents: Contents,
}

impl Measurements {
    /// Measures all live objects and their contents.
    pub fn of_read(
        heap: &Heap<'_>,
        tree: &DominatorTree,
        collections: &Collections<'_, '_>,
        read: contents::Read,
    ) -> Self {
        Self::of_rooms(heap, tree, Rooms::of(heap, tree, collections), read)
    }

    /// Measures contents, where collections and arrays have already been measured.
    pub fn of_rooms(
        heap: &Heap<'_>,
        tree: &DominatorTree,
        rooms: Rooms,
        read: contents::Read,
    ) -> Self {
        let contents = Contents::of(heap, tree, &rooms.claimed, read);
        Self { rooms, contents }
    }
}

impl Waste {
    /// Finds the waste of a heap.
    pub fn of(heap: &Heap<'_>, tree: &DominatorTree) -> Self {
        let read = contents::Read::of(heap, &Graph::of(heap));
        Self::of_measured(
            heap,
            tree,
            &Measurements::of_read(heap, tree, &Collections::of(heap), read),
        )
    }

    /// Like [`Waste::of`], from measurements that have already been taken.
    pub fn of_measured(heap: &Heap<'_>, tree: &DominatorTree, measured: &Measurements) -> Self {
        let (mut waste, mut found) = parallel::join(
            || Self::without_owners(heap, tree, measured),
            || owners(heap, tree, measured).find(heap, tree),
        );
        for part in &mut waste.parts {
            part.owners = found.remove(&part.kind).unwrap_or_default();
        }
        waste
    }

    /// Finds the waste of a heap, but not the fields that hold it: [`WastePart::owners`] is empty.
    pub fn without_owners(
        heap: &Heap<'_>,
        tree: &DominatorTree,
        Measurements { rooms, contents }: &Measurements,
    ) -> Self {
        let known = heap.known();
        let kinds = WasteKind::ALL.into_iter();
        // The other kinds apply to all runtimes.
        let kinds = kinds.filter(|kind| *kind != WasteKind::Slots || known.slots);
        let mut parts: Vec<WastePart> = kinds.map(WastePart::new).collect();
        for part in &mut parts {
            let kind = part.kind;
            part.known = match kind {
                WasteKind::DuplicateText => known.texts,
                WasteKind::DuplicateArray | WasteKind::Zeros => known.bytes,
                WasteKind::EmptyCollection | WasteKind::SpareCapacity => known.lengths,
                WasteKind::Boxed => known.numbers,
                WasteKind::Slots => known.slots,
            };
            part.rows = match kind {
                WasteKind::DuplicateText => values(&contents.texts),
                WasteKind::DuplicateArray => values(&contents.blocks),
                WasteKind::EmptyCollection => by_type(heap, [rooms.empty(tree)], &rooms.all),
                WasteKind::SpareCapacity => by_type(heap, [spare(rooms, contents)], &rooms.all),
                WasteKind::Zeros => by_type(heap, [zeros(heap, rooms, contents)], &[]),
                WasteKind::Boxed => by_type(heap, boxed(heap, tree), &[]),
                WasteKind::Slots => by_type(heap, slots(heap, tree), &[]),
            };
            part.count = part.rows.iter().map(|row| row.count).sum();
            part.known |= part.count > 0;
            part.bytes = part.rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.bytes));
        }
        Self { parts }
    }

    /// Bytes that could be saved.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.bytes))
    }
}

impl WastePart {
    fn new(kind: WasteKind) -> Self {
        Self { kind, known: false, count: 0, bytes: 0, rows: Vec::new(), owners: Vec::new() }
    }
}

/// The objects of all kinds, whose holders are to be found.
fn owners(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    Measurements { rooms, contents }: &Measurements,
) -> Owners {
    let retained = |object: &ObjectId| (*object, tree.retained(*object));
    Owners::of(heap, |kind, each| {
        let each = |(object, bytes)| each(object, bytes);
        match kind {
            WasteKind::DuplicateText => {
                contents.copies_of_texts.iter().map(retained).for_each(each)
            }
            WasteKind::DuplicateArray => {
                contents.copies_of_blocks.iter().map(retained).for_each(each)
            }
            WasteKind::EmptyCollection => rooms.empty(tree).for_each(each),
            WasteKind::SpareCapacity => spare(rooms, contents).for_each(each),
            WasteKind::Zeros => zeros(heap, rooms, contents).for_each(each),
            WasteKind::Boxed => boxed(heap, tree).into_iter().flatten().for_each(each),
            WasteKind::Slots => slots(heap, tree).into_iter().flatten().for_each(each),
        }
    })
}

fn values(copies: &[contents::Copies]) -> Vec<WasteRow> {
    let rows = copies.iter().filter(|copies| !copies.is_zero);
    rows.map(|copies| WasteRow {
        of: copies.of,
        count: copies.count,
        bytes: copies.wasted,
        example: copies.example,
        fill: None,
    })
    .collect()
}

fn spare<'w>(
    rooms: &'w Rooms,
    contents: &'w Contents,
) -> impl Iterator<Item = (ObjectId, u64)> + 'w {
    rooms.spare().chain(contents.tails.iter().copied())
}

/// Blocks of zeros, except those that count as spare capacity: an array of Go that no slice fills.
fn zeros<'w>(
    heap: &'w Heap<'_>,
    rooms: &'w Rooms,
    contents: &'w Contents,
) -> impl Iterator<Item = (ObjectId, u64)> + 'w {
    let spare: FxHashSet<ObjectId> = rooms.spare().map(|(object, _)| object).collect();
    let zeros = contents.zeros.iter().filter(move |object| !spare.contains(object));
    zeros.map(|object| (*object, heap.shallow_bytes(*object)))
}

/// The objects in each part of the heap.
fn boxed<'w>(
    heap: &'w Heap<'_>,
    tree: &'w DominatorTree,
) -> Vec<impl Iterator<Item = (ObjectId, u64)> + Send + 'w> {
    let is_number = |object: &ObjectId| heap.type_of(*object).kind == TypeKind::Number;
    let bytes = |object: ObjectId| (object, heap.shallow_bytes(object));
    let counts = |(object, bytes): &(ObjectId, u64)| *bytes > 0 && tree.is_live(*object);
    let numbers = |part| objects(part).filter(is_number).map(bytes).filter(counts);
    parallel::parts(0..heap.len()).map(numbers).collect()
}

/// The objects in each part of the heap.
fn slots<'w>(
    heap: &'w Heap<'_>,
    tree: &'w DominatorTree,
) -> Vec<impl Iterator<Item = (ObjectId, u64)> + Send + 'w> {
    let saved = |object: ObjectId| Some((object, heap.slots_save(object)?));
    let live = |part| objects(part).filter(|object| tree.is_live(*object)).filter_map(saved);
    let known = if heap.known().slots { heap.len() } else { 0 };
    parallel::parts(0..known).map(live).collect()
}

fn objects(part: Range<usize>) -> impl Iterator<Item = ObjectId> {
    (part.start as u32..part.end as u32).map(ObjectId)
}

/// The waste of the objects of each type, and the most bytes of a single one. A table, because a file may
/// have many types, and each part has its own.
type ByType = FxHashMap<TypeId, (WasteRow, u64)>;

/// Groups objects by type, with the fill of the type's collections. All threads process the parts, of which
/// each has later objects than those before.
fn by_type<Objects: Iterator<Item = (ObjectId, u64)> + Send>(
    heap: &Heap<'_>,
    parts: impl IntoIterator<Item = Objects>,
    all: &[Measured],
) -> Vec<WasteRow> {
    let of_parts = parallel::map(parts, |objects| {
        let mut rows = ByType::default();
        for (example, bytes) in objects {
            let of = heap.type_id(example);
            add(&mut rows, WasteRow { of, count: 1, bytes, example, fill: None }, bytes);
        }
        rows
    });
    let mut rows = ByType::default();
    for (row, most) in of_parts.into_iter().flat_map(ByType::into_values) {
        add(&mut rows, row, most);
    }
    for measured in all {
        let Some((row, _)) = rows.get_mut(&heap.type_id(measured.object)) else { continue };
        let fill = row.fill.get_or_insert_default();
        fill.all += 1;
        fill.capacity = fill.capacity.saturating_add(measured.capacity);
        fill.used = fill.used.saturating_add(measured.used);
    }
    let mut rows: Vec<WasteRow> = rows.into_values().map(|(row, _)| row).collect();
    rows.sort_unstable_by_key(|row| (Reverse(row.bytes), row.of));
    rows
}

/// Adds later objects of a type, of which the largest has `bytes`. The largest of all is the example.
fn add(rows: &mut ByType, more: WasteRow, bytes: u64) {
    match rows.entry(more.of) {
        Entry::Vacant(place) => _ = place.insert((more, bytes)),
        Entry::Occupied(mut known) => {
            let (row, most) = known.get_mut();
            row.count += more.count;
            row.bytes = row.bytes.saturating_add(more.bytes);
            if bytes > *most {
                (row.example, *most) = (more.example, bytes);
            }
        }
    }
}
