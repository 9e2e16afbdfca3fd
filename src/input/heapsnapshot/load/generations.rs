//! When objects of a recording were allocated.

use super::nodes::Nodes;
use crate::input::heapsnapshot::document::Document;
use crate::input::heapsnapshot::meta::{MAX_FIELDS, NodeType};
use crate::model::heap::ObjectId;
use crate::model::site::{AllocationSite, AllocationSites};
use rustc_hash::FxHashMap;

/// Adds to the site of each object the sample of the recording before which it was allocated.
/// Sample 0 also contains objects older than the recording.
///
/// V8 gives rising odd ids to its objects and notes at each sample the last id so far.
pub(super) fn add(
    stacks: AllocationSites,
    document: &Document<'_>,
    nodes: &Nodes,
) -> AllocationSites {
    let samples = samples(document);
    if samples.is_empty() {
        return stacks;
    }
    let AllocationSites { mut sites, frames, of: stack_of, sampling } = stacks;
    let mut stack_of = stack_of.into_iter().peekable();
    let mut known: FxHashMap<(Option<u32>, u64), u32> = FxHashMap::default();
    let mut site_of = Vec::with_capacity(nodes.len());
    for (row, (&kind, id)) in (0u32..).zip(nodes.kind.iter().zip(nodes.id.iter())) {
        let stack = stack_of.next_if(|(object, _)| object.0 == row).map(|(_, stack)| stack);
        let sample = samples.partition_point(|last| *last < id);
        let is_synthetic = document.meta.node_type(kind) == NodeType::Synthetic;
        if is_synthetic || id.is_multiple_of(2) || sample == samples.len() {
            site_of.extend(stack.map(|stack| (ObjectId(row), stack)));
            continue;
        }
        let generation = sample as u64;
        let site = *known.entry((stack, generation)).or_insert_with(|| {
            let generation = Some(generation);
            sites.push(AllocationSite { caller: stack, generation, ..AllocationSite::default() });
            sites.len().saturating_sub(1) as u32
        });
        site_of.push((ObjectId(row), site));
    }
    AllocationSites { sites, frames, of: site_of, sampling }
}

/// The last id at each sample. Never decreases.
fn samples(document: &Document<'_>) -> Vec<u64> {
    let fields = &document.meta.names.sample_fields;
    let at = fields.iter().position(|field| field == "last_assigned_id");
    let numbers = document.samples.clone();
    let (Some(at), Some(mut numbers)) = (at.filter(|_| fields.len() <= MAX_FIELDS), numbers) else {
        return Vec::new();
    };
    let (mut samples, mut last) = (Vec::new(), 0);
    let mut place = 0_usize;
    while let Ok(Some(number)) = numbers.unsigned() {
        if place == at {
            last = number.max(last);
            samples.push(last);
        }
        place = place.saturating_add(1);
        if place == fields.len() {
            place = 0;
        }
    }
    samples
}
