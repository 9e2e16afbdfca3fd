//! Allocation sites: file, line, method and generation of objects whose allocation was traced.

use super::line::Line;
use crate::input::json::Text;
use crate::model::distinct::Distinct;
use crate::model::heap::{ObjectId, StackFrame};
use crate::model::names::Names;
use crate::model::site::{AllocationSite, AllocationSites};
use rustc_hash::FxHashMap;

/// A site as lines have it, with the bytes of its texts. What differs most is compared first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Site<'a> {
    line: u64,
    generation: Option<u64>,
    file: &'a [u8],
    method: Option<&'a [u8]>,
}

#[derive(Default)]
pub(super) struct PartSites<'a>(Distinct<Site<'a>>);

impl<'a> PartSites<'a> {
    /// The row of objects without a site.
    pub(super) const NONE: u32 = u32::MAX;

    #[inline]
    pub(super) fn of(&mut self, line: &Line<'a>) -> u32 {
        let Some(file) = line.file else { return Self::NONE };
        self.0.number_again(Site {
            line: line.line.unwrap_or(0),
            generation: line.generation,
            file: file.raw(),
            method: line.method.map(|method| method.raw()),
        })
    }
}

/// The sites of all parts, merged if they are equal.
pub(super) struct Sites<'p, 'a> {
    parts: Vec<&'p PartSites<'a>>,
    /// The row of each site of each part, once it was requested.
    known: Vec<Vec<u32>>,
    rows: FxHashMap<Site<'a>, u32>,
    sites: AllocationSites,
}

impl<'p, 'a> Sites<'p, 'a> {
    pub(super) fn new(parts: impl Iterator<Item = &'p PartSites<'a>>) -> Self {
        let parts: Vec<_> = parts.collect();
        let known = parts.iter().map(|part| vec![PartSites::NONE; part.0.all.len()]).collect();
        Self { parts, known, rows: FxHashMap::default(), sites: AllocationSites::default() }
    }

    /// Adds the site of the next object, which is a row of those of its part.
    pub(super) fn add(&mut self, object: ObjectId, part: u32, row: u32, names: &mut Names) {
        let known = self.known.get_mut(part as usize).and_then(|known| known.get_mut(row as usize));
        let Some(known) = known else { return };
        let site = self.parts.get(part as usize).and_then(|part| part.0.all.get(row as usize));
        if let Some(&site) = site.filter(|_| *known == PartSites::NONE) {
            let sites = &mut self.sites;
            *known = *self.rows.entry(site).or_insert_with(|| {
                let text = |raw| Text::new(raw, true).decode();
                let first = sites.frames.len() as u32;
                sites.frames.push(StackFrame {
                    function: names.intern(&site.method.map_or("(no method)".into(), text)),
                    file: names.intern(&text(site.file)),
                    line: u32::try_from(site.line).unwrap_or(0),
                });
                sites.sites.push(AllocationSite {
                    frames: first..first.saturating_add(1),
                    generation: site.generation,
                    ..AllocationSite::default()
                });
                (sites.sites.len() as u32).saturating_sub(1)
            });
        }
        self.sites.of.push((object, *known));
    }

    pub(super) fn finish(self) -> AllocationSites {
        self.sites
    }
}
