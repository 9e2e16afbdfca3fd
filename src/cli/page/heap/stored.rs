//! The objects that a page describes itself, because its readers have no server to ask.

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

/// Maximum bytes of all descriptions on a page with [`LINES`] lines.
const MOST_BYTES: usize = 100_000;
/// Maximum bytes of one description.
const LARGEST: usize = MOST_BYTES / 5;
/// Maximum number of described objects per type.
const OF_A_TYPE: usize = 3;
/// Maximum number of characters of a text in a description.
const TEXT: usize = 200;
/// Maximum bytes of all documents before texts are cut, as many objects may share a huge text.
const MOST_READ: usize = 16 << 20;
/// Number of types of the newer heap whose objects are sampled: the types that retain most, and as
/// many that have the most bytes of their own.
const TYPES: usize = 24;
/// Numbers of objects to sample per type: those that retain most, and others at equal distances.
const SAMPLE: (usize, usize) = (8, 40);

/// Described objects. The ones that a reader is most likely to open come first.
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
    /// Describes the objects on the paths to suspects, and the largest objects of the tree.
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

    /// Adds as many objects as fit on a page with at most `lines` lines.
    pub(super) fn add_to(&self, report: &mut Report, lines: usize) {
        let mut left = MOST_BYTES / LINES * lines.min(LINES);
        let fitting = self.0.iter().take_while(|described| take(&mut left, described.length));
        report.objects =
            fitting.map(|described| (described.id.clone(), described.document.clone())).collect();
    }
}

/// Subtracts `part` from `left`. If `left` is too small, sets it to 0 and returns `false`.
fn take(left: &mut usize, part: usize) -> bool {
    let rest = left.checked_sub(part);
    *left = rest.unwrap_or(0);
    rest.is_some()
}

/// Describes each object once, until [`MOST_READ`] bytes are read. Skips objects with a large
/// description.
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

/// Cuts the texts of a document to [`TEXT`] characters and removes its nulls.
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

/// Objects of the newer heap. Some of them are selected when the older heap has been loaded.
pub(super) struct Sampled {
    candidates: Vec<Candidate>,
    identity: Identity,
}

struct Candidate {
    described: Described,
    /// Whether the object is on the path to an owner.
    is_on_way: bool,
    is_new: bool,
    type_name: String,
    retained: u64,
    /// The key that identifies the object in other dumps. `None` if it has none.
    key: Option<u64>,
}

impl Sampled {
    /// Describes the objects on some paths, and samples of the largest types of a heap.
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

    /// Selects the objects on paths, and a few objects of each type that grew, new ones first.
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
        Stored(chosen(self.candidates, &place).map(Candidate::marked).collect())
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
                // An id identifies an object of any type: another object may have taken the place
                // of a freed one, which cannot be detected. A hash code is specific to a type.
                candidate.is_new &= !by_ids && candidate.type_name != older.heap.type_name(object);
            }
        }
    }
}

/// The objects on paths, as far as they fit into half of a page, and a few of each type that has a
/// place, in the order of these places, new ones first.
fn chosen(
    candidates: Vec<Candidate>,
    place: &FxHashMap<&str, usize>,
) -> impl Iterator<Item = Candidate> + use<> {
    let (mut on_ways, mut others): (Vec<Candidate>, Vec<Candidate>) =
        candidates.into_iter().partition(|candidate| candidate.is_on_way);
    let mut left = MOST_BYTES / 2;
    on_ways.retain(|candidate| take(&mut left, candidate.described.length));
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
    on_ways.into_iter().chain(others)
}

impl Candidate {
    /// The description, marked if the object is new.
    fn marked(self) -> Described {
        let mut described = self.described;
        if self.is_new {
            described.document["new"] = true.into();
        }
        described
    }
}

/// The property that identifies objects. Damage counts as `Nothing`, so that a page is written.
fn identity(input: &Input) -> Identity {
    input.identity().unwrap_or(Identity::Nothing)
}

/// Samples live objects of the largest types: for each type, those that retain most, and others at
/// equal distances.
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
    /// The distance between the objects in `spread`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(length: usize, is_on_way: bool) -> Candidate {
        let described = Described { id: String::new(), document: Json::Null, length };
        let (type_name, is_new) = ("app.Order".to_owned(), !is_on_way);
        Candidate { described, is_on_way, is_new, type_name, retained: 1, key: None }
    }

    #[test]
    fn new_objects_have_room_beside_long_paths() {
        let mut candidates: Vec<Candidate> = (0..20).map(|_| candidate(8000, true)).collect();
        candidates.push(candidate(8000, false));
        let place = FxHashMap::from_iter([("app.Order", 0)]);
        let mut left = MOST_BYTES;
        let shown =
            chosen(candidates, &place).take_while(|one| take(&mut left, one.described.length));
        assert_eq!(shown.filter(|one| one.is_new).count(), 1);
    }
}
