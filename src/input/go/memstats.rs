//! The statistics of the allocator: tag 10.

use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::FieldSink;

const PAUSES: usize = 256;
const SINGLE: usize = 24;

/// Names of the numbers before the ring of pauses, as in `runtime.MemStats`, for JSON and in
/// `snake_case`.
const NAMES: [(&str, &str); SINGLE] = [
    ("Alloc", "alloc"),
    ("TotalAlloc", "total_alloc"),
    ("Sys", "sys"),
    ("Lookups", "lookups"),
    ("Mallocs", "mallocs"),
    ("Frees", "frees"),
    ("HeapAlloc", "heap_alloc"),
    ("HeapSys", "heap_sys"),
    ("HeapIdle", "heap_idle"),
    ("HeapInuse", "heap_inuse"),
    ("HeapReleased", "heap_released"),
    ("HeapObjects", "heap_objects"),
    ("StackInuse", "stack_inuse"),
    ("StackSys", "stack_sys"),
    ("MSpanInuse", "mspan_inuse"),
    ("MSpanSys", "mspan_sys"),
    ("MCacheInuse", "mcache_inuse"),
    ("MCacheSys", "mcache_sys"),
    ("BuckHashSys", "buck_hash_sys"),
    ("GCSys", "gc_sys"),
    ("OtherSys", "other_sys"),
    ("NextGC", "next_gc"),
    ("LastGC", "last_gc"),
    ("PauseTotalNs", "pause_total_ns"),
];

/// The numbers, which are decoded when they are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memstats<'a> {
    encoded: &'a [u8],
}

impl<'a> Memstats<'a> {
    /// Skips the numbers after the tag, and returns them. No count precedes the ring of pauses,
    /// which always has 256 entries.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let encoded = cursor.span(|cursor| {
            (0..=SINGLE + PAUSES)
                .try_for_each(|_| cursor.uleb128("the memory statistics").map(drop))
        })?;
        Ok(Self { encoded })
    }

    /// All 281 numbers in the order of the file.
    fn numbers(&self) -> impl Iterator<Item = u64> + use<'a> {
        let mut cursor = Cursor::new(self.encoded, 0);
        std::iter::from_fn(move || cursor.uleb128("the memory statistics").ok())
    }

    /// Go's own names with their numbers, without the ring of pauses.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let single = NAMES.iter().map(|(name, _)| *name).zip(self.numbers());
        single.chain(std::iter::once(("NumGC", self.num_gc())))
    }

    /// The number with a name, as in `runtime.MemStats`. 0 if there is none.
    pub fn get(&self, name: &str) -> u64 {
        self.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| value)
    }

    /// The number of completed garbage collections.
    pub fn num_gc(&self) -> u64 {
        self.numbers().nth(SINGLE + PAUSES).unwrap_or_default()
    }

    /// The ring of pauses, in nanoseconds. The latest is at `(NumGC + 255) % 256`.
    pub fn pauses(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.numbers().skip(SINGLE).take(PAUSES)
    }

    pub(super) fn pass_to<S: FieldSink>(&self, sink: &mut S) {
        for ((_, name), value) in NAMES.iter().zip(self.numbers()) {
            sink.unsigned(name, value);
        }
        if sink.wants_contents() {
            sink.list("pause_ns", self.pauses(), |pause, sink| sink.unsigned("ns", pause));
        }
        sink.unsigned("num_gc", self.num_gc());
    }
}
