//! The `info` summary of a dump, and the invariants for `check`.

use super::line::Line;
use crate::error::Result;
use crate::input::check::{Findings, faults};
use crate::input::info::{
    CountsByName, FormatDetails, Info, InfoWarning, RubyDetails, SnapshotInfo,
};
use crate::input::json_lines::read_all;
use crate::input::read::ReadOptions;
use crate::model::addresses::AddressesBuilder;
use rustc_hash::FxHashMap;
use std::num::Saturating;

#[derive(Default)]
struct Totals<'a> {
    objects: u64,
    bytes: u64,
    references: u64,
    shapes: u64,
    classes: u64,
    traced: u64,
    by_type: FxHashMap<&'a [u8], u64>,
    roots: Vec<(String, u64)>,
}

impl<'a> Totals<'a> {
    fn add(&mut self, line: &Line<'a>) {
        match line.kind {
            b"ROOT" => {
                let name = line.root.map_or_else(String::new, |root| root.decode().into_owned());
                self.roots.push((name, line.references.len() as u64));
            }
            b"SHAPE" => self.shapes = self.shapes.saturating_add(1),
            kind if line.address.is_some() => {
                self.objects = self.objects.saturating_add(1);
                self.bytes = self.bytes.saturating_add(line.memsize);
                self.references = self.references.saturating_add(line.references.len() as u64);
                self.classes =
                    self.classes.saturating_add(u64::from(matches!(kind, b"CLASS" | b"MODULE")));
                self.traced = self.traced.saturating_add(u64::from(line.file.is_some()));
                let count = self.by_type.entry(kind).or_default();
                *count = count.saturating_add(1);
            }
            _ => {}
        }
    }

    fn add_totals(&mut self, other: Self) {
        self.objects = self.objects.saturating_add(other.objects);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.references = self.references.saturating_add(other.references);
        self.shapes = self.shapes.saturating_add(other.shapes);
        self.classes = self.classes.saturating_add(other.classes);
        self.traced = self.traced.saturating_add(other.traced);
        for (kind, count) in other.by_type {
            let total = self.by_type.entry(kind).or_default();
            *total = total.saturating_add(count);
        }
        for (name, count) in other.roots {
            match self.roots.iter_mut().find(|(known, _)| *known == name) {
                Some((_, total)) => *total = total.saturating_add(count),
                None => self.roots.push((name, count)),
            }
        }
    }
}

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    super::SPEC.check_magic(bytes)?;
    let (parts, skipped) =
        read_all(bytes, options.progress, |totals: &mut Totals<'_>, _, line: &Line<'_>| {
            totals.add(line)
        });
    let mut totals = Totals::default();
    let mut root_lines = 0u64;
    for part in parts {
        root_lines = root_lines.saturating_add(part.roots.len() as u64);
        totals.add_totals(part);
    }
    let mut info = super::SPEC.summary("");
    let counts = [("root", root_lines), ("shape", totals.shapes), ("object", totals.objects)];
    info.records.add_all(counts);
    if root_lines == 0 {
        info.warnings.push(InfoWarning::NoRoots);
    }
    let by_type =
        totals.by_type.iter().map(|(name, count)| (String::from_utf8_lossy(name), *count));
    let roots = totals.roots.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    let heap = SnapshotInfo {
        objects: Some(totals.objects),
        references: Some(totals.references),
        roots: Some(roots),
        types: Some(totals.classes),
        shallow_bytes: Some(totals.bytes),
        external_bytes: Some(0),
        ..SnapshotInfo::new(FormatDetails::Ruby(Box::new(RubyDetails {
            by_type: CountsByName::largest_first(by_type),
            roots: CountsByName(totals.roots),
            shapes: totals.shapes,
            allocations_traced: totals.traced,
            malformed_lines: skipped.count,
        })))
    };
    skipped.summarize(&mut info, heap);
    Ok(info)
}

faults! {
    struct Faults {
        dangling: "object.references" "references to objects that are not in the dump",
        dangling_roots: "root.references" "roots that hold no object of the dump",
        classless: "object.class" "objects of classes that are not in the dump",
        repeated: "object.address" "lines with the address of another object",
        malformed: "line.json" "lines that are not valid JSON, which were skipped",
    }
}

/// The data of a part of the lines that is compared.
#[derive(Default)]
struct Part {
    addresses: Vec<u64>,
    references: Vec<u64>,
    roots: Vec<u64>,
    classes: Vec<u64>,
}

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    super::SPEC.check_magic(bytes)?;
    let (parts, skipped) =
        read_all(bytes, options.progress, |part: &mut Part, _, line: &Line<'_>| match line.kind {
            b"ROOT" => part.roots.extend(line.references.iter()),
            b"SHAPE" => {}
            _ => {
                part.addresses.extend(line.address);
                part.references.extend(line.references.iter());
                part.classes.extend(line.real_class());
            }
        });
    let mut findings = Findings::default();
    let is_cut = skipped.cut.is_some();
    findings.set_damage(skipped.cut);
    let mut addresses = AddressesBuilder::default();
    parts.iter().flat_map(|part| &part.addresses).for_each(|address| addresses.add(*address));
    let addresses = addresses.finish();
    let absent = |list: &[u64]| {
        list.iter().filter(|address| addresses.at(**address).is_none()).count() as u64
    };
    let mut faults = Faults { malformed: Saturating(skipped.count), ..Faults::default() };
    let mut lines = 0u64;
    for part in &parts {
        lines = lines.saturating_add(part.addresses.len() as u64);
        // References may lead to objects that are cut off.
        if !is_cut && skipped.count == 0 {
            faults.dangling += absent(&part.references);
            faults.dangling_roots += absent(&part.roots);
            faults.classless += absent(&part.classes);
        }
    }
    faults.repeated += lines.saturating_sub(addresses.len() as u64);
    faults.report(&mut findings);
    Ok(findings)
}
