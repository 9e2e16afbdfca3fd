//! Loads a recording as a profile: each event with a stack adds to the sums of its thread, its
//! labels and its stack.

use super::by_type::ByType;
use super::chunk::{Event, chunks};
use super::facts::{Fact, fact_of};
use super::histogram::{NATIVE_USAGE, SETS, SetKey};
use super::measures::MALLOC;
use super::metadata::{Class, ClassId, FieldUnit, Types};
use super::metrics::{Metrics, Share};
use super::survey::{HEAP_SUMMARY, Survey};
use super::values::{KnownTypes, Tables, Value};
use crate::error::{Error, Result};
use crate::input::info::JfrDetails;
use crate::input::load::{LoadedProfile, MetricChoice, ProfileOptions};
use crate::model::names::{NameId, Names};
use crate::model::profile::{
    FrameId, FrameKind, LabelValue, Profile, ProfileBuilder, ProfileFrame, ProfileThread,
    SampleLabel, StackId, ThreadId, TimedEvent, Unit, Values,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Loads a recording. Its metrics are those for which it has events.
///
/// # Errors
/// If nothing of a recording can be read, or the profile takes more memory than it may.
pub(in crate::input) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let (survey, damage) = Survey::read(bytes, options.memory, options.progress)?;
    let (profile, facts) = load_surveyed(bytes, &survey, false, options)?;
    Ok(LoadedProfile { profile, damage: damage.or(facts.damage) })
}

/// What is found while a profile is loaded.
#[derive(Default)]
pub(super) struct LoadFacts {
    /// Stacks that the recorder cut.
    pub(super) cut: u64,
    /// The first damage of pools.
    pub(super) damage: Option<Error>,
    /// What single events say, if it was asked for.
    pub(super) details: JfrDetails,
}

