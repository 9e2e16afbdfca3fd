//! The samples of a profile in columns: 12 bytes each, and 4 more where times and memory were both
//! measured.

use super::{StackId, ThreadId};
use rustc_hash::FxHashMap;

/// One sample of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileSample {
    /// The sampled thread.
    pub thread: ThreadId,
    /// The stack of the thread.
    pub stack: StackId,
    /// Microseconds since the previous sampling of the process.
    pub time: Option<i64>,
    /// Change of the memory in use, in bytes.
    pub memory: Option<i64>,
    /// Whether the thread was not running.
    pub idle: bool,
    /// Whether the garbage collector was running.
    pub gc: bool,
}

/// A number of a sample or event, with its time. The numbers of one sample have the same time, thread
/// and stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimedEvent {
    /// The start of the event, in microseconds from the start of the recording.
    pub start: i64,
    /// The duration of the event in microseconds.
    pub length: u32,
    /// The thread.
    pub thread: ThreadId,
    /// The stack of the thread.
    pub stack: StackId,
    /// The number of the value type of [`TimedEvent::value`].
    pub metric: u16,
    /// The number of samples in this row: 0 if the count belongs to another value of the same
    /// sample.
    pub samples: u16,
    /// The number.
    pub value: i64,
}

/// Samples in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// The thread in the low 29 bits, and marks in the high bits.
    thread: Vec<u32>,
    stack: Vec<StackId>,
    time: Deltas,
    memory: Deltas,
}

const IDLE: u32 = 1 << 31;
const GC: u32 = 1 << 30;
/// The mark of a sample with neither a time nor memory.
const BARE: u32 = 1 << 29;

pub(super) const MAX_THREADS: usize = BARE as usize;

impl Samples {
    /// Appends a sample.
    pub fn push(&mut self, sample: &ProfileSample) {
        let row = self.len();
        let mark = |set: bool, mark: u32| if set { mark } else { 0 };
        let bare = sample.time.is_none() && sample.memory.is_none();
        self.thread.push(
            (sample.thread.0 % BARE)
                | mark(sample.idle, IDLE)
                | mark(sample.gc, GC)
                | mark(bare, BARE),
        );
        self.stack.push(sample.stack);
        self.time.set(row, sample.time);
        self.memory.set(row, sample.memory);
    }

    /// Moves every sample to another stack.
    #[cfg(feature = "symbols")]
    pub(super) fn move_stacks(&mut self, moved: impl Fn(StackId) -> StackId) {
        self.stack.iter_mut().for_each(|stack| *stack = moved(*stack));
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.stack.len()
    }

    /// Returns the sample in a row, in the order of the file.
    #[inline]
    pub fn get(&self, row: usize) -> ProfileSample {
        let thread = self.thread[row];
        let bare = thread & BARE != 0;
        ProfileSample {
            thread: ThreadId(thread % BARE),
            stack: self.stack[row],
            time: if bare { None } else { self.time.get(row) },
            memory: if bare { None } else { self.memory.get(row) },
            idle: thread & IDLE != 0,
            gc: thread & GC != 0,
        }
    }

    /// Returns all samples, in file order.
    pub fn iter(&self) -> impl Iterator<Item = ProfileSample> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }
}

/// Signed numbers that are nearly always small. Either nearly all rows have one or none has: a
/// column without numbers takes no memory.
#[derive(Clone, Debug, Default)]
struct Deltas {
    low: Vec<i32>,
    /// Values that do not fit; their low value is [`WIDE`].
    wide: FxHashMap<u32, i64>,
}

const ABSENT: i32 = i32::MIN;
/// Marks a number that is stored in the list of wide numbers.
const WIDE: i32 = i32::MIN + 1;

impl Deltas {
    fn set(&mut self, row: usize, value: Option<i64>) {
        let Some(value) = value else {
            // Absent rows at the end need no storage.
            return;
        };
        if self.low.len() < row {
            self.low.resize(row, ABSENT);
        }
        let low = i32::try_from(value).ok().filter(|low| *low > WIDE).unwrap_or(WIDE);
        if low == WIDE {
            self.wide.insert(row as u32, value);
        }
        self.low.push(low);
    }

    #[inline]
    fn get(&self, row: usize) -> Option<i64> {
        match *self.low.get(row)? {
            ABSENT => None,
            WIDE => self.wide.get(&(row as u32)).copied(),
            low => Some(low.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn samples_come_back(
            rows in prop::collection::vec(
                (0u32..5, any::<u32>(), any::<Option<i64>>(), any::<Option<i32>>(), any::<bool>(), any::<bool>()),
                0..50,
            )
        ) {
            let expected: Vec<_> = rows
                .into_iter()
                .map(|(thread, stack, time, memory, idle, gc)| ProfileSample {
                    thread: ThreadId(thread),
                    stack: StackId(stack),
                    time,
                    memory: memory.map(i64::from),
                    idle,
                    gc,
                })
                .collect();
            let mut samples = Samples::default();
            expected.iter().for_each(|sample| samples.push(sample));
            prop_assert_eq!(samples.iter().collect::<Vec<_>>(), expected);
        }
    }
}
