//! Profiles: threads, stacks, and the samples or sums measured in them.
//!
//! A [`Profile`] interns frames, and keeps stacks as a [`StackTree`]: a stack is its caller's stack
//! and one more frame. [`Aggregates`] holds the sums of each thread in each stack; [`Samples`]
//! holds single samples, if they were kept. A [`Metric`] selects one of the [`Values`] that are
//! summed up. [`ProfileBuilder`] builds a profile.

mod aggregates;
mod builder;
mod call_graph;
mod code;
mod column;
mod curve;
mod label_roots;
mod narrowed;
#[cfg(feature = "symbols")]
mod replace;
mod samples;
mod stack_tree;
pub(crate) mod thread;
mod unit;
mod values;
mod whole_stacks;

pub use aggregates::{Aggregate, Aggregates};
pub use builder::ProfileBuilder;
pub(crate) use call_graph::CallIndex;
pub use call_graph::{Call, CallGraph};
pub use code::{Code, CodePlace, Mapping};
pub(crate) use column::ValueColumns;
pub use curve::MemoryCurve;
pub(crate) use narrowed::Narrowed;
#[cfg(feature = "symbols")]
pub(crate) use replace::FrameGroups;
pub use samples::{ProfileSample, Samples, TimedEvent};
pub(crate) use stack_tree::StackIndex;
pub use stack_tree::{StackId, StackTree};
pub use thread::{LabelValue, LabelsId, ProfileThread, SampleLabel, ThreadId};
pub use unit::Unit;
pub(crate) use values::add_all;
pub use values::{Metric, StandardSums, ValueType, Values};
pub use whole_stacks::{SortedStacks, WholeStacks};

use super::named::named;
use super::names::{NameId, Names};
use rustc_hash::FxHashMap;

/// A frame of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u32);

impl FrameId {
    /// Returns the id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

named! {
    /// The kind of code that a frame represents.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum FrameKind {
        /// A position in a program that is interpreted or whose sources are known.
        #[default]
        Code = "code",
        /// Machine code outside the interpreted program. The line may be an offset inside the
        /// function.
        Native = "native",
        /// A function of the operating system's kernel.
        Kernel = "kernel",
        /// The garbage collector, in formats for which it is a frame. MOJO marks samples instead:
        /// [`ProfileSample::gc`].
        Gc = "gc",
        /// The profiler could not unwind the stack, or not all of it.
        Invalid = "invalid",
    }
    /// The name in JSON.
    pub fn name
}

/// One element of a stack. Frames with equal fields are one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProfileFrame {
    /// The function, or the symbol of a kernel frame; empty for frames that are not functions.
    pub function: NameId,
    /// The source file of the function, or a substitute; may be empty.
    pub file: NameId,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The kind of the frame.
    pub kind: FrameKind,
}

named! {
    /// The profiler's mode, as the file names it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Mode {
        /// Wall time.
        #[default]
        Wall = "wall",
        /// CPU time: samples of idle threads were left out by the profiler.
        Cpu = "cpu",
        /// Changes of the memory in use.
        Memory = "memory",
        /// Wall time, idle marks and memory.
        Full = "full",
        /// Only the number of times that stacks were seen.
        Samples = "samples",
    }
    /// The name in files and in JSON.
    pub fn name
}

impl Mode {
    /// Parses a mode name from the file. Unknown modes count as wall time.
    pub fn of(name: &str) -> Self {
        match name {
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            "full" => Self::Full,
            _ => Self::Wall,
        }
    }

    /// Returns the metrics of the mode, the main metric first, in a profile with these sums.
    pub fn metrics(self, total: &Values) -> Vec<Metric> {
        let mut metrics = match self {
            Self::Wall => vec![Metric::TIME],
            Self::Cpu => vec![Metric::CPU],
            Self::Memory => vec![Metric::MEMORY_GAINED, Metric::MEMORY_FREED],
            Self::Full => {
                vec![Metric::TIME, Metric::CPU, Metric::MEMORY_GAINED, Metric::MEMORY_FREED]
            }
            Self::Samples => Vec::new(),
        };
        metrics.push(Metric::SAMPLES);
        if total.gc_samples() > 0 {
            metrics.push(Metric::GC);
        }
        metrics
    }
}

