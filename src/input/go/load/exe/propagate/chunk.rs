//! Places the values that wait for a chunk of the heap.

use super::super::objects::{Fit, Typed};
use super::super::types::TypeRef;
use super::judge::{Judge, Verdict};
use super::{Item, Values};
use crate::input::go::load::pointers::Reader;
use crate::model::heap::ObjectId;

/// The binary logarithm of the bytes of a chunk. The columns and contents of a chunk then take
/// about as much as a processor's second-level cache.
const CHUNK_BITS: u32 = 18;
/// The least average number of objects per chunk, for sparse heaps.
const FEW_OBJECTS: u64 = 1 << 10;
/// The number of chunks that a heap may have in any case.
const FEW_CHUNKS: u64 = 1 << 10;

#[derive(Clone, Copy)]
pub(super) struct Chunks {
    bits: u32,
    pub(super) count: usize,
}

impl Chunks {
    pub(super) fn new(reader: &Reader<'_, '_>, objects: usize) -> Self {
        let most = (objects as u64 / FEW_OBJECTS).max(FEW_CHUNKS);
        let mut bits = CHUNK_BITS;
        while reader.span().wrapping_shr(bits) >= most {
            bits = bits.wrapping_add(1);
        }
        let count = reader.span().wrapping_shr(bits).wrapping_add(1);
        Self { bits, count: usize::try_from(count).unwrap_or(usize::MAX) }
    }

    /// The chunk of an address; `None` outside of the heap.
    #[inline]
    pub(super) fn of(self, reader: &Reader<'_, '_>, address: u64) -> Option<usize> {
        let offset = reader.offset(address)?;
        Some(offset.wrapping_shr(self.bits) as usize)
    }
}

/// The number of values that are looked up together.
const BATCH: usize = 64;

/// Work left for a single thread, because it needs a type or a layout that does not exist yet.
pub(super) enum Aside {
    /// A value, and the object and the offset at which it lies.
    Place(Item, Option<(ObjectId, u64)>),
    /// An object, whose type is set, that leads to others.
    Visit(ObjectId, Typed),
}

#[derive(Default)]
pub(super) struct Done {
    /// The values to place. Empty when the chunk is done.
    pub(super) list: Vec<Item>,
    pub(super) found: Vec<Item>,
    pub(super) outside: Vec<Item>,
    /// Types of values in other chunks whose layouts have not been made yet.
    pub(super) unprepared: Vec<TypeRef>,
    /// Values inside of objects that begin in another chunk, whose number is given.
    pub(super) moved: Vec<(usize, Item)>,
    pub(super) aside: Vec<Aside>,
    /// For each slice, the object of its array, and the end of the slice and the number of values.
    pub(super) ends: Vec<(ObjectId, (u64, u64))>,
    /// Values that share objects with others: object, offset and type.
    pub(super) tiny: Vec<(ObjectId, u64, TypeRef)>,
    pub(super) conflicts: u64,
    pub(super) rejected: u64,
    pub(super) worked: usize,
    room: Room,
}

/// Scratch memory that is reused.
#[derive(Default)]
struct Room {
    batch: Vec<Item>,
    places: Vec<Option<(ObjectId, u64)>>,
    listed: Vec<u64>,
    open: Vec<(u64, TypeRef, u64)>,
    leads: Vec<Item>,
}

impl Done {
    /// Places the values of the list, and those in the same chunk that they lead to.
    pub(super) fn work(&mut self, judge: &Judge<'_, '_, '_>, chunks: Chunks, chunk: usize) {
        let mut list = std::mem::take(&mut self.list);
        let mut room = std::mem::take(&mut self.room);
        let Room { batch, places, .. } = &mut room;
        let (mut batch, mut places) = (std::mem::take(batch), std::mem::take(places));
        while !list.is_empty() {
            batch.clear();
            batch.extend(list.drain(list.len().saturating_sub(BATCH)..));
            judge.ground.find_all(&batch, &judge.objects, &mut places);
            self.worked = self.worked.wrapping_add(batch.len());
            for (item, place) in batch.iter().zip(&places) {
                let Some((object, inside)) = *place else {
                    self.aside.push(Aside::Place(*item, None));
                    continue;
                };
                match chunks.of(judge.ground.reader, item.address.wrapping_sub(inside)) {
                    Some(other) if other != chunk => self.moved.push((other, *item)),
                    _ => self.place(judge, item, (object, inside), &mut room),
                }
                for item in room.leads.drain(..) {
                    match chunks.of(judge.ground.reader, item.address) {
                        Some(here) if here == chunk => list.push(item),
                        Some(_) => {
                            if judge.types.layouts.known(item.ty).is_none() {
                                self.unprepared.push(item.ty);
                            }
                            self.found.push(item);
                        }
                        None => self.outside.push(item),
                    }
                }
            }
        }
        self.room = Room { batch, places, ..room };
        self.list = list;
    }

    fn place(
        &mut self,
        judge: &Judge<'_, '_, '_>,
        item: &Item,
        (object, inside): (ObjectId, u64),
        room: &mut Room,
    ) {
        match judge.judge(item, Some((object, inside)), &mut room.listed) {
            Verdict::Known | Verdict::Outside => {}
            Verdict::Rejected => self.rejected = self.rejected.saturating_add(1),
            Verdict::Tiny => {
                judge.share(item, object);
                if !judge.is_bare {
                    self.tiny.push((object, inside, item.ty));
                }
            }
            Verdict::Inside if judge.leads(item.ty) == Some(false) => {}
            Verdict::Inside | Verdict::Unprepared => {
                return self.aside.push(Aside::Place(*item, Some((object, inside))));
            }
            Verdict::Fits(typed) => {
                let (better, conflict) = judge.objects.improve(object, typed, &judge.types);
                self.conflicts = self.conflicts.saturating_add(conflict.into());
                if better && judge.leads(typed.ty) != Some(false) {
                    let memory = judge.ground.read(object);
                    let values = Values::of_object(&memory, &typed);
                    if !judge.visit(&values, &mut room.open, &mut room.leads) {
                        self.aside.push(Aside::Visit(object, typed));
                    }
                }
            }
        }
        self.ends.extend(judge.end(item, object, inside).map(|end| (object, end)));
    }
}

impl Judge<'_, '_, '_> {
    /// Types an object as one that several small values share.
    pub(super) fn share(&self, item: &Item, object: ObjectId) {
        let typed = Typed { ty: self.tiny, count: 1, fit: Fit::Exact, level: item.level };
        self.objects.improve(object, typed, &self.types);
    }

    /// Whether values of a type lead anywhere. `None` if unknown.
    fn leads(&self, ty: TypeRef) -> Option<bool> {
        Some(!self.types.layouts.known(ty)?.slots.is_empty())
    }
}
