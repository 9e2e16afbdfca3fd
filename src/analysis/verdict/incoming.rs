//! The references to some objects, from all objects.

use super::scene::Scene;
use crate::analysis::object_set::{ObjectSet, Ranked};
use crate::analysis::regions::{BLOCK, Targets, for_each_reference};
use crate::model::heap::{Label, ObjectId};
use crate::parallel::{self, PART};

/// A reference to an object.
#[derive(Clone, Copy)]
pub(super) struct Incoming {
    pub(super) source: ObjectId,
    /// The number of the source.
    pub(super) from: u32,
    pub(super) label: Label,
    /// The place among the references of the source, or [`NO_PLACE`].
    pub(super) place: u32,
}

/// The place of an ephemeron's value, to which no reference in the file leads.
const NO_PLACE: u32 = u32::MAX;

/// The references to objects that one pass over all references found.
pub(super) struct Pass {
    /// The numbers of the objects.
    numbers: Ranked,
    /// The place of the first reference to each object, and the number of all.
    starts: Vec<usize>,
    /// Those to each object by their source, label and place.
    references: Vec<Incoming>,
}

impl Pass {
    /// Finds the references from live objects to the objects with these numbers.
    pub(super) fn over(scene: &Scene<'_, '_>, numbers: ObjectSet) -> Self {
        let (heap, graph) = (scene.heap(), scene.survey.graph);
        let mut objects = ObjectSet::none(heap.len());
        let wanted = numbers.objects().filter_map(|number| scene.object(number.0));
        wanted.for_each(|object| _ = objects.insert(object));
        let (targets, numbers) = (Targets::of(objects), Ranked::of(numbers));
        let count = heap.len() as u32;
        let blocks = parallel::map((0..count).step_by(BLOCK as usize), |first| {
            let block = first..first.saturating_add(BLOCK).min(count);
            let mut found = Vec::new();
            for_each_reference(graph, block, &targets, |source, target, row| {
                let numbered = scene.number(target).zip(scene.number(source));
                let Some((number, from)) = numbered else { return };
                let label = row.map_or(Label::NONE, |row| heap.label_of(source, row));
                let first = graph.references.range(source).start;
                let place = row.and_then(|row| u32::try_from(row - first).ok());
                let place = place.unwrap_or(NO_PLACE);
                let held = Incoming { source, from, label, place };
                found.push((numbers.place(ObjectId(number)), held));
            });
            found
        });
        let mut starts = vec![0; numbers.len() + 1];
        blocks.iter().flatten().for_each(|(target, _)| starts[*target as usize + 1] += 1);
        (0..numbers.len()).for_each(|target| starts[target + 1] += starts[target]);
        let (mut next, total) = (starts.clone(), starts[numbers.len()]);
        let none = Incoming { source: ObjectId(0), from: 0, label: Label::NONE, place: 0 };
        let mut references = vec![none; total];
        for (target, held) in blocks.into_iter().flatten() {
            let next = &mut next[target as usize];
            references[*next] = held;
            *next += 1;
        }
        sort(&mut references, &starts);
        Self { numbers, starts, references }
    }

    /// Whether this pass was for the object with a number.
    pub(super) fn is_for(&self, number: u32) -> bool {
        self.numbers.set().contains(ObjectId(number))
    }

    /// The references to the object with a number, for which this pass was.
    pub(super) fn to(&self, number: u32) -> &[Incoming] {
        let target = self.numbers.place(ObjectId(number)) as usize;
        &self.references[self.starts[target]..self.starts[target + 1]]
    }
}

/// Sorts the references to each object.
fn sort(references: &mut [Incoming], starts: &[usize]) {
    let targets = starts.len() - 1;
    let mut rest = references;
    let parts = (0..targets).step_by(PART).map(|first| {
        let starts = &starts[first..=targets.min(first + PART)];
        let length = starts[starts.len() - 1] - starts[0];
        (rest.split_off_mut(..length).unwrap_or_default(), starts)
    });
    parallel::for_each(parts.collect::<Vec<_>>(), |(mut part, starts)| {
        for one in starts.windows(2) {
            let held = part.split_off_mut(..one[1] - one[0]).unwrap_or_default();
            held.sort_unstable_by_key(|held| (held.source, held.label, held.place));
        }
    });
}