/// A key and value pair of metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileMetadatum {
    /// The key; keys may repeat.
    pub key: String,
    /// The value.
    pub value: String,
    /// The number of samples before it in the file.
    pub before: u64,
}

/// An event of an asyncio task, with its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskEvent {
    /// The number of samples before it in the file. It lies inside the sample with this number,
    /// which has already begun.
    pub before: u64,
    /// The number of the task, which may be used again after the task is gone.
    pub task: u64,
    /// The change of the task's state.
    pub change: TaskChange,
}

/// An event of an asyncio task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskChange {
    /// The task is suspended in this stack. The empty stack means that the task has ended.
    Stack {
        /// The task's name. Empty if an earlier sample of the task has stated it.
        name: NameId,
        /// The stack in which the task waits.
        stack: StackId,
    },
    /// The other task that awaits this one; 0 if no task does any more.
    Waiter(u64),
    /// The thread of the sample was executing the task.
    Running,
}

/// Counts of data that was changed or dropped during loading, which users should know about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileNotes {
    /// Names that were not UTF-8 and got U+FFFD.
    pub replaced: u64,
    /// Keys that the file defines nowhere, shown as `<unresolved>`.
    pub unresolved: u64,
    /// Samples without frames, or with invalid ones only.
    pub empty_samples: u64,
    /// Samples in which a frame is [`FrameKind::Invalid`].
    pub invalid_samples: u64,
    /// Samples with neither a time nor a change of memory. A truncated file ends with one.
    pub without_metric: u64,
    /// Frames and metrics outside samples.
    pub strays: u64,
    /// Last lines and columns of frames, which are not stored.
    pub ranges: u64,
    /// Events of asyncio tasks.
    pub task_events: u64,
    /// Stacks of more than [`StackTree::DEEPEST`] frames, of which only the outermost frames are
    /// kept. Counts samples of MOJO, and distinct stacks of other formats.
    pub deep: u64,
    /// Lines, times and changes of memory that did not fit into their columns and were set to the
    /// maximum.
    pub clamped: u64,
    /// Samples without the frames that the profile asks to drop.
    pub dropped: u64,
    /// 1 if the profile asks to drop frames by a rule that cannot be applied.
    pub unapplied: u64,
}

/// A profile. [`ProfileBuilder`] makes it.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// All strings of the profile.
    pub names: Names,
    /// The frames, indexed by [`FrameId`].
    pub frames: Vec<ProfileFrame>,
    /// The generated names of functions that have other names in their source, by function and
    /// file.
    pub generated: FxHashMap<(NameId, NameId), NameId>,
    /// The stacks, indexed by [`StackId`].
    pub stacks: StackTree,
    /// The threads, indexed by [`ThreadId`], in order of appearance.
    pub threads: Vec<ProfileThread>,
    /// Sets of labels by [`LabelsId`], without the empty set, which has the id 0.
    pub labels: Vec<Box<[SampleLabel]>>,
    /// The samples in the order of the file, if samples are kept.
    pub samples: Option<Samples>,
    /// The events in the order of time, if samples are kept: only with
    /// [`Profile::has_separate_values`].
    pub events: Vec<TimedEvent>,
    /// The sums of each thread in each of its stacks, in the order in which they first appear.
    pub aggregate: Aggregates,
    /// The sums of all samples.
    pub total: Values,
    /// The value types that the file names. Empty if the profile has the standard types of its
    /// mode.
    pub value_types: Vec<ValueType>,
    /// The index of the default value type.
    pub default_value: usize,
    /// Whether samples are events of several kinds, each of which has numbers only for its own
    /// value types: a CPU sample is not an allocation sample. Events without a number for a metric
    /// do not count as samples of it.
    pub has_separate_values: bool,
    /// The metadata, in file order.
    pub metadata: Vec<ProfileMetadatum>,
    /// The places of frames in machine code, if the format has them and they are kept.
    pub code: Option<Code>,
    /// The calls between functions, if the file has them instead of stacks.
    pub calls: Option<CallGraph>,
    /// The quantity that was measured.
    pub mode: Mode,
    /// Events of asyncio tasks, if samples are kept.
    pub tasks: Vec<TaskEvent>,
    /// The memory over time, if the format has it.
    pub curve: Option<MemoryCurve>,
    /// Counts of data that was changed or dropped during loading.
    pub notes: ProfileNotes,
}

