//! Small random heaps of several types and groups of roots.

use crate::support::Random;
use crate::support::heap::Sketch;
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Heap, ObjectId, Root, TypeId, TypeKind};

pub(super) const TYPES: u32 = 4;
pub(super) const GROUPS: u32 = 3;

/// A heap, the sketch it was made of, the type of each object and the group of each root.
pub(super) struct Typed {
    pub(super) sketch: Sketch,
    pub(super) heap: Heap<'static>,
    /// By object; none for what stands for the roots.
    pub(super) types: Vec<Option<u32>>,
    pub(super) groups: Vec<u32>,
}

/// The heap of a seed. Two of its types have one name, so that they count as one.
pub(super) fn typed(seed: u64) -> Typed {
    let mut random = Random(seed);
    let objects = 1 + random.below(20);
    let mut object = || random.below(objects) as u32;
    let sketch = Sketch {
        references: (0..2 * objects).map(|_| (object(), object(), false)).collect(),
        roots: (0..1 + seed % 4).map(|_| object()).collect(),
        external: (0..seed % 3).map(|_| (object(), 7)).collect(),
        sizes: (0..objects).map(|_| random.next() % 100).collect(),
        root_object: seed.is_multiple_of(5),
        ..Sketch::default()
    };
    typed_of(sketch, &mut random)
}

fn typed_of(sketch: Sketch, random: &mut Random) -> Typed {
    let heap = sketch.heap();
    let (objects, first, roots) = (heap.len(), heap.types().len() as u32, heap.roots().to_vec());
    let mut builder = HeapBuilder::from_heap(heap);
    for number in 0..TYPES {
        // The last one has the name of the first.
        builder.add_type(&format!("T{}", number % (TYPES - 1)), "app", TypeKind::Instance);
    }
    let mut types = Vec::new();
    for row in 0..objects {
        let stands_for_roots = sketch.root_object && sketch.roots[0] as usize == row;
        let number = random.below(TYPES as usize) as u32;
        types.push((!stands_for_roots).then_some(number % (TYPES - 1)));
        if !stands_for_roots {
            builder.set_type(ObjectId(row as u32), TypeId(first + number));
        }
    }
    let mut groups = Vec::new();
    builder.clear_roots();
    for root in roots {
        let number = random.below(GROUPS as usize) as u32;
        let group = builder.names().intern(&format!("group {number}"));
        builder.add_root(Root { group, ..root });
        groups.push(number);
    }
    Typed { sketch, heap: builder.finish_edited(), types, groups }
}
