//! Loads a recording as a profile: each event with a stack adds to the sums of its thread, its
//! labels and its stack.

mod plan;
mod reads;
mod rows;
mod stacks;
mod sums;

use super::by_type::ByType;
use super::chunk::{Event, chunks};
use super::facts::Fact;
use super::histogram::SetKey;
use super::metadata::{FieldUnit, Types};
use super::metrics::Metrics;
use super::survey::Survey;
use super::values::{KnownTypes, Tables, Value};
use crate::error::{Error, Result};
use crate::input::info::JfrDetails;
use crate::input::load::{LoadedProfile, MetricChoice, ProfileOptions};
use crate::model::names::NameId;
use crate::model::profile::{
    FrameId, FrameKind, Profile, ProfileBuilder, StackId, ThreadId, TimedEvent, Unit, Values,
};
use plan::{EventRole, Plan};
use rustc_hash::FxHashMap;
use stacks::frame;
use std::rc::Rc;

/// Loads a recording. Its metrics are those for which it has events. Fails if nothing of a
/// recording can be read, or the profile takes more memory than it may.
pub(in crate::input) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let (survey, damage) = Survey::read(bytes, options.memory, options.progress)?;
    let (profile, facts) = load_surveyed(bytes, &survey, false, options)?;
    Ok(LoadedProfile { profile, damage: damage.or(facts.damage) })
}

/// Findings from the loading of a profile.
#[derive(Default)]
pub(super) struct LoadFacts {
    /// Stacks that the recorder cut.
    pub(super) cut: u64,
    /// The first damage of pools.
    pub(super) damage: Option<Error>,
    /// The facts that single events state, if requested.
    pub(super) details: JfrDetails,
}

/// Loads a recording whose events were counted, with the facts of single events if requested. Fails
/// if the profile takes more memory than it may.
pub(super) fn load_surveyed(
    bytes: &[u8],
    survey: &Survey,
    with_details: bool,
    options: ProfileOptions<'_>,
) -> Result<(Profile, LoadFacts)> {
    let metrics = Metrics::of(survey);
    let mut builder = ProfileBuilder::new(options.keep_samples);
    builder.set_separate_values(metrics.types.clone(), metrics.main);
    builder.set_curve(Unit::Microseconds, "Bytes in use before and after each collection.");
    if let Some(first) = survey.first {
        let duration = survey.end.saturating_sub(first.start);
        builder.metadata(b"time_nanos", first.start.to_string().as_bytes());
        builder.metadata(b"duration_nanos", duration.to_string().as_bytes());
        if let Some(period) = survey.period {
            builder.metadata(b"period_type", b"cpu nanoseconds");
            builder.metadata(b"period", period.to_string().as_bytes());
        }
    }
    let wanted = match options.metrics {
        MetricChoice::All => None,
        MetricChoice::Main => Some(metrics.main),
        MetricChoice::Named(name) => metrics.types.iter().position(|metric| metric.name == name),
    };
    let keep_events = options.keep_samples;
    let mut loader =
        Loader { wanted, with_details, keep_events, ..Loader::new(builder, &metrics, survey) };
    for (time, used) in &survey.heap {
        let since = time.saturating_sub(loader.start).saturating_div(1000);
        loader.builder.curve_point(u64::try_from(since).unwrap_or(0), *used);
    }
    let (mut known, mut damage) = (KnownTypes::new(options.mapping), None);
    for (number, chunk) in chunks(bytes).map_while(Result::ok).enumerate() {
        // The survey has the damage of events and metadata.
        if let Ok((tables, found)) = Tables::read(chunk, &mut known) {
            damage = damage.or(found);
            loader.add_chunk(&tables, survey.places.events(number, chunk), options)?;
        }
    }
    let facts = LoadFacts { cut: loader.cut, damage, details: loader.details };
    Ok((loader.builder.finish(), facts))
}

