//! The objects that a page describes itself: who reads it has no server to ask about them.

use crate::analysis::diff::HistogramChange;
use crate::analysis::histogram::{Histogram, HistogramRow};
use crate::analysis::tree::{TreeItem, TreeLine};
use crate::cli::heap::{Analysed, Answers};
use crate::cli::open::{Identity, Input};
use crate::cli::page::LINES;
use crate::cli::session::Session;
use crate::cli::show;
use crate::cli::size::beginning;
use crate::model::heap::ObjectId;
use crate::output::report::Report;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;
use std::cmp::Reverse;

/// Bytes of all descriptions on a page with [`LINES`] lines.
const MOST_BYTES: usize = 100_000;
/// Bytes of one description.
const LARGEST: usize = MOST_BYTES / 5;
/// Described objects of one type.
const OF_A_TYPE: usize = 3;
/// Characters of a text.
const TEXT: usize = 200;
/// Bytes of documents before their texts are cut: many objects may share one huge text.
const MOST_READ: usize = 16 << 20;
/// Types of the newer of two heaps whose objects may turn out to be new: those that retain most, and
/// as many that take most.
const TYPES: usize = 24;
/// The objects of such a type that retain most, and others in equal distances.
const SAMPLE: (usize, usize) = (8, 40);

/// Described objects, those that a reader is most likely to open first.
#[derive(Default)]
pub(super) struct Stored(Vec<Described>);

/// An object as `show` describes it.
struct Described {
    id: String,
    document: Json,
    /// Bytes of the document.
    length: usize,
}

impl Stored {
    /// Describes the objects on the ways to what stands out, and the largest ones of the tree.
    pub(super) fn of(
        loaded: &Answers<'_>,
        analysed: &Analysed<'_, '_>,
        ways: impl Iterator<Item = ObjectId>,
        lines: &[TreeLine],
        session: &Session,
    ) -> Self {
        let mut largest: Vec<&TreeLine> = lines.iter().collect();
        largest.sort_by_key(|line| Reverse(line.total_bytes));
        let largest = largest.into_iter().filter_map(|line| match line.what {
            TreeItem::Object(object) | TreeItem::Chain(object) => Some(object),
            _ => None,
        });
        let mut of_type: FxHashMap<_, usize> = FxHashMap::default();
        let largest = largest.filter(|object| {
            let seen = of_type.entry(analysed.heap.type_id(*object)).or_default();
            *seen += 1;
            *seen <= OF_A_TYPE
        });
        let mut left = MOST_BYTES;
        let each = described(loaded, analysed, ways.chain(largest), session);
        let each = each.map(|(_, described)| described);
        Self(each.take_while(|described| take(&mut left, described.length)).collect())
    }

    /// Adds the objects to a page with at most so many lines.
    pub(super) fn add_to(&self, report: &mut Report, lines: usize) {
        let mut left = MOST_BYTES / LINES * lines.min(LINES);
        let fitting = self.0.iter().take_while(|described| take(&mut left, described.length));
        report.objects =
            fitting.map(|described| (described.id.clone(), described.document.clone())).collect();
    }
}

/// Takes a part of what is left, if there is enough.
fn take(left: &mut usize, part: usize) -> bool {
    let rest = left.checked_sub(part);
    *left = rest.unwrap_or(0);
    rest.is_some()
}

/// Describes each object once, until [`MOST_READ`] bytes are read. Those with a large description
/// are left out.
fn described<'d>(
    loaded: &'d Answers<'_>,
    analysed: &'d Analysed<'_, '_>,
    objects: impl Iterator<Item = ObjectId> + 'd,
    session: &'d Session,
) -> impl Iterator<Item = (ObjectId, Described)> + 'd {
    let (mut seen, mut left) = (FxHashSet::default(), MOST_READ);
    let new = objects.filter(move |object| seen.insert(*object));
    let each = new.map_while(move |object| {
        let whole = (left > 0).then(|| show::stored(loaded, analysed, object, session))?;
        left = left.saturating_sub(whole.to_string().len());
        let document = shortened(whole);
        let length = document.to_string().len();
        Some((object, Described { id: analysed.heap.id(object), document, length }))
    });
    each.filter(|(_, described)| described.length <= LARGEST)
}

/// A document with the beginnings of its texts and without its nulls.
fn shortened(value: Json) -> Json {
    match value {
        Json::String(text) => beginning(&text, TEXT).into(),
        Json::Array(items) => items.into_iter().map(shortened).collect(),
        Json::Object(fields) => {
            let present = fields.into_iter().filter(|(_, value)| !value.is_null());
            present.map(|(key, value)| (key, shortened(value))).collect()
        }
        value => value,
    }
}

/// Objects of the newer of two heaps, of which some are selected once the older one is known.
pub(super) struct Sampled {
    candidates: Vec<Candidate>,
    identity: Identity,
}

struct Candidate {
    described: Described,
    /// Whether it is on the way to an owner.
    is_on_way: bool,
    is_new: bool,
    type_name: String,
    retained: u64,
    /// What identifies the object in other dumps.
    key: Option<u64>,
}

impl Sampled {
    /// Describes the objects on some ways, and some of the largest types of a heap.
    pub(super) fn of(
        loaded: &Answers<'_>,
        input: &Input,
        live: &Histogram,
        ways: &[ObjectId],
        session: &Session,
    ) -> Self {
        let analysed = loaded.analysed();
        let heap = &loaded.heap;
        let identity = identity(input);
        let identified = identity.of(heap);
        let all = ways.iter().copied().chain(sample(&analysed, live));
        let candidates = described(loaded, &analysed, all, session)
            .map(|(object, described)| Candidate {
                described,
                is_on_way: ways.contains(&object),
                is_new: false,
                type_name: heap.type_name(object).to_owned(),
                retained: analysed.retained(object),
                key: identified.key(object),
            })
            .collect();
        Self { candidates, identity }
    }

