//! Processes the list of values, one chunk of the heap after the other.
//!
//! Values lead anywhere in memory. Placing each one immediately would spend most of the time
//! waiting for memory, so values are collected in a list for the chunk in which they lie. All
//! values of a chunk are placed together, while its part of every column is in the processor's
//! cache, including values in the same chunk to which they lead. The others wait for their chunks.
//!
//! A chunk only changes the types of its own objects, so threads can process several chunks at a
//! time. Values that need a type or a layout that does not exist yet are left to a single thread.
//! The result depends on the order of the chunks, but not on the number of threads.

use super::super::types::TypeRef;
use super::chunk::{Aside, Chunks, Done};
use super::judge::Verdict;
use super::{Form, Item, Propagation, Values};
use crate::input::go::load::pointers::Reader;
use crate::model::heap::ObjectId;
use crate::parallel;

/// The number of chunks after which one thread merges the results. The result depends on this
/// number, and therefore not on the number of threads.
const WAVE: usize = 64;
/// The least number of values that threads share. Fewer take less time than waking the threads.
const MANY: usize = 1 << 10;

/// The values that wait for each chunk, in parts that threads fill at the same time.
struct Waiting {
    chunks: Chunks,
    part: usize,
    parts: Vec<Part>,
}

/// The values that wait for each of some chunks in a row.
#[derive(Default)]
struct Part {
    first: usize,
    lists: Vec<Vec<Item>>,
    /// Chunks with values, each once.
    busy: Vec<usize>,
    /// Empty lists, whose memory is reused.
    spare: Vec<Vec<Item>>,
}

impl Part {
    /// Adds a value to the list of a chunk, if the chunk belongs to this part.
    fn add(&mut self, chunk: usize, item: Item) {
        if let Some(list) = self.lists.get_mut(chunk.wrapping_sub(self.first)) {
            if list.is_empty() {
                self.busy.push(chunk);
                *list = self.spare.pop().unwrap_or_default();
            }
            list.push(item);
        }
    }

    /// Adds the found values that lie in the chunks of this part.
    fn add_found(&mut self, done: &[Done], chunks: Chunks, reader: &Reader<'_, '_>) {
        for done in done {
            for item in &done.found {
                if let Some(chunk) = chunks.of(reader, item.address) {
                    self.add(chunk, *item);
                }
            }
            for (chunk, item) in &done.moved {
                self.add(*chunk, *item);
            }
        }
    }
}

impl Waiting {
    fn new(chunks: Chunks) -> Self {
        let part = chunks.count.div_ceil(rayon::current_num_threads()).max(1);
        let parts = (0..chunks.count).step_by(part).map(|first| {
            let lists = vec![Vec::new(); part.min(chunks.count.wrapping_sub(first))];
            Part { first, lists, ..Part::default() }
        });
        Self { chunks, part, parts: parts.collect() }
    }

    fn part_of(&mut self, chunk: usize) -> Option<&mut Part> {
        self.parts.get_mut(chunk.checked_div(self.part)?)
    }

    fn add(&mut self, chunk: usize, item: Item) {
        if let Some(part) = self.part_of(chunk) {
            part.add(chunk, item);
        }
    }

    /// The chunks that have values now, in their order.
    fn round(&mut self) -> Vec<usize> {
        let mut busy = Vec::new();
        self.parts.iter_mut().for_each(|part| busy.append(&mut part.busy));
        busy.sort_unstable();
        busy
    }

    fn take(&mut self, chunk: usize) -> Vec<Item> {
        let list = self.part_of(chunk).and_then(|part| {
            part.lists.get_mut(chunk.wrapping_sub(part.first)).map(std::mem::take)
        });
        list.unwrap_or_default()
    }

    fn give_back(&mut self, chunk: usize, list: Vec<Item>) {
        if let Some(part) = self.part_of(chunk) {
            part.spare.push(list);
        }
    }
}

