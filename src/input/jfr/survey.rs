//! The first pass over a recording: which types of events it has, and how many of each.

use super::by_type::ByType;
use super::chunk::{CHECKPOINT, Event, Header, METADATA, chunks};
use super::facts::fact_of;
use super::histogram::{SETS, SetKey};
use super::measures::is_measured;
use super::metadata::Types;
use super::places::{Distances, Places};
use super::values::{KnownTypes, Tables, Value};
use crate::error::{Error, Result};
use crate::input::load::MemoryLimit;
use crate::input::read::Progress;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The number of events of one type that are checked for a duration and a stack: types may have the
/// fields and never fill them.
const ASKED: u64 = 1000;

/// Bytes of memory for an address that was freed, including the table's spare room.
const BYTES_PER_ADDRESS: u64 = 64;

/// Bytes of memory for a point of the heap's curve, here and in the profile.
const BYTES_PER_POINT: u64 = 96;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EventType {
    pub(super) count: u64,
    /// Whether at least one of the first events has a stack.
    pub(super) has_stack: bool,
    /// Whether at least one of the first events has a duration.
    pub(super) has_durations: bool,
}

/// The types of events of a recording, with their counts.
#[derive(Default)]
pub(super) struct Survey {
    by_name: BTreeMap<String, EventType>,
    pub(super) chunks: u64,
    pub(super) checkpoints: u64,
    pub(super) metadata: u64,
    pub(super) first: Option<Header>,
    /// The time between two samples of a thread's stack, in nanoseconds.
    pub(super) period: Option<u64>,
    /// The last histogram of classes, and the last set of `NATIVE_USAGE`.
    pub(super) histogram: Option<SetKey>,
    pub(super) native_usage: Option<SetKey>,
    /// The time when each address was last freed, in nanoseconds since 1970 (async-profiler).
    pub(super) freed: FxHashMap<u64, i128>,
    /// The bytes in use before and after each collection, with the time in nanoseconds since 1970.
    pub(super) heap: Vec<(i128, u64)>,
    /// The end of the last chunk in nanoseconds since 1970.
    pub(super) end: u64,
    /// The places of the events that a profile may need, so that the others are passed only once.
    pub(super) places: Places,
    /// The types of the last chunk, and the events counted since the types last changed.
    met: (Option<Rc<Types>>, ByType<Met>),
}

