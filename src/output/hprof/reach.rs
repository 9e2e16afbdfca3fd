//! Makes roots of what no root reaches.

use super::ids::IdSpace;
use super::layout::Layout;
use super::records::{Out, sub};
use super::report::HprofReport;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::unreachable::{reach, tops};
use crate::model::heap::{Heap, ObjectId};
use std::io::{self, Write};

/// Writes roots for unreachable objects, as few as it takes to reach them all.
pub(super) fn root_unreachable<W: Write>(
    heap: &Heap<'_>,
    layout: &Layout,
    ids: &IdSpace,
    out: &mut Out<W>,
    report: &mut HprofReport,
) -> io::Result<()> {
    // Weak references count: readers that drop what is unreachable follow them.
    let successors = |object| heap.references.of(object).map(|reference| reference.target);
    let mut reached = ObjectSet::none(heap.len());
    let roots = heap.roots.iter().map(|root| root.object).chain(heap.threads.iter().filter_map(|thread| thread.object));
    let mut pending: Vec<ObjectId> = roots.filter(|object| reached.insert(*object)).collect();
    reach(&mut reached, &mut pending, successors);
    drop(pending);
    for object in tops(heap.len(), reached, successors) {
        out.begin(sub::ROOT_UNKNOWN, 1 + layout.reference())?;
        out.id(ids.object(object));
        report.roots += 1;
    }
    Ok(())
}
