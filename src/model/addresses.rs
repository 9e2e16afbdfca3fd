//! Maps addresses to the objects at or around them, and objects to their addresses.
//!
//! A bitmap with ranks. Each granule of 768 bytes of the heap has a record of 16 bytes: a bit for
//! each slot of 8 bytes in which an object begins, and the number of objects before the granule.
//! Granules that hold no object cost nothing beyond a directory of 96 MiB chunks. Finding takes one
//! or two reads, building needs no sort, and the number of an object is its rank in address order.
//! The table is 2 % of the heap's span.
//!
//! Addresses that are not multiples of 8, or spread so thinly that the table would outgrow them,
//! are kept as a sorted list instead.

mod granule;

use super::object::ObjectId;
use granule::{GRANULE, Granule, SLOT, bits, slot};

/// Granules of one chunk of the directory: 96 MiB of addresses, 2 MiB of records, which is a huge page.
const CHUNK_GRANULES: usize = 1 << 17;
const CHUNK: u64 = CHUNK_GRANULES as u64 * GRANULE;

/// The number of granules that are searched for the start of an object before a whole chunk is: 32
/// KiB, the largest slot of Go's size classes.
const FEW_GRANULES: usize = (32 << 10) / GRANULE as usize + 1;

/// The addresses of objects, whose ids are their ranks in address order.
#[derive(Clone, Debug)]
pub struct Addresses(Table);

#[derive(Clone, Debug)]
enum Table {
    Bitmap(Bitmap),
    Sorted(Vec<u64>),
}

#[derive(Clone, Debug, Default)]
struct Bitmap {
    /// Number of the first chunk.
    base: u64,
    /// The granules of each chunk. `None` for a chunk without objects.
    chunks: Vec<Option<Box<[Granule]>>>,
    used: u64,
    /// The first object of each chunk, and the number of all objects at the end.
    first: Vec<u32>,
}

/// Collects addresses for [`Addresses`], in any order.
#[derive(Debug, Default)]
pub struct AddressesBuilder {
    bitmap: Bitmap,
    sorted: Option<Vec<u64>>,
    count: u64,
}

/// The number of chunks that the bitmap may have beyond those that its objects justify.
const FREE_CHUNKS: u64 = 16;

impl AddressesBuilder {
    /// Adds the address of an object. Adding one twice has no effect in the bitmap and is removed
    /// from the sorted list.
    #[inline]
    pub fn add(&mut self, address: u64) {
        self.count += 1;
        match self.bitmap.known_granule_mut(address) {
            Some(granule) => granule.add(slot(address)),
            None => self.add_new(address),
        }
    }

    fn add_new(&mut self, address: u64) {
        if let Some(sorted) = &mut self.sorted {
            sorted.push(address);
            return;
        }
        match self.bitmap.granule_mut(address, self.count / 1024 + FREE_CHUNKS) {
            Some(granule) => granule.add(slot(address)),
            None => {
                let mut sorted: Vec<u64> = self.bitmap.addresses().collect();
                sorted.push(address);
                self.bitmap = Bitmap::default();
                self.sorted = Some(sorted);
            }
        }
    }

    /// The bytes of memory that the table takes so far.
    pub fn memory(&self) -> usize {
        let granules = usize::try_from(self.bitmap.used).unwrap_or(usize::MAX);
        let bitmap = granules.saturating_mul(CHUNK_GRANULES * size_of::<Granule>());
        let sorted = self.sorted.as_ref().map_or(0, Vec::capacity);
        bitmap.saturating_add(sorted.saturating_mul(size_of::<u64>()))
    }

    /// Returns the finished table.
    pub fn finish(self) -> Addresses {
        match self.sorted {
            Some(mut sorted) => {
                sorted.sort_unstable();
                sorted.dedup();
                Addresses(Table::Sorted(sorted))
            }
            None => {
                let mut bitmap = self.bitmap;
                bitmap.rank();
                Addresses(Table::Bitmap(bitmap))
            }
        }
    }
}

impl Bitmap {
    /// The granule of an address, if its chunk has a table.
    #[inline]
    fn known_granule_mut(&mut self, address: u64) -> Option<&mut Granule> {
        let chunk = self.chunk_number(address)?;
        let granules =
            self.chunks.get_mut(chunk)?.as_mut().filter(|_| address.is_multiple_of(SLOT))?;
        granules.get_mut(granule_number(address))
    }

