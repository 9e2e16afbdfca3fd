//! Finds adjacent objects in a stream of records.
//!
//! Objects do not overlap, so the distance to any later object bounds the size of an earlier one,
//! and the smallest distance of a class is nearly always its size. Two sources give distances in
//! one pass, with memory that does not grow with the heap:
//!
//! * **The order of the file.** Most collectors let the dumper walk their regions by address, so
//!   that the next record is the next object, unless a class object is in between: the records of
//!   class objects are elsewhere in the file. So all addresses of class objects are kept, as are
//!   those of the first instances of each class. The class objects then correct the distances of
//!   classes with few instances, where each distance matters. In a dump in the order of the graph,
//!   the next record is an arbitrary object: distances are upper bounds, but no evidence of a size.
//! * **A sample of pages.** All objects and classes of some pages are kept and sorted at the end,
//!   for dumps in the order of the graph (ZGC) and for classes. The sample is the whole heap until
//!   there are more than [`SAMPLE`] objects; then half of the pages are dropped, repeatedly. The
//!   choice of pages depends only on their addresses.

use super::class_cache::ClassCache;
use super::objects::Object;
use super::primitives::IdSize;
use rustc_hash::FxHashMap;

/// The most objects in the sample. Half a million objects take 8 MiB.
const SAMPLE: usize = 1 << 19;
/// The most objects in the sample if the file is in the order of addresses, so that nearly all
/// neighbours are known without the sample.
const SMALL_SAMPLE: usize = 1 << 16;
/// The binary logarithm of the bytes of a page.
const PAGE: u32 = 14;
/// The most pages without objects between neighbours.
const EMPTY_PAGES: u64 = 64;
/// The number of instances of each class whose addresses are kept.
const KEPT: u32 = 8;

/// The known distances from the objects of a class to the next objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distance {
    /// The smallest distance, in bytes.
    pub least: u64,
    /// The number of neighbours at that distance.
    pub times: u32,
    pub pairs: u32,
}

impl Distance {
    pub(super) const NONE: Self = Self { least: u64::MAX, times: 0, pairs: 0 };

    #[inline]
    pub(super) fn see(&mut self, distance: u64) {
        self.pairs = self.pairs.saturating_add(1);
        if distance < self.least {
            *self = Self { least: distance, times: 1, ..*self };
        } else if distance == self.least {
            self.times = self.times.saturating_add(1);
        }
    }

    /// Adds the distances in the next part of the file.
    fn append(&mut self, part: Self) {
        let least = self.least.min(part.least);
        let times = |seen: Self| if seen.least == least { seen.times } else { 0 };
        let times = times(*self).saturating_add(times(part));
        *self = Self { least, times, pairs: self.pairs.saturating_add(part.pairs) };
    }

    /// The same bound on the size, without neighbours that prove it.
    fn as_bound(self) -> Self {
        Self { times: 0, pairs: 0, ..self }
    }

    /// Merges the distances found in the same heap in another way, which may be of the same pairs.
    fn merge(&mut self, other: Self) {
        let (least, pairs) = (self.least.min(other.least), self.pairs.max(other.pairs));
        let times = |seen: Self| if seen.least == least { seen.times } else { 0 };
        *self = Self { least, times: times(*self).max(times(other)), pairs };
    }
}

/// The kind of object at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// An object of the class of this row.
    Instance(u32),
    /// An array of this many references.
    References(u32),
    /// An array of elements of 4 bytes at most, with that many bytes.
    Numbers(u32),
    /// The object of a class, by its position in the file.
    Class(u32),
    Other,
}

impl What {
    /// Returns the same object, with the row of its class translated to another numbering.
    fn with_row(self, row_of: impl Fn(u32) -> u32) -> Self {
        match self {
            Self::Instance(row) => Self::Instance(row_of(row)),
            other => other,
        }
    }
}

/// The smallest overhead of arrays: bytes other than elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrays {
    /// Arrays of numbers whose elements have at most 4 bytes.
    pub numbers: u64,
    /// Arrays of references of 4 bytes.
    pub narrow: u64,
    /// Arrays of references of 8 bytes; 0 if an array would overlap the next object.
    pub wide: u64,
}