impl Survey {
    /// Counts the events of a file that can be read. Also returns the first damage. Fails if
    /// nothing of a recording can be read, or it takes more memory than it may.
    pub(super) fn read(
        bytes: &[u8],
        memory: MemoryLimit,
        progress: Progress<'_>,
    ) -> Result<(Self, Option<Error>)> {
        let mut survey = Self::default();
        let mut damage = None;
        let mut known = KnownTypes::default();
        for chunk in chunks(bytes) {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(error) => {
                    damage.get_or_insert(error);
                    break;
                }
            };
            progress(chunk.offset);
            survey.places.add_chunk();
            match Tables::without_pools(chunk, &mut known) {
                Ok((tables, ..)) => {
                    let found = survey.add(&tables);
                    let freed = (survey.freed.len() as u64).saturating_mul(BYTES_PER_ADDRESS);
                    let heap = (survey.heap.len() as u64).saturating_mul(BYTES_PER_POINT);
                    let places = survey.places.bytes().saturating_add(heap);
                    memory.check_bytes(chunk.offset, freed.saturating_add(places))?;
                    damage = damage.or(found).or(chunk.damage());
                }
                Err(error) => damage = damage.or(Some(error)),
            }
        }
        survey.add_met();
        match (survey.chunks, damage) {
            (0, Some(damage)) => Err(damage),
            (_, damage) => Ok((survey, damage)),
        }
    }

    /// Counts the events of a chunk, up to the damage that is returned.
    fn add<'a>(&mut self, tables: &Tables<'a>) -> Option<Error> {
        let chunk = &tables.chunk;
        self.chunks = self.chunks.saturating_add(1);
        self.first.get_or_insert(chunk.header);
        self.end = chunk.header.start.saturating_add(chunk.header.duration);
        let mut latest = [0; 2];
        if !self.met.0.as_ref().is_some_and(|types| Rc::ptr_eq(types, &tables.types)) {
            self.add_met();
        }
        let mut all = std::mem::take(&mut self.met.1);
        let mut events = chunk.events();
        for event in events.by_ref() {
            match event.type_id {
                METADATA => self.metadata = self.metadata.saturating_add(1),
                CHECKPOINT => self.checkpoints = self.checkpoints.saturating_add(1),
                type_id => {
                    let met = all.of(type_id, || self.met(tables, type_id));
                    met.known.count = met.known.count.saturating_add(1);
                    if met.is_needed {
                        met.distances.push(event.offset.saturating_sub(chunk.offset));
                    }
                    if met.says_more {
                        self.note(tables, event, met, &mut latest);
                    }
                }
            }
        }
        for (type_id, met) in all.iter_mut() {
            self.places.add(type_id, &mut met.distances);
        }
        self.met = (Some(Rc::clone(&tables.types)), all);
        events.damage()
    }

    /// Adds the events that were counted by type number to the counts by type name.
    fn add_met(&mut self) {
        let (Some(types), met) = std::mem::take(&mut self.met) else { return };
        for (type_id, Met { known: met, .. }) in met.into_iter() {
            let name = types.name(type_id);
            let name = name.map_or_else(|| format!("type {type_id}"), str::to_owned);
            let known = self.by_name.entry(name).or_default();
            known.count = known.count.saturating_add(met.count);
            known.has_durations |= met.has_durations;
            known.has_stack |= met.has_stack;
        }
    }

    /// Returns the state of a type of events before its first event.
    fn met(&self, tables: &Tables<'_>, type_id: u64) -> Met {
        let class = tables.types.find(type_id).and_then(|class| tables.types.class(class));
        let known = class.and_then(|class| self.by_name.get(&class.name));
        let known = known.copied().unwrap_or_default();
        let has = |field| class.is_some_and(|class| class.position(field).is_some());
        let asks = if has("duration") || has("stackTrace") {
            ASKED.saturating_sub(known.count)
        } else {
            0
        };
        let role = Role::of(class.map(|class| class.name.as_str()));
        let name = class.map_or("", |class| &class.name);
        let is_needed = has("stackTrace") || is_measured(name) || fact_of(name).is_some();
        let says_more = asks > 0 || role != Role::Usual;
        let known = EventType { count: 0, ..known };
        Met { known, role, asks, says_more, is_needed, distances: Distances::default() }
    }

    /// Notes the information in an event about other events and about its type.
    fn note<'a>(
        &mut self,
        tables: &Tables<'a>,
        event: Event<'a>,
        met: &mut Met,
        latest: &mut [u64; 2],
    ) {
        if met.asks > 0 {
            met.asks = met.asks.saturating_sub(1);
            tables.ask(event, &mut met.known);
            if met.known.has_durations && met.known.has_stack {
                met.asks = 0;
            }
            met.says_more = met.asks > 0 || met.role != Role::Usual;
        }
        match met.role {
            Role::Usual => {}
            Role::Setting => self.period = self.period.or_else(|| tables.sampling_period(event)),
            Role::Free => {
                let (time, address) = tables.numbers(event, ["startTime", "address"]);
                self.freed.insert(address, tables.chunk.header.time(time));
            }
            Role::Heap => {
                let (time, used) = tables.numbers(event, ["startTime", "heapUsed"]);
                self.heap.push((tables.chunk.header.time(time), used));
            }
            Role::OfSet(at) => {
                let shared = SETS.get(at).map_or("", |(_, shared)| shared);
                self.add_to_set(tables, event, (at, shared), latest);
            }
        }
    }

    /// Notes the last set of events of a kind ([`SETS`]).
    fn add_to_set<'a>(
        &mut self,
        tables: &Tables<'a>,
        event: Event<'a>,
        (kind, shared): (usize, &str),
        latest: &mut [u64; 2],
    ) {
        let (time, shared) = tables.numbers(event, ["startTime", shared]);
        let [histogram, native] = latest;
        let (last, latest) = match kind {
            0 | 1 => (&mut self.histogram, histogram),
            _ => (&mut self.native_usage, native),
        };
        if time >= *latest {
            let (chunk, type_id) = (tables.chunk.offset, event.type_id);
            (*last, *latest) = (Some(SetKey { chunk, type_id, shared }), time);
        }
    }

    pub(super) fn count(&self, name: &str) -> u64 {
        self.by_name.get(name).map_or(0, |event| event.count)
    }

    /// The number of events of a type if they have stacks.
    pub(super) fn count_with_stack(&self, name: &str) -> u64 {
        self.by_name.get(name).filter(|event| event.has_stack).map_or(0, |event| event.count)
    }

    pub(super) fn events(&self) -> impl Iterator<Item = (&str, &EventType)> {
        self.by_name.iter().map(|(name, event)| (name.as_str(), event))
    }
}

