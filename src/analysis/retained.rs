//! Retained sizes.

use super::dominators::Dominators;
use super::object_set::ObjectSet;
use crate::model::heap::{Heap, ObjectId};
use crate::parallel;
use crate::phases;

/// The retained bytes of each live object: shallow and external bytes of the object and all objects
/// that it dominates. Little more than 2 bytes for each live object.
///
/// Few objects retain 32 KiB or more that do not retain about as much as the object before them does:
/// objects that retain something else have to be as large. So the upper bits of large sizes are kept
/// once for a run of objects.
#[derive(Clone, Debug)]
pub struct Retained {
    /// By number: the bytes, or [`LARGE`] and the lowest 15 bits of them.
    low: Vec<u16>,
    /// The upper bits of the large sizes from a number on, up to the next entry.
    high: Vec<(u32, u64)>,
}

const LOW_BITS: u32 = 15;
const LARGE: u16 = 1 << LOW_BITS;

impl Retained {
    /// Adds up sizes over the dominator tree. Sums stop at 2⁶⁴ − 1, which only damaged files reach.
    pub fn of(heap: &Heap<'_>, dominators: &Dominators) -> Self {
        let own = Self::own_sizes(heap, dominators.order());
        Self::of_order(heap, own, dominators.order(), dominators.dominators())
    }

    /// The sizes that [`Retained::of_order`] adds up, for the live objects by number, from 1.
    pub(super) fn own_sizes(heap: &Heap<'_>, order: &[ObjectId]) -> Vec<u16> {
        let _phase = phases::begin("adding up retained sizes");
        let external = ObjectSet::with_external(heap);
        let bytes = |object: ObjectId| match &external {
            Some(external) if external.contains(object) => heap.own_bytes(object),
            _ => heap.shallow_bytes(object),
        };
        // Number 0, the set of roots, has no bytes of its own.
        parallel::column(order.len() + 1, |first, sizes: &mut [u16]| {
            let objects = order[first.saturating_sub(1)..].iter();
            let sizes = sizes.iter_mut().skip(usize::from(first == 0));
            sizes.zip(objects).for_each(|(size, object)| *size = short(bytes(*object)));
        })
    }

    /// Adds up sizes for the live objects by number, from 1, and the dominators of all numbers.
    pub(super) fn of_order(
        heap: &Heap<'_>,
        sizes: Vec<u16>,
        order: &[ObjectId],
        dominator: &[u32],
    ) -> Self {
        let _phase = phases::begin("adding up retained sizes");
        add_up(sizes, dominator, |number| match number {
            0 => 0,
            _ => heap.own_bytes(order[number as usize - 1]),
        })
    }

    /// Retained bytes of an object. An unreachable one retains nothing.
    #[inline]
    pub fn get(&self, dominators: &Dominators, object: ObjectId) -> u64 {
        dominators.number(object).map_or(0, |number| self.of_number(number))
    }

    /// Returns the retained bytes by number of [`Dominators`]; 0 is the set of roots.
    #[inline]
    pub fn of_number(&self, number: u32) -> u64 {
        match self.low[number as usize] {
            low if low < LARGE => low.into(),
            low => self.large(number, low),
        }
    }

    fn large(&self, number: u32, low: u16) -> u64 {
        let run = self.high.partition_point(|(first, _)| *first <= number) - 1;
        self.high[run].1 << LOW_BITS | u64::from(low & !LARGE)
    }

    /// Shallow and external bytes of all live objects.
    pub fn total(&self) -> u64 {
        self.of_number(0)
    }
}

/// The bytes, or [`LARGE`].
fn short(bytes: u64) -> u16 {
    u16::try_from(bytes).unwrap_or(LARGE).min(LARGE)
}