impl Default for Arrays {
    fn default() -> Self {
        Self { numbers: u64::MAX, narrow: u64::MAX, wide: u64::MAX }
    }
}

impl Arrays {
    fn merge(&mut self, other: Self) {
        self.numbers = self.numbers.min(other.numbers);
        self.narrow = self.narrow.min(other.narrow);
        self.wide = self.wide.min(other.wide);
    }
}

/// The distances of each class, by row of the class, and evidence from arrays.
#[derive(Clone, Debug, Default)]
struct Distances {
    classes: Vec<Distance>,
    arrays: Arrays,
    /// Positions of classes, with the distance from their object to the next one.
    mirrors: Vec<(u32, u64)>,
    /// Addresses of the first [`KEPT`] instances of each class, with the row of the class.
    first: Vec<(u64, u32)>,
}

impl Distances {
    /// Adds an object, given the address of the next one.
    #[inline]
    fn see(&mut self, what: &What, id: u64, next: u64) {
        let distance = next.saturating_sub(id);
        match *what {
            What::Instance(row) => {
                if let Some(class) = self.classes.get_mut(row as usize) {
                    class.see(distance);
                    if class.pairs <= KEPT {
                        self.first.push((id, row));
                    }
                }
            }
            What::References(count) => {
                let count = u64::from(count);
                self.arrays.narrow =
                    self.arrays.narrow.min(distance.saturating_sub(count.saturating_mul(4)));
                self.arrays.wide =
                    self.arrays.wide.min(distance.saturating_sub(count.saturating_mul(8)));
            }
            What::Numbers(bytes) => {
                self.arrays.numbers =
                    self.arrays.numbers.min(distance.saturating_sub(bytes.into()));
            }
            What::Class(position) => self.mirrors.push((position, distance)),
            What::Other => {}
        }
    }

    /// Adds the distances in the next part of the file. `row_of` translates its rows of classes.
    fn append(&mut self, part: Self, row_of: impl Fn(u32) -> u32) {
        // Keep the same first instances as if the file had been read in one piece.
        let mut pairs: Vec<u32> = (0..)
            .zip(&part.classes)
            .map(|(row, _)| {
                self.classes.get(row_of(row) as usize).map_or(KEPT, |class| class.pairs)
            })
            .collect();
        for (id, row) in part.first {
            let Some(pairs) = pairs.get_mut(row as usize).filter(|pairs| **pairs < KEPT) else {
                continue;
            };
            *pairs = pairs.saturating_add(1);
            self.first.push((id, row_of(row)));
        }
        for (row, distance) in (0..).zip(part.classes) {
            if let Some(class) = self.classes.get_mut(row_of(row) as usize) {
                class.append(distance);
            }
        }
        self.arrays.merge(part.arrays);
    }

    /// Shortens the distances of the first instances to class objects after them.
    fn see_class_objects(&mut self, class_objects: &[u64]) {
        for (id, row) in &self.first {
            let next = class_objects.partition_point(|object| object <= id);
            if let (Some(next), Some(class)) =
                (class_objects.get(next), self.classes.get_mut(*row as usize))
                && next.saturating_sub(*id) < class.least
            {
                (class.least, class.times) = (next.saturating_sub(*id), 1);
            }
        }
    }
}

