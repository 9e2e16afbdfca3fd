//! Makes roots of what no root reaches.

use super::ids::IdSpace;
use super::layout::Layout;
use super::records::{Out, sub};
use super::report::Report;
use crate::model::heap::{Heap, ObjectId};
use std::io::{self, Write};

/// Writes roots for unreachable objects: for those that nothing refers to, then for one of each cycle that is left, in the
/// order of objects. So garbage keeps its shape: what hangs below an object is shown below it.
pub(super) fn root_unreachable<W: Write>(
    heap: &Heap<'_>,
    layout: &Layout,
    ids: &IdSpace,
    out: &mut Out<W>,
    report: &mut Report,
) -> io::Result<()> {
    let mut reached = Reached { heap, bits: Bits::zeros(heap.len()), todo: Vec::new() };
    heap.roots.iter().for_each(|root| reached.add(root.object));
    heap.threads.iter().filter_map(|thread| thread.object).for_each(|object| reached.add(object));
    let mut referred = Bits::zeros(heap.len());
    for object in heap.objects().filter(|&object| !reached.bits.get(object)) {
        heap.references
            .of(object)
            .filter(|reference| reference.target != object)
            .for_each(|reference| referred.set(reference.target));
    }
    for wanted in [false, true] {
        for object in heap.objects() {
            if reached.bits.get(object) || referred.get(object) != wanted {
                continue;
            }
            reached.add(object);
            out.begin(sub::ROOT_UNKNOWN, 1 + layout.reference())?;
            out.id(ids.object(object));
            report.roots += 1;
        }
    }
    Ok(())
}

/// What has been reached.
struct Reached<'h, 'a> {
    heap: &'h Heap<'a>,
    bits: Bits,
    todo: Vec<ObjectId>,
}

impl Reached<'_, '_> {
    /// Reaches an object and everything below it. Weak references count: readers that drop what is unreachable follow them.
    fn add(&mut self, object: ObjectId) {
        if self.bits.get(object) {
            return;
        }
        self.bits.set(object);
        self.todo.push(object);
        while let Some(object) = self.todo.pop() {
            for reference in self.heap.references.of(object) {
                if !self.bits.get(reference.target) {
                    self.bits.set(reference.target);
                    self.todo.push(reference.target);
                }
            }
        }
    }
}

/// One bit for each object.
struct Bits(Vec<u64>);

impl Bits {
    fn zeros(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn get(&self, object: ObjectId) -> bool {
        self.0[object.index() / 64] >> (object.index() % 64) & 1 == 1
    }

    fn set(&mut self, object: ObjectId) {
        self.0[object.index() / 64] |= 1 << (object.index() % 64);
    }
}