struct Loader<'m> {
    builder: ProfileBuilder,
    metrics: &'m Metrics,
    /// The only metric that counts, if not all do.
    wanted: Option<usize>,
    with_details: bool,
    details: JfrDetails,
    /// The role of each type of events, in chunks with these types.
    roles: (Option<Rc<Types>>, ByType<EventRole>),
    keys: Keys,
    /// The frame below stacks that were cut at the recording's depth.
    truncated: FrameId,
    /// Stacks that the recorder cut.
    cut: u64,
    keep_events: bool,
    /// The last histogram of classes, and the last set of the memory of the JVM's parts.
    histogram: Option<SetKey>,
    native_usage: Option<SetKey>,
    freed: &'m FxHashMap<u64, i128>,
    /// Microseconds between samples.
    period_us: i64,
    /// The start of the recording in nanoseconds since 1970.
    start: i128,
    /// The numbers of a row; the buffer is reused.
    numbers: Vec<i64>,
}

/// The names of labels' keys.
#[derive(Clone, Copy)]
struct Keys {
    class: NameId,
    event: NameId,
    state: NameId,
    is_virtual: NameId,
}

/// The values that events of a chunk refer to, by number, filled on demand.
#[derive(Default)]
struct Known {
    stacks: FxHashMap<u64, StackId>,
    /// Frames by method, line and type.
    frames: FxHashMap<[u64; 3], FrameId>,
    /// The frames around those whose method was inlined, according to the mapping.
    around: FxHashMap<[u64; 3], Vec<FrameId>>,
    methods: FxHashMap<u64, NameId>,
    classes: FxHashMap<u64, NameId>,
    states: FxHashMap<u64, NameId>,
    threads: FxHashMap<u64, (NameId, bool)>,
    /// Threads with their labels, by event, thread, class and state.
    rows: FxHashMap<(NameId, u64, NameId, NameId), ThreadId>,
}

impl<'m> Loader<'m> {
    fn new(mut builder: ProfileBuilder, metrics: &'m Metrics, survey: &'m Survey) -> Self {
        let keys = Keys {
            class: builder.name(b"class"),
            event: builder.name(b"event"),
            state: builder.name(b"state"),
            is_virtual: builder.name(b"virtual"),
        };
        let function = builder.name(b"(truncated)");
        let truncated = builder.frame(frame(function, 0, FrameKind::Code));
        Self {
            builder,
            metrics,
            wanted: None,
            with_details: false,
            details: JfrDetails::default(),
            roles: (None, ByType::default()),
            keys,
            truncated,
            cut: 0,
            keep_events: false,
            histogram: survey.histogram,
            native_usage: survey.native_usage,
            freed: &survey.freed,
            period_us: survey.period.map_or(0, |period| (period / 1000) as i64),
            start: survey.first.map_or(0, |first| first.start.into()),
            numbers: vec![0; metrics.types.len()],
        }
    }

    fn add_chunk<'a>(
        &mut self,
        tables: &Tables<'a>,
        events: impl Iterator<Item = (u64, impl Iterator<Item = Event<'a>>)>,
        options: ProfileOptions<'_>,
    ) -> Result<()> {
        let mut known = Known::default();
        let (types, mut roles) = std::mem::take(&mut self.roles);
        if !types.is_some_and(|types| Rc::ptr_eq(&types, &tables.types)) {
            roles = ByType::default();
        }
        for (type_id, events) in events {
            let role = roles.of(type_id, || self.role(tables, type_id));
            let fact = role.fact.filter(|fact| fact.counts_in(&tables.chunk));
            let plan = role.plan.as_ref().filter(|plan| plan.counts_in(&tables.chunk));
            if fact.is_some() || plan.is_some() {
                self.add_events(tables, events, (fact, plan), &mut known, options)?;
            }
        }
        self.roles = (Some(Rc::clone(&tables.types)), roles);
        Ok(())
    }

