//! Retained sizes.

use super::dominators::Dominators;
use crate::model::heap::{Heap, ObjectId};
use crate::parallel::{self, PART};

/// The retained bytes of each live object: shallow and external bytes of the object and all objects
/// that it dominates. 4 bytes for each live object of a heap below 4 GiB, otherwise 8.
#[derive(Clone, Debug)]
pub struct Retained {
    by_number: ByNumber,
}

/// Retained bytes by number; that of the roots is the sum over all live objects.
#[derive(Clone, Debug)]
enum ByNumber {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Retained {
    /// Adds up sizes over the dominator tree. Numbers of dominators are smaller than those of the
    /// objects that they dominate, so one pass from the last number to the first is enough. Sums
    /// stop at 2⁶⁴ − 1, which only damaged files reach.
    pub fn of(heap: &Heap<'_>, dominators: &Dominators) -> Self {
        let own = parallel::map((0..heap.len()).step_by(PART), |first| {
            let objects = first..heap.len().min(first + PART);
            objects.map(|object| heap.shallow.get(object)).fold(0, u64::saturating_add)
        });
        let external = heap.external.iter().map(|(_, bytes)| *bytes);
        let all = own.into_iter().chain(external).fold(0, u64::saturating_add);
        let by_number = match u32::try_from(all) {
            Ok(_) => ByNumber::Narrow(add_up(heap, dominators, |bytes| bytes as u32, |a, b| a + b)),
            Err(_) => ByNumber::Wide(add_up(heap, dominators, |bytes| bytes, u64::saturating_add)),
        };
        Self { by_number }
    }

    /// Retained bytes of an object. An unreachable one retains nothing.
    #[inline]
    pub fn get(&self, dominators: &Dominators, object: ObjectId) -> u64 {
        dominators.number(object).map_or(0, |number| self.of_number(number))
    }

    /// Returns the retained bytes by number of [`Dominators`]; 0 is the set of roots.
    #[inline]
    pub fn of_number(&self, number: u32) -> u64 {
        match &self.by_number {
            ByNumber::Narrow(bytes) => bytes[number as usize].into(),
            ByNumber::Wide(bytes) => bytes[number as usize],
        }
    }

    /// Shallow and external bytes of all live objects.
    pub fn total(&self) -> u64 {
        self.of_number(0)
    }
}

/// Adds to the bytes of each number those of all numbers that it dominates.
fn add_up<T: Copy + Default + Send>(
    heap: &Heap<'_>,
    dominators: &Dominators,
    narrow: impl Fn(u64) -> T + Sync,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let order = dominators.order();
    // Number 0 has no object.
    let mut sums = parallel::column(order.len() + 1, |first, sums| {
        let numbers = first.max(1)..first + sums.len();
        for number in numbers {
            sums[number - first] = narrow(heap.shallow.get(order[number - 1].index()));
        }
    });
    for (object, bytes) in &heap.external {
        if let Some(number) = dominators.number(*object) {
            sums[number as usize] = add(sums[number as usize], narrow(*bytes));
        }
    }
    let above = dominators.dominators();
    for number in (1..sums.len()).rev() {
        let above = above[number] as usize;
        sums[above] = add(sums[above], sums[number]);
    }
    sums
}

#[cfg(test)]
mod tests {
    use crate::analysis::DominatorTree;
    use crate::model::builder::HeapBuilder;
    use crate::model::heap::{Heap, Ids, Label, ObjectId, Root, RootKind, TypeKind};
    use crate::model::names::Names;

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
