//! The first pass: finds the objects, and everything that must be known before pointers can be
//! followed.

use super::CHUNK;
use super::old::OldTypes;
use super::words::Words;
use crate::error::{Error, Result};
use crate::input::go::draft::Draft;
use crate::input::go::object::Object;
use crate::input::go::params::Params;
use crate::input::go::phantoms::{PhantomFilter, Rule};
use crate::input::go::records::{Rec, Records};
use crate::input::go::summary::Totals;
use crate::input::go::types::{Itab, Type};
use crate::input::go::version::Version;
use crate::model::addresses::{Addresses, AddressesBuilder};
use crate::model::heap::MAX_OBJECTS;
use rustc_hash::FxHashMap;
use std::num::Saturating;

pub(super) struct Survey<'a> {
    pub(super) version: Version,
    pub(super) params: Option<Params<'a>>,
    pub(super) words: Words,
    /// The rule for phantom objects, which also determines whether there are malloc headers.
    pub(super) rule: Rule,
    pub(super) addresses: Addresses,
    /// The number of object records, including phantoms.
    pub(super) object_records: Saturating<u64>,
    /// The number of object records with the address of an earlier one.
    pub(super) duplicates: u64,
    /// A reader before each object whose number is a multiple of [`CHUNK`].
    pub(super) chunks: Vec<Records<'a>>,
    /// A reader before the first record that may be a root.
    pub(super) tail: Option<Records<'a>>,
    /// The first type record of each address, in the order of the file.
    pub(super) types: Vec<Type<'a>>,
    pub(super) type_at: FxHashMap<u64, usize>,
    pub(super) itabs: Vec<Itab>,
    pub(super) old: OldTypes,
    /// [`LoadOptions::by_layout`](crate::input::load::LoadOptions::by_layout).
    pub(super) by_layout: bool,
    pub(super) damage: Option<Error>,
    /// Whether the statistics were reached, which all versions write after the last root.
    pub(super) roots_read: bool,
}

impl<'a> Survey<'a> {
    /// Reads all records. Fails when the magic is not that of a Go heap dump, or there are too many
    /// objects.
    pub(super) fn new(bytes: &'a [u8], progress: impl Fn(u64)) -> Result<Self> {
        let (mut survey, rows) = Self::with(bytes, progress, Rows::default)?;
        survey.addresses = rows.builder.finish();
        survey.duplicates = rows.added.0.saturating_sub(survey.addresses.len() as u64);
        Ok(survey)
    }

    /// Like [`Self::new`], but passes the objects to a [`Take`] instead of collecting addresses.
    pub(super) fn with<T: Take<'a>>(
        bytes: &'a [u8],
        progress: impl Fn(u64),
        empty: impl Fn() -> T,
    ) -> Result<(Self, T)> {
        let assumed = assumed_rule(bytes)?;
        let (survey, taken, rule) = Pass::run(bytes, assumed, &progress, empty())?;
        if rule == assumed {
            return Ok((survey, taken));
        }
        // The statistics at the end of the file contradict the rule of the version, as with
        // experiments and forks.
        drop((survey, taken));
        Pass::run(bytes, rule, &progress, empty()).map(|(survey, taken, _)| (survey, taken))
    }
}

impl Survey<'_> {
    /// Whether the address of a type gives its objects a name.
    pub(super) fn is_name(&self, address: u64) -> bool {
        !self.by_layout || self.type_at.contains_key(&address)
    }
}

/// A receiver of the objects that are not phantoms.
pub(super) trait Take<'a> {
    /// Takes an object. `object` is `None` if the object had to wait for others and its record is
    /// no longer known. Such objects have no pointers.
    fn take(&mut self, address: u64, size: u64, object: Option<&Object<'a>>, survey: &Survey<'a>);
}

#[derive(Default)]
struct Rows {
    builder: AddressesBuilder,
    added: Saturating<u64>,
}

impl<'a> Take<'a> for Rows {
    #[inline]
    fn take(&mut self, address: u64, _: u64, _: Option<&Object<'a>>, _: &Survey<'a>) {
        self.builder.add(address);
        self.added += 1;
    }
}

/// The rule for phantoms, by the version in the first record.
fn assumed_rule(bytes: &[u8]) -> Result<Rule> {
    let Some(Ok((_, Rec::Params(params)))) = Records::new(bytes)?.next() else {
        return Ok(Rule::None);
    };
    Ok(params.go_version().as_deref().and_then(Rule::of_version).unwrap_or_default())
}

struct Pass<'a, T> {
    survey: Survey<'a>,
    totals: Totals<'a>,
    taken: T,
    added: Saturating<u64>,
    filter: PhantomFilter,
}

