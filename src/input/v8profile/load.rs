//! Loads CPU profiles and sampling heap profiles.

use super::document::Document;
use super::lines::Lines;
use crate::error::Result;
use crate::input::load::{LoadedProfile, ProfileOptions};
use crate::input::read::count_one;
use crate::model::names::Names;
use crate::model::profile::{
    Mode, ProfileBuilder, ProfileSample, ProfileThread, StackId, ThreadId, Unit, ValueType, Values,
};

/// Loads a CPU or heap profile. Fails if nothing can be read; later damage is returned with it.
pub fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let (document, damage) = Document::read(bytes, options.memory)?;
    let profile = profile(&document, options)?;
    Ok(LoadedProfile { profile: profile.finish(), damage })
}

pub(super) fn profile(
    document: &Document<'_>,
    options: ProfileOptions<'_>,
) -> Result<ProfileBuilder> {
    let is_heap = document.is_nested && document.nodes.all.iter().any(|node| node.self_size > 0);
    let samples = document.samples.as_ref().filter(|samples| !samples.is_empty() && !is_heap);
    let mut builder = ProfileBuilder::new(options.keep_samples && samples.is_some());
    let thread = builder.labelled_thread(ProfileThread::named(Names::EMPTY));
    if is_heap {
        builder
            .set_value_types(vec![ValueType { name: "inuse_space".into(), unit: Unit::Bytes }], 0);
    }
    let besides = document.bytes();
    if samples.is_some() {
        add_samples(&mut builder, document, thread, besides, options)?;
        return Ok(builder);
    }
    if !is_heap {
        // Old tools write how often each node was hit, and no times.
        builder.set_mode(Mode::Samples);
    }
    let places = document.nodes.stacks(&mut builder, options.source_maps, |builder, offset| {
        options.memory.check(offset, builder, besides)
    })?;
    for (node, place) in document.nodes.all.iter().zip(&places) {
        if is_heap && node.self_size > 0 {
            let bytes = i64::try_from(node.self_size).unwrap_or(i64::MAX);
            builder.add(thread, place.stack, &Values::of_types(1, &[bytes]));
        } else if !is_heap && node.hits > 0 {
            builder.add(thread, place.stack, &Values::of_counts(node.hits, 0, 0));
        }
    }
    Ok(builder)
}

/// Adds the samples of a document to the profile that is built. `besides` are the bytes of memory
/// that documents take. Fails when the profile takes more memory than it may.
pub(super) fn add_samples(
    builder: &mut ProfileBuilder,
    document: &Document<'_>,
    thread: ThreadId,
    besides: u64,
    options: ProfileOptions<'_>,
) -> Result<()> {
    let places = document.nodes.stacks(builder, options.source_maps, |builder, offset| {
        options.memory.check(offset, builder, besides)
    })?;
    let by_id = document.nodes.by_id();
    let samples = document.samples.as_deref().unwrap_or_default();
    let mut lines = Lines::of(document, options.source_maps);
    for (number, (time, sample, id)) in document.times(samples).into_iter().enumerate() {
        if number % 4096 == 0 {
            options.memory.check(0, builder, besides)?;
        }
        let node = by_id.get(&id).copied();
        let place = node.and_then(|node| Some((node, *places.get(node as usize)?)));
        if place.is_none() {
            count_one(&mut builder.notes().unresolved);
        }
        let stack = place.map_or(StackId::EMPTY, |place| lines.stack(builder, sample, place));
        let (idle, gc) = place.map_or((false, false), |(_, place)| (place.idle, place.gc));
        let time = Some(time);
        builder.sample(&ProfileSample { thread, stack, time, memory: None, idle, gc });
    }
    Ok(())
}

impl Document<'_> {
    /// The time of each sample until the next one, its number and its node, in the order of time.
    fn times(&self, samples: &[u64]) -> Vec<(i64, usize, u64)> {
        let length = self.duration().unwrap_or(0);
        let Some(deltas) = self.deltas.as_ref().filter(|deltas| !deltas.is_empty()) else {
            let each = length.checked_div(samples.len() as i64).unwrap_or(0);
            return samples.iter().enumerate().map(|(number, id)| (each, number, *id)).collect();
        };
        let mut at = 0i64;
        let mut taken: Vec<(i64, usize, u64)> = Vec::with_capacity(samples.len());
        for (number, &id) in samples.iter().enumerate() {
            at = at.saturating_add(deltas.get(number).copied().unwrap_or(0));
            taken.push((at, number, id));
        }
        // Clocks of several threads may go back.
        taken.sort_by_key(|(at, ..)| *at);
        let next: Vec<i64> = taken.iter().skip(1).map(|(at, ..)| *at).chain([length]).collect();
        taken
            .into_iter()
            .zip(next)
            .map(|((at, number, id), next)| (next.saturating_sub(at).max(0), number, id))
            .collect()
    }

    /// Microseconds from the beginning to the end.
    pub(super) fn duration(&self) -> Option<i64> {
        // Before Chrome 58 these were seconds.
        let unit = if self.is_nested { 1e6 } else { 1.0 };
        Some(((self.end? - self.start?) * unit).round() as i64)
    }
}
