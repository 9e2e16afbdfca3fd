//! Works on the list of values, a block of them at a time.

use super::super::objects::{self, Fit, Typed};
use super::super::types::TypeRef;
use super::judge::{Judge, Verdict};
use super::{Form, Item, Propagation, Values};
use crate::model::heap::ObjectId;
use rayon::prelude::*;

/// Values that are taken from the list and judged before any of them changes what is known. The
/// result depends on it, so it does not depend on the number of threads.
const BLOCK: usize = 1 << 14;
/// Values of a block that one thread judges.
const CHUNK: usize = 1 << 10;
/// Values that are looked up together.
const BATCH: usize = 64;

impl Propagation<'_, '_, '_, '_> {
    /// Works until nothing is left on the list.
    ///
    /// Values are anywhere in memory, so most of the time goes into waiting for it. So many are
    /// judged together, by all threads, and what they say is then applied in their order.
    pub(in super::super) fn drain(&mut self) {
        let (mut block, mut chunks): (Vec<Item>, Vec<Judged>) = (Vec::new(), Vec::new());
        while !self.queue.is_empty() {
            let rest = self.queue.len().saturating_sub(BLOCK);
            block.extend(self.queue.drain(rest..).rev());
            let count = block.len().div_ceil(CHUNK);
            if chunks.len() < count {
                chunks.resize_with(count, Judged::default);
            }
            let judge = self.judge();
            let mut work: Vec<_> = block.chunks(CHUNK).zip(&mut chunks).collect();
            match work.as_mut_slice() {
                [(items, judged)] => judged.judge(&judge, items),
                work => work.par_iter_mut().for_each(|(items, judged)| judged.judge(&judge, items)),
            }
            for (items, judged) in block.chunks(CHUNK).zip(&chunks) {
                let mut found = judged.found.as_slice();
                for (item, one) in items.iter().zip(&judged.list) {
                    let leads = found.split_off(..one.found.unwrap_or(0)).unwrap_or_default();
                    match one.verdict {
                        Verdict::Unprepared => self.place(item, one.place),
                        Verdict::Fits(typed) if one.found.is_some() => {
                            if let Some((object, _)) = one.place
                                && self.improve(object, typed)
                            {
                                self.queue.extend_from_slice(leads);
                            }
                            self.note(item, one.place);
                        }
                        verdict => self.apply(item, one.place, verdict),
                    }
                }
            }
            block.clear();
        }
    }

    /// Places a value, after all that it takes has been made.
    fn place(&mut self, item: &Item, place: Option<(ObjectId, u64)>) {
        if item.form == Form::Closure {
            return self.function(item.address, item.level);
        }
        let of = match self.nodes.get(&item.of) {
            Some((_, indirect)) if self.byte(item.address) == Some(0) => *indirect,
            Some((entry, _)) => *entry,
            None => item.of,
        };
        let item = Item { of, ..*item };
        self.layout(of);
        let mut listed = std::mem::take(&mut self.listed);
        let verdict = self.judge().judge(&item, place, &mut listed);
        self.listed = listed;
        self.apply(&item, place, verdict);
    }

    fn apply(&mut self, item: &Item, place: Option<(ObjectId, u64)>, verdict: Verdict) {
        let Some((object, inside)) = place else { return self.place_outside(item) };
        match verdict {
            Verdict::Known | Verdict::Outside | Verdict::Unprepared => {}
            Verdict::Rejected => {
                self.objects.rejected = self.objects.rejected.saturating_add(1);
            }
            Verdict::Tiny => {
                if !self.is_bare {
                    self.objects.tiny.add(object, inside, item.of);
                }
                let typed = Typed { of: self.tiny, count: 1, fit: Fit::Exact, level: item.level };
                let old = self.objects.get(object);
                if old.is_none_or(|old| objects::compare(&typed, &old, &self.types).0) {
                    self.objects.set(object, typed);
                }
            }
            // What it leads to is good to know, though not what the object is.
            Verdict::Inside => {
                if self.leads(item.of) && self.seen.insert((item.address, item.of)) {
                    let (contents, _) = self.memory(object);
                    let start = usize::try_from(inside).unwrap_or(usize::MAX);
                    let bytes = contents.get(start..).unwrap_or_default();
                    let (of, count, level) = (item.of, item.count, item.level);
                    self.visit(&Values { bytes, of, count, level });
                }
            }
            Verdict::Fits(typed) => self.assign(object, typed),
        }
        self.note(item, place);
    }

    /// Notes how far a slice reaches in an array of its elements.
    fn note(&mut self, item: &Item, place: Option<(ObjectId, u64)>) {
        let Some((object, inside)) = place.filter(|_| item.length > 0 && !self.is_bare) else {
            return;
        };
        let Some(typed) = self.objects.get(object) else { return };
        // A descriptor and DWARF may each have the type.
        let name = |of| self.types.get(of).map(|of| &of.name);
        if typed.of != item.of && name(typed.of) != name(item.of) {
            return;
        }
        let size = self.types.get(typed.of).map_or(0, |of| of.size);
        let first =
            inside.saturating_sub(self.ground.header_of(object)).checked_div(size).unwrap_or(0);
        self.extents.add(object, first.saturating_add(item.length.into()), typed.count);
    }

    /// Whether values of a type lead anywhere.
    pub(super) fn leads(&mut self, of: TypeRef) -> bool {
        !self.layout(of).slots.is_empty()
    }
}

/// The findings for the values of a chunk.
#[derive(Default)]
struct Judged {
    list: Vec<One>,
    /// The items that they lead to, one after the other.
    found: Vec<Item>,
    places: Vec<Option<(ObjectId, u64)>>,
    listed: Vec<u64>,
}

/// The findings for one value.
struct One {
    place: Option<(ObjectId, u64)>,
    verdict: Verdict,
    /// The number of values that it leads to, if they were looked for.
    found: Option<usize>,
}

impl Judged {
    fn judge(&mut self, judge: &Judge<'_, '_, '_, '_>, items: &[Item]) {
        self.list.clear();
        self.found.clear();
        for batch in items.chunks(BATCH) {
            let addresses = batch.iter().map(|item| item.address);
            judge.ground.find_all(addresses, judge.objects, &mut self.places);
            for (item, place) in batch.iter().zip(&self.places) {
                let verdict = judge.judge(item, *place, &mut self.listed);
                let before = self.found.len();
                let found = match (verdict, place) {
                    (Verdict::Fits(typed), Some((object, _))) => judge
                        .visit_all(*object, &typed, &mut self.found)
                        .then(|| self.found.len().saturating_sub(before)),
                    _ => None,
                };
                self.list.push(One { place: *place, verdict, found });
            }
        }
    }
}