impl Profile {
    /// Returns a frame.
    pub fn frame(&self, frame: FrameId) -> ProfileFrame {
        self.frames[frame.index()]
    }

    /// Renames files. Several files may get the same name.
    pub fn rename_files(&mut self, rename: impl Fn(&str) -> Option<String>) {
        let renamed = self.rename(|frame| &mut frame.file, rename);
        let file = |file| renamed.get(&file).copied().unwrap_or(file);
        let generated = std::mem::take(&mut self.generated).into_iter();
        self.generated = generated.map(|((name, old), own)| ((name, file(old)), own)).collect();
    }

    /// Renames functions. Several functions may get the same name.
    pub fn rename_functions(&mut self, rename: impl Fn(&str) -> Option<String>) {
        let renamed = self.rename(|frame| &mut frame.function, rename);
        let name = |name| renamed.get(&name).copied().unwrap_or(name);
        let generated = std::mem::take(&mut self.generated).into_iter();
        self.generated = generated.map(|((old, file), own)| ((name(old), file), own)).collect();
    }

    /// Renames a part of all frames. Returns the new names.
    fn rename(
        &mut self,
        part: impl Fn(&mut ProfileFrame) -> &mut NameId,
        rename: impl Fn(&str) -> Option<String>,
    ) -> FxHashMap<NameId, NameId> {
        let mut renamed: FxHashMap<NameId, NameId> = FxHashMap::default();
        for frame in &mut self.frames {
            let part = part(frame);
            *part = *renamed.entry(*part).or_insert_with(|| {
                let name = rename(self.names.text(*part));
                name.map_or(*part, |name| self.names.intern(&name))
            });
        }
        renamed
    }

    /// The generated name of a function, if it differs from the name in its source.
    pub fn generated_name(&self, function: &str, file: &str) -> Option<&str> {
        let key = (self.names.find(function)?, self.names.find(file)?);
        self.generated.get(&key).map(|name| self.names.text(*name))
    }

    /// Returns a thread.
    pub fn thread(&self, thread: ThreadId) -> &ProfileThread {
        &self.threads[thread.index()]
    }

    /// The labels of the samples of a thread.
    pub fn labels_of(&self, thread: &ProfileThread) -> &[SampleLabel] {
        let number = (thread.labels.0 as usize).checked_sub(1);
        number.and_then(|number| self.labels.get(number)).map_or(&[], |labels| labels)
    }

    /// Whether single samples or events were kept, in the order of time.
    pub fn has_times(&self) -> bool {
        self.samples.is_some() || !self.events.is_empty()
    }

    /// Whether two adjacent events are numbers of one sample.
    pub(crate) fn is_one_sample(&self, one: &TimedEvent, other: &TimedEvent) -> bool {
        let place = |event: &TimedEvent| (event.start, event.length, event.thread, event.stack);
        !self.has_separate_values && place(one) == place(other)
    }

    /// The function's name for display, including `<invalid>`, `<gc>` and a text for empty names.
    pub fn function_name(&self, frame: FrameId) -> &str {
        let frame = self.frame(frame);
        display_name(frame.kind, self.names.text(frame.function))
    }

    /// Whether only the program or library of a frame is known, or only its address.
    pub fn is_unnamed(&self, frame: ProfileFrame) -> bool {
        let (name, file) = (self.names.text(frame.function), self.names.text(frame.file));
        frame.kind == FrameKind::Native
            && match file {
                "" => name.starts_with("0x") || name == "[unknown]",
                file => name.as_bytes() == library_name(file.as_bytes()),
            }
    }

    /// The last value of a metadata key.
    pub fn metadatum(&self, key: &str) -> Option<&str> {
        self.metadata
            .iter()
            .rev()
            .find(|metadatum| metadatum.key == key)
            .map(|metadatum| metadatum.value.as_str())
    }