/// Collects distances while the objects of a file are read one by one.
#[derive(Debug)]
pub(super) struct Watch {
    rows: FxHashMap<u64, u32>,
    /// The id of each class, by row.
    classes: Vec<u64>,
    cache: ClassCache,
    first_id: Option<u64>,
    /// The previous object, if there is one. Both fields are read separately: a copy of both at
    /// once would wait for the stores of each.
    last_id: Option<u64>,
    last: What,
    distances: Distances,
    /// The bitwise OR of all addresses.
    bits: u64,
    objects: u64,
    /// The number of objects whose address is not above that of the object before.
    descents: u64,
    sample: Vec<(u64, What)>,
    /// The addresses of all class objects.
    class_objects: Vec<u64>,
    /// The largest hash of a page in the sample.
    limit: u64,
    /// Whether this is for a part of the file, which does not show the order of the whole file.
    is_part: bool,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            rows: FxHashMap::default(),
            classes: Vec::new(),
            cache: ClassCache::default(),
            first_id: None,
            last_id: None,
            last: What::Other,
            distances: Distances::default(),
            bits: 0,
            objects: 0,
            descents: 0,
            sample: Vec::new(),
            class_objects: Vec::new(),
            limit: u64::MAX,
            is_part: false,
        }
    }
}

impl Watch {
    /// Returns a watch for a part of a file. The sample needs no pages with a hash above `limit`.
    pub(super) fn of_part(limit: u64) -> Self {
        Self { limit, is_part: true, ..Self::default() }
    }

    /// The largest hash of a page in the sample.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Adds the next object, and returns the row of its class. `None` for a primitive array. Rows
    /// count classes from 0 in the order of their first objects.
    #[inline(always)]
    pub(super) fn object(&mut self, object: &Object<'_>, ids: IdSize) -> Option<usize> {
        let id = object.id();
        let (what, row) = match object {
            Object::Instance(instance) => {
                let row = self.row(instance.class);
                (What::Instance(row), Some(row as usize))
            }
            Object::ObjectArray(array) => {
                (What::References(array.count), Some(self.row(array.class) as usize))
            }
            Object::PrimitiveArray(array) if array.element.size(ids) <= 4 => {
                match u32::try_from(array.size(ids)) {
                    Ok(bytes) => (What::Numbers(bytes), None),
                    Err(_) => (What::Other, None),
                }
            }
            Object::PrimitiveArray(_) => (What::Other, None),
        };
        match self.last_id {
            Some(before) => self.pair(before, id),
            None => self.first_id = Some(id),
        }
        (self.last_id, self.last) = (Some(id), what);
        self.add(id, what);
        row
    }

    #[inline(always)]
    fn pair(&mut self, before: u64, id: u64) {
        if before < id {
            self.distances.see(&self.last, before, id)
        } else {
            self.descents = self.descents.saturating_add(1)
        }
    }

    /// Adds a class object, by its id and the position of its class.
    pub(super) fn class(&mut self, id: u64, position: usize) {
        self.class_objects.push(id);
        self.add(id, u32::try_from(position).map_or(What::Other, What::Class));
    }

    #[inline]
    fn add(&mut self, id: u64, what: What) {
        self.bits |= id;
        self.objects = self.objects.saturating_add(1);
        if hash(id >> PAGE) <= self.limit {
            self.keep(id, what);
        }
    }

    fn keep(&mut self, id: u64, what: What) {
        self.sample.push((id, what));
        if self.sample.len() >= self.room() {
            self.thin_out();
        }
    }

    fn room(&self) -> usize {
        if self.is_nearly_ascending() && !self.is_part { SMALL_SAMPLE } else { SAMPLE }
    }

    /// Halves the sample until it is small enough.
    fn thin_out(&mut self) {
        let room = self.room();
        loop {
            let limit = self.limit;
            self.sample.retain(|(id, _)| hash(id >> PAGE) <= limit);
            if self.sample.len() < room || limit == 0 {
                return;
            }
            self.limit /= 2;
        }
    }

    #[inline]
    fn row(&mut self, class: u64) -> u32 {
        let Self { rows, classes, distances, cache, .. } = self;
        cache.get_or_find(class, || {
            *rows.entry(class).or_insert_with(|| {
                classes.push(class);
                distances.classes.push(Distance::NONE);
                (classes.len() as u32).saturating_sub(1)
            })
        })
    }