    /// Adds the events of one type.
    fn add_events<'a>(
        &mut self,
        tables: &Tables<'a>,
        events: impl Iterator<Item = Event<'a>>,
        (fact, plan): (Option<Fact>, Option<&Plan>),
        known: &mut Known,
        options: ProfileOptions<'_>,
    ) -> Result<()> {
        if let Some(plan) = plan
            && let Some(reads) = plan.reads.as_ref().filter(|_| fact.is_none() && !self.keep_events)
        {
            return self.add_sums(tables, events, (plan, reads), known, options);
        }
        let mut values = Vec::new();
        for (number, event) in events.enumerate() {
            if number % 4096 == 0 {
                (options.progress)(event.offset);
                options.memory.check(event.offset, &self.builder, tables.bytes())?;
            }
            if let Some(fact) = fact {
                self.details.add(fact, tables, event);
            }
            let (Some(plan), mut fields) = (plan, event.fields) else { continue };
            // An event that its type does not describe is damage, which `check` counts.
            if tables.first_values(plan.class, plan.last, &mut fields, &mut values).is_ok() {
                self.add_event(tables, plan, &values, known);
            }
        }
        Ok(())
    }

    fn add_event<'a>(
        &mut self,
        tables: &Tables<'a>,
        plan: &Plan,
        values: &[Value<'a>],
        known: &mut Known,
    ) {
        let value = |at: Option<usize>| at.and_then(|at| values.get(at)).copied();
        let is_other =
            |(at, last): (_, SetKey)| value(Some(at)).is_none_or(|it| it.number() != last.shared);
        if plan.set.is_some_and(is_other) || self.is_freed(tables, plan, values) {
            return;
        }
        self.numbers.fill(0);
        for (metric, weight) in &plan.weights {
            let number = match weight {
                None => 1,
                Some((at, unit)) => {
                    in_unit(value(Some(*at)).map_or(0, |value| value.number()), *unit, tables)
                }
            };
            if let Some(sum) = self.numbers.get_mut(*metric) {
                *sum = sum.saturating_add(number);
            }
        }
        let stack = match (value(plan.stack), value(plan.about)) {
            (Some(stack), _) => self.stack(tables, stack, known),
            (None, Some(class)) if plan.set.is_some() => self.class_as_stack(tables, class),
            _ => StackId::EMPTY,
        };
        let row = self.row(tables, plan, [plan.thread, plan.about, plan.state].map(value), known);
        self.builder.add(row, stack, &Values::of_types(1, &self.numbers));
        if let Some(ticks) = value(plan.start).filter(|_| self.keep_events) {
            self.keep_event(tables, plan, ticks.number(), (row, stack));
        }
    }

    /// A time in microseconds since the start of the recording.
    fn microseconds(&self, tables: &Tables<'_>, ticks: u64) -> i64 {
        let since = tables.chunk.header.time(ticks).saturating_sub(self.start);
        i64::try_from(since / 1000).unwrap_or(i64::MAX)
    }

    /// Keeps the numbers of an event with its time.
    fn keep_event(
        &mut self,
        tables: &Tables<'_>,
        plan: &Plan,
        ticks: u64,
        (thread, stack): (ThreadId, StackId),
    ) {
        let start = self.microseconds(tables, ticks);
        for (number, _) in &plan.weights {
            let value = self.numbers.get(*number).copied().unwrap_or(0);
            let Some(metric) = self.metrics.types.get(*number).filter(|_| value != 0) else {
                continue;
            };
            let length = match metric.unit {
                Unit::Nanoseconds => value / 1000,
                // A sample represents the time until the next one.
                _ if metric.name == "cpu" => self.period_us,
                _ => 0,
            };
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            let metric = u16::try_from(*number).unwrap_or(u16::MAX);
            let samples = 1;
            let event = TimedEvent { start, length, thread, stack, metric, samples, value };
            self.builder.event(event);
        }
    }

    /// Whether an event is an allocation whose address was freed later.
    fn is_freed(&self, tables: &Tables<'_>, plan: &Plan, values: &[Value<'_>]) -> bool {
        let number = |at: Option<usize>| at.and_then(|at| values.get(at)).map(Value::number);
        let address = number(plan.address);
        let freed = address.and_then(|address| self.freed.get(&address));
        let time = tables.chunk.header.time(number(plan.start).unwrap_or(0));
        freed.is_some_and(|freed| *freed >= time)
    }

    fn class_as_stack<'a>(&mut self, tables: &Tables<'a>, class: Value<'a>) -> StackId {
        let name = tables.class_name(class).or_else(|| tables.word(class)).unwrap_or_default();
        let function = self.builder.name(name.as_bytes());
        let frame = self.builder.frame(frame(function, 0, FrameKind::Code));
        self.builder.push(StackId::EMPTY, frame)
    }
}

/// A field's number in the unit of its metric: times in nanoseconds, all others as they are.
fn in_unit(number: u64, unit: FieldUnit, tables: &Tables<'_>) -> i64 {
    match unit {
        FieldUnit::Ticks => tables.chunk.header.nanoseconds(number),
        FieldUnit::Nanoseconds(each) => (number as i64).saturating_mul(each as i64),
        _ => number as i64,
    }
}
