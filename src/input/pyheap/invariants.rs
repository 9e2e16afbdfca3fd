//! The invariants of a dump, for `check`.

use super::line::{Kind, Line};
use crate::error::Result;
use crate::input::check::{Findings, faults};
use crate::input::json_lines::read_all;
use crate::input::read::ReadOptions;
use crate::model::addresses::AddressesBuilder;
use rustc_hash::FxHashSet;
use std::num::Saturating;

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
