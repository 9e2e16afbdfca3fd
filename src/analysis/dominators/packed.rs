//! A copy of the graph in the layout that the search needs.

use crate::analysis::graph::Graph;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::owned::Owned;
use crate::analysis::prefetch::prefetch;
use crate::analysis::set_bits::SetBits;
use crate::model::heap::ObjectId;
use crate::parallel;
use std::ops::Range;

/// The packed graph: each object that is not owned is followed by its references to such objects, and by
/// those that lead to hubs from what it owns.
///
/// An object is a record: a first word, which is the number of its references and later the
/// object's number, and a word for each of these references, which is the place of the target's
/// record. So the references of a target are in the same cache line as its first word. In a graph
/// that is larger than the caches, this line is all that the search waits for.
///
/// The first word has a mark until the object is entered. Then the mark is on the last reference
/// that is still to be followed, and the word before the first such reference is the object's number,
/// so that a place in the graph is all that the search has to keep of an object.
pub(super) struct Packed<W> {
    words: Vec<W>,
    /// A bit for each word with which a record begins.
    starts: Vec<u64>,
}

/// The number of words ahead for which places are prefetched.
const AHEAD: usize = 32;

impl<W: Word> Packed<W> {
    /// Packs the graph, without the references to objects that the set of roots dominates `apart` from
    /// all others. Returns it with the records of the objects at which the search begins: the single root,
    /// if there is one, and these.
    pub(super) fn of(graph: &Graph<'_>, owned: &Owned, apart: &ObjectSet) -> (Self, Vec<W>) {
        let ranks = Ranks::of(graph, owned, apart);
        let leads_to = |hub| ranks.of_target(hub).is_some();
        let inherited = owned.hubs().set().objects().any(leads_to).then_some(owned);
        // Owned objects take no words, so this is too many, but unwritten pages take no memory.
        let most = most_words(graph);
        let (mut words, mut starts) = (vec![W::default(); most], vec![0; most.div_ceil(64)]);
        let mut places = vec![W::default(); ranks.len()];
        let mut room =
            Room { first: 0, words: &mut words, starts: &mut starts, places: &mut places };
        let blocks: Vec<usize> = (0..graph.len()).step_by(BLOCK).collect();
        for blocks in blocks.chunks(BLOCKS) {
            let records = |block: &usize| Records::of(graph, inherited, &ranks, *block);
            let blocks = parallel::map(blocks, records);
            let blocks = blocks.iter().map(|records| (records, room.take(records)));
            parallel::for_each(blocks, |(records, room)| room.fill(records));
        }
        let end = room.first;
        words.truncate(end);
        words.shrink_to_fit();
        starts.truncate(end / 64);
        starts.shrink_to_fit();
        let mut packed = Self { words, starts };
        packed.link(&places);
        let place = |object: ObjectId| ranks.get(object).map(|rank| places[rank as usize]);
        let heads = graph.single_root().into_iter().chain(apart.objects());
        let heads = heads.filter_map(place).collect();
        (packed, heads)
    }

    /// Replaces ranks with places.
    fn link(&mut self, places: &[W]) {
        let parts = rayon::current_num_threads();
        let length = self.starts.len().div_ceil(parts).max(1);
        let parts = self.words.chunks_mut(length * 64).zip(self.starts.chunks(length));
        parallel::for_each(parts, |(words, starts)| {
            for at in 0..words.len() {
                if let Some(soon) = words.get(at + AHEAD) {
                    prefetch(places, soon.without_mark().index());
                }
                if starts[at / 64] >> (at % 64) & 1 == 0 {
                    words[at] = places[words[at].index()];
                }
            }
        });
    }

    /// The number of objects.
    pub(super) fn objects(&self) -> usize {
        self.starts.iter().map(|starts| starts.count_ones() as usize).sum()
    }

    /// The number of the object with this record. `None` if it has not been entered.
    #[inline]
    pub(super) fn number(&self, record: W) -> Option<u32> {
        self.words[record.index()].number()
    }