impl<'a> Propagation<'_, '_, '_, 'a> {
    pub(in super::super) fn drain(&mut self) {
        let chunks = Chunks::new(self.ground.reader, self.ground.object_count());
        let mut waiting = Waiting::new(chunks);
        let mut done: Vec<Done> = Vec::new();
        done.resize_with(WAVE, Done::default);
        let mut worked = 0;
        self.send(&mut waiting);
        loop {
            let round = waiting.round();
            if round.is_empty() {
                break;
            }
            for wave in round.chunks(WAVE) {
                let lists: Vec<Vec<Item>> = wave.iter().map(|chunk| waiting.take(*chunk)).collect();
                let sum: usize = lists.iter().map(Vec::len).sum();
                // A single value may lead to a long chain in a chunk, so the work done counts too.
                let is_shared = wave.len() > 1 && sum.max(worked) >= MANY;
                let judge = &self.judge;
                for (done, list) in done.iter_mut().zip(lists) {
                    done.list = list;
                }
                let work = wave.iter().zip(&mut done);
                let run = |(chunk, done): (&usize, &mut Done)| done.work(judge, chunks, *chunk);
                if is_shared {
                    parallel::for_each(work, run)
                } else {
                    work.for_each(run)
                }
                let done = done.get_mut(..wave.len()).unwrap_or_default();
                worked = 0;
                for (chunk, done) in wave.iter().zip(&mut *done) {
                    worked = worked.wrapping_add(std::mem::take(&mut done.worked));
                    waiting.give_back(*chunk, std::mem::take(&mut done.list));
                    for ty in done.unprepared.drain(..) {
                        self.types.layout(ty);
                    }
                }
                let (reader, found) = (self.ground.reader, &*done);
                let fill = |part: &mut Part| part.add_found(found, chunks, reader);
                if found.iter().map(|done| done.found.len()).sum::<usize>() >= MANY {
                    parallel::for_each(&mut waiting.parts, fill)
                } else {
                    waiting.parts.iter_mut().for_each(fill)
                }
                for done in done {
                    self.take_in(done);
                }
                self.send(&mut waiting);
            }
        }
    }

    /// Sends all values of the queue to their chunks. Places values outside of the heap at once.
    fn send(&mut self, waiting: &mut Waiting) {
        while let Some(item) = self.queue.pop() {
            self.send_one(item, waiting);
        }
    }

    fn send_one(&mut self, item: Item, waiting: &mut Waiting) {
        match waiting.chunks.of(self.ground.reader, item.address) {
            Some(chunk) => {
                if self.types.layouts.known(item.ty).is_none() {
                    self.types.layout(item.ty);
                }
                waiting.add(chunk, item);
            }
            None => self.place(&item, None),
        }
    }

    /// Merges the results of a chunk, except values in other chunks.
    fn take_in(&mut self, done: &mut Done) {
        done.found.clear();
        done.moved.clear();
        let objects = &mut self.objects;
        objects.conflicts = objects.conflicts.saturating_add(std::mem::take(&mut done.conflicts));
        objects.rejected = objects.rejected.saturating_add(std::mem::take(&mut done.rejected));
        for (object, inside, ty) in done.tiny.drain(..) {
            self.objects.tiny.add(object, inside, ty);
        }
        for (object, (end, count)) in done.ends.drain(..) {
            self.extents.add(object, end, count);
        }
        for item in done.outside.drain(..) {
            self.place(&item, None);
        }
        for aside in done.aside.drain(..) {
            match aside {
                Aside::Place(item, place) => self.place(&item, place),
                Aside::Visit(object, typed) => self.visit_object(object, &typed),
            }
        }
    }

    /// Places a value. Makes the types and layouts that it needs first.
    fn place(&mut self, item: &Item, place: Option<(ObjectId, u64)>) {
        if item.form == Form::Closure {
            return self.function(item.address, item.level);
        }
        let ty = match self.nodes.get(&item.ty) {
            Some((_, indirect)) if self.byte(item.address) == Some(0) => *indirect,
            Some((entry, _)) => *entry,
            None => item.ty,
        };
        let item = Item { ty, ..*item };
        self.types.layout(ty);
        let verdict = self.judge.judge(&item, place, &mut self.listed);
        let Some((object, inside)) = place else { return self.place_outside(&item) };
        match verdict {
            Verdict::Known | Verdict::Outside | Verdict::Unprepared => {}
            Verdict::Rejected => {
                self.objects.rejected = self.objects.rejected.saturating_add(1);
            }
            Verdict::Tiny => {
                self.judge.share(&item, object);
                if !self.is_bare {
                    self.objects.tiny.add(object, inside, item.ty);
                }
            }
            // The value is no evidence of the object's type, but its pointers lead to others.
            Verdict::Inside => {
                if self.leads(item.ty) && self.seen.insert((item.address, item.ty)) {
                    let (contents, _) = self.ground.memory(object);
                    let start = usize::try_from(inside).unwrap_or(usize::MAX);
                    let bytes = contents.get(start..).unwrap_or_default();
                    let (ty, count, level) = (item.ty, item.count, item.level);
                    self.visit(&Values { bytes, ty, count, level });
                }
            }
            Verdict::Fits(typed) => self.assign(object, typed),
        }
        if let Some((end, count)) = self.judge.end(&item, object, inside) {
            self.extents.add(object, end, count);
        }
    }

    /// Whether values of a type lead anywhere.
    pub(super) fn leads(&mut self, ty: TypeRef) -> bool {
        !self.types.layout(ty).slots.is_empty()
    }
}