    /// Adds the results for the next part of the file. Returns the rows of its classes here.
    pub(super) fn append(&mut self, part: Self) -> Vec<u32> {
        let rows: Vec<u32> = part.classes.iter().map(|class| self.row(*class)).collect();
        let row_of = |row: u32| rows.get(row as usize).copied().unwrap_or(u32::MAX);
        if let (Some(before), Some(first)) = (self.last_id, part.first_id) {
            self.pair(before, first);
        }
        self.distances.append(part.distances, row_of);
        if part.last_id.is_some() {
            (self.last_id, self.last) = (part.last_id, part.last.with_row(row_of));
        }
        self.first_id = self.first_id.or(part.first_id);
        self.bits |= part.bits;
        self.objects = self.objects.saturating_add(part.objects);
        self.descents = self.descents.saturating_add(part.descents);
        self.class_objects.extend(part.class_objects);
        self.limit = self.limit.min(part.limit);
        let sample = part.sample.into_iter().map(|(id, what)| (id, what.with_row(row_of)));
        self.sample.extend(sample);
        self.thin_out();
        rows
    }

    /// Whether each object had a larger address than the one before.
    pub(super) fn is_ascending(&self) -> bool {
        self.descents == 0
    }

    /// Whether the next record of the file is that of the next object, with few exceptions.
    fn is_nearly_ascending(&self) -> bool {
        self.descents < self.objects / 64
    }

    pub(super) fn finish(mut self) -> Neighbours {
        // Sorting is cheap if the file is in the order of addresses.
        self.sample.sort_by_key(|(id, _)| *id);
        let mut sampled = Distances {
            classes: vec![Distance::NONE; self.distances.classes.len()],
            ..Distances::default()
        };
        for ((before, what), (id, _)) in self.sample.iter().zip(self.sample.iter().skip(1)) {
            if before < id && self.holds_all(before >> PAGE, id >> PAGE) {
                sampled.see(what, *before, *id);
            }
        }
        self.class_objects.sort_unstable();
        self.distances.see_class_objects(&self.class_objects);
        let are_neighbours = self.is_nearly_ascending();
        let Distances { mut classes, mut arrays, .. } = self.distances;
        for (class, sampled) in classes.iter_mut().zip(&sampled.classes) {
            if !are_neighbours {
                *class = class.as_bound();
            }
            class.merge(*sampled);
        }
        arrays.merge(sampled.arrays);
        Neighbours {
            rows: self.rows,
            classes,
            arrays,
            mirrors: sampled.mirrors,
            bits: self.bits,
            objects: self.objects,
        }
    }

    /// Whether the sample contains the pages after `first`, up to and including `last`.
    fn holds_all(&self, first: u64, last: u64) -> bool {
        last.saturating_sub(first) <= EMPTY_PAGES
            && (first..last).all(|page| hash(page.saturating_add(1)) <= self.limit)
    }
}

#[inline]
fn hash(page: u64) -> u64 {
    // 2^64 divided by the golden ratio: neighbouring pages spread over all numbers.
    page.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The layout facts inferred from the addresses of a file's objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    rows: FxHashMap<u64, u32>,
    classes: Vec<Distance>,
    pub arrays: Arrays,
    /// Positions of classes, with the distance from their object to the next one.
    pub mirrors: Vec<(u32, u64)>,
    bits: u64,
    objects: u64,
}

/// The least number of objects that prove an alignment of 16, if all addresses are multiples of it.
const ENOUGH: u64 = 64;

impl Neighbours {
    /// The distance from objects of a class, by its id.
    pub(super) fn distance(&self, class: u64) -> Option<Distance> {
        let distance = self.classes.get(*self.rows.get(&class)? as usize)?;
        (*distance != Distance::NONE).then_some(*distance)
    }

    /// The greatest power of two that divides all addresses; HotSpot's alignment is 8 to 256.
    /// `None` if addresses are not multiples of 8, so that they are not those of a JVM with 8-byte
    /// pointers.
    pub(super) fn alignment(&self) -> Option<u64> {
        match self.bits.trailing_zeros() {
            ..3 => None,
            zeros if self.objects >= ENOUGH => Some(1 << zeros.min(8)),
            _ => Some(8),
        }
    }
}