/// Loads a recording whose events were counted, with what single events say if that is asked for.
///
/// # Errors
/// If the profile takes more memory than it may.
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
        MetricChoice::Named(name) => metrics.types.iter().position(|of| of.name == name),
    };
    let mut loader = Loader {
        wanted,
        with_details,
        keep_events: options.keep_samples,
        histogram: survey.histogram,
        native_usage: survey.native_usage,
        freed: Some(&survey.freed),
        start: survey.first.map_or(0, |first| first.start.into()),
        period_us: survey.period.map_or(0, |period| (period / 1000) as i64),
        ..Loader::new(builder, &metrics)
    };
    let (mut known, mut damage) = (KnownTypes::new(options.mapping), None);
    for (number, chunk) in chunks(bytes).map_while(Result::ok).enumerate() {
        // The survey has the damage of events and metadata.
        if let Ok((tables, found)) = Tables::read(chunk, &mut known) {
            damage = damage.or(found);
            loader.add_chunk(&tables, survey.needed(number, chunk), options)?;
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
    /// How to read the events of chunks with these types, by type.
    roles: (Option<Rc<Types>>, ByType<EventRole>),
    /// The keys of labels.
    keys: Keys,
    /// The frame below stacks that were cut at the recording's depth.
    truncated: FrameId,
    /// Stacks that the recorder cut.
    cut: u64,
    keep_events: bool,
    /// The last histogram of classes, and the last set of the memory of the JVM's parts.
    histogram: Option<SetKey>,
    native_usage: Option<SetKey>,
    freed: Option<&'m FxHashMap<u64, i128>>,
    /// Microseconds between samples.
    period_us: i64,
    /// The start of the recording in nanoseconds since 1970.
    start: i128,
    /// The numbers of a row, which are used again.
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

/// What the events of a chunk refer to, by number, once it was requested.
#[derive(Default)]
struct Known {
    stacks: FxHashMap<u64, StackId>,
    /// By method, line and type.
    frames: FxHashMap<[u64; 3], FrameId>,
    /// Of frames whose method was inlined, those around them, if a mapping knows it.
    around: FxHashMap<[u64; 3], Vec<FrameId>>,
    methods: FxHashMap<u64, NameId>,
    classes: FxHashMap<u64, NameId>,
    states: FxHashMap<u64, NameId>,
    threads: FxHashMap<u64, (NameId, bool)>,
    /// By event, thread, class and state.
    rows: FxHashMap<(NameId, u64, NameId, NameId), ThreadId>,
}

/// What the events of a type are read for.
struct EventRole {
    /// They are points of the curve.
    is_heap: bool,
    fact: Option<Fact>,
    /// `None` if no metric counts them.
    plan: Option<Plan>,
}

/// Where an event's fields are, for one type of events.
struct Plan {
    class: ClassId,
    name: NameId,
    stack: Option<usize>,
    thread: Option<usize>,
    start: Option<usize>,
    state: Option<usize>,
    about: Option<usize>,
    /// Events of the last set only: where the number is that they share, and the set. The class is
    /// their stack.
    set: Option<(usize, SetKey)>,
    /// Where the address of an allocation is, which counts if it is not freed.
    address: Option<usize>,
    /// By share: the metric's number, and the field with the weight.
    weights: Vec<(usize, Option<(usize, FieldUnit)>)>,
}

impl<'m> Loader<'m> {
    fn new(mut builder: ProfileBuilder, metrics: &'m Metrics) -> Self {
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
            histogram: None,
            native_usage: None,
            freed: None,
            period_us: 0,
            start: 0,
            numbers: vec![0; metrics.types.len()],
        }
    }

    fn add_chunk<'a>(
        &mut self,
        tables: &Tables<'a>,
        events: impl Iterator<Item = Event<'a>>,
        options: ProfileOptions<'_>,
    ) -> Result<()> {
        let mut known = Known::default();
        let mut values = Vec::new();
        let (of, mut roles) = std::mem::take(&mut self.roles);
        if !of.is_some_and(|of| Rc::ptr_eq(&of, &tables.types)) {
            roles = ByType::default();
        }
        for (number, event) in events.enumerate() {
            if number % 4096 == 0 {
                (options.progress)(event.offset);
                options.memory.check(event.offset, &self.builder, tables.bytes())?;
            }
            let role = roles.of(event.type_id, || self.role(tables, event.type_id));
            if let Some(fact) = role.fact {
                self.details.add(fact, tables, event);
            }
            if role.is_heap {
                let (ticks, used) = tables.numbers(event, ["startTime", "heapUsed"]);
                self.builder.curve_point(self.microseconds(tables, ticks).max(0) as u64, used);
            }
            let Some(plan) = &role.plan else { continue };
            if plan.set.is_some_and(|(_, last)| last.chunk != tables.chunk.offset) {
                continue;
            }
            let mut fields = event.fields;
            // An event that its type does not describe is damage, which `check` counts.
            if tables.values(plan.class, &mut fields, &mut values).is_ok() {
                self.add_event(tables, plan, &values, &mut known);
            }
        }
        self.roles = (Some(Rc::clone(&tables.types)), roles);
        Ok(())
    }

    fn role(&mut self, tables: &Tables<'_>, type_id: u64) -> EventRole {
        let name = tables.types.name(type_id).unwrap_or_default();
        EventRole {
            is_heap: name == HEAP_SUMMARY,
            fact: fact_of(name).filter(|_| self.with_details),
            plan: self.plan(tables, type_id),
        }
    }

    /// How to read the events of a type. `None` if no metric counts them.
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
        Some(Plan {
            class: id,
            set,
            address: freed.flatten(),
            name: self.builder.name(class.name.as_bytes()),
            stack: class.position("stackTrace"),
            thread: class.position("sampledThread").or_else(|| class.position("eventThread")),
            start: class.position("startTime"),
            state: class.position("state"),
            about: first.class.and_then(|name| class.position(name)),
            weights: shares.iter().map(|share| (share.metric, weight(share))).collect(),
        })
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
            |(at, last): (_, SetKey)| value(Some(at)).is_none_or(|of| of.number() != last.shared);
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
            let Some(of) = self.metrics.types.get(*number).filter(|_| value != 0) else { continue };
            let length = match of.unit {
                Unit::Nanoseconds => value / 1000,
                // A sample represents the time until the next one.
                _ if of.name == "cpu" => self.period_us,
                _ => 0,
            };
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            let metric = u16::try_from(*number).unwrap_or(u16::MAX);
            self.builder.event(TimedEvent { start, length, thread, stack, metric, value });
        }
    }

    /// The thread of an event together with its labels.
    fn row<'a>(
        &mut self,
        tables: &Tables<'a>,
        plan: &Plan,
        [thread, about, state]: [Option<Value<'a>>; 3],
        known: &mut Known,
    ) -> ThreadId {
        let builder = &mut self.builder;
        let mut named = |value: Option<Value<'a>>,
                         known: &mut FxHashMap<u64, NameId>,
                         name: &dyn Fn(Value<'a>) -> Option<String>| {
            let Some(value @ Value::Pooled(_, id)) = value else { return Names::EMPTY };
            *known.entry(id).or_insert_with(|| {
                name(value).map_or(Names::EMPTY, |name| builder.name(name.as_bytes()))
            })
        };
        let class = named(about, &mut known.classes, &|class| tables.class_name(class));
        let state = named(state, &mut known.states, &|state| tables.word(state));
        let thread_id = match thread {
            Some(Value::Pooled(_, id)) => id,
            _ => 0,
        };
        let (name, is_virtual) = *known.threads.entry(thread_id).or_insert_with(|| {
            let Some(thread) = thread else { return (Names::EMPTY, false) };
            let name = tables.thread_name(thread).unwrap_or_default();
            let is_virtual = tables.field(thread, "virtual").is_some_and(|of| of.number() != 0);
            (builder.name(name.as_bytes()), is_virtual)
        });
        let keys = self.keys;
        *known.rows.entry((plan.name, thread_id, class, state)).or_insert_with(|| {
            let text = |key, name| SampleLabel { key, value: LabelValue::Text(name) };
            let mut labels = vec![text(keys.event, plan.name)];
            labels.extend((class != Names::EMPTY).then(|| text(keys.class, class)));
            labels.extend((state != Names::EMPTY).then(|| text(keys.state, state)));
            if is_virtual {
                let yes = builder.name(b"true");
                labels.push(text(keys.is_virtual, yes));
            }
            labels.sort_unstable();
            let labels = builder.labels(&labels);
            builder.labelled_thread(ProfileThread { labels, ..ProfileThread::named(name) })
        })
    }

    /// Whether an event is an allocation whose address was freed later.
    fn is_freed(&self, tables: &Tables<'_>, plan: &Plan, values: &[Value<'_>]) -> bool {
        let number = |at: Option<usize>| at.and_then(|at| values.get(at)).map(Value::number);
        let address = number(plan.address);
        let freed = address.and_then(|address| self.freed?.get(&address));
        let time = tables.chunk.header.time(number(plan.start).unwrap_or(0));
        freed.is_some_and(|freed| *freed >= time)
    }

    fn class_as_stack<'a>(&mut self, tables: &Tables<'a>, class: Value<'a>) -> StackId {
        let name = tables.class_name(class).or_else(|| tables.word(class)).unwrap_or_default();
        let function = self.builder.name(name.as_bytes());
        let frame = self.builder.frame(frame(function, 0, FrameKind::Code));
        self.builder.push(StackId::EMPTY, frame)
    }

    /// The stack with a number. Recordings may refer to stacks that they do not contain.
    fn stack<'a>(&mut self, tables: &Tables<'a>, stack: Value<'a>, known: &mut Known) -> StackId {
        let Value::Pooled(_, id) = stack else { return StackId::EMPTY };
        if let Some(&known) = known.stacks.get(&id) {
            return known;
        }
        let read = self.read_stack(tables, stack, known).unwrap_or(StackId::EMPTY);
        known.stacks.insert(id, read);
        read
    }

    fn read_stack<'a>(
        &mut self,
        tables: &Tables<'a>,
        stack: Value<'a>,
        known: &mut Known,
    ) -> Option<StackId> {
        let is_truncated = tables.field(stack, "truncated").is_some_and(|cut| cut.number() != 0);
        let (class, _) = tables.resolve(stack)?;
        let class = tables.types.class(class)?;
        let frames = class.fields.get(class.position("frames")?)?;
        let Value::Array(count, mut cursor) = tables.field(stack, "frames")? else { return None };
        let places = Frames::of(tables.types.class(frames.class)?);
        let (mut all, mut values) = (Vec::new(), Vec::new());
        for _ in 0..count {
            if frames.is_pooled {
                let element = tables.element(frames, &mut cursor).ok()?;
                let (class, mut fields) = tables.resolve(element)?;
                tables.values(class, &mut fields, &mut values).ok()?;
            } else {
                tables.values(frames.class, &mut cursor, &mut values).ok()?;
            }
            self.add_frame(tables, &places, &values, known, &mut all);
        }
        // The file begins with the innermost frame.
        if is_truncated {
            self.cut = self.cut.saturating_add(1);
            all.push(self.truncated);
        }
        all.reverse();
        let id = self.builder.push_all(StackId::EMPTY, &all);
        self.builder.count_cut();
        Some(id)
    }

    /// Appends a frame, and those around it if its method was inlined.
    fn add_frame<'a>(
        &mut self,
        tables: &Tables<'a>,
        places: &Frames,
        values: &[Value<'a>],
        known: &mut Known,
        all: &mut Vec<FrameId>,
    ) {
        let value = |at: Option<usize>| at.and_then(|at| values.get(at)).copied();
        let id = |value: Option<Value<'a>>| match value {
            Some(Value::Pooled(_, id) | Value::Number(id)) => id,
            _ => 0,
        };
        let [method, line, kind] = [places.method, places.line, places.kind].map(value);
        let builder = &mut self.builder;
        let Known { frames, methods, around, .. } = known;
        let key = [method, line, kind].map(id);
        let innermost = *frames.entry(key).or_insert_with(|| {
            let mut original = method
                .map_or_else(Vec::new, |method| tables.original_frames(method, id(line) as u32))
                .into_iter()
                .map(|original| {
                    let function = format!("{}.{}", original.class, original.method);
                    let function = builder.name(function.as_bytes());
                    let line = builder.line(original.line.into());
                    builder.frame(frame(function, line, FrameKind::Code))
                });
            if let Some(innermost) = original.next() {
                let others: Vec<FrameId> = original.collect();
                if !others.is_empty() {
                    around.insert(key, others);
                }
                return innermost;
            }
            let function = *methods.entry(id(method)).or_insert_with(|| {
                let name = method.and_then(|method| tables.method_name(method)).unwrap_or_default();
                builder.name(name.as_bytes())
            });
            let line = builder.line((id(line) as i32).max(0).into());
            let kind = match kind.and_then(|kind| tables.word(kind)).as_deref() {
                Some("Native" | "C++") => FrameKind::Native,
                Some("Kernel") => FrameKind::Kernel,
                _ => FrameKind::Code,
            };
            builder.frame(frame(function, line, kind))
        });
        all.push(innermost);
        all.extend(around.get(&key).into_iter().flatten());
    }
}

/// Where the fields of a frame are.
struct Frames {
    method: Option<usize>,
    line: Option<usize>,
    kind: Option<usize>,
}

impl Frames {
    fn of(class: &Class) -> Self {
        let position = |name| class.position(name);
        Self { method: position("method"), line: position("lineNumber"), kind: position("type") }
    }
}

fn frame(function: NameId, line: u32, kind: FrameKind) -> ProfileFrame {
    ProfileFrame { function, file: Names::EMPTY, line, kind }
}

/// A field's number in the unit of its metric: times in nanoseconds, all others as they are.
fn in_unit(number: u64, unit: FieldUnit, tables: &Tables<'_>) -> i64 {
    match unit {
        FieldUnit::Ticks => tables.chunk.header.nanoseconds(number),
        FieldUnit::Nanoseconds(each) => (number as i64).saturating_mul(each as i64),
        _ => number as i64,
    }
}
