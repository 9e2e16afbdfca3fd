//! The graph once more, as the search wants it.

use crate::analysis::graph::Graph;
use crate::analysis::owned::Owned;
use crate::analysis::prefetch::prefetch;
use crate::model::heap::ObjectId;
use rayon::prelude::*;

/// The packed graph: each object that is not owned is followed by its references to such objects.
///
/// An object is a record: a word, at first how many references it has and then its number, and a
/// word for each of these references, which says where the record of its target is. So who looks at
/// a target has its references in the same line of the cache, and in a graph that is larger than
/// the caches this one line is all that the search has to wait for.
///
/// The first word has a mark until the object is entered; then the last reference that is to be
/// followed gets one.
pub(super) struct Packed<W> {
    words: Vec<W>,
}

/// The number of references ahead for which places are prefetched.
const AHEAD: usize = 64;

impl<W: Word> Packed<W> {
    /// The graph, and the records of the objects at which it begins.
    pub(super) fn of(graph: &Graph<'_>, owned: &Owned) -> (Self, Vec<W>) {
        let (places, lengths) = places::<W>(graph, owned);
        let mut words = vec![W::of(0); lengths.iter().sum()];
        let mut rest = words.as_mut_slice();
        let blocks: Vec<_> = lengths
            .into_iter()
            .map(|length| rest.split_off_mut(..length).unwrap_or_default())
            .enumerate()
            .collect();
        blocks.into_par_iter().for_each(|(block, words)| fill(words, graph, owned, block, &places));
        (Self { words }, graph.starts().iter().map(|start| places[start.index()]).collect())
    }

    /// The number of the object with this record; none if it was not entered.
    #[inline]
    pub(super) fn number(&self, record: W) -> Option<u32> {
        self.words[record.index()].number()
    }

    /// Gives an object a number above all that were given, and calls `each` with those of its
    /// targets that have one already. The answer is the first reference to one that has none; the
    /// last such reference gets a mark.
    #[inline]
    pub(super) fn enter(&mut self, record: W, number: u32, mut each: impl FnMut(u32)) -> Option<W> {
        let first = record.index() + 1;
        let degree = std::mem::replace(&mut self.words[record.index()], W::of(number as usize))
            .without_mark()
            .index();
        let (mut next, mut last) = (usize::MAX, 0);
        // All targets at once, so that the processor waits for them at once.
        for at in first..first + degree {
            match self.number(self.words[at]) {
                None => {
                    next = next.min(at);
                    last = at;
                }
                Some(target) if target < number => each(target),
                Some(_) => {}
            }
        }
        if next > last {
            return None;
        }
        self.words[last] = self.words[last].with_mark();
        Some(W::of(next))
    }

    /// The record to which a reference leads that is still to be followed, and whether it is the
    /// last one of its object.
    #[inline]
    pub(super) fn follow(&self, reference: W) -> (W, bool) {
        let word = self.words[reference.index()];
        (word.without_mark(), word.has_mark())
    }

    /// The objects that were entered, of which there are `live`, by number from 1.
    pub(super) fn into_order(self, graph: &Graph<'_>, owned: &Owned, live: usize) -> Vec<ObjectId> {
        let mut order = vec![ObjectId(0); live];
        let mut record = 0;
        for object in searched(graph, owned) {
            if let Some(number) = self.words[record].number() {
                order[number as usize - 1] = object;
            }
            record += 1 + targets(graph, owned, object).count();
        }
        order
    }
}

/// Objects that are packed together, on one thread.
const BLOCK: usize = 1 << 16;

/// Where the record of each object is, and how many words there are in each block of objects. Owned
/// objects have none.
fn places<W: Word>(graph: &Graph<'_>, owned: &Owned) -> (Vec<W>, Vec<usize>) {
    let mut places = vec![W::of(0); graph.len()];
    // Inside of the block at first.
    let of_block = |(block, places): (usize, &mut [W])| {
        let mut words = 0;
        for (object, place) in objects_of_block(graph, block).zip(places) {
            *place = W::of(words);
            if !owned.contains(object) {
                words += 1 + targets(graph, owned, object).count();
            }
        }
        words
    };
    let lengths: Vec<usize> = places.par_chunks_mut(BLOCK).enumerate().map(of_block).collect();
    let starts = lengths.iter().scan(0, |end, length| Some(std::mem::replace(end, *end + length)));
    let starts: Vec<usize> = starts.collect();
    places.par_chunks_mut(BLOCK).zip(starts).for_each(|(places, start)| {
        places.iter_mut().for_each(|place| *place = W::of(place.index() + start));
    });
    (places, lengths)
}

/// Writes the records of a block.
fn fill<W: Word>(words: &mut [W], graph: &Graph<'_>, owned: &Owned, block: usize, places: &[W]) {
    let columns = graph.references;
    let mut end = 0;
    for object in objects_of_block(graph, block).filter(|object| !owned.contains(*object)) {
        let record = end;
        end += 1;
        for row in columns.range(object) {
            if let Some(target) = columns.target.get(row + AHEAD) {
                prefetch(places, target.index());
            }
        }
        for target in targets(graph, owned, object) {
            words[end] = places[target.index()];
            end += 1;
        }
        words[record] = W::of(end - record - 1).with_mark();
    }
}

fn objects_of_block(graph: &Graph<'_>, block: usize) -> impl Iterator<Item = ObjectId> + use<> {
    let objects = block * BLOCK..((block + 1) * BLOCK).min(graph.len());
    objects.map(|object| ObjectId(object as u32))
}

/// The objects that the search may come to.
fn searched<'g>(graph: &Graph<'_>, owned: &'g Owned) -> impl Iterator<Item = ObjectId> + 'g {
    graph.objects().filter(|object| !owned.contains(*object))
}

/// The targets among the objects that an object keeps alive.
#[inline]
fn targets<'g>(
    graph: &'g Graph<'_>,
    owned: &'g Owned,
    object: ObjectId,
) -> impl Iterator<Item = ObjectId> + 'g {
    graph.targets(object).filter(|target| !owned.contains(*target))
}

/// With more words than this they are wide.
pub(in crate::analysis) const MOST_NARROW: u64 = 1 << 31;

/// A word, narrow or wide. Its highest bit is a mark.
pub(super) trait Word: Copy + Default + Send + Sync {
    fn of(value: usize) -> Self;
    fn index(self) -> usize;
    fn has_mark(self) -> bool;
    fn with_mark(self) -> Self;
    fn without_mark(self) -> Self;

    /// Of the first word of a record: its number, if it has one.
    #[inline]
    fn number(self) -> Option<u32> {
        (!self.has_mark()).then_some(self.index() as u32)
    }
}

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            #[inline]
            fn of(value: usize) -> Self {
                value as Self
            }

            #[inline]
            fn index(self) -> usize {
                self as usize
            }

            #[inline]
            fn has_mark(self) -> bool {
                self.leading_zeros() == 0
            }

            #[inline]
            fn with_mark(self) -> Self {
                self | 1 << (Self::BITS - 1)
            }

            #[inline]
            fn without_mark(self) -> Self {
                self & !(1 << (Self::BITS - 1))
            }
        }
    };
}

word!(u32);
word!(u64);