/// Adds to the bytes of each number those of all numbers that it dominates, which are larger: one pass
/// from the last number to the first is enough. `own` returns the bytes of a number that are large.
fn add_up(mut sums: Vec<u16>, dominator: &[u32], own: impl Fn(u32) -> u64) -> Retained {
    // Large sums that are not complete. Each of their objects dominates the next, and all of them
    // dominate the present number, because numbers are in preorder.
    let mut open: Vec<(u32, u64)> = Vec::new();
    let mut high: Vec<(u32, u64)> = Vec::new();
    for number in (0..sums.len() as u32).rev() {
        let low = sums[number as usize];
        let bytes = if low < LARGE {
            low.into()
        } else {
            let sum = open.pop_if(|(above, _)| *above == number);
            let bytes = sum.map_or_else(|| own(number), |(_, bytes)| bytes);
            sums[number as usize] = LARGE | bytes as u16;
            match high.last_mut().filter(|(_, high)| *high == bytes >> LOW_BITS) {
                Some((first, _)) => *first = number,
                None => high.push((number, bytes >> LOW_BITS)),
            }
            bytes
        };
        if number == 0 {
            break;
        }
        let above = dominator[number as usize];
        let sum = &mut sums[above as usize];
        if *sum < LARGE {
            let bytes = bytes.saturating_add((*sum).into());
            *sum = short(bytes);
            if *sum == LARGE {
                open.push((above, bytes));
            }
        } else {
            match open.last_mut().filter(|(last, _)| *last == above) {
                Some((_, sum)) => *sum = sum.saturating_add(bytes),
                None => open.push((above, own(above).saturating_add(bytes))),
            }
        }
    }
    high.reverse();
    Retained { low: sums, high }
}

#[cfg(test)]
mod tests {
    use super::{add_up, short};
    use crate::analysis::DominatorTree;
    use crate::model::builder::HeapBuilder;
    use crate::model::heap::{Heap, Ids, Label, ObjectId, Root, RootKind, TypeKind};
    use crate::model::names::Names;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_those_of_subtrees(steps in prop::collection::vec((0..9_u8, 0..300_u32, 0..12_u8, 0..99_u64), 0..3000)) {
            let (mut dominator, mut own) = (vec![0], vec![0]);
            for (kind, up, size, more) in steps {
                // Mostly siblings and deep chains, sometimes far up.
                let up = match kind { 0..4 => 0, 4..8 => 1, _ => up };
                let last = dominator.len() as u32 - 1;
                dominator.push((0..up).fold(last, |above, _| dominator[above as usize]));
                own.push(match size { 0..9 => more, 9 => 32_700 + more, 10 => 65_500 + more, _ => more << 50 });
            }
            let mut expected = own.clone();
            for number in (1..own.len()).rev() {
                let above = dominator[number] as usize;
                expected[above] = u64::saturating_add(expected[above], expected[number]);
            }
            let low = own.iter().map(|bytes| short(*bytes)).collect();
            let found = add_up(low, &dominator, |number| own[number as usize]);
            for (number, bytes) in (0..).zip(expected) {
                prop_assert_eq!(found.of_number(number), bytes, "number {}", number);
            }
        }
    }

    /// A root holds the first of two objects, which holds the second.
    fn chain(sizes: [u64; 2]) -> Heap<'static> {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let type_id = builder.add_type("app.T", "", TypeKind::Instance);
        builder.add_object(type_id, sizes[0]);
        builder.add_reference(ObjectId(1), Label::NONE, false);
        builder.add_object(type_id, sizes[1]);
        builder.add_root(Root::new(ObjectId(0), RootKind::Global, Names::EMPTY));
        builder.finish(Ids::Rows(0), None)
    }

    #[test]
    fn no_object_retains_more_than_all_live_ones() {
        for bytes in [7, u64::MAX - 6, u64::MAX] {
            let mut builder = HeapBuilder::with_capacity(0, 0);
            let of = [TypeKind::Root, TypeKind::Instance]
                .map(|kind| builder.add_type("app.T", "", kind));
            builder.add_object(of[0], 5);
            builder.add_reference(ObjectId(1), Label::NONE, false);
            builder.add_object(of[1], bytes);
            builder.add_root(Root::new(ObjectId(0), RootKind::Global, Names::EMPTY));
            let tree = DominatorTree::new(&builder.finish(Ids::Rows(0), None));
            assert_eq!((tree.live_bytes(), tree.retained(ObjectId(1))), (bytes, bytes));
        }
    }

    #[test]
    fn sums_of_4_gib_and_more_are_exact() {
        let most = u64::from(u32::MAX);
        for sizes in [[1, 2], [most - 7, 7], [most, 1], [most * 3, most * 2], [u64::MAX, 1]] {
            let tree = DominatorTree::new(&chain(sizes));
            let all = sizes[0].saturating_add(sizes[1]);
            let retained = [ObjectId(0), ObjectId(1)].map(|object| tree.retained(object));
            assert_eq!((tree.live_bytes(), retained), (all, [all, sizes[1]]));
        }
    }
}
