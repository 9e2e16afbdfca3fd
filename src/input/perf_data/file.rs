//! The head of a file: the place of its records, and the attributes and features.

use super::attributes::Attribute;
use super::features::Features;
use super::walk::{Data, kind, walk};
use super::words::{U64s, Words};
use crate::error::{Error, Result};
use std::ops::ControlFlow;

/// A recording before its records are read.
#[derive(Debug)]
pub(super) struct PerfFile<'a> {
    /// Whether attributes and features are records.
    pub(super) is_pipe: bool,
    pub(super) data: Data<'a>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) features: Features,
    /// Damage of the head: records are missing.
    pub(super) damage: Option<Error>,
}

/// The maximum number of events of a file. Only a hostile one has more.
const MOST_EVENTS: usize = 4096;

impl<'a> PerfFile<'a> {
    /// Reads the head. Fails when the file is not one of perf, or has no events.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let is_big = bytes.starts_with(b"2ELIFREP");
        if !is_big && !bytes.starts_with(b"PERFILE2") {
            return Err(super::SPEC.wrong_magic());
        }
        let mut head = Words::new(bytes, 0, is_big);
        head.take(8, "the magic")?;
        let size = head.u64("the size of the header")?;
        let mut file = Self {
            is_pipe: size == 16,
            data: Data { bytes: bytes.get(16..).unwrap_or_default(), start: 16, is_big },
            attributes: Vec::new(),
            features: Features::default(),
            damage: None,
        };
        if !file.is_pipe {
            file.read_sections(bytes, head)?;
        }
        Ok(file)
    }

    fn read_sections(&mut self, bytes: &'a [u8], mut head: Words<'_>) -> Result<()> {
        let attribute_size = head.u64("the size of an attribute")?;
        let mut section = || Ok((head.u64("a section")?, head.u64("a section")?));
        let (attributes, data, _) = (section()?, section()?, section()?);
        let features = [(); 4].map(|()| head.u64("the features").unwrap_or(0));
        self.read_attributes(bytes, attributes, attribute_size)?;
        let rest = part(bytes, data.0, u64::MAX).unwrap_or_default();
        self.data.start = data.0.min(bytes.len() as u64);
        // perf writes the size when it ends: it is 0 if the recording was cut off.
        if data.1 == 0 || data.1 > rest.len() as u64 {
            self.data.bytes = rest;
            self.damage = Some(
                Error::truncated(bytes.len() as u64, "the recording was cut off")
                    .expected(format!("{} bytes of records", data.1)),
            );
            return Ok(());
        }
        self.data.bytes = part(bytes, data.0, data.1).unwrap_or_default();
        self.read_features(bytes, data.0.saturating_add(data.1), features);
        Ok(())
    }

    fn read_attributes(
        &mut self,
        bytes: &[u8],
        place: (u64, u64),
        attribute_size: u64,
    ) -> Result<()> {
        let end = bytes.len() as u64;
        let section = part(bytes, place.0, place.1)
            .ok_or_else(|| Error::truncated(end.min(place.0), "the attributes of events"))?;
        let step = usize::try_from(attribute_size).unwrap_or(usize::MAX).max(64);
        let mut offset = place.0;
        for row in section.chunks_exact(step).take(MOST_EVENTS) {
            let mut event = Attribute::read(&mut Words::new(row, offset, self.data.is_big))?;
            let ids = row.get(step.saturating_sub(16)..).unwrap_or_default();
            let mut ids = Words::new(ids, offset, self.data.is_big);
            let (start, size) = (ids.u64("ids of an event")?, ids.u64("ids of an event")?);
            let ids = part(bytes, start, size).unwrap_or_default();
            event.ids = U64s::of(ids, self.data.is_big).iter().collect();
            self.attributes.push(event);
            offset = offset.saturating_add(attribute_size);
        }
        if self.attributes.is_empty() {
            Err(Error::corrupt(place.0, "a recording without events"))
        } else {
            Ok(())
        }
    }

    fn read_features(&mut self, bytes: &[u8], start: u64, bits: [u64; 4]) {
        let table = part(bytes, start, u64::MAX).unwrap_or_default();
        let mut table = Words::new(table, start, self.data.is_big);
        for bit in 0..256u64 {
            let word = bits.get((bit / 64) as usize).copied().unwrap_or(0);
            if word >> (bit % 64) & 1 == 0 {
                continue;
            }
            let (Ok(offset), Ok(size)) = (table.u64(""), table.u64("")) else { return };
            let section = part(bytes, offset, size).unwrap_or_default();
            self.features.add(bit, Words::new(section, offset, self.data.is_big));
        }
        self.name_events();
    }

    /// Reads the attributes and features of a file that was written to a pipe. Returns the damage
    /// among its records. Fails when there are no events.
    pub(super) fn read_head_records(&mut self) -> Result<Option<Error>> {
        let (mut attributes, mut features) = (Vec::new(), Features::default());
        let read = walk(self.data, &mut |record| {
            let mut words = record.words();
            match record.kind {
                kind::HEADER_ATTR if attributes.len() < MOST_EVENTS => {
                    let size = record.words().cursor.rest().get(4..8).unwrap_or_default();
                    let size = Words::new(size, record.offset, self.data.is_big).u32("a size")?;
                    let row = words.take(size.into(), "the attributes of an event")?;
                    let mut event =
                        Attribute::read(&mut Words::new(row, record.offset, self.data.is_big))?;
                    event.ids = std::iter::from_fn(|| words.u64("").ok()).collect();
                    attributes.push(event);
                }
                kind::HEADER_FEATURE => {
                    let feature = words.u64("a feature")?;
                    features.add(feature, words);
                }
                kind::BUILD_ID => {
                    // The record has the form of those in the feature.
                    features.add_build_id(record.misc, words);
                }
                _ => {}
            }
            Ok(ControlFlow::Continue(()))
        });
        (self.attributes, self.features) = (attributes, features);
        if self.attributes.is_empty() {
            return Err(read
                .err()
                .unwrap_or_else(|| Error::corrupt(self.data.start, "a recording without events")));
        }
        self.name_events();
        Ok(read.err())
    }

    /// Gives events the names that a feature has for them.
    pub(super) fn name_events(&mut self) {
        let named = std::mem::take(&mut self.features.events);
        for (row, event) in self.attributes.iter_mut().enumerate() {
            let same = |named: &&Attribute| {
                !named.ids.is_empty() && named.ids.first() == event.ids.first()
            };
            let found = named.iter().find(same).or_else(|| named.get(row));
            if let Some(found) = found {
                event.name.clone_from(&found.name);
            }
        }
        self.features.events = named;
    }
}

/// A part of the file, up to the end of the file if the size is [`u64::MAX`].
fn part(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let rest = bytes.get(usize::try_from(offset).ok()?..)?;
    match size {
        u64::MAX => Some(rest),
        size => rest.get(..usize::try_from(size).ok()?),
    }
}