    /// Gives an object a number above all earlier ones, and calls `each` with the numbers of the
    /// targets that already have one. Returns the first reference to a target without a number, to
    /// follow it and those after it; the last such reference gets a mark.
    #[inline]
    pub(super) fn enter(&mut self, record: W, number: u32, mut each: impl FnMut(u32)) -> Option<W> {
        let first = record.index() + 1;
        let degree = std::mem::replace(&mut self.words[record.index()], W::of(number as usize))
            .without_mark()
            .index();
        let (mut next, mut last) = (usize::MAX, 0);
        // Read all targets at once, so that the processor waits for them only once.
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
        self.words[next - 1] = W::of(number as usize);
        Some(W::of(next))
    }

    /// Follows the first unfollowed reference of an object. Returns the number of the object, the record
    /// to which the reference leads, and whether it is the last one to be followed.
    #[inline]
    pub(super) fn follow(&mut self, reference: W) -> (u32, W, bool) {
        let number = self.words[reference.index() - 1];
        let word = std::mem::replace(&mut self.words[reference.index()], number);
        (number.index() as u32, word.without_mark(), word.has_mark())
    }

    /// The record to which an unfollowed reference leads.
    #[inline]
    pub(super) fn target(&self, reference: W) -> W {
        self.words[reference.index()].without_mark()
    }

    #[inline]
    pub(super) fn prefetch(&self, word: W) {
        prefetch(&self.words, word.index());
    }

    /// The numbers of the objects that are not owned, in the order of objects; 0 for those that
    /// were not entered. They take the place of the graph, because there is little memory left when
    /// the search is done.
    pub(super) fn into_numbers(self) -> Vec<u32> {
        let Self { mut words, starts } = self;
        let length = starts.len().div_ceil(rayon::current_num_threads()).max(1);
        let parts = words.chunks_mut(length * 64).zip(starts.chunks(length));
        let counts = parallel::map(parts, |(words, starts)| {
            let mut count = 0;
            for place in SetBits::of(0, starts.iter().copied()) {
                words[count] = W::of(words[place].number().unwrap_or(0) as usize);
                count += 1;
            }
            count
        });
        let mut end = 0;
        for (part, count) in counts.into_iter().enumerate() {
            let start = part * length * 64;
            words.copy_within(start..start + count, end);
            end += count;
        }
        words.truncate(end);
        words.shrink_to_fit();
        words.into_iter().map(|word| word.index() as u32).collect()
    }
}

/// The number of words that the copy of a graph takes if nothing is owned.
pub(super) fn most_words(graph: &Graph<'_>) -> usize {
    let padding = graph.len().div_ceil(BLOCK) * 64;
    graph.len() + graph.references.len() + graph.dependent.len() + padding
}

/// Takes the next places from a column.
fn split<'c, T>(column: &mut &'c mut [T], places: usize) -> &'c mut [T] {
    column.split_off_mut(..places).unwrap_or_default()
}

/// The space for the next records.
struct Room<'r, W> {
    /// The place of the first word.
    first: usize,
    words: &'r mut [W],
    starts: &'r mut [u64],
    /// The place of each record, by rank.
    places: &'r mut [W],
}

impl<'r, W: Word> Room<'r, W> {
    /// Takes the room for the records of a block.
    fn take(&mut self, records: &Records<W>) -> Room<'r, W> {
        let (first, length) = (self.first, records.words.len());
        self.first += length;
        Room {
            first,
            words: split(&mut self.words, length),
            starts: split(&mut self.starts, length / 64),
            places: split(&mut self.places, records.starts.len()),
        }
    }

    fn fill(self, records: &Records<W>) {
        self.words.copy_from_slice(&records.words);
        for (place, start) in self.places.iter_mut().zip(&records.starts) {
            let start = *start as usize;
            self.starts[start / 64] |= 1 << (start % 64);
            *place = W::of(self.first + start);
        }
    }
}

/// Objects that are packed together, on one thread.
const BLOCK: usize = 1 << 14;
/// The number of blocks that are packed in parallel.
const BLOCKS: usize = 16;

/// The records of a block of objects, with the ranks of targets in place of their records.
struct Records<W> {
    /// Padded to a multiple of 64, so that no other block has bits in the same word.
    words: Vec<W>,
    /// The offset of each record.
    starts: Vec<u32>,
}

