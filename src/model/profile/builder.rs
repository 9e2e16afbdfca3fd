//! Builds a [`Profile`].

use super::aggregates::AggregateIndex;
use super::samples::MAX_THREADS;
use super::{
    Code, FrameId, FrameKind, LabelsId, MemoryCurve, Mode, Profile, ProfileFrame, ProfileMetadatum,
    ProfileNotes, ProfileSample, ProfileThread, SampleLabel, SortedStacks, StackId, StackIndex,
    StackTree, TaskChange, TaskEvent, ThreadId, TimedEvent, Unit, ValueType, Values,
};
use crate::model::names::NameId;
use rustc_hash::FxHashMap;

/// Builds a [`Profile`] from samples that arrive one by one. A sample takes constant memory beyond
/// its stack, or none if samples are not kept.
#[derive(Debug)]
pub struct ProfileBuilder {
    profile: Profile,
    keep_samples: bool,
    frames: FxHashMap<ProfileFrame, FrameId>,
    /// A mark for the kind of each frame.
    marks: Vec<u8>,
    children: StackIndex,
    threads: FxHashMap<ProfileThread, ThreadId>,
    labels: FxHashMap<Box<[SampleLabel]>, LabelsId>,
    rows: AggregateIndex,
    /// The kinds of frames in each stack, and their number.
    shapes: Shapes,
    /// Frames were left out of the stack that is being pushed.
    cut: bool,
}

/// The facts about each stack.
#[derive(Debug)]
struct Shapes(Vec<u32>);

impl Shapes {
    #[inline]
    fn of(&self, stack: StackId) -> Shape {
        Shape(self.0[stack.index()])
    }
}

/// Facts about a stack: a mark for each kind of frame in it, and above the marks the number of
/// frames.
#[derive(Clone, Copy, Debug)]
struct Shape(u32);

impl Shape {
    const FRAME: u32 = 8;

    #[inline]
    fn kinds(self) -> u8 {
        (self.0 % Self::FRAME) as u8
    }

    #[inline]
    fn depth(self) -> u32 {
        self.0 / Self::FRAME
    }

    #[inline]
    fn with(self, mark: u8) -> Self {
        Self((self.0 | u32::from(mark)) + Self::FRAME)
    }
}

impl ProfileNotes {
    /// Counts samples of a stack that is empty or marked as unreliable.
    #[inline]
    fn count(&mut self, shape: Shape, samples: u64) {
        let (empty, invalid) = (shape.kinds() & !INVALID == 0, shape.kinds() & INVALID != 0);
        self.empty_samples = self.empty_samples.saturating_add(if empty { samples } else { 0 });
        self.invalid_samples =
            self.invalid_samples.saturating_add(if invalid { samples } else { 0 });
    }
}

const CODE: u8 = 1;
const INVALID: u8 = 2;
const OTHER: u8 = 4;

fn mark(kind: FrameKind) -> u8 {
    match kind {
        FrameKind::Code | FrameKind::Native => CODE,
        FrameKind::Invalid => INVALID,
        FrameKind::Kernel | FrameKind::Gc => OTHER,
    }
}

impl ProfileBuilder {
    /// Creates an empty profile. Without `keep_samples`, only sums are kept.
    pub fn new(keep_samples: bool) -> Self {
        Self {
            profile: Profile { samples: keep_samples.then(Default::default), ..Profile::default() },
            keep_samples,
            frames: FxHashMap::default(),
            marks: Vec::new(),
            children: StackIndex::default(),
            threads: FxHashMap::default(),
            labels: FxHashMap::default(),
            rows: AggregateIndex::default(),
            shapes: Shapes(vec![0]),
            cut: false,
        }
    }

    /// Returns the number of a name. Bytes that are not UTF-8 become U+FFFD.
    pub fn name(&mut self, text: &[u8]) -> NameId {
        match std::str::from_utf8(text) {
            Ok(text) => self.profile.names.intern(text),
            Err(_) => {
                self.profile.notes.replaced += 1;
                self.profile.names.intern_bytes(text)
            }
        }
    }

