//! Several profiles merged into one.

use crate::model::names::NameId;
use crate::model::profile::{
    Code, CodePlace, FrameId, LabelValue, LabelsId, Mapping, Metric, Profile, ProfileBuilder,
    ProfileFrame, ProfileMetadatum, ProfileThread, SampleLabel, StackId, ThreadId, Values,
};
use rustc_hash::FxHashMap;

/// The sum of profiles with the same metrics. It has sums only, no single samples.
///
/// Recording times add up and the earliest start is kept, as in `go tool pprof`. Takes the memory
/// of the distinct stacks.
#[derive(Debug)]
pub struct MergedProfile {
    builder: ProfileBuilder,
    /// The first profile, without samples, for the data that the sum has once.
    first: Profile,
    metrics: Vec<Metric>,
    /// Frames with code places. Frames with different places may be equal otherwise.
    placed: FxHashMap<(ProfileFrame, CodePlace), FrameId>,
    mappings: FxHashMap<Mapping, u32>,
    metadata: Vec<ProfileMetadatum>,
    /// The key of the label that states which profile a sample comes from.
    tag: Option<&'static str>,
}

/// The reason why profiles have no sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMerged {
    /// A profile measures something other than the first one.
    OtherMetrics,
    /// A profile has calls instead of stacks.
    Calls,
}

/// The numbers in the sum of a profile's names, frames and other parts.
struct Moved {
    names: Vec<NameId>,
    frames: Vec<FrameId>,
    stacks: Vec<StackId>,
    threads: Vec<ThreadId>,
}

impl MergedProfile {
    /// Starts with the metrics of a profile, which is not added itself. If `tag` is given, samples
    /// get a label with this key and the title of their profile.
    pub fn like(first: &Profile, tag: Option<&'static str>) -> Self {
        let mut builder = ProfileBuilder::new(false);
        let main = first.default_value;
        match (first.value_types.is_empty(), first.has_separate_values) {
            (true, _) => builder.set_mode(first.mode),
            (false, false) => builder.set_value_types(first.value_types.clone(), main),
            (false, true) => builder.set_separate_values(first.value_types.clone(), main),
        }
        if first.code.is_some() {
            *builder.code() = Some(Code::default());
        }
        let said_once = Profile {
            value_types: first.value_types.clone(),
            mode: first.mode,
            has_separate_values: first.has_separate_values,
            ..Profile::default()
        };
        let metrics = first.metrics_in_order();
        Self {
            builder,
            first: said_once,
            metrics,
            placed: FxHashMap::default(),
            mappings: FxHashMap::default(),
            metadata: Vec::new(),
            tag,
        }
    }

    /// The approximate memory in bytes.
    pub fn bytes(&self) -> u64 {
        self.builder.bytes()
    }

    /// Adds a profile. `title` is the value of the label of its samples.
    ///
    /// # Errors
    /// [`NotMerged`] if it measures something else or has no stacks.
    pub fn add(&mut self, profile: &Profile, title: &str) -> Result<(), NotMerged> {
        if profile.calls.is_some() {
            return Err(NotMerged::Calls);
        }
        let places = self.places(profile)?;
        let moved = self.moved(profile, title);
        let mut numbers = vec![0; self.metrics.len()];
        for row in profile.aggregate.iter() {
            let values = match &places {
                None => row.values,
                Some(places) => {
                    numbers.iter_mut().zip(places).for_each(|(number, metric)| {
                        *number = row.values.get(metric);
                    });
                    Values::of_types(row.values.samples(), &numbers)
                }
            };
            let (thread, stack) = (moved.threads[row.thread.index()], row.stack.index());
            self.builder.add(thread, moved.stacks[stack], &values);
        }
        self.notes(profile);
        self.add_metadata(profile);
        Ok(())
    }

    /// The metric of the profile for each metric of the sum; `None` if they are in the same places.
    fn places(&self, profile: &Profile) -> Result<Option<Vec<Metric>>, NotMerged> {
        let is_alike = profile.value_types.len() == self.first.value_types.len()
            && profile.has_separate_values == self.first.has_separate_values;
        if self.first.value_types.is_empty() {
            let is_same = is_alike && profile.mode == self.first.mode;
            return if is_same { Ok(None) } else { Err(NotMerged::OtherMetrics) };
        }
        let theirs = profile.metrics_in_order();
        let place = |metric: &Metric| theirs.iter().find(|their| their.of == metric.of).cloned();
        let places: Option<Vec<Metric>> = self.metrics.iter().map(place).collect();
        places.filter(|_| is_alike).map(Some).ok_or(NotMerged::OtherMetrics)
    }

