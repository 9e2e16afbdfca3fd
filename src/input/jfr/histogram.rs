//! Histograms of classes: the objects of each class after a collection.

use super::chunk::chunks;
use super::values::{KnownTypes, Tables};
use crate::error::Result;
use crate::input::read::ReadOptions;
use crate::model::calendar::rfc3339_of_nanoseconds;
use rustc_hash::FxHashMap;

/// The types of events that make up histograms: one event for each class.
pub(super) const HISTOGRAMS: [&str; 2] = ["jdk.ObjectCount", "jdk.ObjectCountAfterGC"];

/// The type of events with the memory of a part of the JVM.
pub(super) const NATIVE_USAGE: &str = "jdk.NativeMemoryUsage";

/// The types of events of which only the last set counts, and the field that a set's events share.
pub(super) const SETS: [(&str, &str); 3] =
    [(HISTOGRAMS[0], "gcId"), (HISTOGRAMS[1], "gcId"), (NATIVE_USAGE, "startTime")];

/// Approximate memory of a row with its name in bytes.
const BYTES_PER_ROW: u64 = 100;

/// Identifies the events of one set, such as a histogram, by the chunk, their type, and the
/// collection or the time that they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SetKey {
    pub(super) chunk: u64,
    pub(super) type_id: u64,
    pub(super) shared: u64,
}

/// The objects of a heap by class, after a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassHistogram {
    /// The time in UTC (RFC 3339).
    pub time: String,
    /// The classes, of which JVMs write those with at least 0.5 % of the heap.
    pub rows: Vec<ClassCount>,
}

/// The objects of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// The name of the class.
    pub name: String,
    /// The number of objects.
    pub count: u64,
    /// Bytes of the objects.
    pub bytes: u64,
}

/// The histograms of a recording, oldest first. Fails if they take more memory than they may.
/// Damage ends the reading early.
pub fn class_histograms(bytes: &[u8], options: ReadOptions<'_>) -> Result<Vec<ClassHistogram>> {
    let mut numbers = FxHashMap::<(u64, u64), (usize, u64)>::default();
    let mut all: Vec<(i128, ClassHistogram)> = Vec::new();
    let mut rows = 0u64;
    let mut known_types = KnownTypes::new(options.mapping);
    for chunk in chunks(bytes).map_while(Result::ok) {
        let Ok((tables, _)) = Tables::read(chunk, &mut known_types) else { continue };
        options.memory.check_bytes(chunk.offset, tables.bytes())?;
        let types = HISTOGRAMS.map(|name| tables.types.number_of(name));
        for event in chunk.events() {
            if !types.contains(&Some(event.type_id)) {
                continue;
            }
            let Some(value) = tables.event(event) else { continue };
            let number = |field| tables.number(value, field);
            let key = (chunk.offset, number("gcId"));
            let (at, type_id) = *numbers.entry(key).or_insert_with(|| {
                let time = chunk.header.time(number("startTime"));
                let histogram =
                    ClassHistogram { time: rfc3339_of_nanoseconds(time), rows: Vec::new() };
                all.push((time, histogram));
                (all.len().wrapping_sub(1), event.type_id)
            });
            // A recording with both types of events has each collection twice.
            if type_id != event.type_id {
                continue;
            }
            let Some((_, histogram)) = all.get_mut(at) else { continue };
            let class = tables.field(value, "objectClass");
            histogram.rows.push(ClassCount {
                name: class.and_then(|class| tables.class_name(class)).unwrap_or_default(),
                count: number("count"),
                bytes: number("totalSize"),
            });
            rows = rows.saturating_add(1);
            if rows.is_multiple_of(4096) {
                (options.progress)(event.offset);
                options.memory.check_bytes(event.offset, rows.saturating_mul(BYTES_PER_ROW))?;
            }
        }
    }
    all.sort_by_key(|(time, _)| *time);
    Ok(all.into_iter().map(|(_, histogram)| histogram).collect())
}