    /// The text of a name.
    pub fn text(&self, name: NameId) -> &str {
        self.profile.names.text(name)
    }

    /// Returns the number of a frame, and adds the frame if it is new.
    pub fn frame(&mut self, frame: ProfileFrame) -> FrameId {
        let (frames, marks) = (&mut self.profile.frames, &mut self.marks);
        *self.frames.entry(frame).or_insert_with(|| {
            marks.push(mark(frame.kind));
            frames.push(frame);
            FrameId(frames.len() as u32 - 1)
        })
    }

    /// Records the generated name of a frame's function, if it differs from its name.
    pub fn was_called(&mut self, frame: ProfileFrame, generated: &str) {
        let names = &mut self.profile.names;
        if generated.is_empty() || names.text(frame.function) == generated {
            return;
        }
        let generated = names.intern(generated);
        self.profile.generated.entry((frame.function, frame.file)).or_insert(generated);
    }

    /// Adds a frame, even if there is an equal one.
    pub fn new_frame(&mut self, frame: ProfileFrame) -> FrameId {
        self.marks.push(mark(frame.kind));
        self.profile.frames.push(frame);
        FrameId(self.profile.frames.len() as u32 - 1)
    }

    /// The places of frames in machine code.
    pub fn code(&mut self) -> &mut Option<Code> {
        &mut self.profile.code
    }

    /// The frame with a number.
    pub fn definition(&self, frame: FrameId) -> ProfileFrame {
        self.profile.frame(frame)
    }

    /// Whether all frames of a stack are code, native or not.
    pub fn is_code_only(&self, stack: StackId) -> bool {
        self.shapes.of(stack).kinds() & !CODE == 0
    }

    /// Converts a line that may be negative or too large for the column.
    pub fn line(&mut self, line: i128) -> u32 {
        u32::try_from(line).unwrap_or_else(|_| {
            self.profile.notes.clamped += 1;
            if line < 0 { 0 } else { u32::MAX }
        })
    }

    /// Converts a metric that may be too large for the column.
    pub fn metric(&mut self, metric: i128) -> i64 {
        i64::try_from(metric).unwrap_or_else(|_| {
            self.profile.notes.clamped += 1;
            if metric < 0 { i64::MIN } else { i64::MAX }
        })
    }

    /// The stack of a frame that is called from another stack.
    #[inline]
    pub fn push(&mut self, stack: StackId, frame: FrameId) -> StackId {
        if self.shapes.of(stack).depth() == StackTree::DEEPEST {
            self.cut = true;
            return stack;
        }
        let child = self.profile.stacks.child(&mut self.children, stack, frame).0;
        if child.index() == self.shapes.0.len() {
            self.shapes.0.push(self.shapes.of(stack).with(self.marks[frame.index()]).0);
        }
        child
    }

    /// Like [`ProfileBuilder::push`] for several frames, outermost first.
    #[inline]
    pub fn push_all(&mut self, stack: StackId, frames: &[FrameId]) -> StackId {
        frames.iter().fold(stack, |stack, &frame| self.push(stack, frame))
    }

    /// Adds sums of one of the stacks that [`ProfileBuilder::set_stacks`] will set, by its row.
    pub fn add_row(&mut self, thread: ThreadId, row: u32, values: &Values) {
        self.profile.total.add(values);
        self.profile.aggregate.add(&mut self.rows, thread, StackId(row), values);
    }