    fn moved(&mut self, profile: &Profile, title: &str) -> Moved {
        let builder = &mut self.builder;
        let names = &profile.names;
        let names = (0..names.len() as u32)
            .map(|name| builder.name(names.text(NameId(name)).as_bytes()))
            .collect();
        let mut moved =
            Moved { names, frames: Vec::new(), stacks: Vec::new(), threads: Vec::new() };
        self.move_frames(profile, &mut moved);
        moved.stacks.push(StackId::EMPTY);
        for stack in profile.stacks.ids() {
            let parent = moved.stacks[profile.stacks.parent(stack).index()];
            let frame = profile.stacks.leaf(stack).map(|frame| moved.frames[frame.index()]);
            let stack = frame.map_or(parent, |frame| self.builder.push(parent, frame));
            moved.stacks.push(stack);
        }
        let tag = self.tag.map(|key| {
            let key = self.builder.name(key.as_bytes());
            SampleLabel { key, value: LabelValue::Text(self.builder.name(title.as_bytes())) }
        });
        for thread in &profile.threads {
            let name = |name: NameId| moved.names[name.0 as usize];
            let labels = profile.labels_of(thread).iter().map(|label| SampleLabel {
                key: name(label.key),
                value: match label.value {
                    LabelValue::Text(text) => LabelValue::Text(name(text)),
                    LabelValue::Number(number, unit) => LabelValue::Number(number, name(unit)),
                },
            });
            let mut labels: Vec<SampleLabel> = labels.chain(tag).collect();
            labels.sort_unstable();
            let labels: LabelsId = self.builder.labels(&labels);
            let thread = ProfileThread { name: name(thread.name), labels, ..*thread };
            moved.threads.push(self.builder.labelled_thread(thread));
        }
        moved
    }

    fn move_frames(&mut self, profile: &Profile, moved: &mut Moved) {
        let name = |name: NameId| moved.names[name.0 as usize];
        let no_code = Code::default();
        let code = profile.code.as_ref().unwrap_or(&no_code);
        let mappings: Vec<u32> = match self.builder.code() {
            None => Vec::new(),
            Some(all) => {
                let known = &mut self.mappings;
                let row = |mapping: &Mapping| {
                    *known.entry(mapping.clone()).or_insert_with(|| {
                        all.mappings.push(mapping.clone());
                        all.mappings.len() as u32 - 1
                    })
                };
                code.mappings.iter().map(row).collect()
            }
        };
        for (number, frame) in (0..).zip(&profile.frames) {
            let old = FrameId(number);
            let frame =
                ProfileFrame { function: name(frame.function), file: name(frame.file), ..*frame };
            let place = code.place(old).map(|place| CodePlace {
                mapping: place.mapping.and_then(|row| mappings.get(row as usize).copied()),
                system_name: name(place.system_name),
                // The outermost frame of an address comes first.
                outermost: moved.frames.get(place.outermost.index()).copied().unwrap_or(ITSELF),
                ..place
            });
            let builder = &mut self.builder;
            let id = match place.filter(|_| builder.code().is_some()) {
                None => builder.frame(frame),
                Some(place) => *self.placed.entry((frame, place)).or_insert_with(|| {
                    let id = builder.new_frame(frame);
                    let outermost = if place.outermost == ITSELF { id } else { place.outermost };
                    if let Some(code) = builder.code() {
                        code.places.resize(id.index() + 1, None);
                        code.places[id.index()] = Some(CodePlace { outermost, ..place });
                    }
                    id
                }),
            };
            moved.frames.push(id);
        }
        for ((function, file), generated) in &profile.generated {
            let frame = ProfileFrame {
                function: name(*function),
                file: name(*file),
                line: 0,
                kind: Default::default(),
            };
            self.builder.was_called(frame, profile.names.text(*generated));
        }
    }

    /// Adds the notes of a profile to those of the sum. Numbers of samples are counted again.
    fn notes(&mut self, profile: &Profile) {
        let (all, more) = (self.builder.notes(), &profile.notes);
        all.replaced += more.replaced;
        all.unresolved += more.unresolved;
        all.without_metric += more.without_metric;
        all.strays += more.strays;
        all.deep += more.deep;
        all.clamped += more.clamped;
        all.dropped += more.dropped;
        all.unapplied |= more.unapplied;
    }

    fn add_metadata(&mut self, profile: &Profile) {
        for datum in &profile.metadata {
            let number = |text: &str| text.trim().parse::<i128>().ok();
            let is_it = |known: &&mut ProfileMetadatum| {
                known.key == datum.key && (datum.key != "comment" || known.value == datum.value)
            };
            let known = self.metadata.iter_mut().find(is_it);
            let Some(known) = known else {
                self.metadata.push(ProfileMetadatum { before: 0, ..datum.clone() });
                continue;
            };
            let (Some(old), Some(new)) = (number(&known.value), number(&datum.value)) else {
                continue;
            };
            match datum.key.as_str() {
                "duration_nanos" | "duration" => known.value = (old + new).to_string(),
                "time_nanos" => known.value = old.min(new).to_string(),
                "period" => known.value = old.max(new).to_string(),
                _ => {}
            }
        }
    }

    /// The sum.
    pub fn finish(self) -> Profile {
        let mut profile = self.builder.finish();
        profile.metadata = self.metadata;
        profile
    }
}

/// Stands for the frame that is being added.
const ITSELF: FrameId = FrameId(u32::MAX);