    /// The granule of an address, created if necessary. `None` if the address does not fit: it is
    /// not a multiple of 8, or so far from the others that the directory or the table would take
    /// more than `allowed` chunks.
    fn granule_mut(&mut self, address: u64, allowed: u64) -> Option<&mut Granule> {
        if !address.is_multiple_of(SLOT) {
            return None;
        }
        let chunk = address / CHUNK;
        if self.chunks.is_empty() {
            self.base = chunk;
        }
        if chunk < self.base {
            let missing = usize::try_from(self.base - chunk)
                .ok()
                .filter(|&missing| (missing + self.chunks.len()) as u64 <= DIRECTORY)?;
            self.chunks.splice(..0, std::iter::repeat_with(|| None).take(missing));
            self.base = chunk;
        }
        let index =
            usize::try_from(chunk - self.base).ok().filter(|&index| (index as u64) < DIRECTORY)?;
        if index >= self.chunks.len() {
            self.chunks.resize_with(index + 1, || None);
        }
        let chunk = self.chunks.get_mut(index)?;
        if chunk.is_none() {
            if self.used >= allowed {
                return None;
            }
            self.used += 1;
        }
        let granules = chunk
            .get_or_insert_with(|| vec![Granule::default(); CHUNK_GRANULES].into_boxed_slice());
        granules.get_mut(granule_number(address))
    }

    fn rank(&mut self) {
        let mut rank = 0u32;
        self.first.clear();
        for chunk in &mut self.chunks {
            self.first.push(rank);
            for granule in chunk.iter_mut().flatten() {
                rank = rank.wrapping_add(granule.count_from(rank));
            }
        }
        self.first.push(rank);
    }

    fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.addresses_from(0, 0)
    }

    /// The addresses in a granule of a chunk and in all after it.
    fn addresses_from(&self, chunk: usize, granule: usize) -> impl Iterator<Item = u64> + '_ {
        let chunks = (chunk..).zip(self.chunks.get(chunk..).unwrap_or_default());
        chunks.filter_map(|(index, granules)| Some((index, granules.as_ref()?))).flat_map(
            move |(index, granules)| {
                let first = if index == chunk { granule } else { 0 };
                let start = (self.base + index as u64) * CHUNK;
                // Most granules of small heaps are empty.
                (first as u64..)
                    .zip(granules.get(first..).unwrap_or_default())
                    .filter(|(_, granule)| granule.starts() != 0)
                    .flat_map(move |(number, granule)| {
                        bits(granule.starts()).map(move |bit| start + number * GRANULE + bit * SLOT)
                    })
            },
        )
    }

    #[inline]
    fn granule(&self, address: u64) -> Option<&Granule> {
        self.chunks.get(self.chunk_number(address)?)?.as_ref()?.get(granule_number(address))
    }

    /// The number of the chunk of an address that is not before all of them.
    #[inline]
    fn chunk_number(&self, address: u64) -> Option<usize> {
        usize::try_from((address / CHUNK).checked_sub(self.base)?).ok()
    }

    /// Like [`Self::floor`], with the object's address, which is nearly always in the same granule
    /// or a granule before it.
    #[inline]
    fn floor_with_address(&self, address: u64) -> Option<(u32, u64)> {
        let chunk = self.chunks.get(self.chunk_number(address)?).and_then(Option::as_ref);
        let index = granule_number(address);
        if let Some(granule) = chunk.and_then(|chunk| chunk.get(index)) {
            let start = address - address % GRANULE;
            let upto = granule.starts_upto(slot(address));
            if upto != 0 {
                return Some((
                    granule.rank() + upto.count_ones() - 1,
                    start + u64::from(upto.ilog2()) * SLOT,
                ));
            }
            let before = chunk
                .and_then(|chunk| chunk.get(..index))
                .unwrap_or_default()
                .iter()
                .rev()
                .take(FEW_GRANULES);
            let mut starts = (1..).zip(before).filter(|(_, before)| before.starts() != 0);
            if let Some((distance, before)) = starts.next() {
                return Some((
                    granule.rank() - 1,
                    start - distance * GRANULE + u64::from(before.starts().ilog2()) * SLOT,
                ));
            }
        }
        let object = self.floor(address)?;
        Some((object, self.address(object)?))
    }

    /// The last object that begins at or before the address.
    #[inline]
    fn floor(&self, address: u64) -> Option<u32> {
        if let Some(granule) = self.granule(address) {
            let upto = granule.starts_upto(slot(address));
            return (granule.rank() + upto.count_ones()).checked_sub(1);
        }
        let last = self.first.len().checked_sub(1)?;
        self.first.get(self.chunk_number(address)?.min(last))?.checked_sub(1)
    }

    /// The chunk and the granule in which an object begins, by their numbers.
    fn place(&self, object: u32) -> Option<(usize, usize)> {
        let chunk = self.first.partition_point(|&first| first <= object).checked_sub(1)?;
        let granules = self.chunks.get(chunk)?.as_ref()?;
        // Several granules may have the same rank when all but the last of them are empty.
        let after = granules.partition_point(|granule| granule.rank() <= object);
        Some((chunk, after.checked_sub(1)?))
    }

    fn address(&self, object: u32) -> Option<u64> {
        let (chunk, index) = self.place(object)?;
        let granule = self.chunks.get(chunk)?.as_ref()?.get(index)?;
        let mut starts = granule.starts();
        for _ in granule.rank()..object {
            starts &= starts.wrapping_sub(1);
        }
        (starts != 0).then(|| {
            (self.base + chunk as u64) * CHUNK
                + index as u64 * GRANULE
                + u64::from(starts.trailing_zeros()) * SLOT
        })
    }
}