impl<W: Word> Records<W> {
    /// The records of the block that begins with an object. `owned` is there if references to hubs are
    /// inherited.
    fn of(graph: &Graph<'_>, owned: Option<&Owned>, ranks: &Ranks, block: usize) -> Self {
        // The last record that has inherited a reference to each hub.
        let mut of_hub = vec![usize::MAX; owned.map_or(0, |owned| owned.hubs().len())];
        let objects = block..(block + BLOCK).min(graph.len());
        let (mut words, mut starts) = (Vec::new(), Vec::new());
        for object in ranks.objects(objects) {
            let record = words.len();
            starts.push(record as u32);
            words.push(W::of(0));
            for target in graph.targets(object) {
                if let Some(rank) = ranks.of_target(target) {
                    words.push(W::of(rank as usize));
                } else if let Some(owned) = owned.filter(|owned| owned.contains(target)) {
                    owned.for_each_hub_below(graph, target, &mut |hub| {
                        let last = &mut of_hub[owned.hubs().number(hub)];
                        if std::mem::replace(last, record) != record
                            && let Some(rank) = ranks.of_target(hub)
                        {
                            words.push(W::of(rank as usize));
                        }
                    });
                }
            }
            words[record] = W::of(words.len() - record - 1).with_mark();
        }
        words.resize(words.len().next_multiple_of(64), W::default());
        Self { words, starts }
    }
}

/// The ranks of objects among those that are not owned.
struct Ranks(Vec<Rank>);

/// The ranks of 64 objects.
#[derive(Clone, Copy)]
struct Rank {
    /// The objects that are not owned, as bits.
    objects: u64,
    /// Those of them to which the search follows references.
    targets: u64,
    /// The number of objects before these that are not owned.
    before: u32,
}

impl Rank {
    #[inline]
    fn of(self, bit: usize, among: u64) -> Option<u32> {
        let lower = self.objects & !(u64::MAX << bit);
        (among >> bit & 1 == 1).then(|| self.before + lower.count_ones())
    }
}

impl Ranks {
    fn of(graph: &Graph<'_>, owned: &Owned, apart: &ObjectSet) -> Self {
        let mut before = 0;
        let rank = |(objects, apart): (u64, &u64)| {
            let rank = Rank { objects, targets: objects & !apart, before };
            before += objects.count_ones();
            rank
        };
        Self(owned.other_words(graph.len()).zip(&apart.bits).map(rank).collect())
    }

    fn len(&self) -> usize {
        self.0.last().map_or(0, |last| last.before as usize + last.objects.count_ones() as usize)
    }

    /// The rank of an object. `None` if it is owned.
    #[inline]
    fn get(&self, object: ObjectId) -> Option<u32> {
        let rank = self.0[object.index() / 64];
        rank.of(object.index() % 64, rank.objects)
    }

    /// The rank of an object to which a reference leads. `None` if the search does not follow it.
    #[inline]
    fn of_target(&self, object: ObjectId) -> Option<u32> {
        let rank = self.0[object.index() / 64];
        rank.of(object.index() % 64, rank.targets)
    }

    /// The objects of a range that have a rank. The range begins at a multiple of 64.
    fn objects(&self, range: Range<usize>) -> impl Iterator<Item = ObjectId> + '_ {
        let words = &self.0[range.start / 64..range.end.div_ceil(64)];
        let bits = SetBits::of(range.start, words.iter().map(|rank| rank.objects));
        bits.map(|at| ObjectId(at as u32))
    }
}

/// The maximum number of narrow words; larger graphs use wide ones.
pub(in crate::analysis) const MOST_NARROW: u64 = 1 << 31;

/// A word, narrow or wide. Its highest bit is a mark.
pub(super) trait Word: Copy + Default + Send + Sync {
    fn of(value: usize) -> Self;
    fn index(self) -> usize;
    fn has_mark(self) -> bool;
    fn with_mark(self) -> Self;
    fn without_mark(self) -> Self;

    /// The number in the first word of a record, if it has one.
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