/// The state of a type of events while chunks with equal types are read.
struct Met {
    known: EventType,
    role: Role,
    /// The number of events still to be checked for a duration and a stack.
    asks: u64,
    /// Whether the fields of these events are read, for their role or because of `asks`.
    says_more: bool,
    /// Whether a profile may need events of this type.
    is_needed: bool,
    /// The places of this type's events in the chunk that is being read.
    distances: Distances,
}

/// The information that events of a type have about other events.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Usual,
    Setting,
    Free,
    Heap,
    /// The events belong to a set, at this position in [`SETS`].
    OfSet(usize),
}

impl Role {
    fn of(name: Option<&str>) -> Self {
        match name {
            Some("jdk.ActiveSetting") => Self::Setting,
            Some("profiler.Free") => Self::Free,
            Some("jdk.GCHeapSummary") => Self::Heap,
            Some(name) => {
                let set = SETS.iter().position(|(known, _)| *known == name);
                set.map_or(Self::Usual, Self::OfSet)
            }
            None => Self::Usual,
        }
    }
}

impl<'a> Tables<'a> {
    /// Checks whether an event has a duration and a stack.
    fn ask(&self, event: Event<'a>, known: &mut EventType) {
        let Some(event) = self.event(event) else { return };
        let has = |field| {
            let value = self.field(event, field);
            matches!(value, Some(Value::Number(1..) | Value::Pooled(_, 1..)))
        };
        known.has_durations = known.has_durations || has("duration");
        known.has_stack = known.has_stack || has("stackTrace");
    }

    /// The numbers in two fields of an event, or 0.
    pub(super) fn numbers(&self, event: Event<'a>, fields: [&str; 2]) -> (u64, u64) {
        let (mut cursor, mut numbers) = (event.fields, [0; 2]);
        let class = self.types.find(event.type_id).and_then(|class| self.types.class(class));
        let mut left = fields.len();
        for field in class.map_or(&[][..], |class| &class.fields) {
            let Ok(value) = self.value(field, &mut cursor) else { break };
            for (number, _) in
                numbers.iter_mut().zip(fields).filter(|(_, name)| *name == field.name)
            {
                (*number, left) = (value.number(), left.wrapping_sub(1));
            }
            if left == 0 {
                break;
            }
        }
        let [first, second] = numbers;
        (first, second)
    }

    /// The time between two samples in nanoseconds, if a setting states it: `period=20 ms` of the
    /// JDK, `interval=10000000` of async-profiler.
    fn sampling_period(&self, setting: Event<'a>) -> Option<u64> {
        let setting = self.event(setting)?;
        let text = |field| self.text(self.field(setting, field)?);
        let event = self.types.name(self.field(setting, "id")?.number())?;
        if event != "jdk.ExecutionSample" || !matches!(&*text("name")?, "period" | "interval") {
            return None;
        }
        let value = text("value")?;
        let digits = value.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = value.split_at_checked(digits)?;
        let each = match unit.trim() {
            "" | "ns" => 1,
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(each).filter(|period| *period > 0)
    }
}
