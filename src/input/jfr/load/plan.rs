//! The purpose of the events of each type, and the positions of their fields.

use super::super::chunk::Chunk;
use super::super::facts::{Fact, fact_of};
use super::super::histogram::{NATIVE_USAGE, SETS, SetKey};
use super::super::measures::MALLOC;
use super::super::metadata::{ClassId, FieldUnit};
use super::super::metrics::Share;
use super::super::values::Tables;
use super::Loader;
use super::reads::{Read, WEIGHTS, reads};
use crate::model::names::NameId;

pub(super) struct EventRole {
    pub(super) fact: Option<Fact>,
    /// `None` if no metric counts the events.
    pub(super) plan: Option<Plan>,
}

/// The positions of an event's fields, for one type of events.
pub(super) struct Plan {
    pub(super) class: ClassId,
    /// The position of the last field that is read.
    pub(super) last: usize,
    /// The way to read each field if those that matter are single numbers, so that events can be
    /// added up before their stacks and threads are looked up.
    pub(super) reads: Option<Vec<Read>>,
    pub(super) name: NameId,
    pub(super) stack: Option<usize>,
    pub(super) thread: Option<usize>,
    pub(super) start: Option<usize>,
    pub(super) state: Option<usize>,
    pub(super) about: Option<usize>,
    /// For types of which only the last set counts: the position of the number that its events
    /// share, and the set. Their class serves as the stack.
    pub(super) set: Option<(usize, SetKey)>,
    /// The position of the address of an allocation, which counts unless it is freed later.
    pub(super) address: Option<usize>,
    /// For each share: the metric's number, and the position and unit of the weight.
    pub(super) weights: Vec<(usize, Option<(usize, FieldUnit)>)>,
}

impl Plan {
    /// Whether events of a chunk may count: those of a set are in one chunk.
    pub(super) fn counts_in(&self, chunk: &Chunk<'_>) -> bool {
        self.set.is_none_or(|(_, last)| last.chunk == chunk.offset)
    }
}

impl Loader<'_> {
    pub(super) fn role(&mut self, tables: &Tables<'_>, type_id: u64) -> EventRole {
        let name = tables.types.name(type_id).unwrap_or_default();
        EventRole {
            fact: fact_of(name).filter(|_| self.with_details),
            plan: self.plan(tables, type_id),
        }
    }

    /// Returns the plan for the events of a type. `None` if no metric counts them.
    fn plan(&mut self, tables: &Tables<'_>, type_id: u64) -> Option<Plan> {
        let id = tables.types.find(type_id)?;
        let class = tables.types.class(id)?;
        let of_event = |share: &&Share| share.event == class.name;
        let shares: Vec<&Share> = self.metrics.shares.iter().filter(of_event).collect();
        let first = shares.first()?;
        // An event's other numbers, such as those of objects beside bytes, come with the wanted one.
        if let Some(wanted) = self.wanted
            && !shares.iter().any(|share| share.metric == wanted)
        {
            return None;
        }
        let weight = |share: &&Share| {
            let position = class.position(share.weight?)?;
            Some((position, class.fields.get(position)?.unit))
        };
        let set = match SETS.iter().find(|(name, _)| *name == class.name) {
            None => None,
            Some((name, shared)) => {
                let last = if *name == NATIVE_USAGE { self.native_usage } else { self.histogram };
                Some((class.position(shared)?, last.filter(|last| last.type_id == type_id)?))
            }
        };
        let freed = (class.name == MALLOC).then(|| class.position("address"));
        // Events of other types are about the first class that they name.
        let any_class = || {
            let named = tables.types.named("java.lang.Class")?;
            class.fields.iter().position(|it| it.class == named && it.is_pooled && !it.is_array)
        };
        let plan = Plan {
            class: id,
            last: 0,
            reads: None,
            set,
            address: freed.flatten(),
            name: self.builder.name(class.name.as_bytes()),
            stack: class.position("stackTrace"),
            thread: class.position("sampledThread").or_else(|| class.position("eventThread")),
            start: class.position("startTime"),
            state: class.position("state"),
            about: first.class.map_or_else(any_class, |name| class.position(name)),
            weights: shares.iter().map(|share| (share.metric, weight(share))).collect(),
        };
        let at_all = [plan.stack, plan.thread, plan.start, plan.state, plan.about, plan.address];
        let of_set = plan.set.map(|(at, _)| at);
        let of_weights: Vec<usize> =
            plan.weights.iter().filter_map(|(_, weight)| Some(weight.as_ref()?.0)).collect();
        // The number of a value in a pool is not a weight.
        let is_pooled = |at: &usize| class.fields.get(*at).is_some_and(|field| field.is_pooled);
        let has_weights = !of_weights.iter().any(is_pooled);
        let needed: Vec<usize> =
            at_all.into_iter().flatten().chain(of_set).chain(of_weights).collect();
        let last = needed.iter().copied().max().unwrap_or(0);
        let is_single = plan.set.is_none() && plan.address.is_none();
        let adds_up = is_single && has_weights && plan.weights.len() <= WEIGHTS;
        let reads = reads(class, last, &tables.types)
            .filter(|reads| adds_up && needed.iter().all(|at| reads.get(*at) != Some(&Read::Text)));
        Some(Plan { last, reads, ..plan })
    }
}