    /// The sampling interval in microseconds, if the file states it.
    pub fn interval_us(&self) -> Option<u64> {
        if self.value_types.is_empty() {
            return self.metadatum("interval")?.trim().parse().ok();
        }
        let (_, unit) = self.metadatum("period_type")?.split_once(' ')?;
        let period: u64 = self.metadatum("period")?.parse().ok()?;
        Some(period.saturating_mul(Unit::named(unit).nanoseconds()?) / 1000)
    }

    /// The duration of the recording in microseconds, if the file states it.
    pub fn duration_us(&self) -> Option<u64> {
        if let Some(nanoseconds) = self.metadatum("duration_nanos") {
            return Some(nanoseconds.parse::<u64>().ok()? / 1000);
        }
        self.metadatum("duration")?.trim().parse().ok()
    }

    /// The metrics, the main one first: the value types of the file, or those of the mode.
    pub fn metrics(&self) -> Vec<Metric> {
        if !self.value_types.is_empty() {
            let mut metrics = self.metrics_of_file();
            let main = self.default_value.min(metrics.len() - 1);
            metrics[..=main].rotate_right(1);
            return metrics;
        }
        self.mode.metrics(&self.total)
    }

    /// Like [`Profile::metrics`], but value types in the order of the file.
    pub fn metrics_in_order(&self) -> Vec<Metric> {
        if self.value_types.is_empty() { self.metrics() } else { self.metrics_of_file() }
    }

    /// The metrics of the file's own value types, in its order.
    fn metrics_of_file(&self) -> Vec<Metric> {
        self.value_types
            .iter()
            .enumerate()
            .map(|(number, type_)| Metric::of_type(type_, number))
            .collect()
    }

    /// The metric to use if none is named.
    pub fn default_metric(&self) -> Metric {
        self.metrics().swap_remove(0)
    }

    /// The metric of tables if none is named.
    pub fn shown_metric(&self) -> Metric {
        self.default_metric().shown()
    }

    /// The metric with this name: one of the file's, or a standard one, for which the profile may
    /// have no numbers. `-` and `_` can replace each other, unless another metric has the name.
    pub fn metric(&self, name: &str) -> Option<Metric> {
        let is_standard = self.value_types.is_empty();
        let mut metrics =
            if is_standard { Metric::STANDARD.to_vec() } else { self.metrics_of_file() };
        let alike = |metric: &Metric| metric.name().replace('-', "_") == name.replace('-', "_");
        let exact = metrics.iter().position(|metric| metric.name() == name);
        let row = exact.or_else(|| metrics.iter().position(alike))?;
        Some(metrics.swap_remove(row))
    }

    /// All metrics that can be selected: those for which the profile has numbers.
    pub fn metrics_to_choose(&self) -> Vec<Metric> {
        if !self.value_types.is_empty() {
            return self.metrics_of_file();
        }
        let (total, mode) = (&self.total, self.mode);
        let has_time = !matches!(mode, Mode::Memory | Mode::Samples) || total.time() != 0;
        let has_cpu = matches!(mode, Mode::Cpu | Mode::Full) || total.idle_samples() > 0;
        let measured = matches!(mode, Mode::Memory | Mode::Full);
        let has_memory = measured || total.memory_gained() > 0 || total.memory_freed() > 0;
        let has =
            [has_time, has_cpu, has_memory, has_memory, has_memory, true, total.gc_samples() > 0];
        Metric::STANDARD
            .into_iter()
            .zip(has)
            .filter(|(_, has)| *has)
            .map(|(metric, _)| metric)
            .collect()
    }
}

/// The name of a frame of which only the file is known: `[libm.so.6]`. Files without a path, such
/// as `[vdso]`, keep their own name.
pub(crate) fn library_name(file: &[u8]) -> Vec<u8> {
    let name = file.rsplit(|byte| *byte == b'/').next().unwrap_or(file);
    if name.starts_with(b"[") { name.to_vec() } else { [b"[", name, b"]"].concat() }
}

/// The name to show for a function: an empty name would leave a hole in tables and graphs.
pub fn display_name(kind: FrameKind, name: &str) -> &str {
    match kind {
        FrameKind::Invalid => "<invalid>",
        FrameKind::Gc => "<gc>",
        _ if name.is_empty() => "<unnamed>",
        _ => name,
    }
}