    /// Sets all stacks, once all sums have been added with [`ProfileBuilder::add_row`].
    pub fn set_stacks(&mut self, sorted: &SortedStacks<'_>) {
        let marks = &self.marks;
        let with = |shape, frame: FrameId| Shape(shape).with(marks[frame.index()]).0;
        let (stacks, shapes) = sorted.tree(with);
        (self.profile.stacks, self.shapes) = (stacks, Shapes(shapes));
        let numbers = sorted.numbers();
        self.profile.aggregate.move_stacks(|_, row| numbers[row.index()]);
        for row in self.profile.aggregate.iter() {
            self.profile.notes.count(self.shapes.of(row.stack), row.values.samples());
        }
    }

    /// Whether frames were left out of the stack that is being pushed, because it has
    /// [`StackTree::DEEPEST`].
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Ends a stack, and counts it if frames were dropped from it.
    #[inline]
    pub fn count_cut(&mut self) {
        self.profile.notes.deep += u64::from(std::mem::take(&mut self.cut));
    }

    /// The stacks so far.
    pub fn stacks(&self) -> &super::StackTree {
        &self.profile.stacks
    }

    /// Returns the approximate memory of the profile in bytes, including its lookup tables.
    #[inline]
    pub fn bytes(&self) -> u64 {
        let profile = &self.profile;
        // Columns and tables grow by doubling, so on average their capacity is one and a half times
        // what they use.
        let rows = [
            (profile.stacks.len(), 28),
            (profile.aggregate.len(), 40),
            (profile.samples.as_ref().map_or(0, super::Samples::len), 24),
            (profile.tasks.len(), 40),
            (profile.events.len(), 60),
            (profile.frames.len(), 160),
            (profile.names.len(), 150),
            (profile.threads.len(), 400),
            (profile.metadata.len(), 120),
            (profile.curve.as_ref().map_or(0, |curve| curve.points.len()), 24),
        ];
        rows.iter().map(|&(count, bytes)| count as u64 * bytes).sum()
    }

    /// Returns the number of a thread, and adds the thread if it is new.
    pub fn thread(&mut self, pid: i128, interpreter: Option<i128>, name: NameId) -> ThreadId {
        self.labelled_thread(ProfileThread { pid, interpreter, name, labels: LabelsId::default() })
    }

    /// Like [`ProfileBuilder::thread`], for samples with labels.
    pub fn labelled_thread(&mut self, thread: ProfileThread) -> ThreadId {
        let threads = &mut self.profile.threads;
        if threads.len() == MAX_THREADS {
            return ThreadId(MAX_THREADS as u32 - 1);
        }
        *self.threads.entry(thread).or_insert_with(|| {
            threads.push(thread);
            ThreadId(threads.len() as u32 - 1)
        })
    }

    /// Returns the number of a set of labels. Equal sets must have their labels in the same order.
    pub fn labels(&mut self, labels: &[SampleLabel]) -> LabelsId {
        if labels.is_empty() {
            return LabelsId::default();
        }
        if let Some(&known) = self.labels.get(labels) {
            return known;
        }
        self.profile.labels.push(labels.into());
        let id = LabelsId(self.profile.labels.len() as u32);
        self.labels.insert(labels.into(), id);
        id
    }

    /// Appends a key and value pair. The last `mode` is the profile's.
    pub fn metadata(&mut self, key: &[u8], value: &[u8]) {
        let mut text = |bytes: &[u8]| {
            self.profile.notes.replaced += u64::from(std::str::from_utf8(bytes).is_err());
            String::from_utf8_lossy(bytes).into_owned()
        };
        let (key, value) = (text(key), text(value));
        if key == "mode" {
            self.profile.mode = Mode::of(&value);
        }
        let before = self.profile.total.samples();
        self.profile.metadata.push(ProfileMetadatum { key, value, before });
    }

    /// Appends a sample.
    #[inline]
    pub fn sample(&mut self, sample: &ProfileSample) {
        let values = Values::of_sample(sample);
        let profile = &mut self.profile;
        profile.notes.count(self.shapes.of(sample.stack), 1);
        profile.notes.without_metric += u64::from(sample.time.is_none() && sample.memory.is_none());
        profile.total.add(&values);
        if let Some(samples) = &mut profile.samples {
            samples.push(sample);
        }
        profile.aggregate.add(&mut self.rows, sample.thread, sample.stack, &values);
    }