/// The number of an address's granule in its chunk.
#[inline]
fn granule_number(address: u64) -> usize {
    (address % CHUNK / GRANULE) as usize
}

/// The maximum span of a directory, in chunks: 6 TiB of addresses. An entry takes 16 bytes per 96
/// MiB.
const DIRECTORY: u64 = 1 << 16;

impl Addresses {
    /// The number of objects.
    pub fn len(&self) -> usize {
        match &self.0 {
            Table::Bitmap(bitmap) => bitmap.first.last().map_or(0, |&count| count as usize),
            Table::Sorted(sorted) => sorted.len(),
        }
    }

    /// The object that begins at an address.
    #[inline]
    pub fn at(&self, address: u64) -> Option<ObjectId> {
        match &self.0 {
            Table::Bitmap(bitmap) => {
                let granule = bitmap.granule(address).filter(|_| address.is_multiple_of(SLOT))?;
                let slot = slot(address);
                granule
                    .begins(slot)
                    .then(|| ObjectId(granule.rank() + granule.starts_upto(slot).count_ones() - 1))
            }
            Table::Sorted(sorted) => {
                sorted.binary_search(&address).ok().map(|index| ObjectId(index as u32))
            }
        }
    }

    /// Returns the last object that begins at or before an address. The caller must check whether
    /// the object reaches that far.
    #[inline]
    pub fn floor(&self, address: u64) -> Option<ObjectId> {
        match &self.0 {
            Table::Bitmap(bitmap) => bitmap.floor(address).map(ObjectId),
            Table::Sorted(sorted) => sorted
                .partition_point(|&start| start <= address)
                .checked_sub(1)
                .map(|index| ObjectId(index as u32)),
        }
    }

    /// Like [`Self::floor`], with the address at which the object begins, which costs nothing more in
    /// most cases.
    #[inline]
    pub fn floor_with_address(&self, address: u64) -> Option<(ObjectId, u64)> {
        match &self.0 {
            Table::Bitmap(bitmap) => {
                bitmap.floor_with_address(address).map(|(object, start)| (ObjectId(object), start))
            }
            Table::Sorted(sorted) => {
                let index = sorted.partition_point(|&start| start <= address).checked_sub(1)?;
                Some((ObjectId(index as u32), *sorted.get(index)?))
            }
        }
    }

    /// Returns the address of the object after the one at an address, if both exist.
    #[inline]
    pub fn after(&self, address: u64) -> Option<u64> {
        if let Table::Bitmap(bitmap) = &self.0 {
            let slot = slot(address);
            let granule = bitmap.granule(address)?;
            let later = granule.starts() & !granule.starts_upto(slot);
            if later != 0 {
                return Some(
                    address - address % GRANULE + u64::from(later.trailing_zeros()) * SLOT,
                );
            }
        }
        self.address(ObjectId(self.at(address)?.0 + 1))
    }

