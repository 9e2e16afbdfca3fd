//! Events that differ in time and weight alone are added up before their stack, their thread and
//! their labels are looked up: recordings have many of them in a chunk.

use super::super::chunk::Event;
use super::super::values::{Tables, Value};
use super::plan::Plan;
use super::reads::{Read, WEIGHTS, read_numbers};
use super::{Known, Loader, in_unit};
use crate::error::Result;
use crate::input::load::ProfileOptions;
use crate::model::profile::{StackId, Values};
use rustc_hash::FxHashMap;

/// The sums of a chunk's events of one type.
#[derive(Default)]
struct Sums {
    /// Positions in `all` by the numbers of the stack, the thread, the class and the state.
    places: FxHashMap<[u64; 4], usize>,
    all: Vec<Sum>,
}

/// The events with one stack, thread, class and state, whose numbers are `ids`.
struct Sum {
    ids: [u64; 4],
    events: u64,
    weights: [i64; WEIGHTS],
}

/// Bytes of memory for a sum, including the tables' spare room.
const BYTES_PER_SUM: u64 = 192;

impl Sums {
    fn add(&mut self, ids: [u64; 4], weights: impl Iterator<Item = i64>) {
        let place = *self.places.entry(ids).or_insert(self.all.len());
        if place == self.all.len() {
            self.all.push(Sum { ids, events: 0, weights: [0; WEIGHTS] });
        }
        let Some(sum) = self.all.get_mut(place) else { return };
        sum.events = sum.events.saturating_add(1);
        for (sum, weight) in sum.weights.iter_mut().zip(weights) {
            *sum = sum.saturating_add(weight);
        }
    }
}

impl Loader<'_> {
    /// Adds the events of one type. `reads` is the way to read each field.
    pub(super) fn add_sums<'a>(
        &mut self,
        tables: &Tables<'a>,
        events: impl Iterator<Item = Event<'a>>,
        (plan, reads): (&Plan, &[Read]),
        known: &mut Known,
        options: ProfileOptions<'_>,
    ) -> Result<()> {
        let mut sums = Sums::default();
        let mut numbers = vec![0; reads.len()];
        let ids = [plan.stack, plan.thread, plan.about, plan.state];
        for (number, mut event) in events.enumerate() {
            if number % 4096 == 0 {
                (options.progress)(event.offset);
                let bytes = (sums.all.len() as u64).saturating_mul(BYTES_PER_SUM);
                let bytes = tables.bytes().saturating_add(bytes);
                options.memory.check(event.offset, &self.builder, bytes)?;
            }
            // An event that its type does not describe is damage, which `check` counts.
            if read_numbers(&mut event.fields, reads, &mut numbers).is_err() {
                continue;
            }
            let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
            let weights = plan.weights.iter().map(|(_, weight)| match weight {
                None => 1,
                Some((at, unit)) => in_unit(number(*at), *unit, tables),
            });
            sums.add(ids.map(|at| at.map_or(0, number)), weights);
        }
        for sum in &sums.all {
            self.add_sum(tables, plan, sum, known);
        }
        Ok(())
    }

    fn add_sum(&mut self, tables: &Tables<'_>, plan: &Plan, sum: &Sum, known: &mut Known) {
        let fields = tables.types.class(plan.class).map_or(&[][..], |class| &class.fields);
        let value = |at: Option<usize>, id: u64| {
            let field = fields.get(at?)?;
            Some(if field.is_pooled { Value::Pooled(field.class, id) } else { Value::Number(id) })
        };
        self.numbers.fill(0);
        for ((metric, _), weight) in plan.weights.iter().zip(sum.weights) {
            if let Some(number) = self.numbers.get_mut(*metric) {
                *number = number.saturating_add(weight);
            }
        }
        let [stack, thread, about, state] = sum.ids;
        let stack = value(plan.stack, stack);
        let stack = stack.map_or(StackId::EMPTY, |stack| self.stack(tables, stack, known));
        let labels =
            [value(plan.thread, thread), value(plan.about, about), value(plan.state, state)];
        let row = self.row(tables, plan, labels, known);
        self.builder.add(row, stack, &Values::of_types(sum.events, &self.numbers));
    }
}