    /// Selects the objects on ways, and for each type that grew a few, new ones first.
    pub(super) fn since(
        mut self,
        older: &Answers<'_>,
        (input, old): (&Input, &Input),
        changes: &[HistogramChange],
    ) -> Stored {
        if input.format == old.format {
            self.mark_new(older, identity(old));
        }
        let rise = |row: &HistogramChange| row.delta().shallow_bytes;
        let mut grown: Vec<_> = changes.iter().filter(|row| rise(row) > 0).collect();
        grown.sort_by_key(|row| Reverse(rise(row)));
        let place: FxHashMap<&str, usize> =
            grown.iter().enumerate().map(|(at, row)| (row.name.as_str(), at)).collect();
        let (on_ways, mut others): (Vec<Candidate>, Vec<Candidate>) =
            self.candidates.into_iter().partition(|candidate| candidate.is_on_way);
        others.retain(|candidate| place.contains_key(candidate.type_name.as_str()));
        others.sort_by_key(|candidate| {
            (place[candidate.type_name.as_str()], !candidate.is_new, Reverse(candidate.retained))
        });
        let mut of_type: FxHashMap<String, usize> = FxHashMap::default();
        others.retain(|candidate| {
            let seen = of_type.entry(candidate.type_name.clone()).or_default();
            *seen += 1;
            *seen <= OF_A_TYPE
        });
        Stored(on_ways.into_iter().chain(others).map(Candidate::marked).collect())
    }

    /// Marks the candidates that an older heap of the same format does not have, if that can be
    /// known.
    fn mark_new(&mut self, older: &Answers<'_>, identity: Identity) {
        let by_ids = identity == Identity::Ids;
        let same_kind = std::mem::discriminant(&identity) == std::mem::discriminant(&self.identity);
        if !same_kind || identity == Identity::Nothing {
            return;
        }
        let identified = identity.of(&older.heap);
        let mut of_key: FxHashMap<u64, Vec<&mut Candidate>> = FxHashMap::default();
        for candidate in &mut self.candidates {
            let Some(key) = candidate.key else { continue };
            candidate.is_new = true;
            of_key.entry(key).or_default().push(candidate);
        }
        for object in older.heap.objects() {
            let Some(key) = identified.key(object) else { continue };
            for candidate in of_key.get_mut(&key).into_iter().flatten() {
                // Ids identify objects of any type: another object may have the place of a freed
                // one, and whether it has is not known. Hash codes identify those of one type.
                candidate.is_new &= !by_ids && candidate.type_name != older.heap.type_name(object);
            }
        }
    }
}

impl Candidate {
    /// The description, which says whether the object is new.
    fn marked(self) -> Described {
        let mut described = self.described;
        if self.is_new {
            described.document["new"] = true.into();
        }
        described
    }
}

/// What identifies objects. Damage is no reason to write no page.
fn identity(input: &Input) -> Identity {
    input.identity().unwrap_or(Identity::Nothing)
}

/// Live objects of the largest types: those that retain most, and others of each type in equal
/// distances.
fn sample(analysed: &Analysed<'_, '_>, live: &Histogram) -> Vec<ObjectId> {
    let heap = analysed.heap;
    let mut rows: Vec<&HistogramRow> = live.rows.iter().collect();
    let mut wanted: FxHashMap<&str, Sample> = FxHashMap::default();
    let sizes: [fn(&HistogramRow) -> u64; 2] =
        [|row| row.retained_bytes.unwrap_or(0), |row| row.sum.bytes()];
    for size in sizes {
        rows.sort_by_key(|row| Reverse(size(row)));
        for row in rows.iter().take(TYPES) {
            let step = row.sum.count.div_ceil(SAMPLE.1 as u64).max(1);
            wanted.entry(&row.name).or_insert_with(|| Sample { step, ..Sample::default() });
        }
    }
    let of_type: Vec<bool> =
        heap.types.iter().map(|type_| wanted.contains_key(heap.names.text(type_.name))).collect();
    for object in heap.objects().filter(|object| of_type[heap.type_id(*object).0 as usize]) {
        if let Some(sample) =
            wanted.get_mut(heap.type_name(object)).filter(|_| analysed.is_live(object))
        {
            sample.add(object, analysed.retained(object));
        }
    }
    let mut objects: Vec<ObjectId> = wanted.into_values().flat_map(Sample::objects).collect();
    objects.sort_unstable();
    objects
}

/// Some objects of one type.
#[derive(Default)]
struct Sample {
    /// Every so many objects, one is taken.
    step: u64,
    seen: u64,
    spread: Vec<ObjectId>,
    /// The objects that retain most, smallest first.
    largest: Vec<(u64, Reverse<ObjectId>)>,
}

impl Sample {
    fn add(&mut self, object: ObjectId, retained: u64) {
        if self.seen.is_multiple_of(self.step) && self.spread.len() < SAMPLE.1 {
            self.spread.push(object);
        }
        self.seen += 1;
        let one = (retained, Reverse(object));
        let is_full = self.largest.len() == SAMPLE.0;
        if is_full && self.largest.first().is_some_and(|least| one <= *least) {
            return;
        }
        let at = self.largest.partition_point(|other| *other < one);
        self.largest.insert(at, one);
        self.largest.drain(..usize::from(is_full));
    }

    fn objects(self) -> impl Iterator<Item = ObjectId> {
        self.largest.into_iter().map(|(_, Reverse(object))| object).chain(self.spread)
    }
}