    /// Adds sums without samples.
    pub fn add(&mut self, thread: ThreadId, stack: StackId, values: &Values) {
        let profile = &mut self.profile;
        profile.notes.count(self.shapes.of(stack), values.samples());
        profile.total.add(values);
        profile.aggregate.add(&mut self.rows, thread, stack, values);
    }

    /// Appends an event, in addition to its sums, if samples are kept.
    #[inline]
    pub fn event(&mut self, event: TimedEvent) {
        if self.keep_samples {
            self.profile.events.push(event);
        }
    }

    /// Adds the numbers of a sample. If its start and duration are known, both in microseconds,
    /// also appends them like [`ProfileBuilder::event`].
    pub fn timed(
        &mut self,
        time: Option<(i64, i64)>,
        thread: ThreadId,
        stack: StackId,
        (samples, values): (u64, &[i64]),
    ) {
        self.add(thread, stack, &Values::of_types(samples, values));
        let Some((start, length)) = time else { return };
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let mut samples = u16::try_from(samples).unwrap_or(u16::MAX);
        for (metric, &value) in (0u16..).zip(values) {
            if value != 0 {
                self.event(TimedEvent { start, length, thread, stack, metric, samples, value });
                samples = 0;
            }
        }
    }

    /// Makes the start of the first event the start of the recording.
    pub fn begin_with_first_event(&mut self) {
        let events = &mut self.profile.events;
        let first = events.iter().map(|event| event.start).min().unwrap_or(0);
        events.iter_mut().for_each(|event| event.start = event.start.saturating_sub(first));
    }

    /// Sets the unit and the meaning of [`ProfileBuilder::curve_point`].
    pub fn set_curve(&mut self, time: Unit, note: &'static str) {
        self.profile.curve = Some(MemoryCurve { time, note, points: Vec::new() });
    }

    /// Appends the bytes in use at a time. Points with equal times keep their order.
    pub fn curve_point(&mut self, time: u64, bytes: u64) {
        if let Some(curve) = &mut self.profile.curve {
            curve.points.push((time, bytes));
        }
    }

    /// Sets the mode, for formats that have no metadata.
    pub fn set_mode(&mut self, mode: Mode) {
        self.profile.mode = mode;
    }

    /// Sets the value types of the profile and the main one among them. The values of
    /// [`ProfileBuilder::add`] are then [`Values::of_types`].
    pub fn set_value_types(&mut self, types: Vec<ValueType>, main: usize) {
        self.profile.mode = Mode::Samples;
        (self.profile.value_types, self.profile.default_value) = (types, main);
        // Single samples have standard numbers; numbers of other value types are events.
        self.profile.samples = None;
    }

    /// Like [`ProfileBuilder::set_value_types`], for profiles whose samples are events of several
    /// kinds: see [`Profile::has_separate_values`].
    pub fn set_separate_values(&mut self, types: Vec<ValueType>, main: usize) {
        self.set_value_types(types, main);
        self.profile.has_separate_values = true;
    }

    /// Appends an event of an asyncio task.
    pub fn task(&mut self, task: u64, change: TaskChange) {
        self.profile.notes.task_events += 1;
        if self.keep_samples {
            self.profile.tasks.push(TaskEvent {
                before: self.profile.total.samples(),
                task,
                change,
            });
        }
    }

    /// The notes so far.
    pub fn notes(&mut self) -> &mut ProfileNotes {
        &mut self.profile.notes
    }

    /// Returns the finished profile.
    pub fn finish(mut self) -> Profile {
        self.profile.events.sort_unstable();
        if let Some(curve) = &mut self.profile.curve {
            curve.points.sort_by_key(|point| point.0);
        }
        self.profile
    }
}
