//! The `info` summary of a dump, and the invariants for `check`.

use super::line::{Header, Kind, Line};
use super::types::TypeLine;
use crate::error::Result;
use crate::input::check::{Findings, faults};
use crate::input::info::{CountsByName, FormatDetails, Info, PyheapDetails, SnapshotInfo};
use crate::input::json::Text;
use crate::input::json_lines::{Lines, read_all};
use crate::input::read::ReadOptions;
use crate::model::addresses::AddressesBuilder;
use rustc_hash::{FxHashMap, FxHashSet};
use std::num::Saturating;

#[derive(Default)]
struct Totals {
    objects: u64,
    bytes: u64,
    external: u64,
    references: u64,
    roots: u64,
    threads: u64,
    frames: u64,
    names: u64,
    ends: u64,
    types: Vec<TypeLine>,
    by_type: FxHashMap<u64, u64>,
}

impl Totals {
    fn add(&mut self, line: &Line<'_>) {
        match line.kind {
            Kind::Object => {
                let lists = [&line.named, &line.items, &line.entries];
                let references: u64 = lists.iter().map(|list| list.iter().count() as u64).sum();
                self.objects = self.objects.saturating_add(1);
                self.bytes = self.bytes.saturating_add(line.size);
                self.external = self.external.saturating_add(line.external);
                self.references = self.references.saturating_add(references);
                let count = self.by_type.entry(line.of_type).or_default();
                *count = count.saturating_add(1);
            }
            Kind::Type => self.types.push(TypeLine::new(line)),
            Kind::Names => self.names = self.names.saturating_add(1),
            Kind::Root => self.roots = self.roots.saturating_add(1),
            Kind::Thread => {
                self.threads = self.threads.saturating_add(1);
                self.frames = self.frames.saturating_add(line.other().frames.len() as u64);
            }
            Kind::End => self.ends = self.ends.saturating_add(1),
            Kind::Header | Kind::Unknown => {}
        }
    }

    fn add_totals(&mut self, mut other: Self) {
        for (total, more) in [
            (&mut self.objects, other.objects),
            (&mut self.bytes, other.bytes),
            (&mut self.external, other.external),
            (&mut self.references, other.references),
            (&mut self.roots, other.roots),
            (&mut self.threads, other.threads),
            (&mut self.frames, other.frames),
            (&mut self.names, other.names),
            (&mut self.ends, other.ends),
        ] {
            *total = total.saturating_add(more);
        }
        self.types.append(&mut other.types);
        for (number, count) in other.by_type {
            let total = self.by_type.entry(number).or_default();
            *total = total.saturating_add(count);
        }
    }

    /// Objects by the name of their type, most first.
    fn named(&self) -> CountsByName {
        let names: FxHashMap<u64, String> =
            self.types.iter().map(|line| (line.number, line.full_name())).collect();
        let mut sums: FxHashMap<&str, u64> = FxHashMap::default();
        for (number, count) in &self.by_type {
            let name = names.get(number).map_or("(unknown)", String::as_str);
            let total = sums.entry(name).or_default();
            *total = total.saturating_add(*count);
        }
        CountsByName::largest_first(sums)
    }
}

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    super::SPEC.check_magic(bytes)?;
    let (parts, skipped) =
        read_all(bytes, options.progress, |totals: &mut Totals, _, line: &Line<'_>| {
            totals.add(line);
        });
    let mut totals = Totals::default();
    parts.into_iter().for_each(|part| totals.add_totals(part));
    let header = header(bytes).unwrap_or_default();
    let mut info = super::SPEC.summary("1");
    for (key, value) in [
        ("python", header.python),
        ("implementation", header.implementation),
        ("platform", header.platform),
    ] {
        value.into_iter().for_each(|value| info.add_metadata(key, value.decode()));
    }
    info.add_metadata("pid", header.pid);
    info.records.add_all([
        ("header", 1),
        ("type", totals.types.len() as u64),
        ("names", totals.names),
        ("object", totals.objects),
        ("thread", totals.threads),
        ("root", totals.roots),
        ("end", totals.ends),
    ]);
    let text = |text: Option<Text<'_>>| text.map(|text| text.decode().into_owned());
    let heap = SnapshotInfo {
        objects: Some(totals.objects),
        references: Some(totals.references),
        roots: Some(totals.roots),
        types: Some(totals.types.len() as u64),
        shallow_bytes: Some(totals.bytes),
        external_bytes: Some(totals.external),
        ..SnapshotInfo::new(FormatDetails::Pyheap(Box::new(PyheapDetails {
            by_type: totals.named(),
            threads: totals.threads,
            frames: totals.frames,
            collections: header.collections,
            contents: !header.lacks_contents,
            implementation: text(header.implementation),
            python: text(header.python),
        })))
    };
    skipped.summarize(&mut info, heap);
    Ok(info)
}