    /// Prefetches the memory that lookups of these addresses will read. These reads are
    /// independent, so the processor overlaps them, and lookups that follow immediately do not
    /// wait.
    #[inline]
    pub fn warm(&self, addresses: impl Iterator<Item = u64>) {
        if let Table::Bitmap(bitmap) = &self.0 {
            let ranks = addresses
                .map(|address| bitmap.granule(address).map_or(0, |granule| granule.rank()));
            std::hint::black_box(ranks.fold(0, |all, rank| all ^ rank));
        }
    }

    /// Returns the address of an object, or `None` if there is no such object.
    pub fn address(&self, object: ObjectId) -> Option<u64> {
        match &self.0 {
            Table::Bitmap(bitmap) => bitmap.address(object.0),
            Table::Sorted(sorted) => sorted.get(object.0 as usize).copied(),
        }
    }

    /// All addresses in order, which is that of the objects.
    pub fn iter(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        self.iter_from(ObjectId(0))
    }

    /// The addresses of an object and of all after it, in the order of the objects.
    pub fn iter_from(&self, object: ObjectId) -> Box<dyn Iterator<Item = u64> + '_> {
        match &self.0 {
            Table::Bitmap(bitmap) => {
                let Some((chunk, index)) = bitmap.place(object.0) else {
                    return Box::new(std::iter::empty());
                };
                let granule = bitmap.chunks[chunk].as_ref().and_then(|chunk| chunk.get(index));
                let before = granule.map_or(0, |granule| object.0.saturating_sub(granule.rank()));
                Box::new(bitmap.addresses_from(chunk, index).skip(before as usize))
            }
            Table::Sorted(sorted) => Box::new(sorted.iter().copied().skip(object.index())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build(addresses: &[u64]) -> Addresses {
        let mut builder = AddressesBuilder::default();
        addresses.iter().for_each(|&address| builder.add(address));
        builder.finish()
    }

    fn check(addresses: Vec<u64>, probes: Vec<u64>) {
        let table = build(&addresses);
        let mut sorted = addresses;
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(table.len(), sorted.len());
        assert!(table.iter().eq(sorted.iter().copied()));
        for (rank, &address) in (0..).zip(&sorted) {
            assert_eq!(table.at(address), Some(ObjectId(rank)));
            assert_eq!(table.address(ObjectId(rank)), Some(address));
        }
        assert_eq!(table.address(ObjectId(sorted.len() as u32)), None);
        for (index, &address) in sorted.iter().enumerate() {
            assert_eq!(table.after(address), sorted.get(index + 1).copied());
            assert!(table.iter_from(ObjectId(index as u32)).eq(sorted[index..].iter().copied()));
        }
        for probe in probes.into_iter().chain(
            sorted.iter().flat_map(|&address| [address.wrapping_sub(1), address.wrapping_add(7)]),
        ) {
            let floor = sorted
                .partition_point(|&start| start <= probe)
                .checked_sub(1)
                .map(|index| ObjectId(index as u32));
            assert_eq!(table.floor(probe), floor, "{probe:#x}");
            let start = floor.map(|object| (object, sorted[object.index()]));
            assert_eq!(table.floor_with_address(probe), start, "{probe:#x}");
            let exact = sorted.binary_search(&probe).ok().map(|index| ObjectId(index as u32));
            assert_eq!(table.at(probe), exact, "{probe:#x}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn dense_heaps(slots in prop::collection::vec(0u64..4000, 0..300), probes in prop::collection::vec(0u64..40_000, 0..50), base in 0u64..1 << 40) {
            let base = base & !7;
            check(slots.iter().map(|slot| base + slot * 8).collect(), probes.iter().map(|probe| base + probe).collect());
        }

        #[test]
        fn arenas_far_apart(slots in prop::collection::vec((0u64..4, 0u64..1 << 20), 0..60), probes: Vec<u64>) {
            check(slots.iter().map(|(arena, slot)| 0xc0_0000_0000 + arena * (70 << 20) + slot * 8).collect(), probes);
        }

        #[test]
        fn any_addresses_at_all(addresses in prop::collection::vec(any::<u64>(), 0..200), probes: Vec<u64>) {
            check(addresses, probes);
        }
    }
}