impl<'a, T: Take<'a>> Pass<'a, T> {
    /// Surveys the file by a rule, and also returns the rule that turns out to be right.
    fn run(
        bytes: &'a [u8],
        rule: Rule,
        progress: &impl Fn(u64),
        taken: T,
    ) -> Result<(Survey<'a>, T, Rule)> {
        let mut records = Records::new(bytes)?;
        let version = records.version();
        let words = Words { size: 8, big_endian: false };
        let survey = Survey {
            version,
            params: None,
            words,
            rule,
            addresses: AddressesBuilder::default().finish(),
            object_records: Saturating(0),
            duplicates: 0,
            chunks: Vec::new(),
            tail: None,
            types: Vec::new(),
            type_at: FxHashMap::default(),
            itabs: Vec::new(),
            old: OldTypes::default(),
            by_layout: false,
            damage: None,
            roots_read: false,
        };
        let mut pass = Self {
            survey,
            totals: Totals::new(version),
            taken,
            added: Saturating(0),
            filter: PhantomFilter::new(rule, words.size),
        };
        pass.survey.damage = pass.add_all(&mut records, progress).err();
        pass.finish(bytes)
    }

    fn add_all(&mut self, records: &mut Records<'a>, progress: &impl Fn(u64)) -> Result<()> {
        loop {
            loop {
                let next_chunk = self.survey.chunks.len().saturating_mul(CHUNK) as u64;
                let left = next_chunk.saturating_sub(self.survey.object_records.0);
                records.take_some_objects(left, |_, object| self.object(object))?;
                if self.survey.object_records.0 < next_chunk {
                    break;
                }
                progress(records.offset());
                self.survey.chunks.push(records.clone());
            }
            let before = records.clone();
            match records.next() {
                None => return Ok(()),
                // Only objects whose tag is encoded in a longer form than any writer uses get here.
                Some(Ok((_, Rec::Object(object)))) => self.object(&object),
                Some(record) => self.other(&record?.1, before),
            }
        }
    }

    #[inline]
    fn object(&mut self, object: &Object<'a>) {
        self.survey.object_records += 1;
        self.totals.object(object);
        if let Some(typed) = object.typed {
            self.survey.old.used(typed);
        }
        let (taken, added, survey) = (&mut self.taken, &mut self.added, &self.survey);
        self.filter.add(object.addr, object.size(), !object.fields.is_empty(), |address, size| {
            *added += 1;
            let known = (address, size) == (object.addr, object.size());
            taken.take(address, size, known.then_some(object), survey);
        });
    }

    fn other(&mut self, record: &Rec<'a>, before: Records<'a>) {
        self.totals.other(record);
        let survey = &mut self.survey;
        match record {
            Rec::Params(params) => {
                if survey.params.is_none() {
                    survey.params = Some(*params);
                    survey.words =
                        Words { size: params.pointer_size, big_endian: params.big_endian };
                    self.filter = PhantomFilter::new(survey.rule, params.pointer_size);
                }
            }
            Rec::Type(record) => {
                if survey.version <= Version::Go13 {
                    survey.old.add_type(
                        record.addr,
                        record.size,
                        record.name,
                        record.fields.iter(),
                    );
                }
                let next = survey.types.len();
                if *survey.type_at.entry(record.addr).or_insert(next) == next {
                    survey.types.push(*record);
                }
            }
            Rec::Draft(Draft::Type(record)) => survey.old.add_draft_type(record),
            Rec::Itab(itab) => survey.itabs.push(*itab),
            Rec::Memstats(_) => survey.roots_read = true,
            Rec::Memprof(_) | Rec::AllocSample(_) | Rec::Eof => {}
            _ => drop(survey.tail.get_or_insert(before)),
        }
    }

    fn finish(mut self, bytes: &[u8]) -> Result<(Survey<'a>, T, Rule)> {
        let (taken, added, survey) = (&mut self.taken, &mut self.added, &self.survey);
        self.filter.finish(|address, size| {
            *added += 1;
            taken.take(address, size, None, survey);
        });
        if self.added.0 > MAX_OBJECTS {
            return Err(Error::limit(
                bytes.len() as u64,
                format!("the dump has {} objects", self.added),
            )
            .expected(format!("at most {MAX_OBJECTS}")));
        }
        let mut survey = self.survey;
        let hchan_size = survey.params.and_then(|params| params.hchan_size);
        survey.old.finish(survey.version, survey.words.size, hchan_size);
        Ok((survey, self.taken, self.totals.heap().rule))
    }
}