/// The header, which is the first line.
fn header(bytes: &[u8]) -> Option<Header<'_>> {
    let (_, line) = Lines::<Line<'_>>::new(bytes, 0).next()?;
    line.ok().map(|line| line.other().header.clone())
}

faults! {
    struct Faults {
        dangling: "object.references" "references to objects that are not in the dump",
        dangling_roots: "root.references" "roots that hold no object of the dump",
        typeless: "object.type" "objects of types that are not in the dump",
        nameless: "object.names" "objects with names that are not in the dump",
        repeated: "object.address" "lines with the address of another object",
        malformed: "line.json" "lines that are not valid JSON, which were skipped",
        unfinished: "file.end" "dumps without the line that ends them",
    }
}

/// The data of a part of the lines that is compared.
#[derive(Default)]
struct Part {
    addresses: Vec<u64>,
    references: Vec<u64>,
    roots: Vec<u64>,
    types: FxHashSet<u64>,
    names: FxHashSet<u64>,
    used_types: FxHashSet<u64>,
    used_names: FxHashSet<u64>,
    is_complete: bool,
}

impl Part {
    fn add(&mut self, line: &Line<'_>) {
        match line.kind {
            Kind::Object => {
                self.addresses.push(line.address);
                self.references.extend(line.named.iter());
                self.references.extend(line.items.iter());
                self.references.extend(line.entries.iter());
                self.used_types.insert(line.of_type);
                self.used_names.extend(line.names);
            }
            Kind::Type => _ = self.types.insert(line.number),
            Kind::Names => _ = self.names.insert(line.number),
            Kind::Root => self.roots.extend(line.other().held.iter()),
            Kind::Thread => {
                self.roots.extend(line.other().frames.iter().map(|frame| frame.address))
            }
            Kind::End => self.is_complete = true,
            Kind::Header | Kind::Unknown => {}
        }
    }
}

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    super::SPEC.check_magic(bytes)?;
    let (parts, skipped) =
        read_all(bytes, options.progress, |part: &mut Part, _, line: &Line<'_>| part.add(line));
    let mut findings = Findings::default();
    let is_whole = skipped.cut.is_none() && skipped.count == 0;
    findings.set_damage(skipped.cut);
    let mut addresses = AddressesBuilder::default();
    parts.iter().flat_map(|part| &part.addresses).for_each(|address| addresses.add(*address));
    let addresses = addresses.finish();
    let absent = |list: &[u64]| {
        list.iter().filter(|address| addresses.at(**address).is_none()).count() as u64
    };
    let union = |set: fn(&Part) -> &FxHashSet<u64>| -> FxHashSet<u64> {
        parts.iter().flat_map(set).copied().collect()
    };
    let missing = |used: fn(&Part) -> &FxHashSet<u64>, known: fn(&Part) -> &FxHashSet<u64>| {
        union(used).difference(&union(known)).count() as u64
    };
    let mut faults = Faults { malformed: Saturating(skipped.count), ..Faults::default() };
    let lines: u64 = parts.iter().map(|part| part.addresses.len() as u64).sum();
    faults.repeated += lines.saturating_sub(addresses.len() as u64);
    // References may lead to objects that are cut off.
    if is_whole {
        for part in &parts {
            faults.dangling += absent(&part.references);
            faults.dangling_roots += absent(&part.roots);
        }
        faults.typeless += missing(|part| &part.used_types, |part| &part.types);
        faults.nameless += missing(|part| &part.used_names, |part| &part.names);
        faults.unfinished += u64::from(!parts.iter().any(|part| part.is_complete));
    }
    faults.report(&mut findings);
    Ok(findings)
}
